"""`memoryreview tidy` from outside, on a data folder where nothing was ever started."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests import server
from tests.server import Installation

REPEATED = "- Staging listens on 5432.\n- Mail goes to the sink.\n- Staging listens on 5432.\n"
SHORTER = "- Do not build the project. The user does it.\n- Do not build the project.\n"


@pytest.fixture
def installation(tmp_path: Path) -> Iterator[Installation]:
    with server.installation(tmp_path, is_migrated=True) as made:
        made.memory.mkdir()
        yield made


@pytest.fixture
def untouched(tmp_path: Path) -> Iterator[Installation]:
    with server.installation(tmp_path) as made:
        made.memory.mkdir()
        yield made


def test_tidy_before_up_was_ever_run(untouched: Installation) -> None:
    note = untouched.memory / "ports.md"
    note.write_text(REPEATED)
    (untouched.memory / "rules.md").write_text(SHORTER)
    (untouched.memory / "x.sync-conflict-20260324-101112-ABCDEFG.md").write_text(REPEATED)
    untouched.json("adopt", str(untouched.memory), "--name", "notes")

    dry = untouched.json("tidy", "notes", "--dry-run")

    assert (dry["applied"], dry["suggested"]) == ([], [])
    assert [(a["store"], a["path"], a["kind"], a["verdict"]) for a in dry["actions"]] == [
        ("notes", "ports.md", "dedupe.exact", "safe"),
        ("notes", "rules.md", "fact.delete", "review"),
    ]
    assert dry["actions"][0]["proof"]["rewrites"] == [{"path": "ports.md", "start": 52, "end": 79, "new": ""}]
    assert [(p["kind"], p["path"]) for p in dry["problems"]] == [
        ("conflict-copy", "x.sync-conflict-20260324-101112-ABCDEFG.md")
    ]
    assert note.read_text() == REPEATED
    assert untouched.json("queue") == []

    done = untouched.json("tidy")

    assert note.read_text() == REPEATED[:52]
    [oid] = done["applied"]
    newest = untouched.json("history")[0]
    assert (newest["oid"], newest["agent"]) == (oid, "tidy")
    assert [row["id"] for row in untouched.json("queue")] == done["suggested"]
    assert [action.get("commit", action.get("proposal")) for action in done["actions"]] == [oid, *done["suggested"]]

    again = untouched.json("tidy", "notes")
    assert (again["applied"], again["suggested"], again["actions"]) == ([], [], [])
    assert untouched.json("verify")["ok"]


def test_tidy_tells_a_person_in_words(installation: Installation) -> None:
    (installation.memory / "ports.md").write_text(REPEATED)
    installation.json("adopt", str(installation.memory), "--name", "notes")

    dry, done, again = (installation.run("tidy", *arguments) for arguments in (("--dry-run",), (), ("notes",)))

    line = "  notes ports.md:3  dedupe.exact  Remove the repeat of “Staging listens on 5432.”\n"
    assert (dry.returncode, dry.stdout) == (0, f"Would be applied (1):\n{line}")
    assert (done.returncode, done.stdout) == (0, f"Applied (1):\n{line}")
    assert (again.returncode, again.stdout) == (0, "There is nothing to tidy.\n")


def test_tidy_refuses_with_one_sentence(installation: Installation) -> None:
    for name in "abcd":
        (installation.memory / f"{name}.md").write_text(REPEATED)
    installation.json("adopt", str(installation.memory), "--name", "notes")
    for name in "abc":
        (installation.memory / f"{name}.md").unlink()

    lost, unknown = installation.run("tidy"), installation.run("tidy", "other")

    assert (lost.returncode, lost.stderr.count("\n")) == (1, 1)
    assert lost.stderr.startswith("notes: 3 of 4 documents are gone from the folder.")
    assert (unknown.returncode, unknown.stderr) == (1, "There is no store “other”. Stores: notes.\n")
