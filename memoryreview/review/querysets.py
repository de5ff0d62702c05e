"""Access rules and common selections. A view fetches through these and nowhere else."""

from __future__ import annotations

from typing import TYPE_CHECKING

from django.contrib.auth.models import AbstractBaseUser, AnonymousUser
from django.db import models
from django.db.models import Q

if TYPE_CHECKING:
    from .models import Agent, Change, Proposal, Store  # noqa: F401

OPEN = ("pending", "quarantined")


def _reachable(person: AbstractBaseUser | AnonymousUser, prefix: str = "") -> Q:
    """Stores a person may see: their own private ones and those of their teams."""
    if not person.is_authenticated:
        return Q(pk__in=[])
    return Q(**{f"{prefix}scope": "private", f"{prefix}owner_id": person.pk}) | Q(
        **{f"{prefix}scope": "team", f"{prefix}team__memberships__person_id": person.pk}
    )


class StoreQuerySet(models.QuerySet["Store"]):
    def visible_to(self, person: AbstractBaseUser | AnonymousUser) -> StoreQuerySet:
        return self.filter(_reachable(person)).distinct()


class AgentQuerySet(models.QuerySet["Agent"]):
    def active(self) -> AgentQuerySet:
        return self.filter(revoked_at__isnull=True)


class ProposalQuerySet(models.QuerySet["Proposal"]):
    def visible_to(self, person: AbstractBaseUser | AnonymousUser) -> ProposalQuerySet:
        from .models import Store

        return self.filter(store__in=Store.objects.visible_to(person).values("pk"))

    def waiting(self) -> ProposalQuerySet:
        return self.filter(state__in=OPEN)

    def in_queue_order(self) -> ProposalQuerySet:
        return self.order_by("-risk", "-id")


class ChangeQuerySet(models.QuerySet["Change"]):
    def visible_to(self, person: AbstractBaseUser | AnonymousUser) -> ChangeQuerySet:
        from .models import Store

        return self.filter(store__in=Store.objects.visible_to(person).values("pk"))

    def newest_first(self) -> ChangeQuerySet:
        return self.order_by("-id")
