from __future__ import annotations

import threading
from pathlib import Path
from typing import Any

import pytest
from django.conf import settings
from django.contrib.auth.models import User
from django.db import IntegrityError, connection

from memoryreview.core.classify import reasons
from memoryreview.core.model import SAFE_KINDS, Kind
from memoryreview.review.models import Decision, Role, Store, Verb
from memoryreview.review.operations import configure
from memoryreview.review.operations.audit import audit
from memoryreview.review.operations.configure import ConfirmationError, SettingError, Settings, current
from memoryreview.review.operations.errors import NotPermittedError, StaleViewError
from memoryreview.review.operations.stores import locked
from tests.conftest import MakeStore, Propose, replaced

NOTE = "- Moved on 13/04/2025.\n- Port 5432.\n"


@pytest.fixture
def store(make_store: MakeStore) -> Store:
    return make_store({"a.md": NOTE})


def put(store: Store, person: User, *, confirmed: bool = True, **wanted: Any) -> Decision | None:
    return configure.configure(
        store, person=person, shown=current(store).shown(), wanted=Settings(**wanted), confirmed=confirmed
    )


def test_rule_that_is_switched_off_sends_its_edits_to_review(store: Store, propose: Propose, owner: User) -> None:
    put(store, owner, switched_off=frozenset({Kind.DATE_NORMALIZE}), confirmed=False)

    proposal = propose(store, replaced("a.md", "13/04/2025", "2025-04-13"))

    assert (proposal.state, current(store).switched_off) == ("pending", frozenset({Kind.DATE_NORMALIZE}))
    assert reasons.SWITCHED_OFF in proposal.revision.actions[0]["reasons"]


def test_what_is_set_is_recorded_in_the_chain(store: Store, owner: User) -> None:
    made = put(store, owner, index_row_chars=150, passive=True)

    assert made is not None
    assert (made.verb, made.person, made.note) == (
        Verb.CONFIGURE,
        owner,
        "Index rows of more than 150 characters may be shortened. New facts land unread.",
    )
    assert put(store, owner, index_row_chars=150, passive=True) is None
    assert Decision.objects.filter(verb=Verb.CONFIGURE).count() == 1
    assert audit() == []


def test_laxer_setting_needs_confirmation_and_a_stricter_one_does_not(
    store: Store, owner: User, tmp_path: Path
) -> None:
    strict: dict[str, Any] = {
        "switched_off": frozenset(SAFE_KINDS),
        "index_row_chars": 300,
        "evidence_root": str(tmp_path / "code"),
    }
    (tmp_path / "code").mkdir()
    put(store, owner, confirmed=False, **strict)

    for change, sentence in (
        ({"switched_off": SAFE_KINDS - {Kind.META_STAMP}}, "Edits of the rule meta.stamp land by proof."),
        ({"index_row_chars": 299}, "Index rows of more than 299 characters may be shortened."),
        ({"evidence_root": ""}, "Evidence is not looked up."),
        ({"passive": True}, "New facts land unread."),
    ):
        with pytest.raises(ConfirmationError) as refused:
            put(store, owner, confirmed=False, **(strict | change))
        assert refused.value.sentences == (sentence,)
    assert current(store) == Settings(**strict)


@pytest.mark.parametrize("chars", [0, 119, 401])
def test_row_length_out_of_bounds_is_refused(store: Store, owner: User, chars: int) -> None:
    with pytest.raises(SettingError, match="between 120 and 400"):
        put(store, owner, index_row_chars=chars)
    with pytest.raises(IntegrityError, match="store_index_row_chars"):
        Store.objects.filter(pk=store.pk).update(index_row_chars=chars)


def test_review_kind_is_no_rule(store: Store, owner: User) -> None:
    with pytest.raises(SettingError, match="Only rules"):
        put(store, owner, switched_off=frozenset({Kind.FACT_ADD}))


def test_team_store_is_set_by_its_maintainers_and_never_passive(
    make_store: MakeStore, owner: User, second: User, stranger: User, join: Any, tmp_path: Path
) -> None:
    store = make_store({"a.md": NOTE}, team=True)
    join(store, second)
    join(store, stranger, Role.MEMBER)
    off = frozenset({Kind.INDEX_TRIM})

    assert put(store, second, switched_off=off)
    with pytest.raises(NotPermittedError):
        put(store, stranger)
    with pytest.raises(SettingError, match="read by a person first"):
        put(store, owner, passive=True)
    with pytest.raises(NotPermittedError, match="Only the owner of this installation"):
        put(store, second, switched_off=off, evidence_root=str(tmp_path))
    assert current(store) == Settings(switched_off=off)


@pytest.mark.parametrize(
    ("root", "sentence"),
    [
        ("code", "full path"),
        ("/no/such/folder", "full path"),
        ("~nobody-of-that-name/code", "full path"),
        ("x\0y", "full path"),
        ("/" + "x" * 2000, "full path"),
        ("/", "too much"),
        ("~", "too much"),
        ("HOME", "no evidence"),
        ("HOME/baselines", "no evidence"),
        ("STORE", "no evidence for a memory"),
        ("STORE/deep", "no evidence for a memory"),
    ],
)
def test_folder_that_cannot_be_evidence_is_refused(store: Store, owner: User, root: str, sentence: str) -> None:
    (Path(store.root) / "deep").mkdir()
    named = root.replace("HOME", str(settings.HOME)).replace("STORE", store.root)

    with pytest.raises(SettingError, match=sentence):
        put(store, owner, evidence_root=named)
    assert current(store).evidence_root == ""


def test_folder_is_kept_by_its_real_path(store: Store, owner: User, tmp_path: Path) -> None:
    (tmp_path / "code").mkdir()
    (tmp_path / "link").symlink_to(tmp_path / "code")

    put(store, owner, evidence_root=f" {tmp_path / 'link'}/ ")

    assert current(store).evidence_root == str(tmp_path / "code")


def test_second_person_does_not_overwrite_the_first(store: Store, owner: User) -> None:
    seen = current(store).shown()
    put(store, owner, index_row_chars=150)

    with pytest.raises(StaleViewError):
        configure.configure(store, person=owner, shown=seen, wanted=Settings(passive=True), confirmed=True)
    assert current(store) == Settings(index_row_chars=150)


@pytest.mark.django_db(transaction=True)
def test_setting_waits_for_a_change_that_is_landing(make_store: MakeStore, owner: User) -> None:
    store = make_store({"a.md": NOTE})
    seen = current(store).shown()
    done = threading.Event()

    def switch_off() -> None:
        configure.configure(store, person=owner, shown=seen, wanted=Settings(index_row_chars=300))
        done.set()
        connection.close()

    other = threading.Thread(target=switch_off)
    with locked(store):
        other.start()
        assert not done.wait(0.3)
        assert current(store).index_row_chars == 200
    other.join(300)

    assert (done.is_set(), current(store).index_row_chars) == (True, 300)
