"""The zone of this machine. Django sets TZ to the zone of its own pages, so its name is kept in a variable of ours."""

from __future__ import annotations

import os
from pathlib import Path
from zoneinfo import ZoneInfo

VARIABLE = "MEMORYREVIEW_TIME_ZONE"
_LINK = Path("/etc/localtime")
_NAME = Path("/etc/timezone")
_FOLDER = "zoneinfo/"


def machine_zone() -> str:
    """Return the name of the machine's zone, such as "Europe/Berlin"; "UTC" when it has none that has a name.

    The first process finds it out and hands it down to those that it starts.
    Raises: ValueError when MEMORYREVIEW_TIME_ZONE names no zone.
    """
    stated = os.environ.get(VARIABLE, "")
    if stated and not _is_zone(stated):
        raise ValueError(f"{VARIABLE} must be the name of a zone such as Europe/Berlin, not “{stated}”.")
    name = stated or next((name for name in _candidates() if _is_zone(name)), "UTC")
    os.environ[VARIABLE] = name
    return name


def _candidates() -> list[str]:
    written = _NAME.read_text(encoding="utf-8", errors="replace").strip() if _NAME.is_file() else ""
    linked = os.path.realpath(_LINK).rpartition(_FOLDER)[2] if _LINK.exists() else ""
    return [os.environ.get("TZ", "").lstrip(":").rpartition(_FOLDER)[2], linked, written]


def _is_zone(name: str) -> bool:
    try:
        return bool(name) and ZoneInfo(name).key == name
    except (LookupError, ValueError, OSError):  # no such zone, or no name at all
        return False
