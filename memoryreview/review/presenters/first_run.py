"""The way from no store to the first captured change: what is done, and what is true now."""

from __future__ import annotations

from dataclasses import dataclass

from django.conf import settings
from django.contrib.auth.models import User

from memoryreview.review.models import Change, ChangeKind, Proposal, Store
from memoryreview.review.operations.configure import may_name_folder

from .links import store_url
from .words import plural


@dataclass(frozen=True, slots=True)
class FirstStore:
    """The store to try it with. `example` is one of its documents, "" when it has none."""

    slug: str
    url: str
    root: str
    count: str
    example: str


@dataclass(frozen=True, slots=True)
class FirstRun:
    store: FirstStore | None
    may_name_folder: bool
    api_url: str
    hook_command: str


def first_run(person: User) -> FirstRun | None:
    """Return what leads to the first change, None once there was one."""
    began = Change.objects.visible_to(person).filter(kind=ChangeKind.ADOPT).select_related("store").order_by("-pk")
    if (
        Proposal.objects.visible_to(person).exists()
        or Change.objects.visible_to(person).exclude(kind=ChangeKind.ADOPT).exists()
    ):
        return None
    change = began.first()
    slug = change.store.slug if change is not None else "my-store"
    return FirstRun(
        store=_store(change.store, change.paths) if change is not None else None,
        may_name_folder=may_name_folder(person),
        api_url=settings.PUBLIC_URL,
        hook_command=hook_command(f"{settings.PUBLIC_URL}/hooks/v1/claude-code", slug),
    )


def _store(store: Store, paths: list[str]) -> FirstStore:
    return FirstStore(
        store.slug, store_url(store.slug), store.root, plural(len(paths), "document"), paths[0] if paths else ""
    )


def hook_command(url: str, slug: str) -> str:
    """Return shell lines that sign a first proposal and send it; the secret is read from WEBHOOK_SECRET."""
    return f"""ID=first-$(date +%s); AT=$(date +%s)
BODY='{{"type": "memory.proposal", "timestamp": "2026-01-01T00:00:00Z", "data": {{"store": "{slug}", "title": "First note", "operations": [{{"op": "write", "path": "hello.md", "content": "Hello\\n"}}]}}}}'
KEY=$(printf %s "${{WEBHOOK_SECRET#whsec_}}" | base64 -d | od -An -v -tx1 | tr -d ' \\n')
SIGNATURE=$(printf %s "$ID.$AT.$BODY" | openssl dgst -sha256 -mac HMAC -macopt "hexkey:$KEY" -binary | base64)
curl {url} -H "Content-Type: application/json" -H "webhook-id: $ID" \\
  -H "webhook-timestamp: $AT" -H "webhook-signature: v1,$SIGNATURE" -d "$BODY\""""  # noqa: E501  # a line to copy
