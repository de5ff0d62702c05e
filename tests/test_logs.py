from __future__ import annotations

import logging
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from django.conf import settings
from django.contrib.auth.models import User
from django.test import Client, RequestFactory

from memoryreview.logs import LineFormatter
from memoryreview.review.operations import accounts
from tests.conftest import PASSWORD, MakeStore

Written = Callable[[], str]
AWS = "AKIA" + "Q3EGRJW7" + "XKZ2M5TP"


@pytest.fixture
def written() -> Written:
    """What comes to the real log file from here on."""
    path = Path(settings.LOG_PATH)
    before = path.stat().st_size if path.exists() else 0
    return lambda: path.read_bytes()[before:].decode() if path.exists() else ""


def _format(**options: Any) -> str:
    record = logging.LogRecord("memoryreview", logging.ERROR, "x.py", 1, options.pop("msg", "it"), (), None)
    for name, value in options.items():
        setattr(record, name, value)
    return LineFormatter().format(record)


def _raised(act: Callable[[], object]) -> Any:
    try:
        act()
    except Exception:  # noqa: BLE001  # whatever it is, it is what is logged
        return sys.exc_info()
    raise AssertionError


@pytest.mark.parametrize("minted", ["agent token", "another secret", "a private word"])
def test_what_was_sent_stands_in_no_log(
    minted: str, written: Written, owner: User, owner_client: Client, make_store: MakeStore
) -> None:
    make_store({"a.md": "# A\n"})
    sent = {"agent token": accounts.mint_token(), "another secret": AWS, "a private word": "hushhushhush"}[minted]
    agent = accounts.add_agent("claude", person=owner)
    headers = {"Authorization": f"Bearer {agent.token}"}
    stranger = Client(raise_request_exception=False)
    for client in (stranger, owner_client):
        for address in ("/", "/api/v1/", "/api/v1/proposals/", "/api/v1/stores/", "/api/v1/stores/notes/files/",
                        "/hooks/v1/", "/welcome/", "/sign-in/", "/changes/", "/stores/notes/", "/help/"):  # fmt: skip
            client.get(f"{address}{sent}")
            client.get(f"{address}{sent}", headers=headers)
            client.get(address, {"q": sent, "next": sent, "wait": sent})
            client.post(f"{address}{sent}", {"password": sent, "note": sent})
            client.get(f"{address}nowhere", headers={"Authorization": f"Bearer {sent}", "Cookie": f"a={sent}"})
    stranger.post("/sign-in", {"username": sent, "password": sent, "next": sent})
    owner_client.post("/undo", {"decision": sent}, headers={"Origin": f"http://{sent}.example"})
    strict = Client(enforce_csrf_checks=True)
    strict.post("/sign-in", {"username": sent}, headers={"Origin": f"http://{sent}.example"})
    stranger.post("/api/v1/proposals", sent, content_type=sent, headers={**headers, "Idempotency-Key": sent})
    stranger.post("/api/v1/proposals", f'{{"{sent}": 1}}', content_type="application/json", headers=headers)
    stranger.generic(sent, "/sign-in")

    assert "answered 404 to GET at api-file" in written()
    assert sent not in written()
    assert agent.token not in written()


def test_one_time_link_stands_in_no_log_while_it_is_valid(written: Written, client: Client, db: None) -> None:
    address = accounts.owner_link()
    assert address is not None
    token = address.rpartition("/")[2]

    answer = client.post(f"/welcome/{token}", {"username": "olga", "password": PASSWORD, "again": "differs"})

    assert (answer.status_code, accounts.find_link(token) is None) == (422, False)
    assert "answered 422 to POST at welcome" in written()
    assert token not in written()


def test_request_is_told_by_status_method_and_view() -> None:
    request = RequestFactory().get("/welcome/hush", {"q": "hush"})

    assert _format(msg="Not Found: /welcome/hush", request=request, status_code=404).endswith(
        " ERROR memoryreview answered 404 to GET at no view"
    )


def test_exception_is_told_by_type_and_frames_not_by_message() -> None:
    def fail() -> None:
        try:
            raise KeyError("hush")
        except KeyError as error:
            raise ValueError("hush") from error

    line = _format(exc_info=_raised(fail), exc_text="ValueError: hush")

    assert "\\nValueError\\n" in line
    assert "\\nbecause of KeyError\\n" in line
    assert "test_logs.py" in line
    assert line.count("hush") == 2  # the source lines of the two frames, no values


@pytest.mark.parametrize(
    ("text", "escaped"),
    [("a\nb", "a\\nb"), ("a\r\nb", "a\\r\\nb"), ("a\x1b[2Jb", "a\\x1b[2Jb"), ("a\u2028b", "a\\u2028b"),
     ("a\u202eb", "a\\u202eb"), ("a\x00b", "a\\x00b"), ("naïve 名", "naïve 名")],
)  # fmt: skip
def test_record_is_one_printable_line(text: str, escaped: str) -> None:
    assert _format(msg=text).endswith(f" ERROR memoryreview {escaped}")


@pytest.mark.parametrize("mint", [lambda: AWS, accounts.mint_token], ids=["another secret", "agent token"])
def test_secret_that_came_into_a_message_is_masked(mint: Callable[[], str]) -> None:
    secret = mint()

    assert secret not in _format(msg=f"first\nthen {secret} came")
