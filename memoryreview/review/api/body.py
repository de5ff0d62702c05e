"""From a request to a JSON value: bounded while reading, strict while parsing."""

from __future__ import annotations

import json
import math
from collections.abc import Iterator
from typing import Any, Protocol

from django.conf import settings
from django.core.handlers.wsgi import WSGIRequest
from django.http import HttpRequest

from memoryreview.core import scan
from memoryreview.core.errors import TooLargeError
from memoryreview.core.names import shown

from .problems import (
    BodyIncompleteError,
    BodyNotUtf8Error,
    LengthRequiredError,
    SchemaInvalidError,
    UnsupportedMediaTypeError,
)

MAX_DEPTH = 32
MAX_INTEGER = 2**63 - 1
_CHUNK_BYTES = 64 * 1024


class _Readable(Protocol):
    def read(self, size: int, /) -> bytes: ...


def read_body(request: HttpRequest) -> bytes:
    """Return the raw body of a JSON request.

    Raises: UnsupportedMediaTypeError, LengthRequiredError, TooLargeError (before reading where the length is stated,
        and while reading: never more than the limit and one chunk are held), BodyIncompleteError.
    """
    _refuse_other_media(request)
    limit_bytes: int = settings.BODY_MAX_BYTES
    stated = request.META.get("CONTENT_LENGTH") or ""
    if stated and not (stated.isascii() and stated.isdecimal()):
        raise LengthRequiredError
    if stated and int(stated[:20]) > limit_bytes:
        raise TooLargeError("The body", int(stated[:20]), limit_bytes)
    body = bytearray()
    stream = _stream(request)
    try:
        while chunk := stream.read(_CHUNK_BYTES):
            body += chunk
            if len(body) > limit_bytes:
                raise TooLargeError("The body, as far as it was read,", len(body), limit_bytes)
    except OSError as error:
        raise BodyIncompleteError from error
    if stated and len(body) < int(stated):
        raise BodyIncompleteError
    return bytes(body)


def _refuse_other_media(request: HttpRequest) -> None:
    if request.content_type != "application/json":
        raise UnsupportedMediaTypeError("The content type is not JSON.")
    charset = (request.content_params or {}).get("charset", "utf-8")
    if charset.strip().lower() not in ("utf-8", "utf8"):
        raise UnsupportedMediaTypeError("The character set is not UTF-8.")
    if request.headers.get("Content-Encoding", "identity").strip().lower() != "identity":
        raise UnsupportedMediaTypeError("Compressed bodies are not read.")


def _stream(request: HttpRequest) -> _Readable:
    """Return what to read the body from. Django takes a body without stated length for empty."""
    if not request.headers.get("Transfer-Encoding"):
        return request
    if not (isinstance(request, WSGIRequest) and request.environ.get("wsgi.input_terminated")):
        raise LengthRequiredError
    stream: _Readable = request.environ["wsgi.input"]
    return stream


def parse_json(body: bytes) -> Any:
    """Return the JSON value of a body.

    Raises: BodyNotUtf8Error; SchemaInvalidError for anything but strict JSON: repeated names, NaN and numbers that no
        other program reads the same, lone surrogates, more than MAX_DEPTH levels.
    """
    try:
        text = body.decode("utf-8")
    except UnicodeDecodeError as error:
        raise BodyNotUtf8Error(error.start) from error
    try:
        value = json.loads(
            text, object_pairs_hook=_unique, parse_constant=_refuse_constant, parse_float=_finite, parse_int=_bounded
        )
    except json.JSONDecodeError as error:
        raise SchemaInvalidError([("body", f"is not JSON (line {error.lineno}, column {error.colno})")]) from error
    except RecursionError as error:
        raise _too_deep() from error
    _refuse_odd_values(value)
    return value


def shown_name(name: str) -> str:
    """Return a field's name as an error may repeat it: no control characters, no secret that was sent as a name."""
    return scan.mask(shown(name), scan.scan(shown(name)))


def _unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) == len(pairs):
        return found
    seen: set[str] = set()
    for name, _ in pairs:
        if name in seen:
            raise SchemaInvalidError([(shown_name(name), "stands twice in one object")])
        seen.add(name)
    return found


def _refuse_constant(name: str) -> float:
    raise SchemaInvalidError([("body", f"holds {name}, which is not JSON")])


def _finite(digits: str) -> float:
    number = float(digits)
    if not math.isfinite(number):
        raise SchemaInvalidError([("body", "holds a number that is too large")])
    return number


def _bounded(digits: str) -> int:
    if len(digits) > 20 or abs(int(digits)) > MAX_INTEGER:
        raise SchemaInvalidError([("body", "holds a number that is too large")])
    return int(digits)


def _refuse_odd_values(value: Any) -> None:
    """Walk without recursion: depth and lone surrogates."""
    level: list[Any] = [value]
    for _ in range(MAX_DEPTH):
        containers: list[Any] = []
        for inner in level:
            for part in _parts(inner):
                if isinstance(part, str):
                    _refuse_surrogates(part)
                elif isinstance(part, dict | list):
                    containers.append(part)
        if not containers:
            return
        level = containers
    raise _too_deep()


def _parts(value: Any) -> Iterator[Any]:
    if isinstance(value, dict):
        yield from value
        yield from value.values()
    elif isinstance(value, list):
        yield from value
    else:
        yield value


def _refuse_surrogates(text: str) -> None:
    try:
        text.encode("utf-8")
    except UnicodeEncodeError as error:
        raise SchemaInvalidError([("body", "holds half of a surrogate pair, which is no character")]) from error


def _too_deep() -> SchemaInvalidError:
    return SchemaInvalidError([("body", f"is nested deeper than {MAX_DEPTH} levels")])
