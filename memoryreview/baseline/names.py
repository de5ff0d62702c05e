"""Which paths the baseline can hold. Names are never normalised: what stands on disk stands in git."""

from __future__ import annotations

import os
import re
from functools import lru_cache

MAX_SEGMENTS = 64

# Characters that HFS+ drops from names, so that git takes ".g<U+200C>it" for ".git".
_IGNORED_BY_HFS = re.compile("[\u200c-\u200f\u202a-\u202e\u206a-\u206f\ufeff]")
# NTFS reads "git~1", ".git . ." and ".git:stream" as ".git"; `git fsck --strict` calls trees with such names broken.
_ENDS_NTFS_NAME = re.compile(r"[\\:]")
_RESERVED = frozenset({".git", "git~1", ".gitmodules", ".gitattributes"})


@lru_cache(maxsize=4096)
def is_reserved(segment: str) -> bool:
    """Whether git treats the name as its own, on any file system."""
    seen_by_hfs = _IGNORED_BY_HFS.sub("", segment)
    return any(part.rstrip(" .").lower() in _RESERVED for part in _ENDS_NTFS_NAME.split(seen_by_hfs))


def split_path(path: str) -> list[bytes]:
    """Return the segments of a document's path as git stores them.

    Raises:
        ValueError: a segment is empty, ".", ".." or git's own; the path holds NUL or is deeper than MAX_SEGMENTS.
    """
    segments = path.split("/")
    if len(segments) > MAX_SEGMENTS:
        raise ValueError(f"the path {path!r} has more than {MAX_SEGMENTS} segments")
    for segment in segments:
        if segment in {"", ".", ".."} or "\0" in segment or is_reserved(segment):
            raise ValueError(f"the path {path!r} cannot be kept: {segment!r} is not a name")
    return [os.fsencode(segment) for segment in segments]
