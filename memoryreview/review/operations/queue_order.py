"""The orders of the queue, and places in them."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Any

from django.db.models import Q

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)


@dataclass(frozen=True, slots=True)
class Place:
    """A place between two rows: behind or in front of one. `first` is its risk, or where ages count its time in µs."""

    first: int
    pk: int


@dataclass(frozen=True, slots=True)
class Order:
    """How a list is sorted; `falls`: the highest come first."""

    field: str
    falls: bool

    def sorting(self, *, is_backwards: bool) -> tuple[str, str]:
        sign = "-" if self.falls != is_backwards else ""
        return f"{sign}{self.field}", f"{sign}id"

    def beyond(self, place: Place | None, *, is_backwards: bool) -> Q:
        """Keep what comes behind a row. The first bound is implied by the second; it lets the index do the work."""
        if place is None:
            return Q()
        side = "lt" if self.falls != is_backwards else "gt"
        value = _EPOCH + timedelta(microseconds=place.first) if self.field == "created_at" else place.first
        return Q(**{f"{self.field}__{side}e": value}) & (
            Q(**{f"{self.field}__{side}": value}) | Q(**{self.field: value, f"id__{side}": place.pk})
        )

    def place(self, first: Any, pk: int) -> Place:
        return Place((first - _EPOCH) // timedelta(microseconds=1) if self.field == "created_at" else first, pk)


BY_RISK, BY_AGE = Order("risk", falls=True), Order("created_at", falls=False)
