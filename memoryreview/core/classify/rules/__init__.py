"""The safe rules: one small module each, with its version and the sentence that justifies it."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

from memoryreview.core.model import Kind

from . import (
    date_normalize,
    dedupe_exact,
    dedupe_index,
    format_blank,
    index_prune,
    index_sync,
    index_trim,
    link_retarget,
    meta_stamp,
    verified_update,
)

VERSIONS: Mapping[Kind, int] = MappingProxyType(
    {
        # In the order in which the safe part lands: rules that count or compare entries before those that edit them.
        Kind.INDEX_SYNC: index_sync.VERSION,
        Kind.INDEX_PRUNE: index_prune.VERSION,
        Kind.DEDUPE_EXACT: dedupe_exact.VERSION,
        Kind.DEDUPE_INDEX: dedupe_index.VERSION,
        Kind.INDEX_TRIM: index_trim.VERSION,
        Kind.LINK_RETARGET: link_retarget.VERSION,
        Kind.DATE_NORMALIZE: date_normalize.VERSION,
        Kind.VERIFIED_UPDATE: verified_update.VERSION,
        Kind.META_STAMP: meta_stamp.VERSION,
        Kind.FORMAT_BLANK: format_blank.VERSION,
    }
)
