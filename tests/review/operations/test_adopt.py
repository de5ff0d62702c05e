from __future__ import annotations

import errno
import os
from pathlib import Path

import pytest
from django.conf import settings
from django.contrib.auth.models import User

from memoryreview.core.model import FormatName, Scope
from memoryreview.review.models import Change, ChangeKind, Store
from memoryreview.review.operations.adopt import AdoptError, adopt
from memoryreview.review.operations.errors import RefusedChangeError
from memoryreview.review.operations.promote import promote
from memoryreview.review.operations.stores import baseline_dir, reading
from tests.conftest import MakeStore

INDEX = "# Memory Index\n\n- [Build](project_build.md) — how to build\n"
TOPIC = "---\nname: build\ndescription: how to build\ntype: project\n---\nRun make.\n"


def _state(root: Path) -> dict[str, tuple[bytes, int, int]]:
    return {
        str(path.relative_to(root)): (path.read_bytes(), path.stat().st_mtime_ns, path.stat().st_mode)
        for path in root.rglob("*")
        if path.is_file()
    }


def _folder(tmp_path: Path, **files: bytes) -> Path:
    root = tmp_path / "memory"
    root.mkdir(parents=True)
    for name, content in files.items():
        (root / f"{name}.md").write_bytes(content)
    return root


def test_adopt_commits_every_document_and_touches_no_byte(owner: User, tmp_path: Path) -> None:
    root = _folder(tmp_path, MEMORY=INDEX.encode(), project_build=TOPIC.encode(), odd=b"caf\xe9\r\nno newline at end")
    before = _state(root)

    adopted = adopt(root, name="acme")

    assert _state(root) == before
    with reading(adopted.store) as repository:
        assert dict(repository.snapshot(adopted.head)) == {name: content for name, (content, _, _) in before.items()}
    assert adopted.store.format == FormatName.CLAUDE
    assert adopted.store.owner == owner
    assert [change.kind for change in Change.objects.all()] == [ChangeKind.ADOPT]


def test_adopt_names_what_looks_wrong(owner: User, tmp_path: Path) -> None:
    index = INDEX + "- [Gone](gone.md) — no such file\n"
    root = _folder(
        tmp_path, MEMORY=index.encode(), project_build=TOPIC.encode(), orphan=TOPIC.encode(), bad=b"\xff\xfe"
    )

    kinds = {(problem.kind, problem.path) for problem in adopt(root).problems}

    assert {("dead-row", "MEMORY.md"), ("orphan", "orphan.md"), ("not-utf8", "bad.md")} <= kinds


def test_adopt_refuses_a_document_that_the_disk_fails_to_read(
    owner: User, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    root = _folder(tmp_path, a=b"a\n", b=b"b\n")
    before = _state(root)
    real = os.open

    def fail(path: str, flags: int, *arguments: int, **options: int) -> int:
        if path == "b.md":
            raise OSError(errno.EIO, os.strerror(errno.EIO))
        return real(path, flags, *arguments, **options)

    with monkeypatch.context() as patched:
        patched.setattr(os, "open", fail)
        with pytest.raises(AdoptError, match=r"“b\.md” cannot be read: Input/output error\. Nothing was changed"):
            adopt(root)
    assert (_state(root), Store.objects.count()) == (before, 0)

    assert adopt(root).documents == 2


def test_adopt_of_an_empty_folder_makes_an_empty_baseline(owner: User, tmp_path: Path) -> None:
    root = _folder(tmp_path)

    adopted = adopt(root, name="empty")

    assert (adopted.documents, len(adopted.head)) == (0, 40)


def test_adopt_leaves_a_git_folder_in_the_memory_alone(owner: User, tmp_path: Path) -> None:
    root = _folder(tmp_path, note=b"text\n")
    (root / ".git").mkdir()
    (root / ".git" / "config").write_text("[core]\n\tfsmonitor = touch /nonexistent/evil\n")
    before = _state(root)

    adopted = adopt(root)

    assert _state(root) == before
    with reading(adopted.store) as repository:
        assert set(repository.snapshot(adopted.head)) == {"note.md"}


@pytest.mark.parametrize("kind", ["root", "home", "link", "file", "missing", "data", "around-data", "git"])
def test_adopt_refuses_folders_that_are_no_memory(
    owner: User, tmp_path: Path, kind: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))
    (tmp_path / "real").mkdir()
    (tmp_path / "link").symlink_to(tmp_path / "real")
    (tmp_path / "file").write_text("x")
    (tmp_path / ".git" / "notes").mkdir(parents=True)
    data = Path(settings.HOME)
    places = {
        "root": Path("/"),
        "home": tmp_path,
        "link": tmp_path / "link",
        "file": tmp_path / "file",
        "missing": tmp_path / "missing",
        "data": data,
        "around-data": data.parent,
        "git": tmp_path / ".git" / "notes",
    }

    with pytest.raises(AdoptError, match="Nothing was changed"):
        adopt(places[kind])

    assert not Store.objects.exists()


def test_adopt_refuses_a_folder_inside_another_store(make_store: MakeStore) -> None:
    store = make_store({"sub/a.md": "a\n"})

    with pytest.raises(AdoptError, match="lie in each other"):
        adopt(Path(store.root) / "sub")
    with pytest.raises(AdoptError, match="adopted already"):
        adopt(Path(store.root))


def test_adopt_makes_the_owner_maintainer_of_a_new_team(make_store: MakeStore, owner: User) -> None:
    store = make_store({"a.md": "a\n"}, team=True)

    assert store.scope == Scope.TEAM
    assert [(m.person, m.role) for m in store.team.memberships.all()] == [(owner, "maintainer")]  # type: ignore[union-attr]


def test_adopt_keeps_the_baseline_away_from_other_users(make_store: MakeStore) -> None:
    store = make_store({"a.md": "a\n"})

    baseline = baseline_dir(store)
    open_to_others = [path for path in baseline.rglob("*") if path.stat().st_mode & 0o077]

    assert (baseline.stat().st_mode & 0o077, baseline.parent.stat().st_mode & 0o077) == (0, 0)
    assert open_to_others == []


def test_c055_store_that_another_contains_is_flagged_and_neither_is_touched(owner: User, tmp_path: Path) -> None:
    first, both = (
        "# Reviewer\n\n- Check migrations first.\n",
        "# Reviewer\n\n- Check migrations  first.\n- Check names.\n",
    )
    roots = [tmp_path / place / ".claude" / "agent-memory" / "reviewer" for place in ("repo", "home")]
    for root, text in zip(roots, (first, both), strict=True):
        root.mkdir(parents=True)
        (root / "MEMORY.md").write_text(text)

    alone, around = (adopt(root, name=name) for root, name in zip(roots, ("repo", "home"), strict=True))

    assert [problem.kind for problem in alone.problems] == []
    [problem] = around.problems
    assert (problem.kind, problem.path) == ("contained", "MEMORY.md")
    assert "All that “repo” says stands in “home” too" in problem.message
    assert [(root / "MEMORY.md").read_text() for root in roots] == [first, both]


def test_c055_stores_that_differ_or_belong_to_others_are_not_compared(
    owner: User, make_store: MakeStore, tmp_path: Path
) -> None:
    make_store({"a.md": "- one\n- two\n"}, name="team", team=True)
    make_store({"a.md": "- one\n- three\n"}, name="mine")

    assert adopt(_folder(tmp_path / "x", a=b"- one\n- two\n")).problems == ()


def test_c055_stores_that_say_the_same_are_flagged(owner: User, make_store: MakeStore, tmp_path: Path) -> None:
    make_store({"a.md": "- one\n- two\n"}, name="mine")

    [problem] = adopt(_folder(tmp_path / "x", b=b"- two\n- one\n"), name="same").problems

    assert "“same” and “mine” say the same" in problem.message


def test_c053_folder_that_two_projects_share_is_flagged_and_promotes_nothing(
    owner: User, make_store: MakeStore, tmp_path: Path
) -> None:
    project = tmp_path / "projects" / "-w-data-hub-api"
    root = project / "memory"
    root.mkdir(parents=True)
    (root / "note.md").write_text("- deploy at ten\n")
    for number, directory in enumerate(("/w/data-hub/api", "/w/data/hub-api")):
        (project / f"{number}.jsonl").write_text(f'{{"cwd":"{directory}"}}\n')
    team = make_store({"t.md": "- x\n"}, name="team", team=True)

    adopted = adopt(root, name="hub")

    [problem] = adopted.problems
    assert problem.kind == "shared-folder"
    assert "2 working directories write to this folder: “/w/data-hub/api”, “/w/data/hub-api”" in problem.message
    with pytest.raises(RefusedChangeError, match="several working directories"):
        promote(adopted.store, "note.md", to=team, person=owner)
