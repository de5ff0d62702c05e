"""Whether a sentence plainly tells of the past, by the grammar of seven languages. What is not sure is not told."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from types import MappingProxyType

from . import relative_words as table

MAX_SUBJECT_WORDS = 7

_IT = frozenset({"it", "them"})
_TOKEN = re.compile(r"[^\W_]+(?:[.\-’'][^\W_]+)*|[^\w\s]|_")
_OPAQUE = re.compile(r"`[^`\n]{1,200}`|!?\[\[[^\]\n]{1,200}\]\]|!?\[[^\]\n]{0,200}\]\([^()\n]{0,300}\)")
_ENGLISH_ED = re.compile(r"[a-z]{2,}ed")
_AGREED = re.compile(r"(?:dis)?agreed|freed|guaranteed|decreed")
_GERMAN_PARTICIPLE = re.compile(
    r"[a-zäöüß]{0,12}ge[a-zäöüß]{2,20}(?:t|en)|[a-zäöüß]{3,20}iert"
    r"|(?:ver|be|er|ent|zer|miss|über|unter|wider|durch)[a-zäöüß]{3,20}(?:t|en)"
)
_FRENCH_PARTICIPLE = re.compile(r"[a-zà-ÿœ]{2,}é(?:e|s|es)?")
_SPANISH_PAST = re.compile(r"[a-záéíóúñü]{2,}(?:ó|aron|ieron|eron)")
_SPANISH_PAST_OF_US = re.compile(r"[a-záéíóúñü]{2,}(?:[ai]mos|(?<![aei]r)é|í)")
_SPANISH_PARTICIPLE = re.compile(r"[a-záéíóúñü]{2,}[ai]do")

_CHINESE_PAST = re.compile(r"了|已")
_CHINESE_TODAY = re.compile(
    rf"(?:已经|已經|已)?(?:{table.CHINESE_ACTS})了|(?:已经|已經|已)(?:{table.CHINESE_ACTS})(?!的)"
)
_JAPANESE_PAST = re.compile(
    r"(?:[しいっきぎれせけげえべめねてでみりちじ出見来得経寝]た|[読飲死呼遊選頼進込組住休転済]んだ)$"
)
_KOREAN_PARTICLE = re.compile(r" (?:(?:으?로|[을를이가은는라])(?=[ .!]|$)|였|이었|라는|라고)")
_HANGUL_END = re.compile(r"([가-힣])(?:다|습니다|음|어요|어)$")

_INVERTED = re.compile(r"[\s*_]*(?:did|had|were|was|have|has|do|does)(?:n['’]t)?\s", re.IGNORECASE)
"""How an English question or condition begins, also without its mark."""

ENDS = ".!?。！？．"


def tells_of_past(language: str, before: str, word: str, after: str, *, is_today: bool) -> bool:
    """Whether a sentence is a statement about the past of which a relative word is the adverb.

    Args:
        before, after: the sentence around the word, without list mark; `after` with the mark that ends it.
        is_today: whether the word may also mean “at present”, so that only a past of that very day counts.
    """
    if after.rstrip().endswith(("?", "？")) or language not in _JUDGES:
        return False
    if language == "en" and _INVERTED.match(before):
        return False
    return _JUDGES[language](_plain(before), word, _plain(after), is_today)


def has_guard(language: str, text: str) -> bool:
    """Whether a text names a habit, rule, condition, quotation or another time, so that no day in it is sure."""
    folded = text.casefold()
    for harmless in table.HARMLESS.get(language, ()):
        folded = folded.replace(harmless, "")
    guards = table.GUARDS[language]
    if language in ("zh", "ja", "ko"):
        return any(guard in folded for guard in guards)
    words = set(tokens(folded)) | set(re.split(r"[\s'’]+", folded))
    return not guards.isdisjoint(words) or "used to" in folded


def tokens(text: str) -> list[str]:
    """Return the words and signs of a text."""
    return _TOKEN.findall(text)


def _plain(text: str) -> str:
    """Put one word for each code span and link, and drop emphasis: what they hold is no part of the grammar."""
    return _OPAQUE.sub(" x ", text).replace("**", "")


def _is_word(token: str) -> bool:
    return token[0].isalnum()


def _english(before: str, word: str, after: str, is_today: bool) -> bool:
    ahead, behind = tokens(before), tokens(after)
    if not ahead:
        behind = behind[1:] if behind[:1] == [","] else behind
        return (
            bool(behind) and behind[0].casefold() not in table.ENGLISH_NAMED and bool(_english_verb(behind, is_today))
        )
    verb = _english_verb(ahead, is_today)
    if verb is None or word[0].isupper() or ahead[-1].casefold() in table.ENGLISH_BEFORE:
        return False
    if behind and behind[0] not in ",.;!" and behind[0].casefold() not in table.ENGLISH_AFTER:
        return False
    between = [token.casefold() for token in ahead[verb + 1 :]]
    if not all(map(_is_word, between)) or not table.ENGLISH_STOP.isdisjoint(between):
        return False
    if not between:
        return ahead[verb].casefold() in table.ENGLISH_DIRECT
    return not is_today or _is_short_object(between)


def _is_short_object(words: Sequence[str]) -> bool:
    """Whether the words between verb and `today` leave no room for a second verb: “the format people use today”."""
    leading = table.ENGLISH_DETERMINERS | table.ENGLISH_PREPOSITIONS
    if len(words) == 1:
        return _is_english_past(words[0]) or words[0] in _IT
    return len(words) <= 3 and all(word in leading for word in words[:-1])


def _english_verb(own: Sequence[str], is_today: bool) -> int | None:
    """Return the place of the past verb of a clause that begins with its subject, or with the verb itself."""
    words = [token.casefold() for token in own]
    if words[0] in table.ENGLISH_PRONOUNS:
        place = next((i for i in range(1, len(words)) if words[i] not in table.ENGLISH_ADVERBS), len(words))
        return place if place < len(words) and _is_english_past(words[place]) else None
    if words[0] in table.ENGLISH_DETERMINERS:
        for place in range(1, min(len(words), MAX_SUBJECT_WORDS)):
            if words[place] in table.ENGLISH_STOP or not _is_word(words[place]):
                return None
            if place > 1 and (
                words[place] in table.ENGLISH_FINITE or (not is_today and _is_english_past(words[place]))
            ):
                return place
        return None
    if is_today:
        return None
    leading = table.ENGLISH_DETERMINERS | table.ENGLISH_PREPOSITIONS
    if _is_english_past(words[0]):
        return 0 if words[1:2] and words[1] in leading else None
    place = 2 if own[1:2] and own[1][0].isupper() else 1
    if not own[0][0].isupper() or words[0] in table.ENGLISH_STOP or place >= len(words):
        return None
    if not _is_english_past(words[place]):
        return None
    # “Show failed jobs” is no statement about somebody called Show.
    has_object = place + 1 == len(words) or not _is_word(words[place + 1]) or words[place + 1] in leading | _IT
    return place if has_object or not words[place].endswith("ed") else None


def _is_english_past(word: str) -> bool:
    if word in table.ENGLISH_PAST:
        return True
    if not _ENGLISH_ED.fullmatch(word) or word in table.ENGLISH_NO_PAST:
        return False
    return not word.endswith("eed") or bool(_AGREED.fullmatch(word))


def _german(before: str, word: str, after: str, is_today: bool) -> bool:
    ahead, behind = tokens(before), [token.casefold() for token in tokens(after)]
    if ahead:
        if word[0].isupper() or ahead[-1].casefold() in table.GERMAN_BEFORE:
            return False
        goes_on = bool(behind) and _is_word(behind[0]) and behind[0] != "als"
        if ahead[-1].casefold() in table.GERMAN_STATE and not goes_on:
            return False
        verb = next((i for i, w in enumerate(ahead[:MAX_SUBJECT_WORDS]) if i and _is_german_finite(w.casefold())), 0)
        subject = [token.casefold() for token in ahead[:verb]]
        if not verb or not all(map(_is_word, ahead)) or not table.GERMAN_STOP.isdisjoint(map(str.casefold, ahead)):
            return False
        finite, rest = ahead[verb].casefold(), [*(token.casefold() for token in ahead[verb + 1 :]), *behind]
    else:
        if not behind or not _is_german_finite(behind[0]):
            return False
        finite, rest, subject = behind[0], behind[1:], behind[1:2]
    if behind and behind[0] in table.GERMAN_AFTER:
        return False
    return _is_german_past(finite, subject, rest, is_today)


def _is_german_finite(word: str) -> bool:
    return any(
        word in forms for forms in (table.GERMAN_PAST, table.GERMAN_WEAK_PAST, table.GERMAN_HAVE, table.GERMAN_BE)
    )


def _is_german_past(finite: str, subject: Sequence[str], rest: Sequence[str], is_today: bool) -> bool:
    """Judge a finite verb with what follows it. “Heute ist der Dienst abgeschaltet” tells of a state, not of a day."""
    clause = rest[: next((i for i, token in enumerate(rest) if not _is_word(token)), len(rest))]
    clause = clause[:-1] if clause[-1:] in (["worden"], ["gewesen"]) else clause
    is_participle = bool(clause) and bool(_GERMAN_PARTICIPLE.fullmatch(clause[-1])) and clause[-2:-1] != ["zu"]
    if is_today and finite in table.GERMAN_HAVE:
        return is_participle and len(subject) == 1 and subject[0] in table.GERMAN_FIRST
    if is_today and finite in table.GERMAN_PASSIVE:
        return is_participle
    if finite in table.GERMAN_PAST or finite in table.GERMAN_WEAK_PAST:
        return not is_today or finite in table.GERMAN_PAST
    return is_participle and not is_today


def _french(before: str, word: str, after: str, is_today: bool) -> bool:
    ahead, behind = ([t.casefold() for t in tokens(re.sub("['’]", " ", text))] for text in (before, after))
    if behind and behind[0] in table.FRENCH_DAY_PARTS:
        return False
    if not ahead:
        behind = behind[1:] if behind[:1] == [","] else behind
        return _french_past(behind, is_today) is not None
    end = _french_past(ahead, is_today)
    if end is None or word[0].isupper() or ahead[-1] in table.FRENCH_BEFORE:
        return False
    between = ahead[end:]
    if not all(map(_is_word, between)) or not table.FRENCH_STOP.isdisjoint(between):
        return False
    if ahead[-1] in table.FRENCH_NAMED:
        return False
    if not between and ahead[-1] not in table.FRENCH_DIRECT and "été" not in ahead:
        return False
    return not behind or behind[0] in ",.;!" or behind[0] in table.FRENCH_AFTER


def _french_past(words: Sequence[str], is_today: bool) -> int | None:
    """Return the place after the participle of a clause in the perfect."""
    for place, word in enumerate(words[: MAX_SUBJECT_WORDS + 1]):
        if word in table.FRENCH_STOP or not _is_word(word):
            return None
        if word not in (table.FRENCH_HAVE | table.FRENCH_BE):
            continue
        end = place + 1
        while end < len(words) and words[end] in table.FRENCH_BETWEEN:
            end += 1
        if end < len(words) and (_FRENCH_PARTICIPLE.fullmatch(words[end]) or words[end] in table.FRENCH_PARTICIPLES):
            is_own = word in table.FRENCH_HAVE and list(words[:place]) in [[first] for first in table.FRENCH_FIRST]
            return end + 1 if is_own or not is_today else None
    return None


def _spanish(before: str, word: str, after: str, is_today: bool) -> bool:
    ahead, behind = ([token.casefold() for token in tokens(text)] for text in (before, after))
    if behind and behind[0] in table.SPANISH_DAY_PARTS:
        return False
    if not ahead:
        behind = behind[1:] if behind[:1] == [","] else behind
        return _spanish_past(behind, is_today) is not None
    end = _spanish_past(ahead, is_today)
    if end is None or word[0].isupper() or ahead[-1] in table.SPANISH_BEFORE:
        return False
    between = ahead[end:]
    if not all(map(_is_word, between)) or not table.SPANISH_STOP.isdisjoint(between):
        return False
    if ahead[-1] in table.SPANISH_NAMED or (is_today and between):
        return False
    if not between and ahead[-1] not in table.SPANISH_DIRECT and "se" not in ahead:
        return False
    return not behind or behind[0] in ",.;!" or behind[0] in table.SPANISH_AFTER


def _spanish_past(words: Sequence[str], is_today: bool) -> int | None:
    """Return the place after the past verb of a clause."""
    for place, word in enumerate(words[: MAX_SUBJECT_WORDS + 1]):
        if word in table.SPANISH_STOP or not _is_word(word):
            return None
        if word in table.SPANISH_PAST or _SPANISH_PAST.fullmatch(word):
            return place + 1
        if not is_today and _SPANISH_PAST_OF_US.fullmatch(word) and word not in table.SPANISH_NO_PAST:
            return place + 1
        following = words[place + 1] if place + 1 < len(words) else ""
        if word in table.SPANISH_FIRST and (
            _SPANISH_PARTICIPLE.fullmatch(following) or following in table.SPANISH_PARTICIPLES
        ):
            return place + 2
    return None


def _chinese(before: str, word: str, after: str, is_today: bool) -> bool:
    if not re.fullmatch(rf"\s*(?:{table.CHINESE_SUBJECTS})?", before):
        return False
    rest = after.lstrip(" ，,")
    if after[:1] in table.CHINESE_BOUND or not rest:
        return False
    for harmless in table.HARMLESS["zh"]:
        rest = rest.replace(harmless, "x")
    if is_today:
        return bool(re.match(rf"(?:{table.CHINESE_SUBJECTS})?(?:{_CHINESE_TODAY.pattern})", rest))
    return bool(_CHINESE_PAST.search(rest))


def _japanese(before: str, word: str, after: str, is_today: bool) -> bool:
    rest = after.rstrip(ENDS + " ")
    if before.strip() or after.startswith(table.JAPANESE_BOUND) or not _JAPANESE_PAST.search(rest):
        return False
    return not is_today or not (after.startswith("は") or any(sign in rest for sign in table.JAPANESE_NO_TODAY.split()))


def _korean(before: str, word: str, after: str, is_today: bool) -> bool:
    if before[-1:].strip() or after[:1] not in (" ", ",") or (is_today and before.strip()):
        return False
    if _KOREAN_PARTICLE.match(after):
        return False
    last = _HANGUL_END.search(after.rstrip(ENDS + " "))
    if last is None or last[1] in table.KOREAN_PRESENT:
        return False
    return (ord(last[1]) - 0xAC00) % 28 == _DOUBLE_S


_DOUBLE_S = 20
"""Number of the final ㅆ among those that a Hangul syllable can have: the mark of the past tense."""

_JUDGES: Mapping[str, Callable[[str, str, str, bool], bool]] = MappingProxyType(
    {
        "en": _english,
        "de": _german,
        "fr": _french,
        "es": _spanish,
        "zh": _chinese,
        "ja": _japanese,
        "ko": _korean,
    }
)
