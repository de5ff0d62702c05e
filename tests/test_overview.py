"""What a newcomer reads who asks the command for help."""

from __future__ import annotations

import pytest

from memoryreview.cli import EARLY_COMMANDS, main


@pytest.mark.parametrize("asked", [[], ["help"], ["--help"], ["-h"]])
def test_help_lists_the_commands_of_the_product_and_no_other(
    asked: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    main(asked)

    listed = capsys.readouterr().out
    for name in [*EARLY_COMMANDS, "up", "adopt", "agent add", "backup", "verify", "doctor", "tidy", "watch"]:
        assert f"  memoryreview {name}" in listed
    assert "runserver" not in listed
    assert "`" not in listed
    assert max(map(len, listed.splitlines())) <= 100


def test_help_of_a_command_that_runs_before_django_is_its_own(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as ended:
        main(["help", "restore-backup"])

    assert ended.value.code == 0
    assert capsys.readouterr().out.startswith("usage: memoryreview restore-backup")
