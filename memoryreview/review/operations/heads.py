"""The states that a store had: found by commit id, compared with each other, and carried away as they were."""

from __future__ import annotations

import re
import zipfile
from datetime import UTC, datetime
from typing import IO

from memoryreview.baseline.repository import Repository
from memoryreview.review.models import Change, Store

from . import moved
from .errors import CannotApplyError, NotFoundError
from .horizon import out_of_reach
from .stores import reading

_SHORT_ID = re.compile(r"[0-9a-f]{7,40}")
_MODE = 0o100644 << 16
_UNIX = 3
_ZIP_BEGINS = datetime(1980, 1, 1, tzinfo=UTC)
"""The format knows no earlier time."""


def head_named(store: Store, named: str) -> Change:
    """Return the change that made a head; `named` is its commit id, the first 7 characters at least, or one of before
    an erasure. Raises: NotFoundError when no commit, or more than one, has it."""
    oid = named.strip().lower()
    if not _SHORT_ID.fullmatch(oid):
        raise NotFoundError("commit", named)
    alike = Change.objects.filter(store=store, oid__startswith=moved.current(store, oid)).select_related("store")
    found = list(alike.order_by("pk")[:2])
    if len(found) != 1:
        raise NotFoundError("commit", named)
    return found[0]


def differing(old: Change, new: Change) -> tuple[str, ...]:
    """Return the documents that differ between two heads of one store. Raises: CannotApplyError as `read` does."""
    with reading(old.store) as repository:
        _check(repository, old, new)
        return repository.snapshot(old.oid).differing(repository.snapshot(new.oid))


def _check(repository: Repository, *heads: Change) -> None:
    """Raises CannotApplyError when the baseline does not hold one of the heads any more."""
    gone = next((sentence for head in heads if (sentence := out_of_reach(head, repository))), "")
    if gone:
        raise CannotApplyError(gone)


def write_zip(head: Change, file: IO[bytes]) -> None:
    """Write the documents of a head as a zip: by path, as of the commit's time, stored as they are, so that the bytes
    are always the same. Raises: CannotApplyError when the baseline cannot be read, or does not hold the head any more.
    """
    with reading(head.store) as repository, zipfile.ZipFile(file, "w", zipfile.ZIP_STORED) as archive:
        _check(repository, head)
        tree = repository.snapshot(head.oid)
        at = max(_ZIP_BEGINS, repository.commit(head.oid).at.astimezone(UTC))
        for path in sorted(tree):
            member = zipfile.ZipInfo(path, (at.year, at.month, at.day, at.hour, at.minute, at.second))
            member.create_system, member.external_attr = _UNIX, _MODE
            archive.writestr(member, tree[path])
