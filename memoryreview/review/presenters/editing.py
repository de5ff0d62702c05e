"""Text boxes for documents: what a browser can carry there and back without changing a byte, and what it cannot."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass

from django.utils.translation import gettext as _

from memoryreview.core.model import Delta
from memoryreview.core.text import split_lines

_MAX_ROWS = 36
_MIN_ROWS = 6
_SPARE_ROWS = 2
_MAX_BYTES = 1024 * 1024
# A browser rewrites line ends in a field and cannot send a byte that is not UTF-8.
_LOST_IN_A_FORM = re.compile("[\x00-\x1f\x7f\ud800-\udfff]")


@dataclass(frozen=True, slots=True)
class EditBox:
    """One document to edit. `refusal` says why there is no box; `name` is the form field, `path` goes along with it."""

    name: str
    path: str
    text: str = ""
    rows: int = _MIN_ROWS
    refusal: str = ""

    @property
    def field_of_path(self) -> str:
        return self.name.replace("text-", "path-")


def fits_a_form(path: str) -> bool:
    """Whether a form field carries the name of a document there and back unchanged."""
    return _LOST_IN_A_FORM.search(path) is None


def boxes(contents: Delta, typed: Mapping[str, str] | None = None) -> tuple[EditBox, ...]:
    """Return a box per document, in path order; what somebody typed already stands in it."""
    kept = typed or {}
    return tuple(
        _box(f"text-{number}", path, contents[path], kept.get(path)) for number, path in enumerate(sorted(contents))
    )


def _box(name: str, path: str, content: bytes | None, typed: str | None) -> EditBox:
    if content is None:
        return EditBox(name, path, refusal=_("This document goes; there is no text to edit."))
    if not fits_a_form(path):
        return EditBox(name, path, refusal=_("A form cannot carry the name of this document. Edit the file itself."))
    try:
        text = content.decode("utf-8")
    except UnicodeDecodeError:
        return EditBox(name, path, refusal=_("This document is not UTF-8. Edit the file itself."))
    if len(content) > _MAX_BYTES:
        return EditBox(name, path, refusal=_("This document is too large for a text box. Edit the file itself."))
    if "\0" in text or "\r" in text.replace("\r\n", ""):
        return EditBox(
            name,
            path,
            refusal=_("This document holds a character that a text box does not keep. Edit the file itself."),
        )
    rows = min(_MAX_ROWS, max(_MIN_ROWS, len(split_lines(content)) + _SPARE_ROWS))
    return EditBox(name, path, text if typed is None else typed, rows)


def typed_texts(form: Mapping[str, str]) -> dict[str, str]:
    """Return the texts of a posted form by path. Each box sends its path beside its text."""
    return {
        path: form[f"text-{number}"]
        for name, path in form.items()
        if name.startswith("path-") and f"text-{(number := name.removeprefix('path-'))}" in form
    }
