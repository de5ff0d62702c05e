"""What every command shares: a ready data folder, JSON output, one sentence for a refusal."""

from __future__ import annotations

import fcntl
import json
import shutil
from argparse import ArgumentParser
from pathlib import Path
from typing import Any

from django.conf import settings
from django.core.management.base import BaseCommand
from django.db import DatabaseError, connections
from django.db.migrations.executor import MigrationExecutor
from django.utils.translation import gettext_noop as _

from memoryreview.core.errors import MemoryReviewError
from memoryreview.database import NOTHING_CHANGED, DatabaseUnusableError, unusable
from memoryreview.review.models import Proposal, Store
from memoryreview.review.operations.hostlock import Space, host_lock
from memoryreview.routers import QUEUE_APP

MIGRATING_WAIT_S = 60.0


def migrate() -> None:
    """Bring both databases up to date, one process at a time. Quick when they are.

    Raises: DatabaseUnusableError; RefusedCommandError when the data folder refuses.
    """
    try:
        with (Path(settings.HOME) / "migrate.lock").open("a") as handle:
            fcntl.flock(handle, fcntl.LOCK_EX)
            for alias in settings.DATABASES:
                _migrate(alias)
    except OSError as error:
        raise RefusedCommandError(
            f"The data folder {settings.HOME} cannot be written: {error.strerror}. Nothing was changed; make room or "
            "give permission, then try again."
        ) from error


def _migrate(alias: str) -> None:
    name = f"“{connections[alias].settings_dict['NAME']}”"
    try:
        with host_lock(Space.MIGRATING, timeout_s=MIGRATING_WAIT_S) as is_ours:
            if not is_ours:
                raise RefusedCommandError(
                    "Another host is bringing the database up to date. Nothing was changed; try again in a moment."
                )
            _bring_up_to_date(alias, name)
    except DatabaseError as error:
        fault = unusable(error, name=name, kept=NOTHING_CHANGED)
        if fault is None:
            raise
        raise fault from error


def _bring_up_to_date(alias: str, name: str) -> None:
    executor = MigrationExecutor(connections[alias])
    known = executor.loader.disk_migrations.keys()
    newer = sorted(made for app, made in executor.loader.applied_migrations.keys() - known if app == "review")
    if newer:
        raise DatabaseUnusableError(
            f"The database {name} was made by a newer memoryreview ({newer[-1]}). Nothing was changed; install "
            "that version again, or restore a backup of this one."
        )
    ours = [node for node in executor.loader.graph.leaf_nodes() if _lives_in(alias, app=node[0])]
    if executor.migration_plan(ours):
        executor.migrate(ours)


def _lives_in(alias: str, *, app: str) -> bool:
    return (app == QUEUE_APP) == (alias == "queue")


class RefusedCommandError(MemoryReviewError):
    """The command cannot do what was asked; `cli.main` prints the sentence and exits with 1."""


class MemoryCommand(BaseCommand):
    """A command on the data folder, which it brings up to date first."""

    requires_system_checks: list[str] = []  # noqa: RUF012  # Django's own type; checks run in CI and at `up`

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("--json", action="store_true", help=_("print JSON for programs"))

    def execute(self, *args: Any, **options: Any) -> str | None:
        if shutil.which("git") is None:
            raise RefusedCommandError(
                "git is not installed. Nothing was changed; install it (Debian: apt-get install git)."
            )
        migrate()
        return super().execute(*args, **options)

    def print_json(self, value: object) -> None:
        self.stdout.write(json.dumps(value, ensure_ascii=False, indent=2))


def proposal_json(proposal: Proposal) -> dict[str, Any]:
    """Return what `queue --json` and `show --json` say alike about a proposal."""
    return {
        "id": proposal.pk,
        "state": proposal.state,
        "store": proposal.store.slug,
        "agent": proposal.agent.name if proposal.agent else None,
        "title": proposal.title,
        "kinds": proposal.kinds,
        "created": proposal.created_at.isoformat(),
    }


def store_named(slug: str) -> Store:
    """Return a store by its name. Raises RefusedCommandError that lists the names there are."""
    store = Store.objects.filter(slug=slug).first()
    if store is None:
        names = (
            ", ".join(Store.objects.order_by("slug").values_list("slug", flat=True)) or "none yet; adopt a folder first"
        )
        raise RefusedCommandError(f"There is no store “{slug}”. Stores: {names}.")
    return store
