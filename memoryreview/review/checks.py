"""System checks: settings that would make the product lie or lose work."""

from __future__ import annotations

from typing import Any

from django.conf import settings
from django.core.checks import CheckMessage, Error, register


@register
def queue_times(app_configs: Any, **kwargs: Any) -> list[CheckMessage]:
    """A task that may run longer than its retry time would run twice."""
    cluster = settings.Q_CLUSTER
    if cluster["retry"] > cluster["timeout"]:
        return []
    return [Error("Q_CLUSTER retry must exceed timeout, else a task runs twice.", id="memoryreview.E001")]


@register
def hosts(app_configs: Any, **kwargs: Any) -> list[CheckMessage]:
    if settings.ALLOWED_HOSTS and "*" not in settings.ALLOWED_HOSTS:
        return []
    return [
        Error("ALLOWED_HOSTS must name each host; a wildcard lets any page reach your memory.", id="memoryreview.E002")
    ]
