from __future__ import annotations

import json
import subprocess
import time
from pathlib import Path

import pytest
from django.contrib.auth.models import User
from django.test import Client

from memoryreview.core.signing import decoded_secret
from memoryreview.review.api.signature import SignatureHeaders, check
from memoryreview.review.models import Store
from memoryreview.review.operations.capture import capture
from memoryreview.review.presenters.first_run import hook_command
from tests.conftest import MakeStore

from .conftest import Browser
from .reading import read

HTMX = {"HX-Request": "true"}


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    made = tmp_path / "notes. of <b>Ana"
    made.mkdir()
    (made / "a.md").write_text("- Port 5432.\n")
    return made


def test_form_leads_from_no_store_to_the_first_captured_change(owner_client: Client, folder: Path) -> None:
    page = read(owner_client.get("/"))
    assert page.by_id("title").text == "No memory is under review yet"
    assert page.by_id("queue").attributes["data-shows"] == "proposal"

    answer = owner_client.post("/adopt/", {**page.form("/adopt/"), "path": str(folder), "name": "mine"})

    assert (answer.status_code, answer.headers["Location"]) == (303, "/")
    store = Store.objects.get()
    assert (store.slug, store.root, (folder / "a.md").read_text()) == ("mine", str(folder), "- Port 5432.\n")
    page = read(owner_client.get("/"))
    assert page.by_id("title").text == "Now change a file"
    assert f"mine holds 1 document of {folder}. No file was changed." in page.text
    assert owner_client.get("/queue/first", headers=HTMX).status_code == 204

    (folder / "a.md").write_text("- Port 5433.\n")
    capture(store)

    assert owner_client.get("/queue/first", headers=HTMX).headers["HX-Redirect"] == "/"
    assert "5433" in read(owner_client.get("/")).by_id("proposal").text


@pytest.mark.parametrize(
    ("path", "sentence"),
    [
        ("", "Name a folder of this machine by its full path. Nothing was changed."),
        ("notes", "Name a folder of this machine by its full path. Nothing was changed."),
        ("/nowhere/<b>", "“/nowhere/<b>” is not a folder. Nothing was changed; name a folder of Markdown files."),
        ("/", "“/” is too much to adopt. Nothing was changed; name the memory folder itself."),
        ("~nobody-of-that-name/x", "That home folder is nobody’s. Nothing was changed; name the full path."),
        ("/" + "b" * 300, "That folder cannot be looked at: File name too long. Nothing was changed; name another."),
        ("/tmp\0x", "Name a folder of this machine by its full path. Nothing was changed."),
    ],
)
def test_folder_that_cannot_be_adopted_is_refused_with_what_was_typed(
    owner_client: Client, path: str, sentence: str
) -> None:
    answer = owner_client.post("/adopt/", {"path": path, "name": "kept"})

    page = read(answer)
    assert answer.status_code == 422
    assert page.by_id("adopt-problem").text == sentence
    assert page.one("input", name="name").attributes["value"] == "kept"
    assert Store.objects.count() == 0


def test_adopting_twice_is_refused_as_by_the_command(owner_client: Client, folder: Path) -> None:
    for _ in range(2):
        answer = owner_client.post("/adopt/", {"path": str(folder)})

    assert "is adopted already as" in read(answer).by_id("adopt-problem").text
    assert Store.objects.count() == 1


def test_only_the_owner_names_a_folder(browser: Browser, second: User, folder: Path) -> None:
    client = browser(second)

    assert read(client.get("/")).all("form", action="/adopt/") == []
    assert client.post("/adopt/", {"path": str(folder)}).status_code == 403
    assert Store.objects.count() == 0


def test_adopting_asks_for_the_password_after_a_while(owner_client: Client, folder: Path) -> None:
    session = owner_client.session
    session["password_at"] = 0
    session.save()

    answer = owner_client.post("/adopt/", {"path": str(folder)})

    assert answer.status_code == 403
    assert "Type your password" in read(answer).by_id("adopt-problem").text
    assert Store.objects.count() == 0


def test_empty_folder_is_adopted_and_says_what_to_write(owner_client: Client, make_store: MakeStore) -> None:
    make_store({})

    assert "Add a line to a new note.md there" in read(owner_client.get("/")).text


def test_command_for_a_webhook_signs_what_it_sends(tmp_path: Path) -> None:
    secret = "whsec_" + "c2VjcmV0" * 4
    say = f'curl() {{ for one in "$@"; do printf "%s\\0" "$one"; done; }}\nWEBHOOK_SECRET={secret}\n'
    script = say + hook_command("http://127.0.0.1:1/hooks/v1/claude", "notes")

    done = subprocess.run(["bash", "-c", script], capture_output=True, check=True, cwd=tmp_path)

    sent = done.stdout.decode().split("\0")
    headers = dict(one.split(": ", 1) for one in sent if ": " in one and one.startswith(("webhook-", "Content-")))
    body = sent[sent.index("-d") + 1]
    key = decoded_secret(secret)
    assert key is not None
    stated = SignatureHeaders(headers["webhook-id"], headers["webhook-timestamp"], headers["webhook-signature"])
    check(stated, body.encode(), keys=[key], now_s=time.time())
    assert json.loads(body)["data"]["operations"][0]["content"] == "Hello\n"
