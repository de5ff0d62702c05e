from __future__ import annotations

import io
import zipfile
from collections.abc import Mapping
from pathlib import Path

import pytest
from django.contrib.auth.models import User
from django.test import Client

from memoryreview.core.edits import Delete, Write
from memoryreview.review.models import Change, Store
from memoryreview.review.presenters import document_pages
from tests.conftest import MakeStore, Propose, replaced
from tests.review.operations.test_decide import approve

from .conftest import BUILD, GIT, Browser
from .reading import read


@pytest.fixture
def oids(store: Store, propose: Propose, owner: User) -> list[str]:
    """Three heads: as adopted, with one document changed, with one gone and one new."""
    approve(propose(store, replaced("build.md", "npm for", "pnpm for")), owner)
    approve(propose(store, Delete("git.md"), Write("new.md", "# New\n\nAll of it.\n")), owner)
    return list(Change.objects.filter(store=store).order_by("pk").values_list("oid", flat=True))


def test_any_two_heads_are_compared(owner_client: Client, oids: list[str]) -> None:
    first, second, third = oids
    form = read(owner_client.get("/stores/notes/compare")).form("/stores/notes/compare")
    assert form == {"from": "", "to": ""}

    answer = owner_client.get("/stores/notes/compare", {"from": first[:7], "to": third.upper()})

    assert answer.headers["Location"] == f"/stores/notes/compare/{first}...{third}"
    page = read(owner_client.get(answer.headers["Location"]))
    names = [heading.text for heading in page.all("h2")]
    assert names == ["What differs", "build.md", "git.md", "new.md"]
    assert "The whole document goes." in page.text
    back = read(owner_client.get(page.one("a", href=f"/stores/notes/compare/{third}...{first}").attributes["href"]))
    assert [ins.text for ins in back.all("ins")] == ["npm"]
    between = read(owner_client.get(f"/stores/notes/compare/{first}...{second}"))
    assert [heading.text for heading in between.all("h2")] == ["What differs", "build.md"]
    same = read(owner_client.get(f"/stores/notes/compare/{first}...{first}"))
    assert "Nothing: both heads have the same documents." in same.text


@pytest.mark.parametrize("named", ["", "abc", "zzzzzzz", "0000000", "<b>bold</b>", "%"])
def test_what_is_no_head_is_said(owner_client: Client, oids: list[str], named: str) -> None:
    answer = owner_client.get("/stores/notes/compare", {"from": oids[0], "to": named})

    page = read(answer)
    assert answer.status_code == 404
    assert f"There is no commit “{named}”" in page.text
    assert page.by_id("from").attributes["value"] == oids[0]
    assert owner_client.get(f"/stores/notes/compare/{oids[0]}...{'0' * 40}").status_code == 404


def test_heads_of_another_store_are_not_compared(
    owner_client: Client, oids: list[str], make_store: MakeStore, stranger: User, browser: Browser
) -> None:
    other = Change.objects.get(store=make_store({"a.md": "# A\n"}, name="other")).oid

    assert owner_client.get(f"/stores/notes/compare/{oids[0]}...{other}").status_code == 404
    assert browser(stranger).get(f"/stores/notes/compare/{oids[0]}...{oids[1]}").status_code == 404
    assert browser(stranger).get(f"/stores/notes/download/{oids[0]}").status_code == 404


def test_many_documents_come_in_portions(
    owner_client: Client, oids: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(document_pages, "DOCUMENTS_AT_ONCE", 2)
    address = f"/stores/notes/compare/{oids[0]}...{oids[2]}"

    first = read(owner_client.get(address))
    last = read(owner_client.get(first.all("a", href=f"{address}?start=2")[0].attributes["href"]))

    assert "Documents 1–2 of 3" in first.text
    assert [heading.text for heading in last.all("h2")] == ["What differs", "new.md"]


def _zipped(client: Client, address: str) -> tuple[bytes, Mapping[str, str]]:
    answer = client.get(address)
    return answer.getvalue(), answer.headers


def test_a_head_is_downloaded_as_it_was_approved(owner_client: Client, store: Store, oids: list[str]) -> None:
    (Path(store.root) / "build.md").write_text("unapproved\n")

    content, headers = _zipped(owner_client, f"/stores/notes/download/{oids[0]}")
    again, _ = _zipped(owner_client, f"/stores/notes/download/{oids[0]}")
    present, _ = _zipped(owner_client, "/stores/notes/download")

    assert content == again
    assert headers["Content-Disposition"] == f'attachment; filename="notes-{oids[0][:7]}.zip"'
    assert (headers["Content-Type"], headers["X-Content-Type-Options"]) == ("application/zip", "nosniff")
    with zipfile.ZipFile(io.BytesIO(content)) as archive:
        assert {name: archive.read(name).decode() for name in archive.namelist()} == {"build.md": BUILD, "git.md": GIT}
    with zipfile.ZipFile(io.BytesIO(present)) as archive:
        assert archive.namelist() == ["build.md", "new.md"]
        assert b"unapproved" not in archive.read("build.md")


def test_names_are_kept_in_a_download(owner_client: Client, make_store: MakeStore) -> None:
    names = ["50%25.md", "a\\b.md", "cafe\u0301.md", "sub folder/in [brackets].md", "日本語/メモ.md"]
    make_store(dict.fromkeys(names, "# A\n"), name="odd")

    content, _ = _zipped(owner_client, "/stores/odd/download")

    with zipfile.ZipFile(io.BytesIO(content)) as archive:
        assert archive.namelist() == sorted(names)


def test_a_store_page_leads_to_both(owner_client: Client, store: Store) -> None:
    page = read(owner_client.get("/stores/notes/"))

    assert page.one("a", href="/stores/notes/compare").text == "Compare heads"
    assert page.one("a", href="/stores/notes/download").text == "Download as zip"
