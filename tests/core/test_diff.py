from __future__ import annotations

import random
import string
import sys

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from memoryreview.core import canvas
from memoryreview.core.chips import MAX_DRAWN_CHARS_PER_BYTE, is_unseen, label
from memoryreview.core.diff import DiffLine, DocumentDiff, Mark, Piece, document_diff, is_shown_whole, visible
from memoryreview.core.words import Budget, changed_spans, split_words

SIGNS = {Mark.SAME: " ", Mark.ADDED: "+", Mark.REMOVED: "-"}


def drawn(diff: DocumentDiff) -> list[str]:
    """Draw a diff as text: sign, then the line with its differing words in braces and its chips in brackets."""
    return [SIGNS[line.mark] + line_text(line) for hunk in diff.hunks for line in hunk.lines]


def line_text(line: DiffLine) -> str:
    out = ""
    for piece in line.pieces:
        text = f"[{piece.chip}]" if piece.chip else piece.text
        out += text if piece.mark is Mark.SAME else f"{{{text}}}"
    return out


def notes(diff: DocumentDiff) -> list[tuple[str, str]]:
    return [(SIGNS[line.mark], line.note) for hunk in diff.hunks for line in hunk.lines if line.note]


def compare(old: str | None, new: str | None, *, context_lines: int = 3) -> DocumentDiff:
    return document_diff(
        "a.md",
        None if old is None else old.encode(),
        None if new is None else new.encode(),
        context_lines=context_lines,
    )


def test_diff_marks_the_words_that_differ_in_a_changed_line() -> None:
    diff = compare("# Ports\n\n- dev uses 5432 now\n", "# Ports\n\n- dev uses 5433 now\n")

    assert drawn(diff) == [" # Ports", " ", "-- dev uses {5432} now", "+- dev uses {5433} now"]
    assert (diff.added, diff.removed, diff.summary) == (1, 1, "")
    assert (diff.hunks[0].heading, diff.hunks[0].old_span, diff.hunks[0].new_span) == ("Ports", (1, 4), (1, 4))


def test_diff_of_text_without_blanks_marks_characters() -> None:
    diff = compare("端口改为 8088，不要用旧的。\n", "端口改为 8089，不要用新的。\n")

    assert drawn(diff) == ["-端口改为 {8088}，不要用{旧}的。", "+端口改为 {8089}，不要用{新}的。"]


def test_diff_widens_to_whole_words_and_joins_what_reads_as_one_change() -> None:
    diff = compare("the reviewer prefers dark mode at night\n", "the reviewer preferred light mode at night\n")

    assert drawn(diff) == [
        "-the reviewer {prefers dark} mode at night",
        "+the reviewer {preferred light} mode at night",
    ]


def test_diff_does_not_mark_words_in_unlike_lines() -> None:
    diff = compare("pnpm is the package manager\n", "Tuesday we met Zoë 13:00\n")

    assert drawn(diff) == ["-{pnpm is the package manager}", "+{Tuesday we met Zoë 13:00}"]


def test_diff_pairs_each_changed_line_with_the_one_it_became() -> None:
    old = "- tests run with pytest\n- deploys happen on Friday\n"
    new = "- entirely unrelated: 42\n- tests run with pytest -q\n- deploys happen on Monday\n"

    assert drawn(compare(old, new)) == [
        "-- tests run with pytest",
        "-- deploys happen on {Friday}",
        "+{- entirely unrelated: 42}",
        "+- tests run with pytest{ -q}",
        "+- deploys happen on {Monday}",
    ]


def test_diff_of_new_and_of_deleted_document_shows_all_lines() -> None:
    new, gone = compare(None, "a\nb"), compare("a\nb", None)

    assert (new.old_exists, new.new_exists, new.added, new.removed) == (False, True, 2, 0)
    assert (drawn(new), new.summary) == (["+{a}", "+{b}"], "")
    assert (gone.old_exists, gone.new_exists, gone.added, gone.removed) == (True, False, 0, 2)
    assert drawn(gone) == ["-{a}", "-{b}"]


def test_diff_of_equal_documents_has_no_hunk() -> None:
    assert compare("a\n", "a\n") == DocumentDiff("a.md", True, True, 0, 0, ())


def test_diff_context_joins_near_changes_and_splits_far_ones() -> None:
    lines = [f"line {n}" for n in range(1, 31)]
    changed = [f"{line}!" if line in ("line 5", "line 12", "line 25") else line for line in lines]

    diff = compare("\n".join(lines) + "\n", "\n".join(changed) + "\n")

    assert [(hunk.old_span, hunk.new_span) for hunk in diff.hunks] == [((2, 16), (2, 16)), ((22, 29), (22, 29))]
    numbers = [(line.old_number, line.new_number) for line in diff.hunks[1].lines]
    assert numbers == [(22, 22), (23, 23), (24, 24), (25, None), (None, 25), (26, 26), (27, 27), (28, 28)]


def test_diff_without_context_shows_changes_only() -> None:
    assert drawn(compare("a\nb\nc\n", "a\nX1\nc\n", context_lines=0)) == ["-{b}", "+{X1}"]


def test_diff_heading_is_the_nearest_above_outside_code_and_frontmatter() -> None:
    old = "---\n# not: a heading\n---\n# Top\n## Build ##\n```sh\n# comment\n```\n#hashtag\nold text here\n"

    diff = compare(old, old.replace("old text", "new text"), context_lines=0)

    assert diff.hunks[0].heading == "Build"


def test_diff_heading_in_a_hermes_memory_is_the_entry() -> None:
    old = "First fact.\n§\nPorts are\n5000 and up.\n§\nLast.\n"

    diff = compare(old, old.replace("5000", "6000"))

    assert diff.hunks[0].heading == "Entry 2: Ports are"


def test_diff_heading_in_a_codex_handbook_names_the_task_group_first() -> None:
    old = "# Task Group: Billing\nscope: vat\n\n## Task 1: Rounding\n\n- rounds half up\n"

    diff = compare(old, old.replace("half up", "half even"))

    assert diff.hunks[0].heading == "Task Group: Billing › Task 1: Rounding"


def test_diff_heading_cannot_hide_characters() -> None:
    diff = compare("# a\u202eb\nx\n", "# a\u202eb\ny\n")

    assert diff.hunks[0].heading == "a[U+202E RLO]b"


def test_diff_heading_of_a_changed_heading_is_the_one_above_it() -> None:
    diff = compare("# Top\n## Old name\ntext\n", "# Top\n## New name\ntext\n")

    assert diff.hunks[0].heading == "Top"


def test_c023_diff_notes_a_missing_newline_on_both_sides_and_no_change_for_it() -> None:
    diff = compare("A\n§\nB", "A2\n§\nB")

    assert drawn(diff) == ["-{A}", "+{A2}", " §", " B"]
    assert (notes(diff), diff.summary) == ([(" ", "no newline at end")], "")


def test_c149_diff_says_how_many_lines_differ_in_blanks_only() -> None:
    old = "".join(f"- point number {n}  \n" for n in range(30)) + "port 5432\n"
    new = "".join(f"- point number {n}\n" for n in range(30)) + "port 5433\n"

    diff = compare(old, new)

    assert diff.summary == "30 of 31 changed lines differ in blanks only"
    assert notes(diff) == [("-", "blanks only")] * 30 + [("+", "blanks only")] * 30
    assert drawn(diff)[0] == "-- point number 0{  }"


def test_c149_diff_marks_tabs_that_became_blanks() -> None:
    diff = compare("\tone two\n", "    one two\n")

    assert drawn(diff) == ["-{\t}one two", "+{    }one two"]
    assert diff.summary == "1 line differs in blanks only"


def test_c149_diff_shows_an_added_final_newline() -> None:
    diff = compare("one\ntwo", "one\ntwo\n")

    assert drawn(diff) == [" one", "-two", "+two"]
    assert (notes(diff), diff.summary) == ([("-", "no newline at end")], "the final newline is added")


def test_diff_counts_blank_lines_that_went() -> None:
    assert compare("a\n\n\n\nb\n", "a\n\nb\n").summary == "2 lines differ in blanks only"


def test_diff_shows_line_ends_where_they_are_not_all_alike() -> None:
    diff = compare("one\r\ntwo\r\n", "one\ntwo\n")

    assert drawn(diff) == ["-one{[U+000D CR]}", "-two{[U+000D CR]}", "+one", "+two"]
    assert diff.summary == "line ends change from CRLF to LF"


def test_diff_of_crlf_on_both_sides_shows_no_line_ends() -> None:
    assert drawn(compare("one\r\ntwo\r\n", "one\r\nTWO\r\n")) == [" one", "-{two}", "+{TWO}"]


def test_c148_diff_of_a_very_long_line_shows_the_change_with_80_characters_each_side() -> None:
    line = " ".join(f"word{n}" for n in range(1000))[:4374]
    at = line.index("word480")

    diff = compare(line + "\n", line.replace("word480", "changed") + "\n")

    removed, added = diff.hunks[0].lines
    assert line_text(removed) == (
        f"[{at - 80:,} characters not shown]{line[at - 80 : at]}{{word480}}{line[at + 7 : at + 87]}"
        f"[{4374 - at - 87:,} characters not shown]"
    )
    assert (removed.note, added.note, diff.summary) == ("shortened", "shortened", "")


def test_c148_diff_of_a_long_line_keeps_the_place_of_what_went() -> None:
    line = "a" * 600 + " gone " + "b" * 600

    diff = compare(line + "\n", line.replace(" gone ", " ") + "\n")

    assert line_text(diff.hunks[0].lines[0]).count("{") == 1
    assert "a b" in line_text(diff.hunks[0].lines[1])


def test_c148_window_can_be_opened() -> None:
    line = "x " * 2000

    diff = document_diff("a.md", (line + "old").encode(), (line + "new").encode(), window_chars=10_000)

    assert drawn(diff) == [f"-{line}{{old}}", f"+{line}{{new}}"]


def test_diff_of_a_new_long_line_is_shown_whole() -> None:
    assert drawn(compare("", "y " * 3000 + "\n")) == [f"+{{{'y ' * 3000}}}"]


def test_diff_says_once_where_a_block_went_with_its_short_lines() -> None:
    block = "A paragraph about the release process.\n\nok\n"
    rest = "".join(f"line {n}\n" for n in range(12))

    diff = compare(block + rest, rest + block)

    assert notes(diff) == [("-", "3 lines moved to line 13"), ("+", "3 lines moved from line 1")]
    assert [line.is_moved for line in diff.hunks[0].lines[:3]] == [True] * 3
    assert diff.summary == "3 lines are moved, word for word"


def test_diff_prefers_a_move_to_a_line_that_is_merely_alike() -> None:
    old = "- service alpha listens on 5000\nx\ny\nz\n- service beta listens on 5001\n"
    new = "- service beta listens on 5001\nx\ny\nz\n- service gamma listens on 5002\n"

    diff = compare(old, new)

    assert [note for _, note in notes(diff)] == ["moved from line 5", "moved to line 1"]


def test_diff_says_that_a_paragraph_is_only_broken_anew() -> None:
    old = "The build needs pnpm, since npm breaks\nthe lock file of the workspace\nand nobody noticed.\n"
    new = "The build needs pnpm,\nsince npm breaks the lock file\nof the workspace and nobody noticed.\n"

    diff = compare(old, new)

    assert diff.summary == "3 lines hold the same words as before, broken elsewhere"
    assert "{" not in "".join(drawn(diff))


def test_diff_marks_the_other_word_of_a_paragraph_broken_anew() -> None:
    old = "The build needs pnpm, since npm breaks\nthe lock file of the workspace\nand nobody noticed.\n"
    new = "The build needs pnpm,\nsince yarn breaks the lock file\nof the workspace and nobody noticed.\n"

    diff = compare(old, new)

    assert drawn(diff)[0] == "-The build needs pnpm, since {npm} breaks"
    assert drawn(diff)[4] == "+since {yarn} breaks the lock file"
    assert "".join(drawn(diff)).count("{") == 2
    assert diff.summary == "a paragraph is broken into lines anew; only its other words are marked"


def test_diff_does_not_take_lists_for_paragraphs() -> None:
    diff = compare("- one two three\n- four five six\n", "- one two\n- three four five six\n")

    assert "broken" not in diff.summary


def test_diff_widens_katakana_and_hangul_to_whole_words() -> None:
    diff = compare("新しいサーバーを使う。포트를 바꾼다\n", "新しいサーバを使う。포트는 바꾼다\n")

    assert drawn(diff) == ["-新しい{サーバー}を使う。{포트를} 바꾼다", "+新しい{サーバ}を使う。{포트는} 바꾼다"]


def test_diff_notes_moved_lines_on_both_sides() -> None:
    paragraph = "A paragraph about the release process.\n"
    rest = "".join(f"line {n}\n" for n in range(12))

    diff = compare(paragraph + rest, rest + paragraph)

    assert notes(diff) == [("-", "moved to line 13"), ("+", "moved from line 1")]


def test_diff_shows_invisible_and_bidi_characters_as_chips() -> None:
    diff = compare("run the tests daily\n", "run\u200b the \u202etests daily\n")

    assert drawn(diff) == ["-run the tests daily", "+run{[U+200B ZWSP]} the {[U+202E RLO]}tests daily"]
    assert diff.summary == "1 line differs in invisible characters only"


def test_c088_diff_shows_bytes_that_are_not_utf8_as_chips() -> None:
    diff = document_diff("a.md", b"caf\xe9 here\n", "café here\n".encode())

    assert drawn(diff) == ["-{caf}{[U+FFFD byte E9]} here", "+{café} here"]


def test_c110_diff_counts_lines_as_git_does() -> None:
    diff = compare("one\u2028still one\nx\x0cy\nz\x85z\n", "one\u2028still one\nz\x85z\n")

    assert drawn(diff) == [" one[U+2028 LSEP]still one", "-{x}{[U+000C FF]}{y}", " z[U+0085 NEL]z"]


@pytest.mark.parametrize(
    ("text", "chips"),
    [
        ("plain – “text” é 漢字 عربي \t!", []),
        ("a\u202eb", ["U+202E RLO"]),
        ("\ufeffx", ["U+FEFF BOM"]),
        ("a\x00b\x1b[2J\n", ["U+0000 NUL", "U+001B ESC", "U+000A LF"]),
        ("\U000e0041\U000e007f", ["U+E0041 TAG A", "U+E007F CANCEL TAG"]),
        ("a\u00a0b\u2009c", ["U+00A0 NBSP", "U+2009 THIN SPACE"]),
        ("x\ufe0fy", ["U+FE0F VS16"]),
        ("\U000e0100", ["U+E0100 VS17"]),
        ("⚠️ ❤️ 1️⃣ 👩‍💻 🏳️‍🌈 👩🏽‍🚀", []),
        ("a\u200db", ["U+200D ZWJ"]),
        (
            "\u3164\u115f\u2800",
            ["U+3164 HANGUL FILLER", "U+115F HANGUL CHOSEONG FILLER", "U+2800 BRAILLE PATTERN BLANK"],
        ),
        ("\ud800", ["U+D800 SURROGATE"]),
        ("\ue000", ["U+E000 PRIVATE USE"]),
        ("\ufffd", ["U+FFFD REPLACEMENT"]),
        ("soft\u00adhyphen", ["U+00AD SHY"]),
        ("p\u0430ypal and \u0391dmin", ["U+0430 Cyrillic a", "U+0391 Greek A"]),
        ("пароль, Ωmega, Δt and βeta of αβγ; Москва 5", []),
    ],
)
def test_visible_makes_chips_of_what_cannot_be_seen(text: str, chips: list[str]) -> None:
    assert [piece.chip for piece in visible(text) if piece.chip] == chips


def test_visible_keeps_markup_as_text() -> None:
    assert visible("<img src=x onerror=alert(1)>") == (Piece("<img src=x onerror=alert(1)>", Mark.SAME),)


@given(st.text(alphabet=st.characters(), max_size=30))
def test_visible_lets_no_unseen_character_through(text: str) -> None:
    for piece in visible(text):
        assert piece.text
        assert all(char.isprintable() or char in "\t\u3000\u200d" for char in piece.text)
        piece.text.encode()


def test_diff_of_opened_lines_shows_them_with_the_hunk_they_touch() -> None:
    lines = [f"line {n}" for n in range(1, 101)]
    old, new = ("\n".join(lines), "\n".join(lines).replace("line 20\n", "l 20\n").replace("line 60\n", "l 60\n"))

    def spans(*opened: tuple[int, int]) -> list[tuple[tuple[int, int], int]]:
        diff = document_diff("a.md", old.encode(), new.encode(), opened=opened)
        return [*((hunk.old_span, hunk.folded) for hunk in diff.hunks), ((0, 0), diff.folded)]

    assert spans() == [((17, 24), 16), ((57, 64), 33), ((0, 0), 37)]
    assert spans((24, 44)) == [((17, 44), 16), ((57, 64), 13), ((0, 0), 37)]
    assert spans((24, 44), (44, 57)) == [((17, 64), 16), ((0, 0), 37)]
    assert spans((1, 17), (64, 999)) == [((1, 24), 0), ((57, 101), 33), ((0, 0), 0)]
    assert spans((30, 40), (5, 5), (9, 3)) == spans()


def test_diff_of_a_large_document_is_coarse_and_says_so() -> None:
    lines = [f"line {n}" for n in range(11_000)]
    new = [*lines[:50], "line fifty", *lines[51:]]

    diff = compare("\n".join(lines), "\n".join(new))

    assert diff.summary == "much text, compared line by line: words and moves are not marked"
    assert [line for line in drawn(diff) if line[0] != " "] == ["-{line 50}", "+{line fifty}"]


def test_diff_of_very_many_changed_lines_is_coarse_and_says_so() -> None:
    old = "".join(f"- fact {n} is true\n" for n in range(1_600))

    diff = compare(old, old.replace("true", "false"))

    assert diff.summary == (
        "much text, compared line by line: words and moves are not marked; 1,000 of 3,200 lines shown"
    )


def test_diff_marks_words_in_the_first_lines_of_very_many_and_says_so() -> None:
    old = "".join(f"- fact {n} is true\n" for n in range(400))

    diff = compare(old, old.replace("true", "false"))

    assert diff.summary == "words are marked in the first 100 changed lines only"


def test_diff_over_the_line_limit_says_what_is_shown(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(canvas, "MAX_SHOWN_LINES", 10)

    diff = compare("", "new\n" * 25)

    assert (len(drawn(diff)), diff.added, diff.summary) == (10, 25, "10 of 25 lines shown")


def test_no_label_is_longer_than_what_a_short_diff_is_known_by() -> None:
    for char in filter(is_unseen, map(chr, range(sys.maxunicode + 1))):
        size_bytes = 1 if "\udc80" <= char <= "\udcff" else len(char.encode("utf-8", "surrogatepass"))
        assert len(label(char)) <= MAX_DRAWN_CHARS_PER_BYTE * size_bytes


@pytest.mark.parametrize(
    ("old", "new"),
    [
        (None, b"New.\n"), (b"Old.\n", None), (b"- One.\n", b"- Two.\n"), (None, b"x\n" * 5_001),
        (b"a\n", b"b\n" * 5_000), (None, "\U000e0041".encode() * 60_000), (b"", b"\xff" * 12_000), (b"\x80" * 9, b""),
        (b"z\n" * 90_000, b"z\n" * 90_000 + b"End.\n"), (None, b"y" * 600_000),
    ],
)  # fmt: skip
def test_what_is_shown_whole_is_known_without_drawing_it(old: bytes | None, new: bytes | None) -> None:
    assert is_shown_whole(old, new) is not document_diff("a.md", old, new).truncated


def test_diff_over_the_size_limit_says_what_is_shown() -> None:
    diff = compare(None, ("y" * 99_999 + "\n") * 5)

    assert (len(drawn(diff)), diff.summary) == (2, "2 of 5 lines shown")


def test_diff_of_one_enormous_line_is_cut_and_says_so() -> None:
    diff = compare(None, "\U000e0041" * 60_000)

    assert diff.hunks[0].lines[0].pieces[-1].chip == "the rest of this line is not shown"
    assert diff.summary == "very long lines are cut"


def hostile() -> dict[str, tuple[str, str]]:
    source = random.Random(7)

    def letters(count: int, alphabet: str) -> str:
        return "".join(source.choices(alphabet, k=count))

    return {
        "one line of a": ("a" * 40_000, "a" * 20_000 + "b" + "a" * 19_000),
        "ab against ba": ("ab" * 10_000, "ba" * 10_000),
        "random letters": (letters(40_000, "abcd "), letters(40_000, "abcd ")),
        "random pair": (letters(2_000, "abcd "), letters(2_000, "abcd ")),
        "equal lines interleaved": ("x\n" * 20_000, "x\ny\n" * 20_000),
        "similar lines": ("abc def\n" * 400, "abc deg\n" * 400),
        "distinct lines": ("".join(f"a{n}\n" for n in range(30_000)), "".join(f"b{n}\n" for n in range(30_000))),
        "long Han line": (letters(2_000, string.ascii_letters), "漢" + letters(2_000, string.ascii_letters)),
    }


@pytest.mark.parametrize("name", hostile())
def test_diff_of_hostile_texts_is_bounded_and_repeatable(name: str) -> None:
    old, new = hostile()[name]

    assert compare(old, new) == compare(old, new)


documents = st.one_of(
    st.none(),
    st.binary(max_size=60),
    st.lists(st.sampled_from(["one two", "one  two", "# h", "", "é\u200b", "x\r"]), max_size=8).map(
        lambda lines: "\n".join(lines).encode()
    ),
)


@given(documents, documents, st.integers(0, 4))
def test_diff_is_total_and_counts_right(old: bytes | None, new: bytes | None, context_lines: int) -> None:
    diff = document_diff("a.md", old, new, context_lines=context_lines)

    lines = [line for hunk in diff.hunks for line in hunk.lines]
    assert diff.added == sum(line.mark is Mark.ADDED for line in lines)
    assert diff.removed == sum(line.mark is Mark.REMOVED for line in lines)
    for hunk in diff.hunks:
        assert len([line for line in hunk.lines if line.old_number]) == hunk.old_span[1] - hunk.old_span[0]
        assert len([line for line in hunk.lines if line.new_number]) == hunk.new_span[1] - hunk.new_span[0]


some_lines = st.lists(st.text(alphabet="ab 漢語カナ한글,\tA1\u0301\u202e", max_size=14), max_size=8)


@given(some_lines, some_lines)
def test_diff_with_all_context_shows_each_line_of_both_sides_once_in_order(old: list[str], new: list[str]) -> None:
    old_text, new_text = ["top", *old], ["top", *new]

    diff = compare("\n".join(old_text) + "\n", "\n".join(new_text) + "\n", context_lines=20)

    lines = [line for hunk in diff.hunks for line in hunk.lines]
    for mark, text in ((Mark.REMOVED, old_text), (Mark.ADDED, new_text)):
        side = [line for line in lines if line.mark in (Mark.SAME, mark)]
        numbers = [line.old_number if mark is Mark.REMOVED else line.new_number for line in side]
        if old_text != new_text:
            assert numbers == list(range(1, len(text) + 1))
            assert [line.text for line in side] == ["".join(piece.text for piece in visible(one)) for one in text]
    for line in lines:
        assert {piece.mark for piece in line.pieces} <= {Mark.SAME, line.mark}


@given(some_lines, some_lines)
def test_diff_shares_the_same_words_in_both_lines_of_a_pair(old: list[str], new: list[str]) -> None:
    diff = compare("\n".join(old), "\n".join(new), context_lines=20)

    def shared(line: DiffLine) -> str:
        return "".join(piece.text for piece in line.pieces if piece.mark is Mark.SAME)

    lines = [line for hunk in diff.hunks for line in hunk.lines]
    added = {line.new_number: line for line in lines if line.mark is Mark.ADDED}
    for line in lines:
        if line.mark is Mark.REMOVED and line.partner is not None:
            assert added[line.partner].partner == line.old_number
            assert shared(line) == shared(added[line.partner])


one_line = st.text(alphabet="éab 日本-\t", max_size=14)


@given(one_line, one_line)
@example("- a", " a")  # all of the new line is the end of the old one
@example("éab日ab", "bb日ab本")  # one side cannot be widened as far as the other
def test_changed_spans_leave_the_same_text_on_both_sides(old: str, new: str) -> None:
    left, right = old, new
    for span in reversed(changed_spans(old, new, Budget())):
        left = left[: span.old_start] + "|" + left[span.old_end :]
        right = right[: span.new_start] + "|" + right[span.new_end :]

    assert left == right


@given(st.text(alphabet="ab 漢カ한\tA1_,\u0301\u3164é—", max_size=30))
def test_split_words_is_the_same_by_expression_and_by_character(text: str) -> None:
    marked = split_words(text + "\u0301")  # a mark is split by the character

    assert split_words(text)[:-1] == marked[: len(split_words(text)) - 1] if text else marked == ["\u0301"]


@given(st.text(max_size=30))
def test_split_words_joins_to_the_text(text: str) -> None:
    assert "".join(split_words(text)) == text


def test_split_words_keeps_letters_with_their_marks() -> None:
    assert split_words("nai\u0308ve_1 x-y 漢字\u200b") == [
        "nai\u0308ve_1",
        " ",
        "x",
        "-",
        "y",
        " ",
        "漢",
        "字",
        "\u200b",
    ]
