"""Packing: everything stays readable, for open readers and after kills; only what is old and out of reach goes."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from memoryreview.baseline import packing
from memoryreview.baseline.errors import BaselineError
from memoryreview.baseline.history import fsck, log
from memoryreview.baseline.lock import store_lock
from memoryreview.baseline.packing import SAFE_AGE_S, clutter, collect, pack, packing_lock, sweep
from memoryreview.baseline.repository import CONFIG, Repository
from tests.baseline.git_checks import ROOT, assert_clean, commit, documents_by_git, git, write

PACK = """
import sys
from pathlib import Path
from memoryreview.baseline import packing, steps

def on_step(name):
    print(name, flush=True)
    if name == sys.argv[3]:
        sys.stdin.readline()

steps.on_step = on_step
getattr(packing, sys.argv[2])(Path(sys.argv[1]))
"""


def grow(repository: Repository, commits: int, start: int = 0) -> list[str]:
    return [commit(repository, {f"{n % 5}/a.md": b"text %d\n" % n * 20}) for n in range(start, start + commits)]


def left_overs(git_dir: Path) -> list[str]:
    names = (path.name for path in git_dir.rglob("*"))
    return [name for name in names if name.startswith(("tmp_", ".tmp-")) or name.endswith(".lock")
            if name not in {"memoryreview.lock", packing.LOCK_NAME}]  # fmt: skip


def exists(git_dir: Path, oid: str) -> bool:
    try:
        return bool(git(git_dir, "cat-file", "-t", oid))
    except AssertionError:
        return False


def age_everything(git_dir: Path, seconds: float) -> None:
    then = time.time() - seconds
    for path in (git_dir / "objects").rglob("*"):
        if path.is_file():
            os.utime(path, (then, then))


def test_packing_keeps_every_commit_and_leaves_nothing_loose(repository: Repository) -> None:
    oids = grow(repository, 30)
    documents = documents_by_git(repository.git_dir, oids[-1])
    assert clutter(repository.git_dir).loose > 30
    assert pack(repository.git_dir)
    found = clutter(repository.git_dir)
    assert (found.loose, found.packs) == (0, 1)
    assert [entry.oid for entry in log(repository)] == oids[::-1]
    assert documents_by_git(repository.git_dir, oids[-1]) == documents
    assert_clean(repository.git_dir)


def test_packs_stay_few_when_packing_goes_on(repository: Repository) -> None:
    for round_ in range(12):
        grow(repository, 5, start=round_ * 5)
        pack(repository.git_dir)
    assert clutter(repository.git_dir).packs <= 4
    assert len(list(log(repository))) == 60


def test_packing_writes_a_commit_graph_with_changed_paths_and_leaves_the_config(repository: Repository) -> None:
    grow(repository, 5)
    pack(repository.git_dir)
    chain = repository.git_dir / "objects/info/commit-graphs/commit-graph-chain"
    (layer,) = chain.read_text().split()
    assert b"BIDX" in (chain.parent / f"graph-{layer}.graph").read_bytes()
    assert (repository.git_dir / "config").read_bytes() == CONFIG
    git(repository.git_dir, "commit-graph", "verify")


def test_an_open_reader_survives_two_packings_and_a_collection(repository: Repository) -> None:
    oids = grow(repository, 10)
    pack(repository.git_dir)
    with Repository(repository.git_dir) as reader:
        assert reader.snapshot(oids[0])["0/a.md"] == b"text 0\n" * 20  # its `cat-file --batch` runs from here on
        more = grow(repository, 10, start=10)
        pack(repository.git_dir)
        assert reader.snapshot(more[0])["0/a.md"] == b"text 10\n" * 20
        collect(repository.git_dir)
        for n, oid in enumerate([*oids, *more]):
            assert reader.snapshot(oid)[f"{n % 5}/a.md"] == b"text %d\n" % n * 20


def test_a_writer_works_while_packing_does(repository: Repository) -> None:
    grow(repository, 20)
    process = start_pack(repository.git_dir, "pack", "packs.written")
    assert process.stdout is not None
    assert process.stdout.readline() == "packs.written\n"
    oid = commit(repository, {"new.md": b"meanwhile\n"})
    process.communicate("\n")
    assert process.returncode == 0
    assert repository.snapshot(oid)["new.md"] == b"meanwhile\n"
    assert_clean(repository.git_dir)


def test_collecting_drops_only_what_is_out_of_reach_and_old(repository: Repository) -> None:
    oids = grow(repository, 10)
    old = write(repository, {"lost.md": b"out of reach and old\n"}, parent=oids[-1])
    pack(repository.git_dir)
    age_everything(repository.git_dir, SAFE_AGE_S + 3600)
    young = write(repository, {"lost.md": b"out of reach and young\n"}, parent=oids[-1])
    assert collect(repository.git_dir)
    assert not exists(repository.git_dir, old)
    assert exists(repository.git_dir, young)
    assert [entry.oid for entry in log(repository)] == oids[::-1]
    assert_clean(repository.git_dir)


def test_collecting_drops_old_loose_objects_but_not_young_ones(repository: Repository) -> None:
    head = grow(repository, 3)[-1]
    dropped = write(repository, {"a.md": b"nobody asks for it\n"}, parent=head)
    age_everything(repository.git_dir, SAFE_AGE_S + 3600)
    kept = write(repository, {"b.md": b"a journal may\n"}, parent=head)
    assert collect(repository.git_dir)
    assert not exists(repository.git_dir, dropped)
    assert repository.snapshot(kept)["b.md"] == b"a journal may\n"


def test_what_is_out_of_reach_keeps_its_age_when_it_is_collected_again(repository: Repository) -> None:
    head = grow(repository, 3)[-1]
    lost = write(repository, {"a.md": b"lost\n"}, parent=head)
    age_everything(repository.git_dir, SAFE_AGE_S - 3600)
    collect(repository.git_dir)
    grow(repository, 3, start=3)
    pack(repository.git_dir)
    collect(repository.git_dir)
    assert exists(repository.git_dir, lost)
    collect(repository.git_dir, older_than_s=SAFE_AGE_S - 2 * 3600)
    assert not exists(repository.git_dir, lost)


@pytest.mark.parametrize("work", ["pack", "collect"])
@pytest.mark.parametrize("deadly", ["packs.written", "graph.written"])
def test_a_kill_between_the_steps_loses_nothing(repository: Repository, work: str, deadly: str) -> None:
    oids = grow(repository, 10)
    process = start_pack(repository.git_dir, work, deadly)
    assert process.stdout is not None
    while process.stdout.readline() != f"{deadly}\n":
        pass
    process.kill()
    process.communicate()
    assert [entry.oid for entry in log(repository)] == oids[::-1]
    assert_clean(repository.git_dir)
    sweep(repository.git_dir)
    assert left_overs(repository.git_dir) == []
    assert pack(repository.git_dir)
    assert_clean(repository.git_dir)


def test_a_kill_of_git_itself_loses_nothing_and_its_files_are_swept(repository: Repository) -> None:
    oids = grow(repository, 40)
    process = start_pack(repository.git_dir, "pack", "never")
    while process.poll() is None and not list((repository.git_dir / "objects/pack").glob("*tmp*")):
        pass
    os.killpg(process.pid, signal.SIGKILL)
    process.communicate()
    assert [entry.oid for entry in log(repository)] == oids[::-1]
    assert pack(repository.git_dir)
    assert left_overs(repository.git_dir) == []
    assert_clean(repository.git_dir)


def test_what_another_git_left_is_not_swept(repository: Repository) -> None:
    foreign = repository.git_dir / "objects/pack/tmp_pack_foreign"
    foreign.write_bytes(b"PACK")
    assert sweep(repository.git_dir) == ()
    (repository.git_dir / packing.MARK_NAME).touch()
    assert foreign in sweep(repository.git_dir)


def test_two_packings_at_once_are_one(repository: Repository) -> None:
    grow(repository, 5)
    with packing_lock(repository.git_dir) as fd:
        assert fd is not None
        assert not pack(repository.git_dir)
        assert not collect(repository.git_dir)
    assert pack(repository.git_dir)


def test_git_keeps_the_lock_when_the_process_that_started_it_is_gone(repository: Repository) -> None:
    with packing_lock(repository.git_dir) as fd:
        assert fd is not None
        child = subprocess.Popen(["sleep", "60"], pass_fds=(fd,))
    try:
        with packing_lock(repository.git_dir) as second:
            assert second is None
    finally:
        child.kill()
        child.wait()
    with packing_lock(repository.git_dir) as third:
        assert third is not None


def test_packing_waits_for_no_writer(repository: Repository) -> None:
    grow(repository, 5)
    with store_lock(repository.git_dir):
        process = start_pack(repository.git_dir, "pack", "never")
        process.communicate()
    assert process.returncode == 0
    assert clutter(repository.git_dir).loose == 0


def test_a_damaged_object_stays_where_it_is_and_the_rest_is_packed(repository: Repository) -> None:
    oids = grow(repository, 5)
    blob = repository.snapshot(oids[0]).entries["0/a.md"].oid
    damaged = repository.git_dir / "objects" / blob[:2] / blob[2:]
    damaged.write_bytes(b"")
    pack(repository.git_dir)
    assert damaged.exists()
    assert repository.snapshot(oids[-1])["4/a.md"] == b"text 4\n" * 20
    assert any(blob in complaint for complaint in fsck(repository.git_dir))


def test_a_history_with_a_hole_is_never_collected(repository: Repository) -> None:
    oids = grow(repository, 5)
    lost = write(repository, {"a.md": b"perhaps the only copy\n"}, parent=oids[-1])
    blob = repository.snapshot(oids[0]).entries["0/a.md"].oid
    (repository.git_dir / "objects" / blob[:2] / blob[2:]).unlink()
    age_everything(repository.git_dir, SAFE_AGE_S + 3600)
    with pytest.raises(BaselineError, match="Nothing was lost"):
        collect(repository.git_dir)
    assert exists(repository.git_dir, lost)
    sweep(repository.git_dir)
    assert left_overs(repository.git_dir) == []


def test_packing_a_baseline_that_is_gone_is_a_sentence(tmp_path: Path) -> None:
    with pytest.raises(BaselineError, match="cannot be packed"):
        pack(tmp_path / "gone.git")
    with pytest.raises(BaselineError, match="cannot be counted"):
        clutter(tmp_path / "gone.git")


def start_pack(git_dir: Path, work: str, stop_at: str) -> subprocess.Popen[str]:
    """Pack in a process group of its own, which waits for a line at one step."""
    return subprocess.Popen(
        [sys.executable, "-c", PACK, str(git_dir), work, stop_at],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
        cwd=ROOT,
        start_new_session=True,
    )
