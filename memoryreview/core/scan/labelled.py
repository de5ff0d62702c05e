"""Review rules for secrets without a shape of their own: found by the label that stands before them.

A label alone is never enough. The value must look chosen or generated: people also write about passwords.
"""

from __future__ import annotations

import re

from memoryreview.core.model import Severity

from .secret_judge import is_placeholder
from .secret_rule import entropy

_NOT_A_VALUE = frozenset({
    "none", "null", "nil", "true", "false", "undefined", "string", "str", "bool", "boolean", "int", "text", "bytes",
    "required", "optional", "hidden", "empty", "blank", "unset", "unknown", "default", "auto", "generated", "random",
    "rotated", "encrypted", "hashed", "stored", "removed", "omitted", "missing", "same", "see", "ask", "admins",
    "prompt", "stdin", "file", "input", "field", "vault", "keychain", "keyring", "bitwarden", "lastpass", "keepass",
    "n/a", "tbd", "todo", "yes", "no", "here", "there", "value", "variable", "environment", "secrets", "manager",
    "strong", "weak", "any", "user", "username", "login", "reset", "policy", "length", "expired", "never", "always",
})  # fmt: skip
_TECHNICAL = re.compile(
    r"(?i)(?:base(?:16|32|58|62|64)|sha-?\d|md5|argon2|bcrypt|scrypt|pbkdf2|utf-?8|1password|[23]fa|mfa|oauth|rfc"
    r"|aes|rsa|hs256|rs256|iso|v\d|sql|http|p@ss?w|pa55)"
)
_NUMBER_WITH_UNIT = re.compile(r"\d{1,6}(?:[-–+.]?[A-Za-z]{0,20})?")
_WORD_CHAIN = re.compile(
    r"(?:[A-Za-z]{1,40}\d{0,2}|\d{1,4})(?:[-_./:@](?:[A-Za-z]{1,40}\d{0,2}|\d{1,4})){0,30}[-_./:@]?"
)
_UUID = re.compile(r"(?i)[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}")
_FINGERPRINT = re.compile(r"(?i)[0-9a-f]{40}")
_HEX = re.compile(r"(?i)[0-9a-f]{32,}")
_PHRASE_ABOUT = re.compile(
    r"(?i)\b(?:enter|your|must|please|required|forgot\w*|invalid|wrong|new|the|reset|change|confirm|is|are|a|an|or"
    r"|password|passwort|field|should|cannot|too|not)\b"
)
_STATES = re.compile(r"(?i)\b(?:is|was|lautet|ist|war|es|est|è|é|jest)\b|[—–是为為はが은는이가]")
_PUBLIC_KEY_WORDS = re.compile(
    r"(?i)(?:public|cache|primary|foreign|partition|sort|host|idempotency|object|s3|index|map|dict|i18n|translation"
    r"|message|publishable|site|row|registry|config|query|redis|storage|hot|short|public[_ -]?api|json|label|lookup)"
    r"[_ \-]?$"
)


def _stands_for_itself(value: str) -> bool:
    stripped = value.strip(".!?:*_ ")
    is_path = value.startswith(("/", "./", "../", "~/"))
    return bool(stripped) and not is_path and not is_placeholder(value) and stripped.casefold() not in _NOT_A_VALUE


def _looks_chosen(value: str) -> bool:
    """Whether an unquoted value mixes letters with digits or signs, as a password does and a word does not."""
    value = value.rstrip(".:!?")
    has_letter = any(c.isascii() and c.isalpha() for c in value)
    has_other = any(c.isdigit() or c in "!@#$%^&*+=~?" for c in value)
    return (
        has_letter
        and has_other
        and len(value) >= 6
        and not _TECHNICAL.match(value)
        and not _NUMBER_WITH_UNIT.fullmatch(value)
        and "://" not in value
    )


def _judge_quoted(value: str) -> Severity | None:
    if not _stands_for_itself(value) or len(value) < 4 or (_TECHNICAL.match(value) and " " not in value):
        return None
    if " " in value and _PHRASE_ABOUT.search(value):
        return None
    return Severity.REVIEW


def judge_assigned(match: re.Match[str]) -> Severity | None:
    """Judge `label: value` and `label=value`."""
    if match["quoted"] is not None:
        return _judge_quoted(match["quoted"])
    value, rest = match["bare"], match.string[match.end() : match.end() + 1]
    if rest in ("(", "[") or not _stands_for_itself(value) or len(value) < 4:
        return None
    if _looks_chosen(value):
        return Severity.REVIEW
    if "|" in match["sign"] or not (value.isascii() and value.isalpha()):
        return None
    if "=" in match["sign"]:
        return Severity.REVIEW
    before = match.string[match.string.rfind("\n", 0, match.start()) + 1 : match.start()]
    ends_clause = rest in ("", "\n", "\r", ",", ";", "|")
    return Severity.REVIEW if ends_clause and len(before) <= 40 and not re.search(r"[.?!]\s", before) else None


def judge_stated(match: re.Match[str]) -> Severity | None:
    """Judge `label is value`, and `label value` where the value can only have been chosen."""
    if match["quoted"] is not None and _STATES.search(match["sign"]):
        return _judge_quoted(match["quoted"])
    value = match["quoted"] or match["bare"]
    return Severity.REVIEW if _stands_for_itself(value) and _looks_chosen(value) else None


def judge_token(match: re.Match[str]) -> Severity | None:
    """Judge a long run of token characters after a label, by its mix of characters."""
    value = match["value"].rstrip(".")
    before = match.string[max(0, match.start("label") - 20) : match.start("label")]
    if not _stands_for_itself(value) or match.string[match.end() : match.end() + 1] in ("(", "["):
        return None
    if match["label"].casefold().endswith("key") and _PUBLIC_KEY_WORDS.search(before):
        return None
    if _UUID.fullmatch(value):
        return (
            Severity.REVIEW if match["sign"].strip() in (":", "=", ":=") and match["label"].lower() != "key" else None
        )
    if _FINGERPRINT.fullmatch(value) and match["label"].casefold() == "key" and not match["sign"].strip():
        return None
    if not any(c.isdigit() for c in value) or not any(c.isalpha() for c in value):
        return None
    chain = re.split(r"[-_./:@]", value)
    if len(chain) > 1 and (_WORD_CHAIN.fullmatch(value) or _TECHNICAL.match(value)):
        return None
    if "://" in value or entropy(value) < 2.5:
        return None
    kinds = sum(any(test(c) for c in value) for test in (str.isupper, str.islower, str.isdigit))
    return Severity.REVIEW if kinds == 3 or _HEX.fullmatch(value) or len(value) >= 20 else None


def judge_group_key(match: re.Match[str]) -> Severity | None:
    value = match["value"]
    has_both = any(c.isdigit() for c in value) and any(c.isalpha() for c in value)
    return Severity.REVIEW if has_both and not is_placeholder(value) else None


def judge_bearer(match: re.Match[str]) -> Severity | None:
    return None if is_placeholder(match[1]) or _WORD_CHAIN.fullmatch(match[1]) else Severity.REVIEW
