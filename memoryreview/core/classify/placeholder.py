"""Text that stands for text: “rest of file unchanged” where a writer meant to keep what it did not send."""

from __future__ import annotations

import re

MAX_LINE_CHARS = 160
MAX_ASIDE_CHARS = 70
MIN_LOST_LINES = 2
"""Lines that must go in the same change before a bare `...` counts."""

_STAYS = (
    r"\b(?:unchanged|(?:the )?same|before|above|here|omitted|unmodified|intact|remains?|stays?|kept|keep|below)\W*$"
)
_CONTENT = r"(?:contents?|text|code|entries|entry|lines|notes|memories|sections?|rows|bullets|items)"
_OLD = r"(?:existing|previous|prior|other|remaining|earlier|original)"
_WHOLE = r"(?:file|documents?|contents?|text|memory|entries|notes?|code|index)"
_SURE = (
    # English
    rf"\b(?:rest|remainder) of (?:the |this )?{_WHOLE}\b.{{0,40}}{_STAYS}",
    (
        r"^(?:the )?(?:rest|remainder|remaining)\b.{0,40}"
        r"\b(?:unchanged|same|unmodified|omitted|intact|as (?:is|before))\W*$"
    ),
    rf"\b{_OLD} {_CONTENT}\b.{{0,30}}{_STAYS}",
    (
        rf"^(?:keep|retain|preserve|leave) (?:the |all |everything )*(?:rest|else|{_OLD})"
        rf"(?: (?:of the )?(?:{_WHOLE}|{_CONTENT}))?"
        r"(?: (?:as (?:is|before)|unchanged|the same|here|above|below|intact))?\W*$"
    ),
    r"^(?:\.{3}|…) ?(?:existing|previous|rest|remaining|unchanged|same|omitted|snip|truncated)\b.{0,40}$",
    r"^(?:no (?:other )?changes?(?: below| above| here)?|unchanged|same as (?:above|before))$",
    r"^(?:omitted(?: for brevity)?|snip|truncated|content (?:unchanged|omitted))$",
    # German
    (
        r"\b(?:rest|übrige[rs]?|restliche[rs]?|verbleibende[rs]?)\b.{0,40}"
        r"\b(?:unverändert|gleich|wie (?:bisher|zuvor|oben|gehabt)|bleib\w{0,4})\W*$"
    ),
    r"^(?:unverändert|wie (?:bisher|zuvor|oben|gehabt)|gekürzt)$",
    # French
    (
        r"\b(?:reste|suite|contenu existant|contenu précédent)\b.{0,40}"
        r"\b(?:inchangée?s?|identique|sans changement|même|conservé)\W*$"
    ),
    r"^(?:inchangé|sans changement|comme (?:avant|ci-dessus))$",
    # Spanish, Portuguese, Italian
    (
        r"\b(?:resto|restante|lo demás|contenido (?:existente|anterior)|conteúdo existente|contenuto esistente)\b"
        r".{0,40}"
        r"\b(?:sin cambios|igual|inalterad[oa]|sem alterações|invariat[oa]|uguale|mism[oa]|se mantiene)\W*$"
    ),
    r"^(?:sin cambios|inalterado|sem alterações|invariato)$",
    # Russian, Polish, Dutch, Swedish, Turkish, Vietnamese
    r"\bостальн\w{1,4}\b.{0,30}\bбез изменений\W*$",
    r"\b(?:reszta|pozostał\w{1,4})\b.{0,30}\bbez zmian\W*$",
    r"\b(?:rest|overige)\b.{0,30}\b(?:ongewijzigd|onveranderd)\W*$",
    r"\b(?:resten|övrigt)\b.{0,30}\boförändra\w{1,2}\W*$",
    r"\b(?:kalan|geri kalan)\b.{0,30}\b(?:aynı|değişmedi)\W*$",
    r"phần còn lại.{0,30}(?:giữ nguyên|không đổi)\W*$",
    # Chinese, Japanese, Korean
    (
        r"(?:其余|其餘|剩余|剩餘|其他|其它|原有|现有|後面|后面|以下|余下).{0,10}"
        r"(?:不变|不變|保持(?:不变|原样|一致)|未变|未變|省略|略|同上|相同|一致)\W*$"
    ),
    (
        r"(?:残り|以下|以降|既存|他|その他).{0,12}"
        r"(?:変更なし|変更無し|同じ|省略|そのまま|略)(?:です|とする|する)?\W*$|^(?:中略|後略|以下略|省略|同上)$"
    ),
    r"(?:나머지|이하|이후|기존 (?:내용|항목)).{0,14}(?:동일|변경 ?없음|그대로|생략|유지)(?:함|합니다|임|됨)?\W*$",
)
_ASIDES = (
    rf"^\+? ?(?:\d+ )?(?:more |all |the |{_OLD} )*(?:rest|remainder|{_CONTENT}|{_WHOLE})\b",
    rf"^(?:keep|{_OLD}|unchanged|same|ditto|etc|and so on|snip(?:ped)?|omitted|truncated|no changes?)\b",
    r"^(?:rest|restlich|übrig|bestehend|unverändert|wie (?:gehabt|bisher)|weitere)",
    r"^(?:(?:le )?reste|suite|contenu|inchang)|\bexistantes?\b",
    r"^(?:(?:el |il |o )?rest[oa]|restante|lo demás|contenido|conteúdo|contenuto|sin cambios)\b",
    r"\bexistentes?\b|\besistent[ei]\b",
    r"^(?:остальн|без изменений)|^(?:pozostał|reszta|bez zmian)|^(?:resten|övrigt|overige|kalan)",
    r"^(?:其余|其餘|剩余|剩餘|同上|此处|此處|保留|原文|原有|现有|省略|略)",
    r"^(?:既存|残り|以下|以降|中略|後略|前略|変更なし)|^(?:나머지|기존|중략|이하|생략)",
)
_BARE = (
    (
        r"^(?:todo|fixme|xxx|note)\W{0,3}(?:paste|insert|add|keep|copy|restore|re-?add|fill in) "
        rf"(?:(?:the|all|in) )*(?:rest|remainder|{_OLD})"
        rf"(?: (?:of the )?(?:{_WHOLE}|{_CONTENT}))?(?: (?:here|back|below))?\W*$"
    ),
    r"^(?:etc|and so on|ditto|usw|u\. ?s\. ?w)\.?$",
)
_PLACEHOLDER = re.compile("|".join(f"(?:{pattern})" for pattern in _SURE), re.IGNORECASE)
_ASIDE = re.compile("|".join(f"(?:{pattern})" for pattern in _ASIDES), re.IGNORECASE)
_TASK = re.compile("|".join(f"(?:{pattern})" for pattern in _BARE), re.IGNORECASE)
_LIST_MARK = re.compile(r"[ \t]*(?:(?:[-*+]|\d{1,9}[.)])[ \t]+)?")
_DOTS = re.compile(r"[(\[{<（【［〔/#*!\- \t]*(?:\.{3,}|…+)[)\]}>）】］〕/*\- \t]*")
_OPENED = re.compile(r"[(\[{<（【［〔]|//|/\*|# ?(?:\.\.\.|…|[a-z])|\.\.\.|…")
_CLOSED = re.compile(r"(?:[)\]}>）】］〕]|\*/|\.\.\.|…)[.,;]?$")
_WRAPPING = ' \t-*+#>/[](){}<>!.…_`"“”（）【】〔〕［］；;：:，,。~='


def find(text: str, lost_lines: int = MIN_LOST_LINES) -> str:
    """Return the first line that looks like a placeholder, without the marks around it, "" when there is none.

    Args: lost_lines: lines of the document that go in the same change. Where some do, an aside such as `[...]` or
        `<!-- keep -->` counts too; where none does, it stands for nothing.
    """
    for line in text.split("\n"):
        if len(line) > MAX_LINE_CHARS:
            continue
        words = line.strip().strip(_WRAPPING)
        if words and (_PLACEHOLDER.search(words) or _PLACEHOLDER.search(line.strip())):
            return words
        if lost_lines >= MIN_LOST_LINES and _is_aside(line, words):
            return words or line.strip()
    return ""


def _is_aside(line: str, words: str) -> bool:
    """Whether a line of its own is a remark that leaves something out: nothing but dots, or bracketed words."""
    body = line[_LIST_MARK.match(line).end() :].strip()  # type: ignore[union-attr]  # the pattern matches ""
    if not body or len(body) > MAX_ASIDE_CHARS or "](" in body or "[[" in body:
        return False
    if _DOTS.fullmatch(body) or _TASK.search(words):
        return True
    is_open = _OPENED.match(body) is not None
    is_aside = is_open and (_CLOSED.search(body) is not None or body.startswith(("//", "#", "...", "…")))
    return is_aside and _ASIDE.search(words) is not None
