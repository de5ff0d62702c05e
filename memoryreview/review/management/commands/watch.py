from __future__ import annotations

import signal
import threading
from types import FrameType
from typing import Any

from memoryreview.review.management.base import MemoryCommand
from memoryreview.review.operations.watch import watch


class Command(MemoryCommand):
    help = "Capture direct writes as they happen, as a part of “up” does; stop with Ctrl-C."

    def handle(self, *args: Any, **options: Any) -> None:
        stop = threading.Event()

        def end(signum: int, frame: FrameType | None) -> None:
            stop.set()

        previous = {number: signal.signal(number, end) for number in (signal.SIGINT, signal.SIGTERM)}
        self.stdout.write("Watching the memory folders. Stop with Ctrl-C.")
        self.stdout.flush()
        try:
            watch(stop)
        finally:
            for number, handler in previous.items():
                signal.signal(number, handler)
