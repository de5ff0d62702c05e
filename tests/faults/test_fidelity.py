"""Bytes beside an edit are nobody's business: every kind of file through every operation, compared byte by byte."""

from __future__ import annotations

import stat
from pathlib import Path

import pytest
from django.contrib.auth.models import User

from memoryreview.review.models import Store
from memoryreview.review.operations import restore, rollback
from memoryreview.review.operations.audit import audit
from memoryreview.review.operations.capture import capture
from memoryreview.review.operations.stores import baseline_dir
from memoryreview.review.operations.tidy import tidy
from tests.baseline.git_checks import documents_by_git
from tests.conftest import MakeStore, Propose, replaced
from tests.review.operations.test_decide import approve

LINE, EDITED = "- Staging listens on 5432.", "- Staging listens on 6432."
KINDS = {
    "crlf.md": f"# A\r\n\r\n{LINE}\r\n- Rest.\r\n",
    "mixed.md": f"# A\r\n\n{LINE}\n- Rest.\r\n",
    "bom.md": f"\ufeff# A\n\n{LINE}\n",
    "open.md": f"# A\n\n{LINE}\n- Rest.",
    "caf\u00e9.md": f"{LINE}\n",
    "cafe\u0301-nfd.md": f"{LINE}\n",
    "a & b + c # d % e [f].md": f"{LINE}\n- Rest.\n",
    "-rf.md": f"{LINE}\n- Rest.\n",
    "long.md": f"- {'x' * 200_000}\n{LINE}\n",
    "odd.md": f"- \u2028 \x0c \x85 \x1b \ufffe\n{LINE}\n",
    "deep/er/still.md": f"{LINE}\n\n\n- Rest.  \n",
}
MODES = {"crlf.md": 0o600, "open.md": 0o755, "bom.md": 0o640}


def _folder(store: Store) -> dict[str, tuple[bytes, int]]:
    root = Path(store.root)
    return {
        str(path.relative_to(root)): (path.read_bytes(), stat.S_IMODE(path.stat().st_mode))
        for path in sorted(root.rglob("*"))
        if path.is_file()
    }


@pytest.fixture
def store(make_store: MakeStore, tmp_path: Path) -> Store:
    root = tmp_path / "memory" / "notes"
    root.mkdir(parents=True)
    (root / "inside.md").symlink_to("open.md")
    (root / "outside.md").symlink_to("/etc/hostname")
    for path, mode in MODES.items():
        (root / path).write_bytes(b"")
        (root / path).chmod(mode)
    return make_store({**KINDS, "empty.md": "", "other.bin": b"\0\xff"})


@pytest.mark.parametrize("path", KINDS)
def test_edit_and_rollback_change_their_line_and_no_other_byte(
    store: Store, propose: Propose, owner: User, path: str
) -> None:
    before = _folder(store)

    change = approve(propose(store, replaced(path, LINE, EDITED)), owner).change

    assert change is not None
    content, mode = before[path]
    edited = content.replace(LINE.encode(), EDITED.encode())
    after = {**before, path: (edited, mode)}
    if path == "open.md":
        after["inside.md"] = after["open.md"]
    assert _folder(store) == after
    rollback.roll_back(change, person=owner)
    assert _folder(store) == before
    assert audit(store) == []


def test_adopt_capture_tidy_and_restore_change_no_byte_of_theirs(store: Store, propose: Propose, owner: User) -> None:
    before = _folder(store)
    first = store.changes.get().oid
    assert capture(store) == []
    tidied = tidy(store)
    assert [change.paths for change in tidied.applied if set(change.paths) & {"long.md", "-rf.md"}] == []
    approve(propose(store, *(replaced(path, LINE, EDITED) for path in KINDS)), owner)

    restore.restore(store, to=first, person=owner, shown=restore.plan(store, first).shown)

    assert _folder(store) == before
    assert capture(store) == []
    head = store.changes.order_by("-pk")[0].oid
    kept = documents_by_git(baseline_dir(store), head)
    assert kept == {path: before[path][0] for path in (*KINDS, "empty.md")}
