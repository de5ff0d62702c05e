"""Actions of a document that stands on both sides of a change."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from memoryreview.core.markdown import Place
from memoryreview.core.model import Context, Kind, Rewrite

from . import draft, health, reasons, tasks, titles, whole
from .budget import Budget
from .document import Document, is_section_file, read
from .draft import Draft
from .rename import Renames
from .rules import index_prune
from .rules.outcome import Declined
from .rules.successors import Successors
from .safe import Additions, Explainer, Explanation, Part, Removals, Waits
from .steps import Comparison, Step, compare


class ChangedDocument:
    """The difference between two states of one document, step by step.

    Attributes:
        followed: old name of a renamed document for each link that follows it, in steps that do nothing else.
    """

    def __init__(self, path: str, successors: Successors, context: Context, renames: Renames, budget: Budget) -> None:
        base, proposed = successors.base, successors.proposed
        before, after = base[path], proposed[path]
        is_plain = max(len(before), len(after)) > context.limits.file_bytes
        is_delimited = is_section_file(path, before, after, context)
        self.old = read(path, before, context, is_delimited=is_delimited, is_plain=is_plain)
        self.new = read(path, after, context, is_delimited=is_delimited, is_plain=is_plain)
        self.never_safe = health.why_never_safe(path, (before, after), context)
        self.followed: list[str] = []
        self._context = context
        self._graveyard = index_prune.Graveyard(self.old, self.new, base, proposed, context, budget)
        self._additions = Additions(self.old, self.new, base, proposed, context, budget)
        self._explainer = Explainer(self.old, self.new, successors, context, budget)
        comparison = compare(self.old, self.new, budget)
        self._kept = comparison.kept
        self._why_whole = ""
        if not budget.pays_steps(len(comparison.steps)):
            self._why_whole = reasons.TOO_LARGE
        elif not _is_accounted(self.old, self.new, comparison):
            self._why_whole = reasons.BY_KIND[Kind.FACT_REWRITE]
        self._steps = [] if self._why_whole else self._own_steps(comparison, renames)

    def _own_steps(self, comparison: Comparison, renames: Renames) -> list[Step]:
        return [step for step in _join_meta(comparison.steps) if not self._follows(step, renames)]

    def drafts(self) -> list[Draft]:
        if self._why_whole:
            return [self._whole(self._why_whole)]
        found: list[Draft] = []
        removed = sum(step.old[1] - step.old[0] for step in self._steps if not step.new_block)
        lost_lines = max(removed, len(self.old.lines) - len(self.new.lines))
        others = draft.labels(self.new) if removed else []
        for step, explanation in zip(self._steps, self._explanations(), strict=True):
            if isinstance(explanation, Waits):
                about = self.old, self.new, step, explanation, self._context
                found.append(draft.of_step(*about, lost_lines=lost_lines, others=others))
            else:
                found += (_safe_draft(self.old, self.new, step, part) for part in explanation)
        found = self._with_edges(tasks.joined(found, self.old, self.new))
        # Two states that differ make at least one action, whatever else goes wrong.
        return found if found or self.followed else [self._whole(reasons.BY_KIND[Kind.FACT_REWRITE])]

    def _follows(self, step: Step, renames: Renames) -> bool:
        names = renames.follows(self.old, self.new, step)
        self.followed += names
        return bool(names)

    def _explanations(self) -> list[Explanation]:
        """Explain additions together, and changed blocks before removals: whether a removed repeat has a copy that
        stays depends on them."""
        if self.never_safe:
            return [Waits((Declined(self.never_safe),)) for _ in self._steps]
        added = [index for index, step in enumerate(self._steps) if step.new_block and not step.old_block]
        explained_additions = self._additions.explain([self._steps[index] for index in added])
        found = dict(zip(added, explained_additions, strict=True))
        for index, step in enumerate(self._steps):
            if index not in found and (step.new_block or not step.old_block):
                found[index] = self._explainer.explain(step)
        self._hold_entries(found)
        explained = {self._steps[i].old[0] for i, e in found.items() if _keeps_words(e)}
        removals = Removals(self.old, self._kept | explained, self._graveyard)
        for index, step in enumerate(self._steps):
            if index not in found:
                found[index] = removals.explain(step)
        return [found[index] for index in range(len(self._steps))]

    def _hold_entries(self, found: dict[int, Explanation]) -> None:
        """Let a rule's part of an entry wait when another part of the same entry does."""
        waiting = [self._steps[i] for i, explanation in found.items() if isinstance(explanation, Waits)]
        waiting += [step for index, step in enumerate(self._steps) if index not in found]
        old_entries = {self._old_entry(step) for step in waiting} - {-1}
        new_entries = {step.new_block.entry for step in waiting if step.new_block}
        for index, explanation in found.items():
            step = self._steps[index]
            is_held = self._old_entry(step) in old_entries or (step.new_block and step.new_block.entry in new_entries)
            if is_held and not isinstance(explanation, Waits):
                found[index] = Waits((Declined(reasons.WITH_ENTRY),))

    def _old_entry(self, step: Step) -> int:
        """Return the entry that a step changes in the base document; -1 for what stands in none."""
        if step.old_block or not self.old.spots or step.old[0] == step.old[1]:
            return step.old_block.entry if step.old_block else -1
        return self.old.spots[step.old[0]].item_start - 1

    def _whole(self, why: str) -> Draft:
        return whole.rewritten(self.old.path, self.old.data, self.new.data, why, (self.old, self.new))

    def _with_edges(self, drafts: list[Draft]) -> list[Draft]:
        """Add what no line shows: the byte order mark and the final newline."""
        found = list(drafts)
        if not self.old.lines or not self.new.lines:
            return found
        if self.old.has_mark != self.new.has_mark:
            found = _with_edge(found, self._edge("byte order mark", self.new.has_mark, 0))
        if self.old.has_final_newline != self.new.has_final_newline:
            found = _with_edge(found, self._edge("final newline", self.new.has_final_newline, -1))
        return found

    def _edge(self, what: str, is_added: bool, at: int) -> Draft:
        old_index, new_index = at % len(self.old.lines), at % len(self.new.lines)
        old_span, new_span = (old_index, old_index + 1), (new_index, new_index + 1)
        title = f"{'Add' if is_added else 'Remove'} the {what}"
        why = (f"The {what} belongs to the document and is never changed by itself.",)
        old_text, new_text = self.old.text(old_span), self.new.text(new_span)
        return Draft(Kind.FACT_REWRITE, self.old.path, old_span, new_span, old_text, new_text, title, why)


def _with_edge(drafts: list[Draft], edge: Draft) -> list[Draft]:
    """Tell it with the review action that changes the line anyway, else as an action of its own."""
    for index, other in enumerate(drafts):
        covers_old = other.old[0] < edge.old[1] and edge.old[0] < other.old[1]
        covers_new = other.new[0] < edge.new[1] and edge.new[0] < other.new[1]
        if not other.rewrites and (covers_old or covers_new):
            told = replace(other, reasons=(*other.reasons, *edge.reasons))
            return [*drafts[:index], told, *drafts[index + 1 :]]
    return sorted([*drafts, edge], key=lambda each: (each.old, each.new))


def _join_meta(steps: tuple[Step, ...]) -> Iterator[Step]:
    """Join neighbouring steps in the frontmatter: its lines make sense together only."""
    held: Step | None = None
    for step in steps:
        if held and _is_meta(held) and _is_meta(step) and (held.old[1], held.new[1]) == (step.old[0], step.new[0]):
            held = Step(
                (held.old[0], step.old[1]),
                (held.new[0], step.new[1]),
                held.old_block or step.old_block,
                held.new_block or step.new_block,
            )
            continue
        if held:
            yield held
        held = step
    if held:
        yield held


def _keeps_words(explanation: Explanation) -> bool:
    """Whether an entry still says all that a repeat of it says: blanks or the form of a date are all that changes."""
    if isinstance(explanation, Waits):
        return False
    return all(part.kind in (Kind.FORMAT_BLANK, Kind.DATE_NORMALIZE) for part in explanation)


def _is_meta(step: Step) -> bool:
    return any(block and block.place is Place.FRONTMATTER for block in (step.old_block, step.new_block))


def _is_accounted(old: Document, new: Document, comparison: Comparison) -> bool:
    """Whether everything outside the steps is equal, line ends included: no byte may change unseen."""
    old_at = new_at = 0
    for old_span, new_span in [
        *((s.old, s.new) for s in comparison.steps),
        ((len(old.lines),) * 2, (len(new.lines),) * 2),
    ]:
        if old.bodies[old_at : old_span[0]] != new.bodies[new_at : new_span[0]]:
            return False
        for before, after in zip(old.lines[old_at : old_span[0]], new.lines[new_at : new_span[0]], strict=True):
            if before.eol and after.eol and before.eol != after.eol:
                return False
        old_at, new_at = old_span[1], new_span[1]
    return True


def _safe_draft(old: Document, new: Document, step: Step, part: Part) -> Draft:
    old_text, new_text = old.text(part.old), new.text(part.new)
    return Draft(
        kind=part.kind,
        path=old.path,
        old=part.old,
        new=part.new,
        old_text=old_text,
        new_text=new_text,
        title=_safe_title(old, part, step),
        rewrites=part.rewrites,
    )


def _texts(old: Document, rewrite: Rewrite) -> tuple[str, str]:
    """Return what a rewrite replaces, and by what."""
    return old.data[rewrite.start : rewrite.end].decode("utf-8", "replace"), rewrite.new.decode("utf-8", "replace")


def _safe_title(old: Document, part: Part, step: Step) -> str:
    first = part.rewrites[0]
    if part.kind is Kind.LINK_RETARGET:
        before, after = (titles.shorten(titles.plain(text), 40) for text in _texts(old, first))
        more = f", and {len(part.rewrites) - 1} more" if len(part.rewrites) > 1 else ""
        return f"Point the link to {after} instead of {before}{more}"
    if part.kind in (Kind.VERIFIED_UPDATE, Kind.META_STAMP):
        key = old.text(part.old).partition(":")[0].strip()
        return f"{key}: {' becomes '.join(_texts(old, first))}"
    if part.kind is Kind.DATE_NORMALIZE:
        pairs = [_texts(old, rewrite) for rewrite in part.rewrites]
        return titles.shorten(", ".join(f"{before} becomes {after}" for before, after in pairs))
    if part.kind is Kind.INDEX_TRIM:
        row = old.rows[part.old[0]]
        moved = [rewrite.path for rewrite in part.rewrites if rewrite.path != old.path]
        where = f", the rest moves to {titles.plain(moved[0])}" if moved else ""
        return titles.shorten(f"Shorten the row “{titles.label(row.title, 50)}”{where}")
    if part.kind is Kind.INDEX_SYNC:
        return titles.shorten(f"Add the missing row “{titles.label(first.new.decode('utf-8'), 70)}”")
    if part.kind is Kind.INDEX_PRUNE:
        pruned = next(old.rows[index] for index in range(*part.old) if index in old.rows)
        return f"Remove the row “{titles.label(pruned.title, 50)}”, whose document is gone"
    if part.kind in (Kind.DEDUPE_EXACT, Kind.DEDUPE_INDEX):
        block = step.old_block
        text = block.text.decode("utf-8", "replace") if block else ""
        return titles.shorten(f"Remove the repeat of “{titles.label(text, 70)}”")
    if part.new[1] - part.new[0] == part.old[1] - part.old[0]:
        count = first.end - first.start
        return f"Remove {'a trailing blank' if count == 1 else f'{count} trailing blanks'} from line {part.old[0] + 1}"
    return f"Join the blank lines at line {part.old[0] + 1} into one"
