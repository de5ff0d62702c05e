"""Text as HTML. The only place of the product that calls HTML safe without the template's own escaping."""

from __future__ import annotations

import re

import nh3
from django.utils.safestring import SafeString, mark_safe

from memoryreview.core.diff import visible
from memoryreview.core.markdown import render

_TAGS = {
    "a", "blockquote", "br", "code", "em", "h1", "h2", "h3", "h4", "h5", "h6", "hr",
    "li", "ol", "p", "pre", "strong", "table", "tbody", "td", "th", "thead", "tr", "ul",
}  # fmt: skip
_ATTRIBUTES = {"a": {"href", "title"}, "ol": {"start"}}
_SCHEMES = {"http", "https", "mailto"}
# With raw HTML off, every `<img` in the renderer's output is its own, with escaped quotes.
_PICTURE = re.compile(r'<img src="([^"]*)" alt="([^"]*)"(?: title="[^"]*")? />')


def rendered(text: str) -> SafeString:
    """Render Markdown for a page: no raw HTML, no odd scheme, and no character that cannot be seen.

    A picture becomes a link with its text: looking at a note must not tell anybody that it was looked at.
    """
    html = _PICTURE.sub(r'<a href="\1">picture: \2</a>', render(_without_invisible(text)))
    clean = nh3.clean(
        html, tags=_TAGS, attributes=_ATTRIBUTES, url_schemes=_SCHEMES, link_rel="noopener noreferrer nofollow"
    )
    return mark_safe(clean)  # noqa: S308  # nh3 has just cleaned it against the allow-list above


def _without_invisible(text: str) -> str:
    """Write out each invisible or bidi character as `⟦U+202E RLO⟧`; line ends and tabs keep their meaning."""
    lines = text.replace("\r\n", "\n").split("\n")
    return "\n".join("\t".join(_shown(cell) for cell in line.split("\t")) for line in lines)


def _shown(text: str) -> str:
    return "".join(f"⟦{piece.chip}⟧" if piece.chip else piece.text for piece in visible(text))
