"""What core and operations say, in the language of the page: they speak and record English only.

The catalogue has their sentences in a context of their own, with names for what is put into them: "“%(path)s” is not
UTF-8 (byte %(offset)s): …". A recorded sentence is found again by the words between the names.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from itertools import pairwise

from django.utils import translation
from django.utils.translation import gettext as _
from django.utils.translation import pgettext, trans_real

CONTEXT = "recorded"
TITLES = "title"
"""Context of titles: they are short, so their words would be found in texts of anybody."""

_MAX_CHARS = 4_000
_MAX_SENTENCES = 24
_SURE_CHARS = 20
"""How much of a text must be ours before words of a person are taken for it."""

_NAME = re.compile(r"%\((\w+)\)s")
_END = re.compile(r"(?<=[.!?]) (?=[^a-z])")
_SUFFIXES = tuple(
    re.compile(f"(?P<title>.+)(?P<after>{after})", re.DOTALL)
    for after in (r", and [0-9,]+ more", r", [0-9,]+ links? follows?", r" \([^”]+[)…]", r" in [^”]+")
)
"""What may follow a title: how many more, and where it is."""

_JOINT = re.compile(r", | \(| and | by ")
_LATIN = re.compile(r"[A-Za-z]")
_NO_BLANK = re.compile(r"(?<=[。！？]) ")
_QUOTES = ("“", "`", "'")
_MARK = "\4"


@dataclass(frozen=True, slots=True)
class _Pattern:
    """A sentence with names in it; `literals` stand around them, so there is one more of these."""

    message: str
    literals: tuple[str, ...]
    names: tuple[str, ...]

    @property
    def weight(self) -> int:
        """How much of a sentence is certain to be ours."""
        return sum(map(len, self.literals))

    def values(self, sentence: str) -> dict[str, str] | None:
        """Return what stands for the names, each as short as can be from the left; None for another sentence.

        The cost is linear: no place is looked at again.
        """
        first, last = self.literals[0], self.literals[-1]
        if not sentence.startswith(first) or not sentence.endswith(last):
            return None
        places = [(0, len(first))]
        for literal in self.literals[1:-1]:
            at = sentence.find(literal, places[-1][1])
            if at < 0:
                return None
            places.append((at, at + len(literal)))
        places.append((len(sentence) - len(last), len(sentence)))
        if places[-2][1] > places[-1][0]:
            return None
        spans = [sentence[end:start] for (_from, end), (start, _to) in pairwise(places)]
        return dict(zip(self.names, spans, strict=True))


def in_language(text: str) -> str:
    """Return what core or an operation said in the language of the page; what the catalogue lacks stays English."""
    return _said(text, CONTEXT)


def note_in_language(note: str) -> str:
    """Return a note in the language of the page where it is ours; most are a person's and stay as they are."""
    return _said(note, CONTEXT, at_least=_SURE_CHARS)


def title_in_language(title: str) -> str:
    """Return a title that was made from a change, such as "Add “x” to Tools", in the language of the page."""
    ways = []
    for suffix in _SUFFIXES:
        found = suffix.fullmatch(title)
        made = title_in_language(found["title"]) if found is not None else ""
        if found is not None and made != found["title"]:
            after = found["after"]
            ways.append(made + (f" ({after[4:]})" if after.startswith(" in ") else _said(after, CONTEXT)))
    ways += [_said(title, TITLES), _said(title, CONTEXT)]
    if title.endswith("…") and title.count("“") > title.count("”"):  # it was cut within a quote
        ways += [_said(f"{title}”", context) for context in (TITLES, CONTEXT)]
    return _least_english(way for way in ways if way != f"{title}”") or title


def _said(text: str, context: str, *, at_least: int = 0) -> str:
    language = translation.get_language() or ""
    if not text or len(text) > _MAX_CHARS or not _patterns(language, context):
        return text
    return _best(text, context, language, at_least) or text


def _best(text: str, context: str, language: str, at_least: int = 0) -> str:
    """Return a text as one sentence or as several, whichever leaves less of it in English; "" for none of ours."""
    ways = [_whole(text, context, language, at_least), _in_parts(text, context, language, at_least)]
    if text.endswith(".") and not any(ways):
        piece = _whole(text[:-1], context, language, at_least)
        ways.append(_("%(sentence)s.") % {"sentence": piece} if piece else "")
    return _least_english(ways)


def _least_english(ways: Iterable[str]) -> str:
    return min(filter(None, ways), key=lambda said: len(_LATIN.findall(said)), default="")


def _whole(sentence: str, context: str, language: str, at_least: int = 0) -> str:
    """Return one sentence of the catalogue, "" for none."""
    said = pgettext(context, sentence) if len(sentence) >= at_least else sentence
    if said != sentence:
        return said
    found = _patterns(language, context)
    for pattern in (*found.get(_first_word(sentence), ()), *found.get("", ())):
        values = pattern.values(sentence) if pattern.weight >= at_least else None
        if values is not None:
            return pgettext(context, pattern.message) % dict(_told(pattern, values, language))
    return ""


def _told(pattern: _Pattern, values: Mapping[str, str], language: str) -> Iterator[tuple[str, str]]:
    """Look values up as well: some are sentences or words of ours. What is quoted is somebody’s own and stays."""
    for before, name in zip(pattern.literals, pattern.names, strict=False):
        value = values[name]
        said = "" if before.endswith(_QUOTES) else _best(value, CONTEXT, language) or _ending(value, language)
        yield name, said or value


def _ending(value: str, language: str) -> str:
    """Return a value of which the end is ours, as where two names meet: "b.md, 2 links follow"."""
    for match in _JOINT.finditer(value):
        said = _whole(value[match.start() :], CONTEXT, language)
        if said:
            before = value[: match.start()]
            return (_whole(before, CONTEXT, language) or before) + said
    return ""


def _in_parts(text: str, context: str, language: str, at_least: int = 0) -> str:
    """Return several sentences, as many at a time as the catalogue has together; "" when it has none of them."""
    starts = [0, *(match.end() for match in _END.finditer(text)), len(text) + 1]
    if not 2 < len(starts) <= _MAX_SENTENCES:
        return ""
    said, at, is_ours = [], 0, False
    while at < len(starts) - 1:
        for end in range(len(starts) - 1, at, -1):
            part = text[starts[at] : starts[end] - 1]
            found = _whole(part, context, language, at_least) if end - at < len(starts) - 1 else ""
            if found or end == at + 1:
                said.append(found or part)
                is_ours = is_ours or bool(found)
                at = end
                break
    return together(said) if is_ours else ""


def together(sentences: Iterable[str]) -> str:
    """Join sentences; those that end in a full-width mark need no blank."""
    return _NO_BLANK.sub("", " ".join(sentences))


def _first_word(text: str) -> str:
    word, space, _rest = text.partition(" ")
    return word if space else ""


@cache
def _patterns(language: str, context: str) -> Mapping[str, tuple[_Pattern, ...]]:
    """Return the sentences with names by their first word, "" for those that begin with a name. The surest first.

    Not empty where the catalogue has any sentence of the context.
    """
    found: dict[str, list[_Pattern]] = {}
    for message in sorted(_messages(language, context)):
        literals = tuple(literal.replace("%%", "%") for literal in _NAME.split(message)[::2])
        pattern = _Pattern(message, literals, tuple(_NAME.findall(message)))
        found.setdefault(_first_word(literals[0]), []).extend([pattern] if pattern.names else [])
    return {word: tuple(sorted(ones, key=lambda one: -one.weight)) for word, ones in found.items()}


def _messages(language: str, context: str) -> Iterator[str]:
    """Yield the sentences of a context, read as Django's own catalogue for scripts reads them."""
    start = f"{context}{_MARK}"
    for key in vars(trans_real.translation(language))["_catalog"].keys():  # noqa: SIM118  # it is no whole mapping
        if isinstance(key, str) and key.startswith(start):
            yield key.removeprefix(start)
