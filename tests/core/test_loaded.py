from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memoryreview.core.loaded import CacheCost, Loaded, always_loaded, cache_cost, loaded
from memoryreview.core.model import FormatName

CLAUDE, CODEX, HERMES = FormatName.CLAUDE, FormatName.CODEX, FormatName.HERMES


def _loaded(path: str, data: bytes, name: FormatName) -> Loaded:
    found = loaded(path, data, name)
    assert found is not None
    return found


def _rows(count: int) -> bytes:
    return b"".join(b"- [T%d](t%d.md)\n" % (number, number) for number in range(1, count + 1))


def test_index_is_seen_up_to_row_200() -> None:
    found = _loaded("MEMORY.md", _rows(203), CLAUDE)

    assert (found.end, found.over_line, len(found.lines)) == (200, 201, 203)
    assert found.text == _rows(200)
    assert found.lines[found.end].text == b"- [T201](t201.md)\n"


def test_index_is_seen_up_to_byte_25_000() -> None:
    line = b"x" * 999 + b"\n"

    assert _loaded("MEMORY.md", line * 25, CLAUDE).end == 25
    found = _loaded("MEMORY.md", line * 25 + b"y", CLAUDE)
    assert (found.end, found.over_line, found.text) == (25, 26, line * 25)


def test_frontmatter_and_comments_of_an_index_are_not_loaded() -> None:
    data = b"---\nname: Index\n---\n# Index\n<!-- for\npeople -->\n- [A](a.md) <!-- old --> now\n"

    found = _loaded("MEMORY.md", data, CLAUDE)

    assert found.text == b"# Index\n- [A](a.md)  now\n"
    assert [line.number for line in found.lines] == [4, 7]
    assert [meter.used for meter in found.meters] == [2, len(found.text)]


def test_summary_is_seen_up_to_token_2_500() -> None:
    data = b"v1\n" + b"z" * 9_996 + b"\n"

    assert _loaded("memory_summary.md", data, CODEX).over_line is None
    found = _loaded("memory_summary.md", data + b"more\n", CODEX)
    assert (found.end, found.over_line, found.text) == (2, 3, data)


def test_entries_past_character_2_200_are_still_read() -> None:
    data = ("é" * 2_200 + "\n§\n\nsecond\nof it\n \n§\n").encode()

    found = _loaded("MEMORY.md", data, HERMES)

    assert found.text == ("é" * 2_200 + "\n§\nsecond\nof it").encode()
    assert [line.number for line in found.lines] == [1, None, 4, 5]
    assert (found.end, found.over_line) == (4, 4)


@pytest.mark.parametrize("name", list(FormatName))
def test_other_documents_are_not_loaded(name: FormatName) -> None:
    assert loaded("notes.md", b"# Notes\n", name) is None
    assert always_loaded({"notes.md": b"# Notes\n", "sub/a.md": b""}, name) == ()


def test_documents_of_another_tool_are_loaded_by_it() -> None:
    tree = {"hermes/USER.md": "Ana\n§\nlikes tea".encode(), "MEMORY.md": b"# Index\n", "a.md": b"x"}

    found = always_loaded(tree, CLAUDE)

    assert [(one.path, one.meters[0].unit) for one in found] == [
        ("MEMORY.md", "lines"),
        ("hermes/USER.md", "characters"),
    ]
    assert [one.path for one in always_loaded(tree, CLAUDE, ["MEMORY.md", "gone/MEMORY.md"])] == ["MEMORY.md"]


def test_cost_begins_at_the_first_changed_byte() -> None:
    before = b"a" * 100 + b"old" + b"b" * 40

    assert cache_cost(before, before) is None
    assert cache_cost(before, before.replace(b"old", b"newer")) == CacheCost(100, 12)
    assert cache_cost(before, before + b"1234") == CacheCost(143, 1)
    assert cache_cost(before, before[:100]) == CacheCost(100, 0)
    assert cache_cost(b"", b"12345") == CacheCost(0, 2)


@given(st.binary(), st.binary())
def test_cost_shares_all_before_it(before: bytes, after: bytes) -> None:
    cost = cache_cost(before, after)

    if cost is None:
        assert before == after
        return
    assert before[: cost.first_byte] == after[: cost.first_byte]
    assert before[cost.first_byte : cost.first_byte + 1] != after[cost.first_byte : cost.first_byte + 1]
    assert 0 <= cost.tokens_after * 4 - (len(after) - cost.first_byte) < 4


@given(st.sampled_from(["MEMORY.md", "USER.md", "memory_summary.md"]), st.binary(), st.sampled_from(list(FormatName)))
def test_any_bytes_are_loaded_in_order(path: str, data: bytes, name: FormatName) -> None:
    found = loaded(path, data, name)

    numbers = [line.number for line in found.lines if line.number is not None] if found else []
    assert numbers == sorted(set(numbers))
