"""What `verify` names."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Fault:
    kind: str
    where: str
    message: str
