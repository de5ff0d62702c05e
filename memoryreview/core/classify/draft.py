"""Actions in the making, and the review action that one step becomes when no rule explains it."""

from __future__ import annotations

from dataclasses import dataclass

from memoryreview.core.markdown import Place
from memoryreview.core.model import Context, Kind, Rewrite
from memoryreview.core.text import normalise

from . import dates, reasons, titles, wording
from .document import Block, Document, Span
from .safe import Waits
from .steps import Step, similarity

MIN_KEPT_SIMILARITY = 0.3
"""Share of common text below which a rewritten entry counts as lost."""

MAX_OTHERS = 500
"""Blocks that are searched for a longer form of a deleted entry."""

_NO_ENTRY = frozenset({Place.HEADING, Place.CODE, Place.RULE, Place.REFERENCE, Place.FRONTMATTER, Place.HTML})


@dataclass(frozen=True, slots=True)
class Draft:
    """An action before its verdict is settled.

    Args:
        old, new: 0-based half-open lines in the base and in the proposed document.
        rewrites: what explains it; empty when a person decides.
        gone, come: texts of the entries that go and come, by which a move or a repeat is recognised.
        finding: scanner rule that the text itself breaks, or "".
    """

    kind: Kind
    path: str
    old: Span
    new: Span
    old_text: str
    new_text: str
    title: str
    reasons: tuple[str, ...] = ()
    rewrites: tuple[Rewrite, ...] = ()
    gone: tuple[str, ...] = ()
    come: tuple[str, ...] = ()
    finding: str = ""


def is_entry(block: Block) -> bool:
    """Whether losing the block is losing something that an agent remembers."""
    return block.place not in _NO_ENTRY


def entry_texts(document: Document) -> list[str]:
    """Return the texts of what a document remembers: entries, and each line of its paragraphs."""
    return [text for block in document.blocks if is_entry(block) for text in _texts(document, block)]


def entry_count(document: Document) -> int:
    """Return the number of `entry_texts`, at less cost."""
    by_lines = Place.PARAGRAPH if not document.is_delimited else None
    return sum(
        block.text.count(b"\n") + 1 if block.place is by_lines else 1 for block in document.blocks if is_entry(block)
    )


def _texts(document: Document, block: Block) -> tuple[str, ...]:
    if document.is_delimited or block.place is not Place.PARAGRAPH:
        return (text_of(block),)
    return tuple(normalise(line) for line in block.text.decode("utf-8", "replace").split("\n"))


def text_of(block: Block) -> str:
    """Return the text by which an entry is recognised elsewhere: without list mark, blanks collapsed."""
    return normalise(titles.unmarked(block.text.decode("utf-8", "replace")).replace("\n", " "))


def labels(document: Document) -> list[tuple[int, str]]:
    """Return (1-based line, label) of the first blocks of a document."""
    blocks = document.blocks[:MAX_OTHERS]
    return [(block.span[0] + 1, titles.label(block.text.decode("utf-8", "replace"), 2_000)) for block in blocks]


def of_step(
    old: Document,
    new: Document,
    step: Step,
    waits: Waits,
    context: Context,
    *,
    lost_lines: int,
    others: list[tuple[int, str]],
) -> Draft:
    """Return the review action of one step.

    Args:
        lost_lines: lines of the document that go in the same change.
        others: `labels` of the proposed document.
    """
    old_text, new_text = old.text(step.old), new.text(step.new)
    kind = _kind(old, new, step)
    found = [declined.reason for declined in waits.declined]
    found += reasons.of_place(old, step.old, step.new) + reasons.of_text(new_text, lost_lines)
    if wording.appended_text(old, step):
        found.append(reasons.MERGED)
    if step.old_block and step.new_block:
        found += reasons.of_change(old_text, new_text)
        if step.old_block.place is Place.HEADING:
            found.append(reasons.HEADING)
    elif step.old_block:
        found += reasons.of_delete(old_text, others)
    far_off = dates.far_off(old, step.old, new_text, context)
    found += [far_off] if far_off else []
    found += dates.of_step(old, step.old, new, step.new, context)
    if not step.old_block and not step.new_block:
        found.append(reasons.BLANK_LINES)
    elif not found or not (step.old_block and step.new_block):
        found.append(reasons.BY_KIND[kind])
    return Draft(
        kind=kind,
        path=old.path,
        old=step.old,
        new=step.new,
        old_text=old_text,
        new_text=new_text,
        title=wording.title(old, new, step, kind),
        reasons=tuple(dict.fromkeys(found)),
        gone=_gone(old, step),
        come=(text_of(step.new_block),) if step.new_block and not step.old_block else (),
        finding=next(
            filter(None, (declined.finding for declined in waits.declined)), "date-far-off" if far_off else ""
        ),
    )


def _gone(old: Document, step: Step) -> tuple[str, ...]:
    block = step.old_block
    if block is None or not is_entry(block):
        return ()
    is_kept = step.new_block is not None and similarity(block.text, step.new_block.text) >= MIN_KEPT_SIMILARITY
    return () if is_kept else _texts(old, block)


def _kind(old: Document, new: Document, step: Step) -> Kind:
    if any(block and block.place is Place.FRONTMATTER for block in (step.old_block, step.new_block)):
        return Kind.META_CHANGE
    if step.new_block and not step.old_block:
        return Kind.INDEX_ADD if step.new_block.span[0] in new.rows else Kind.FACT_ADD
    if step.old_block and not step.new_block:
        return Kind.INDEX_DROP if step.old_block.span[0] in old.rows else Kind.FACT_DELETE
    return Kind.FACT_REWRITE
