"""`dedupe.exact`: an entry goes only where it says nothing by its place: no lead, no count, no answer, no last word."""

from __future__ import annotations

import re
import unicodedata
from bisect import bisect_left
from collections import defaultdict
from collections.abc import Iterator
from typing import NamedTuple

from memoryreview.core.classify.claim import SECTION, Claim, Clause, is_blank, lines_of
from memoryreview.core.text import Line

from .repeat import cuts_of, entries_of, words_of

_HIDDEN = re.compile("<!--.*?-->|[\u00ad\u200b-\u200f\u2060-\u2064\ufeff]")
_MAX_WORDS = 24


class _Pair(NamedTuple):
    """An entry that goes, its text, and the first lines of it and of its copy above."""

    text: str
    own: int
    kept: int


class _Entry(NamedTuple):
    number: int
    text: str


def _text(lines: list[Line]) -> str:
    joined = b"\n".join(line.body for line in lines).decode("utf-8", "replace")
    plain = _HIDDEN.sub("", unicodedata.normalize("NFC", joined))
    return re.sub(r"\s+", " ", re.sub(r"^\s*[-*+](?:\s+|$)", "", plain)).strip()


def _all(claim: Claim, path: str) -> list[_Entry]:
    return [_Entry(number, _text(lines)) for number, (_, lines) in entries_of(claim, path).items()]


def _pairs(claim: Claim, path: str) -> Iterator[_Pair]:
    known = entries_of(claim, path)
    first: dict[tuple[int, tuple[str, ...]], int] = {}
    for number, (list_id, lines) in known.items():
        first.setdefault((list_id, words_of(lines)), number)
    for cut in cuts_of(claim):
        number = cut.entry[0].number if cut.path == path and cut.entry else 0
        if number in known:
            list_id, lines = known[number]
            yield _Pair(_text(lines), number, first[list_id, words_of(lines)])


def _is_any_between(numbers: list[int], pair: _Pair) -> bool:
    return bisect_left(numbers, pair.kept + 1) < bisect_left(numbers, pair.own)


_LEAD = re.compile(
    r".*(?:[:：﹕…→⇒▼↓—–]|[-=]>|\.{3}| -)|#.*|=+ .* =+|\[[^\]]*\]|\*.+\*|_.+_|<(\w+)[^<>]*>.*</\1>", re.DOTALL
)
_SHORT = re.compile(
    r"[^\W\d_]\S*|(?:for|in|on|at|if|when|with|without|under|during|do|don['’]t|never|not?|only|always|then|else|otherwise"
    r"|für|bei|im|auf|wenn|sonst|nie|nur|pour|dans|sur|si|sinon|para|en|cuando|nunca)\b(?: \S+){0,2}",
    re.IGNORECASE,
)


def _is_lead(text: str) -> bool:
    return any(_LEAD.fullmatch(shown) for shown in (text, text.rstrip("*_ .:\u00a0"), text.rstrip("*_ .\u00a0")))


def leads_nothing(claim: Claim) -> bool:
    """Neither is it a lead-in, nor stands one, or a short line that may be one, between it and its copy."""
    for path in claim.paths:
        found = _all(claim, path)
        leads = [entry.number for entry in found if _is_lead(entry.text)]
        labels = [entry.number for entry in found if _SHORT.fullmatch(entry.text)]
        for pair in _pairs(claim, path):
            if _is_lead(pair.text) or _is_any_between(leads, pair):
                return False
            if " " in pair.text and _is_any_between(labels, pair):
                return False
    return True


_COUNTS = re.compile(
    r"(?:step|schritt|étape|paso|round|day|phase)\b|[0-9]+(?:[.):]|st|nd|rd|th|$)|[0-9]{1,2}:[0-9]{2}|[\d\W_]*$"
    r"|(?:first|second|third|then|next|after|before|finally|again|zuerst|dann|danach|wieder|zuletzt|ensuite|puis|enfin"
    r"|luego|después|otra vez)\b|然后|接着|最后|次に|最後に|그다음|마지막"
    r"|(?:user|human|agent|assistant|ai|bot|q|a|frage|antwort)\s*[:：]",
    re.IGNORECASE,
)
_POINTER = re.compile(
    r"\b(?:above|below|previous|preceding|ditto|ibid|latter|former|following|(?:next|last) (?:line|item|entry|one|point"
    r"|bullet)|the same|as before|th(?:is|at) one|dito|oben|unten|vor(?:her)?ig\w*|folgend\w*|nächste\w* (?:zeile|punkt"
    r"|eintrag)|ci-dess(?:o)?us|précédent\w*|suivant\w*|arriba|abajo|anterior\w*|siguiente\w*)\b"
    r"|[上下前][述面一]|[同上下][上記]|[前次]の|위의|아래|앞의|다음",
    re.IGNORECASE,
)


def counts_nothing(claim: Claim) -> bool:
    """It is no step, count or answer and points to no other place, and neither does what stands right beside it."""
    for path in claim.paths:
        if any(_COUNTS.match(pair.text) or _POINTER.search(pair.text) for pair in _pairs(claim, path)):
            return False
        texts = [line for line in lines_of(claim.base[path]) if not is_blank(line) and line.body != SECTION]
        for cut in cuts_of(claim):
            if cut.path != path or not cut.entry:
                continue
            first, last = (bisect_left(texts, cut.entry[at].number, key=lambda line: line.number) for at in (0, -1))
            beside = texts[max(first - 1, 0) : first] + texts[last + 1 : last + 2]
            if any(_POINTER.search(line.body.decode("utf-8", "replace")) for line in beside):
                return False
    return True


_VERB = r"\s*(?:[:=：]|->|→|=>)|\s(?:is|are|was|were|ist|sind|war|waren|est|sont|es|son|era)\s|は|是|[는은]\s"


def has_not_the_last_word(claim: Claim) -> bool:
    """No entry between it and its copy says something else of the same thing."""
    for path in claim.paths:
        pairs = list(_pairs(claim, path))
        last: dict[tuple[str, ...], str] = {}
        turns: dict[tuple[str, ...], list[int]] = defaultdict(list)
        for entry in _all(claim, path) if pairs else ():
            for topic in _topics(entry.text):
                if last.get(topic, entry.text) != entry.text:
                    turns[topic].append(entry.number)
                last[topic] = entry.text
        for pair in pairs:
            for topic in _topics(pair.text):
                numbers = turns.get(topic, [])
                if bisect_left(numbers, pair.kept + 1) < bisect_left(numbers, pair.own + 1):
                    return False
    return True


def _topics(text: str) -> set[tuple[str, ...]]:
    """Return what a text is about: the words before its colon or verb, and all its words but one."""
    folded = text.casefold()
    words = re.findall(r"[\u3041-\ud7a3]|[^\W\u3041-\ud7a3]+", folded)
    found: set[tuple[str, ...]] = set()
    subject = re.split(_VERB, folded[:100], maxsplit=1)
    if len(subject) > 1 and subject[0]:
        found.add(("about", subject[0]))
    if 2 <= len(words) <= _MAX_WORDS:
        found.add(tuple(words))
        found.update(tuple(words[:at] + words[at + 1 :]) for at in range(len(words) if len(words) > 2 else 0))
    return found


CLAUSES: tuple[Clause, ...] = (leads_nothing, counts_nothing, has_not_the_last_word)
