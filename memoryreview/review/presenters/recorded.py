"""What core and operations say, in the language of the page: they speak and record English only.

The catalogue has their sentences in a context of their own, with names for what is put into them: "“%(path)s” is not
UTF-8 (byte %(offset)s): …". A recorded sentence is found again by the words between the names.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from itertools import pairwise

from django.utils import translation
from django.utils.translation import pgettext, trans_real

CONTEXT = "recorded"
_MAX_CHARS = 4_000
_MAX_SENTENCES = 24
_NAME = re.compile(r"%\((\w+)\)s")
_END = re.compile(r"(?<=[.!?])[”)]? (?=[^a-z])")
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
        spans = [sentence[end:start] for (_at, end), (start, _to) in pairwise(places)]
        return dict(zip(self.names, spans, strict=True))


def in_language(sentence: str) -> str:
    """Return what core or an operation said in the language of the page; a sentence of nobody of ours as it is."""
    language = translation.get_language() or ""
    if not sentence or len(sentence) > _MAX_CHARS or not _patterns(language):
        return sentence
    return _whole(sentence, language) or _in_parts(sentence, language) or sentence


def _whole(sentence: str, language: str) -> str:
    """Return one sentence of the catalogue, "" for none."""
    said = pgettext(CONTEXT, sentence)
    if said != sentence:
        return said
    found = _patterns(language)
    for pattern in (*found.get(_first_word(sentence), ()), *found.get("", ())):
        values = pattern.values(sentence)
        if values is not None:
            return pgettext(CONTEXT, pattern.message) % dict(_told(pattern, values, language))
    return ""


def _told(pattern: _Pattern, values: Mapping[str, str], language: str) -> Iterator[tuple[str, str]]:
    """Look values up as well: some are sentences or words of ours. What is quoted is somebody’s own and stays."""
    for before, name in zip(pattern.literals, pattern.names, strict=False):
        value = values[name]
        yield (
            name,
            value if before.endswith(_QUOTES) else _whole(value, language) or _in_parts(value, language) or value,
        )


def _in_parts(text: str, language: str) -> str:
    """Return several sentences, as many at a time as the catalogue has together; "" when it has none of them."""
    starts = [0, *(match.end() for match in _END.finditer(text)), len(text) + 1]
    if not 2 < len(starts) <= _MAX_SENTENCES:
        return ""
    said, at, is_ours = [], 0, False
    while at < len(starts) - 1:
        for end in range(len(starts) - 1, at, -1):
            part = text[starts[at] : starts[end] - 1]
            found = _whole(part, language) if (at, end) != (0, len(starts) - 1) else ""
            if found or end == at + 1:
                said.append(found or part)
                is_ours = is_ours or bool(found)
                at = end
                break
    return " ".join(said) if is_ours else ""


def _first_word(text: str) -> str:
    word, space, _rest = text.partition(" ")
    return word if space else ""


@cache
def _patterns(language: str) -> Mapping[str, tuple[_Pattern, ...]]:
    """Return the sentences with names by their first word, "" for those that begin with a name. The surest first."""
    found: dict[str, list[_Pattern]] = {}
    # Django's own view of a catalogue for scripts reads it in the same way.
    for key in sorted(_keys(language)):
        message = key.removeprefix(f"{CONTEXT}{_MARK}")
        literals = [literal.replace("%%", "%") for literal in _NAME.split(message)[::2]]
        names = tuple(_NAME.findall(message))
        word = _first_word(literals[0])
        found.setdefault(word, []).append(_Pattern(message, tuple(literals), names))
    return {
        word: tuple(sorted((one for one in ones if one.names), key=lambda one: -one.weight))
        for word, ones in found.items()
    }


def _keys(language: str) -> list[str]:
    catalogue = vars(trans_real.translation(language))["_catalog"]
    return [key for key, _said in catalogue.items() if isinstance(key, str) and key.startswith(f"{CONTEXT}{_MARK}")]
