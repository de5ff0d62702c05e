"""A memory folder that moved: its owner says where it is now."""

from __future__ import annotations

from pathlib import Path

import pytest
from django.contrib.auth.models import User
from django.test import Client

from memoryreview.review.models import Decision, Proposal, Store, Verb
from memoryreview.review.operations.audit import audit
from memoryreview.review.operations.capture import capture
from tests.conftest import MakeStore, on_disk
from tests.review.views.conftest import BUILD, Browser

URL = "/settings/notes/folder"


def test_moved_folder_is_taken_up_where_it_is(store: Store, owner_client: Client, owner: User) -> None:
    old = Path(store.root)
    new = old.rename(old.with_name("moved"))
    capture(store)
    assert Store.objects.get().alarm != ""

    answer = owner_client.post(URL, {"folder": str(new)})

    assert (answer.status_code, answer.headers["Location"]) == (303, "/settings/notes/")
    page = owner_client.get("/settings/notes/").content.decode()
    assert str(new) in page
    store = Store.objects.get()
    assert (store.root, store.alarm, capture(store), audit()) == (str(new), "", [], [])
    decision = Decision.objects.latest("pk")
    assert (decision.verb, decision.person) == (Verb.CONFIGURE, owner)
    assert str(old) in decision.note


def test_an_empty_folder_gets_the_documents_and_the_writes_that_wait(
    store: Store, owner_client: Client, tmp_path: Path
) -> None:
    (Path(store.root) / "git.md").write_bytes(b"# Git\n\n- Written directly.\n")
    (proposal,) = capture(store)
    Path(store.root).rename(tmp_path / "away")
    (tmp_path / "empty").mkdir()

    owner_client.post(URL, {"folder": str(tmp_path / "empty")})

    store = Store.objects.get()
    assert (on_disk(store, "build.md"), on_disk(store, "git.md")) == (BUILD.encode(), b"# Git\n\n- Written directly.\n")
    assert capture(store) == []
    assert Proposal.objects.get(pk=proposal.pk).state == "pending"


def _strange(tmp_path: Path) -> Path:
    (tmp_path / "strange").mkdir()
    (tmp_path / "strange" / "other.md").write_text("- Other.\n")
    return tmp_path / "strange"


@pytest.mark.parametrize("name", ["strange", "missing", "", "relative/path", "/", "link", "a\0b"])
def test_what_is_not_the_folder_is_refused_in_words(
    store: Store, owner_client: Client, tmp_path: Path, name: str
) -> None:
    _strange(tmp_path)
    (tmp_path / "link").symlink_to(store.root)
    typed = name if name in {"", "/", "relative/path", "a\0b"} else str(tmp_path / name)

    answer = owner_client.post(URL, {"folder": typed})

    assert 400 <= answer.status_code < 500
    assert 'role="alert"' in answer.content.decode()
    assert Store.objects.get().root == store.root
    assert sorted(path.name for path in (tmp_path / "strange").iterdir()) == ["other.md"]


def test_the_folder_of_another_store_is_refused(store: Store, owner_client: Client, make_store: MakeStore) -> None:
    other = make_store({"build.md": BUILD, "git.md": "x\n"}, name="other")
    assert "adopted already" in owner_client.post(URL, {"folder": other.root}).content.decode()


def test_only_the_owner_says_so_and_only_with_a_password(
    store: Store, stranger: User, owner: User, browser: Browser, owner_client: Client, tmp_path: Path
) -> None:
    (tmp_path / "empty").mkdir()
    assert browser(stranger).post(URL, {"folder": str(tmp_path / "empty")}).status_code == 404
    assert Client().post(URL, {"folder": str(tmp_path / "empty")}).status_code in {302, 303}
    assert owner_client.get(URL).status_code == 405
    late = Client()
    late.force_login(owner)
    answer = late.post(URL, {"folder": str(tmp_path / "empty")})
    assert answer.status_code == 403
    assert 'name="password"' in answer.content.decode()
    assert list((tmp_path / "empty").iterdir()) == []
