"""Packs are read in this process as git reads them, and what is written here git can read."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path
from random import Random

import pytest

from memoryreview.baseline.errors import BaselineError
from memoryreview.baseline.objects import object_id
from memoryreview.baseline.packs import Packs, pack
from memoryreview.baseline.repository import Repository
from tests.baseline.git_checks import assert_clean, commit, git


def _history(repository: Repository, commits: int = 60) -> dict[str, bytes]:
    """Commit a growing text many times, so that a repack makes chains of deltas; return the blobs by id."""
    random, texts = Random(1), {}
    text = b"".join(b"- line %d of a long document\n" % number for number in range(400))
    for number in range(commits):
        text = text.replace(b"- line %d " % random.randrange(400), b"- change %d " % number) + b"- more\n"
        texts[object_id(b"blob", text)] = text
        commit(repository, {"a.md": text, f"{number % 7}/{number}.md": b"- %d\n" % number})
    return texts


@pytest.mark.parametrize("options", [(), ("--depth=4000", "--window=50", "-f"), ("--no-delta-base-offset",)])
def test_every_object_of_a_pack_reads_as_git_reads_it(repository: Repository, options: tuple[str, ...]) -> None:
    texts = _history(repository)
    setting = ["-c", "repack.useDeltaBaseOffset=false"] if options == ("--no-delta-base-offset",) else []
    git(repository.git_dir, *setting, "repack", "-a", "-d", "-q", *(o for o in options if "base" not in o))
    names = git(repository.git_dir, "cat-file", "--batch-all-objects", "--batch-check").decode().splitlines()

    packs = Packs(repository.git_dir / "objects" / "pack")
    found = {oid: packs.find(oid) for oid, _, _ in map(str.split, names)}
    packs.close()

    assert {oid: (one[0].decode(), len(one[1])) for oid, one in found.items() if one} == {
        oid: (kind, int(size)) for oid, kind, size in map(str.split, names)
    }
    assert all(object_id(*one) == oid for oid, one in found.items() if one)
    assert {oid: found[oid] for oid in texts} == {oid: (b"blob", text) for oid, text in texts.items()}


def test_reading_packs_starts_no_process(repository: Repository, monkeypatch: pytest.MonkeyPatch) -> None:
    _history(repository, 5)
    git(repository.git_dir, "repack", "-a", "-d", "-q")
    monkeypatch.setattr(subprocess, "Popen", lambda *_args, **_options: pytest.fail("a process was started"))
    monkeypatch.setattr(os, "fork", lambda: pytest.fail("a process was forked"))

    with Repository(repository.git_dir) as opened:
        assert len(opened.snapshot(opened.head() or "")) == 6


def test_an_object_that_no_pack_has_is_not_found(repository: Repository) -> None:
    _history(repository, 3)
    git(repository.git_dir, "repack", "-a", "-d", "-q")

    assert [repository.objects.find(oid) for oid in ("0" * 40, "f" * 40)] == [None, None]


def test_a_pack_that_came_after_the_first_look_is_found(repository: Repository) -> None:
    _history(repository, 3)
    git(repository.git_dir, "repack", "-a", "-d", "-q")
    packs = Packs(repository.git_dir / "objects" / "pack")
    later = object_id(b"blob", b"later")
    assert packs.find(later) is None
    repository.objects.write(b"blob", b"later", later)
    git(
        repository.git_dir,
        "pack-objects",
        "-q",
        str(repository.git_dir / "objects/pack/pack"),
        content=f"{later}\n".encode(),
    )

    assert packs.find(later) == (b"blob", b"later")


def test_a_pack_of_an_older_version_is_read_by_git(repository: Repository) -> None:
    _history(repository, 3)
    git(repository.git_dir, "-c", "pack.indexVersion=1", "repack", "-a", "-d", "-q")

    with Repository(repository.git_dir) as opened:
        assert opened.snapshot(opened.head() or "")["0/0.md"] == b"- 0\n"


@pytest.mark.parametrize("suffix", [".pack", ".idx"])
@pytest.mark.parametrize("kept", [0, 7, 40, 2_000])
def test_a_cut_pack_is_an_error_and_no_crash(repository: Repository, suffix: str, kept: int) -> None:
    _history(repository)
    git(repository.git_dir, "repack", "-a", "-d", "-q")
    head = repository.head() or ""
    path = next((repository.git_dir / "objects" / "pack").glob(f"*{suffix}"))
    path.chmod(0o600)
    path.write_bytes(path.read_bytes()[:kept])

    with Repository(repository.git_dir) as opened, pytest.raises(BaselineError):
        dict(opened.snapshot(head))


def test_any_flipped_byte_gives_the_object_or_an_error(repository: Repository) -> None:
    _history(repository, 12)
    git(repository.git_dir, "repack", "-a", "-d", "-q")
    head = repository.head() or ""
    with Repository(repository.git_dir) as opened:
        whole = dict(opened.snapshot(head))
    path = next((repository.git_dir / "objects" / "pack").glob("*.pack"))
    path.chmod(0o600)
    content, random = path.read_bytes(), Random(7)
    for _ in range(60):
        at = random.randrange(12, len(content))
        path.write_bytes(content[:at] + bytes([content[at] ^ 1 << random.randrange(8)]) + content[at + 1 :])
        with Repository(repository.git_dir) as opened:
            try:
                assert dict(opened.snapshot(head)) == whole
            except BaselineError:
                continue


def test_a_written_pack_is_one_for_git(repository: Repository, tmp_path: Path) -> None:
    texts = [b"", b"x", b"- a line\n" * 5_000, Random(1).randbytes(70_000)]
    objects = {object_id(b"blob", text): (b"blob", text) for text in texts}
    name, content, index = pack(objects)
    (repository.git_dir / "objects" / "pack" / f"{name}.pack").write_bytes(content)
    (repository.git_dir / "objects" / "pack" / f"{name}.idx").write_bytes(index)

    git(repository.git_dir, "verify-pack", str(repository.git_dir / "objects" / "pack" / f"{name}.idx"))
    git(repository.git_dir, "index-pack", "--strict", "-o", str(tmp_path / "by-git.idx"),
        str(repository.git_dir / "objects" / "pack" / f"{name}.pack"))  # fmt: skip

    assert (tmp_path / "by-git.idx").read_bytes() == index
    assert [git(repository.git_dir, "cat-file", "blob", oid) for oid in objects] == texts
    assert {oid: repository.objects.find(oid) for oid in objects} == objects
    assert_clean(repository.git_dir)
