"""One planned run, applied in memory."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from memoryreview.core.classify.verify import verify
from memoryreview.core.model import Context, Delta, FormatName, Kind, Tree, Verdict
from memoryreview.core.overlay import Overlay
from memoryreview.core.tidy.model import Plan, Suggestion
from memoryreview.core.tidy.plan import Wishes, plan


def tree_of(files: Mapping[str, str | bytes]) -> dict[str, bytes]:
    return {path: text if isinstance(text, bytes) else text.encode() for path, text in files.items()}


def planned(files: Mapping[str, str | bytes], form: str = "claude", *, wishes: Wishes | None = None, **of: Any) -> Plan:
    """Plan a run; `of` are fields of the context."""
    context = Context(format=FormatName(form), **of)
    return plan(tree_of(files), FormatName(form), lambda tree, delta: context, wishes)


def tidied(files: Mapping[str, str | bytes], form: str = "claude", **of: Any) -> dict[str, bytes]:
    """Return the documents after a run; every step of it verifies against the tree that it lands on."""
    tree: Tree = tree_of(files)
    context = Context(format=FormatName(form), **of)
    for step in planned(files, form, **of).steps:
        after = Overlay(tree, step.delta)
        assert step.classification.verdict is Verdict.SAFE
        assert {action.kind for action in step.classification.actions} == {step.rule}
        assert verify(tree, after, step.proof, context)
        tree = dict(after)
    return dict(tree)


def rules(run: Plan) -> list[Kind]:
    return [step.rule for step in run.steps]


def one(run: Plan, kind: str) -> Suggestion:
    [found] = [suggestion for suggestion in run.suggestions if suggestion.kind == kind]
    return found


def text_of(delta: Delta, path: str) -> str:
    new = delta[path]
    assert new is not None
    return new.decode()
