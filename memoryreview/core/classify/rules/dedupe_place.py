"""Whether the place of an entry in its list says something: it introduces, counts, answers, or has the last word."""

from __future__ import annotations

import re
import unicodedata
from bisect import bisect_right
from collections import defaultdict
from collections.abc import Hashable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from memoryreview.core.classify.document import Block, Document

MAX_TOKENS = 24
"""Words of an entry up to which one that differs by a single word is looked for."""

MAX_LABEL_WORDS = 3

_MARK = re.compile(r"[ \t]*[-*+](?:[ \t]+|$)")
_UNSEEN = re.compile("<!--.*?-->|[\u00ad\u200b-\u200f\u2060-\u2064\ufeff]")
_LEADS = re.compile(
    r"(?:.*(?:[:：﹕…→⇒▼↓—–]|[-=]>|\.\.\.|[ \t]-)|#.*|=+ .* =+|\[[^\]]*\]|(\*\*|__|\*|_).+\1[.:]?"
    r"|<(\w+)[^<>]*>.*</\2>.?)"
)
_LABEL = re.compile(
    r"(?:for|in|on|at|if|when|with|without|under|during|do|don['’]t|never|not|no|only|always|then|else|otherwise"
    r"|für|bei|im|auf|wenn|sonst|nie|nur|pour|dans|sur|si|sinon|para|en|cuando|nunca)(?!\w)",
    re.IGNORECASE,
)
_WORD = re.compile(r"[\u3041-\ud7a3]|[^\W\u3041-\ud7a3]+")
_COUNTED = re.compile(
    r"(?:step|schritt|étape|paso|round|day|phase)\b|[0-9]+(?:st|nd|rd|th)?(?:[.):]|\s*$|st|nd|rd|th)|[0-9]{1,2}:[0-9]{2}"
    r"|(?:first|second|third|then|next|after|before|finally|again|zuerst|dann|danach|wieder|zuletzt|ensuite|puis|enfin"
    r"|luego|después|otra vez)\b|然后|接着|最后|次に|最後に|그다음|마지막"
    r"|(?:user|human|agent|assistant|ai|bot|q|a|frage|antwort)[ \t]*[:：]",
    re.IGNORECASE,
)
_POINTS = re.compile(
    r"\b(?:above|below|previous|preceding|ditto|ibid|latter|former|following"
    r"|(?:next|last) (?:line|item|entry|one|point|bullet)|the same|as before|this one|that one|dito|oben"
    r"|unten|vorig\w*|vorherig\w*|folgend\w*|nächste\w* (?:zeile|punkt|eintrag)|ci-dessus|ci-dessous|précédent\w*"
    r"|suivant\w*|arriba|abajo|anterior\w*|siguiente\w*)\b|上述|上面|下面|前一|上一|下一|同上|上記|下記|前の|次の|위의|아래|앞의|다음",
    re.IGNORECASE,
)
_SUBJECT = re.compile(
    r"(.{1,80}?)(?:\s*[:=：]|\s*(?:->|→|=>)|\s(?:is|are|was|were|ist|sind|war|waren|est|sont|es|son|era)\s|は|是|[는은]\s)",
    re.IGNORECASE,
)


@dataclass(frozen=True, slots=True)
class Places:
    """What the entries of a document say by their place.

    Args:
        leads: first lines of the entries that introduce what follows.
        labels: those of short ones that may do so.
        switches: by subject, the first lines of the entries that say something else than the last one of that subject.
        pointing: first lines of the blocks that point to others beside them.
    """

    leads: Sequence[int]
    labels: Sequence[int]
    switches: Mapping[Hashable, Sequence[int]]
    pointing: Sequence[int]


def places(document: Document) -> Places:
    leads: list[int] = []
    labels: list[int] = []
    pointing: list[int] = []
    switches: dict[Hashable, list[int]] = defaultdict(list)
    last: dict[Hashable, str] = {}
    for block in document.blocks:
        first, text = block.span[0], said(document, block)
        leads += [first] if introduces(text) else []
        labels += [first] if _is_label(text) else []
        pointing += [first] if _POINTS.search(text) else []
        for subject in _subjects(text):
            if last.setdefault(subject, text) != text:
                switches[subject].append(first)
                last[subject] = text
    return Places(leads, labels, switches, pointing)


def said(document: Document, block: Block) -> str:
    """Return the text of an entry in a form in which blanks, case and what nobody sees do not count."""
    text = block.text.decode("utf-8", "replace")
    text = text if document.is_delimited else _MARK.sub("", text, count=1)
    return " ".join(_UNSEEN.sub("", unicodedata.normalize("NFC", text)).split())


def introduces(text: str) -> bool:
    return bool(_LEADS.fullmatch(text.rstrip("*_ .\u00a0"))) or bool(_LEADS.fullmatch(text))


def why_placed(document: Document, known: Places, kept: Block, block: Block) -> str:
    """Return what an entry says by its place, "" when its earlier copy says the same."""
    text = said(document, block)
    own, start = block.span[0], kept.span[0]
    if introduces(text) or _has(known.leads, start, own - 1):
        return "A lead-in line stands between the two, or is one of them, so they may belong to different things."
    if len(_WORD.findall(text)) > 1 and _has(known.labels, start, own - 1):
        return "A short line stands between the two that may say what the second one is about."
    if not any(char.isalpha() for char in text) or _COUNTED.match(text) or _POINTS.search(text):
        return "Counts, steps and entries that point to others mean something by their place."
    if any(_has(known.switches.get(subject, ()), start, own) for subject in _subjects(text)):
        return "An entry between the two says something else of the same, and the later one has the last word."
    beyond = _beside(document, block)
    if any(index in beyond for index in known.pointing[max(bisect_right(known.pointing, own) - 2, 0) :][:4]):
        return "An entry beside it points to what stands above or below."
    return ""


def _beside(document: Document, block: Block) -> frozenset[int]:
    """Return the first lines of the blocks right before and after a block."""
    at = bisect_right(document.blocks, block.span[0], key=lambda one: one.span[0]) - 1
    near = document.blocks[max(at - 1, 0) : at + 2]
    return frozenset(one.span[0] for one in near if one is not block)


def _has(lines: Sequence[int], after: int, until: int) -> bool:
    """Whether one of some lines, in order, lies behind the one and not behind the other."""
    return bisect_right(lines, after) < bisect_right(lines, until)


def _is_label(text: str) -> bool:
    words = text.split(" ", MAX_LABEL_WORDS)
    return (len(words) == 1 and text[:1].isalpha()) or (len(words) <= MAX_LABEL_WORDS and bool(_LABEL.match(text)))


def _subjects(text: str) -> Iterator[Hashable]:
    """Yield what an entry speaks of: what stands before a colon or “is”, and its words but for one."""
    folded = text.casefold()
    if match := _SUBJECT.match(folded):
        yield match[1]
    tokens = tuple(_WORD.findall(folded))
    if 1 < len(tokens) <= MAX_TOKENS:
        yield tokens
        yield from (tokens[:at] + tokens[at + 1 :] for at in range(len(tokens)) if len(tokens) > 2)
