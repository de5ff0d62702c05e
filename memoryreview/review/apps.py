from __future__ import annotations

from django.apps import AppConfig


class ReviewConfig(AppConfig):
    name = "memoryreview.review"
    label = "review"

    def ready(self) -> None:
        from . import checks  # noqa: F401  # registers the system checks
