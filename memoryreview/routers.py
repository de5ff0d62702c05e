"""The task queue's tables live in their own database file, so that its polling never locks proposals."""

from __future__ import annotations

from typing import Any

from django.db.models import Model

QUEUE_APP = "django_q"


class QueueRouter:
    def db_for_read(self, model: type[Model], **hints: Any) -> str | None:
        return "queue" if model._meta.app_label == QUEUE_APP else None  # noqa: SLF001  # Django's documented access

    def db_for_write(self, model: type[Model], **hints: Any) -> str | None:
        return self.db_for_read(model)

    def allow_migrate(self, db: str, app_label: str, **hints: Any) -> bool | None:
        return (db == "queue") == (app_label == QUEUE_APP)
