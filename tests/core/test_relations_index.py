"""The candidate index: exact recall where it matters, and nothing that was forgotten."""

from __future__ import annotations

import random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from rapidfuzz import fuzz

from memoryreview.core.model import FormatName
from memoryreview.core.relations.index import Index, words_of
from memoryreview.core.relations.store_index import StoreIndex, all_statements


def _filled(*texts: str) -> Index:
    index = Index()
    for text in texts:
        index.add(text)
    return index


def test_near_texts_come_with_their_ratio_best_first() -> None:
    index = _filled("keep five releases on disk", "keep three releases on disk", "the printer needs paper")
    found = index.near("keep five releases on disc")
    assert [number for number, _ in found] == [0, 1]
    assert found[0][1] == fuzz.ratio("keep five releases on disk", "keep five releases on disc")


def test_words_that_only_the_text_itself_has_hide_no_candidate() -> None:
    own = "dana likes peppers as of march twenty six after that lunch"
    index = _filled("dana likes peppers", own)
    assert list(index.candidates(own, own=1)) == [0]


def test_scripts_without_blanks_are_found_by_pairs_of_characters() -> None:
    assert words_of("测试端口 8088") == {"测试", "试端", "端口", "8088", "测试端口 8088"}
    index = _filled("测试环境改为端口八千零八十八", "会议记录存在共享文件夹")
    assert [number for number, _ in index.near("测试环境改为端口八千零八十九")] == [0]


def test_a_forgotten_text_is_not_found() -> None:
    index = _filled("one two three", "one two four")
    index.remove(0)
    assert list(index.candidates("one two three")) == [1]
    assert len(index) == 1
    index.remove(1)
    assert index.near("one two three", ratio=0.0) == []


def test_recall_against_all_pairs() -> None:
    rng = random.Random(11)
    vocabulary = ["".join(rng.choices("abcdefghijklmnop", k=rng.randint(3, 8))) for _ in range(800)]
    texts = [" ".join(rng.choices(vocabulary, k=12)) for _ in range(1_500)]
    index = _filled(*texts)
    missed = wanted = 0
    for _ in range(40):
        words = rng.choice(texts).split()
        words[rng.randrange(12)], words[rng.randrange(12)] = rng.choices(vocabulary, k=2)
        query = " ".join(words)
        truth = {number for number, text in enumerate(texts) if fuzz.ratio(query, text) >= 80}
        wanted += len(truth)
        missed += len(truth - {number for number, _ in index.near(query)})
    assert wanted > 0
    assert missed / wanted <= 0.02


@pytest.mark.parametrize("name", list(FormatName))
def test_a_document_that_is_read_again_or_dropped_leaves_nothing_behind(name: FormatName) -> None:
    index = StoreIndex(name, "notes")
    index.put("a.md", b"- Port 8088\n- Mail goes to the sink\n")
    index.put("b.md", b"- Mail goes to the sink\n")
    index.put("a.md", b"- Port 8080\n")
    [port, mail] = all_statements([index])
    assert (port.text, mail.path, mail.store) == ("Port 8080", "b.md", "notes")
    assert index.partners(mail) == ()
    index.drop("b.md")
    index.drop("b.md")
    assert list(all_statements([index])) == [port]
    assert list(index.documents) == ["a.md"]


@settings(max_examples=60, deadline=None)
@given(st.lists(st.tuples(st.sampled_from(["a.md", "b.md"]), st.text("ab c#\n-", max_size=30)), max_size=8))
def test_an_index_that_was_kept_equals_one_that_is_made_anew(writes: list[tuple[str, str]]) -> None:
    kept, anew = StoreIndex(FormatName.MARKDOWN), StoreIndex(FormatName.MARKDOWN)
    for path, text in writes:
        kept.put(path, text.encode())
    for path, text in sorted(dict(writes).items()):
        anew.put(path, text.encode())
    for statement in all_statements([anew]):
        assert set(kept.partners(statement)) == set(anew.partners(statement))
