"""Tags and filters that print text from outside: everything goes through the labelled chips and Django's escaping."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cache
from itertools import groupby
from pathlib import Path

from django import template
from django.contrib.staticfiles import finders
from django.templatetags.static import static
from django.utils import translation
from django.utils.html import escape, format_html, format_html_join
from django.utils.safestring import SafeString
from django.utils.translation import gettext as _

from memoryreview.core.diff import DiffLine, Hunk, Mark, Piece, visible
from memoryreview.core.portions import line_key
from memoryreview.core.shown import beside
from memoryreview.review.presenters.recorded import in_language

register = template.Library()

_BLANK_SIGNS = str.maketrans({" ": "·", "\t": "→"})
_TAGS = {Mark.ADDED: "ins", Mark.REMOVED: "del"}


@register.filter(name="visible")
def visible_filter(text: str) -> SafeString:
    """Print a title or name; what cannot be seen becomes a labelled chip."""
    return _html(visible(str(text)))


@register.filter
def listed(paths: Iterable[str]) -> SafeString:
    """Print paths as one part of a sentence."""
    return format_html_join(_(", "), '<span class="mono">{}</span>', ((visible_filter(path),) for path in paths))


@register.filter
def enumerated(words: Iterable[str]) -> str:
    return _(", ").join(words)


@register.filter
def remarks(note: str) -> str:
    """Return what is noted of a line in the language of the page."""
    return _("; ").join(in_language(one) for one in note.split("; "))


@register.filter
def shown_lines(text: str) -> SafeString:
    """Print a text of several lines, each as `visible` does."""
    return format_html_join("\n", "{}", ((visible_filter(one),) for one in str(text).replace("\r\n", "\n").split("\n")))


@register.filter
def span(hunk: Hunk) -> str:
    """Name the lines of a hunk, in the new text where it has any."""
    start, end = hunk.new_span if hunk.new_span[1] > hunk.new_span[0] else hunk.old_span
    last = max(start, end - 1)
    if last == start:
        return _("line %(first)s") % {"first": start}
    return _("lines %(first)s–%(last)s") % {"first": start, "last": last}


@register.filter
def language_tag(code: str) -> str:
    """Return the code of a language as HTML writes it: "zh-Hans" for "zh-hans"."""
    return translation.to_locale(code).replace("_", "-")


@register.filter
def plain(text: str) -> str:
    """Return the same without markup, for a page title or an attribute."""
    return "".join(f"[{piece.chip}]" if piece.chip else piece.text for piece in visible(str(text)))


@register.filter
def bar(row: DiffLine, portions: Mapping[str, object]) -> object | None:
    """Return the bar that stands above a line, None above most."""
    return portions.get(line_key(row))


@register.filter
def gap(hunk: Hunk, gaps: Mapping[int, object]) -> object | None:
    """Return what is folded above a hunk."""
    return gaps.get(hunk.old_span[0])


@register.filter
def rest(gaps: Mapping[int, object]) -> object | None:
    """Return what is folded below the last hunk."""
    return gaps.get(0)


@register.filter
def cut(row: DiffLine, cuts: Mapping[str, object]) -> object | None:
    """Return the link that shows a very long line whole, None where it is shown so already."""
    return cuts.get(row.name)


@register.filter
def sides(hunk: Hunk, portions: Mapping[str, object]) -> Iterator[tuple[DiffLine | None, DiffLine | None, object]]:
    """Yield the lines of a hunk as rows of two sides, and the bar that stands above a row, None above most.

    The bar of a part is named by one line of it, which can stand below others of the same part here.
    """
    for is_changed, rows in groupby(beside(hunk.lines), key=lambda row: row[0] is not row[1]):
        run = list(rows)
        bars = [_bar(row, portions) if is_changed else None for row in run]
        first = next((at for at, bar in enumerate(bars) if bar), 0)
        bars[0], bars[first] = bars[first], bars[0]
        yield from ((*row, bar) for row, bar in zip(run, bars, strict=True))


def _bar(row: tuple[DiffLine | None, DiffLine | None], portions: Mapping[str, object]) -> object | None:
    found = (portions.get(line_key(one)) for one in row if one is not None)
    return next((bar for bar in found if bar), None)


@register.filter
def line(diff_line: DiffLine) -> SafeString:
    """Print the text of one line of a difference, its changed words marked.

    A line that is new or gone as a whole carries no marks: its sign and colour say it already.
    """
    if diff_line.mark is Mark.SAME:
        return _html(diff_line.pieces)
    is_whole = diff_line.is_whole
    drawn = [(_changed(piece, None if is_whole else _TAGS.get(piece.mark)),) for piece in diff_line.pieces[:-1]]
    last = diff_line.pieces[-1:]
    if last and last[0].mark is diff_line.mark and not last[0].chip:
        text = last[0].text.rstrip(" \t")
        blanks = last[0]._replace(text=last[0].text[len(text) :])
        last = tuple(piece for piece in (last[0]._replace(text=text), blanks) if piece.text)
    drawn += [(_changed(piece, None if is_whole else _TAGS.get(piece.mark)),) for piece in last]
    return format_html_join("", "{}", drawn)


def _changed(piece: Piece, tag: str | None) -> SafeString:
    """Print a piece of a changed line. Blanks that alone are new or gone, or end the line, are drawn as signs."""
    inside = _html([piece])
    if piece.mark is not Mark.SAME and not piece.chip and not piece.text.strip(" \t"):
        inside = format_html('<span class="blanks">{}</span>', piece.text.translate(_BLANK_SIGNS))
    return inside if tag is None else format_html("<{0}>{1}</{0}>", tag, inside)


def _html(pieces: Sequence[Piece]) -> SafeString:
    if len(pieces) == 1 and not pieces[0].chip:
        return escape(pieces[0].text)
    return format_html_join("", "{}", ((_chip(piece) if piece.chip else piece.text,) for piece in pieces))


def _chip(piece: Piece) -> SafeString:
    cut = " chip--cut" if piece.chip.endswith("not shown") else ""
    return format_html('<span class="chip{}">{}</span>', cut, piece.chip)


@register.simple_tag
@cache
def icon(name: str) -> SafeString:
    """Print a picture of the sprite. It never stands without a word."""
    return format_html(
        '<svg width="16" height="16" aria-hidden="true"><use href="{}#{}"></use></svg>',
        asset("memoryreview/icons.svg"),
        name,
    )


@register.simple_tag
@cache
def asset(path: str) -> str:
    """Return the address of a static file with a digest of its bytes, so that a new version is fetched at once."""
    found = finders.find(path)
    if not isinstance(found, str):
        raise template.TemplateSyntaxError(f"There is no static file “{path}”.")
    return f"{static(path)}?v={hashlib.sha256(Path(found).read_bytes()).hexdigest()[:10]}"
