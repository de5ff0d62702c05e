"""Ask the rules about one step. Either they explain every byte of it, or the step waits as a whole."""

from __future__ import annotations

from collections.abc import Callable, Container, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TypeAlias

from memoryreview.core.formats.base import IndexRow
from memoryreview.core.markdown import Place
from memoryreview.core.model import Context, Kind, Rewrite, Tree

from .budget import Budget
from .document import BLANKS, Block, Document, Span
from .rules import (
    date_normalize,
    dedupe_exact,
    dedupe_index,
    format_blank,
    head_value,
    index_prune,
    index_sync,
    index_trim,
    link_retarget,
    meta_stamp,
    verified_update,
)
from .rules.cut import has_children
from .rules.outcome import Declined, Explained, Outcome
from .rules.successors import Successors
from .steps import Step


@dataclass(frozen=True, slots=True)
class Part:
    """What one rule explains: some lines of a step."""

    kind: Kind
    old: Span
    new: Span
    rewrites: tuple[Rewrite, ...]


@dataclass(frozen=True, slots=True)
class Waits:
    """No rule explains the step. `declined` are those that came near."""

    declined: tuple[Declined, ...] = ()


Explanation: TypeAlias = tuple[Part, ...] | Waits


class Explainer:
    """Explains the steps between two states of one document.

    Args:
        successors: of the whole store, because a row or link is judged by the document that it points to.
    """

    def __init__(self, old: Document, new: Document, successors: Successors, context: Context, budget: Budget) -> None:
        self._old, self._new = old, new
        self._targets = index_trim.Targets(budget)
        self._successors = successors
        self._context = context

    @cached_property
    def _heads(self) -> head_value.Heads:
        return head_value.heads(self._old, self._new)

    def explain(self, step: Step) -> Explanation:
        """Explain a changed block or gap; for what comes or goes see `Additions` and `Removals`."""
        if step.old_block and step.new_block:
            return self._changed(step, step.old_block, step.new_block)
        outcome = format_blank.explain_gap(self._old, step.old, self._new, step.new)
        return _parts(Kind.FORMAT_BLANK, step, outcome)

    def _changed(self, step: Step, old_block: Block, new_block: Block) -> Explanation:
        if old_block.place is new_block.place is Place.FRONTMATTER:
            # Changed lines of a head that stand together are one step: none of them is explained without the others.
            return self._changed_lines(step, self._head_line)
        if (old_block.span, new_block.span) != (step.old, step.new):
            return Waits()
        row = self._old.rows.get(step.old[0])
        if row is not None and row.lines == (step.old[0] + 1, step.old[1]):
            new_row = b"".join(line.raw for line in self._new.lines[slice(*step.new)])
            last_eol = self._new.lines[step.new[1] - 1].eol
            new_row = new_row[: len(new_row) - len(last_eol)]
            states = self._successors.base, self._successors.proposed
            limit_chars = self._context.limits.index_row_chars
            outcome = index_trim.explain_row(self._old, row, new_row, states, self._targets, limit_chars)
            if outcome is not None:
                return _parts(Kind.INDEX_TRIM, step, outcome)
        return self._changed_lines(step, self._line) if old_block.place is new_block.place else Waits()

    def _changed_lines(self, step: Step, told: Callable[[int, int], Iterator[tuple[Kind, Outcome]]]) -> Explanation:
        """Explain as many lines for as many. Args: told: what the rules say of a line, by its index in old and new."""
        if step.old[1] - step.old[0] != step.new[1] - step.new[0]:
            return Waits()
        parts: list[Part] = []
        declined: list[Declined] = []
        is_explained = True
        for old_index, new_index in zip(range(*step.old), range(*step.new), strict=True):
            if self._old.bodies[old_index] == self._new.bodies[new_index]:
                continue
            if self._eol_differs(old_index, new_index):
                return Waits((Declined("The line end changes with the line."),))
            for kind, outcome in told(old_index, new_index):
                if isinstance(outcome, Explained):
                    old_span, new_span = (old_index, old_index + 1), (new_index, new_index + 1)
                    parts.append(Part(kind, old_span, new_span, outcome.rewrites))
                else:
                    is_explained = False
                    declined += [outcome] if outcome else []
        return tuple(parts) if is_explained else Waits(tuple(declined))

    def _eol_differs(self, old_index: int, new_index: int) -> bool:
        """Whether the line ends differ; the final newline is another matter and no part of a line."""
        return len({self._old.lines[old_index].eol, self._new.lines[new_index].eol} - {b""}) > 1

    def _head_line(self, index: int, new_index: int) -> Iterator[tuple[Kind, Outcome]]:
        lines = (index, new_index)
        verified = verified_update.explain_line(self._old, self._new, lines, self._heads, self._context)
        stamped = meta_stamp.explain_line(self._old, self._new, lines, self._heads, self._context)
        if verified is not None:
            yield Kind.VERIFIED_UPDATE, verified
        elif stamped is not None:
            yield Kind.META_STAMP, stamped
        else:
            yield from self._line(index, new_index)

    def _line(self, index: int, new_index: int) -> Iterator[tuple[Kind, Outcome]]:
        """Yield what the rules say about a changed line: its words by one rule, its trailing blanks by another."""
        body, new_body = self._old.bodies[index], self._new.bodies[new_index]
        words, blanks = body.rstrip(BLANKS), body[len(body.rstrip(BLANKS)) :]
        new_words = new_body.rstrip(BLANKS)
        lines = (index, new_index)
        retargeted = None
        if words != new_words and not self._old.is_plain:
            retargeted = link_retarget.explain_line(self._old, self._new, lines, self._successors)
        if retargeted is not None:
            yield Kind.LINK_RETARGET, retargeted
        elif words != new_words:
            new_line = new_words + blanks
            yield Kind.DATE_NORMALIZE, date_normalize.explain_line(self._old, index, new_line, self._context.history)
        if blanks != new_body[len(new_words) :]:
            yield Kind.FORMAT_BLANK, format_blank.explain_line(self._old, index, words + new_body[len(new_words) :])


class Additions:
    """Explains what is added to one document: of that, only rows of an index can be proved.

    Args:
        base, proposed: the trees, because a row is made of the document that it points to.
    """

    def __init__(
        self, old: Document, new: Document, base: Tree, proposed: Tree, context: Context, budget: Budget
    ) -> None:
        self._old, self._new = old, new
        self._base, self._proposed = base, proposed
        self._listing = index_sync.Listing(old, base, context, budget)

    def explain(self, steps: Sequence[Step]) -> list[Explanation]:
        """Explain all additions of the document together, because each row has its place behind another one."""
        if not self._old.is_index or self._old.is_plain:
            return [Waits() for _ in steps]
        added = [self._added(step) for step in steps]
        outcomes = index_sync.explain_additions(self._listing, added, self._base, self._proposed)
        return [_parts(Kind.INDEX_SYNC, step, outcome) for step, outcome in zip(steps, outcomes, strict=True)]

    def _added(self, step: Step) -> index_sync.Added:
        at, first = step.old[0], step.new[0]
        line = self._new.lines[first]
        row = self._new.rows.get(first)
        is_row = row is not None and (at, first + 1, (first + 1, first + 1)) == (step.old[1], step.new[1], row.lines)
        is_alone = is_row and not has_children(self._new, step.new)
        start = self._old.lines[at].start if at < len(self._old.lines) else len(self._old.data)
        return index_sync.Added(start, row if is_alone else None, line.body, line.eol)


class Removals:
    """Explains the removals from one document.

    Args:
        staying: first lines of the base blocks that stay, or are changed by rules alone.
        graveyard: what the store holds and held, for rows whose document is gone.
    """

    def __init__(self, old: Document, staying: Container[int], graveyard: index_prune.Graveyard) -> None:
        self._old, self._staying, self._graveyard = old, staying, graveyard

    @cached_property
    def _entries(self) -> dedupe_exact.Entries:
        return dedupe_exact.entries(self._old, self._staying)

    @cached_property
    def _rows(self) -> dedupe_index.Rows:
        return dedupe_index.rows(self._old, self._staying)

    def explain(self, step: Step) -> Explanation:
        if step.old_block is None or step.new_block is not None or step.new[0] != step.new[1]:
            return Waits()
        row = self._old.rows.get(step.old_block.span[0])
        if row is not None:
            return self._row(step, row)
        outcome = dedupe_exact.explain_removal(self._old, self._entries, step.old_block, step.old)
        return _parts(Kind.DEDUPE_EXACT, step, outcome)

    def _row(self, step: Step, row: IndexRow) -> Explanation:
        """Ask whether the row is a repeat, then whether its document is gone for good."""
        repeat = dedupe_index.explain_removal(self._old, self._rows, row, step.old)
        if isinstance(repeat, Explained):
            return _parts(Kind.DEDUPE_INDEX, step, repeat)
        dead = index_prune.explain_removal(self._old, row, step.old, self._graveyard)
        if isinstance(dead, Explained):
            return _parts(Kind.INDEX_PRUNE, step, dead)
        return Waits(tuple(declined for declined in (repeat, dead) if declined))


def _parts(kind: Kind, step: Step, outcome: Outcome) -> Explanation:
    if isinstance(outcome, Explained):
        return (Part(kind, step.old, step.new, outcome.rewrites),)
    return Waits((outcome,) if outcome else ())
