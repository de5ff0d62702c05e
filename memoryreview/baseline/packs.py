"""Git packs, read without a process, and written where many objects become durable at once.

Source: gitformat-pack, version 2 of packs and of their indexes.
"""

from __future__ import annotations

import hashlib
import os
import struct
import zlib
from bisect import bisect_left
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path

_INDEX_START = b"\xfftOc\0\0\0\x02"
_PACK_START = b"PACK\0\0\0\x02"
_FANOUT_AT = 8
_NAMES_AT = _FANOUT_AT + 256 * 4
_LARGE = 0x8000_0000
_NUMBERS = {b"commit": 1, b"tree": 2, b"blob": 3, b"tag": 4}
_KINDS = {number: kind for kind, number in _NUMBERS.items()}
_OFS_DELTA, _REF_DELTA = 6, 7
_COMPRESSION_LEVEL = 1
_SMALL_WINDOW_BITS = 13
_SMALL_MEMORY = 6  # of 1 to 9, see zlib
_LONGEST_HEADER = 32  # bytes; both numbers in it are of 64 bits

DAMAGED = (ValueError, IndexError, OSError, zlib.error)
"""What reading a pack raises whose bytes are none."""


class UnknownPackError(Exception):
    """The pack is of another version, so only git can read it."""


class Packs:
    """All packs of one folder. What was opened stays readable, also when a repack takes it away meanwhile."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._open: dict[str, _Pack] = {}

    def find(self, oid: str) -> tuple[bytes, bytes] | None:
        """Return (kind, payload), None when no pack has the object. Looks for new packs before it says so.

        Raises: UnknownPackError; one of DAMAGED.
        """
        name = bytes.fromhex(oid)
        return _first(self._open.values(), name) or _first(self._newly_opened(), name)

    def _newly_opened(self) -> Iterator[_Pack]:
        try:
            found = sorted(path for path in self._folder.iterdir() if path.suffix == ".idx")
        except FileNotFoundError:
            return
        for path in found:
            if path.name in self._open:
                continue
            try:
                self._open[path.name] = _Pack(path)
            except FileNotFoundError:  # a repack took it away just now; what it held stands in another one
                continue
            yield self._open[path.name]

    def close(self) -> None:
        for pack in self._open.values():
            pack.close()
        self._open.clear()


def _first(packs: Iterable[_Pack], name: bytes) -> tuple[bytes, bytes] | None:
    for pack in packs:
        offset = pack.offset(name)
        if offset is not None:
            return pack.read(offset)
    return None


class _Pack:
    def __init__(self, index_path: Path) -> None:
        self._index = _File(index_path)
        try:
            self._content = _File(index_path.with_suffix(".pack"))
        except OSError:
            self._index.close()
            raise
        if self._index.read(0, 8) != _INDEX_START or self._content.read(0, 8) != _PACK_START:
            self.close()
            raise UnknownPackError
        self._count = self._number(_NAMES_AT - 4)
        self._names = _Names(self._index, self._count)

    def close(self) -> None:
        self._index.close()
        self._content.close()

    def _number(self, at: int) -> int:
        return int.from_bytes(self._index.read(at, 4), "big")

    def offset(self, name: bytes) -> int | None:
        """Return where an object stands, None when this pack has none of that name (20 bytes)."""
        first = self._number(_FANOUT_AT + 4 * (name[0] - 1)) if name[0] else 0
        last = self._number(_FANOUT_AT + 4 * name[0])
        at = bisect_left(self._names, name, first, last)
        if at >= last or self._names[at] != name:
            return None
        offsets_at = _NAMES_AT + self._count * (20 + 4)
        offset = self._number(offsets_at + 4 * at)
        if not offset & _LARGE:
            return offset
        far_at = offsets_at + self._count * 4 + 8 * (offset - _LARGE)
        return int.from_bytes(self._index.read(far_at, 8), "big")

    def read(self, offset: int) -> tuple[bytes, bytes]:
        """Return (kind, payload) of the object at an offset, put together from its deltas."""
        deltas: list[bytes] = []
        while True:
            start = self._content.read(offset, _LONGEST_HEADER)
            number, size, used = _header(start)
            at = offset + used
            if number == _OFS_DELTA:
                back, used = _distance(start, used)
                at = offset + used
                if back <= 0 or back > offset:
                    raise ValueError("a delta stands on nothing")
                deltas.append(self._inflated(at, size))
                offset -= back
            elif number == _REF_DELTA:
                base = self.offset(self._content.read(at, 20))
                if base is None:
                    raise ValueError("a delta stands on nothing")
                deltas.append(self._inflated(at + 20, size))
                offset = base
            else:
                payload = self._inflated(at, size)
                break
        for delta in reversed(deltas):
            payload = _patched(payload, delta)
        return _KINDS.get(number, b""), payload

    def _inflated(self, at: int, size: int) -> bytes:
        # What zlib can grow to at most; what does not shrink is kept as it is.
        packed = self._content.read(at, size + size // 1000 + 64)
        payload = zlib.decompressobj().decompress(packed, size + 1)
        if len(payload) != size:
            raise ValueError("an object has another size than its header says")
        return payload


class _Names:
    """The sorted names of an index, as a sequence for `bisect`."""

    def __init__(self, index: _File, count: int) -> None:
        self._index, self._count = index, count

    def __len__(self) -> int:
        return self._count

    def __getitem__(self, at: int) -> bytes:
        return self._index.read(_NAMES_AT + 20 * at, 20)


class _File:
    """An open file, read by position. Not mapped into memory: a file that is cut then would kill the process."""

    def __init__(self, path: Path) -> None:
        self._fd = os.open(path, os.O_RDONLY | os.O_CLOEXEC)

    def read(self, at: int, size: int) -> bytes:
        return os.pread(self._fd, size, at)

    def close(self) -> None:
        os.close(self._fd)


def _header(content: bytes) -> tuple[int, int, int]:
    """Return (kind number, size, bytes of the header)."""
    at, byte = 0, content[0]
    number, size, shift = byte >> 4 & 7, byte & 15, 4
    while byte & 0x80:
        at += 1
        byte = content[at]
        size |= (byte & 0x7F) << shift
        shift += 7
    return number, size, at + 1


def _distance(content: bytes, at: int) -> tuple[int, int]:
    """Return (how far back the base stands, offset of what follows in these bytes)."""
    byte = content[at]
    back = byte & 0x7F
    while byte & 0x80:
        at += 1
        byte = content[at]
        back = (back + 1 << 7) | (byte & 0x7F)
    return back, at + 1


def _patched(base: bytes, delta: bytes) -> bytes:
    base_size, at = _size(delta, 0)
    size, at = _size(delta, at)
    if base_size != len(base):
        raise ValueError("a delta is of another base")
    pieces: list[bytes] = []
    while at < len(delta):
        command = delta[at]
        at += 1
        if command & 0x80:
            start, at = _bytes(delta, at, command & 0x0F, 4)
            length, at = _bytes(delta, at, command >> 4 & 0x07, 3)
            length = length or 0x10000
            pieces.append(base[start : start + length])
        elif command:
            pieces.append(delta[at : at + command])
            at += command
        else:
            raise ValueError("a delta holds an unknown command")
    result = b"".join(pieces)
    if len(result) != size:
        raise ValueError("a delta gives another size than it says")
    return result


def _size(delta: bytes, at: int) -> tuple[int, int]:
    value = shift = 0
    while True:
        byte = delta[at]
        at += 1
        value |= (byte & 0x7F) << shift
        shift += 7
        if not byte & 0x80:
            return value, at


def _bytes(delta: bytes, at: int, present: int, count: int) -> tuple[int, int]:
    """Read those bytes of a little-endian number that `present` says are written."""
    value = 0
    for place in range(count):
        if present >> place & 1:
            value |= delta[at] << 8 * place
            at += 1
    return value, at


def deflated(content: bytes) -> bytes:
    """Return an object's bytes as git keeps them, compressed fast.

    A window that is no wider than the object loses nothing, and the memory for a wide one is new each time.
    """
    if len(content) > 1 << _SMALL_WINDOW_BITS:
        return zlib.compress(content, _COMPRESSION_LEVEL)
    small = zlib.compressobj(_COMPRESSION_LEVEL, zlib.DEFLATED, _SMALL_WINDOW_BITS, _SMALL_MEMORY)
    return small.compress(content) + small.flush()


def pack(objects: Mapping[str, tuple[bytes, bytes]]) -> tuple[str, bytes, bytes]:
    """Return the name, the pack and its index of objects, each (kind, payload) by id, without deltas."""
    content = bytearray(_PACK_START + struct.pack(">I", len(objects)))
    rows: list[tuple[bytes, int, int]] = []
    for oid, (kind, payload) in objects.items():
        written = _object_header(_NUMBERS[kind], len(payload)) + deflated(payload)
        rows.append((bytes.fromhex(oid), zlib.crc32(written), len(content)))
        content += written
    checksum = _sha1(content)
    rows.sort()
    index = bytearray(_INDEX_START)
    firsts = [name[0] for name, _, _ in rows]
    index += struct.pack(">256I", *(bisect_left(firsts, byte + 1) for byte in range(256)))
    index += b"".join(name for name, _, _ in rows)
    index += b"".join(struct.pack(">I", crc) for _, crc, _ in rows)
    index += b"".join(struct.pack(">I", offset) for _, _, offset in rows)
    index += checksum
    return f"pack-{checksum.hex()}", bytes(content + checksum), bytes(index + _sha1(index))


def _object_header(number: int, size: int) -> bytes:
    header = bytearray()
    byte, size = number << 4 | size & 15, size >> 4
    while size:
        header.append(byte | 0x80)
        byte, size = size & 0x7F, size >> 7
    return bytes([*header, byte])


def _sha1(content: bytes | bytearray) -> bytes:
    return hashlib.sha1(content, usedforsecurity=False).digest()
