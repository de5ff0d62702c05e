"""The digest in words: today's so far, earlier ones, and what was sent."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime

from django.contrib.auth.models import User
from django.utils.translation import gettext as _

from memoryreview.review.models import Digest, Message
from memoryreview.review.operations.configure import may_name_folder
from memoryreview.review.operations.digest import StoreDigest, Told, told_now
from memoryreview.review.operations.notify import endpoint_of

from .links import with_query
from .recorded import in_language
from .words import Moment, listed, moment, plural

_EARLIER_SHOWN = 14
_MESSAGES_SHOWN = 20


@dataclass(frozen=True, slots=True)
class StoreLine:
    slug: str
    url: str
    waiting: str
    applied: int
    trouble: str


@dataclass(frozen=True, slots=True)
class EarlierDigest:
    day: str
    sentence: str
    path: str
    fault: str


@dataclass(frozen=True, slots=True)
class MessageLine:
    """`state` is what came of it so far, in words."""

    id: str
    event: str
    at: Moment
    state: str
    fault: str


@dataclass(frozen=True, slots=True)
class DigestPage:
    sentence: str
    since: Moment
    oldest: Moment | None
    stores: tuple[StoreLine, ...]
    earlier: tuple[EarlierDigest, ...]
    messages: tuple[MessageLine, ...]
    writes_file: bool
    url: str
    may_set_webhook: bool


def digest_page(person: User, now: datetime) -> DigestPage:
    told, endpoint = told_now(person, now), endpoint_of(person)
    earlier = Digest.objects.filter(person=person).order_by("-day")[:_EARLIER_SHOWN]
    messages = Message.objects.filter(person=person).order_by("-created_at")[:_MESSAGES_SHOWN]
    return DigestPage(
        sentence=_sentence(told),
        since=moment(told.since, now),
        oldest=moment(told.oldest, now) if told.oldest else None,
        stores=tuple(_line(store) for store in told.stores),
        earlier=tuple(
            EarlierDigest(one.day.isoformat(), _sentence(Told.of(one.told)), one.path, in_language(one.fault))
            for one in earlier
        ),
        messages=tuple(_message(one, now) for one in messages),
        writes_file=endpoint.writes_file,
        url=endpoint.url,
        may_set_webhook=may_name_folder(person),
    )


def _sentence(told: Told) -> str:
    if told.is_empty:
        return _("Nothing waits, nothing landed by proof, nothing failed.")
    return _("%(waiting)s, %(changes)s landed by proof, %(things)s failed.") % {
        "waiting": plural(told.waiting, "proposal waits", "proposals wait"),
        "changes": plural(told.applied, "change"),
        "things": plural(told.failed, "thing"),
    }


def _line(store: StoreDigest) -> StoreLine:
    troubles = []
    if store.failed:
        troubles.append(_("%(approvals)s could not be applied") % {"approvals": plural(store.failed, "approval")})
    if store.is_paused:
        troubles.append(_("capturing is paused"))
    if store.push_fails:
        troubles.append(_("its copy cannot be pushed"))
    risks = {_("high risk"): store.high, _("medium"): store.medium, _("low"): store.low}
    return StoreLine(
        slug=store.slug,
        url=with_query("/", store=store.slug),
        waiting=listed(f"{count} {risk}" for risk, count in risks.items() if count) or _("nothing waits"),
        applied=store.applied,
        trouble=listed(troubles),
    )


def _message(message: Message, now: datetime) -> MessageLine:
    tries = plural(message.attempts, "attempt")
    if message.arrived_at is not None and message.due_at is None:
        state = _("arrived, %(tries)s") % {"tries": tries}
    elif message.due_at is None:
        state = _("given up, %(tries)s") % {"tries": tries}
    else:
        state = _("on its way, %(tries)s") % {"tries": tries}
    return MessageLine(
        str(message.pk), message.event, moment(message.created_at, now), state, in_language(message.fault)
    )
