"""The record with which a safe change is proved again: rule, rewrites, documents, and what the proof depended on."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any
from zoneinfo import ZoneInfo

from django.conf import settings

from memoryreview.core.model import Context, Delta, Evidence, FormatName, Kind, Limits, Proof, Rewrite, Tree


def certificate(proof: Proof, tree: Tree, delta: Delta, context: Context) -> dict[str, Any]:
    """Return what is stored with a change. History is not: the baseline tells it again as of the change's parent.

    Nor are the rules that the store switches off: what was proved then stays proved when its owner changes their mind.
    """
    stated = {
        "rule": str(proof.rule),
        "version": proof.version,
        "rewrites": [
            {"path": r.path, "start": r.start, "end": r.end, "new": r.new.decode("utf-8")} for r in proof.rewrites
        ],
        "base": {path: sha256(tree.get(path)) for path in delta},
        "result": {path: sha256(new) for path, new in delta.items()},
        "context": {
            "format": str(context.format),
            "now": context.now.isoformat() if context.now else "",
            "zone": settings.MACHINE_ZONE,
            "evidence": str(context.evidence),
            "index_row_chars": context.limits.index_row_chars,
        },
    }
    return {**stated, "digest": digest(stated)}


def digest(stated: Mapping[str, Any]) -> str:
    """Return the SHA-256 of a certificate, which its commit names."""
    if "context" not in stated:
        # As the first certificates were named, which depended on the store's format alone.
        first = f"{stated['rule']}/{stated['version']}/{stated['rewrites']}"
        return hashlib.sha256(first.encode()).hexdigest()
    shape = {key: value for key, value in stated.items() if key != "digest"}
    return hashlib.sha256(json.dumps(shape, sort_keys=True, ensure_ascii=True).encode()).hexdigest()


ERASED = "erased"
"""What the trailer of a commit says instead of a digest once a text was erased that its certificate depended on."""


def is_erased(stated: Mapping[str, Any]) -> bool:
    """Whether a certificate went with an erased text: `erased` names the decision."""
    return "erased" in stated


@dataclass(frozen=True, slots=True)
class Certified:
    """Args: base, result: SHA-256 by path, "" where there is no document. context: without history."""

    proof: Proof
    base: Mapping[str, str]
    result: Mapping[str, str]
    context: Context


UNREADABLE = (LookupError, TypeError, ValueError, AttributeError)


def read(stated: Mapping[str, Any], store_format: FormatName) -> Certified:
    """Read a stored certificate. Raises UNREADABLE where it is no certificate.

    Args: store_format: for certificates that name nothing of what they depended on.
    """
    rewrites = (Rewrite(r["path"], r["start"], r["end"], r["new"].encode()) for r in stated["rewrites"])
    return Certified(
        proof=Proof(Kind(stated["rule"]), int(stated["version"]), tuple(rewrites)),
        base=stated["base"],
        result=stated["result"],
        context=_context(stated["context"]) if "context" in stated else Context(format=store_format),
    )


def _context(within: Mapping[str, Any]) -> Context:
    return Context(
        format=FormatName(within["format"]),
        limits=Limits(index_row_chars=int(within["index_row_chars"])),
        now=datetime.fromisoformat(within["now"]).astimezone(ZoneInfo(within["zone"])),
        evidence=Evidence(within["evidence"]),
    )


def sha256(content: bytes | None) -> str:
    return "" if content is None else hashlib.sha256(content).hexdigest()
