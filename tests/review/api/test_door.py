from __future__ import annotations

import logging

import pytest
from django.http import HttpRequest, HttpResponse
from django.test import RequestFactory

from memoryreview.review.api.door import door

SECRET_WORDS = "the words of the body"


@door("GET")
def broken(request: HttpRequest) -> HttpResponse:
    raise ValueError(SECRET_WORDS)


def test_bug_is_answered_as_a_problem_and_logged_without_what_was_sent(caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level(logging.ERROR):
        response = broken(RequestFactory().get("/api/v1/stores"))

    assert response.status_code == 500
    assert response.headers["Content-Type"] == "application/problem+json"
    assert b'"type": "internal-error"' in response.content
    assert b"ValueError" not in response.content
    (record,) = caplog.records
    assert record.getMessage().startswith("broken failed with ValueError\n")
    assert "test_door.py" in record.getMessage()
    assert SECRET_WORDS not in f"{record.getMessage()} {record.exc_info}"


def test_only_doors_are_exempt_from_csrf() -> None:
    assert broken.csrf_exempt is True  # type: ignore[attr-defined]
