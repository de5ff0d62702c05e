"""Rules that the database keeps by itself."""

from __future__ import annotations

from enum import StrEnum

from django.db import models
from django.db.models import Q


def one_of(field: str, values: type[StrEnum], name: str) -> models.CheckConstraint:
    return models.CheckConstraint(condition=Q(**{f"{field}__in": [str(value) for value in values]}), name=name)
