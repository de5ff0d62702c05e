"""What may be applied without a person: bytes in, verdict out."""

from __future__ import annotations

from bisect import bisect_left
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import replace

from memoryreview.core.formats import of
from memoryreview.core.formats.index import rows
from memoryreview.core.model import (
    SAFE_KINDS,
    Action,
    Classification,
    Context,
    Delta,
    Finding,
    Kind,
    Rewrite,
    Scope,
    Severity,
    Tree,
    Verdict,
)
from memoryreview.core.overlay import Overlay, delta_of
from memoryreview.core.scan import new_findings, scan
from memoryreview.core.text import apply_rewrites, normalise

from . import health, loaded, mass, moves, reasons, rename, titles, turns, whole
from .budget import MAX_SINGLE_CHECKS, MAX_SINGLE_CHECKS_OF_NAMES, Budget
from .changed import ChangedDocument
from .document import read
from .draft import Draft, entry_count, entry_texts
from .rules import index_prune
from .rules.successors import Successors
from .verify import ACROSS_DOCUMENTS, verify

_REFUSED = frozenset({Kind.NOT_UTF8, Kind.LINE_ENDS, Kind.DELIMITER, Kind.NAME_CLASH, Kind.OVER_SIZE})
_PROMOTED = frozenset({Kind.FACT_ADD, Kind.FACT_REWRITE, Kind.FILE_ADD, Kind.INDEX_ADD, Kind.META_CHANGE})
_OF_WHOLE_TEXT = frozenset({Kind.VERIFIED_UPDATE, Kind.META_STAMP})
_TEXT_MESSAGES = {
    "weekday-disagrees": "The weekday on this line is not that of the date.",
    "date-far-off": "The date on this line lies far from all others of the document.",
}
_CONTEXT_BYTES = 400
_MAX_SCANNED_CONTEXT_BYTES = 16 * 1024
_MIN_SCANNED_CONTEXT_BYTES = 1024
_SHARED_CONTEXT_BYTES = 512 * 1024


def classify(base: Tree, proposed: Tree, context: Context) -> Classification:
    """Split the difference between two trees into actions. Total on arbitrary bytes, deterministic, no clock.

    What goes beyond `budget.Budget` waits: its document is one action, or its proof is not tried.

    A safe action's proof passes `verify`. Actions are sorted by (path, line); a `mass.change` stands above the actions
    that it counts, with an empty path when it speaks of the whole store. When `proposed` is an `overlay.Overlay` over
    `base` only its changed documents are compared, so cost follows the change, not the store.
    """
    delta = delta_of(base, proposed)
    if not delta:
        return Classification(Verdict.UNCHANGED, ())
    return _Revision(base, proposed, delta, context).classification()


class _Revision:
    def __init__(self, base: Tree, proposed: Tree, delta: Delta, context: Context) -> None:
        self._base, self._proposed, self._delta, self._context = base, proposed, delta, context
        self._staying: set[str] = set()
        self._following: set[str] = set()
        self._budget = Budget()
        self._successors = Successors(base, proposed, context, self._budget)
        self._entries = mass.Entries(base, context, self._budget)
        self._unchecked: set[int] = set()
        self._fresh: dict[tuple[str, bytes, bytes], tuple[Finding, ...]] = {}

    def classification(self) -> Classification:
        drafts = moves.told(self._drafts(), self._budget)
        drafts = self._confirmed(self._few_pruned(self._absorbed(drafts)))
        drafts = loaded.told(drafts, self._base, self._proposed, self._context)
        crowd = mass.find(drafts, self._staying, self._entries)
        drafts += [crowd] if crowd else []
        drafts.sort(key=lambda draft: (draft.path, draft.kind is not Kind.MASS_CHANGE, draft.old[0], draft.new[0]))
        actions = tuple(self._action(draft) for draft in drafts)
        return Classification(_verdict(actions), actions, (*self._findings(), *_text_findings(drafts)))

    def _drafts(self) -> list[Draft]:
        names = rename.find(self._delta, self._base)
        renames, renamed = rename.Renames(names, self._base), {*names, *names.values()}
        added = {path for path, after in self._delta.items() if after is not None and path not in self._base}
        clashes = health.name_clashes(added, self._proposed)
        format_ = of(self._context.format)
        found: list[Draft] = []
        followed: list[str] = []
        refused: set[str] = set()
        for path in sorted(self._delta):
            before, after = self._base.get(path), self._delta[path]
            refusal = health.refusal(path, before, after, self._context)
            if path in clashes:
                refusal = Kind.NAME_CLASH, f"“{path}” and “{clashes[path]}” are one name on many disks. Choose another."
            if refusal:
                refused.add(path)
                found.append(whole.refused(path, *refusal, before, after))
            elif format_.is_generated(path):
                refused.add(path)
                found.append(whole.recorded(path, before, after))
            elif path not in renamed:
                drafts, links = self._of_document(path, before, after, renames)
                found += drafts
                followed += links
        for old, new in names.items():
            if old not in refused and new not in refused:
                found.append(whole.renamed(old, new, followed.count(old)))
        return found

    def _of_document(
        self, path: str, before: bytes | None, after: bytes | None, renames: rename.Renames
    ) -> tuple[list[Draft], list[str]]:
        if before is None or after is None:
            data = before if before is not None else after or b""
            draft = (whole.deleted if after is None else whole.added)(path, data, self._context, self._budget)
            self._staying.update(draft.come)
            return [draft], []
        if not self._pays_reading(before, after):
            return [self._unread(path, before, after)], []
        changed = ChangedDocument(path, self._successors, self._context, renames, self._budget)
        self._staying.update(entry_texts(changed.new))
        self._entries.known[path] = entry_count(changed.old)
        self._following.update([path] if changed.followed else [])
        return changed.drafts(), changed.followed

    def _pays_reading(self, before: bytes, after: bytes) -> bool:
        if max(len(before), len(after)) > self._context.limits.file_bytes:
            return self._budget.pays_splitting(before, after)
        return self._budget.pays_parsing(before, after)

    def _unread(self, path: str, before: bytes, after: bytes) -> Draft:
        """Return the action of a document that is too large to be parsed: its lines count as entries, if that much."""
        states = (before, after) if self._budget.pays_splitting(before, after) else (b"", b"")
        old, new = (read(path, data, self._context, is_delimited=False, is_plain=True) for data in states)
        self._staying.update(entry_texts(new))
        self._entries.known[path] = entry_count(old)
        return whole.rewritten(path, before, after, reasons.TOO_LARGE, (old, new))

    def _absorbed(self, drafts: list[Draft]) -> list[Draft]:
        """Drop the additions that a trimmed row brings to its target: they are part of that proof."""
        moved = [rewrite.path for draft in drafts for rewrite in draft.rewrites if rewrite.path != draft.path]
        twice = {path for path, count in Counter(moved).items() if count > 1}
        drafts = [_held(d, reasons.NOT_CONFIRMED) if _reaches(d, twice) else d for d in drafts]
        absorbed = set(moved) - twice
        settled = {d.path for d in drafts if d.path in absorbed and (d.rewrites or d.kind in _REFUSED)}
        drafts = [_held(d, reasons.NOT_CONFIRMED) if _reaches(d, settled) else d for d in drafts]
        return [draft for draft in drafts if draft.path not in absorbed - settled]

    def _few_pruned(self, drafts: list[Draft]) -> list[Draft]:
        """Let all rows whose documents are gone wait when they are many: nobody chooses which of them may go."""
        pruned = Counter(d.path for d in drafts if d.rewrites and d.kind is Kind.INDEX_PRUNE)
        counts = {path: len(rows(self._base[path])) for path in pruned}
        if index_prune.are_few(pruned, counts):
            return drafts
        return [_dropped(d, index_prune.TOO_MANY) if d.kind is Kind.INDEX_PRUNE else d for d in drafts]

    def _confirmed(self, drafts: list[Draft]) -> list[Draft]:
        """Keep as safe what the store allows, the scanners are silent about and the second check confirms."""
        off = self._context.switched_off
        drafts = [_held(d, reasons.SWITCHED_OFF) if d.rewrites and d.kind in off else d for d in drafts]
        loud = {id(draft) for draft in self._with_findings([draft for draft in drafts if draft.rewrites])}
        drafts = [_held(draft, reasons.NEW_FINDING) if id(draft) in loud else draft for draft in drafts]
        safe = [draft for draft in drafts if draft.rewrites]
        pushing = loaded.held(safe, self._base, self._applied(safe), self._context)
        drafts = [_held(draft, loaded.PUSHES_OUT) if id(draft) in pushing else draft for draft in drafts]
        groups: dict[tuple[str, Kind], list[Draft]] = {}
        for draft in drafts:
            if draft.rewrites:
                place = "" if draft.kind in ACROSS_DOCUMENTS else draft.path
                groups.setdefault((place, draft.kind), []).append(draft)
        confirmed = {id(draft) for key in sorted(groups) for draft in self._verified(groups[key])}
        drafts = [self._unconfirmed(d) if d.rewrites and id(d) not in confirmed else d for d in drafts]
        safe = [draft for draft in drafts if draft.rewrites]
        out_of_turn = turns.held(safe, self._base, self._context, self._budget)
        drafts = [_held(draft, reasons.AFTER_OTHERS) if id(draft) in out_of_turn else draft for draft in drafts]
        return self._with_their_text(drafts)

    def _with_their_text(self, drafts: list[Draft]) -> list[Draft]:
        """Let what speaks of a whole document wait while anything else in that document does."""
        waiting = {draft.path for draft in drafts if not draft.rewrites} | self._following
        return [
            _held(d, reasons.WITH_TEXT) if d.rewrites and d.kind in _OF_WHOLE_TEXT and d.path in waiting else d
            for d in drafts
        ]

    def _unconfirmed(self, draft: Draft) -> Draft:
        return _held(draft, reasons.UNCHECKED if id(draft) in self._unchecked else reasons.NOT_CONFIRMED)

    def _verified(self, together: list[Draft]) -> list[Draft]:
        """Return those drafts of one rule that the second check confirms, together or each alone."""
        if self._verifies(together):
            return together
        asks_for_names = together[0].kind is Kind.LINK_RETARGET
        if len(together) > (MAX_SINGLE_CHECKS_OF_NAMES if asks_for_names else MAX_SINGLE_CHECKS):
            self._unchecked.update(map(id, together))
            return []
        alone = [draft for draft in together if self._verifies([draft])]
        return alone if self._verifies(alone) else []

    def _verifies(self, drafts: list[Draft]) -> bool:
        if not drafts:
            return True
        changed = self._applied(drafts)
        if changed and not self._budget.pays_parsing(*changed.values()):
            self._unchecked.update(map(id, drafts))
            return False
        return bool(changed) and verify(self._base, Overlay(self._base, changed), turns.proof_of(drafts), self._context)

    def _applied(self, drafts: Iterable[Draft]) -> dict[str, bytes]:
        """Return the documents that the drafts change, as they leave them; none when two are in each other's way."""
        rewrites: dict[str, list[Rewrite]] = {}
        for rewrite in turns.rewrites_of(drafts):
            rewrites.setdefault(rewrite.path, []).append(rewrite)
        try:
            return {path: apply_rewrites(self._base[path], own) for path, own in rewrites.items()}
        except ValueError:
            return {}

    def _with_findings(self, drafts: list[Draft]) -> list[Draft]:
        """Return the drafts in whose result a scanner sees something new: looked at together, alone where it does."""
        by_path: dict[str, list[Draft]] = {}
        for draft in drafts:
            for path in {rewrite.path for rewrite in draft.rewrites}:
                by_path.setdefault(path, []).append(draft)
        loud: list[Draft] = []
        for path, own in by_path.items():
            after = self._applied(own).get(path)
            if after is not None and not self._new_findings(path, self._base[path], after):
                continue
            alone = [draft for draft in own if self._shows_findings(draft)] if len(own) <= MAX_SINGLE_CHECKS else []
            loud += alone or own
        return loud

    def _shows_findings(self, draft: Draft) -> bool:
        for rewrite in draft.rewrites:
            data = self._base[rewrite.path]
            start, end = max(rewrite.start - _CONTEXT_BYTES, 0), rewrite.end + _CONTEXT_BYTES
            before = data[start:end]
            after = data[start : rewrite.start] + rewrite.new + data[rewrite.end : end]
            if new_findings(_text(before), _text(after), path=rewrite.path, scope=self._scope):
                return True
        return False

    @property
    def _scope(self) -> Scope:
        return Scope.TEAM if self._context.promoted_from else Scope.PRIVATE

    def _findings(self) -> Iterator[Finding]:
        old_names = {new: old for old, new in rename.find(self._delta, self._base).items()}
        for path in sorted(self._delta):
            after = self._delta[path]
            if after is None or len(after) > self._context.limits.refused_bytes:
                continue
            if path in old_names:
                yield from scan("", path=path, scope=self._scope)
            yield from self._new_findings(path, self._base.get(old_names.get(path, path), b""), after)

    def _new_findings(self, path: str, before: bytes, after: bytes) -> tuple[Finding, ...]:
        """Return what the scanners see in a document that they did not see before."""
        key = (path, before, after)
        if key not in self._fresh:
            # The name of a document that stands is not new.
            name = "" if before else path
            start, before, after = _window(before, after, self._scanned_context)
            if before and self._budget.pays_knowing(before):
                found = new_findings(_text(before), _text(after), path=name, scope=self._scope)
            else:
                found = scan(_text(after), path=name, scope=self._scope)
            self._fresh[key] = tuple(replace(finding, path=path, line=finding.line + start) for finding in found)
        return self._fresh[key]

    @property
    def _scanned_context(self) -> int:
        """Bytes around a change that are scanned with it; the more documents change, the fewer of each."""
        share = _SHARED_CONTEXT_BYTES // len(self._delta)
        return min(max(share, _MIN_SCANNED_CONTEXT_BYTES), _MAX_SCANNED_CONTEXT_BYTES)

    def _action(self, draft: Draft) -> Action:
        verdict = _verdict_of(draft)
        kind, title, why = draft.kind, draft.title, draft.reasons
        if self._context.promoted_from and kind in _PROMOTED | SAFE_KINDS and verdict is Verdict.REVIEW:
            why = (f"It comes from “{self._context.promoted_from}” and would be read by the whole team.", *why)
            shown = (
                titles.plain(draft.path) if kind is Kind.FILE_ADD else titles.label(draft.new_text or draft.old_text)
            )
            kind, title = Kind.SCOPE_PROMOTE, titles.shorten(f"Promote “{shown}” to team")
        return Action(
            kind=kind,
            verdict=verdict,
            path=draft.path,
            lines=_people_lines(draft.old),
            new_lines=_people_lines(draft.new),
            old=draft.old_text,
            new=draft.new_text,
            title=titles.shorten(title),
            proof=turns.proof_of([draft]) if verdict is Verdict.SAFE else None,
            reasons=why,
        )


def _window(before: bytes, after: bytes, context: int) -> tuple[int, bytes, bytes]:
    """Return what two large texts do not share, with so many bytes of context, and the number of lines cut off above.

    Findings of equal text cancel each other out, so what is far from every change need not be scanned.
    """
    shorter = min(len(before), len(after))
    if shorter <= 4 * context:
        return 0, before, after
    shared = bisect_left(range(shorter), 1, key=lambda size: before[: size + 1] != after[: size + 1])
    start = before.rfind(b"\n", 0, max(shared - context, 0)) + 1
    rest = shorter - shared
    tail = bisect_left(range(rest), 1, key=lambda size: before[-size - 1 :] != after[-size - 1 :])
    cut = before.find(b"\n", len(before) - max(tail - context, 0))
    after_end = len(after) - (len(before) - cut) if cut >= 0 else len(after)
    return before.count(b"\n", 0, start), before[start : cut if cut >= 0 else len(before)], after[start:after_end]


def _held(draft: Draft, why: str) -> Draft:
    return replace(draft, rewrites=(), reasons=(*draft.reasons, why))


def _dropped(draft: Draft, why: str) -> Draft:
    """Return the removal of a row as what it is when no rule carries it: the loss of an entry."""
    title = f"Drop the row “{titles.label(draft.old_text, 80)}”"
    gone = (normalise(titles.unmarked(draft.old_text)),)
    return replace(draft, kind=Kind.INDEX_DROP, title=title, rewrites=(), gone=gone, reasons=(why,))


def _reaches(draft: Draft, paths: Iterable[str]) -> bool:
    return any(rewrite.path in paths for rewrite in draft.rewrites if rewrite.path != draft.path)


def _verdict_of(draft: Draft) -> Verdict:
    if draft.kind in _REFUSED:
        return Verdict.REFUSED
    if draft.kind is Kind.TOOL_GENERATED:
        return Verdict.RECORDED
    return Verdict.SAFE if draft.rewrites else Verdict.REVIEW


def _verdict(actions: tuple[Action, ...]) -> Verdict:
    verdicts = {action.verdict for action in actions}
    if Verdict.REFUSED in verdicts:
        return Verdict.REFUSED
    if not verdicts:
        return Verdict.REVIEW
    decided = verdicts - {Verdict.RECORDED}
    if not decided:
        return Verdict.RECORDED
    return Verdict.MIXED if len(decided) > 1 else decided.pop()


def _text_findings(drafts: list[Draft]) -> Iterator[Finding]:
    for draft in drafts:
        if draft.finding:
            message = _TEXT_MESSAGES[draft.finding]
            length = len(draft.new_text.split("\n", 1)[0])
            yield Finding("text", draft.finding, Severity.REVIEW, draft.new[0] + 1, 1, length, message, draft.path)


def _people_lines(span: tuple[int, int]) -> tuple[int, int] | None:
    first, stop = span
    return (first + 1, stop) if stop > first else None


def _text(data: bytes) -> str:
    return data.decode("utf-8", "replace")
