"""Erasing: afterwards the text is nowhere, everything else is as it was, and every check holds."""

from __future__ import annotations

import hashlib
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest
from django.contrib.auth.models import User
from django.contrib.sessions.backends.db import SessionStore
from django.test import Client

from memoryreview.baseline import rewrite
from memoryreview.core.edits import Delete, Edit, Replacement, Write
from memoryreview.core.erasure import EraserError
from memoryreview.core.tidy.model import key_of
from memoryreview.review.models import (
    Agent,
    Backup,
    Change,
    ChangeKind,
    Decision,
    Erasure,
    ErasureState,
    Proposal,
    RevisionDocument,
    State,
    Store,
    Verb,
)
from memoryreview.review.operations import erase, erase_rows, erasures, ledger, moved, proposals, receive, rollback
from memoryreview.review.operations.audit import audit
from memoryreview.review.operations.capture import capture
from memoryreview.review.operations.decide import reject
from memoryreview.review.operations.errors import CannotApplyError, NotPermittedError, StaleViewError
from memoryreview.review.operations.judge import judge
from memoryreview.review.operations.stores import aside_dir, baseline_dir, reading
from tests.conftest import MakeStore, Propose, on_disk, replaced
from tests.review.operations.test_decide import approve

pytestmark = pytest.mark.django_db(databases=["default", "queue"])

SECRET = "Olga lives at 12 Elm Street"
NOTE = "# People\n\n- Moved on 13/04/2025.\n- Sam likes tea.\n"


def do_erase(store: Store, person: User, *, text: str = SECRET, path: str = "", note: str = "") -> Erasure:
    seen = erase.preview(store, person=person, text=text, path=path)
    return erase.erase(store, person=person, text=text, path=path, shown=seen.shown, confirmation=store.slug, note=note)


def head(store: Store) -> str:
    with reading(store) as repository:
        return repository.head() or ""


@pytest.fixture
def store(make_store: MakeStore, propose: Propose, owner: User) -> Store:
    """A store in whose history the text came, was changed around, and went again."""
    made = make_store({"people.md": NOTE, "other.md": "Other.\n"})
    approve(propose(made, replaced("people.md", "- Sam", f"- {SECRET}.\n- Sam"), rationale=f"said {SECRET}"), owner)
    approve(propose(made, replaced("other.md", "Other", "Another")), owner)
    approve(propose(made, replaced("people.md", f"- {SECRET}.\n", "")), owner)
    return made


def traces(store: Store, text: str = SECRET) -> list[str]:
    """Where the text stands: objects, rows, disk."""
    found = []
    eraser = erase.eraser_of(text, "")
    if rewrite.still_held(baseline_dir(store), eraser):
        found.append("objects")
    seen = erase_rows.survey(store, eraser)
    found += [f"proposal {pk}" for pk in seen.proposals] + [f"decision {pk}" for pk in seen.decisions]
    found += ["rows"] if seen.others else []
    found += [
        str(path) for path in Path(store.root).rglob("*") if path.is_file() and text.encode() in path.read_bytes()
    ]
    return found


def test_a_text_is_gone_from_history_rows_and_disk(store: Store, propose: Propose, owner: User) -> None:
    waiting = propose(store, Write("new.md", f"{SECRET} still.\n"))
    (Path(store.root) / "people.md").write_text(NOTE + f"- {SECRET}\n")
    capture(store)
    assert traces(store) != []

    erasure = do_erase(store, owner, note="asked for by Olga")

    assert traces(store) == []
    assert audit(store) == []
    assert (erasure.state, erasure.documents, erasure.commits) == (ErasureState.DONE, 1, 3)
    assert on_disk(store, "people.md") == NOTE.encode() + f"- {erase.eraser_of(SECRET, '').mark}\n".encode()
    assert Proposal.objects.get(pk=waiting.pk).state == State.PENDING
    assert not aside_dir(store).exists()


def test_the_trace_says_who_when_and_why(store: Store, owner: User) -> None:
    before = Change.objects.filter(store=store).count()

    erasure = do_erase(store, owner, note="asked for by her")

    top = Change.objects.filter(store=store).order_by("-pk")[0]
    assert Change.objects.filter(store=store).count() == before + 1
    assert (top.kind, top.oid, top.person) == (ChangeKind.ERASE, head(store), owner)
    assert erasure.decision is not None
    assert (erasure.decision.verb, erasure.decision.note, erasure.decision.change) == (
        Verb.ERASE,
        "asked for by her",
        top.oid,
    )
    with reading(store) as repository:
        assert f"Decision-Id: {erasure.decision.pk}\nPerson: olga" in repository.message(top.oid)


def test_old_commit_ids_lead_to_the_new_ones(store: Store, owner: User, propose: Propose) -> None:
    old = list(Change.objects.filter(store=store).order_by("pk").values_list("oid", flat=True))

    do_erase(store, owner)

    new = list(Change.objects.filter(store=store).order_by("pk").values_list("oid", flat=True))[:-1]
    assert [moved.current(store, oid) for oid in old] == new
    assert old[0] == new[0]
    assert old[1:] != new[1:]
    proposal = propose(store, replaced("other.md", "Another", "One more"), base=old[2])
    assert proposal.state == State.PENDING


def test_ids_are_followed_through_a_second_erasure(store: Store, owner: User) -> None:
    old = Change.objects.filter(store=store).order_by("-pk")[0]
    first = old.oid
    do_erase(store, owner)
    second = Change.objects.get(pk=old.pk).oid

    do_erase(store, owner, text="Sam likes tea")

    third = Change.objects.get(pk=old.pk).oid
    assert len({first, second, third}) == 3
    assert (moved.current(store, first), moved.current(store, second)) == (third, third)
    assert audit(store) == []


def test_certificates_that_hold_stay_and_the_others_are_withdrawn(
    make_store: MakeStore, propose: Propose, owner: User
) -> None:
    store = make_store({"a.md": NOTE, "b.md": f"# B\n\n- Moved on 14/04/2025.\n- {SECRET}\n"})
    propose(store, replaced("a.md", "13/04/2025", "2025-04-13"))
    propose(store, replaced("b.md", "14/04/2025", "2025-04-14"))
    first, second = Change.objects.filter(store=store, kind=ChangeKind.AUTO).order_by("pk")
    assert first.certificate is not None

    erasure = do_erase(store, owner)

    first.refresh_from_db()
    second.refresh_from_db()
    assert first.certificate is not None
    assert "rewrites" in first.certificate
    assert second.certificate == {"erased": erasure.decision_id, "rule": "date.normalize", "digest": "erased"}
    assert erasure.withdrawn == [second.pk]
    assert audit(store) == []


def test_a_certificate_that_somebody_withdraws_by_hand_is_a_fault(
    make_store: MakeStore, propose: Propose, owner: User
) -> None:
    store = make_store({"a.md": NOTE, "b.md": f"# B\n\n- {SECRET}\n"})
    propose(store, replaced("a.md", "13/04/2025", "2025-04-13"))
    erasure = do_erase(store, owner)
    change = Change.objects.get(store=store, kind=ChangeKind.AUTO)
    assert change.certificate is not None
    forged = {"erased": erasure.decision_id, "rule": "date.normalize", "digest": change.certificate["digest"]}
    Change.objects.filter(pk=change.pk).update(certificate=forged)

    assert [fault.kind for fault in audit(store)] == ["certificate"]

    Erasure.objects.filter(pk=erasure.pk).update(withdrawn=[change.pk])

    assert [fault.kind for fault in audit(store)] == ["certificate"]


def test_a_forged_decision_stays_forged(store: Store, owner: User) -> None:
    forged = Decision.objects.filter(store=store, verb=Verb.APPROVE).order_by("pk")[0]
    Decision.objects.filter(pk=forged.pk).update(note="never said")

    do_erase(store, owner)

    assert [pk for pk, _ in ledger.broken_links()] == [forged.pk]


def test_a_note_that_holds_the_text_is_cleaned_and_the_chain_holds(
    make_store: MakeStore, propose: Propose, owner: User
) -> None:
    store = make_store({"people.md": NOTE})
    rejected = propose(store, replaced("people.md", "tea", "coffee"))
    reject(rejected.pk, person=owner, version=rejected.version, note=f"no: {SECRET}")
    other = make_store({"x.md": "x\n"}, name="other")

    erasure = do_erase(store, owner)

    mark = erase.eraser_of(SECRET, "").mark
    assert Decision.objects.get(proposal=rejected, verb=Verb.REJECT).note == f"no: {mark}"
    assert erasure.decisions == 1
    assert (audit(store), audit(other)) == ([], [])


def test_titles_that_quote_a_part_are_replaced(make_store: MakeStore, propose: Propose, owner: User) -> None:
    long = "The passphrase of the vault is correct-horse-battery-staple and nobody else knows it at all"
    store = make_store({"people.md": NOTE})
    change = approve(propose(store, replaced("people.md", "- Sam", f"- {long}\n- Sam")), owner).change
    assert change is not None
    assert "correct-horse" not in change.title or "…" in change.title

    do_erase(store, owner, text=long)

    change.refresh_from_db()
    assert change.title == erase.eraser_of(long, "").mark
    assert change.proposal is not None
    assert change.proposal.title == change.title
    assert "passphrase" not in str(change.proposal.revision.actions)
    with reading(store) as repository:
        assert "passphrase" not in repository.message(change.oid)


def test_a_whole_document_goes_from_history_and_disk(store: Store, owner: User, propose: Propose) -> None:
    waiting = propose(store, replaced("people.md", "tea", "coffee"))

    erasure = do_erase(store, owner, text="", path="people.md")

    assert not (Path(store.root) / "people.md").exists()
    assert audit(store) == []
    assert rewrite.still_held(baseline_dir(store), erase.eraser_of("Sam likes tea", "")) == 0
    assert not any(b"Sam" in (bytes(one.content or b"")) for one in RevisionDocument.objects.filter(path="people.md"))
    assert Proposal.objects.get(pk=waiting.pk).state == State.WITHDRAWN
    assert (erasure.path, on_disk(store, "other.md")) == ("people.md", b"Another.\n")
    texts = str(list(Change.objects.filter(store=store).values_list("title", "certificate")))
    assert "Sam" not in texts


def test_names_that_hold_the_text_change_everywhere(make_store: MakeStore, propose: Propose, owner: User) -> None:
    store = make_store({f"{SECRET}.md": "Hers.\n", "a.md": NOTE})
    propose(store, Edit(f"{SECRET}.md", (Replacement("Hers", "Theirs"),)))

    do_erase(store, owner)

    assert traces(store) == []
    assert [path.name for path in Path(store.root).iterdir()] != []
    assert not any(SECRET in path.name for path in Path(store.root).iterdir())
    assert audit(store) == []


def test_other_stores_keep_every_byte(store: Store, make_store: MakeStore, owner: User, propose: Propose) -> None:
    other = make_store({"a.md": f"{SECRET}\n"}, name="other")
    propose(other, replaced("a.md", "12", "14"))
    before = sorted((path, path.read_bytes()) for path in baseline_dir(other).rglob("*") if path.is_file())

    do_erase(store, owner)

    after = sorted((path, path.read_bytes()) for path in baseline_dir(other).rglob("*") if path.is_file())
    assert [one for one in after if one[0].name != "memoryreview.lock"] == [
        one for one in before if one[0].name != "memoryreview.lock"
    ]
    assert on_disk(other, "a.md") == f"{SECRET}\n".encode()
    assert audit(other) == []


def test_a_packed_store_is_erased_alike(store: Store, owner: User) -> None:
    git_dir = baseline_dir(store)
    subprocess.run(["git", f"--git-dir={git_dir}", "repack", "-a", "-d", "-q"], check=True)
    subprocess.run(["git", f"--git-dir={git_dir}", "pack-refs", "--all"], check=True)

    do_erase(store, owner)

    assert traces(store) == []
    assert audit(store) == []


def test_what_a_suggestion_was_about_cannot_be_confirmed_by_hashing_a_guess(
    store: Store, propose: Propose, owner: User
) -> None:
    tip, other = propose(store, Write("tip.md", f"{SECRET}\n")), propose(store, Write("b.md", "b\n"))
    source = {"kind": "tidy", "key": key_of("shorter-form", "tip.md", SECRET)}
    Proposal.objects.filter(pk__in=[tip.pk, other.pk]).update(source=source)

    do_erase(store, owner)

    (cleaned,) = Proposal.objects.filter(pk=tip.pk).values_list("source", flat=True)
    assert (cleaned["kind"], len(cleaned["key"])) == ("tidy", 64)
    assert cleaned["key"] != source["key"]
    assert Proposal.objects.get(pk=other.pk).source == source
    assert traces(store) == []


def test_work_goes_on_afterwards(store: Store, propose: Propose, owner: User) -> None:
    first = Change.objects.filter(store=store, kind=ChangeKind.APPROVED).order_by("pk")[1]
    do_erase(store, owner)
    first.refresh_from_db()

    change = approve(propose(store, replaced("people.md", "tea", "coffee")), owner).change
    undone = rollback.roll_back(first, person=owner)

    assert change is not None
    assert undone.kind == ChangeKind.ROLLBACK
    assert on_disk(store, "other.md") == b"Other.\n"
    assert audit(store) == []


def test_an_erasure_cannot_be_rolled_back(store: Store, owner: User) -> None:
    do_erase(store, owner)

    with pytest.raises(CannotApplyError, match="kept nowhere"):
        rollback.roll_back(Change.objects.get(kind=ChangeKind.ERASE), person=owner)


def test_preview_masks_the_text_and_counts(store: Store, propose: Propose, owner: User) -> None:
    (Path(store.root) / "people.md").write_text(NOTE + f"- x {SECRET} y\n")

    seen = erase.preview(store, person=owner, text=SECRET)

    assert SECRET not in repr(seen)
    assert (seen.commits, seen.of_commits, seen.moved) == (3, 4, 3)
    assert (seen.documents, seen.on_disk) == (("people.md",), ("people.md",))
    assert [(spot.path, spot.line, spot.text) for spot in seen.spots] == [("people.md", 5, "- x •••••• y")]


def test_lines_of_a_change_can_be_erased(store: Store, owner: User) -> None:
    change = Change.objects.filter(store=store, kind=ChangeKind.APPROVED).order_by("pk")[0]

    text = erase.lines_of(change, "people.md", 4, 4)

    assert text == f"- {SECRET}."
    do_erase(store, owner, text=text)
    assert traces(store, text) == []
    change.refresh_from_db()
    with pytest.raises(CannotApplyError, match="no such lines"):
        erase.lines_of(change, "people.md", 4, 400)


@pytest.mark.parametrize(
    ("changed", "error", "words"),
    [
        ({"confirmation": "yes"}, NotPermittedError, "type the name"),
        ({"shown": "0" * 64}, StaleViewError, "not what you previewed"),
        ({"note": f"because {SECRET}"}, NotPermittedError, "reason holds"),
        ({"note": "x" * 501}, NotPermittedError, "at most 500"),
        ({"text": "short"}, EraserError, "6 to 65,536"),
    ],
)
def test_what_is_refused_changes_nothing(
    store: Store, owner: User, changed: dict[str, str], error: type[Exception], words: str
) -> None:
    before = head(store)
    stated = {"text": SECRET, "shown": erase.token(SECRET, ""), "confirmation": store.slug, "note": ""} | changed

    with pytest.raises(error, match=words):
        erase.erase(store, person=owner, **stated)

    assert (head(store), Erasure.objects.count()) == (before, 0)


def test_only_a_maintainer_erases(store: Store, stranger: User) -> None:
    for act in (
        lambda: erase.preview(store, person=stranger, text=SECRET),
        lambda: erase.erase(store, person=stranger, text=SECRET, shown="", confirmation=""),
    ):
        with pytest.raises(NotPermittedError):
            act()


def test_what_stands_nowhere_is_not_erased(store: Store, owner: User) -> None:
    before = head(store)

    with pytest.raises(CannotApplyError, match="stands nowhere"):
        do_erase(store, owner, text="never written down")

    assert (head(store), audit(store)) == (before, [])
    assert Erasure.objects.get().state == ErasureState.DROPPED


def test_a_read_only_document_stops_it_before_anything_changed(store: Store, owner: User) -> None:
    path = Path(store.root) / "people.md"
    path.write_text(NOTE + SECRET)
    path.chmod(0o444)
    before = head(store)

    with pytest.raises(CannotApplyError, match="read-only"):
        do_erase(store, owner)

    assert head(store) == before
    assert path.read_text() == NOTE + SECRET
    assert not aside_dir(store).exists()


def test_what_a_page_was_to_tell_is_cleaned(store: Store, owner: User, owner_client: Client) -> None:
    session = SessionStore(session_key=owner_client.session.session_key)
    session["toast"] = {"sentence": f"Approved “{SECRET}”", "decision": 0, "url": ""}
    session.save()

    do_erase(store, owner)

    told = SessionStore(session_key=owner_client.session.session_key)
    assert SECRET not in str(dict(told.items()))
    assert "_auth_user_id" in told


def test_a_title_that_a_page_was_to_tell_is_gone_though_it_was_cut(
    make_store: MakeStore, propose: Propose, owner: User, owner_client: Client
) -> None:
    text = "Olga lives at 12 Elm Street beside the brewery and keeps the spare key under the third pot of basil"
    made = make_store({"people.md": f"- {text}.\n"})
    proposal = propose(made, replaced("people.md", f"- {text}.\n", ""))
    owner_client.post(f"/proposals/{proposal.pk}/reject", {"version": proposal.version})
    assert "Elm Street" in str(dict(owner_client.session.items()))

    do_erase(made, owner, text=text)

    assert "Elm Street" not in str(dict(Client(cookies=owner_client.cookies).session.items()))


def test_a_deleted_document_is_known_to_have_ended(make_store: MakeStore, propose: Propose, owner: User) -> None:
    rows = "".join(f"- [D{n}](d{n}.md) — row {n}\n" for n in range(20))
    files = {f"d{n}.md": f"Text {n}.\n" for n in range(20)} | {"MEMORY.md": rows, "gone.md": f"{SECRET}\n"}
    store = make_store({**files, "MEMORY.md": rows + "- [Gone](gone.md) — it goes\n"})
    approve(propose(store, Delete("gone.md")), owner)
    do_erase(store, owner)

    pruned = propose(store, replaced("MEMORY.md", "- [Gone](gone.md) — it goes\n", ""))

    assert (pruned.state, audit(store)) == (State.APPLIED, [])


def test_a_proposal_on_an_old_base_is_understood(store: Store, agent: object, owner: User) -> None:
    old = head(store)
    do_erase(store, owner)

    request = receive.Request(store.slug, (replaced("other.md", "Another", "Third"),), base=old)
    receipt = receive.submit(request, agent=agent)  # type: ignore[arg-type]

    assert receipt.proposal is not None
    assert audit(store) == []


def test_a_proposal_that_was_read_before_and_stored_after_stands_on_the_new_base(
    store: Store, agent: Agent, owner: User
) -> None:
    with reading(store) as repository:
        old = repository.head() or ""
        tree, delta = repository.snapshot(old), {"other.md": b"Third.\n"}
        late = proposals.Draft(store, old, tree, delta, judge(store, tree, delta), proposals.Submission(), agent=agent)
        do_erase(store, owner)
        made = proposals.store_proposal(late)

    assert (made.revision.base, made.revision.submitted_base) == (moved.current(store, old), moved.current(store, old))
    assert made.revision.base != old
    assert approve(made, owner).change is not None
    assert (on_disk(store, "other.md"), audit(store)) == (b"Third.\n", [])


def test_backups_that_we_made_go_and_others_are_named(store: Store, owner: User, tmp_path: Path) -> None:
    kept, moved_away, changed = (tmp_path / f"{name}.zip" for name in ("kept", "moved", "changed"))
    for path in (kept, moved_away, changed):
        path.write_bytes(b"all of it")
        digest = hashlib.sha256(path.read_bytes()).hexdigest()
        Backup.objects.create(path=str(path), sha256=digest, size_bytes=9)
    moved_away.rename(tmp_path / "elsewhere.zip")
    changed.write_bytes(b"something else")
    assert erase.preview(store, person=owner, text=SECRET).backups == (str(kept), str(moved_away), str(changed))

    erasure = do_erase(store, owner)

    assert not kept.exists()
    assert changed.read_bytes() == b"something else"
    assert [("moved.zip" in one, "changed.zip" in one) for one in erasure.left] == [(True, False), (False, True)]
    assert Backup.objects.count() == 0


@pytest.mark.parametrize(("pushed", "holds"), [("a" * 40, "still holds"), ("", "may hold")])
def test_a_remote_that_holds_the_old_history_is_named(store: Store, owner: User, pushed: str, holds: str) -> None:
    Store.objects.filter(pk=store.pk).update(push_to="/srv/copy.git", pushed=pushed)

    erasure = do_erase(Store.objects.get(pk=store.pk), owner)

    assert [one.partition(":")[0] for one in erasure.left] == [f"“/srv/copy.git” {holds} the old history"]
    assert Store.objects.get(pk=store.pk).push_to == "/srv/copy.git"


def test_other_stores_that_hold_a_copy_are_named(make_store: MakeStore, propose: Propose, owner: User) -> None:
    made = make_store({"people.md": f"- {SECRET}.\n"})
    team_store = make_store({"t.md": "# Team\n"}, name="shared", team=True)
    make_store({"copy.md": f"{SECRET}\n"}, name="copied")
    approve(propose(made, receive.Promote("people.md", "shared")), owner)
    rewritten = propose(team_store, Write("people.md", "- Nobody.\n"))
    approve(rewritten, owner)
    seen = erase.preview(made, person=owner, text=SECRET)

    erasure = do_erase(made, owner)

    assert erasure.left == list(seen.elsewhere)
    assert [one.partition(".")[0] for one in erasure.left] == [
        "It was promoted to “shared”",
        "It stands in “copied” as well",
    ]


def test_private_memory_of_somebody_else_is_not_told(
    make_store: MakeStore, propose: Propose, owner: User, second: User, join: Callable[..., object]
) -> None:
    made = make_store({"people.md": f"- {SECRET}.\n- Never shared at all.\n"}, name="diary")
    team_store = make_store({"t.md": "# Team\n\n- Never shared at all.\n"}, name="shared", team=True)
    join(team_store, second)
    approve(propose(made, receive.Promote("people.md", "shared")), second)

    assert erase.preview(team_store, person=second, text="Team\n\n- Never").elsewhere == ()
    [came] = erase.preview(team_store, person=second, text=SECRET).elsewhere
    assert "diary" not in came
    assert "private memory of olga" in came


def test_other_names_of_a_document_are_named(make_store: MakeStore, propose: Propose, owner: User) -> None:
    text = f"# A\n\n- {SECRET}.\n- More that stays the same.\n"
    made = make_store({"old.md": text, "z.md": "z\n"})
    approve(propose(made, Write("new.md", text), Delete("old.md")), owner)

    erasure = do_erase(made, owner, text="", path="new.md")

    assert ["“old.md”" in one for one in erasure.left] == [True]
    assert ["“new.md”" in one for one in do_erase(made, owner, text="", path="old.md").left] == [True]
    assert traces(made) == []


def test_a_row_that_calls_an_erasure_unfinished_signs_and_removes_nothing(store: Store, owner: User) -> None:
    erasure = do_erase(store, owner)
    assert erasure.decision is not None
    change = Change.objects.filter(store=store).order_by("pk")[1]
    Erasure.objects.filter(pk=erasure.pk).update(state=ErasureState.IN_FORCE, withdrawn=[change.pk])
    Change.objects.filter(pk=change.pk).update(certificate={"erased": erasure.decision.pk, "rule": "", "digest": ""})
    aside_dir(store).mkdir()
    before = sorted(baseline_dir(store).rglob("objects/pack/*"))

    with pytest.raises(CannotApplyError, match="the old one stays"):
        capture(store)

    assert sorted(baseline_dir(store).rglob("objects/pack/*")) == before
    erasures._replay(Erasure.objects.get(pk=erasure.pk))
    aside_dir(store).rmdir()
    assert any("not what its decision names" in fault.message for fault in audit(store))
