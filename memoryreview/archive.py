"""The file that `backup` makes and `restore-backup` opens: a zip of databases, keys and baselines, with a manifest.

Reading trusts nothing: only names that `backup` writes, each once, as long and with the hash that the manifest says.
"""

from __future__ import annotations

import hashlib
import json
import os
import re
import shutil
import stat
import zipfile
import zlib
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from .core.errors import MemoryReviewError
from .core.names import shown

FORMAT = 1
MANIFEST = "manifest.json"
DATABASE = "memoryreview.sqlite3"
KEYS = ("secret.key", "decision.key")
BASELINES = "baselines"
HEAD = "head"

MAX_MANIFEST_BYTES = 64 * 1024 * 1024
SPARE_BYTES = 64 * 1024 * 1024
"""What stays free on the disk after unpacking."""

_CHUNK_BYTES = 1024 * 1024
_UUID = r"[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}"
_OBJECT = r"objects/(?:[0-9a-f]{2}/[0-9a-f]{38}|pack/pack-[0-9a-f]{40}\.(?:pack|idx|rev|mtimes))"
_PACKED = frozenset({zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED})
# Whatever a zip or a JSON text that somebody made up may raise: the manifest is read before anything is known of it.
_DAMAGED = (
    *(KeyError, TypeError, ValueError, AttributeError, ArithmeticError, RuntimeError, EOFError, OSError),
    *(zipfile.BadZipFile, zlib.error),
)
_MEMBER = re.compile(rf"{re.escape(DATABASE)}|secret\.key|decision\.key|{BASELINES}/{_UUID}\.git/(?:{HEAD}|{_OBJECT})")


class ArchiveError(MemoryReviewError):
    """The file cannot be used. Nothing was changed."""

    def __init__(self, path: Path, reason: str) -> None:
        super().__init__(f"“{path}” {reason} Nothing was changed.")


@dataclass(frozen=True, slots=True)
class Member:
    size_bytes: int
    sha256: str


@dataclass(frozen=True, slots=True)
class Manifest:
    """`about` is what the maker says of it: version, migrations, stores."""

    about: Mapping[str, Any]
    members: Mapping[str, Member]

    @property
    def size_bytes(self) -> int:
        return sum(member.size_bytes for member in self.members.values())


def is_object(path: str) -> bool:
    """Whether a path below a git dir is an object or a pack: what a backup keeps of it besides its head."""
    return re.fullmatch(_OBJECT, path) is not None


@dataclass(slots=True)
class Writer:
    """Adds members to a new zip and remembers their hashes; `close` writes the manifest."""

    zip: zipfile.ZipFile
    members: dict[str, dict[str, object]] = field(default_factory=dict)

    def add(self, name: str, source: Path) -> None:
        """Copy a file into the archive. Raises OSError."""
        digest, size = hashlib.sha256(), 0
        with source.open("rb") as reading, self.zip.open(_entry(name), "w", force_zip64=True) as writing:
            while chunk := reading.read(_CHUNK_BYTES):
                digest.update(chunk)
                size += len(chunk)
                writing.write(chunk)
        self.members[name] = {"size": size, "sha256": digest.hexdigest()}

    def add_text(self, name: str, text: str) -> None:
        content = text.encode()
        self.zip.writestr(_entry(name), content)
        self.members[name] = {"size": len(content), "sha256": hashlib.sha256(content).hexdigest()}

    def close(self, about: Mapping[str, Any]) -> None:
        manifest = {"format": FORMAT, **about, "members": self.members}
        self.zip.writestr(_entry(MANIFEST), json.dumps(manifest, indent=1))
        self.zip.close()


def _entry(name: str) -> zipfile.ZipInfo:
    info = zipfile.ZipInfo(name)
    info.external_attr = (stat.S_IFREG | 0o600) << 16
    # Objects and packs are deflated already.
    info.compress_type = zipfile.ZIP_STORED if f"/{HEAD}" in name or "/objects/" in name else zipfile.ZIP_DEFLATED
    return info


@contextmanager
def opened(path: Path) -> Iterator[tuple[zipfile.ZipFile, Manifest]]:
    """Open a backup and check everything but the content of its members. Raises ArchiveError."""
    try:
        archive = zipfile.ZipFile(path)
    except OSError as error:
        raise ArchiveError(path, f"cannot be read: {error.strerror}.") from error
    except (zipfile.BadZipFile, NotImplementedError, ValueError) as error:
        raise ArchiveError(path, "is no backup of memoryreview, or it is damaged.") from error
    with archive:
        manifest = _manifest(path, archive)
        listed = [info.filename for info in archive.infolist()]
        if sorted(listed) != sorted([*manifest.members, MANIFEST]):
            raise ArchiveError(path, "does not hold the members that its manifest names.")
        for info in archive.infolist():
            kind = stat.S_IFMT(info.external_attr >> 16)
            if info.filename != MANIFEST and _MEMBER.fullmatch(info.filename) is None:
                raise ArchiveError(path, f"holds {info.filename[:80]!r}, which no backup does.")
            if kind not in {0, stat.S_IFREG} or info.flag_bits & 1 or info.compress_type not in _PACKED:
                raise ArchiveError(path, f"holds {info.filename[:80]!r}, which is no plain file.")
        if DATABASE not in manifest.members:
            raise ArchiveError(path, "holds no database.")
        yield archive, manifest


def _manifest(path: Path, archive: zipfile.ZipFile) -> Manifest:
    try:
        info = archive.getinfo(MANIFEST)
        if info.file_size > MAX_MANIFEST_BYTES:
            raise ArchiveError(path, "has a manifest that is too long.")
        if info.compress_type not in _PACKED:
            raise ArchiveError(path, "has a manifest that no backup writes that way.")
        with archive.open(info) as reading:
            about = json.loads(reading.read(MAX_MANIFEST_BYTES))
        version = about.pop("format")
        stated = about.pop("members").items()
        members = {str(name): Member(int(one["size"]), str(one["sha256"])) for name, one in stated}
    except _DAMAGED as error:
        raise ArchiveError(path, "is no backup of memoryreview, or its manifest is damaged.") from error
    if version != FORMAT:
        made_by = shown(str(about.get("memoryreview", "?"))[:40])
        raise ArchiveError(path, f"was made by a newer memoryreview ({made_by}); install that one.")
    if any(member.size_bytes < 0 for member in members.values()):
        raise ArchiveError(path, "has a damaged manifest.")
    return Manifest(about, members)


def unpack(path: Path, archive: zipfile.ZipFile, manifest: Manifest, into: Path) -> None:
    """Write every member below an empty folder, mode 0600, and check each as it is written.

    Never writes more than the manifest says, nor more than the disk has room for. Raises ArchiveError, OSError.
    """
    free = shutil.disk_usage(into).free
    if manifest.size_bytes + SPARE_BYTES > free:
        raise ArchiveError(path, f"unpacks to {manifest.size_bytes:,} bytes, and {free:,} are free in “{into.parent}”.")
    for name, member in manifest.members.items():
        target = into / name
        target.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        digest, left = hashlib.sha256(), member.size_bytes
        try:
            with archive.open(name) as reading, os.fdopen(_created(target), "wb") as writing:
                while chunk := reading.read(min(_CHUNK_BYTES, left + 1)):
                    left -= len(chunk)
                    if left < 0:
                        break
                    digest.update(chunk)
                    writing.write(chunk)
        except (zipfile.BadZipFile, EOFError, NotImplementedError, RuntimeError, zlib.error) as error:
            raise ArchiveError(path, f"is damaged: {name} cannot be read.") from error
        if left != 0 or digest.hexdigest() != member.sha256:
            raise ArchiveError(path, f"is damaged: {name} is not what the manifest says.")


def _created(path: Path) -> int:
    return os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC, 0o600)
