"""What the baseline knows of a store up to one commit. Rows say where to look; what is told is read from git."""

from __future__ import annotations

import hashlib
from collections import defaultdict
from collections.abc import Collection, Mapping
from datetime import date, tzinfo

from django.db.models import Max

from memoryreview.baseline.message import trailers
from memoryreview.baseline.repository import BaselineError, Snapshot
from memoryreview.core.classify.questions import Questions
from memoryreview.core.formats.base import is_document
from memoryreview.core.frontmatter import Frontmatter, read
from memoryreview.core.model import Ended, History, Limits
from memoryreview.core.text import split_lines
from memoryreview.review.models import Change, ChangedPath, ChangeKind, Store

MAX_RENAMES = 16
"""Names of one document that are followed."""

MAX_CHANGES = 200
"""Changes of one document that are walked to find the first day of its lines."""

MAX_BYTES = 16 * 1024 * 1024
"""Text that is read for all first days of one question."""

_BY_A_PERSON = frozenset({ChangeKind.APPROVED, ChangeKind.PROMOTE, ChangeKind.ROLLBACK, ChangeKind.RESTORE})


def history(store: Store, at: Snapshot, asked: Questions, zone: tzinfo) -> History:
    """Return what the changes up to the commit `at` say of the documents and lines asked for, days as in `zone`.

    What is not sure is left out: an unrecorded commit, rows that do not fit git, a baseline that cannot be read. Cost
    follows the questions, not the length of the history.
    """
    until = Change.objects.filter(store=store, oid=at.oid).values_list("pk", flat=True).first() if asked else None
    if until is None:
        return History()
    past = _Past(store, at, until, zone)
    began = past.began() if asked.is_dated else None
    return History(ended=past.ended(asked.paths), first_approved=past.first_approved(asked.lines), began=began)


class _Past:
    def __init__(self, store: Store, at: Snapshot, until: int, zone: tzinfo) -> None:
        self._store, self._at, self._until, self._zone = store, at, until, zone
        self._bytes_left = MAX_BYTES

    def ended(self, paths: Collection[str]) -> dict[str, Ended]:
        """Return how the documents went that a person let go; a document that came back has not ended."""
        found: dict[str, Ended] = {}
        asked = {path for path in paths if path not in self._at}
        for _ in range(MAX_RENAMES):
            for path, change in self._last_changes(asked).items():
                try:
                    ended = self._end(path, change)
                except BaselineError:
                    continue
                if ended is not None:
                    found[path] = ended
            asked = {one.renamed_to for path, one in found.items() if path in asked and one.renamed_to} - {*found}
            asked = {path for path in asked if path not in self._at}
            if not asked:
                break
        return found

    def _last_changes(self, paths: Collection[str]) -> dict[str, Change]:
        if not paths:
            return {}
        rows = ChangedPath.objects.filter(store=self._store, path__in=paths, change__lte=self._until)
        newest = dict(rows.values_list("path").annotate(Max("change")).order_by())
        changes = Change.objects.in_bulk(list(newest.values()))
        return {path: changes[pk] for path, pk in newest.items()}

    def _end(self, path: str, change: Change) -> Ended | None:
        after = self._at.repository.snapshot(change.oid)
        before = _parent(after)
        gone = before.entry(path) if before is not None else None
        if before is None or gone is None or after.entry(path) is not None or not _is_by_a_person(change, after):
            return None
        places = [p for p in change.paths if (e := after.entry(p)) and e.oid == gone.oid and before.entry(p) is None]
        if len(places) > 1:
            return None  # it went on in two places: neither a rename nor a deletion
        content = before[path]
        return Ended(
            path=path,
            name=_name(path, content),
            digest=hashlib.sha256(content).hexdigest(),
            renamed_to=places[0] if places else "",
        )

    def began(self) -> date | None:
        """Return the day of the store's first commit."""
        oids = (
            Change.objects.filter(store=self._store, pk__lte=self._until).order_by("pk").values_list("oid", flat=True)
        )
        first = oids.first()
        try:
            return None if first is None else self._at.repository.commit(first).at.astimezone(self._zone).date()
        except BaselineError:
            return None

    def first_approved(self, lines: Collection[tuple[str, bytes]]) -> dict[tuple[str, bytes], date]:
        """Return the first days of lines; adopting a folder is the first day of what stood in it."""
        by_path: dict[str, set[bytes]] = defaultdict(set)
        for path, body in lines:
            by_path[path].add(body)
        found: dict[tuple[str, bytes], date] = {}
        for path, wanted in by_path.items():
            try:
                found |= {(path, body): day for body, day in self._first_days(path, wanted).items()}
            except BaselineError:
                continue
        return found

    def _first_days(self, path: str, wanted: Collection[bytes]) -> dict[bytes, date]:
        """Walk the changes of one document backwards, under its earlier names as well."""
        found: dict[bytes, date] = {}
        newer = self._at.entry(path)
        left = {body for body in wanted if newer is not None and body in self._bodies(self._at, path)}
        until = self._until
        walked = 0
        while left:
            rows = ChangedPath.objects.filter(store=self._store, path=path, change__lte=until).order_by("-change_id")
            newest = rows.values_list("change_id", "change__oid").first()
            walked += 1
            if newest is None or walked > MAX_CHANGES or self._bytes_left < 0:
                break
            change, oid = newest
            after = self._at.repository.snapshot(oid)
            if after.entry(path) != newer:
                break  # a change between them is not recorded
            before = _parent(after)
            earlier = path if before is not None and path in before else _earlier_name(path, before, after)
            known = self._bodies(before, earlier) if before is not None and earlier else frozenset()
            first = {body for body in left if body not in known}
            day = after.repository.commit(after.oid).at.astimezone(self._zone).date()
            found |= dict.fromkeys(first, day)
            left -= first
            if before is None or not earlier:
                break
            path, newer, until = earlier, before.entry(earlier), change - 1
        return found

    def _bodies(self, snapshot: Snapshot, path: str) -> Collection[bytes]:
        content = snapshot[path]
        self._bytes_left -= len(content)
        return frozenset(line.body for line in split_lines(content))


def _parent(snapshot: Snapshot) -> Snapshot | None:
    parents = snapshot.repository.commit(snapshot.oid).parents
    return snapshot.repository.snapshot(parents[0]) if parents else None


def _is_by_a_person(change: Change, after: Snapshot) -> bool:
    """Whether record and commit both name the person who approved it."""
    stated: Mapping[str, str] = trailers(after.repository.message(after.oid))
    return (
        change.kind in _BY_A_PERSON
        and change.person_id is not None
        and stated.get("Change-Kind") == change.kind
        and bool(stated.get("Person"))
    )


def _earlier_name(path: str, before: Snapshot | None, after: Snapshot) -> str:
    """Return the name that a document had before a change, "" when it was new."""
    entry = after.entry(path)
    if before is None or entry is None:
        return ""
    names = [gone for gone, was in before.gone_in(after) if was.oid == entry.oid]
    return names[0] if len(names) == 1 else ""


def _name(path: str, content: bytes) -> str:
    if not is_document(path) or len(content) > Limits().file_bytes:
        return ""
    head = read(content)
    return head.name if isinstance(head, Frontmatter) else ""
