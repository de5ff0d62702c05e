"""`python -m tests.bench near_duplicates`: one entry against 100,000; the yardstick is rapidfuzz over all of them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import accumulate
from random import Random
from statistics import median
from time import perf_counter

from rapidfuzz import fuzz, process

from memoryreview.core.relations.index import Index

ENTRIES = 100_000
RATIO = 80.0
BOUND = 0.25
RECALL = 0.98
_LETTERS = "etaoinshrdlucmfwypvbgk"
_HAN = [chr(code) for code in range(0x4E00, 0x4E00 + 2_500)]


@dataclass(frozen=True, slots=True)
class Shape:
    """A kind of entries. Args: words: pieces of each. weights: cumulated; None for equal ones. joint: between them."""

    name: str
    vocabulary: Sequence[str]
    weights: Sequence[float] | None
    words: tuple[int, int]
    joint: str = " "

    def pieces(self, random: Random) -> list[str]:
        count = random.randint(*self.words)
        return random.choices(self.vocabulary, cum_weights=self.weights, k=count)


def shapes(random: Random) -> tuple[Shape, ...]:
    small, large = _vocabulary(random, 3_000), _vocabulary(random, 30_000)
    zipf, han = _zipf(len(large)), _zipf(len(_HAN))
    return (
        Shape("one line, 3,000 equally common words", small, None, (13, 17)),
        Shape("one line, 30,000 words as in Zipf's law", large, zipf, (13, 17)),
        Shape("short line, 3,000 equally common words", small, None, (5, 7)),
        Shape("short line, Zipf", large, zipf, (5, 7)),
        Shape("paragraph, Zipf", large, zipf, (45, 60)),
        Shape("Chinese, no blanks, Zipf", _HAN, han, (18, 30), joint=""),
    )


def _vocabulary(random: Random, count: int) -> list[str]:
    found: set[str] = set()
    while len(found) < count:
        found.add("".join(random.choices(_LETTERS, k=random.randint(2, 9))))
    return sorted(found, key=lambda word: random.random())


def _zipf(count: int) -> list[float]:
    return list(accumulate(1 / rank for rank in range(1, count + 1)))


def _edited(random: Random, shape: Shape, pieces: list[str]) -> list[str]:
    """Change an entry as a writer does who says it again: other words, one more, one less, a letter."""
    changed = list(pieces)
    at = random.randrange(len(changed))
    match random.randrange(4):
        case 0:
            for place in random.sample(range(len(changed)), 2 if len(changed) > 10 else 1):
                changed[place] = random.choice(shape.vocabulary)
        case 1:
            changed.insert(at, random.choice(shape.vocabulary))
        case 2:
            del changed[at]
        case _:
            changed[at] += changed[at][:1]
    return changed


def _all_by_extract(texts: Sequence[str], query: str) -> set[int]:
    found = process.extract(query, texts, scorer=fuzz.ratio, score_cutoff=RATIO, limit=None, processor=None)
    return {number for _, _, number in found}


def _by_index(index: Index, query: str) -> set[int]:
    return {number for number, _ in index.near(query, RATIO)}


def run(*, queries: int, seed: int) -> bool:
    random = Random(seed)
    held = [_measured(random, shape, queries) for shape in shapes(random)]
    return all(held)


def _measured(random: Random, shape: Shape, queries: int) -> bool:
    entries = [shape.pieces(random) for _ in range(ENTRIES)]
    texts = [shape.joint.join(pieces) for pieces in entries]
    start = perf_counter()
    index = Index()
    for text in texts:
        index.add(text)
    built_s = perf_counter() - start
    ratios, spent, found, wanted = [], [], 0, 0
    for _ in range(queries):
        query = shape.joint.join(_edited(random, shape, random.choice(entries)))
        truth, all_s = _timed(partial(_all_by_extract, texts, query))
        answer, index_s = _timed(partial(_by_index, index, query))
        ratios.append(index_s / all_s)
        spent.append((all_s, index_s))
        wanted += len(truth)
        found += len(truth & answer)
    ratio, recall = median(ratios), found / wanted if wanted else 0.0
    all_ms, index_ms = (median(times) * 1e3 for times in zip(*spent, strict=True))
    holds = ratio <= BOUND and recall >= RECALL
    print(
        f"{shape.name:42} all {all_ms:6.1f} ms, index {index_ms:5.2f} ms, made in {built_s:4.1f} s: "
        f"{ratio:5.3f}x (bound {BOUND:g}x), recall {recall:.4f} of {wanted:,} (bound {RECALL:g}): "
        f"{'pass' if holds else 'FAIL'}"
    )
    return holds


def _timed(work: Callable[[], set[int]]) -> tuple[set[int], float]:
    start = perf_counter()
    answer = work()
    return answer, perf_counter() - start
