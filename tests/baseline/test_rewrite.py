"""A history without a text: every object of it is gone, everything else is as it was."""

from __future__ import annotations

from collections.abc import Callable
from datetime import date
from pathlib import Path

import pytest

from memoryreview.baseline import rewrite
from memoryreview.baseline.errors import BaselineError
from memoryreview.baseline.history import log
from memoryreview.baseline.repository import Repository
from memoryreview.baseline.rewalk import Walked
from memoryreview.core.erasure import Eraser
from tests.baseline.git_checks import AT, assert_clean, commit, documents_by_git, git, write

SECRET = "hunter2-très-secret"
DAY = date(2026, 11, 30)
MARK = "[erased 2026-11-30]"


@pytest.fixture
def eraser() -> Eraser:
    return Eraser(DAY, text=SECRET)


def erase(repository: Repository, eraser: Eraser) -> Walked:
    """All of it, as the operation does it."""
    aside, old = repository.git_dir.parent / "aside.git", repository.head()
    assert old is not None
    walked = rewrite.build(repository, aside, eraser)
    top = rewrite.seal(aside, eraser, walked, message="Erase a text\n", at=AT)
    rewrite.bring_in(aside, repository.git_dir)
    rewrite.switch(repository.git_dir, expected=old, new=top)
    rewrite.drop_rest(aside, repository.git_dir)
    rewrite.discard(aside, repository.git_dir, keep_pack=True)
    return walked


def history(repository: Repository) -> list[str]:
    return [one.oid for one in log(repository)][::-1]


def read(git_dir: Path, oid: str) -> dict[str, bytes]:
    return documents_by_git(git_dir, oid)


def packed(repository: Repository) -> None:
    git(repository.git_dir, "repack", "-a", "-d", "-q")


def loose(_repository: Repository) -> None:
    return


@pytest.mark.parametrize("prepare", [loose, packed])
def test_text_is_gone_from_every_object_and_the_rest_is_the_same(
    repository: Repository, eraser: Eraser, prepare: Callable[[Repository], None]
) -> None:
    first = commit(repository, {"a.md": b"one\n", "deep/b.md": b"two\n"})
    second = commit(repository, {"a.md": f"one\nkey {SECRET}\n".encode()})
    third = commit(repository, {"deep/b.md": b"three\n"})
    fourth = commit(repository, {"a.md": b"one\n"})
    prepare(repository)

    walked = erase(repository, eraser)

    new = history(repository)
    assert rewrite.still_held(repository.git_dir, eraser) == 0
    assert_clean(repository.git_dir)
    assert walked.moved == dict(zip([first, second, third, fourth], new[:4], strict=True))
    assert walked.moved[first] == first
    assert walked.touched == {second, fourth}
    assert (walked.commits, walked.paths, walked.at_head) == (2, {"a.md"}, ())
    assert read(repository.git_dir, new[1]) == {"a.md": f"one\nkey {MARK}\n".encode(), "deep/b.md": b"two\n"}
    assert read(repository.git_dir, new[4]) == {"a.md": b"one\n", "deep/b.md": b"three\n"}
    with Repository(repository.git_dir) as fresh:
        assert not fresh.has_commit(second)
        assert fresh.commit(new[4]).message == "Erase a text\n"
        assert [fresh.commit(oid).at for oid in new] == [AT] * 5
    assert sorted(path.suffix for path in (repository.git_dir / "objects").rglob("*") if path.is_file()) == [
        ".idx",
        ".pack",
    ]


def test_a_survey_writes_nothing(repository: Repository, eraser: Eraser) -> None:
    commit(repository, {"a.md": SECRET.encode()})
    commit(repository, {"b.md": b"b\n"})
    before = sorted(repository.git_dir.rglob("*"))

    walked = rewrite.survey(repository, eraser)

    assert (walked.commits, walked.at_head) == (2, ("a.md",))
    assert sorted(repository.git_dir.rglob("*")) == before


def test_messages_and_the_commits_they_name_follow(repository: Repository, eraser: Eraser) -> None:
    first = commit(repository, {"a.md": f"{SECRET}\n".encode()})
    second = write(
        repository,
        {"b.md": b"b\n"},
        parent=first,
        subject=f"Add “{SECRET[:14]}…”",
        body=f"Undoes {first}\nsaid {SECRET}",
        trailers={"Agent": f"bot {SECRET}", "Proof": "0" * 64},
    )
    rewrite.switch(repository.git_dir, expected=first, new=second)

    walked = erase(repository, eraser)

    message = repository.message(walked.moved[second])
    assert message == (
        f"Add “{SECRET[:14]}…”\n\nUndoes {walked.moved[first]}\nsaid {MARK}\n\nAgent: bot {MARK}\nProof: {'0' * 64}\n"
    )


def test_the_subject_and_proof_of_a_commit_that_touched_the_text_go(repository: Repository, eraser: Eraser) -> None:
    first = commit(repository, {"a.md": b"a\n"})
    second = write(
        repository,
        {"a.md": f"a\n- {SECRET}\n".encode()},
        parent=first,
        subject=f"Add “{SECRET[:9]}…” to a.md",
        trailers={"Proof": "0" * 64},
    )
    rewrite.switch(repository.git_dir, expected=first, new=second)

    walked = erase(repository, eraser)

    assert repository.message(walked.moved[second]) == f"{MARK}\n\nProof: erased\n"


def test_branch_that_moved_meanwhile_is_an_error_and_stays(repository: Repository) -> None:
    first = commit(repository, {"a.md": b"a\n"})
    moved = commit(repository, {"b.md": b"b\n"})

    with pytest.raises(BaselineError, match="moved the branch"):
        rewrite.switch(repository.git_dir, expected=first, new=first)

    assert repository.head() == moved


def test_a_whole_document_goes_and_its_neighbours_stay(repository: Repository) -> None:
    commit(repository, {"deep/a.md": b"private\n", "a.md": b"mine\n"})
    commit(repository, {"deep/a.md": b"more\n"})
    commit(repository, {"other/a.md": b"more\n"})
    eraser = Eraser(DAY, path="deep/a.md")

    walked = erase(repository, eraser)

    new = history(repository)
    assert [sorted(read(repository.git_dir, oid)) for oid in new] == [
        ["a.md"],
        ["a.md"],
        ["a.md", "other/a.md"],
        ["a.md", "other/a.md"],
    ]
    assert walked.paths == {"deep/a.md"}
    assert len(walked.touched) == 2
    assert_clean(repository.git_dir)


def test_names_that_hold_the_text_are_renamed_and_never_become_one(repository: Repository, eraser: Eraser) -> None:
    other = "hunter2-tre\u0300s-secret"
    commit(repository, {f"{SECRET}/x.md": b"x\n", f"{SECRET}.md": b"1\n", f"{other}.md": b"2\n"})

    erase(repository, eraser)

    found = read(repository.git_dir, history(repository)[0])
    assert sorted(found.values()) == [b"1\n", b"2\n", b"x\n"]
    assert {name.partition("/")[0].partition(".")[0] for name in found} == {"erased-2026-11-30", "erased-2026-11-30-2"}


def test_a_text_over_several_lines_goes_with_either_line_end(repository: Repository) -> None:
    documents = {"a.md": b"x\nline one\r\nline two\r\ny\n", "b.md": b"line one\nline two", "c.md": b"line one\n"}
    commit(repository, documents)

    erase(repository, Eraser(DAY, text="line one\nline two"))

    found = read(repository.git_dir, history(repository)[0])
    assert found == {"a.md": f"x\n{MARK}\r\ny\n".encode(), "b.md": MARK.encode(), "c.md": b"line one\n"}


def test_what_no_branch_reaches_goes_too(repository: Repository, eraser: Eraser) -> None:
    head = commit(repository, {"a.md": b"a\n"})
    write(repository, {"a.md": SECRET.encode()}, parent=head)
    (repository.git_dir / "refs" / "tags" / "old").write_text(head)

    walked = erase(repository, eraser)

    assert walked.commits == 0
    assert rewrite.still_held(repository.git_dir, eraser) == 0
    assert_clean(repository.git_dir)


def test_discarding_leaves_the_old_history_as_it_was(repository: Repository, eraser: Eraser) -> None:
    head = commit(repository, {"a.md": SECRET.encode()})
    before = sorted(repository.git_dir.rglob("*"))
    aside = repository.git_dir.parent / "aside.git"
    walked = rewrite.build(repository, aside, eraser)
    rewrite.seal(aside, eraser, walked, message="Erase\n", at=AT)
    rewrite.bring_in(aside, repository.git_dir)

    rewrite.discard(aside, repository.git_dir, keep_pack=False)

    assert sorted(repository.git_dir.rglob("*")) == before
    assert repository.head() == head
    assert not aside.exists()


def test_a_history_that_cannot_be_read_is_not_touched(repository: Repository, eraser: Eraser) -> None:
    head = commit(repository, {"a.md": b"a\n"})
    tree = repository.commit(head).tree
    (repository.git_dir / "objects" / tree[:2] / tree[2:]).unlink()

    with pytest.raises(BaselineError, match="not complete"):
        rewrite.build(repository, repository.git_dir.parent / "aside.git", eraser)


def imported(repository: Repository, commits: int, text: Callable[[int], str]) -> None:
    """Make a long packed history at once; commit n writes one of seven documents."""
    rows = []
    for number in range(commits):
        content = text(number).encode()
        rows.append(
            b"commit refs/heads/main\ncommitter m <m@l> %d +0000\ndata 5\nWrite\nM 644 inline d/%d.md\ndata %d\n%s\n"
            % (1_700_000_000 + number, number % 7, len(content), content)
        )
    git(repository.git_dir, "fast-import", "--quiet", content=b"".join(rows))


def test_a_long_packed_history(repository: Repository, eraser: Eraser) -> None:
    imported(repository, 2000, lambda n: f"row {n}\n{SECRET if 500 <= n < 1500 else 'x'}\n")
    before = history(repository)

    walked = erase(repository, eraser)

    new = history(repository)
    assert len(new) == 2001
    assert new[:500] == before[:500]
    assert {*walked.moved.values()} == {*new[:2000]}
    assert walked.paths == {f"d/{n}.md" for n in range(7)}
    assert walked.commits == 1000 + 6
    assert read(repository.git_dir, new[700])["d/0.md"] == f"row 700\n{MARK}\n".encode()
    assert rewrite.still_held(repository.git_dir, eraser) == 0
