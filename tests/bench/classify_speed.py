"""`python -m tests.bench classify_speed`: what a verdict costs."""

from __future__ import annotations

from functools import partial
from random import Random

from markdown_it import MarkdownIt

from memoryreview.core import frontmatter, markdown
from memoryreview.core.classify.classify import classify
from memoryreview.core.model import Context, FormatName, Verdict
from memoryreview.core.overlay import Overlay

from .timing import interleaved, verdict
from .vocabulary import fact, text_of

DOCUMENT_BYTES = 40_000
CONTEXT = Context(format=FormatName.CLAUDE)
PARSER = MarkdownIt("commonmark").enable("table")


def document(random: Random, size: int) -> bytes:
    """Return a topic file with sections, lists and paragraphs, of some size in bytes."""
    lines = ["---", "name: ports", "description: where things listen", "type: project", "---", ""]
    while sum(len(line.encode()) + 1 for line in lines) < size:
        lines += [f"## {text_of(fact(random, 'en'))}", ""]
        lines += [f"- {text_of(fact(random))}" for _ in range(random.randint(3, 8))]
        lines += ["", f"{text_of(fact(random, 'en'))}, see [notes](note_{random.randint(1, 99)}.md).", ""]
    return "\n".join(lines).encode()


def _entries(data: bytes) -> list[bytes]:
    return [line for line in data.split(b"\n") if line.startswith(b"- ")]


def _parse_all(states: tuple[bytes, ...]) -> None:
    for data in states:
        PARSER.parse(data.decode())


def _parse_own(states: tuple[bytes, ...]) -> None:
    for data in states:
        frontmatter.read(data)
        markdown.outline(data)
        markdown.links(data)


def run(*, rounds: int) -> bool:
    return all([_one_document(rounds), _size_of_change(rounds), _size_of_store(rounds)])


def _one_document(rounds: int) -> bool:
    """One edited document of 40 KB: a statement that changes, and a blank that goes."""
    base = document(Random(1), DOCUMENT_BYTES)
    line = _entries(base)[len(_entries(base)) // 2]
    holds = True
    for what, before, after, expected in (
        ("a changed statement", base, base.replace(line, line + b" at night"), Verdict.REVIEW),
        ("a trailing blank", base.replace(line, line + b" "), base, Verdict.SAFE),
    ):
        old, new = {"a.md": before}, {"a.md": after}
        if classify(old, new, CONTEXT).verdict is not expected:
            raise ValueError(f"{what} has another verdict than {expected}")
        parse, own, work = interleaved(
            [
                partial(_parse_all, (before, after)),
                partial(_parse_own, (before, after)),
                partial(classify, old, new, CONTEXT),
            ],
            rounds,
        )
        print(f"{what}, {len(base):,} bytes: markdown-it-py on both sides {parse * 1e3:.1f} ms, ", end="")
        print(f"core's own reading {own * 1e3:.1f} ms, classify {work * 1e3:.1f} ms")
        holds &= verdict("classify against markdown-it-py parsing both sides once", work / parse, 3)
    return holds


def _size_of_change(rounds: int) -> bool:
    """1, 2, 4 and 8 edited documents of 8 KB: the cost of eight is at most ten times that of one."""
    names = [f"note_{number}.md" for number in range(8)]
    base = {name: document(Random(number), 8_000) for number, name in enumerate(names)}
    works = []
    for count in (1, 2, 4, 8):
        delta = {name: base[name].replace(_entries(base[name])[3], b"- other words 1") for name in names[:count]}
        works.append(partial(classify, base, Overlay(base, delta), CONTEXT))
    one, two, four, eight = interleaved(works, rounds)
    print(f"1, 2, 4, 8 documents: {one * 1e3:.1f}, {two * 1e3:.1f}, {four * 1e3:.1f}, {eight * 1e3:.1f} ms")
    return verdict("cost of 8 changed documents against 8 times the cost of one", eight / (8 * one), 1.25)


def _size_of_store(rounds: int) -> bool:
    """The same edit in a store of 10 documents and in one of 10,000."""
    data = document(Random(1), 8_000)
    other = document(Random(2), 400)
    changed = data.replace(_entries(data)[3], b"- other words 1")
    works = []
    for count in (10, 10_000):
        store = {f"note_{number}.md": other for number in range(count - 1)} | {"a.md": data}
        works.append(partial(classify, store, Overlay(store, {"a.md": changed}), CONTEXT))
    small, large = interleaved(works, rounds)
    print(f"store of 10: {small * 1e3:.1f} ms, store of 10,000: {large * 1e3:.1f} ms")
    return verdict("a store of 10,000 documents against one of 10", large / small, 1.2)
