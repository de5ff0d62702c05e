"""Suggest: rows that are never loaded, because newer ones are added at the end, where the loader stops."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import pairwise

from memoryreview.core.formats import of
from memoryreview.core.formats.base import IndexRow
from memoryreview.core.formats.index import rows
from memoryreview.core.model import Rewrite

from .consolidate import delta_of_rewrites
from .library import Library
from .model import Suggestion, key_of


def never_loaded(library: Library) -> Iterator[Suggestion]:
    """Yield, per index of one plain list of rows, the move of the lost rows to the top."""
    form = of(library.survey.format)
    for path, data in library.texts.items():
        if not form.is_index(path):
            continue
        cut = next((meter.cut_line for meter in form.meters(path, data) if meter.cut_line is not None), None)
        found = rows(data)
        lost = [row for row in found if cut is not None and row.lines[1] >= cut]
        kept = found[: len(found) - len(lost)]
        if lost and kept and _is_one_list(found, data):
            yield _moved(path, data, kept[0], lost)


def _is_one_list(found: Sequence[IndexRow], data: bytes) -> bool:
    """Whether nothing but line ends lies between the rows, so that their order says nothing but their age."""
    if len({(row.list_id, row.section) for row in found}) > 1 or not data.endswith(b"\n"):
        return False
    between = (data[before.end : after.start] for before, after in pairwise(found))
    return all(text in (b"\n", b"\r\n") for text in between)


def _moved(path: str, data: bytes, first: IndexRow, lost: Sequence[IndexRow]) -> Suggestion:
    start, end = lost[0].start, lost[-1].end + len(data[lost[-1].end :].split(b"\n", 1)[0]) + 1
    block = data[start:end]
    rewrites = [Rewrite(path, first.start, first.start, block), Rewrite(path, start, end, b"")]
    count = "The last row is" if len(lost) == 1 else f"The last {len(lost)} rows are"
    why = (
        f"{count} beyond what the agent loads. Moved to the top {'it is' if len(lost) == 1 else 'they are'} read, and "
        "the same number of older rows falls below the limit instead: move out what is not needed any more."
    )
    texts = [data[row.start : row.end].decode("utf-8") for row in lost]
    delta = delta_of_rewrites({path: data}, rewrites)
    return Suggestion("never-loaded", key_of("never-loaded", path, *texts), delta, why)
