"""A statement as words that can be compared: values, names, code and small words told apart."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from enum import Enum
from functools import lru_cache

from memoryreview.core.text import is_cjk

from . import words

MAX_COMPARED_CHARS = 4_000
"""Longer statements are compared for equality only."""


class Role(Enum):
    """What a token is. The values of an attribute are NUMBER, UNIT, WHEN, NAME and SIGN."""

    WORD = "word"
    FUNCTION = "function"
    NEGATION = "negation"
    NUMBER = "number"
    UNIT = "unit"
    WHEN = "when"
    NAME = "name"
    SIGN = "sign"
    LITERAL = "literal"  # code, commands, flags, paths, addresses, identifiers
    CJK = "cjk"  # one character of a script without blanks between words


VALUES = frozenset({Role.NUMBER, Role.UNIT, Role.WHEN, Role.NAME, Role.SIGN})


@dataclass(frozen=True, slots=True)
class Token:
    """`text` is as it is written, `key` is what two tokens must share to be the same."""

    text: str
    key: str
    role: Role


@dataclass(frozen=True, slots=True)
class Sentence:
    """A run of words. `text` is as written, `keys` are those of its tokens, `weight` is what it says, in words."""

    text: str
    tokens: tuple[Token, ...]
    keys: tuple[str, ...]
    weight: float


@dataclass(frozen=True, slots=True)
class Reading:
    """A statement, read.

    Args:
        whole: all of it; punctuation is no token.
        sentences: the same in parts.
        label: folded words before a colon that name what it is about, "" without.
        citations: what was cut off as provenance ("[Task 1]", "(said on 2026-03-30)"), joined.
        is_dated: it begins with a date, so it tells what happened then.
        is_cut: longer than what is compared.
    """

    whole: Sentence
    sentences: tuple[Sentence, ...]
    label: str
    citations: str
    is_dated: bool
    is_cut: bool


_CITATION = re.compile(r"\s*\[(?:Task |\^)?[0-9]{1,4}\](?!\()")
_NOTED = re.compile(r"\s*[(（]([^()（）]{0,80}?[0-9]{4}-[0-9]{2}-[0-9]{2}[^()（）]{0,40})[)）](?=[\s.。]*$)")
_COUNTED = re.compile(r"\s*[(（]([^\W\d_]{1,20}) ?#?[0-9]{1,5}[)）](?=[\s.。]*$)")
_DATED = re.compile(r"[\[(*_]{0,3}[0-9]{4}-[0-9]{2}-[0-9]{2}(?![0-9])")
_NUMBERED = re.compile(r"((?:[^\W\d_]+[ -]){0,2}([^\W\d_]+)) ?#?[0-9]{1,4}[:.)：]\s+")
_LEAD_IN = re.compile(r"[*_]{0,3}([^\W\d_]{1,20})[*_]{0,3}[:：][*_]{0,3}\s*")
_LABEL = re.compile(r"([^\W\d_](?:[\w /’'-]|\*){0,30}?)\**[:：](?=\s|$|[^\x00-\x7f])")
_SENTENCE_END = re.compile(r"(?<=[.!?;])[\"”')*_]{0,3}\s+|(?<=[。！？；])")
_HEX = re.compile(r"(?=[0-9a-f]*[0-9])(?=[0-9a-f]*[a-f])[0-9a-f]{7,40}")
_IDENTIFIER = re.compile(r"[a-z]+[0-9]*[A-Z]\w*|\w*[^\W_]_+[^\W_]\w*")
_TOKEN = re.compile(
    r"""
    (?P<literal>
        `[^`]{1,500}`
      | \[\[[^\[\]]{1,300}\]\]
      | (?<=\])\([^()\s]{1,500}\)
      | [A-Za-z][A-Za-z0-9+.-]{1,20}://[^\s<>"'()（）]{1,500}
      | [\w.+-]{1,64}@[\w-]{1,64}(?:\.[\w-]{1,64}){1,5}
      | (?<![\w-])--?[A-Za-z][\w-]{0,60}
      | (?<!\w)(?:[A-Za-z]:|~|\.{1,2})?[\\/][\w.@%+~\\/-]{1,300}
      | (?<![\w/])[\w.@+-]{1,80}(?:[\\/][\w.@+-]{1,80}){2,20}/?
      | (?<![\w/])[\w.@+-]{1,80}/(?:[\w@+-]{1,80}\.[A-Za-z0-9]{1,8})?(?![\w/])
      | (?<![\w.])[A-Za-z_][\w-]{0,60}(?:\.[A-Za-z_][\w-]{0,60}){1,8}(?:\(\))?
      | (?<!\w)\$[A-Z_]{2,40}
    )
  | (?P<when>[0-9]{4}-[0-9]{2}-[0-9]{2} | [0-9]{1,2}:[0-9]{2}(?::[0-9]{2})?)(?![0-9])
  | (?P<number>(?:(?<!\w)[vV](?=[0-9]))?[0-9]+(?:[.,:'’][0-9]+)*)
  | (?P<sign><=|>=|!=|==|->|=>|[≤≥<>=≠→±])
  | (?P<unit>[%°](?:[CF]\b)?)
  | (?P<word>[^\W\d_](?:[\w'’]|-(?=[^\W\d_]))*)
    """,
    re.VERBOSE,
)
_THOUSANDS = re.compile(r"[,'’](?=[0-9]{3}(?![0-9]))")


@lru_cache(maxsize=8_192)
def read(text: str) -> Reading:
    """Read one statement (a line, or several joined by blanks). Total."""
    plain = unicodedata.normalize("NFC", text[:MAX_COMPARED_CHARS]).replace("**", "").replace("__", "").strip()
    is_dated = _DATED.match(plain) is not None
    plain, citations = _without_provenance(plain)
    plain = _without_label(plain)
    parts = [(part, tuple(_tokens(part))) for part in _SENTENCE_END.split(plain)]
    sentences = tuple(sentence(tokens, part) for part, tokens in parts if tokens)
    label = _LABEL.match(plain)
    return Reading(
        whole=sentences[0] if len(sentences) == 1 else sentence([t for _, tokens in parts for t in tokens], plain),
        sentences=sentences,
        label=label.group(1).casefold() if label else "",
        citations=citations,
        is_dated=is_dated,
        is_cut=len(text) > MAX_COMPARED_CHARS,
    )


def sentence(tokens: Sequence[Token], text: str) -> Sentence:
    return Sentence(text.strip(" .;。；"), tuple(tokens), tuple(token.key for token in tokens), content(tokens))


def _without_provenance(text: str) -> tuple[str, str]:
    cut = [match.group().strip() for match in _CITATION.finditer(text)]
    plain = _CITATION.sub("", text)
    counted = _COUNTED.search(plain)
    if counted and counted.group(1).casefold() in words.ENUMERATORS:
        cut.append(counted.group().strip())
        plain = plain[: counted.start()] + plain[counted.end() :]
    noted = _NOTED.search(plain)
    if noted and words.END_OF_VALIDITY.isdisjoint(noted.group(1).casefold().split()):
        cut.append(noted.group().strip())
        plain = plain[: noted.start()] + plain[noted.end() :]
    return plain, "".join(cut)


def _without_label(text: str) -> str:
    """Return a statement without the number of its place in a list, and without a word such as "Correction:"."""
    numbered = _NUMBERED.match(text)
    if numbered and numbered.group(2).casefold() in words.ENUMERATORS:
        return text[numbered.end() :]
    lead = _LEAD_IN.match(text)
    return text[lead.end() :] if lead and lead.group(1).casefold() in words.LEAD_INS else text


def _tokens(sentence: str) -> Iterator[Token]:
    is_first = True
    for match in _TOKEN.finditer(sentence):
        group, text = match.lastgroup or "", match.group()
        if group == "word":
            yield from _word(text, is_first=is_first)
        elif group == "number":
            yield Token(text, _THOUSANDS.sub("", text.lstrip("vV")), Role.NUMBER)
        elif group == "literal":
            plain = text.rstrip(".,:/") or text
            yield Token(plain, plain, Role.LITERAL)
        else:
            yield Token(text, text.casefold(), Role(group))
        is_first = False


def _word(text: str, *, is_first: bool) -> Iterator[Token]:
    run = ""
    for char in text:
        if _is_single(char):
            if run:
                yield _latin(run, is_first=is_first)
                run = ""
            yield Token(char, char, Role.NUMBER if char in words.NUMERALS else Role.CJK)
        else:
            run += char
    if run:
        yield _latin(run, is_first=is_first)


def _is_single(char: str) -> bool:
    """Whether a character stands for itself: East and South East Asian, but Hangul, which has words."""
    return char > "\u0e00" and is_cjk(char) and not "\uac00" <= char <= "\ud7ff"


def _latin(text: str, *, is_first: bool) -> Token:
    key = text.casefold().replace("’", "'")
    if key in words.NUMBERS:
        return Token(text, words.NUMBERS[key], Role.NUMBER)
    if _HEX.fullmatch(text) or _IDENTIFIER.fullmatch(text):
        return Token(text, text, Role.LITERAL)
    is_name = text != key and (not is_first or text[1:] != key[1:] or len(text) == 1)
    if len(text) == 1 and is_name:
        return Token(text, text, Role.NAME)
    return Token(text, key, _role(key, is_name=is_name))


def _role(key: str, *, is_name: bool) -> Role:
    if key in words.NEGATION or key.endswith("n't"):
        return Role.NEGATION
    if key in words.WHEN:
        return Role.WHEN
    if key in words.FUNCTION:
        return Role.FUNCTION
    if key in words.UNITS:
        return Role.UNIT
    return Role.NAME if is_name else Role.WORD


_SAID = {Role.FUNCTION: 0.0, Role.CJK: 0.5}


def content(tokens: Iterable[Token]) -> float:
    """Return how much tokens say, in words: small words say nothing, two characters of Chinese about one."""
    return sum([_SAID.get(token.role, 1.0) for token in tokens])
