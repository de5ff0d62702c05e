"""What is searched: derived from the baselines, and worth nothing without them."""

from __future__ import annotations

from django.db import models

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
