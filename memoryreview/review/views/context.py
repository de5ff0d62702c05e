"""What every page has around it."""

from __future__ import annotations

from django.http import HttpRequest

from memoryreview.review.models import Proposal, Reason, Store
from memoryreview.review.presenters import keys

from .stepup import asks_password

THEMES = ("light", "dark")
COUNTED_AT_MOST = 1000

# Which entry of the header is the current one.
_SECTIONS = {
    "queue": "queue",
    "proposal": "queue",
    "edit": "queue",
    "stores": "stores",
    "store": "stores",
    "document": "stores",
    "document-links": "stores",
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
    "health": "health",
    "help": "help",
    "help-page": "help",
}


def frame(request: HttpRequest) -> dict[str, object]:
    """Context processor: theme, header, key bindings, and how much waits."""
    theme = request.COOKIES.get("theme", "")
    match = request.resolver_match
    user = getattr(request, "user", None)
    is_signed_in = user is not None and user.is_authenticated
    return {
        "theme": theme if theme in THEMES else "auto",
        "section": _SECTIONS.get(match.url_name or "", "") if match else "",
        "person": user.get_username() if user is not None and is_signed_in else "",
        "waiting": waiting_words(request) if is_signed_in else "",
        "alarmed": lambda: _alarmed(request) if is_signed_in else [],
        "bindings": keys.BINDINGS,
        "bindings_json": keys.as_json(),
        "footer_hints": keys.footer_hints(),
        "key": keys.BY_ACT,
        "reasons": [str(reason) for reason in Reason],
        "asks_password": is_signed_in and asks_password(request),
    }


def _alarmed(request: HttpRequest) -> list[str]:
    """Return the stores whose folder looks lost; asked for by whole pages only."""
    return list(
        Store.objects.visible_to(request.user).exclude(alarm="").order_by("slug").values_list("slug", flat=True)
    )


def waiting_words(request: HttpRequest) -> str:
    """Return how many proposals wait for this person, "1,000+" from there on: an exact count grows with the queue."""
    waiting = Proposal.objects.visible_to(request.user).waiting()
    count = waiting[: COUNTED_AT_MOST + 1].count()
    return f"{COUNTED_AT_MOST:,}+" if count > COUNTED_AT_MOST else str(count)
