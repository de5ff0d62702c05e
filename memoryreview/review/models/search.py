"""What is searched: derived from the baselines, and worth nothing without them."""

from __future__ import annotations

from django.db import models

from .proposal import Proposal
from .store import Store


class SearchedDocument(models.Model):
    """Name and text of one approved document, folded by `core.search.fold`; `blob` is the text's id in the baseline.

    On SQLite triggers keep the trigrams of `text` in the table `review_searched_trigrams`; whoever changes this table
    in a migration makes them anew, since SQLite forgets triggers with the table.
    """

    store = models.ForeignKey(Store, models.CASCADE, related_name="+")
    path = models.TextField()
    blob = models.CharField(max_length=40)
    text = models.TextField()

    class Meta:
        constraints = [models.UniqueConstraint(fields=["store", "path"], name="searched_document_once")]


class SearchedStore(models.Model):
    """Up to which head a store's documents were read for searching."""

    store = models.OneToOneField(Store, models.CASCADE, related_name="+")
    head = models.CharField(max_length=40)


class SearchedProposal(models.Model):
    """What is searched of one proposal that may still land, folded; see `operations.queue_search`.

    `place` rises in the order of the queue, so that what an index finds comes in that order. On SQLite triggers keep
    the trigrams of `text` in the table `review_queued_trigrams`, as for documents.
    """

    place = models.BigIntegerField(primary_key=True)
    proposal = models.OneToOneField(Proposal, models.CASCADE, related_name="+")
    text = models.TextField()
