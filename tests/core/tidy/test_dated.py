from __future__ import annotations

from datetime import date

import pytest

from memoryreview.core.model import Context, Delta, FormatName, History, Kind, Tree
from memoryreview.core.overlay import Overlay
from memoryreview.core.tidy.plan import plan

LINE = "- Yesterday the rollout failed, cause: expired certificate."
TREE: Tree = {
    "log.md": f"## 2026-05-20\n\n{LINE}\n- Moved 13/04/2025.\n- Not 03/04/2025.\n".encode(),
    "rules.md": b"- every morning read yesterday's log\n- `today()` helper, tabs (Today / Yesterday)\n",
}
DATED = LINE.replace("Yesterday", "2026-05-19 (Yesterday)")


@pytest.mark.parametrize(
    ("first", "line"), [(None, DATED), (date(2026, 5, 20), DATED), (date(2026, 5, 20).replace(day=18), LINE)]
)
def test_provable_dates_are_written_out_and_the_history_has_a_veto(first: date | None, line: str) -> None:
    def context_of(tree: Tree, delta: Delta) -> Context:
        known = {("log.md", LINE.encode()): first} if first and delta else {}
        return Context(history=History(first_approved=known) if first else None)

    found = plan(TREE, FormatName.MARKDOWN, context_of)

    (step,) = found.steps
    assert step.rule is Kind.DATE_NORMALIZE
    after = dict(Overlay(TREE, step.delta))
    assert after["log.md"].decode() == f"## 2026-05-20\n\n{line}\n- Moved 2025-04-13.\n- Not 03/04/2025.\n"
    assert after["rules.md"] == TREE["rules.md"]
    assert plan(after, FormatName.MARKDOWN, context_of).steps == ()
