"""The Unicode scanner: characters that hide text, reorder it, or pass for other letters."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace

from memoryreview.core.model import Severity

from .hit import Hit
from .normalise import FILLERS, LINE_BREAKS

MANY_INVISIBLE = 6
MANY_INSIDE_WORDS = 2
"""From so many invisible characters on they carry a message and are no leftovers of a copy."""

NEARBY_CHARS = 40

MESSAGES = {
    "tag-characters": "Holds tag characters: invisible letters that a model reads and a person cannot see.",
    "variation-selectors": "Holds variation selectors where they change no sign, which is a way to carry hidden bytes.",
    "bidi-override": "Holds a direction override, which shows text in another order than a model reads it.",
    "bidi-isolate": "Holds a direction isolate, which can show text in another order than a model reads it.",
    "direction-mark": "Holds a direction mark without right-to-left text beside it.",
    "joiner": "Holds an invisible joiner where no script or emoji needs one.",
    "invisible": "Holds invisible characters, which can split words or carry a message.",
    "control": "Holds control characters, which can hide text in a terminal or a diff.",
    "c1-control": "Holds control characters of the C1 range, often a sign of wrongly decoded text.",
    "line-break": "Holds an unusual line break, which some programs show as a new line and others do not.",
    "unassigned": "Holds characters without a public meaning (private, unassigned or surrogate).",
    "mixed-script": "Holds a word whose letters come from several scripts and look alike.",
}

_FLAGS = frozenset("".join(chr(0xE0000 + ord(c)) for c in region) for region in ("gbeng", "gbsct", "gbwls"))
_BLACK_FLAG, _TAG_END = "\U0001f3f4", "\U000e007f"
_INVISIBLE = frozenset(
    chr(code)
    for span in ((0x200B, 0x200B), (0x2060, 0x2064), (0x206A, 0x206F), (0x17B4, 0x17B5), (0xFFF9, 0xFFFB))
    for code in range(span[0], span[1] + 1)
) | frozenset("\ufeff\u00ad\u034f\u180e") | FILLERS  # fmt: skip
_JOINING_SCRIPTS = (
    (0x0600, 0x08FF), (0x0900, 0x0DFF), (0x0F00, 0x109F), (0x1780, 0x18AF), (0x1CD0, 0x1CFF),
    (0xA840, 0xAAFF), (0xFB50, 0xFDFF), (0xFE70, 0xFEFC), (0x11000, 0x1247F),
)  # fmt: skip
_BREAKLESS_SCRIPTS = ((0x0E00, 0x0EFF), (0x1000, 0x109F), (0x1780, 0x17FF), (0x0F00, 0x0FFF))
_SCRIPTS = {
    "latin": ((0x41, 0x5A), (0x61, 0x7A), (0xC0, 0x24F), (0x1E00, 0x1EFF)),
    "cyrillic": ((0x400, 0x52F), (0x1C80, 0x1C8F), (0xA640, 0xA69F)),
    "greek": ((0x370, 0x3FF), (0x1F00, 0x1FFF)),
    "armenian": ((0x530, 0x58F),),
    "cherokee": ((0x13A0, 0x13FF), (0xAB70, 0xABBF)),
}
_FORMULA_LETTERS = "ΔΣΩΛΠΘΦΨλμπσθφψεδ"
_WORD = re.compile(r"[^\W\d_]{5,400}")


@dataclass(frozen=True, slots=True)
class _Odd:
    """One odd character. `counts`: it adds to the number of invisible ones."""

    at: int
    rule: str
    severity: Severity
    counts: bool = False


def unicode_hits(text: str) -> list[Hit]:
    """Return one hit for each run of odd characters of one rule, and one for each word of mixed scripts."""
    odd = list(_odd_characters(text))
    hidden = [o for o in odd if o.counts]
    inside_words = sum(_is_inside_ascii_word(text, o.at) for o in hidden)
    if len(hidden) >= MANY_INVISIBLE or inside_words >= MANY_INSIDE_WORDS:
        odd = [replace(o, rule="invisible", severity=Severity.BLOCK) if o.counts else o for o in odd]
    return [*_runs(odd), *_mixed_words(text)]


def _odd_characters(text: str) -> Iterator[_Odd]:
    judges = {char: judge for char in set(text) if (judge := _judge_for(char)) is not None}
    if not judges:
        return
    for match in re.finditer("[" + "".join(map(re.escape, sorted(judges))) + "]", text):
        odd = judges[match[0]](text, match.start())
        if odd is not None:
            yield odd


def _judge_for(char: str) -> Callable[[str, int], _Odd | None] | None:
    code = ord(char)
    if " " <= char <= "~" or char in "\t\n":
        return None
    for judge, belongs in _CLASSES:
        if belongs(code, char):
            return judge
    return None


def _fixed(rule: str, severity: Severity) -> Callable[[str, int], _Odd | None]:
    return lambda text, at: _Odd(at, rule, severity)


def _judge_tag(text: str, at: int) -> _Odd | None:
    start = at
    while start and 0xE0020 <= ord(text[start - 1]) <= 0xE007F and at - start < 8:
        start -= 1
    end = text.find(_TAG_END, at, at + 8)
    is_flag = start > 0 and text[start - 1] == _BLACK_FLAG and end >= 0 and text[start:end] in _FLAGS
    return None if is_flag else _Odd(at, "tag-characters", Severity.BLOCK)


def _judge_selector(text: str, at: int) -> _Odd | None:
    before, after = text[at - 1 : at], text[at + 1 : at + 2]
    if _is_selector(before) or _is_selector(after):
        return _Odd(at, "variation-selectors", Severity.BLOCK)
    if ord(text[at]) >= 0xE0100:
        return None if before and _is_ideograph(before) else _Odd(at, "variation-selectors", Severity.BLOCK)
    is_keycap = before in tuple("0123456789#*") and after == "\u20e3"
    if is_keycap or (before and not before.isspace() and not before.isascii() and not _script(before)):
        return None
    return _Odd(at, "variation-selectors", Severity.REVIEW)


def _judge_isolate(text: str, at: int) -> _Odd | None:
    severity = Severity.REVIEW if _has_rtl(text, at, NEARBY_CHARS) else Severity.BLOCK
    return _Odd(at, "bidi-isolate", severity)


def _judge_direction_mark(text: str, at: int) -> _Odd | None:
    return None if _has_rtl(text, at, 3) else _Odd(at, "direction-mark", Severity.REVIEW)


def _judge_joiner(text: str, at: int) -> _Odd | None:
    before, after = text[at - 1 : at], text[at + 1 : at + 2]
    if before and after and _is_emoji_part(before) and _is_emoji_part(after):
        return None
    if before and _within(before, _JOINING_SCRIPTS):
        return None
    is_split = before.isascii() and before.isalpha() and after.isascii() and after.isalpha()
    return _Odd(at, "joiner", Severity.BLOCK if is_split else Severity.REVIEW, counts=True)


def _judge_invisible(text: str, at: int) -> _Odd | None:
    if text[at] == "\ufeff" and at == 0:
        return None
    before, after = text[at - 1 : at], text[at + 1 : at + 2]
    breaks_words = text[at] == "\u200b" and before and after
    if breaks_words and _within(before, _BREAKLESS_SCRIPTS) and _within(after, _BREAKLESS_SCRIPTS):
        return None
    return _Odd(at, "invisible", Severity.REVIEW, counts=True)


def _judge_control(text: str, at: int) -> _Odd | None:
    is_line_end = text[at] == "\r" and text[at + 1 : at + 2] == "\n"
    return None if is_line_end else _Odd(at, "control", Severity.BLOCK)


def _is_unassigned(code: int, char: str) -> bool:
    # Python's tables age: emoji newer than them stand in planes kept free for pictures.
    if 0x1F000 <= code <= 0x1FAFF or 0x1FC00 <= code <= 0x1FFFD:
        return False
    return unicodedata.category(char) in ("Co", "Cn", "Cs")


_CLASSES: Sequence[tuple[Callable[[str, int], _Odd | None], Callable[[int, str], bool]]] = (
    (_fixed("line-break", Severity.REVIEW), lambda code, char: char in LINE_BREAKS),
    (_judge_control, lambda code, char: code < 0x20 or code == 0x7F),
    (_fixed("c1-control", Severity.REVIEW), lambda code, char: 0x80 <= code <= 0x9F),
    (_judge_tag, lambda code, char: 0xE0000 <= code <= 0xE007F),
    (_judge_selector, lambda code, char: 0xFE00 <= code <= 0xFE0F or 0xE0100 <= code <= 0xE01EF),
    (_fixed("bidi-override", Severity.BLOCK), lambda code, char: 0x202A <= code <= 0x202E),
    (_judge_isolate, lambda code, char: 0x2066 <= code <= 0x2069),
    (_judge_direction_mark, lambda code, char: code in (0x200E, 0x200F, 0x061C)),
    (_judge_joiner, lambda code, char: code in (0x200C, 0x200D)),
    (_judge_invisible, lambda code, char: char in _INVISIBLE),
    (_fixed("unassigned", Severity.REVIEW), _is_unassigned),
)


def _is_selector(char: str) -> bool:
    return bool(char) and ("\ufe00" <= char <= "\ufe0f" or "\U000e0100" <= char <= "\U000e01ef")


def _is_ideograph(char: str) -> bool:
    return unicodedata.name(char, "").startswith("CJK ")


def _is_emoji_part(char: str) -> bool:
    code = ord(char)
    return (
        unicodedata.category(char) in ("So", "Sk", "Sm")
        or char in "\ufe0f\u20e3" + _TAG_END
        or 0x1F000 <= code <= 0x1FAFF
    )


def _within(char: str, spans: Sequence[tuple[int, int]]) -> bool:
    return any(low <= ord(char) <= high for low, high in spans)


def _script(char: str) -> str:
    return next((name for name, spans in _SCRIPTS.items() if _within(char, spans)), "")


def _has_rtl(text: str, at: int, reach: int) -> bool:
    around = text[max(0, at - reach) : at + reach + 1]
    return any(unicodedata.bidirectional(char) in ("R", "AL") and char.isalpha() for char in around)


def _is_inside_ascii_word(text: str, at: int) -> bool:
    before, after = at - 1, at + 1
    while before >= 0 and at - before < NEARBY_CHARS and _draws_nothing(text[before]):
        before -= 1
    while after < len(text) and after - at < NEARBY_CHARS and _draws_nothing(text[after]):
        after += 1
    if before < 0 or after >= len(text):
        return False
    return all(char.isascii() and char.isalnum() for char in (text[before], text[after]))


def _draws_nothing(char: str) -> bool:
    return char in _INVISIBLE or char in "\u200c\u200d"


def _runs(odd: list[_Odd]) -> Iterator[Hit]:
    start = 0
    for index, one in enumerate(odd):
        following = odd[index + 1] if index + 1 < len(odd) else None
        joins = following is not None and following.at == one.at + 1
        if joins and following is not None and (following.rule, following.severity) == (one.rule, one.severity):
            continue
        yield Hit("unicode", one.rule, one.severity, odd[start].at, one.at + 1, MESSAGES[one.rule])
        start = index + 1


def _mixed_words(text: str) -> Iterator[Hit]:
    if text.isascii():
        return
    for match in _WORD.finditer(text):
        word = match[0]
        if word.isascii():
            continue
        letters = word[1:] if word[0] in _FORMULA_LETTERS else word
        scripts = {script for char in letters if (script := _script(char))}
        if "latin" in scripts and len(scripts) > 1:
            yield Hit("unicode", "mixed-script", Severity.REVIEW, match.start(), match.end(), MESSAGES["mixed-script"])
