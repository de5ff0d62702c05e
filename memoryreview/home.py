"""The data folder: where databases, baselines and keys live, and who may read them."""

from __future__ import annotations

import os
import secrets
import stat
from pathlib import Path

import platformdirs

from .core.errors import MemoryReviewError


class HomeError(MemoryReviewError):
    """The data folder cannot be used."""

    def __init__(self, path: Path, reason: str) -> None:
        self.path = path
        super().__init__(
            f"The data folder {path} cannot be used: {reason}. Set MEMORYREVIEW_HOME to a folder of your own."
        )


def locate() -> Path:
    """Return the data folder: MEMORYREVIEW_HOME, else the platform's user data folder. Does not create it."""
    stated = os.environ.get("MEMORYREVIEW_HOME", "")
    if stated:
        return Path(stated).expanduser().absolute()
    return platformdirs.user_data_path("memoryreview", appauthor=False)


def prepare(home: Path) -> None:
    """Make the data folder with mode 0700, and refuse one that other users may enter. Raises HomeError."""
    try:
        home.mkdir(mode=0o700, parents=True, exist_ok=True)
        mode = stat.S_IMODE(home.stat().st_mode)
    except OSError as error:
        raise HomeError(home, error.strerror or str(error)) from error
    if mode & 0o077:
        raise HomeError(home, f"other users may enter it (mode {mode:04o}; run: chmod 700 {home})")
    if not os.access(home, os.W_OK | os.X_OK):
        raise HomeError(home, "it is not writable")


def key(home: Path, name: str) -> str:
    """Return the install's secret in `home/name` (50 random characters, mode 0600), made on first use.

    Raises HomeError when others may read it: a key that leaked is no key.
    """
    path = home / name
    prepare(home)
    try:
        descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    except FileExistsError:
        pass
    except OSError as error:
        raise HomeError(home, error.strerror or str(error)) from error
    else:
        with os.fdopen(descriptor, "w") as handle:
            handle.write(secrets.token_urlsafe(50))
            handle.flush()
            os.fsync(handle.fileno())
    mode = stat.S_IMODE(path.stat().st_mode)
    if mode & 0o077:
        raise HomeError(home, f"other users may read {name} (mode {mode:04o}; run: chmod 600 {path})")
    return path.read_text()


def address(home: Path) -> str:
    """Return the address under which `up` was last started here, "" before that."""
    try:
        return (home / "address").read_text().strip()
    except OSError:
        return ""
