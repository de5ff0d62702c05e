"""What a store is set to, in words: for the list of stores, the form, and who set it before."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime

from django.contrib.auth.models import User
from django.urls import reverse
from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from memoryreview.core.model import SAFE_KINDS, Scope
from memoryreview.review.models import Decision, Store, Verb
from memoryreview.review.operations import configure
from memoryreview.review.operations.configure import Settings
from memoryreview.review.operations.permissions import may_maintain

from .changes import RULE_WORDS
from .links import store_url
from .recorded import in_language
from .words import KIND_WORDS, Moment, moment, plural

_EARLIER_SHOWN = 10


@dataclass(frozen=True, slots=True)
class SettingsRow:
    slug: str
    url: str
    scope: str
    rules: str
    row_chars: int
    evidence: str
    facts: str


@dataclass(frozen=True, slots=True)
class RuleView:
    kind: str
    name: str
    sentence: str
    lands: bool


@dataclass(frozen=True, slots=True)
class Earlier:
    who: str
    what: str
    at: Moment


@dataclass(frozen=True, slots=True)
class SettingsPage:
    """`shown` is what the form carries, whatever was typed into it."""

    slug: str
    url: str
    store_url: str
    root: str
    push_to: str
    scope: str
    is_private: bool
    rules: tuple[RuleView, ...]
    index_row_chars: int
    min_row_chars: int
    max_row_chars: int
    evidence_root: str
    may_name_folder: bool
    passive: bool
    shown: str
    earlier: tuple[Earlier, ...]


def settings_url(slug: str) -> str:
    return reverse("store-settings", args=[slug])


def settings_rows(stores: Iterable[Store], person: User) -> tuple[SettingsRow, ...]:
    """Return the stores that a person may set."""
    return tuple(_row(store, configure.current(store)) for store in stores if may_maintain(person, store))


def _row(store: Store, stated: Settings) -> SettingsRow:
    off = len(stated.switched_off)
    return SettingsRow(
        slug=store.slug,
        url=settings_url(store.slug),
        scope=scope_words(store),
        rules=ngettext("%(rules)s of %(all)s waits", "%(rules)s of %(all)s wait", off)
        % {"rules": plural(off, "rule"), "all": len(SAFE_KINDS)}
        if off
        else _("all land"),
        row_chars=stated.index_row_chars,
        evidence=stated.evidence_root,
        facts=_("land unread") if stated.passive else _("wait"),
    )


def scope_words(store: Store) -> str:
    return _("team %(slug)s") % {"slug": store.team.slug} if store.scope == Scope.TEAM and store.team else _("private")


def settings_page(store: Store, person: User, now: datetime, typed: Settings | None = None) -> SettingsPage:
    """Prepare the form. Args: typed: what the person sent and may correct, None for what is stored."""
    stored = configure.current(store)
    filled = typed or stored
    decisions = Decision.objects.filter(store=store, verb=Verb.CONFIGURE).select_related("person").order_by("-pk")
    return SettingsPage(
        slug=store.slug,
        url=settings_url(store.slug),
        store_url=store_url(store.slug),
        root=store.root,
        push_to=store.push_to,
        scope=scope_words(store),
        is_private=store.scope == Scope.PRIVATE,
        rules=tuple(
            RuleView(str(kind), KIND_WORDS[kind], RULE_WORDS[kind], kind not in filled.switched_off)
            for kind in RULE_WORDS
        ),
        index_row_chars=filled.index_row_chars,
        min_row_chars=Store.MIN_ROW_CHARS,
        max_row_chars=Store.MAX_ROW_CHARS,
        evidence_root=filled.evidence_root,
        may_name_folder=configure.may_name_folder(person),
        passive=filled.passive,
        shown=stored.shown(),
        earlier=tuple(
            Earlier(one.person.get_username() if one.person else "", in_language(one.note), moment(one.at, now))
            for one in decisions[:_EARLIER_SHOWN]
        ),
    )
