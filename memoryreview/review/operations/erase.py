"""Take a text, or a document, out of the whole history of a store. No agent credential or command reaches this."""

from __future__ import annotations

import mmap
import re
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from django.conf import settings
from django.contrib.auth.models import User
from django.db import transaction
from django.utils import timezone

from memoryreview.baseline import rewrite, steps
from memoryreview.baseline.errors import BaselineError
from memoryreview.baseline.lost import set_aside_before
from memoryreview.baseline.message import compose
from memoryreview.baseline.rewalk import Walked
from memoryreview.baseline.worktree import WorktreeError
from memoryreview.core.erasure import Eraser
from memoryreview.core.names import shown as shown_name
from memoryreview.review.models import (
    Backup,
    Change,
    ChangedPath,
    ChangeKind,
    Decision,
    Erasure,
    ErasureState,
    Store,
    Verb,
)

from . import erase_rows, erasures, ledger, moved
from .audit_history import unproved
from .capture import holds_secret
from .elsewhere import elsewhere
from .errors import BusyError, CannotApplyError, NotPermittedError, StaleViewError
from .forget import forget
from .keyed import keyed_digest
from .permissions import require_maintainer
from .reconcile import reconcile_within
from .stores import Workshop, aside_dir, baseline_dir, locked, packing, reading, worktree_of

PACKING_WAIT_S = 30.0
MAX_NOTE_CHARS = 500
_SPOTS_SHOWN = 20
_DISK_TRIES = 3


@dataclass(frozen=True, slots=True)
class Spot:
    """One place where the text stands now, masked. `line` is 1-based."""

    path: str
    line: int
    text: str


@dataclass(frozen=True, slots=True)
class Preview:
    """What erasing would do. Nothing in it holds the text.

    Args:
        shown: keyed digest of what was asked for; the form carries it instead of the text.
        mark: what would stand in place of the text.
        commits: how many hold it, of `of_commits`. moved: how many get another id.
        documents: in which it ever stood, by their names afterwards. on_disk: in which it stands in the folder.
        backups: files that we made and that go as well, since they hold the old history.
        elsewhere: sentences about where it stays, as another store that it was promoted to.
    """

    shown: str
    mark: str
    commits: int
    of_commits: int
    moved: int
    documents: tuple[str, ...]
    on_disk: tuple[str, ...]
    spots: tuple[Spot, ...]
    proposals: int
    decisions: int
    others: int
    backups: tuple[str, ...]
    elsewhere: tuple[str, ...]

    @property
    def is_empty(self) -> bool:
        return not (self.commits or self.on_disk or self.proposals or self.decisions or self.others)


def lines_of(change: Change, path: str, first: int, last: int) -> str:
    """Return the text of some lines of a document as a change left it. Raises CannotApplyError when there are none."""
    with reading(change.store) as repository:
        content = repository.snapshot(change.oid).get(path)
    lines = (content or b"").split(b"\n")
    if content is None or not 1 <= first <= last <= len(lines):
        raise CannotApplyError("There are no such lines in that document. Nothing was changed; choose them again.")
    try:
        return b"\n".join(lines[first - 1 : last]).decode("utf-8")
    except UnicodeDecodeError as error:
        raise CannotApplyError("These lines are no UTF-8. Nothing was changed; erase the whole document.") from error


def eraser_of(text: str, path: str) -> Eraser:
    """Return what finds a text or a document. Raises EraserError."""
    return Eraser(timezone.now().date(), text="" if path else text, path=path)


def token(text: str, path: str) -> str:
    """Return the keyed digest of what was asked for."""
    return keyed_digest(f"{path}\0{'' if path else text.strip()}".encode("utf-8", "surrogatepass"))


def preview(store: Store, *, person: User, text: str = "", path: str = "") -> Preview:
    """Say where a text stands, and what erasing it would do. Writes nothing.

    Raises: NotPermittedError; EraserError for a text that cannot be searched for; CannotApplyError.
    """
    require_maintainer(person, store)
    eraser = eraser_of(text, path)
    with reading(store) as repository:
        walked = rewrite.survey(repository, eraser)
    found = erase_rows.survey(store, eraser)
    try:
        documents = worktree_of(store).scan().documents
    except WorktreeError as error:
        raise CannotApplyError(str(error)) from error
    on_disk = {one: content for one, content in documents.items() if erasures.on_disk(eraser, one, content) is not None}
    spots = [Spot(eraser.place(one), *spot) for one, content in on_disk.items() for spot in eraser.spots(content)]
    return Preview(
        shown=token(text, path),
        mark=eraser.mark,
        commits=walked.commits,
        of_commits=len(walked.moved),
        moved=_moved(walked),
        documents=tuple(sorted(eraser.place(one) for one in walked.paths)),
        on_disk=tuple(sorted(eraser.place(one) for one in on_disk)),
        spots=tuple(spots[:_SPOTS_SHOWN]),
        proposals=len(found.proposals),
        decisions=len(found.decisions),
        others=found.others,
        backups=tuple(Backup.objects.order_by("pk").values_list("path", flat=True)),
        elsewhere=elsewhere(store, eraser, person=person),
    )


def _moved(walked: Walked) -> int:
    return sum(1 for old, new in walked.moved.items() if old != new)


def erase(
    store: Store, *, person: User, shown: str, confirmation: str, text: str = "", path: str = "", note: str = ""
) -> Erasure:
    """Erase what the person previewed. Effects in order, while nobody else writes to the store:

    1. Write the whole history anew beside the old one, prove it, and stage what is to stand on disk.
    2. Take the text out of logs, sessions and ended tasks.
    3. In one transaction take it out of every row, let rows name the new commits, and record what was done.
    4. Move the branch, remove the old history, replace the documents, let the database forget.

    A kill before the end of 3 changes nothing of history, rows and folder; after it the next lock of the store carries
    on. The text itself is kept nowhere at any time.

    Args: shown: the preview's token. confirmation: the store's name as typed.
    Raises: NotPermittedError; EraserError; StaleViewError when it is not what was previewed; CannotApplyError;
        BusyError.
    """
    require_maintainer(person, store)
    eraser = eraser_of(text, path)
    _check_words(store, eraser, shown=shown, given=token(text, path), confirmation=confirmation, note=note)
    try:
        with packing(store, wait_s=PACKING_WAIT_S) as fd:
            if fd is None:
                raise BusyError(store.slug)
            with locked(store) as shop:
                reconcile_within(shop)
                erasures.tidy_up(store)
                return _erase(shop, eraser, person, note)
    except BaselineError as error:
        raise CannotApplyError(str(error)) from error


def _check_words(store: Store, eraser: Eraser, *, shown: str, given: str, confirmation: str, note: str) -> None:
    if shown != given:
        raise StaleViewError("That is not what you previewed. Nothing was changed; preview it again.")
    if confirmation.strip() != store.slug:
        raise NotPermittedError(f"To confirm, type the name of the store: {store.slug}. Nothing was changed.")
    if len(note) > MAX_NOTE_CHARS:
        raise NotPermittedError(f"Give a reason of at most {MAX_NOTE_CHARS} characters. Nothing was changed.")
    if eraser.title(note) != note or holds_secret(note):
        raise NotPermittedError("The reason holds a part of what is to go. Nothing was changed; word it otherwise.")


def _erase(shop: Workshop, eraser: Eraser, person: User, note: str) -> Erasure:
    store = shop.store
    erasure = Erasure.objects.create(store=store, person=person, path=eraser.path, note=note)
    steps.on_step("erasure.begun")
    try:
        walked = _prepare(shop, eraser, erasure)
    except (BaselineError, WorktreeError, OSError, CannotApplyError) as error:
        erasures.drop(erasure)
        if isinstance(error, OSError):
            raise CannotApplyError(
                f"The new history cannot be written: {error.strerror}. Nothing was changed; make room or give "
                "permission, then try again."
            ) from error
        raise CannotApplyError(str(error)) from error
    erasure.refresh_from_db()
    erasures.finish(erasure)
    with transaction.atomic():
        is_late = erase_rows.clean_late(store, eraser, walked)
    if is_late:
        Erasure.objects.filter(pk=erasure.pk).update(forgotten=forget())
    left = _look_again(store, eraser)
    erasure.refresh_from_db()
    if left:
        erasure.left = [*erasure.left, *left]
        erasure.save(update_fields=["left"])
    return erasure


def _prepare(shop: Workshop, eraser: Eraser, erasure: Erasure) -> Walked:
    """Everything up to the transaction that puts the erasure in force, and that too."""
    store, aside, git_dir = shop.store, aside_dir(shop.store), baseline_dir(shop.store)
    walked = rewrite.build(shop.repository, aside, eraser)
    staged = erasures.stage(aside, shop.worktree(), eraser)
    found = erase_rows.survey(store, eraser)
    left = [*_out_of_reach(store, eraser), *elsewhere(store, eraser, person=erasure.person)]
    is_nowhere = not (walked.commits or staged or found.proposals or found.decisions or found.others)
    if is_nowhere and not rewrite.still_held(git_dir, eraser):
        raise CannotApplyError("It stands nowhere in this store, so there is nothing to erase. Nothing was changed.")
    going = {old for old, new in walked.moved.items() if old != new}
    erasure.doubted = [change.pk for change in unproved(store, going)]
    erasure.decision = ledger.record_now(
        Decision(store=store, verb=Verb.ERASE, person=erasure.person, note=erasure.note)
    )
    erasure.save(update_fields=["doubted", "decision"])
    title = _title(eraser, walked)
    head = rewrite.seal(aside, eraser, walked, message=_message(title, erasure, walked), at=timezone.now())
    rewrite.bring_in(aside, git_dir)
    scrub_logs(eraser)
    erase_rows.clean_sessions(eraser)
    erase_rows.clean_views(eraser)
    erase_rows.clean_queue(eraser)
    with transaction.atomic():
        _put_in_force(store, eraser, walked, erasure, head=head, title=title, left=left)
    steps.on_step("erasure.recorded")
    return walked


def _title(eraser: Eraser, walked: Walked) -> str:
    what = f"the document {shown_name(eraser.path)}" if eraser.path else "a text"
    return f"Erase {what} from {walked.commits} commit{'' if walked.commits == 1 else 's'}"


def _message(title: str, erasure: Erasure, walked: Walked) -> str:
    body = f"{_moved(walked)} of {len(walked.moved)} commits have another id since. What was erased is kept nowhere."
    trailers = {
        "Change-Kind": str(ChangeKind.ERASE),
        "Decision-Id": str(erasure.decision_id),
        "Person": erasure.person.get_username(),
        "Verdict": "reviewed",
    }
    return compose(title, body, trailers)


def _put_in_force(
    store: Store, eraser: Eraser, walked: Walked, erasure: Erasure, *, head: str, title: str, left: Sequence[str]
) -> None:
    found, withdrawn = erase_rows.clean(store, eraser, walked, erasure, head=head)
    moved.note(store, walked.moved)
    paths = sorted(eraser.place(path) for path in walked.at_head if path != eraser.path)
    change = Change.objects.create(
        oid=head,
        parent=walked.head,
        store=store,
        kind=ChangeKind.ERASE,
        decision=erasure.decision,
        person=erasure.person,
        title=title[:300],
        paths=paths,
    )
    ChangedPath.objects.bulk_create(ChangedPath(change=change, store=store, path=path) for path in paths)
    Erasure.objects.filter(pk=erasure.pk).update(
        state=ErasureState.IN_FORCE,
        head=head,
        commits=walked.commits,
        documents=len(walked.paths),
        proposals=len(found.proposals),
        decisions=len(found.decisions),
        moved=_moved(walked),
        withdrawn=withdrawn,
        left=list(left),
    )


def _out_of_reach(store: Store, eraser: Eraser) -> list[str]:
    left = []
    if eraser.holds(store.root.encode("utf-8", "surrogateescape")):
        left.append("The text is a part of the name of the memory folder itself; rename the folder and adopt it anew.")
    left += [
        f"“{shown_name(str(path))}” was moved aside when a new baseline began. It may hold the text; remove it."
        for path in set_aside_before(baseline_dir(store))
    ]
    if store.push_to:
        was_pushed = "still holds the old history: it was pushed there"
        holds = was_pushed if store.pushed else "may hold the old history: the baseline is to be pushed there"
        left.append(
            f"“{shown_name(store.push_to)}” {holds}, and memoryreview never forces a push. Delete that repository, or "
            "force the new history onto it yourself."
        )
    return left


def _look_again(store: Store, eraser: Eraser) -> Sequence[str]:
    """Clean what an agent wrote to the folder while its history was being written anew."""
    held: list[str] = []
    for _ in range(_DISK_TRIES):
        held = []
        try:
            worktree = worktree_of(store)
            for path, content in worktree.scan().documents.items():
                change = erasures.on_disk(eraser, path, content)
                if change is not None and not erasures.put(worktree, path, content, *change):
                    held.append(eraser.place(path))
        except WorktreeError as error:
            return [f"{error} The text may still stand in the folder: erase again when it is back."]
        if not held:
            break
    return [f"“{shown_name(path)}” could not be cleaned on disk; erase again." for path in held]


def scrub_logs(eraser: Eraser) -> None:
    """Overwrite the text in log files where it stands, without moving a byte: other processes go on writing to them."""
    pattern = eraser.logged()
    if pattern is None:
        return
    for path in sorted(Path(settings.HOME).glob("*.log*")):
        with suppress(FileNotFoundError):  # rotated away a moment ago; it has its next name in the list then
            _scrub(path, pattern)


def _scrub(path: Path, pattern: re.Pattern[bytes]) -> None:
    if path.is_symlink() or not path.is_file() or path.stat().st_size == 0:
        return
    with path.open("r+b") as file, mmap.mmap(file.fileno(), 0) as content:
        for found in [match.span() for match in pattern.finditer(content)]:
            content[found[0] : found[1]] = b"*" * (found[1] - found[0])
        content.flush()
