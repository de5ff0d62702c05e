"""What memory says already about what changes: repeats, contradictions, links, and other places of the same rule.

Suggestions for a person, pair by pair and never transitive. Nothing here has an effect on a verdict.
"""

from __future__ import annotations

from .beside import Beside, beside
from .disagree import disagrees
from .graph import Node, NodeKind, graph
from .links import Links
from .model import Place, Relation, RelationKind
from .statement import Statement, statements
from .store_index import Known, StoreIndex
from .within import within

__all__ = [
    "Beside",
    "Known",
    "Links",
    "Node",
    "NodeKind",
    "Place",
    "Relation",
    "RelationKind",
    "Statement",
    "StoreIndex",
    "beside",
    "disagrees",
    "graph",
    "statements",
    "within",
]
