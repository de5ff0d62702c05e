"""What every page has around it."""

from __future__ import annotations

from functools import cache

from django.http import HttpRequest
from django.utils import timezone
from django.utils.functional import SimpleLazyObject

from memoryreview.review.operations.waiting import overdue, waiting_count, watched
from memoryreview.review.presenters import keys
from memoryreview.review.presenters.snooze import snooze_choices
from memoryreview.review.presenters.waiting import count_words, oldest_view
from memoryreview.review.presenters.words import REASON_WORDS

from . import language
from .stepup import asks_password
from .watch import badge_url

THEMES = ("light", "dark")

# Which entry of the header is the current one.
_SECTIONS = {
    "queue": "queue",
    "proposal": "queue",
    "touched-lines": "queue",
    "edit": "queue",
    "duplicate": "queue",
    "batch": "queue",
    "adopt": "stores",
    "views": "queue",
    "view-save": "queue",
    "view-rename": "queue",
    "proved": "queue",
    "stores": "stores",
    "store": "stores",
    "document": "stores",
    "document-links": "stores",
    "write-document": "stores",
    "compare-heads": "stores",
    "compare": "stores",
    "search": "stores",
    "history": "history",
    "change": "history",
    "rollback": "history",
    "rollback-together": "history",
    "rollback-by-hand": "history",
    "rollback-selected": "history",
    "restore": "history",
    "tidy": "tidy",
    "tidy-run": "tidy",
    "agents": "agents",
    "teams": "teams",
    "team-invite": "teams",
    "settings": "settings",
    "store-settings": "settings",
    "digest": "queue",
    "digest-webhook": "queue",
    "health": "health",
    "help": "help",
    "help-page": "help",
}


def frame(request: HttpRequest) -> dict[str, object]:
    """Context processor: theme, header, key bindings, and how much waits."""
    theme = request.COOKIES.get("theme", "")
    match = request.resolver_match
    user = getattr(request, "user", None)
    person = user if user is not None and user.is_authenticated else None
    stores = cache(lambda: watched(person) if person else ())  # asked for by whole pages only
    count = cache(lambda: waiting_count(person) if person else 0)
    return {
        "theme": theme if theme in THEMES else "auto",
        "languages": language.choices(request),
        "page_again": language.page_again(request),
        "section": _SECTIONS.get(match.url_name or "", "") if match else "",
        "person": person.get_username() if person else "",
        "waiting": SimpleLazyObject(lambda: count_words(count())) if person else "",  # the queue counts by itself
        "badge": lambda: badge_url(count()),
        "overdue": lambda: oldest_view(overdue(stores()), timezone.now()),
        "alarmed": lambda: [store.slug for store in stores() if store.alarm],
        "bindings": keys.BINDINGS,
        "bindings_json": keys.as_json(),
        "footer_hints": keys.footer_hints(),
        "key": keys.BY_ACT,
        "reasons": REASON_WORDS.items,
        "snoozes": snooze_choices(),
        "asks_password": person is not None and asks_password(request),
    }
