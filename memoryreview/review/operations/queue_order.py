"""The orders of the queue, and places in them."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Any

from django.db.models import DateTimeField, Q

from memoryreview.review.prepared import Slot, number

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

    def beyond(self, *, is_backwards: bool) -> Q:
        """Keep what comes behind the row of a place, see `values`.

        The first bound is implied by the second; it lets the index do the work.
        """
        side = "lt" if self.falls != is_backwards else "gt"
        first = Slot("first", DateTimeField()) if self._is_by_time else number("first")
        return Q(**{f"{self.field}__{side}e": first}) & (
            Q(**{f"{self.field}__{side}": first}) | Q(**{self.field: first, f"id__{side}": number("pk")})
        )

    def values(self, place: Place) -> dict[str, Any]:
        """Return a place as values for the slots of `beyond`."""
        first = _EPOCH + timedelta(microseconds=place.first) if self._is_by_time else place.first
        return {"first": first, "pk": place.pk}

    def place(self, first: Any, pk: int) -> Place:
        return Place((first - _EPOCH) // timedelta(microseconds=1) if self._is_by_time else first, pk)

    @property
    def _is_by_time(self) -> bool:
        return self.field == "created_at"


BY_RISK, BY_AGE = Order("risk", falls=True), Order("created_at", falls=False)
