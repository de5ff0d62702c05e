"""Keys and signatures of webhooks, both ways. Source: Standard Webhooks 1.0.0."""

from __future__ import annotations

import base64
import binascii
import hashlib
import hmac

_SECRET_PREFIX = "whsec_"  # noqa: S105  # the prefix of the serialised form, no secret
_SECRET_BYTES = range(24, 65)


def serialised_secret(key: bytes) -> str:
    return _SECRET_PREFIX + base64.b64encode(key).decode("ascii")


def decoded_secret(serialised: str) -> bytes | None:
    """Return the key behind `whsec_…`, None when it is not one of 24 to 64 bytes."""
    if not serialised.startswith(_SECRET_PREFIX):
        return None
    try:
        key = base64.b64decode(serialised.removeprefix(_SECRET_PREFIX), validate=True)
    except (binascii.Error, ValueError):
        return None
    return key if len(key) in _SECRET_BYTES else None


def signature_of(key: bytes, webhook_id: str, timestamp: str, body: bytes) -> bytes:
    """Return the HMAC-SHA256 over the id, the timestamp and the raw body."""
    return hmac.new(key, b"%s.%s.%s" % (webhook_id.encode(), timestamp.encode(), body), hashlib.sha256).digest()


def signed_headers(secret: str, webhook_id: str, body: bytes, *, now_s: int) -> dict[str, str]:
    """Return the three headers that a delivery carries. Raises ValueError for a secret that is none."""
    key = decoded_secret(secret)
    if key is None:
        raise ValueError("not a webhook secret")
    signature = base64.b64encode(signature_of(key, webhook_id, str(now_s), body)).decode("ascii")
    return {"webhook-id": webhook_id, "webhook-timestamp": str(now_s), "webhook-signature": f"v1,{signature}"}
