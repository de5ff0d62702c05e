"""Errors of the baseline that more than one of its modules raises."""

from __future__ import annotations

import errno

from memoryreview.core.errors import MemoryReviewError


class BaselineError(MemoryReviewError):
    """The baseline cannot be used. `str(error)` says what is wrong, what was not changed and what to do."""

    problem = "baseline-unusable"
    status = 503


class ForeignConfigError(BaselineError):
    """The git config of a baseline is not the one that we wrote; its objects may all be there."""


_REMEDIES = {
    errno.ENOSPC: "make room on the disk",
    errno.EDQUOT: "make room on the disk",
    errno.EACCES: "give permission",
    errno.EPERM: "give permission",
    errno.EROFS: "make the file system writable",
    errno.EMFILE: "close other programs, or raise the limit of open files",
    errno.ENFILE: "close other programs",
    errno.ENOMEM: "close other programs",
    errno.EIO: "look at the disk",
    errno.ENOENT: "bring it back or mount it",
    errno.ENOTDIR: "bring it back or mount it",
}


def remedy(error: OSError) -> str:
    """Return what a person does about a refusal of the system, to stand after a semicolon."""
    first = _REMEDIES.get(error.errno or 0, "")
    return f"{first}, then try again" if first else "try again"
