"""What a proposal may be a duplicate of, as a form lists it."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from django.utils.translation import gettext as _

from memoryreview.review.operations.duplicates import Original

from . import links
from .rows import author_of, title_of


@dataclass(frozen=True, slots=True)
class OriginalView:
    """One choice: `words` say where it stands, `text` what it says."""

    key: str
    url: str
    words: str
    text: str


def original_views(originals: Iterable[Original], slug: str) -> tuple[OriginalView, ...]:
    return tuple(_view(original, slug) for original in originals)


def _view(original: Original, slug: str) -> OriginalView:
    proposal, place = original.proposal, original.place
    if proposal is not None:
        words = _("proposal %(pk)s by %(author)s") % {"pk": proposal.pk, "author": author_of(proposal)}
        return OriginalView(original.key, links.proposal_url(proposal), words, title_of(proposal))
    assert place is not None, "an original is a proposal or a place"  # noqa: S101
    line = _(", line %(line)s") % {"line": place.line} if place.line else ""
    return OriginalView(original.key, links.document_url(slug, place.path), f"{place.path}{line}", place.text)
