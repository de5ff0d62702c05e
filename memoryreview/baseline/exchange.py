"""Two names of one folder exchanged in one step, so that what stood there can be looked at after it gave way."""

from __future__ import annotations

import ctypes
import errno
import os
import sys
from functools import cache
from typing import Any

_RENAME_EXCHANGE = 2
_NOT_HERE = frozenset({errno.ENOSYS, errno.EINVAL, errno.EOPNOTSUPP, errno.ENOTSUP, errno.EPERM})


def exchange(folder_fd: int, first: str, second: str) -> bool:
    """Exchange two files; False when the system or the file system cannot, and nothing was changed.

    Raises OSError, FileNotFoundError when one of them is gone.
    """
    call = _renameat2()
    if call is None:
        return False
    if call(folder_fd, os.fsencode(first), folder_fd, os.fsencode(second), _RENAME_EXCHANGE) == 0:
        return True
    code = ctypes.get_errno()
    if code in _NOT_HERE:
        return False
    raise OSError(code, os.strerror(code), second)


@cache
def _renameat2() -> Any:
    """Return the system's call, None where it has none."""
    if sys.platform != "linux":
        return None
    call = getattr(ctypes.CDLL(None, use_errno=True), "renameat2", None)
    if call is not None:
        call.argtypes = [ctypes.c_int, ctypes.c_char_p, ctypes.c_int, ctypes.c_char_p, ctypes.c_uint]
    return call
