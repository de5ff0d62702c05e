"""What `tidy --dry-run` reports of every sample folder: what a careful person would have found."""

from __future__ import annotations

import shutil
from collections import Counter
from collections.abc import Callable
from pathlib import Path

import pytest

from memoryreview.core.model import Problem
from memoryreview.review.models import Proposal
from memoryreview.review.operations.adopt import adopt
from memoryreview.review.operations.tidy import Preview, across_stores, preview

pytestmark = pytest.mark.django_db

CORPORA = Path(__file__).parent.parent.parent / "fixtures" / "corpora"

Report = Callable[..., Preview]


@pytest.fixture
def report(tmp_path: Path, owner: object) -> Report:
    """Adopt a copy of a sample folder and say what tidying it would do; nothing in the copy changes by that."""

    def made(folder: str, **options: object) -> Preview:
        root = tmp_path / folder
        shutil.copytree(CORPORA / folder, root)
        before = {path: path.read_bytes() for path in root.rglob("*") if path.is_file()}
        found = preview(adopt(root, name=folder.replace("/", "-").replace(".", ""), **options).store)  # type: ignore[arg-type]
        assert {path: path.read_bytes() for path in root.rglob("*") if path.is_file()} == before
        assert not Proposal.objects.exists()
        return found

    return made


def kinds(found: Preview) -> dict[str, int]:
    return dict(Counter(problem.kind for problem in found.problems))


def of_kind(found: Preview, kind: str) -> list[Problem]:
    return [problem for problem in found.problems if problem.kind == kind]


def suggested(found: Preview) -> dict[str, int]:
    return dict(Counter(one.suggestion.kind for one in found.suggested))


FOLDERS = sorted(
    {
        str(path.relative_to(CORPORA))
        for top in CORPORA.iterdir()
        if top.is_dir()
        for path in top.iterdir()
        if path.is_dir()
    }
)


@pytest.mark.parametrize("folder", FOLDERS)
def test_nothing_would_be_applied_in_any_sample_folder(report: Report, folder: str) -> None:
    assert report(folder).steps == ()


def test_a_folder_in_good_order_has_nothing_to_report(report: Report) -> None:
    found = report("claude-clean/memory")

    assert (found.suggested, found.problems) == ((), ())


def test_an_index_over_both_caps_names_the_rows_that_are_never_loaded_c035_c037(report: Report) -> None:
    found = report("claude-index-300/memory")

    assert kinds(found).keys() >= {"index-lines", "index-bytes", "never-loaded"}
    assert not kinds(found).keys() & {"dead-row", "dead-link", "orphan", "bulk-dead"}
    [lines], [lost] = of_kind(found, "index-lines"), of_kind(found, "never-loaded")
    assert "332 of 200 lines and 31,572 of 25,000 bytes" in lines.message
    assert lost.message.startswith("96 rows are never loaded, newest first: “Correction 6”, “Correction 5”,")


def test_an_index_without_its_files_is_one_finding_c040(report: Report) -> None:
    found = report("claude-index-only/memory")

    assert kinds(found) == {"bulk-dead": 1}
    assert of_kind(found, "bulk-dead")[0].message.startswith("57 of 60 targets are missing")
    assert found.suggested == ()


def test_each_broken_head_is_named_and_quotes_are_offered(report: Report) -> None:
    found = report("broken-frontmatter/memory")

    heads = {kind: count for kind, count in kinds(found).items() if kind.startswith("head-")}
    assert sum(heads[kind] for kind in ("head-alias", "head-colon", "head-quote", "head-special", "head-tab")) == 6
    assert {kind: heads[kind] for kind in ("head-rule", "head-unclosed", "head-stacked", "head-comment")} == {
        "head-rule": 1,
        "head-unclosed": 1,
        "head-stacked": 1,
        "head-comment": 2,
    }
    assert {kind: heads[kind] for kind in ("head-type-conflict", "head-doubled-key", "head-empty-name")} == {
        "head-type-conflict": 1,
        "head-doubled-key": 1,
        "head-empty-name": 1,
    }
    assert suggested(found) == {"head-quotes": 6}
    assert found.plan.survey.skipped["unclosed.md"] == "Its frontmatter has no closing fence."


def test_an_index_in_east_asian_text_breaks_the_byte_cap_only(report: Report) -> None:
    found = report("cjk-mixed/memory")

    assert kinds(found) == {"index-bytes": 1, "never-loaded": 1, "date": 2}
    assert "181 of 200 lines and 30,300 of 25,000 bytes" in of_kind(found, "index-bytes")[0].message
    assert found.suggested == ()


def test_codex_groups_are_compared_within_and_not_across_c029(report: Report) -> None:
    found = report("codex-memories/memories")

    assert kinds(found) == {"missing-summary": 1, "near-duplicate": 1, "contradiction": 1}
    assert suggested(found) == {"contradiction": 1, "cited-twice": 1}
    assert "“15 minutes” here, “30 minutes” there" in of_kind(found, "contradiction")[0].message


@pytest.mark.parametrize(("folder", "entries"), [("memories", 57), ("crlf", 3), ("legacy", 0)])
def test_hermes_folders(report: Report, folder: str, entries: int) -> None:
    found = report(f"hermes-memories/{folder}")

    if folder == "memories":
        assert kinds(found).keys() == {"budget-warning", "near-duplicate"}
        assert suggested(found).keys() == {"near-duplicate"}
        for one in found.suggested:
            assert not any((new or b"").endswith(b"\n") for new in one.suggestion.delta.values())
    elif folder == "legacy":
        assert kinds(found) == {"no-delimiter": 1}
    else:
        assert (found.problems, found.suggested) == ((), ())


def test_disagreements_are_named_and_none_is_settled(report: Report) -> None:
    found = report("contradictions/memory")

    assert {problem.path for problem in of_kind(found, "contradiction")} == {
        "feedback_food.md",
        "project_database.md",
        "project_review_status.md",
        "project_team.md",
        "reference_nas.md",
    }
    assert suggested(found) == {"contradiction": 3, "orphan": 1}


def test_a_workspace_names_copies_and_merges_and_leaves_other_files_alone_c049_c050(report: Report) -> None:
    found = report("daily-log-workspace/memory")

    assert kinds(found) == {"conflict-copy": 2, "merge-marker": 1, "date": 3}
    assert [problem.line for problem in of_kind(found, "merge-marker")] == [3]
    assert found.suggested == ()


def test_attacks_in_text_move_nothing(report: Report) -> None:
    found = report("injection/memory")

    assert found.suggested == ()


def test_stores_of_one_person_are_compared_with_each_other_c055(report: Report) -> None:
    base = "scopes-user-project-team"
    stores = {
        name: report(f"{base}/{path}", **options).store
        for name, path, options in (
            ("project", "project/memory", {}),
            ("user", "user/memory", {}),
            ("team", "team/memory", {"scope": "team", "team": "ledger"}),
            ("repo", "repo/.claude/agent-memory/reviewer", {}),
            ("home", "home/.claude/agent-memory/reviewer", {}),
        )
    }

    told = {name: [(problem.kind, problem.path) for problem in across_stores(store)] for name, store in stores.items()}
    contained = {name: "contained" in kinds(preview(store)) for name, store in stores.items()}

    assert told == {
        "project": [("contradiction", "project_window.md")],
        "team": [("contradiction", "team_window.md")],
        "user": [],
        "repo": [],
        "home": [],
    }
    assert contained == {"project": False, "team": False, "user": False, "repo": True, "home": True}
