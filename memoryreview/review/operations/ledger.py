"""Decisions: append-only, chained and keyed, so that a row forged in the database is found."""

from __future__ import annotations

import hashlib
import hmac
import json
from collections.abc import Callable, Iterator, Sequence

from django.conf import settings
from django.db import connection, transaction

from memoryreview.review.models import Decision

GENESIS = "0" * 64
_POSTGRES_LOCK = 7_265_118  # arbitrary; one writer of the chain at a time


def _mac(decision: Decision) -> str:
    record = [
        decision.previous,
        decision.proposal_id,
        decision.store_id,
        decision.revision,
        decision.change,
        decision.verb,
        decision.person_id,
        decision.agent_id,
        decision.reason,
        decision.note,
        decision.shown,
        decision.carried_over,
        decision.sole_person,
        decision.at.isoformat(),
    ]
    if decision.batch:  # a later column: older rows keep their key
        record.append(decision.batch)
    message = json.dumps(record, ensure_ascii=True, separators=(",", ":")).encode()
    return hmac.new(settings.DECISION_KEY.encode(), message, hashlib.sha256).hexdigest()


def _one_at_a_time() -> None:
    if connection.vendor == "postgresql":
        with connection.cursor() as cursor:
            cursor.execute("SELECT pg_advisory_xact_lock(%s)", [_POSTGRES_LOCK])


def record(decision: Decision) -> Decision:
    """Append a decision to the chain and save it. Call inside the transaction that makes the transition."""
    record_all([decision])
    return decision


def record_all(decisions: Sequence[Decision]) -> None:
    """Append several decisions to the chain, in this order, as `record` does."""
    _one_at_a_time()
    last = Decision.objects.order_by("-pk").values_list("mac", flat=True).first() or GENESIS
    for decision in decisions:
        decision.previous = last
        decision.mac = last = _mac(decision)
    Decision.objects.bulk_create(decisions)


def broken_links() -> Iterator[tuple[int, str]]:
    """Yield (decision id, sentence) for every row that was forged, changed or lost its neighbour."""
    previous = GENESIS
    for decision in Decision.objects.order_by("pk").iterator():
        if decision.previous != previous:
            yield decision.pk, "the decision before it is missing or was changed"
        if not hmac.compare_digest(decision.mac, _mac(decision)):
            yield decision.pk, "its content does not match its key"
        previous = decision.mac


def rekey(mend: Callable[[Decision], bool]) -> None:
    """Change decisions and key the chain anew from the first that changed.

    `mend` alters the fields of a decision in place and says whether it did. A row that was forged, or lost its
    neighbour, before stays broken: it is never given a valid key. Call inside a transaction.
    """
    _one_at_a_time()
    old = new = GENESIS
    fresh: list[Decision] = []
    for decision in Decision.objects.order_by("pk").iterator():
        is_genuine = hmac.compare_digest(decision.mac, _mac(decision))
        is_linked, before = decision.previous == old, (decision.previous, decision.mac)
        has_changed = mend(decision)
        old = decision.mac
        if is_linked:
            decision.previous = new
        if is_genuine:
            decision.mac = _mac(decision)
        new = decision.mac
        if has_changed or before != (decision.previous, decision.mac):
            fresh.append(decision)
    Decision.objects.bulk_update(fresh, ["change", "note", "shown", "previous", "mac"], batch_size=200)


def record_now(decision: Decision) -> Decision:
    """Append a decision in a transaction of its own, before the commit that names it."""
    with transaction.atomic():
        return record(decision)
