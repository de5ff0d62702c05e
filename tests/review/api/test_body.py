from __future__ import annotations

import contextlib
import io
import json
from typing import Any

import pytest
from django.core.handlers.wsgi import WSGIRequest
from hypothesis import given, settings
from hypothesis import strategies as st

from memoryreview.core.errors import TooLargeError
from memoryreview.review.api.body import MAX_DEPTH, parse_json, read_body
from memoryreview.review.api.problems import (
    BodyIncompleteError,
    BodyNotUtf8Error,
    LengthRequiredError,
    SchemaInvalidError,
    UnsupportedMediaTypeError,
)

LIMIT_BYTES = 1024 * 1024
ENDED_BY_SERVER: dict[str, Any] = {"wsgi.input_terminated": True}


class EndlessStream(io.RawIOBase):
    """A sender that never stops; counts what was taken."""

    def __init__(self) -> None:
        self.taken_bytes = 0

    def read(self, size: int = -1, /) -> bytes:
        assert size > 0, "reading without a limit would fill the memory"
        self.taken_bytes += size
        return b" " * size


def request(body: bytes | io.RawIOBase = b"{}", **environ: Any) -> WSGIRequest:
    stream = io.BytesIO(body) if isinstance(body, bytes) else body
    length = {"CONTENT_LENGTH": str(len(body))} if isinstance(body, bytes) else {}
    return WSGIRequest(
        {
            "REQUEST_METHOD": "POST",
            "PATH_INFO": "/api/v1/proposals",
            "CONTENT_TYPE": "application/json",
            "wsgi.input": stream,
            **length,
            **environ,
        }
    )


def test_read_body_returns_the_raw_bytes() -> None:
    assert read_body(request(b'{"a":\r\n 1}\xff')) == b'{"a":\r\n 1}\xff'


@pytest.mark.parametrize(
    "media_type", ["application/json; charset=utf-8", "application/json;charset=UTF-8", "Application/JSON"]
)
def test_read_body_takes_json_in_utf_8(media_type: str) -> None:
    assert read_body(request(CONTENT_TYPE=media_type)) == b"{}"


@pytest.mark.parametrize(
    "media_type",
    ["", "text/plain", "application/x-www-form-urlencoded", "multipart/form-data; boundary=x", "application/jsonx",
     "application/json; charset=latin-1", "text/html; application/json", "*/*"],
)  # fmt: skip
def test_read_body_refuses_other_media(media_type: str) -> None:
    with pytest.raises(UnsupportedMediaTypeError):
        read_body(request(CONTENT_TYPE=media_type))


@pytest.mark.parametrize("encoding", ["gzip", "deflate", "br", "identity, gzip", "x"])
def test_read_body_refuses_compressed_bodies(encoding: str) -> None:
    with pytest.raises(UnsupportedMediaTypeError):
        read_body(request(HTTP_CONTENT_ENCODING=encoding))


def test_read_body_takes_a_body_of_the_limit() -> None:
    assert len(read_body(request(b" " * LIMIT_BYTES))) == LIMIT_BYTES


def test_read_body_refuses_a_stated_length_before_reading() -> None:
    stream = EndlessStream()

    with pytest.raises(TooLargeError):
        read_body(request(stream, CONTENT_LENGTH=str(LIMIT_BYTES + 1)))

    assert stream.taken_bytes == 0


def test_read_body_stops_reading_a_chunked_body_beyond_the_limit() -> None:
    stream = EndlessStream()

    with pytest.raises(TooLargeError):
        read_body(request(stream, HTTP_TRANSFER_ENCODING="chunked", **ENDED_BY_SERVER))

    assert LIMIT_BYTES < stream.taken_bytes <= LIMIT_BYTES + 64 * 1024


def test_read_body_reads_a_chunked_body_that_the_server_ends() -> None:
    chunked = request(HTTP_TRANSFER_ENCODING="chunked", CONTENT_LENGTH="", **ENDED_BY_SERVER)

    assert read_body(chunked) == b"{}"


def test_read_body_refuses_a_chunked_body_that_the_server_does_not_end() -> None:
    with pytest.raises(LengthRequiredError):
        read_body(request(HTTP_TRANSFER_ENCODING="chunked", CONTENT_LENGTH=""))


@pytest.mark.parametrize("environ", [{"CONTENT_LENGTH": "3"}, {"CONTENT_LENGTH": "1000"}])
def test_read_body_refuses_a_body_that_ends_early(environ: dict[str, str]) -> None:
    """Half a body may be valid JSON and mean something else."""
    with pytest.raises(BodyIncompleteError):
        read_body(request(b"{}", **environ))


class SilentStream(io.RawIOBase):
    """A sender that fell silent, as the server tells it."""

    def read(self, size: int = -1, /) -> bytes:
        raise TimeoutError


@pytest.mark.parametrize("environ", [{"CONTENT_LENGTH": "9"}, {"HTTP_TRANSFER_ENCODING": "chunked", **ENDED_BY_SERVER}])
def test_read_body_refuses_a_body_that_stays_away(environ: dict[str, Any]) -> None:
    with pytest.raises(BodyIncompleteError):
        read_body(request(SilentStream(), **environ))


@pytest.mark.parametrize("length", ["-1", "1e3", "٣", "1,2", "0x10"])
def test_read_body_refuses_a_length_that_is_no_number(length: str) -> None:
    with pytest.raises(LengthRequiredError):
        read_body(request(CONTENT_LENGTH=length))


def test_read_body_refuses_a_length_of_any_number_of_digits() -> None:
    with pytest.raises(TooLargeError):
        read_body(request(CONTENT_LENGTH="9" * 6000))


def test_parse_json_returns_values() -> None:
    assert parse_json('{"a": [1, 2.5, "é😀", null, true], "b": {}}'.encode()) == {
        "a": [1, 2.5, "é😀", None, True],
        "b": {},
    }


def test_parse_json_names_the_byte_that_is_not_utf_8() -> None:
    with pytest.raises(BodyNotUtf8Error) as caught:
        parse_json(b'{"a": "caf\xe9"}')

    assert caught.value.members() == {"offset": 10}


@pytest.mark.parametrize(
    ("body", "sentence"),
    [
        (b"", "“body” is not JSON (line 1, column 1). Nothing was stored."),
        (b"{", "“body” is not JSON (line 1, column 2). Nothing was stored."),
        (b'{"a": 1,}', "“body” is not JSON (line 1, column 9). Nothing was stored."),
        (b"{'a': 1}", "“body” is not JSON (line 1, column 2). Nothing was stored."),
        (b"{} {}", "“body” is not JSON (line 1, column 4). Nothing was stored."),
        (b"\xef\xbb\xbf{}", "“body” is not JSON (line 1, column 1). Nothing was stored."),
        (b'{"a": "x\ny"}', "“body” is not JSON (line 1, column 9). Nothing was stored."),
        (b'{"a": NaN}', "“body” holds NaN, which is not JSON. Nothing was stored."),
        (b'{"a": [-Infinity]}', "“body” holds -Infinity, which is not JSON. Nothing was stored."),
        (b'{"a": 1e999}', "“body” holds a number that is too large. Nothing was stored."),
        (b'{"a": 9223372036854775808}', "“body” holds a number that is too large. Nothing was stored."),
        (b'{"a": 1' + b"0" * 5000 + b"}", "“body” holds a number that is too large. Nothing was stored."),
        (b'{"a": 1, "b": {"c": 1, "c": 2}}', "“c” stands twice in one object. Nothing was stored."),
        (b'{"a": 1, "\\u0061": 1}', "“a” stands twice in one object. Nothing was stored."),
        (b'["\\ud800"]', "“body” holds half of a surrogate pair, which is no character. Nothing was stored."),
        (b'{"\\udfff": 1}', "“body” holds half of a surrogate pair, which is no character. Nothing was stored."),
        (b"[" * 33 + b"]" * 33, "“body” is nested deeper than 32 levels. Nothing was stored."),
        (b"[" * 200_000, "“body” is nested deeper than 32 levels. Nothing was stored."),
        (b'{"a":' * 100_000, "“body” is nested deeper than 32 levels. Nothing was stored."),
    ],
)
def test_parse_json_refuses_what_is_not_strict_json(body: bytes, sentence: str) -> None:
    with pytest.raises(SchemaInvalidError) as caught:
        parse_json(body)

    assert str(caught.value) == sentence


def test_parse_json_takes_the_deepest_allowed_value() -> None:
    value = parse_json(b"[" * MAX_DEPTH + b"1" + b"]" * MAX_DEPTH)

    assert json.dumps(value) == "[" * MAX_DEPTH + "1" + "]" * MAX_DEPTH


def test_parse_json_takes_a_surrogate_pair_for_its_character() -> None:
    assert parse_json(b'"\\ud83d\\ude00"') == "😀"


def test_parse_json_does_not_repeat_a_secret_that_was_sent_as_a_name() -> None:
    secret = "AKIA" + "Q3EGRJW7" + "XKZ2M5TP"

    with pytest.raises(SchemaInvalidError) as caught:
        parse_json(f'{{"{secret}": 1, "{secret}": 2}}'.encode())

    assert secret not in str(caught.value)
    assert secret not in str(caught.value.members())


texts = st.text(st.characters(exclude_categories=["Cs"]))
numbers = st.integers(-(2**63) + 1, 2**63 - 1) | st.floats(allow_nan=False, allow_infinity=False)
json_values = st.recursive(
    st.none() | st.booleans() | numbers | texts,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(texts, inner),
    max_leaves=12,
)


@settings(max_examples=80, deadline=None)
@given(json_values)
def test_parse_json_reads_back_any_value(value: Any) -> None:
    assert parse_json(json.dumps(value).encode()) == value


@settings(max_examples=150, deadline=None)
@given(st.binary(max_size=60) | st.text(st.sampled_from('{}[]",:\\u0d8eE+-.NaI\n 19tfn'), max_size=40).map(str.encode))
def test_parse_json_is_total(body: bytes) -> None:
    with contextlib.suppress(BodyNotUtf8Error, SchemaInvalidError):
        parse_json(body)
