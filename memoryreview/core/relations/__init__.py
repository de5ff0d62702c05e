"""What memory says already about what changes: repeats, contradictions, links, and other places of the same rule.

Suggestions for a person, pair by pair and never transitive. Nothing here has an effect on a verdict.
"""

from __future__ import annotations

from .model import Place, Relation, RelationKind
from .store_index import StoreIndex
from .within import within

__all__ = ["Place", "Relation", "RelationKind", "StoreIndex", "within"]
