"""Why a proposal waits, what of it was proved and applied already, and what scanners saw."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from django.utils.translation import gettext as _

from memoryreview.core.concerns import Concern
from memoryreview.core.model import Finding, Severity, Verdict
from memoryreview.review.models import Proposal, Revision
from memoryreview.review.operations.errors import finding_json

from . import links
from .recorded import in_language, title_in_language, together
from .rows import concern_words
from .words import Words, kind_words, listed, short_oid, span_words

_SHOWN = 12
_TOLD_BY_ACTIONS = frozenset({Concern.STOPPED, Concern.MASS, Concern.DELETES, Concern.WIDENS, Concern.MISLABELLED})


@dataclass(frozen=True, slots=True)
class Why:
    """One reason to wait: what it does, in words, and what speaks against doing it unasked."""

    words: str
    title: str
    sentence: str
    place: str


@dataclass(frozen=True, slots=True)
class Landed:
    """A part that was proved and stands in the baseline already."""

    title: str
    rule: str
    oid: str
    url: str


@dataclass(frozen=True, slots=True)
class FindingView:
    label: str
    message: str
    rule: str
    place: str


@dataclass(frozen=True, slots=True)
class Grounds:
    """`mismatch` says where the agent's own label disagrees; the counts are of all, also of what is not shown."""

    concerns: tuple[str, ...]
    why: tuple[Why, ...]
    more_why: int
    mismatch: str
    landed: tuple[Landed, ...]
    findings: tuple[FindingView, ...]
    finding_count: int


def grounds(proposal: Proposal, revision: Revision) -> Grounds:
    waiting = [action for action in revision.actions if _waits(action)]
    return Grounds(
        concerns=concern_words(proposal, beyond=_TOLD_BY_ACTIONS),
        why=_why(waiting),
        more_why=max(0, len(waiting) - _SHOWN),
        mismatch=_mismatch(proposal),
        landed=_landed(revision.actions),
        findings=tuple(_finding(finding) for finding in revision.findings[:_SHOWN]),
        finding_count=len(revision.findings),
    )


def _waits(action: dict[str, Any]) -> bool:
    return "commit" not in action and action["verdict"] != Verdict.SAFE


def _why(waiting: list[dict[str, Any]]) -> tuple[Why, ...]:
    return tuple(
        Why(
            kind_words(action["kind"]),
            title_in_language(action["title"]),
            together(in_language(reason) for reason in action.get("reasons", ())),
            _where(action),
        )
        for action in waiting[:_SHOWN]
    )


def _where(action: dict[str, Any]) -> str:
    """Name the place as the reviewer sees it: in the proposed text, else in the present one."""
    span = action["new_lines"] or action["lines"]
    if not span:
        return str(action["path"])
    return _("%(path)s, %(lines)s") % {"path": action["path"], "lines": span_words(*span)}


def _mismatch(proposal: Proposal) -> str:
    """Say where the agent's own label disagrees with what the server found; labels are advice."""
    claimed = proposal.claimed_kind
    if not proposal.label_disagrees:
        return ""
    others = [kind for kind in proposal.kinds if kind != claimed]
    found = listed([kind_words(kind)[0].lower() + kind_words(kind)[1:] for kind in others])
    values = {"claimed": claimed, "found": found}
    if len(others) < len(proposal.kinds):
        return _("The agent called it “%(claimed)s”; by its bytes it also %(found)s.") % values
    return _("The agent called it “%(claimed)s”; by its bytes it %(found)s.") % values


def _landed(actions: list[dict[str, Any]]) -> tuple[Landed, ...]:
    """Return one line per commit: a rule often lands many alike."""
    titles: dict[tuple[str, str], list[str]] = {}
    for action in actions:
        if "commit" in action:
            titles.setdefault((action["kind"], action["commit"]), []).append(title_in_language(action["title"]))
    return tuple(
        Landed(
            title=alike[0]
            + (_(", and %(alike)s more alike") % {"alike": f"{len(alike) - 1:,}"} if len(alike) > 1 else ""),
            rule=rule,
            oid=short_oid(oid),
            url=links.oid_url(oid),
        )
        for (rule, oid), alike in titles.items()
    )


def finding_view(finding: Finding) -> FindingView:
    return _finding(finding_json(finding))


_SEVERITY_WORDS = Words({Severity.BLOCK: "Blocked", Severity.REVIEW: "Look closely", Severity.NOTE: "Note"})


def _finding(finding: dict[str, Any]) -> FindingView:
    severity = Severity(finding["severity"])
    line = _("line %(line)s") % {"line": finding["line"]} if finding.get("line") else ""
    return FindingView(
        label=_SEVERITY_WORDS[severity],
        message=in_language(finding["message"]),
        rule=finding["rule"],
        place=_("%(path)s, %(lines)s") % {"path": finding["path"], "lines": line}
        if finding.get("path") and line
        else finding.get("path") or line,
    )
