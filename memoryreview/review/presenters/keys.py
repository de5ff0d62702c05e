"""One table of key bindings. Handlers, hints, `aria-keyshortcuts`, the footer and the help all come from it."""

from __future__ import annotations

import json
from dataclasses import dataclass
from enum import StrEnum

from django.utils.translation import gettext as _

from memoryreview.review.models import Reason

_CAPS = {"ArrowDown": "↓", "ArrowUp": "↑", "Escape": "Esc", " ": "Space"}


class Where(StrEnum):
    """Where focus must be for a key to act: single keys never act on a whole page (WCAG 2.1.4)."""

    LIST = "list"
    DETAIL = "detail"
    PANES = "list detail"


@dataclass(frozen=True, slots=True)
class Binding:
    """One act and its keys, as `KeyboardEvent.key` names them; "g q" is one key after the other.

    Args:
        act: name that `keys.js` knows, or that an element carries as `data-act`: then the key presses that element.
        hint: what stands on a key cap.
        english: what it does; `english_footer` is shorter, and "" where the footer has no room for it.
        repeats: whether holding the key down repeats it; only movement does.
    """

    act: str
    keys: tuple[str, ...]
    hint: str
    english: str
    english_footer: str = ""
    where: Where = Where.PANES
    repeats: bool = False

    @property
    def words(self) -> str:
        """What it does, in the language of whoever asks."""
        return _(self.english)

    @property
    def footer(self) -> str:
        return _(self.english_footer) if self.english_footer else ""

    @property
    def caps(self) -> tuple[str, ...]:
        """What stands on the key caps."""
        return tuple(_CAPS.get(key, key) for key in self.keys)

    @property
    def aria(self) -> str:
        """Value of `aria-keyshortcuts`: alternatives with a space between. It knows no sequence of keys."""
        return " ".join(key for key in self.keys if " " not in key)


BINDINGS = (
    Binding("next", ("j", "ArrowDown"), "j", "next proposal; the arrow in the list only", repeats=True),
    Binding("previous", ("k", "ArrowUp"), "k", "previous proposal; the arrow in the list only", "move", repeats=True),
    Binding("open", ("o", "Enter"), "o", "from the list into the proposal", "open", where=Where.LIST),
    Binding("next-hunk", ("n",), "n", "next hunk", repeats=True),
    Binding("previous-hunk", ("p",), "p", "previous hunk", "hunk", repeats=True),
    Binding("drop", (" ",), "Space", "leave out the part in focus, or keep it again", where=Where.DETAIL),
    Binding("approve", ("a",), "a", "approve; a deletion or promotion asks once more", "approve"),
    Binding("reject", ("r",), "r", "reject: pick a reason, Enter sends it", "reject"),
    Binding(
        "reason",
        tuple(map(str, range(1, 1 + len(Reason)))),
        "1",
        "in the open form: pick a reason or a time by its number",
    ),
    Binding("ask", ("c",), "c", "ask its agent for changes: say what, Ctrl and Enter send"),
    Binding("duplicate", ("d",), "d", "duplicate: choose which one came first"),
    Binding("snooze", ("s",), "s", "snooze: put it aside until a time, or wake it again"),
    Binding("edit", ("e",), "e", "edit the wording, then approve", "edit"),
    Binding("select", ("x",), "x", "select the proposal for approving several together", where=Where.LIST),
    Binding("select-alike", ("X",), "X", "select all that are alike with the proposal", where=Where.LIST),
    Binding("undo", ("u",), "u", "undo my last decision", "undo"),
    Binding("go-queue", ("g q",), "g q", "go to the queue"),
    Binding("go-history", ("g h",), "g h", "go to the history"),
    Binding("filter", ("/",), "/", "filter the list", "filter"),
    Binding("back", ("Escape",), "Esc", "one step back: close, cancel, to the list"),
    Binding("help", ("?",), "?", "show this table"),
)

BY_ACT = {binding.act.replace("-", "_"): binding for binding in BINDINGS}


def as_json() -> str:
    """Return the table for `keys.js`, which reads it from the page's `data-bindings`."""
    return json.dumps(
        [
            {"act": binding.act, "keys": binding.keys, "where": binding.where.split(), "repeats": binding.repeats}
            for binding in BINDINGS
        ],
        separators=(",", ":"),
    )


@dataclass(frozen=True, slots=True)
class FooterHint:
    hints: tuple[str, ...]
    words: str


def footer_hints() -> tuple[FooterHint, ...]:
    """Return the footer's pairs; a movement's two keys share one word."""
    hints: list[FooterHint] = []
    waiting: list[str] = []
    for binding in BINDINGS:
        if binding.act.startswith("next"):
            waiting.append(binding.hint)
        elif binding.footer:
            hints.append(FooterHint((*waiting, binding.hint), binding.footer))
            waiting = []
    return tuple(hints)
