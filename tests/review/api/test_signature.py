from __future__ import annotations

import ast
import base64
import re
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import memoryreview.review.api as api
from memoryreview.core.signing import decoded_secret, signature_of
from memoryreview.review.api.signature import (
    SignatureHeaders,
    SignatureInvalidError,
    TimestampOutOfRangeError,
    check,
)

KEY = b"k" * 32
OTHER_KEY = b"o" * 32
NOW = 1_780_000_000
BODY = '{"b": 1.0,   "a": "é"}'.encode()


def encoded(signature: bytes) -> str:
    return base64.b64encode(signature).decode()


def signed(
    *, key: bytes = KEY, webhook_id: str = "msg_1", timestamp: str = str(NOW), body: bytes = BODY
) -> SignatureHeaders:
    return SignatureHeaders(webhook_id, timestamp, "v1," + encoded(signature_of(key, webhook_id, timestamp, body)))


def test_check_matches_the_vector_of_the_specification() -> None:
    secret = "whsec_" + "MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw"
    body = b'{"test": 2432232314}'
    headers = SignatureHeaders(
        "msg_p5jXN8AQM9LWM0D4loKWxJek", "1614265330", "v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE="
    )
    key = decoded_secret(secret)
    assert key is not None

    check(headers, body, keys=[key], now_s=1614265330)


def test_c130_check_is_over_the_raw_bytes() -> None:
    check(signed(), BODY, keys=[KEY], now_s=NOW)

    with pytest.raises(SignatureInvalidError):
        check(signed(), '{"b":1.0,"a":"é"}'.encode(), keys=[KEY], now_s=NOW)


def test_c130_check_tries_every_stated_signature() -> None:
    good = signed().signatures
    wrong = signed(key=OTHER_KEY).signatures
    other_version = "v1a," + encoded(b"e" * 64)
    headers = SignatureHeaders("msg_1", str(NOW), f"{wrong} {other_version} {wrong} {good}")

    check(headers, BODY, keys=[KEY], now_s=NOW)


def test_check_takes_any_of_several_keys() -> None:
    check(signed(), BODY, keys=[OTHER_KEY, KEY], now_s=NOW)
    check(signed(), BODY, keys=[KEY, OTHER_KEY], now_s=NOW)


@pytest.mark.parametrize("keys", [[], [OTHER_KEY]])
def test_check_refuses_without_the_right_key(keys: list[bytes]) -> None:
    with pytest.raises(SignatureInvalidError):
        check(signed(), BODY, keys=keys, now_s=NOW)


@pytest.mark.parametrize("offset_s", [-300, 0, 300])
def test_check_tolerates_five_minutes(offset_s: int) -> None:
    check(signed(), BODY, keys=[KEY], now_s=NOW + offset_s)


@pytest.mark.parametrize("offset_s", [-301, 301, 1200, -86_400])
def test_c131_check_refuses_an_old_or_future_delivery(offset_s: int) -> None:
    with pytest.raises(TimestampOutOfRangeError):
        check(signed(), BODY, keys=[KEY], now_s=NOW + offset_s)


def test_check_does_not_tell_the_age_of_what_is_not_signed() -> None:
    with pytest.raises(SignatureInvalidError):
        check(signed(key=OTHER_KEY), BODY, keys=[KEY], now_s=NOW + 9999)


@pytest.mark.parametrize("webhook_id", ["", "a.b", "a b", "é", "x" * 65, "msg_1\n", "msg/1", "msg_1\x00"])
def test_check_refuses_a_malformed_id(webhook_id: str) -> None:
    with pytest.raises(SignatureInvalidError):
        check(signed(webhook_id=webhook_id), BODY, keys=[KEY], now_s=NOW)


@pytest.mark.parametrize(
    "timestamp",
    ["", "1780000000.9", "1780_000000", " 1780000000", "1780000000 ", "1.78e9", "+1780000000", "-1780000000",
     "١٧٨٠٠٠٠٠٠٠", "1780000000\n", "12345678", "178000000000", "0x6a18f000"],
)  # fmt: skip
def test_check_refuses_a_malformed_timestamp(timestamp: str) -> None:
    with pytest.raises(SignatureInvalidError):
        check(signed(timestamp=timestamp), BODY, keys=[KEY], now_s=NOW)


GOOD = "v1," + encoded(signature_of(KEY, "msg_1", str(NOW), BODY))


@pytest.mark.parametrize(
    "header",
    ["", " ", "v1", "v1,", ",", GOOD + " ", " " + GOOD, GOOD + "  " + GOOD, GOOD + ",x", GOOD[3:], "v1" + GOOD,
     GOOD[:-1], GOOD + "=", GOOD.replace("v1,", "V1,"), GOOD.replace("v1,", "v1a,"), GOOD.replace("v1,", "v2,"),
     GOOD.replace("v1,", "v1, "), GOOD + "\t" + GOOD, "v1,é", " ".join([GOOD] * 6), GOOD + " v1," + "A" * 1100,
     "v1," + encoded(signature_of(KEY, "msg_1", str(NOW), BODY)[:16]), GOOD + " broken"],
)  # fmt: skip
def test_check_refuses_a_malformed_signature(header: str) -> None:
    with pytest.raises(SignatureInvalidError):
        check(SignatureHeaders("msg_1", str(NOW), header), BODY, keys=[KEY], now_s=NOW)


@settings(max_examples=150, deadline=None)
@given(webhook_id=st.text(max_size=70), timestamp=st.text(max_size=14), header=st.text(max_size=120))
def test_check_refuses_whatever_else_stands_in_the_headers(webhook_id: str, timestamp: str, header: str) -> None:
    with pytest.raises(SignatureInvalidError):
        check(SignatureHeaders(webhook_id, timestamp, header), BODY, keys=[KEY], now_s=NOW)


@settings(max_examples=100, deadline=None)
@given(at=st.integers(0, len(BODY) - 1), bit=st.integers(0, 7))
def test_check_refuses_a_body_with_one_bit_changed(at: int, bit: int) -> None:
    changed = bytearray(BODY)
    changed[at] ^= 1 << bit
    with pytest.raises(SignatureInvalidError):
        check(signed(), bytes(changed), keys=[KEY], now_s=NOW)


def serialised(key: bytes) -> str:
    return "whsec_" + encoded(key)


@pytest.mark.parametrize("size", [24, 32, 64])
def test_decoded_secret_returns_the_key(size: int) -> None:
    assert decoded_secret(serialised(b"s" * size)) == b"s" * size


@pytest.mark.parametrize(
    "text",
    ["", "whsec_", serialised(b"s" * 23), serialised(b"s" * 65), serialised(KEY)[6:], "whsec_!!", "whsec_é", "whsec_A"],
)
def test_decoded_secret_is_none_for_anything_else(text: str) -> None:
    assert decoded_secret(text) is None


SENSITIVE = re.compile(r"sig|token|secret|digest", re.IGNORECASE)


def test_no_door_compares_a_secret_with_an_ordinary_operator() -> None:
    """`==` leaves early and tells by time how much was right; only hmac.compare_digest may compare these."""
    found = []
    sources = sorted(Path(api.__path__[0]).glob("*.py"))
    for source in sources:
        for node in ast.walk(ast.parse(source.read_text(encoding="utf-8"))):
            if not isinstance(node, ast.Compare):
                continue
            if not any(isinstance(operator, ast.Eq | ast.NotEq) for operator in node.ops):
                continue
            names = [n.id if isinstance(n, ast.Name) else n.attr for side in (node.left, *node.comparators)
                     for n in ast.walk(side) if isinstance(n, ast.Name | ast.Attribute)]  # fmt: skip
            found += [f"{source.name}:{node.lineno} {name}" for name in names if SENSITIVE.search(name)]

    assert len(sources) > 10
    assert found == []
