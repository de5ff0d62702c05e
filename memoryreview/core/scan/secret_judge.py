"""Closer looks at matches whose shape alone says too little: web tokens, URL credentials, encoded keys."""

from __future__ import annotations

import base64
import binascii
import json
import re
from urllib.parse import unquote

from memoryreview.core.model import Severity

from .secret_rule import PLACEHOLDER, entropy

WEAK_PASSWORDS = frozenset({
    "password", "passwd", "pass", "pwd", "pw", "secret", "token", "passphrase", "credentials", "credential",
    "yourpassword", "mypassword", "mysecretpassword", "dbpassword", "userpassword", "somepassword", "thepassword",
})  # fmt: skip
"""Words that name a password instead of being one (letters only, lower case)."""

LOCAL_HOST = re.compile(r"(?i)(?:localhost|127\.0\.0\.1|0\.0\.0\.0|\[?::1\]?|host\.docker\.internal)(?::\d{1,5})?")
SHORT_PASSWORD_CHARS = 8

_VARIABLE = re.compile(
    r"^[$%@]|\$\{|\{\{|%\(|<|^(?:process\.env|os\.environ|os\.getenv|getenv|env|secrets?|vars?|config|settings|self|this"
    r"|import\.meta)[.\[(:]|^(?:op|vault|sops|ssm|keyring|file|env|pass|bw|aws-sm|gcp-sm|keychain)://?|^!|^\{"
)


def is_placeholder(value: str) -> bool:
    """Whether a value stands for a secret instead of being one: a variable, a blank to fill in, a mask."""
    letters = re.sub(r"[^a-z]", "", value.casefold())
    return bool(
        not value.strip("*•.xX#?-_ ")
        or PLACEHOLDER.search(value)
        or _VARIABLE.search(value)
        or (letters in WEAK_PASSWORDS and ("_" in value or value.casefold().strip("_-.!") == letters))
    )


def judge_url(match: re.Match[str]) -> Severity | None:
    """Judge `scheme://user:password@host`: short passwords and this machine's own services need a look only."""
    password = unquote(match[2])
    if is_placeholder(password) or entropy(password) < 2:
        return None
    if len(password) < SHORT_PASSWORD_CHARS or LOCAL_HOST.fullmatch(match[3]):
        return Severity.REVIEW
    return Severity.BLOCK


def judge_jwt(match: re.Match[str]) -> Severity | None:
    """Judge a web token by its decoded head and claims. Expiry is not looked at: the core has no clock."""
    head, claims = (_json_object(part) for part in match[0].split(".")[:2])
    if head is None or claims is None or "alg" not in head:
        return None
    return Severity.REVIEW if claims.get("sub") == "1234567890" else Severity.BLOCK


def judge_base64_pem(match: re.Match[str]) -> Severity | None:
    decoded = decoded_base64(match[0].replace("\n", ""))
    return Severity.BLOCK if b"PRIVATE KEY" in decoded else None


def decoded_base64(run: str) -> bytes:
    """Decode a run of base64 or base64url characters; padding may be missing, a cut last group is left out."""
    body = run.rstrip("=").replace("-", "+").replace("_", "/")
    body = body[: len(body) - 1] if len(body) % 4 == 1 else body
    try:
        return base64.b64decode(body + "=" * (-len(body) % 4), validate=True)
    except (binascii.Error, ValueError):
        return b""


def _json_object(part: str) -> dict[str, object] | None:
    try:
        decoded = json.loads(decoded_base64(part))
    except (ValueError, RecursionError):
        return None
    return decoded if isinstance(decoded, dict) else None
