"""Erasing: what a preview found, in sentences that never hold the text; and what an erasure did."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace

from django.utils.translation import gettext as _

from memoryreview.core.names import shown
from memoryreview.review.models import Change, ChangeKind, Erasure, ErasureState, Store
from memoryreview.review.operations.erase import Preview, Spot
from memoryreview.review.operations.errors import CannotApplyError
from memoryreview.review.operations.stores import reading

from . import links
from .documents import Raw, raw
from .recorded import in_language, title_in_language
from .words import listed, plural

_NAMES_SHOWN = 5


@dataclass(frozen=True, slots=True)
class Asked:
    """What the form asks for, apart from a typed text: that is in no address, page or row.

    Args:
        path: the document that goes whole, or, with `change`, the one whose lines go.
        change: full id of the commit in which the lines are chosen; `first` and `last` are 1-based.
    """

    path: str = ""
    change: str = ""
    first: int = 0
    last: int = 0

    @property
    def is_text(self) -> bool:
        return not self.path


@dataclass(frozen=True, slots=True)
class ErasePage:
    """`facts` say where the text stands; `raw` are the lines to choose from; `shown` goes back to confirm."""

    slug: str
    url: str
    store_url: str
    asked: Asked
    raw: Raw | None = None
    what: str = ""
    shown: str = ""
    mark: str = ""
    is_empty: bool = False
    facts: tuple[str, ...] = ()
    spots: tuple[Spot, ...] = ()
    earlier: tuple[EarlierErasure, ...] = ()


@dataclass(frozen=True, slots=True)
class EarlierErasure:
    title: str
    url: str


@dataclass(frozen=True, slots=True)
class ErasedView:
    """The trace of an erasure, on the page of its change."""

    facts: tuple[str, ...]
    left: tuple[str, ...]


def erase_page(store: Store, asked: Asked, change: Change | None, preview: Preview | None) -> ErasePage:
    """Prepare the page: the form at first, and what would be erased once there is a preview."""
    basis = ErasePage(
        slug=store.slug, url=links.erase_url(store.slug), store_url=links.store_url(store.slug), asked=asked
    )
    if preview is None:
        return replace(basis, raw=_lines(change, asked.path) if change is not None else None, earlier=_earlier(store))
    return replace(
        basis,
        what=_what(asked),
        shown=preview.shown,
        mark=preview.mark,
        is_empty=preview.is_empty,
        facts=tuple(_facts(preview, asked)),
        spots=preview.spots,
    )


def _lines(change: Change, path: str) -> Raw | None:
    try:
        with reading(change.store) as repository:
            content = repository.snapshot(change.oid).get(path)
            return None if content is None else raw(content)
    except CannotApplyError:
        return None


def _earlier(store: Store) -> tuple[EarlierErasure, ...]:
    found = Change.objects.filter(store=store, kind=ChangeKind.ERASE).select_related("store").order_by("-pk")
    return tuple(EarlierErasure(title_in_language(one.title), links.change_url(one)) for one in found[:20])


def _what(asked: Asked) -> str:
    if asked.is_text:
        return _("the text that you typed")
    if not asked.change:
        return _("the document “%(shown)s”") % {"shown": shown(asked.path)}
    lines = (
        _("line %(first)s") % {"first": asked.first}
        if asked.first == asked.last
        else _("lines %(first)s to %(last)s") % {"first": asked.first, "last": asked.last}
    )
    return _("%(lines)s of “%(shown)s”") % {"lines": lines, "shown": shown(asked.path)}


def _facts(preview: Preview, asked: Asked) -> Iterator[str]:
    if preview.commits:
        where = _(", in %(names)s") % {"names": _names(preview.documents)} if preview.documents else ""
        yield _("It stands in %(commits)s of %(all)s%(where)s.") % {
            "commits": f"{preview.commits:,}",
            "all": plural(preview.of_commits, "commit"),
            "where": where,
        }
    else:
        yield _("No commit holds it.")
    if preview.moved:
        yield (
            _(
                "%(commits)s will have another id. The old ids go on working, in addresses and as the base "
                "of a proposal."
            )
            % {"commits": plural(preview.moved, "commit")}
        )
    if preview.on_disk:
        names = {"names": _names(preview.on_disk)}
        is_removed = asked.path and not asked.change
        yield (
            _("%(names)s is removed from the memory folder itself.") % names
            if is_removed
            else _("%(names)s will change in the memory folder itself.") % names
        )
    if preview.proposals:
        yield _("Proposals that hold it: %(proposals)s.") % {"proposals": f"{preview.proposals:,}"}
    if preview.decisions:
        yield _("Decisions whose note holds it: %(decisions)s.") % {"decisions": f"{preview.decisions:,}"}
    if preview.others:
        yield _("Other records that hold it: %(others)s.") % {"others": f"{preview.others:,}"}
    if preview.backups:
        yield (
            _("%(backups)s made before, with all stores in it, will be removed: %(names)s. Make a new one afterwards.")
            % {"backups": plural(len(preview.backups), "backup"), "names": _names(preview.backups)}
        )

    yield from map(in_language, preview.elsewhere)


def _names(paths: tuple[str, ...]) -> str:
    more = len(paths) - _NAMES_SHOWN
    names = [f"“{shown(path)}”" for path in paths[:_NAMES_SHOWN]]
    return listed([*names, _("%(more)s more") % {"more": more}] if more > 0 else names)


def erased_view(change: Change) -> ErasedView | None:
    """Return what an erasure did, None for a change of another kind."""
    if change.kind != ChangeKind.ERASE:
        return None
    erasure = Erasure.objects.filter(store=change.store, decision=change.decision).first()
    if erasure is None:
        return None
    counts = {
        "commit": erasure.commits,
        "document": erasure.documents,
        "proposal": erasure.proposals,
        "decision": erasure.decisions,
    }
    stood = [plural(count, noun) for noun, count in counts.items() if count]
    facts = [_("It stood in %(places)s.") % {"places": listed(stood)}] if stood else []
    if erasure.moved:
        facts.append(
            _("%(commits)s got another id. The old ids go on working.") % {"commits": plural(erasure.moved, "commit")}
        )
    if erasure.withdrawn:
        facts.append(
            _("%(proofs)s of safe edits went with it and cannot be replayed.")
            % {"proofs": plural(len(erasure.withdrawn), "proof")}
        )
    left = [in_language(one) for one in erasure.left]
    if erasure.state != ErasureState.DONE:
        left.append(_("Old objects or documents are still being removed; any use of the store carries on with it."))
    elif not erasure.forgotten:
        left.append(
            _(
                "The database could not be written anew yet, since it was in use: old pages of its file may "
                "still hold the text. memoryreview tries again at each start."
            )
        )
    return ErasedView(tuple(facts), tuple(left))
