from __future__ import annotations

from datetime import timedelta
from pathlib import Path

from django.conf import settings
from django.utils import timezone

from memoryreview.core.edits import Delete, Write
from memoryreview.review.models import Proposal, State
from memoryreview.review.operations.capture import capture
from memoryreview.review.operations.expire import expire
from tests.conftest import MakeStore, Propose


def test_old_proposals_expire_and_direct_writes_never(make_store: MakeStore, propose: Propose) -> None:
    store = make_store({"a.md": "a\n", "b.md": "b\n"})
    old, young = propose(store, Delete("a.md")), propose(store, Write("c.md", "c\n"))
    (Path(store.root) / "b.md").write_text("changed\n")
    direct = capture(store)[0]
    long_ago = timezone.now() - timedelta(days=settings.EXPIRE_DAYS, seconds=1)
    Proposal.objects.filter(pk__in=[old.pk, direct.pk]).update(updated_at=long_ago)

    assert expire() == 1

    states = dict(Proposal.objects.values_list("pk", "state"))
    assert states == {old.pk: State.EXPIRED, young.pk: State.PENDING, direct.pk: State.PENDING}
