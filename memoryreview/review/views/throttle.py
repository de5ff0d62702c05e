"""Wrong passwords cost time: after a few for one name, its next try has to wait a little."""

from __future__ import annotations

import hashlib
import math
import threading
import time
import unicodedata
from collections import OrderedDict
from collections.abc import Callable
from dataclasses import dataclass

from django.utils.translation import gettext as _

TRIES = 5
WAIT_S = 30.0
MAX_NAMES = 10_000  # remembered at once; the one that was tried longest ago is forgotten first


@dataclass(slots=True)
class _Tried:
    times: int
    last_s: float


class Throttle:
    """Counts tries for names, in this process only: each web process allows as many.

    A try counts when it begins, so that many at once do not slip through before the first was found wrong. Nobody is
    kept out for longer than WAIT_S, and a try that has to wait does not make the wait longer.
    """

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._lock = threading.Lock()
        self._tried: OrderedDict[bytes, _Tried] = OrderedDict()

    def begin(self, name: str) -> int:
        """Take one try for a name. Return 0, or the seconds to wait when none is left; nothing was taken then."""
        key = _key(name)
        with self._lock:
            now_s = self._clock()
            tried = self._tried.get(key)
            if tried is None or now_s - tried.last_s >= WAIT_S:
                tried = _Tried(0, now_s)
            elif tried.times >= TRIES:
                return math.ceil(tried.last_s + WAIT_S - now_s)
            self._tried[key] = _Tried(tried.times + 1, now_s)
            self._tried.move_to_end(key)
            if len(self._tried) > MAX_NAMES:
                self._tried.popitem(last=False)
        return 0

    def forget(self, name: str) -> None:
        """Forget the tries for a name whose password was right."""
        with self._lock:
            self._tried.pop(_key(name), None)


def _key(name: str) -> bytes:
    """Return what a name is remembered by: one for all spellings that sign the same person in, and unreadable, for
    people type passwords into the wrong field.
    """
    spelled = unicodedata.normalize("NFKC", name).strip().casefold()
    return hashlib.sha256(spelled.encode("utf-8", "surrogatepass")).digest()


def wait_words(wait_s: int) -> str:
    seconds = _("a second") if wait_s == 1 else _("%(wait_s)s seconds") % {"wait_s": wait_s}
    return _("Too many wrong passwords. Nothing was changed; wait %(seconds)s and try again.") % {"seconds": seconds}


passwords = Throttle()
