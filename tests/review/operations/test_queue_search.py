from __future__ import annotations

import pytest
from django.contrib.auth.models import User
from django.db import connection
from django.db.models import Value
from django.db.models.functions import Concat, Substr
from django.test import Client

from memoryreview.core.concerns import HIGH, MEDIUM
from memoryreview.core.edits import Write
from memoryreview.review.models import Agent, Proposal, SearchedProposal, Store
from memoryreview.review.operations import decide, listing, queue_search, receive
from memoryreview.review.operations.listing import Asked, Reader, Risk, View
from memoryreview.review.operations.queue_order import Place
from memoryreview.review.operations.rebuild import rebuild
from tests.conftest import MakeStore, Propose, replaced
from tests.review.operations.test_erase import do_erase

pytestmark = pytest.mark.django_db


@pytest.fixture
def store(make_store: MakeStore) -> Store:
    return make_store({"build.md": "# Build\n\nUse npm for everything.\nThe port is 5432.\n"})


def found(person: User, words: str, **asked: object) -> list[int]:
    queue_search.bring_up()
    wanted = Asked(words=words, **asked)  # type: ignore[arg-type]
    page = Reader.of(person).page_after(None, wanted, Proposal.objects.all(), rows=50)
    assert not page.is_short
    return [one.pk for one in page.proposals]


@pytest.fixture
def waiting(store: Store, propose: Propose) -> Proposal:
    return propose(
        store,
        replaced("build.md", "The port is 5432.\n", "The gateway listens on 6000.\n"),
        rationale="Straße und Tōkyō said so.",
        title="My own words for it",
    )


@pytest.mark.parametrize(
    "words",
    [
        *("gateway", "PORT is", '"port is 5432"', "build.md", "claude", "notes", "strasse", "tōkyō", "own words"),
        *("60", "gateway 60", "teway listens", "5432 6000"),
    ],
)
def test_it_is_found_by_all_that_it_says(words: str, waiting: Proposal, owner: User) -> None:
    assert found(owner, words) == [waiting.pk]


@pytest.mark.parametrize(
    "words", ["gateway%", "ga_eway", "gateway nothing", "gate* OR port", 'x"y"z', "'); --", "\0ab"]
)
def test_signs_mean_themselves(words: str, waiting: Proposal, owner: User) -> None:
    assert found(owner, words) == []


def test_a_rare_word_is_found_at_once_however_much_stands_above_it(
    waiting: Proposal, propose: Propose, store: Store, owner: User, monkeypatch: pytest.MonkeyPatch
) -> None:
    for number in range(4):
        propose(store, Write(f"n{number}.md", f"# N\n\nThe harbour of {number} is new.\n"))
    deepest = Proposal.objects.filter(is_open=True).order_by("risk", "pk")[0]
    monkeypatch.setattr(listing, "WALKED", 2)

    assert found(owner, f"harbour {deepest.paths[0]}") == [deepest.pk]


@pytest.mark.parametrize("risk", Risk)
def test_a_risk_is_found_at_once_however_much_of_others_holds_the_words(
    risk: Risk, propose: Propose, store: Store, owner: User, monkeypatch: pytest.MonkeyPatch
) -> None:
    wanted, *others = (
        propose(store, Write(f"n{number}.md", f"# N\n\nThe harbour of {number} is new.\n")).pk for number in range(7)
    )
    ranks = {Risk.HIGH: HIGH, Risk.MEDIUM: MEDIUM, Risk.LOW: MEDIUM - 1}
    Proposal.objects.filter(pk=wanted).update(risk=ranks.pop(risk))
    for rank, some in zip(ranks.values(), (others[:3], others[3:]), strict=True):
        Proposal.objects.filter(pk__in=some).update(risk=rank)
    monkeypatch.setattr(listing, "WALKED", 2)

    assert found(owner, "harbour", risk=risk) == [wanted]
    reader, asked = Reader.of(owner), Asked(words="harbour", risk=risk)
    below_all, above_all = Place(0, 0), Place(HIGH + 1, 0)
    for page in (
        reader.page_after(above_all, asked, Proposal.objects.all(), rows=50),
        reader.page_before(below_all, asked, Proposal.objects.all(), rows=50),
    ):
        assert [one.pk for one in page.proposals] == [wanted]


def test_what_was_revised_or_decided_is_found_by_what_it_says_now(
    waiting: Proposal, store: Store, owner: User, agent: Agent
) -> None:
    assert found(owner, "gateway") == [waiting.pk]
    decide.ask_for_changes(waiting.pk, person=owner, version=waiting.version, note="Say more.")
    assert found(owner, "gateway") == []
    assert found(owner, "gateway", view=View.AGENTS) == [waiting.pk]

    edit = replaced("build.md", "The port is 5432.\n", "The harbour listens on 6000.\n")
    receive.revise(waiting.pk, receive.Request(store.slug, (edit,)), agent=agent)
    assert (found(owner, "gateway"), found(owner, "harbour")) == ([], [waiting.pk])

    fresh = Proposal.objects.get(pk=waiting.pk)
    decide.reject(waiting.pk, person=owner, version=fresh.version, reason="wrong")
    assert found(owner, "harbour") == []
    assert not SearchedProposal.objects.exists()
    assert not Proposal.objects.filter(is_unsearched=True).exists()


def test_what_was_revised_and_decided_between_two_searches_is_dropped(
    waiting: Proposal, store: Store, owner: User, agent: Agent
) -> None:
    assert found(owner, "gateway") == [waiting.pk]
    edit = replaced("build.md", "The port is 5432.\n", "The harbour listens on 6000.\n")
    receive.revise(waiting.pk, receive.Request(store.slug, (edit,)), agent=agent)
    fresh = Proposal.objects.get(pk=waiting.pk)
    decide.reject(waiting.pk, person=owner, version=fresh.version, reason="wrong")

    assert found(owner, "harbour") == []
    assert not SearchedProposal.objects.exists()
    assert not Proposal.objects.filter(is_unsearched=True).exists()


def test_nobody_finds_what_they_may_not_see(
    waiting: Proposal, stranger: User, make_store: MakeStore, propose: Propose
) -> None:
    assert found(stranger, "gateway") == []
    assert Reader.of(stranger).count([Asked(words="gateway")]).fitting == [0]


def test_a_rebuild_lets_the_text_be_read_again(waiting: Proposal, store: Store, owner: User) -> None:
    assert found(owner, "gateway") == [waiting.pk]
    SearchedProposal.objects.update(text=Concat(Substr("text", 1, 4), Value("forged words")))
    assert found(owner, "forged") == [waiting.pk]

    assert rebuild(store) == []

    assert (found(owner, "forged"), found(owner, "gateway")) == ([], [waiting.pk])


@pytest.mark.skipif(connection.vendor != "sqlite", reason="PostgreSQL keeps none")
def test_half_a_character_in_a_name_stops_nothing(waiting: Proposal, owner: User) -> None:
    Proposal.objects.filter(pk=waiting.pk).update(paths=["caf\udce9.md"])

    assert found(owner, "gateway") == [waiting.pk]


def test_a_page_says_when_it_could_not_read_all(
    waiting: Proposal, store: Store, propose: Propose, owner_client: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    propose(store, Write("n.md", "# N\n\nThe harbour is new.\n"))
    monkeypatch.setattr(queue_search, "MAX_READ", 1)
    said = "Some proposals are not read for searching yet."

    first = owner_client.get("/", {"q": "gateway"}).content.decode()
    again = owner_client.get("/", {"q": "gateway"}).content.decode()
    last = owner_client.get("/", {"q": "gateway"}).content.decode()

    assert (said in first, f"row-{waiting.pk}" in first) == (True, False)
    assert f"row-{waiting.pk}" in again
    assert said not in last


def _pages() -> bytes:
    """Return all that the index of SQLite keeps, removed entries included."""
    with connection.cursor() as cursor:
        cursor.execute("SELECT block FROM review_queued_trigrams_data")
        return b"".join(bytes(row[0]) for row in cursor.fetchall())


@pytest.mark.skipif(connection.vendor != "sqlite", reason="looks at the pages of SQLite")
@pytest.mark.django_db(transaction=True, databases=["default", "queue"])
def test_an_erased_text_is_in_no_page_of_the_index(store: Store, owner: User, propose: Propose) -> None:
    secret = propose(store, Write("people.md", "# People\n\nOlga lives at Zqxjkv Street.\n"))
    assert found(owner, "zqxjkv street") == [secret.pk]
    assert b"zqx" in _pages()

    do_erase(store, owner, text="Olga lives at Zqxjkv Street")

    assert b"zqx" not in _pages()
    assert not SearchedProposal.objects.filter(text__contains="zqxjkv").exists()
    assert found(owner, "zqxjkv") == []
