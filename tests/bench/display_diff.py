"""`python -m tests.bench display_diff`: what the difference of a page costs, all of it: lines, words, moves, headings.

Small edits against difflib.unified_diff on the same bytes; a fixed hostile set, at most 1 MB a pair, against
`git diff --no-index --word-diff` on the same files, its process included.
"""

from __future__ import annotations

import subprocess
import tempfile
from collections.abc import Callable, Iterator
from difflib import unified_diff
from functools import partial
from pathlib import Path
from random import Random

from memoryreview.core.diff import document_diff

from .classify_speed import document
from .timing import ratios, verdict

Pair = tuple[bytes, bytes]

SIZES = (2_000, 40_000, 400_000)
DIFFLIB_BOUND = 1
"""Missed at 2 KB: drawing (words, counterparts, headings) takes some 0.2 ms more than all that difflib does."""
GIT_BOUND = 4


def small_edits(size_bytes: int) -> dict[str, Pair]:
    """Return one document with what agents do to it: a word, words in a line, a new, a lost and a moved line."""
    old = document(Random(7), size_bytes)
    lines = old.split(b"\n")
    [first, *_, last] = [at for at, line in enumerate(lines) if line.startswith(b"- ")]
    at = (first + last) // 2
    while not lines[at].startswith(b"- "):
        at += 1
    words = lines[at].split(b" ")
    one, three = [*words], [*words]
    one[len(one) // 2] = b"changed"
    for place in (1, len(three) // 2, len(three) - 1):
        three[place] = b"changed"
    return {
        "a word": (old, _with(lines, {at: [b" ".join(one)]})),
        "three words of a line": (old, _with(lines, {at: [b" ".join(three)]})),
        "a new line": (old, _with(lines, {at: [lines[at], b"- A new fact about the ports."]})),
        "a lost line": (old, _with(lines, {at: []})),
        "a moved line": (old, _with(lines, {first: [], last: [lines[last], lines[first]]})),
    }


def _with(lines: list[bytes], instead: dict[int, list[bytes]]) -> bytes:
    return b"\n".join(line for at, one in enumerate(lines) for line in instead.get(at, [one]))


def hostile() -> dict[str, Pair]:
    """Return pairs that some algorithm is slow on: rewrites, repetition, very long lines, very many lines."""
    random = Random(7)

    def letters(count: int, alphabet: str = "abcd ") -> str:
        return "".join(random.choices(alphabet, k=count))

    def lines(count: int, name: str) -> str:
        return "".join(f"{name} {number} {random.randrange(9)}\n" for number in range(count))

    def prose(count: int) -> str:
        return "".join(letters(80) + "\n" for _ in range(count))

    shuffled = [f"- fact {number} about {letters(30)}\n" for number in range(2_000)]
    texts = {
        "a rewrite of 2 KB": (prose(25), prose(25)),
        "a rewrite of 40 KB": (prose(500), prose(500)),
        "a rewrite of 400 KB": (prose(5_000), prose(5_000)),
        "one line of one letter": ("a" * 40_000, "a" * 20_000 + "b" + "a" * 19_000),
        "ab against ba": ("ab" * 10_000, "ba" * 10_000),
        "random letters in one line": (letters(40_000), letters(40_000)),
        "words of one letter": ("a b " * 5_000, "b a a " * 3_300),
        "a long line of Han": ("漢字" * 5_000, "字漢漢" * 3_300),
        "equal lines interleaved": ("x\n" * 20_000, "x\ny\n" * 20_000),
        "alike lines": ("abc def ghi jkl\n" * 2_000, "abc deg ghi jkm\n" * 2_000),
        "many short changes in a line": ("a1 " * 600, "a1 b2 " * 300),
        "every line a little changed": (lines(4_000, "- note"), lines(4_000, "- note")),
        "shuffled lines": ("".join(shuffled), "".join(random.sample(shuffled, len(shuffled)))),
        "paragraphs broken anew": (("word of it " * 7 + "\n") * 50, ("word of it " * 5 + "\n") * 70),
        "70,000 distinct lines": (lines(35_000, "a"), lines(35_000, "b")),
        "nothing but chips": ("\u202e" * 100_000, "\u202d\n" * 50_000),
        "no UTF-8": ("\udc80\udcff" * 20_000, "\udcff\n" * 20_000),
    }
    return {name: (_bytes(old), _bytes(new)) for name, (old, new) in texts.items()}


def _bytes(text: str) -> bytes:
    return text.encode("utf-8", "surrogateescape")


def run(*, rounds: int) -> bool:
    with tempfile.TemporaryDirectory() as folder:
        return all([*_against_difflib(rounds), *_against_git(Path(folder), max(3, rounds // 8))])


def _against_difflib(rounds: int) -> Iterator[bool]:
    for size in SIZES:
        worst = {}
        for what, pair in small_edits(size).items():
            measured = ratios(_works(pair, "difflib", partial(_unified, *pair)), rounds)
            worst[what] = measured.ratio("page", "difflib")
            print(f"{size // 1000:4} KB, {what:24} " + "; ".join(measured.lines()))
        what = max(worst, key=worst.__getitem__)
        yield verdict(f"{size // 1000} KB, {what}, against difflib.unified_diff", worst[what], DIFFLIB_BOUND)


def _against_git(folder: Path, rounds: int) -> Iterator[bool]:
    worst = {}
    for what, (old, new) in hostile().items():
        (folder / "old").write_bytes(old)
        (folder / "new").write_bytes(new)
        measured = ratios(_works((old, new), "git", partial(_git, folder)), rounds)
        worst[what] = measured.ratio("page", "git")
        coarse = " (fallback)" if "compared line by line" in document_diff("a.md", old, new).summary else ""
        print(f"{what:30} {len(old) + len(new):9,} B{coarse}: {worst[what]:.2f}x; " + "; ".join(measured.lines()))
    what = max(worst, key=worst.__getitem__)
    yield verdict(f"{what}, against git diff --word-diff", worst[what], GIT_BOUND)


def _works(pair: Pair, name: str, other: Callable[[], object]) -> dict[str, Callable[[], Callable[[], object]]]:
    """Return both works, neither of which has anything to prepare."""
    page = partial(document_diff, "a.md", *pair)
    return {"page": lambda: page, name: lambda: other}


def _unified(old: bytes, new: bytes) -> list[str]:
    left, right = (side.decode().splitlines(keepends=True) for side in (old, new))
    return list(unified_diff(left, right))


def _git(folder: Path) -> bytes:
    command = ["git", "diff", "--no-index", "--word-diff", "--", "old", "new"]
    return subprocess.run(command, cwd=folder, capture_output=True, check=False).stdout
