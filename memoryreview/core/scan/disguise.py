"""Known disguises of the core phrase "ignore previous instructions", and runs of encoded text."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import lru_cache

from rapidfuzz.distance import OSA

from memoryreview.core.model import Severity

from .hit import Hit
from .injection_rules import STEERING_RULES
from .normalise import View, reversed_view, spliced, translated
from .secret_judge import decoded_base64


@dataclass(frozen=True, slots=True)
class DecodedRun:
    """What an encoded run says. `start`, `end`: half-open characters of the text as it stands."""

    text: str
    start: int
    end: int


_CORE = tuple(rule for rule in STEERING_RULES if rule.id in ("override", "override-all-above"))
_LEAK = re.compile(r"\b(?:reveal|print|show|output|repeat) (?:\w{1,20} ){0,3}system prompt\b")
_LEET_DIGITS = {"0": "o", "3": "e", "4": "a", "5": "s", "7": "t", "8": "b", "9": "g", "@": "a", "$": "s", "|": "l"}
_LEET = tuple(
    {ord(sign): letter for sign, letter in (_LEET_DIGITS | readings).items()}
    for readings in ({"1": "i"}, {"1": "i", "!": "i"}, {"1": "l", "!": "i"})
)
_LEET_VERB = re.compile(
    r"(?<!\w)(?:[i1!|l]gn[o0]r[e3]|d[i1!]sr[e3]g[a4@]rd|f[o0]rg[e3][t7]|b[y]p[a4@][s5$][s5$]|[o0]v[e3]rru[l1][e3])\b"
)
_LEET_SIGN = re.compile(r"[a-z][0134578@$!|]|[0134578@$!|][a-z]")
_SLUG_VERB = re.compile(r"\b(?:ignore|disregard|forget|bypass|overrule)(?=[-_+./][a-z])")
_PHRASE_CHARS = 160
_CORE_WORDS = ("ignore ", "disregard ", "forget ", "bypass ", "system prompt")
_ROT13 = {ord(char): "nopqrstuvwxyzabcdefghijklm"[place] for place, char in enumerate("abcdefghijklmnopqrstuvwxyz")}
_SPELLED = re.compile(r"(?<![^\W_])[^\W\d_](?:[ .\-_*+|/,·•]{1,3}[^\W\d_](?![^\W_])){3,200}")
_LETTERS_ONLY = re.compile(
    r"(?:ignore|disregard|forget|bypass)(?:all|any|every|the|of|my|your|these|those){0,4}"
    r"(?:previous|prior|above|earlier|preceding|system|safety)(?:and)?(?:previous|prior|above|earlier|system)?"
    r"(?:instructions?|directions?|directives?|guidelines?|rules?|prompts?|commands?|constraints?|orders)"
)
_NOT_LETTERS = re.compile(r"[\W\d_]+")
_SLUG_MARK = re.compile(r"(?<=[a-z])[-_+./]{1,3}(?=[a-z])")
_WORD = re.compile(r"[a-z]{4,16}")
_TYPO_TARGETS = {
    "verb": ("ignore", "disregard"),
    "which": ("previous", "prior"),
    "what": ("instruction", "instructions"),
}
_WORDS_BETWEEN = 3
_BASE64 = re.compile(r"(?<![A-Za-z0-9+/_-])[A-Za-z0-9+/_-]{20,}={0,2}")
_HEX = re.compile(r"(?<![0-9A-Za-z])[0-9a-fA-F]{32,}(?![0-9A-Za-z])")
_HEX_PAIRS = re.compile(r"(?<![0-9A-Za-z])(?:[0-9a-fA-F]{2}[ :]){15,8000}[0-9a-fA-F]{2}(?![0-9A-Za-z])")

_MESSAGE = "The text tells an agent to ignore its instructions, in disguise."
DISGUISES = {
    "leet": "letters are written as digits and signs",
    "slug": "words hang together by dashes or dots",
    "reversed": "it is written backwards",
    "rot13": "letters are shifted by thirteen",
    "spelled": "its letters stand apart",
    "typo": "its words are misspelt",
}
"""What follows `disguise-` in the name of a rule, and what it is."""


def disguised_hits(view: View, found: Iterable[Hit]) -> list[Hit]:
    """Return core phrases that stand only in a disguise: not where `found` has a hit already. `view` is flat."""
    hits = [*_leet_hits(view), *_spelled_hits(view), *_slug_hits(view), *_reversed_hits(view), *_rot13_hits(view)]
    hits += _typo_hits(view)
    known = [(hit.start, hit.end) for hit in found] if hits else []
    return [hit for hit in hits if not any(start < hit.end and hit.start < end for start, end in known)]


def decoded_runs(view: View) -> Iterator[DecodedRun]:
    """Return runs of base64 and of hexadecimal digits that decode to readable text. `view` keeps upper case."""
    base64_spans = _lines_joined(view.text, [match.span() for match in _BASE64.finditer(view.text)])
    hex_spans = [match.span() for pattern in (_HEX, _HEX_PAIRS) for match in pattern.finditer(view.text)]
    for decode, spans in ((_from_base64, base64_spans), (_from_hex, hex_spans)):
        for first, last in spans:
            text = _readable(decode(view.text[first:last]))
            if text is not None:
                yield DecodedRun(text, *view.span(first, last))


def _lines_joined(text: str, spans: list[tuple[int, int]]) -> list[tuple[int, int]]:
    """Join runs that only a line end parts: long base64 is wrapped at 64 or 76 columns."""
    joined_spans: list[tuple[int, int]] = []
    for start, end in spans:
        if joined_spans and text[joined_spans[-1][1] : start] in ("\n", "\r\n"):
            joined_spans[-1] = (joined_spans[-1][0], end)
        else:
            joined_spans.append((start, end))
    return joined_spans


def _leet_hits(view: View) -> Iterator[Hit]:
    for verb in _LEET_VERB.finditer(view.text):
        part = view.part(verb.start(), verb.start() + _PHRASE_CHARS)
        if _LEET_SIGN.search(part.text):
            for table in _LEET:
                yield from _core_hits(translated(part, table), "leet", Severity.BLOCK)


def _slug_hits(view: View) -> Iterator[Hit]:
    for verb in _SLUG_VERB.finditer(view.text):
        part = view.part(verb.start(), verb.start() + _PHRASE_CHARS)
        edits = ((match.start(), match.end(), " ") for match in _SLUG_MARK.finditer(part.text))
        yield from _core_hits(spliced(part, edits), "slug", Severity.REVIEW)


def _reversed_hits(view: View) -> Iterator[Hit]:
    if any(word[::-1] in view.text for word in _CORE_WORDS):
        yield from _core_hits(reversed_view(view), "reversed", Severity.REVIEW)


def _rot13_hits(view: View) -> Iterator[Hit]:
    if any(word.translate(_ROT13) in view.text for word in _CORE_WORDS):
        yield from _core_hits(translated(view, _ROT13), "rot13", Severity.REVIEW)


def _core_hits(view: View, disguise: str, severity: Severity) -> Iterator[Hit]:
    for rule in _CORE:
        for match in rule.matches(view.text):
            yield _hit(view, match, disguise, severity)
    if "system prompt" in view.text:
        for match in _LEAK.finditer(view.text):
            yield _hit(view, match, disguise, severity)


def _hit(view: View, match: re.Match[str], disguise: str, severity: Severity) -> Hit:
    start, end = view.span(match.start(), match.end())
    return Hit("injection", f"disguise-{disguise}", severity, start, end, _MESSAGE)


def _spelled_hits(view: View) -> Iterator[Hit]:
    spelled = [view.span(match.start(), match.end()) for match in _SPELLED.finditer(view.text)]
    if not spelled:
        return
    letters = spliced(view, ((match.start(), match.end(), "") for match in _NOT_LETTERS.finditer(view.text)))
    for match in _LETTERS_ONLY.finditer(letters.text):
        hit = _hit(letters, match, "spelled", Severity.BLOCK)
        if any(start < hit.end and hit.start < end for start, end in spelled):
            yield hit


def _typo_hits(view: View) -> Iterator[Hit]:
    """Find verb, adjective and noun of the core phrase near each other, at least one of them misspelt by one slip."""
    distinct = set(_WORD.findall(view.text))
    roles = {word: role for word in distinct if (role := _typo_role(word)) is not None}
    if {role for role, _ in roles.values()} != set(_TYPO_TARGETS):
        return
    words = list(_WORD.finditer(view.text))
    for index, match in enumerate(words):
        if roles.get(match[0], ("", False))[0] != "verb":
            continue
        which = _next_with_role(words, roles, index, "which")
        what = None if which is None else _next_with_role(words, roles, which, "what")
        if which is None or what is None or not any(roles[words[i][0]][1] for i in (index, which, what)):
            continue
        if "." not in view.text[match.start() : words[what].end()]:
            start, end = view.span(match.start(), words[what].end())
            yield Hit("injection", "disguise-typo", Severity.REVIEW, start, end, _MESSAGE)


@lru_cache(maxsize=4096)
def _typo_role(word: str) -> tuple[str, bool] | None:
    """Return the role of a word in the core phrase and whether it is misspelt. An inflected form has none."""
    for role, targets in _TYPO_TARGETS.items():
        if word in targets:
            return role, False
        for target in targets:
            if not word.startswith(target) and OSA.distance(word, target, score_cutoff=1) <= 1:
                return role, True
    return None


def _next_with_role(
    words: list[re.Match[str]], roles: dict[str, tuple[str, bool]], after: int, role: str
) -> int | None:
    following = range(after + 1, min(len(words), after + 2 + _WORDS_BETWEEN))
    return next((i for i in following if roles.get(words[i][0], ("", False))[0] == role), None)


def _from_base64(run: str) -> bytes:
    body = run.replace("\r", "").replace("\n", "")
    # A run that does not start as text does not end as one: this keeps long pictures cheap.
    return decoded_base64(body) if _readable(decoded_base64(body[:20])) is not None else b""


def _from_hex(run: str) -> bytes:
    digits = run.replace(":", "").replace(" ", "")
    return bytes.fromhex(digits[: len(digits) // 2 * 2])


def _readable(raw: bytes) -> str | None:
    """Return the decoded text where nearly all of it is letters, blanks and punctuation."""
    is_wide = len(raw) >= 8 and raw[1::2].count(0) > len(raw) // 3
    text = raw.decode("utf-16-le" if is_wide else "utf-8", "ignore")
    printable = sum(char.isprintable() or char in "\t\r\n" for char in text)
    letters = sum(char.isalpha() or char == " " for char in text)
    lost = len(raw) - len(text.encode("utf-16-le" if is_wide else "utf-8"))
    return text if text and lost <= 3 and printable >= 0.97 * len(text) and letters >= 0.6 * len(text) else None
