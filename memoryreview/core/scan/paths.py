"""The scanner for document names: characters that hide in them, secrets, and orders to an agent."""

from __future__ import annotations

import re

from .hit import Hit
from .injection import injection_hits
from .secrets import secret_hits
from .unicode import unicode_hits

_SEPARATORS = re.compile(r"[-_/.]")


def path_hits(path: str) -> list[Hit]:
    """Return what stands in the name of a document, at character spans of the name."""
    # One character for one: places in the sentence are places in the name.
    sentence = _SEPARATORS.sub(" ", path)
    hits = [*unicode_hits(path), *secret_hits(path), *injection_hits(sentence)]
    return [
        Hit("path", hit.rule, hit.severity, hit.start, hit.end, f"In the document's name: {hit.message}")
        for hit in hits
    ]
