"""What pages cost after 300 changes is what they cost after 30: counted in queries and in objects read from git."""

from __future__ import annotations

import pytest
from django.contrib.auth.models import User
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext

from memoryreview.baseline.objects import ObjectStore
from memoryreview.baseline.repository import Repository
from memoryreview.review.models import Change, Store
from memoryreview.review.operations import accounts, blame
from memoryreview.review.operations.stores import baseline_dir
from tests.bench import history_size
from tests.bench.history_size import BUSY, grown, texts, undurable
from tests.conftest import MakeStore

PAGES = (
    "/history/?store={slug}",
    "/history/?store={slug}&kind=rollback&agent=codex&person=olga&until=2024-01-01",
    "/history/?store={slug}&path={busy}",
    "/history/?store={slug}&path={busy}&entry=9",
    "/stores/{slug}/{busy}",
    "/stores/{slug}/{busy}?view=blame&line=9",
    "/stores/{slug}/{busy}?at={old}",
    "/changes/{new}",
    "/stores/{slug}/",
)


@pytest.fixture
def stores(make_store: MakeStore, owner: User, monkeypatch: pytest.MonkeyPatch) -> list[Store]:
    monkeypatch.setattr(history_size, "EARLY", 10)  # the newest change is of one kind in both
    agents = [accounts.add_agent(name, person=owner).agent for name in ("claude", "codex")]
    made = []
    for count in (30, 300):
        store = make_store(texts(), name=f"after-{count}")
        with undurable(), Repository(baseline_dir(store)) as repository:
            grown(repository, store, owner, agents, count)
        made.append(store)
    return made


def test_pages_of_a_long_history_read_no_more_than_those_of_a_short_one(
    owner_client: Client, stores: list[Store], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(blame, "MAX_VERSIONS", 20)
    read: list[str] = []
    find = ObjectStore.find

    def counted_find(self: ObjectStore, oid: str) -> tuple[bytes, bytes] | None:
        read.append(oid)
        return find(self, oid)

    monkeypatch.setattr(ObjectStore, "find", counted_find)

    def cost(page: str, store: Store) -> tuple[int, int]:
        oids = list(Change.objects.filter(store=store).order_by("pk").values_list("oid", flat=True))
        address = page.format(slug=store.slug, busy=BUSY, new=oids[-1], old=oids[20])
        owner_client.get(address)
        read.clear()
        with CaptureQueriesContext(connection) as counted:
            assert owner_client.get(address).status_code == 200
        return len(counted), len(read)

    costs = {page: [cost(page, store) for store in stores] for page in PAGES}

    assert {page: found for page, found in costs.items() if found[0] != found[1]} == {}
    assert all(objects == 0 for page, ((_, objects), _) in costs.items() if "entry" not in page and "/history/" in page)
