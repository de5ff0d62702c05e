"""What a rewrite of each rule may look like, by its result. Written from the promises of the rules, not their code."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

from memoryreview.core.classify.claim import Clause
from memoryreview.core.model import Kind

from . import between, blank, dated, prune, repeat, retarget, role, stamped, sync, told, trim

BY_RULE: Mapping[Kind, tuple[Clause, ...]] = MappingProxyType(
    {
        Kind.DEDUPE_EXACT: (*repeat.OF_ENTRY, *between.CLAUSES),
        Kind.DEDUPE_INDEX: repeat.OF_ROW,
        Kind.INDEX_TRIM: trim.CLAUSES,
        Kind.INDEX_PRUNE: prune.CLAUSES,
        Kind.INDEX_SYNC: sync.CLAUSES,
        Kind.LINK_RETARGET: retarget.CLAUSES,
        Kind.DATE_NORMALIZE: (*dated.CLAUSES, *role.CLAUSES, *told.CLAUSES),
        Kind.VERIFIED_UPDATE: stamped.OF_CHECK,
        Kind.META_STAMP: stamped.OF_WRITE,
        Kind.FORMAT_BLANK: blank.CLAUSES,
    }
)
