"""Lines and entries are led back to the version that brought them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from random import Random

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from memoryreview.core import formats
from memoryreview.core.blame import Asked, Fate, entry_touches, line_origins
from memoryreview.core.formats.base import Entry
from memoryreview.core.model import FormatName
from memoryreview.core.text import split_lines

# How fast values are made is a matter of the machine.
unhurried = settings(deadline=None, suppress_health_check=[HealthCheck.too_slow])

lines = st.sampled_from(["- Never force-push to main.", "- Ask first.", "", "# Ports", "```", "The port is 5432."])
documents = st.builds(
    lambda texts, eol, ends: (eol.join(texts) + (eol if ends and texts else "")).encode(),
    st.lists(lines, max_size=9),
    st.sampled_from(["\n", "\r\n"]),
    st.booleans(),
)


def bodies(version: bytes | None) -> list[bytes]:
    return [line.body for line in split_lines(version or b"")]


def joined(texts: Sequence[str]) -> bytes:
    return "".join(f"{text}\n" for text in texts).encode()


def origins(*newest_first: bytes | None) -> list[int | None]:
    found = line_origins(newest_first)
    return [found.get(at) for at in range(len(bodies(newest_first[0])))]


@unhurried
@given(st.lists(st.one_of(st.none(), documents), min_size=1, max_size=6))
def test_every_line_comes_from_one_version_and_stands_in_all_since(versions: list[bytes | None]) -> None:
    found = line_origins([*versions, None])

    for at, body in enumerate(bodies(versions[0])):
        assert all(body in bodies(version) for version in versions[: found[at] + 1])
    assert set(found) == set(range(len(bodies(versions[0]))))
    assert found == line_origins([*versions, None])


@unhurried
@given(st.lists(documents, min_size=1, max_size=6))
def test_lines_older_than_the_last_version_are_left_out(versions: list[bytes]) -> None:
    found = line_origins(versions)

    assert all(version < len(versions) - 1 for version in found.values())
    rest = set(range(len(bodies(versions[0])))) - set(found)
    assert all(bodies(versions[0])[at] in bodies(versions[-1]) for at in rest)
    assert {at: found.get(at, len(versions) - 1) for at in rest | set(found)} == line_origins([*versions, None])


@unhurried
@given(st.lists(st.lists(st.integers(0, 9), unique=True), min_size=1, max_size=6), st.data())
def test_a_line_that_only_moves_keeps_its_version(numbers: list[list[int]], data: st.DataObject) -> None:
    versions = [joined([f"- Service {number} listens here." for number in version]) for version in numbers]

    found = line_origins([*versions, None])

    for at, number in enumerate(numbers[0]):
        gap = next((n for n, version in enumerate(numbers) if number not in version), len(numbers))
        assert found[at] == gap - 1


@unhurried
@given(st.lists(lines, max_size=8), st.lists(lines, max_size=8), st.sampled_from(["\n", "\r\n"]), st.booleans())
def test_what_stands_above_and_below_additions_keeps_the_oldest(
    above: list[str], below: list[str], eol: str, ends: bool
) -> None:
    oldest = joined([*above, *below])
    newest = eol.join([*above, "- A line that was never here.", *below, "- Nor this one."]) + (eol if ends else "")

    found = origins(newest.encode(), oldest, None)

    assert [found[len(above)], found[-1]] == [0, 0]
    assert found.count(0) == 2


@unhurried
@given(documents, documents, st.integers(0, 9), st.integers(0, 9))
def test_some_lines_asked_for_tell_the_same(new: bytes, old: bytes, start: int, length: int) -> None:
    every = line_origins([new, old, None])

    some = line_origins([new, old, None], range(start, start + length))

    assert some == {at: version for at, version in every.items() if start <= at < start + length}


def test_line_ends_a_final_newline_and_a_mark_are_nobodys_words() -> None:
    assert origins(b"\xef\xbb\xbf# A\r\nOne line.\r\nAnother\r\n", b"# A\nOne line.\nAnother", None) == [1, 1, 1]
    assert origins(b"One line.\nAnother line", b"One line.", None) == [1, 0]


def test_of_equal_lines_the_added_one_is_new_and_always_the_same() -> None:
    assert origins(b"- Ask first.\n- Ask first.\n- Ask first.\n", b"- Ask first.\n", None) == [1, 0, 0]
    assert origins(b"# B\n- Ask first.\n# A\n- Ask first.\n", b"# A\n- Ask first.\n# B\n", None) == [0, 0, 1, 1]


def test_a_line_that_came_back_is_new_since_it_came_back() -> None:
    assert origins(b"The port is 1.\n", b"The port is 2.\n", b"The port is 1.\n", None) == [0]


def test_versions_are_read_only_as_far_as_needed() -> None:
    read: list[int] = []

    def versions() -> Iterator[bytes]:
        for number, version in enumerate((b"New words.\n", b"Old words.\n", b"Older words.\n")):
            read.append(number)
            yield version

    assert line_origins(versions()) == {0: 0}
    assert read == [0, 1]


def told(
    newest_first: Sequence[bytes | None], asked: str, name: FormatName = FormatName.MARKDOWN, path: str = "MEMORY.md"
) -> list[tuple[int, Fate]]:
    def locate(_version: int, data: bytes) -> Sequence[Entry]:
        return formats.of_document(name, path, data).entries(path, data)

    return [(touch.version, touch.fate) for touch in entry_touches(newest_first, locate, Asked.of(asked))]


@unhurried
@given(st.integers(0, 10_000), st.sampled_from(["\n", "\r\n"]))
def test_touches_of_a_bullet_are_those_that_were_made(seed: int, eol: str) -> None:
    random = Random(seed)
    bullets = {n: f"- Host {'abcdefgh'[n] * 12} serves customer {'stuvwxyz'[n] * 9} at port" for n in range(8)}
    order, ports = [0, 1, 2, 3], dict.fromkeys(bullets, 1000)
    history, expected = [_page(order, bullets, ports, eol)], [(Fate.ADDED, 0)]
    for step in range(1, 9):
        others = [one for one in order if one]
        match random.choice(("add", "drop", "move", "mine", "theirs")):
            case "add" if len(others) < 7:
                order.insert(random.randint(0, len(order)), next(n for n in bullets if n not in order))
            case "drop" if len(others) > 1:
                order.remove(random.choice(others))
            case "mine":
                ports[0] += 1
                expected.append((Fate.REWRITTEN, step))
            case "theirs":
                ports[random.choice(others)] += 1
            case _:
                continue
        history.append(_page(order, bullets, ports, eol))
        expected = [(fate, len(history) - 1 if at == step else at) for fate, at in expected]

    newest = len(history) - 1
    assert told([*history[::-1], None], bullets[0][2:30]) == [(newest - at, fate) for fate, at in expected[::-1]]


def _page(order: Sequence[int], bullets: dict[int, str], ports: dict[int, int], eol: str) -> bytes:
    return eol.join(["# Hosts", "", *(f"{bullets[one]} {ports[one]}." for one in order), ""]).encode()


@unhurried
@given(st.lists(documents, min_size=1, max_size=5), st.integers(1, 9), st.sampled_from(FormatName))
def test_touches_are_total_and_go_from_new_to_old(versions: list[bytes], lineno: int, name: FormatName) -> None:
    found = told([*versions, None], str(lineno), name)

    assert [version for version, _ in found] == sorted(version for version, _ in found)
    assert all(fate is Fate.ADDED for _, fate in found[-1:])
    assert not any(fate in (Fate.ADDED, Fate.REMOVED) for _, fate in found[:-1])


def test_section_entry_of_several_lines_is_one_entry() -> None:
    old = "Likes tea.\n§\nWorks at Acme.\nSince May.\n§\nSpeaks German.".encode()
    longer = old.replace(b"Since May.", b"Since May.\nIn the port team.")
    moved = "Likes tea.\n§\nSpeaks German.\n§\nWorks at Acme.\nSince May.\nIn the port team.".encode()
    versions = [moved, longer, old, None]

    assert told(versions, "Works at Acme", FormatName.HERMES) == [(1, Fate.REWRITTEN), (2, Fate.ADDED)]
    assert told(versions, "3", FormatName.HERMES) == [(0, Fate.MOVED), (2, Fate.ADDED)]
    assert told(versions, "2", FormatName.HERMES) == []
    assert told(versions, "1", FormatName.HERMES) == [(2, Fate.ADDED)]


def test_index_row_is_known_by_its_target() -> None:
    old = b"# Index\n\n- [Ports](ports.md) - old words\n- [Mail](mail.md) - where it goes\n"
    new = b"# Index\n\n- [Where things listen](ports.md) - nothing of it is left\n- [Mail](mail.md) - where it goes\n"

    assert told([new, old, None], "3", FormatName.CLAUDE) == [(0, Fate.REWRITTEN), (1, Fate.ADDED)]


def test_task_of_a_handbook_is_one_block() -> None:
    old = b"# Task Group: Ports\nscope: web\n\n## Task 1: Find the port\n\n### keywords\n\n- port, web\n"
    new = old.replace(b"scope: web", b"scope: web and mail")

    assert told([new, old, None], "1", FormatName.CODEX) == [(0, Fate.REWRITTEN), (1, Fate.ADDED)]
    assert told([new, old, None], "4", FormatName.CODEX) == [(1, Fate.ADDED)]


def test_entry_older_than_the_last_version_says_so() -> None:
    versions = [b"- First.\n- Ask twice, always.\n", b"- Ask first, always.\n", b"- Other.\n- Ask first, always.\n"]

    assert told(versions, "2") == [(0, Fate.REWRITTEN), (2, Fate.OLDER)]
    assert told(versions[:1], "2") == []


def test_entry_that_is_gone_is_found_by_its_words() -> None:
    versions = [
        b"- Other words here.\n",
        b"- Other words here.\n- Ask first, always.\n",
        b"- Ask first, always.\n",
        None,
    ]

    assert told(versions, "Ask first") == [(0, Fate.REMOVED), (2, Fate.ADDED)]
    assert told(versions, "2") == []
    assert told(versions, "never written") == []


@pytest.mark.parametrize("asked", ["", "0", "99", "9" * 30, "\udcff", "  "])
def test_what_names_no_entry_finds_none(asked: str) -> None:
    assert told([b"- Ask first.\n", None], asked) == []
