"""Tidying a store: what lands, what waits, and what holds it back."""

from __future__ import annotations

from datetime import timedelta
from pathlib import Path

import pytest
from django.contrib.auth.models import User
from django.utils import timezone
from django_q.models import Schedule

from memoryreview.core.model import Kind
from memoryreview.review import tasks
from memoryreview.review.models import Agent, Change, ChangeKind, Proposal, State, Store, TidyStop, Verb
from memoryreview.review.operations import accounts, decide, rollback, tidy_stops
from memoryreview.review.operations.audit import audit
from memoryreview.review.operations.errors import CannotApplyError, NotPermittedError, StaleViewError
from memoryreview.review.operations.reconcile import reconcile
from memoryreview.review.operations.tidy import preview, tidy
from memoryreview.review.schedule import ensure_schedules
from tests.conftest import MakeStore, Propose, on_disk, replaced
from tests.review.operations.test_decide import approve
from tests.review.operations.test_reconcile import killed_at

pytestmark = pytest.mark.django_db

REPEATED = "- Staging listens on 5432.\n- Mail goes to the sink.\n- Staging listens on 5432.\n"
PLAIN = "- Staging listens on 5432.\n- Mail goes to the sink.\n"
ROW = "- [Ports](ports.md) — where things listen\n"
OTHERS = "- [Other](b.md) — more of it\n- [Rules](rules.md) — what to do\n"
SHORTER = "- Do not build the project. The user does it.\n- Do not build the project.\n"


def _rules(store: Store) -> list[str]:
    changes = Change.objects.filter(store=store, agent__name=Agent.TIDY).order_by("pk")
    return [change.certificate["rule"] for change in changes if change.certificate]


def test_a_run_makes_one_commit_per_rule_with_its_certificate(make_store: MakeStore) -> None:
    store = make_store({"MEMORY.md": ROW + ROW + OTHERS, "ports.md": REPEATED, "b.md": REPEATED, "rules.md": "R.\n"})

    done = tidy(store)

    assert [(change.kind, change.paths, change.agent and change.agent.name) for change in done.applied] == [
        (ChangeKind.AUTO, ["b.md", "ports.md"], "tidy"),
        (ChangeKind.AUTO, ["MEMORY.md"], "tidy"),
    ]
    assert _rules(store) == ["dedupe.exact", "dedupe.index"]
    assert (on_disk(store, "ports.md"), on_disk(store, "MEMORY.md")) == (PLAIN.encode(), (ROW + OTHERS).encode())
    assert [proposal.state for proposal in Proposal.objects.filter(store=store)] == [State.APPLIED, State.APPLIED]
    assert audit(store) == []


def test_a_second_run_does_nothing(make_store: MakeStore) -> None:
    store = make_store({"ports.md": REPEATED, "rules.md": SHORTER})
    tidy(store)
    changes, proposals = Change.objects.count(), Proposal.objects.count()

    done = tidy(store)

    assert (done.applied, done.suggested) == ((), ())
    assert (Change.objects.count(), Proposal.objects.count()) == (changes, proposals)


def test_a_preview_says_it_all_and_changes_nothing(make_store: MakeStore) -> None:
    store = make_store({"ports.md": REPEATED, "rules.md": SHORTER})

    found = preview(store)

    assert [(step.rule, list(step.delta)) for step in found.steps] == [(Kind.DEDUPE_EXACT, ["ports.md"])]
    assert [one.suggestion.kind for one in found.suggested] == ["shorter-form"]
    assert not Proposal.objects.exists()
    assert not Agent.objects.filter(name=Agent.TIDY).exists()
    assert on_disk(store, "ports.md") == REPEATED.encode()


def test_c079_a_suggestion_waits_and_may_be_approved(make_store: MakeStore, owner: User) -> None:
    store = make_store({"rules.md": SHORTER})

    [proposal] = tidy(store).suggested

    assert (proposal.state, proposal.kinds, proposal.deletes) == (State.PENDING, ["fact.delete"], True)
    assert proposal.rationale.startswith("Line 1 above begins with the same words")
    assert on_disk(store, "rules.md") == SHORTER.encode()
    approve(proposal, owner)
    assert on_disk(store, "rules.md") == SHORTER.splitlines(keepends=True)[0].encode()
    assert audit(store) == []


def test_a_rejected_suggestion_does_not_come_back(make_store: MakeStore, propose: Propose, owner: User) -> None:
    store = make_store({"rules.md": SHORTER + "\nText.\n"})
    [proposal] = tidy(store).suggested
    decide.reject(proposal.pk, person=owner, version=proposal.version, reason="wrong")

    approve(propose(store, replaced("rules.md", "Text.", "Other.")), owner)

    assert tidy(store).suggested == ()
    assert preview(store).suggested == ()


def test_what_an_agent_proposes_already_is_not_suggested(make_store: MakeStore, propose: Propose) -> None:
    store = make_store({"rules.md": SHORTER})
    propose(store, replaced("rules.md", " it.\n- Do not build the project.\n", " it.\n"))

    assert preview(store).suggested == ()
    assert tidy(store).suggested == ()


def test_a_suggestion_whose_reason_is_gone_is_withdrawn(make_store: MakeStore, propose: Propose, owner: User) -> None:
    store = make_store({"rules.md": SHORTER})
    [proposal] = tidy(store).suggested
    approve(propose(store, replaced("rules.md", "The user does it.", "Never.")), owner)
    approve(propose(store, replaced("rules.md", "Do not build the project. Never.", "Ask first.")), owner)

    tidy(store)

    proposal.refresh_from_db()
    assert proposal.state == State.WITHDRAWN


def test_no_more_suggestions_wait_than_allowed(make_store: MakeStore) -> None:
    store = make_store({f"{number}.md": SHORTER for number in range(30)})

    found = preview(store)
    made = tidy(store).suggested

    assert (len(found.suggested), found.withheld) == (20, 10)
    assert len(made) == 20
    assert tidy(store).suggested == ()


def test_a_direct_write_is_captured_first_and_never_mixed_in(make_store: MakeStore) -> None:
    store = make_store({"ports.md": REPEATED})
    written = REPEATED + "- A new fact.\n"
    (Path(store.root) / "ports.md").write_text(written)

    [change] = tidy(store).applied

    assert on_disk(store, "ports.md").decode() == PLAIN + "- A new fact.\n"
    assert change.title == "Remove the repeat of “Staging listens on 5432.”"
    [waiting] = Proposal.objects.filter(store=store).waiting()
    assert (waiting.is_direct, waiting.added, waiting.removed) == (True, 1, 0)
    assert audit(store) == []


def test_lines_that_a_waiting_proposal_changes_are_left_alone(
    make_store: MakeStore, propose: Propose, owner: User
) -> None:
    store = make_store({"ports.md": REPEATED, "b.md": REPEATED})
    last = "- Mail goes to the sink.\n- Staging listens on 5432.\n"
    proposal = propose(store, replaced("ports.md", last, last.replace("5432", "6432")))

    done = tidy(store)

    assert [change.paths for change in done.applied] == [["b.md"]]
    approve(proposal, owner)
    assert on_disk(store, "ports.md").decode().endswith("- Staging listens on 6432.\n")


def test_a_store_that_switched_the_rule_off_gets_a_suggestion(make_store: MakeStore) -> None:
    store = make_store({"ports.md": REPEATED})
    Store.objects.filter(pk=store.pk).update(switched_off=["dedupe.exact"])
    store.refresh_from_db()

    done = tidy(store)

    assert done.applied == ()
    [proposal] = done.suggested
    assert (proposal.state, proposal.source["finding"]) == (State.PENDING, "dedupe.exact")


def test_a_rollback_by_a_person_stops_the_rule_until_it_is_switched_on(make_store: MakeStore, owner: User) -> None:
    store = make_store({"ports.md": REPEATED, "MEMORY.md": ROW})
    [change] = tidy(store).applied
    rollback.roll_back(change, person=owner)
    (Path(store.root) / "b.md").write_text(REPEATED)
    assert tidy(store).applied == ()
    approve(Proposal.objects.direct().waiting().get(), owner)

    assert [(stop.rule, stop.sentence) for stop in preview(store).stops] == [
        (Kind.DEDUPE_EXACT, "olga rolled it back: Remove the repeat of “Staging listens on 5432.”.")
    ]
    assert tidy(store).applied == ()

    tidy_stops.resume(store, Kind.DEDUPE_EXACT, person=owner)

    assert preview(store).stops == ()
    [again] = tidy(store).applied
    assert again.paths == ["b.md"], "what was rolled back is not done again"
    assert on_disk(store, "ports.md") == REPEATED.encode()


def test_a_rollback_that_was_itself_rolled_back_stops_nothing(make_store: MakeStore, owner: User) -> None:
    store = make_store({"ports.md": REPEATED})
    [change] = tidy(store).applied
    rollback.roll_back(rollback.roll_back(change, person=owner), person=owner)

    assert preview(store).stops == ()


def test_a_late_rollback_stops_nothing_and_is_not_undone(make_store: MakeStore, owner: User) -> None:
    store = make_store({"ports.md": REPEATED})
    [change] = tidy(store).applied
    Change.objects.filter(pk=change.pk).update(at=timezone.now() - timedelta(days=40))
    rollback.roll_back(change, person=owner)

    assert preview(store).stops == ()
    assert tidy(store).applied == ()


def test_a_refusal_at_apply_time_stops_the_rule(make_store: MakeStore) -> None:
    store = make_store({"ports.md": REPEATED})
    (Path(store.root) / "ports.md").chmod(0o444)

    done = tidy(store)

    assert done.applied == ()
    assert done.stopped.endswith("Nothing was changed; give permission, then try again.")
    assert [(stop.rule, stop.sentence) for stop in preview(store).stops] == [(Kind.DEDUPE_EXACT, done.stopped)]
    [proposal] = Proposal.objects.filter(store=store)
    assert proposal.state == State.WITHDRAWN
    assert on_disk(store, "ports.md") == REPEATED.encode()


def test_a_folder_that_looks_lost_is_not_tidied(make_store: MakeStore) -> None:
    store = make_store({f"{name}.md": REPEATED for name in "abcd"})
    for name in "abc":
        (Path(store.root) / f"{name}.md").unlink()

    with pytest.raises(CannotApplyError, match="3 of 4 documents are gone"):
        tidy(store)

    assert not Change.objects.filter(agent__name=Agent.TIDY).exists()


def test_the_daily_limit_holds_without_a_person_and_not_with_one(
    make_store: MakeStore, owner: User, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(tidy_stops, "DAILY_EDITS", 2)
    store = make_store({f"{name}.md": REPEATED for name in "abcd"})

    assert [change.paths for change in tidy(store).applied] == [["a.md", "b.md"]]
    assert (tidy(store).applied, preview(store, is_asked=False).plan.postponed) == ((), 2)
    assert tidy_stops.edits_today(store) == 2
    assert [change.paths for change in tidy(store, person=owner).applied] == [["c.md", "d.md"]]


def test_a_plan_that_changed_since_it_was_shown_is_not_carried_out(make_store: MakeStore, owner: User) -> None:
    store = make_store({"ports.md": REPEATED, "b.md": REPEATED})
    shown = preview(store).shown
    (Path(store.root) / "b.md").write_text(PLAIN)

    with pytest.raises(StaleViewError):
        tidy(store, person=owner, shown=shown)

    assert _rules(store) == []
    assert tidy(store, person=owner, shown=preview(store).shown).applied != ()


def test_nobody_but_who_decides_in_a_store_tidies_it(make_store: MakeStore, stranger: User) -> None:
    store = make_store({"ports.md": REPEATED})

    for act in (
        lambda: tidy(store, person=stranger),
        lambda: tidy_stops.resume(store, Kind.DEDUPE_EXACT, person=stranger),
        lambda: tidy_stops.switch(store, on=False, person=stranger),
    ):
        with pytest.raises(NotPermittedError):
            act()
    assert not Change.objects.filter(agent__name=Agent.TIDY).exists()


def test_no_agent_may_be_called_tidy(owner: User) -> None:
    with pytest.raises(accounts.AgentNameError):
        accounts.add_agent("tidy")


def test_kill_at_each_step_of_a_run(make_store: MakeStore, monkeypatch: pytest.MonkeyPatch) -> None:
    files = {"MEMORY.md": ROW + ROW + OTHERS, "ports.md": REPEATED, "rules.md": SHORTER, "b.md": "B.\n"}
    number = 0
    while True:
        number += 1
        store = make_store(files, name=f"s{number}")
        if not killed_at(number, lambda s=store: tidy(s), monkeypatch):  # type: ignore[misc]
            break

        reconcile(store)

        assert audit(store) == []
        tidy(store)
        assert audit(store) == []
        assert _rules(store) == ["dedupe.exact", "dedupe.index"]
        assert (on_disk(store, "ports.md"), on_disk(store, "MEMORY.md")) == (PLAIN.encode(), (ROW + OTHERS).encode())
        assert Proposal.objects.filter(store=store).waiting().count() == 1
    assert number > 20


def test_the_decision_chain_names_the_agent(make_store: MakeStore) -> None:
    store = make_store({"ports.md": REPEATED})

    [change] = tidy(store).applied

    assert change.decision is not None
    assert (change.decision.verb, change.decision.agent and change.decision.agent.name) == (Verb.AUTO_APPLY, "tidy")
    assert not TidyStop.objects.exists()


def test_the_clock_tidies_the_stores_that_let_it(make_store: MakeStore, owner: User) -> None:
    store, other = (make_store({"ports.md": REPEATED}, name=name) for name in ("notes", "other"))
    lost = make_store({f"{name}.md": REPEATED for name in "abcd"}, name="lost")
    for name in "abc":
        (Path(lost.root) / f"{name}.md").unlink()
    tidy_stops.switch(other, on=False, person=owner)

    assert tasks.tidy_stores() == 1

    assert (on_disk(store, "ports.md"), on_disk(other, "ports.md")) == (PLAIN.encode(), REPEATED.encode())
    tidied_at = dict(Store.objects.values_list("slug", "tidied_at"))
    assert tidied_at["notes"] is not None
    assert (tidied_at["other"], tidied_at["lost"]) == (None, None)


@pytest.mark.django_db(databases=["default", "queue"])
def test_the_first_scheduled_run_is_a_day_away_and_a_restart_does_not_move_it() -> None:
    before = timezone.now()
    ensure_schedules()
    [first] = Schedule.objects.filter(func="memoryreview.review.tasks.tidy_stores")

    ensure_schedules()

    assert timedelta(hours=23) < first.next_run - before < timedelta(hours=25)
    assert Schedule.objects.get(name="tidy").next_run == first.next_run
