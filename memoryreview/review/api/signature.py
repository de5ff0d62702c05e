"""Signed deliveries. Source: Standard Webhooks 1.0.0, read strictly: what is malformed is not signed."""

from __future__ import annotations

import base64
import binascii
import hmac
import re
from collections.abc import Sequence
from dataclasses import dataclass

from memoryreview.core.errors import MemoryReviewError
from memoryreview.core.signing import signature_of

TOLERANCE_S = 300
MAX_SIGNATURES = 5
MAX_HEADER_CHARS = 1024
_ID = re.compile(r"[A-Za-z0-9_-]{1,64}")
_TIMESTAMP = re.compile(r"[0-9]{9,11}")
_SIGNATURE = re.compile(r"(v[0-9]{1,2}[a-z]?),([A-Za-z0-9+/]{1,400}={0,2})")


class SignatureInvalidError(MemoryReviewError):
    """Unknown sender, malformed header or wrong signature: all alike."""

    problem = "signature-invalid"
    status = 401

    def __init__(self) -> None:
        super().__init__(
            "The signature does not fit this body and sender. Nothing was stored; sign the raw body again."
        )


class TimestampOutOfRangeError(MemoryReviewError):
    problem = "timestamp-out-of-range"
    status = 401

    def __init__(self) -> None:
        super().__init__(
            f"The delivery was signed more than {TOLERANCE_S // 60} minutes from now. Nothing was stored; "
            "compare your clock with the Date header and sign again with the same webhook-id."
        )


@dataclass(frozen=True, slots=True)
class SignatureHeaders:
    """The three headers as received; "" where one is missing."""

    webhook_id: str
    timestamp: str
    signatures: str


def check(headers: SignatureHeaders, body: bytes, *, keys: Sequence[bytes], now_s: float) -> None:
    """Return when one of the signatures was made with one of the keys, near now. Compares all with all, constant time.

    Raises: SignatureInvalidError; TimestampOutOfRangeError for a delivery that is signed well but too old or too new.
    """
    candidates = candidates_of(headers)
    is_signed = False
    for key in keys:
        expected = signature_of(key, headers.webhook_id, headers.timestamp, body)
        for candidate in candidates:
            is_signed |= hmac.compare_digest(expected, candidate)
    if not is_signed:
        raise SignatureInvalidError
    if abs(now_s - int(headers.timestamp)) > TOLERANCE_S:
        raise TimestampOutOfRangeError


def candidates_of(headers: SignatureHeaders) -> list[bytes]:
    """Return the symmetric signatures that are stated, at least one; other versions are skipped.

    Raises: SignatureInvalidError where any header is missing or malformed. No body is needed to tell.
    """
    if not (_ID.fullmatch(headers.webhook_id) and _TIMESTAMP.fullmatch(headers.timestamp)):
        raise SignatureInvalidError
    if len(headers.signatures) > MAX_HEADER_CHARS:
        raise SignatureInvalidError
    stated = headers.signatures.split(" ")
    if len(stated) > MAX_SIGNATURES:
        raise SignatureInvalidError
    found: list[bytes] = []
    for text in stated:
        parts = _SIGNATURE.fullmatch(text)
        if parts is None:
            raise SignatureInvalidError
        if parts[1] == "v1":
            found.append(_decoded(parts[2]))
    if not found:
        raise SignatureInvalidError
    return found


def _decoded(text: str) -> bytes:
    try:
        return base64.b64decode(text, validate=True)
    except binascii.Error as error:
        raise SignatureInvalidError from error
