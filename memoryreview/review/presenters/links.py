"""Addresses of pages. Names of documents may hold any bytes, so their addresses are built from bytes."""

from __future__ import annotations

import re
from collections.abc import Iterable
from functools import cache
from urllib.parse import quote, urlencode

from django.urls import get_script_prefix, reverse

from memoryreview.review.models import Change, ChangeKind, Proposal

_BROKEN_BYTE = re.compile("%([89A-F][0-9A-F])")


def store_url(slug: str) -> str:
    return reverse("store", args=[slug])


def document_url(slug: str, path: str, **query: str) -> str:
    """Return the address of a document; `%`, `&`, `#`, `?`, NFD and bytes that are not UTF-8 survive the way back."""
    url = store_url(slug) + quote(path.encode("utf-8", "surrogateescape"), safe="/")
    return f"{url}?{urlencode(query, errors='surrogateescape')}" if query else url


def readings(path: str) -> tuple[str, ...]:
    """Return the names that the path of an address may stand for, the likeliest first.

    Django writes bytes that are not UTF-8 as percent codes again, so such a code in a decoded path may be a byte.
    """
    as_bytes = _BROKEN_BYTE.sub(lambda code: chr(0xDC00 + int(code[1], 16)), path)
    return (path,) if as_bytes == path else (path, as_bytes)


def change_url(change: Change) -> str:
    """Return the address of a change. Two folders adopted in one second may share their first commit id."""
    return oid_url(change.oid, change.store.slug if change.kind == ChangeKind.ADOPT else "")


def oid_url(oid: str, slug: str = "") -> str:
    url = reverse("change", args=[oid])
    return with_query(url, store=slug)


def erase_url(slug: str, **query: str) -> str:
    """Return where a store's history is erased from. A text that is to go stands in no address."""
    return with_query(reverse("erase", args=[slug]), **query)


def restore_url(slug: str, oid: str) -> str:
    return reverse("restore", args=[slug, oid])


def write_url(slug: str, path: str = "") -> str:
    """Return where a person writes the text of a document; a new one without a name."""
    return with_query(reverse("write-document", args=[slug]), path=path)


def compare_url(slug: str, old: str, new: str) -> str:
    """Return where two heads of a store are compared, by their whole ids."""
    return reverse("compare", args=[slug, old, new])


def history_url(**query: str) -> str:
    return with_query(reverse("history"), **query)


def selected_url(changes: Iterable[int]) -> str:
    """Return where several changes, by primary key, can be rolled back together."""
    return f"{reverse('rollback-selected')}?{urlencode([('change', pk) for pk in changes])}"


def proposal_url(proposal: Proposal | int) -> str:
    pk = proposal if isinstance(proposal, int) else proposal.pk
    return f"{_proposals_url(get_script_prefix())}{pk}"


@cache
def _proposals_url(prefix: str) -> str:
    """Return what stands before the number of a proposal: fifty rows of a list have it in common."""
    return reverse("proposal", args=[0]).removesuffix("0")


def touched_url(proposal: Proposal) -> str:
    """Return where the lines are attributed that a proposal changes."""
    return reverse("touched-lines", args=[proposal.pk])


def with_query(url: str, **query: str) -> str:
    """Return the address with the parameters that are not empty, behind those that it has."""
    stated = {name: value for name, value in query.items() if value}
    joint = "&" if "?" in url else "?"
    return f"{url}{joint}{urlencode(stated, errors='surrogateescape')}" if stated else url
