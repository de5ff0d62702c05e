"""Independent check of a proof. Shares no code with the rules, is smaller than they are, and has no off switch."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import cache, partial
from itertools import groupby
from types import MappingProxyType

from memoryreview.core import formats, frontmatter
from memoryreview.core.formats.base import Meter
from memoryreview.core.formats.catalogue import Catalogue
from memoryreview.core.markdown import Spot, links, outline
from memoryreview.core.model import Context, Kind, Proof, Rewrite, Tree
from memoryreview.core.overlay import delta_of
from memoryreview.core.text import Line, apply_rewrites

from . import invariants
from .claim import SECTION, Claim, Clause, is_blank, is_copy, is_instruction, lines_in, lines_of

VERSIONS: Mapping[Kind, int] = MappingProxyType(
    {
        Kind.DEDUPE_EXACT: 1,
        Kind.DEDUPE_INDEX: 1,
        Kind.INDEX_TRIM: 1,
        Kind.INDEX_PRUNE: 1,
        Kind.INDEX_SYNC: 1,
        Kind.LINK_RETARGET: 1,
        Kind.DATE_NORMALIZE: 1,
        Kind.VERIFIED_UPDATE: 1,
        Kind.META_STAMP: 1,
        Kind.FORMAT_BLANK: 1,
    }
)

ACROSS_DOCUMENTS = frozenset({Kind.INDEX_TRIM, Kind.INDEX_PRUNE, Kind.LINK_RETARGET})
"""Rules whose rewrites are judged together: a row speaks of its target, what goes is counted, links ask for names."""


def verify(base: Tree, proposed: Tree, proof: Proof, context: Context) -> bool:
    """Say whether `proof` explains every differing byte between two trees and its rule's invariant holds. Total."""
    if proof.rule not in invariants.BY_RULE or not _is_in_place(base, proof):
        return False
    clauses = (*COMMON, *invariants.BY_RULE[proof.rule])
    named, changed = frozenset(r.path for r in proof.rewrites), frozenset(delta_of(base, proposed))
    names = cache(partial(Catalogue, base))
    parts = (Claim(base, proposed, part, context, named, changed, names) for part in _parts(proof))
    return all(clause(claim) for claim in parts for clause in clauses)


def _parts(proof: Proof) -> list[Proof]:
    """Cut a proof by documents, so that each is parsed once."""
    if proof.rule in ACROSS_DOCUMENTS:
        return [proof]
    parts = groupby(proof.rewrites, key=lambda rewrite: rewrite.path)
    return [replace(proof, rewrites=tuple(rewrites)) for _, rewrites in parts]


def _is_in_place(base: Tree, proof: Proof) -> bool:
    """Whether there are rewrites, in order, inside documents, without overlap: only then can clauses read them."""
    end_of: dict[str, int] = {}
    for rewrite in proof.rewrites:
        if rewrite.path not in base or not end_of.get(rewrite.path, 0) <= rewrite.start <= rewrite.end:
            return False
        if rewrite.end > len(base[rewrite.path]):
            return False
        end_of[rewrite.path] = rewrite.end
    return bool(end_of) and list(end_of) == sorted(end_of)


def is_of_this_version(claim: Claim) -> bool:
    return claim.proof.version == VERSIONS[claim.proof.rule]


def explains_every_byte(claim: Claim) -> bool:
    return claim.named == claim.changed and all(
        apply_rewrites(claim.base[path], claim.rewrites(path)) == claim.proposed.get(path) for path in claim.paths
    )


def is_switched_on(claim: Claim) -> bool:
    return claim.proof.rule not in claim.context.switched_off


def is_no_promotion(claim: Claim) -> bool:
    return not claim.context.promoted_from


def is_written_by_agents(claim: Claim) -> bool:
    return not any(formats.of(claim.context.format).is_generated(path) for path in claim.paths)


def is_no_conflict_copy(claim: Claim) -> bool:
    return not any(is_copy(path) for path in claim.paths)


def is_no_instruction(claim: Claim) -> bool:
    """What people write for agents is theirs to change."""
    return not any(is_instruction(path) for path in claim.paths)


def is_small(claim: Claim) -> bool:
    return all(len(data) <= claim.context.limits.file_bytes for data in claim.states)


def is_text(claim: Claim) -> bool:
    try:
        return all(data.decode("utf-8") is not None for data in claim.states)
    except UnicodeDecodeError:
        return False


def has_no_merge_marks(claim: Claim) -> bool:
    return not any(re.search(rb"^(?:<{7}|>{7})(?:[ \t\r]|$)", data, re.MULTILINE) for data in claim.states)


def has_closed_head(claim: Claim) -> bool:
    heads = [frontmatter.read(data) for data in claim.states]
    return not any(
        isinstance(h, frontmatter.NoFrontmatter) and h.problem and h.problem[0] == "head-unclosed" for h in heads
    )


def keeps_line_ends(claim: Claim) -> bool:
    """Byte order mark, final newline and kind of line ends stay."""
    for before, after in claim.pairs:
        if after and before.endswith(b"\n") != after.endswith(b"\n"):
            return False
        if before.startswith(b"\xef\xbb\xbf") != after.startswith(b"\xef\xbb\xbf"):
            return False
        if not {line.eol for line in lines_of(after)} <= {line.eol for line in lines_of(before)}:
            return False
    return True


def keeps_cited_lines(claim: Claim) -> bool:
    """The line count of documents that others cite by line stays, and so does the format mark in their first line."""
    for path in claim.paths:
        if not claim.is_cited(path):
            continue
        before, after = lines_of(claim.base[path]), lines_of(claim.proposed.get(path, b""))
        has_mark = path.endswith("memory_summary.md")
        if len(before) != len(after) or (has_mark and before[:1] != after[:1]):
            return False
    return True


def keeps_what_is_loaded(claim: Claim) -> bool:
    """Where an agent loads the beginning of a document only, all that it loaded is still loaded."""
    for path in claim.paths:
        before, after = claim.base[path], claim.proposed.get(path, b"")
        own = formats.of_document(claim.context.format, path, before)
        end, new_end = _loaded_end(own.meters(path, before), before), _loaded_end(own.meters(path, after), after)
        grown = sum(len(one.new) - (one.end - one.start) for one in claim.rewrites(path) if one.end <= end)
        if new_end < min(end + grown, len(after)):
            return False
    return True


def _loaded_end(meters: tuple[Meter, ...], data: bytes) -> int:
    cuts = [meter.cut_line for meter in meters if meter.cut_line is not None]
    return lines_of(data)[min(cuts) - 1].start if cuts else len(data)


def keeps_structure(claim: Claim) -> bool:
    """Every line that stays has the place, depth, section, list and item that it had."""
    for path in claim.paths:
        before, after = claim.base[path], claim.proposed.get(path, b"")
        gone = {line.number for rewrite in claim.rewrites(path) for line in _gone(before, rewrite)}
        come = {line.number for start, end in claim.arrivals(path) for line in lines_in(after, start, end)}
        old = [spot for line, spot in _texts(before) if line.number not in gone]
        new = [spot for line, spot in _texts(after) if line.number not in come]
        if len(old) != len(new):
            return False
        lists = {one.list_id: two.list_id for one, two in zip(old, new, strict=True)}
        if len(set(lists.values())) != len(lists):
            return False
        for one, two in zip(old, new, strict=True):
            if (one.place, one.depth, one.headings) != (two.place, two.depth, two.headings):
                return False
            if lists[one.list_id] != two.list_id or (one.item_start == one.lineno) != (two.item_start == two.lineno):
                return False
    return True


def orphans_nothing(claim: Claim) -> bool:
    """No line that stays belongs to an entry that goes."""
    for path in claim.paths:
        before = claim.base[path]
        gone = {line.number for rewrite in claim.rewrites(path) for line in _gone(before, rewrite)}
        owners: dict[int, int] = {}
        above = 0
        for line, spot in _texts(before) if gone else ():
            if line.body == SECTION and claim.has_entries(path):
                # A `§` rule ends whatever stands above it, also where Markdown would read on.
                owners, above = {}, line.number
            owners[spot.depth] = spot.item_start if spot.item_start > above else 0
            if line.number not in gone and any(owners.get(depth) in gone for depth in range(1, spot.depth + 1)):
                return False
    return True


def _texts(data: bytes) -> list[tuple[Line, Spot]]:
    return [(line, spot) for line, spot in zip(lines_of(data), outline(data), strict=True) if not is_blank(line)]


def _gone(data: bytes, rewrite: Rewrite) -> list[Line]:
    """Return the lines that a rewrite takes out, where it does not put another text in their place."""
    lines = lines_in(data, rewrite.start, rewrite.end)
    return [line for line in lines if not rewrite.new or rewrite.start < line.start]


def keeps_links(claim: Claim) -> bool:
    """Every link that neither goes with a span nor comes with new lines leads where it did, if no target is one."""
    if claim.proof.rule is Kind.LINK_RETARGET:
        return True
    for path in claim.paths:
        old = _links_outside(claim.base[path], [(rewrite.start, rewrite.end) for rewrite in claim.rewrites(path)])
        if old != _links_outside(claim.proposed.get(path, b""), claim.arrivals(path)):
            return False
    return True


def _links_outside(data: bytes, spans: Sequence[tuple[int, int]]) -> list[tuple[str, str, str, str]]:
    starts = [start for start, _ in spans]
    found = []
    for link in links(data):
        last = bisect_right(starts, link.start) - 1
        if last < 0 or spans[last][1] < link.end:
            found.append((link.kind, link.text, link.target, link.anchor))
    return found


COMMON: tuple[Clause, ...] = (
    is_of_this_version,
    explains_every_byte,
    is_switched_on,
    is_no_promotion,
    is_written_by_agents,
    is_no_conflict_copy,
    is_no_instruction,
    is_small,
    is_text,
    has_no_merge_marks,
    has_closed_head,
    keeps_line_ends,
    keeps_cited_lines,
    keeps_what_is_loaded,
    keeps_structure,
    orphans_nothing,
    keeps_links,
)
"""What every safe change keeps, whatever its rule."""
