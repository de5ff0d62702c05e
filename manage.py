#!/usr/bin/env python3
from __future__ import annotations

from memoryreview.cli import main

if __name__ == "__main__":
    main()
