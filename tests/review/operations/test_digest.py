from __future__ import annotations

import json
import time
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from django.contrib.auth.models import User
from django.db import IntegrityError, transaction
from django.utils import timezone
from django_q.models import Schedule
from pytest_django import Settings

from memoryreview.connect.deliver import TargetError
from memoryreview.core.edits import Write
from memoryreview.core.signing import decoded_secret
from memoryreview.review import tasks
from memoryreview.review.api.signature import SignatureHeaders, check
from memoryreview.review.models import Digest, Endpoint, Message, Proposal, Store
from memoryreview.review.operations import digest, notify
from memoryreview.review.operations.errors import NotPermittedError
from memoryreview.review.schedule import ensure_schedules
from tests.conftest import MakeStore, Propose, replaced
from tests.receiver import Receiver, receiver

NOTE = "- Port 5432 since 13/04/2025.\n- Keep it.\n"
SECRET_WORDS = "the words of a memory"


@pytest.fixture(autouse=True)
def home(settings: Settings, tmp_path: Path) -> Path:
    settings.DIGEST_HOUR, settings.HOME = 0, tmp_path / "home"
    settings.HOME.mkdir()
    return tmp_path / "home"


@pytest.fixture
def store(make_store: MakeStore) -> Store:
    return make_store({"a.md": NOTE})


@pytest.fixture
def busy(store: Store, propose: Propose) -> list[Proposal]:
    """Two proposals that wait, one of them a deletion, and one that landed by proof."""
    propose(store, replaced("a.md", "13/04/2025", "2025-04-13"))
    return [
        propose(store, Write("b.md", f"- {SECRET_WORDS}.\n")),
        propose(store, replaced("a.md", "- Keep it.\n", "")),
    ]


@pytest.fixture
def hook(owner: User, settings: Settings) -> Iterator[Receiver]:
    with receiver(500, 204) as one:
        settings.WEBHOOK_LOOPBACK = frozenset({one.named})
        notify.set_webhook(owner, one.url)
        yield one


def test_digest_counts_what_waits_landed_and_failed(owner: User, busy: list[Proposal], stranger: User) -> None:
    Proposal.objects.filter(pk=busy[0].pk).update(failure="The disk is full.")

    told = digest.told_now(owner, timezone.now())

    [row] = told.stores
    assert (row.slug, told.waiting, row.applied, row.failed) == ("notes", 2, 1, 1)
    assert (told.oldest, told.failed) == (busy[0].created_at, 1)
    assert digest.told_now(stranger, timezone.now()).stores == ()
    assert digest.Told.of(json.loads(json.dumps(told.as_json()))) == told


def test_there_is_one_a_day_for_each_person(owner: User, stranger: User, busy: list[Proposal]) -> None:
    now = datetime(2026, 11, 30, 9, tzinfo=UTC)

    assert digest.make_due(now) == 2
    assert digest.make_due(now + timedelta(hours=3)) == 0
    with pytest.raises(IntegrityError), transaction.atomic():
        Digest.objects.create(person=owner, day=now.date())
    assert digest.make_due(now + timedelta(days=1)) == 2


def test_what_landed_is_told_once(owner: User, busy: list[Proposal]) -> None:
    now = timezone.now()
    assert digest.told_now(owner, now).applied == 1

    digest.make(owner, now)

    assert digest.told_now(owner, now + timedelta(hours=1)).applied == 0


def test_digest_waits_for_its_hour_where_the_machine_is(owner: User, settings: Settings) -> None:
    settings.DIGEST_HOUR, settings.MACHINE_ZONE = 8, "Asia/Tokyo"

    assert digest.make_due(datetime(2026, 11, 29, 22, 59, tzinfo=UTC)) == 0
    assert digest.make_due(datetime(2026, 11, 29, 23, 1, tzinfo=UTC)) == 1
    assert Digest.objects.get().day.isoformat() == "2026-11-30"


def test_file_tells_the_same_without_a_word_of_memory(owner: User, busy: list[Proposal], home: Path) -> None:
    made = digest.make(owner, timezone.now())

    assert made is not None
    file = Path(made.path)
    assert file.parent == home / "digests"
    assert (file.stat().st_mode & 0o777, file.parent.stat().st_mode & 0o777) == (0o600, 0o700)
    text = file.read_text()
    assert "2 waiting, 1 applied by proof, 0 failed." in text
    assert "| notes |" in text
    assert SECRET_WORDS not in text
    assert busy[0].title not in text


def test_files_are_kept_for_as_many_days_as_the_setting_says(
    owner: User, busy: list[Proposal], home: Path, settings: Settings
) -> None:
    settings.DIGEST_DAYS = 2
    days = [datetime(2026, 11, day, 9, tzinfo=UTC) for day in (27, 28, 29, 30)]
    for day in days:
        digest.make(owner, day)
    folder = home / "digests"
    of_nobody, own = folder / "2026-11-01-gone-7.md", folder / "2026-11-01.md"
    for file in (of_nobody, own):
        file.write_text("Mine.\n")

    assert digest.forget_files(days[-1]) == 3

    kept = Digest.objects.order_by("day").values_list("day", "path")
    assert [(day.day, bool(path)) for day, path in kept] == [(27, False), (28, False), (29, True), (30, True)]
    assert {str(file) for file in folder.iterdir()} == {str(own), *(path for _, path in kept if path)}
    assert digest.forget_files(days[-1]) == 0


def test_a_file_that_cannot_be_removed_leaves_the_others_to_be_removed(
    owner: User, busy: list[Proposal], home: Path, settings: Settings
) -> None:
    settings.DIGEST_DAYS = 1
    now = datetime(2026, 11, 30, 9, tzinfo=UTC)
    digest.make(owner, now - timedelta(days=2))
    (home / "digests" / "2026-11-01-folder-7.md").mkdir()

    assert digest.forget_files(now) == 1
    assert digest.forget_files(now.replace(year=2025)) == 0


def test_no_file_when_switched_off_or_when_there_is_nothing_to_tell(owner: User, second: User, store: Store) -> None:
    quiet = digest.make(owner, timezone.now())
    Endpoint.objects.create(person=second, writes_file=False)
    Store.objects.update(owner=second, alarm="lost")
    loud = digest.make(second, timezone.now())

    assert quiet is not None
    assert loud is not None
    assert (quiet.path, loud.path, loud.told["stores"][0]["is_paused"]) == ("", "", True)


def test_file_that_cannot_be_written_is_told(owner: User, busy: list[Proposal], home: Path) -> None:
    (home / "digests").write_text("in the way")

    made = digest.make(owner, timezone.now())

    assert made is not None
    assert "cannot be written" in made.fault


def test_message_is_signed_thin_and_tried_again(owner: User, busy: list[Proposal], hook: Receiver) -> None:
    now = timezone.now()
    digest.make(owner, now)

    assert notify.send_due(now + timedelta(seconds=1)) == 0
    failed = Message.objects.get()
    assert (failed.attempts, failed.fault) == (1, "It answered with status 500.")
    assert notify.send_due(now + timedelta(seconds=30)) == 0
    assert notify.send_due(now + timedelta(seconds=90)) == 1

    first, second = hook.came
    assert first[1]["webhook-id"] == second[1]["webhook-id"] == str(failed.pk)
    key = decoded_secret(Endpoint.objects.get(person=owner).secret)
    assert key is not None
    headers, body = second[1:]
    stated = SignatureHeaders(headers["webhook-id"], headers["webhook-timestamp"], headers["webhook-signature"])
    check(stated, body, keys=[key], now_s=time.time())
    sent = json.loads(body)
    assert sent["type"] == "digest.ready"
    assert set(sent["data"]) == {"day", "waiting", "applied", "failed", "url"}
    arrived = Message.objects.get()
    assert (arrived.attempts, arrived.fault, arrived.due_at) == (2, "", None)
    assert notify.send_due(now + timedelta(days=1)) == 0


def test_message_is_given_up_after_three_days(owner: User, busy: list[Proposal], hook: Receiver) -> None:
    hook.statuses[:] = [503]
    now = timezone.now()
    digest.make(owner, now)

    for hour in range(24 * 8):
        notify.send_due(now + timedelta(hours=hour, seconds=1))

    message = Message.objects.get()
    assert (message.due_at, message.arrived_at, message.fault) == (None, None, "It answered with status 503.")
    assert len(hook.came) == message.attempts == len(notify.PAUSES) + 1
    assert timedelta(days=3) <= sum(notify.PAUSES, timedelta()) < timedelta(days=4)
    notify.redeliver(message)
    assert notify.send_due(now + timedelta(days=9)) == 0
    assert len(hook.came) == message.attempts + 1


def test_receiver_that_is_gone_is_asked_once(owner: User, busy: list[Proposal], hook: Receiver) -> None:
    hook.statuses[:] = [410]
    digest.make(owner, timezone.now())

    notify.send_due(timezone.now() + timedelta(seconds=1))
    notify.send_due(timezone.now() + timedelta(days=1))

    assert len(hook.came) == 1


def test_attempt_that_another_worker_took_is_left_to_it(owner: User, busy: list[Proposal], hook: Receiver) -> None:
    digest.make(owner, timezone.now())
    seen = Message.objects.select_related("person__endpoint").get()
    notify.send_due(timezone.now() + timedelta(seconds=1))

    assert not notify._send(seen, timezone.now())  # what a second worker holds
    assert len(hook.came) == 1


def test_new_address_has_a_new_secret_and_drops_what_waited(owner: User, busy: list[Proposal], hook: Receiver) -> None:
    digest.make(owner, timezone.now())
    before = Endpoint.objects.get(person=owner).secret

    after = notify.set_webhook(owner, "https://example.org/hook")

    assert after not in ("", before)
    assert notify.send_due(timezone.now() + timedelta(minutes=1)) == 0
    assert hook.came == []
    assert notify.set_webhook(owner, " ") == Endpoint.objects.get(person=owner).secret == ""


def test_only_the_owner_names_an_address_and_a_bad_one_is_not_kept(owner: User, second: User, hook: Receiver) -> None:
    with pytest.raises(NotPermittedError):
        notify.set_webhook(second, "https://example.org/hook")
    with pytest.raises(TargetError):
        notify.set_webhook(owner, "http://192.168.1.1/hook")

    assert [one.url for one in Endpoint.objects.all()] == [hook.url]


@pytest.mark.django_db(databases=["default", "queue"])
def test_the_clock_makes_and_sends_them(owner: User, busy: list[Proposal], hook: Receiver) -> None:
    ensure_schedules()

    for name in ("digest", "notify"):
        function = Schedule.objects.get(name=name).func.rpartition(".")[2]
        getattr(tasks, function)()

    assert Digest.objects.filter(person=owner).count() == 1
    assert len(hook.came) == 1
