"""Stores of any size whose every document has safe edits left, and whose history has any length.

They lie below TMPDIR, which has to be on a disk: on a memory file system an fsync costs nothing.
"""

from __future__ import annotations

import subprocess
from collections.abc import Iterator, Mapping
from functools import cache
from pathlib import Path
from random import Random
from tempfile import TemporaryDirectory

from django.contrib.auth.models import User
from django.db import transaction

from memoryreview.core.edits import Edit, Replacement
from memoryreview.core.model import FormatName
from memoryreview.review.models import (
    Agent,
    Change,
    ChangedPath,
    ChangeKind,
    Decision,
    Proposal,
    Revision,
    State,
    Store,
    Verb,
)
from memoryreview.review.operations import accounts, ledger, receive
from memoryreview.review.operations.adopt import adopt
from memoryreview.review.operations.stores import baseline_dir

from .vocabulary import fact, text_of

DOCUMENT_BYTES = 2_000
PER_FOLDER = 100
_DATES_BYTES = 750
LOOSE = TemporaryDirectory(prefix="memoryreview-bench-")
"""Where the stores and the repositories beside them lie."""


def folder(name: str) -> Path:
    """Return a folder of one bench run; it goes when the process ends."""
    return Path(LOOSE.name) / name


def person_and_agent() -> tuple[User, Agent]:
    """Return the owner of the installation and an agent of theirs; to be called before any store is made."""
    owner = User.objects.create_user("olga", password="correct horse battery", is_superuser=True)
    return owner, accounts.add_agent("claude", person=owner).agent


def documents(count: int) -> dict[str, bytes]:
    """Return 2 KB documents in folders of 100, below one folder: an edit changes three trees."""
    return {f"notes/{n // PER_FOLDER:02}/note_{n}.md": _document(n) for n in range(count)}


def _document(number: int) -> bytes:
    lines = [
        *("---", f"name: note-{number}", f"description: what we know of part {number}", "type: project", "---", ""),
        *(f"# Part {number}", ""),
        *(f"- The release of part {number} went out on {day}/{month:02}/2025." for day, month in _dates()),
        *_facts(number % PER_FOLDER),
        "",
    ]
    return "\n".join(lines).encode()


@cache
def _facts(seed: int) -> tuple[str, ...]:
    random, lines = Random(seed), [""]
    while sum(len(line.encode()) + 1 for line in lines) < DOCUMENT_BYTES - _DATES_BYTES:
        line = f"- {text_of(fact(random, 'en'))}"
        lines += [line] if "/2025" not in line else []
    return tuple(lines[1:])


def _dates() -> Iterator[tuple[int, int]]:
    return ((13 + at, 1 + at) for at in range(12))


class Memory:
    """One store of `count` documents, and the safe edits that are left in it.

    Args: history: how many commits it has seen, packed, with all of their rows.
    """

    def __init__(self, name: str, count: int, *, person: User, agent: Agent, history: int = 0) -> None:
        self.root = folder(name) / "memory"
        self.texts: dict[str, bytes] = documents(count)
        if history:
            # Adopting looks at every document closely; a large store is put together from its parts.
            self.root.mkdir(parents=True)
            self.store: Store = adopt(self.root, name=name, format=FormatName.CLAUDE).store
            self._grow(history, person, agent)
        for path, content in self.texts.items():
            (self.root / path).parent.mkdir(parents=True, exist_ok=True)
            (self.root / path).write_bytes(content)
        if not history:
            self.store = adopt(self.root, name=name, format=FormatName.CLAUDE).store
        self._edits = self._all_edits()

    def _all_edits(self) -> Iterator[tuple[str, str, str]]:
        """Yield (path, old, new) of every date that can be written the safe way, one document after the other."""
        for day, month in _dates():
            for path in self.texts:
                yield path, f"{day}/{month:02}/2025", f"2025-{month:02}-{day}"

    def next_place(self) -> tuple[str, str, str]:
        """Return (path, old, new) of a date that nothing has changed yet."""
        return next(self._edits)

    def next_request(self) -> receive.Request:
        path, old, new = self.next_place()
        return receive.Request(self.store.slug, (Edit(path, (Replacement(old, new),)),))

    def submit(self, agent: Agent, request: receive.Request) -> Proposal:
        """Send a request that must land by itself."""
        proposal = receive.submit(request, agent=agent).proposal
        if proposal is None or proposal.state != State.APPLIED:
            raise RuntimeError(f"the safe edit did not land: {proposal and (proposal.state, proposal.failure)}")
        return proposal

    def _grow(self, count: int, person: User, agent: Agent) -> None:
        """Make a commit of all documents, then commits that touch one of them each and take it back."""
        commits = list(_imported(baseline_dir(self.store), self.texts, count))
        kind, verb = ChangeKind.APPROVED, Verb.APPROVE
        with transaction.atomic():
            proposals = Proposal.objects.bulk_create(
                Proposal(store=self.store, agent=agent, state=State.APPLIED, fingerprint=oid, paths=paths, title="Move")
                for oid, _, paths in commits
            )
            Revision.objects.bulk_create(
                Revision(proposal=proposal, base=parent, submitted_base=parent, agent=agent, verdict="review")
                for proposal, (_, parent, _) in zip(proposals, commits, strict=True)
            )
            decisions = [
                ledger.record(Decision(proposal=one, store=self.store, revision=1, verb=verb, person=person))
                for one in proposals
            ]
            changes = Change.objects.bulk_create(
                Change(oid=oid, parent=parent, store=self.store, kind=kind, proposal=proposal, decision=decision,
                       agent=agent, person=person, title="Move", paths=paths)
                for proposal, decision, (oid, parent, paths) in zip(proposals, decisions, commits, strict=True)
            )  # fmt: skip
            ChangedPath.objects.bulk_create(
                ChangedPath(change=change, store=self.store, path=path) for change in changes for path in change.paths
            )


def _imported(git_dir: Path, texts: Mapping[str, bytes], count: int) -> Iterator[tuple[str, str, list[str]]]:
    """Give a baseline a history with `git fast-import`; yield (commit, parent, paths), oldest first."""
    head = _git(git_dir, "rev-parse", "refs/heads/main").decode().strip()
    marks = git_dir.parent / f"{git_dir.name}.marks"
    paths = list(texts)
    touched = [paths, *([paths[(number // 2) % len(paths)]] for number in range(count - count % 2))]
    stream = [b"feature done\n"]
    for number, changed in enumerate(touched):
        parent = head if number == 0 else f":{number}"
        stream.append(
            f"commit refs/heads/main\nmark :{number + 1}\ncommitter bench <bench@localhost> {1_700_000_000 + number} "
            f"+0000\ndata 4\nMove\nfrom {parent}\n".encode()
        )
        for path in changed:
            content = texts[path] + (b"- Seen again.\n" if number % 2 else b"")
            stream.append(b"M 100644 inline %s\ndata %d\n%s\n" % (path.encode(), len(content), content))
    _git(git_dir, "fast-import", "--quiet", f"--export-marks={marks}", content=b"".join([*stream, b"done\n"]))
    oids = dict(line.split() for line in marks.read_text().splitlines())
    marks.unlink()
    for number, changed in enumerate(touched):
        yield oids[f":{number + 1}"], oids[f":{number}"] if number else head, changed


def _git(git_dir: Path, *arguments: str, content: bytes = b"") -> bytes:
    command = ["git", f"--git-dir={git_dir}", *arguments]
    return subprocess.run(command, input=content, check=True, capture_output=True).stdout
