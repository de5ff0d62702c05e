"""Text that stands for text: “rest of file unchanged” where a writer meant to keep what it did not send."""

from __future__ import annotations

import re

MAX_LINE_CHARS = 160

_STAYS = r"(?:unchanged|same|before|above|here|omitted|unmodified|intact|remains?|stays?|kept|keep|below)\b"
_CONTENT = r"(?:contents?|text|code|entries|entry|lines|notes|memories|sections?|rows)"
_PATTERNS = (
    # English
    r"\b(?:rest|remainder) of (?:the |this )?(?:file|document|contents?|text|memory|entries|notes?|code)\b.{0,40}\b"
    + _STAYS,
    r"^(?:the )?(?:rest|remainder|remaining)\b.{0,40}\b(?:unchanged|same|unmodified|omitted|intact|as (?:is|before))\b",
    rf"\b(?:existing|previous|prior|other|remaining|earlier) {_CONTENT}\b.{{0,30}}\b{_STAYS}",
    r"^(?:keep|retain|preserve) (?:the |all )?(?:rest|existing|previous|other|remaining)\b.{0,40}$",
    r"^(?:\.{3}|…) ?(?:existing|previous|rest|remaining|unchanged|same|omitted|snip|truncated)\b.{0,40}$",
    r"^(?:no (?:other )?changes?(?: below| above| here)?|unchanged|same as (?:above|before))$",
    r"^(?:omitted(?: for brevity)?|snip|truncated|content (?:unchanged|omitted))$",
    # German
    (
        r"\b(?:rest|übrige[rs]?|restliche[rs]?|verbleibende[rs]?)\b.{0,40}"
        r"\b(?:unverändert|gleich|wie (?:bisher|zuvor|oben)|bleib\w{0,4})\b"
    ),
    r"^(?:unverändert|wie (?:bisher|zuvor|oben)|gekürzt)$",
    # French
    (
        r"\b(?:reste|suite|contenu existant|contenu précédent)\b.{0,40}"
        r"\b(?:inchangée?s?|identique|sans changement|même)"
    ),
    r"^(?:inchangé|sans changement|comme (?:avant|ci-dessus))$",
    # Spanish, Portuguese, Italian
    (
        r"\b(?:resto|restante|contenido (?:existente|anterior)|conteúdo existente|contenuto esistente)\b.{0,40}"
        r"\b(?:sin cambios|igual|inalterad[oa]|sem alterações|invariat[oa]|uguale|mism[oa])\b"
    ),
    r"^(?:sin cambios|inalterado|sem alterações|invariato)$",
    # Chinese, Japanese, Korean
    (
        r"(?:其余|其餘|剩余|剩餘|其他|其它|原有|现有|後面|后面|以下|余下).{0,10}"
        r"(?:不变|不變|保持|未变|未變|省略|略|同上|相同|一致)"
    ),
    r"(?:残り|以下|以降|既存|他|その他).{0,12}(?:変更なし|変更無し|同じ|省略|そのまま|略)|^(?:中略|後略|以下略|省略)$",
    r"(?:나머지|이하|기존|이후).{0,14}(?:동일|변경 ?없음|그대로|생략|유지)",
)
_PLACEHOLDER = re.compile("|".join(f"(?:{pattern})" for pattern in _PATTERNS), re.IGNORECASE)
_WRAPPING = ' \t-*+#>/[](){}<>!.…_`"“”（）【】〔〕［］；;：:，,。~='


def find(text: str) -> str:
    """Return the first line that looks like a placeholder, without the marks around it, "" when there is none."""
    for line in text.split("\n"):
        if len(line) > MAX_LINE_CHARS:
            continue
        words = line.strip().strip(_WRAPPING)
        if words and (_PLACEHOLDER.search(words) or _PLACEHOLDER.search(line.strip())):
            return words
    return ""
