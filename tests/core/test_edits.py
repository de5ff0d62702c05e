from __future__ import annotations

import subprocess
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memoryreview.core.edits import (
    Delete,
    Edit,
    EntryAdd,
    Operation,
    Patch,
    Rename,
    Replacement,
    Write,
    blob_id,
    build,
    check_path,
)
from memoryreview.core.errors import (
    InvalidOperationError,
    MemoryReviewError,
    NoMatchError,
    NotUtf8Error,
    PathNotAllowedError,
    StaleBaseError,
    TooLargeError,
)
from memoryreview.core.model import Delta, FormatName, Limits, Tree


def run(
    base: Tree,
    *operations: Operation,
    format: FormatName = FormatName.MARKDOWN,  # noqa: A002
    limits: Limits | None = None,
) -> Delta:
    return build(base, operations, format=format, limits=limits or Limits())


def edit(path: str, *pairs: tuple[str, str]) -> Edit:
    return Edit(path, tuple(Replacement(old, new) for old, new in pairs))


def test_blob_id_is_that_of_git() -> None:
    assert blob_id(b"") == "e69de29bb2d1d6434b8b29ae775ad8c2e48c5391"
    assert blob_id(b"hello\n") == "ce013625030ba8dba906f756967f9e9ca394464a"


# --- edit


def test_c010_edit_after_a_byte_order_mark_changes_only_the_match() -> None:
    base = {"a.md": b"\xef\xbb\xbf# Title\n\nold word here\n"}

    assert run(base, edit("a.md", ("old", "new"))) == {"a.md": b"\xef\xbb\xbf# Title\n\nnew word here\n"}


around = st.text(st.characters(codec="utf-8", exclude_characters="\U0001f511"), max_size=30)


@given(around, around, st.text("ab\u00e9 \U0001f511", max_size=5))
def test_c010_edit_leaves_the_bytes_around_the_match(before: str, after: str, new: str) -> None:
    base = {"a.md": f"{before}\U0001f511{after}".encode()}

    delta = run(base, edit("a.md", ("\U0001f511", new)))

    assert {**base, **delta} == {"a.md": f"{before}{new}{after}".encode()}


def test_c023_edit_keeps_a_missing_final_newline() -> None:
    delta = run({"MEMORY.md": "A\n§\nB".encode()}, edit("MEMORY.md", ("A", "A2")), format=FormatName.HERMES)

    assert delta == {"MEMORY.md": "A2\n§\nB".encode()}


def test_c086_edit_lf_pattern_matches_a_crlf_document() -> None:
    base = {"a.md": b"x\r\na\r\nb\r\ny\r\n"}

    assert run(base, edit("a.md", ("a\nb", "a\nc"))) == {"a.md": b"x\r\na\r\nc\r\ny\r\n"}


@pytest.mark.parametrize(
    ("old", "new", "expected"),
    [
        ("a", "a1\na2", b"x\r\na1\r\na2\r\nb\r\n"),
        ("a\r\nb", "a\nB", b"x\r\na\nB\r\n"),  # written out in full: taken as written
        ("a\nb", "a\r\nB", b"x\r\na\r\nB\r\n"),
        ("a\n", "", b"x\r\nb\r\n"),
        ("\na", "", b"x\r\nb\r\n"),
        ("x\na\nb", "x\nb", b"x\r\nb\r\n"),
    ],
)
def test_c086_edit_new_lines_take_the_line_end_of_the_document(old: str, new: str, expected: bytes) -> None:
    assert run({"a.md": b"x\r\na\r\nb\r\n"}, edit("a.md", (old, new))) == {"a.md": expected}


def test_edit_of_mixed_line_ends_keeps_those_of_shared_lines() -> None:
    base = {"a.md": b"one\ntwo\r\nthree\nfour\r\nfive\n"}

    delta = run(base, edit("a.md", ("one\ntwo\nthree\nfour\nfive", "one\ntwo\n3\n3b\nfour\nfive")))

    assert delta == {"a.md": b"one\ntwo\r\n3\n3b\nfour\r\nfive\n"}


def test_edit_crlf_pattern_does_not_match_an_lf_document() -> None:
    with pytest.raises(NoMatchError) as caught:
        run({"a.md": b"a\nb\n"}, edit("a.md", ("a\r\nb", "c")))

    assert caught.value.matches == 0


def test_c091_edit_adds_no_blank_line_and_can_be_taken_back() -> None:
    base = {"a.md": b"# T\n\n- a\n- x\n\n- b\n"}

    there = run(base, edit("a.md", ("- x", "- y")))["a.md"]
    assert there == b"# T\n\n- a\n- y\n\n- b\n"
    assert run({"a.md": there}, edit("a.md", ("- y", "- x"))) == base


def test_c095_edit_without_match_names_the_nearest_passages_and_the_blob() -> None:
    document = "# Notes\n\nsomething else\n- a long\u2011term plan for the shop\n- port 5432\n".encode()

    with pytest.raises(NoMatchError) as caught:
        run({"a.md": document}, edit("a.md", ("a long-term plan", "no plan")))

    error = caught.value
    assert (error.matches, error.blob, error.operation) == (0, blob_id(document), 1)
    assert len(error.nearest) == 3
    assert error.nearest[0] == (4, "- a long\u2011term plan for the shop")


def test_c095_edit_with_two_matches_names_both_lines() -> None:
    with pytest.raises(NoMatchError) as caught:
        run({"a.md": b"use pnpm\n\nalso use pnpm here\n"}, edit("a.md", ("use pnpm", "use npm")))

    assert caught.value.matches == 2
    assert caught.value.nearest == ((1, "use pnpm"), (3, "also use pnpm here"))


def test_c095_edit_of_several_lines_names_windows_of_that_height() -> None:
    document = b"a\nfirst line here\nsecond line here\nz\nother\nthings\n"

    with pytest.raises(NoMatchError) as caught:
        run({"a.md": document}, edit("a.md", ("first line there\nsecond line there", "x")))

    assert caught.value.nearest[0] == (2, "first line here\nsecond line here")


def test_edit_counts_overlapping_matches() -> None:
    with pytest.raises(NoMatchError) as caught:
        run({"a.md": b"aaa\n"}, edit("a.md", ("aa", "b")))

    assert caught.value.matches == 2


def test_edit_does_not_treat_look_alikes_or_case_as_equal() -> None:
    with pytest.raises(NoMatchError):
        run({"a.md": "caf\u00e9\n".encode()}, edit("a.md", ("cafe\u0301", "tea")))


def test_edits_of_one_operation_match_the_running_text() -> None:
    assert run({"a.md": b"one two\n"}, edit("a.md", ("one", "1"), ("1 two", "1 2"))) == {"a.md": b"1 2\n"}


def test_c142_edit_failing_in_the_second_operation_stores_nothing_and_names_it() -> None:
    base = {"a.md": b"a\n", "b.md": b"b\n", "c.md": b"c\n"}

    with pytest.raises(NoMatchError) as caught:
        run(base, edit("a.md", ("a", "A")), edit("b.md", ("x", "X")), edit("c.md", ("c", "C")))

    assert caught.value.operation == 2
    assert base == {"a.md": b"a\n", "b.md": b"b\n", "c.md": b"c\n"}


@pytest.mark.parametrize(
    "operations", [(), (Edit("a.md", ()),), (edit("a.md", ("", "x")),), (edit("gone.md", ("a", "b")),)]
)
def test_edit_that_says_nothing_or_has_no_document_is_refused(operations: tuple[Operation, ...]) -> None:
    with pytest.raises(InvalidOperationError):
        run({"a.md": b"a\n"}, *operations)


def test_more_operations_than_the_limit_are_refused() -> None:
    with pytest.raises(InvalidOperationError):
        run({}, Write("a.md", "a"), Write("b.md", "b"), limits=Limits(operations=1))


def test_more_work_than_the_limits_allow_is_refused() -> None:
    base = {"a.md": b"- a\n" * 50_000}

    for operations in ([edit("a.md", *[("x", "y")] * 1_001)], [EntryAdd("a.md", "b")] * 50):
        with pytest.raises(InvalidOperationError, match="too many"):
            run(base, *operations)


# --- write, delete, rename


def test_write_stores_content_exactly_and_no_change_is_no_delta() -> None:
    base = {"a.md": b"a\r\nb\r\n", "same.md": b"s"}

    assert run(base, Write("a.md", "a\nb\n"), Write("same.md", "s")) == {"a.md": b"a\nb\n"}


def test_write_of_a_new_document_is_stored_under_its_nfc_name() -> None:
    assert run({}, Write("cafe\u0301.md", "x")) == {"caf\u00e9.md": b"x"}


def test_write_to_an_existing_document_with_an_odd_name_is_allowed() -> None:
    names = ["q&a.md", "50%25.md", "cafe\u0301.md", "-rf.md", "tab\there.md", "x\ny.md", ".hidden/a.md", "C:x.md"]
    base = dict.fromkeys(names, b"old\n")

    for name in names:
        assert run(base, Write(name, "new\n")) == {name: b"new\n"}
        assert run(base, edit(name, ("old", "new"))) == {name: b"new\n"}
        assert run(base, Delete(name)) == {name: None}


def test_c109_new_documents_with_blanks_and_other_scripts_can_be_made() -> None:
    assert run({}, Write("メモ.md", "x"), Write("a b/c.md", "y")) == {"メモ.md": b"x", "a b/c.md": b"y"}


def test_write_with_another_base_blob_is_stale_and_carries_the_present_one() -> None:
    with pytest.raises(StaleBaseError) as caught:
        run({"a.md": b"now\n"}, Write("a.md", "mine\n", base_blob=blob_id(b"then\n")))

    assert caught.value.blob == blob_id(b"now\n")


def test_write_of_a_new_document_with_a_base_blob_is_stale() -> None:
    with pytest.raises(StaleBaseError) as caught:
        run({}, Write("a.md", "mine\n", base_blob=blob_id(b"then\n")))

    assert caught.value.blob is None


def test_write_with_the_right_base_blob_also_after_an_earlier_operation() -> None:
    blob = blob_id(b"a\n")

    assert run({"a.md": b"a\n"}, edit("a.md", ("a", "b")), Write("a.md", "c\n", base_blob=blob)) == {"a.md": b"c\n"}


def test_delete_and_rename_of_a_missing_document_are_refused() -> None:
    for operation in (Delete("b.md"), Rename("b.md", "c.md"), EntryAdd("b.md", "x")):
        with pytest.raises(InvalidOperationError, match=r"b\.md"):
            run({"a.md": b"a\n"}, operation)


def test_delete_then_write_is_one_change() -> None:
    assert run({"a.md": b"a\n"}, Delete("a.md"), Write("a.md", "b\n")) == {"a.md": b"b\n"}
    assert run({"a.md": b"a\n"}, Delete("a.md"), Write("a.md", "a\n")) == {}


def test_rename_moves_the_bytes_and_later_operations_use_the_new_name() -> None:
    base = {"a.md": b"a\n"}

    assert run(base, Rename("a.md", "b.md"), edit("b.md", ("a", "b"))) == {"a.md": None, "b.md": b"b\n"}
    assert run(base, Rename("a.md", "A.md")) == {"a.md": None, "A.md": b"a\n"}


def test_rename_onto_an_existing_document_is_refused() -> None:
    with pytest.raises(InvalidOperationError, match=r"b\.md"):
        run({"a.md": b"a\n", "b.md": b"b\n"}, Rename("a.md", "b.md"))


def test_document_over_the_size_limit_is_refused() -> None:
    with pytest.raises(TooLargeError) as caught:
        run({}, Write("a.md", "x" * 11), limits=Limits(refused_bytes=10))

    assert (caught.value.size_bytes, caught.value.max_size_bytes) == (11, 10)


@pytest.mark.parametrize(
    ("document", "offset"),
    [(b"Configura\xe7\xe3o n\xe3o \x97 nota\r\n", 9), ("端口改为 8088".encode("gbk"), 0)],
)
def test_c088_every_change_of_a_document_that_is_not_utf8_is_refused(document: bytes, offset: int) -> None:
    operations: list[Operation] = [
        Write("a.md", "x"),
        edit("a.md", ("8", "9")),
        Delete("a.md"),
        Rename("a.md", "b.md"),
        EntryAdd("a.md", "x"),
    ]
    for operation in operations:
        with pytest.raises(NotUtf8Error) as caught:
            run({"a.md": document}, operation)
        assert (caught.value.path, caught.value.offset) == ("a.md", offset)

    assert run({"a.md": document, "b.md": b"b"}, Write("b.md", "c")) == {"b.md": b"c"}


def test_text_with_half_a_surrogate_pair_is_refused() -> None:
    with pytest.raises(NotUtf8Error):
        run({}, Write("a.md", "é\ud83d"))


# --- names


@pytest.mark.parametrize(
    ("existing", "new", "named"),
    [
        ("alpha.md", "Alpha.md", "alpha.md"),
        ("caf\u00e9.md", "cafe\u0301.md", "caf\u00e9.md"),
        ("cafe\u0301.md", "caf\u00e9.md", "cafe\u0301.md"),
        ("straße.md", "STRASSE.md", "straße.md"),
        ("ΣΊΣΥΦΟΣ.md", "σίσυφος.md", "ΣΊΣΥΦΟΣ.md"),
        ("Team/a.md", "team/b.md", "Team"),
        ("a.md", "a.md/b.md", "a.md"),
        ("a.md/b.md", "A.md", "a.md"),
    ],
)
def test_c052_new_name_that_equals_another_is_refused_with_both_named(existing: str, new: str, named: str) -> None:
    base = {existing: b"a\n", "other.md": b"o\n"}

    for operation in (Write(new, "x"), Rename("other.md", new)):
        with pytest.raises(InvalidOperationError) as caught:
            run(base, operation)
        assert f"“{new}”" in str(caught.value)
        assert f"existing “{named}”" in str(caught.value)


def test_c052_two_new_names_of_one_proposal_may_not_clash() -> None:
    with pytest.raises(InvalidOperationError, match=r"STRASSE\.md.*straße\.md"):
        run({}, Write("straße.md", "x"), Write("STRASSE.md", "y"))


def test_c052_name_is_free_again_after_its_document_went() -> None:
    assert run({"a.md": b"a"}, Delete("a.md"), Write("A.md", "x")) == {"a.md": None, "A.md": b"x"}


ESCAPES = [
    "../../.ssh/config",
    "/etc/passwd",
    "C:\\x.md",
    "c:/x.md",
    "a/../../b.md",
    "a/../b.md",
    "notes\\..\\..\\x.md",
    "ok.md\x00.png",
    "%2e%2e/x.md",
    "..%2fx.md",
    ".git/hooks/x.md",
    "",
    ".",
    "a//b.md",
    "./a.md",
    "a.md/",
    "\\\\host\\share\\x.md",
]
BAD_NAMES = [
    *ESCAPES,
    "loop/" * 8 + "x.md",
    "x" * 121 + ".md",
    "漢" * 100 + ".md",
    "a.txt",
    "a.MD",
    "noending",
    ".md",
    ".hidden.md",
    "-rf.md",
    "a/-x.md",
    "a./b.md",
    "a /b.md",
    ".GIT/x.md",
    ".git /x.md",
    ".g\u200cit/x.md",
    "git~1/x.md",
    "con.md",
    "Aux.notes.md",
    "NUL .md",
    "lpt1/x.md",
    "COM¹.md",
    "a\\b.md",
    "a\nb.md",
    "a\tb.md",
    "a\x1b[2J.md",
    "a\u202egnp.md",
    "a\u200b.md",
    "a\ufe0f.md",
    "a\u3164b.md",
    "a\U000e0041.md",
    "a\ud800.md",
    "q&a.md",
    "a:b.md",
    "what?.md",
    "<img src=x onerror=alert(1)>.md",
    '"><b>.md',
    "a\u00a0b.md",
    "a\u2028b.md",
]


@pytest.mark.parametrize("path", BAD_NAMES)
def test_c118_new_path_is_refused_without_echoing_unsafe_characters(path: str) -> None:
    for act in (
        lambda: check_path(path, Limits()),
        lambda: run({"a.md": b"a\n"}, Write(path, "x")),
        lambda: run({"a.md": b"a\n"}, Rename("a.md", path)),
    ):
        with pytest.raises(PathNotAllowedError) as caught:
            act()
        assert caught.value.status == 400
        assert all(char.isprintable() for char in str(caught.value))


@pytest.mark.parametrize("path", ESCAPES)
def test_c118_existing_path_that_leads_out_is_refused_for_every_operation(path: str) -> None:
    operations = (edit(path, ("a", "b")), Delete(path), Rename(path, "b.md"), EntryAdd(path, "x"))
    for operation in operations:
        with pytest.raises(PathNotAllowedError):
            run({"a.md": b"a\n"}, operation)


def test_c118_patch_that_leads_out_is_refused() -> None:
    with pytest.raises(PathNotAllowedError):
        run({}, Patch("--- /dev/null\n+++ b/../x.md\n@@ -0,0 +1 @@\n+x\n"))


@pytest.mark.parametrize(
    "path",
    [
        "a.md",
        "日本語 メモ.md",
        "a@b+c(d)_e-f.md",
        "e\u0301.md",
        "a/b/c/d/e/f/g/h.md",
        "x" * 117 + ".md",
        "अनु.md",
        "v1.2.md",
    ],
)
def test_check_path_accepts_plain_names(path: str) -> None:
    assert check_path(path, Limits()) == path.replace("e\u0301", "\u00e9")


@given(st.text(max_size=40))
def test_check_path_returns_a_stable_name_or_refuses(path: str) -> None:
    try:
        stored = check_path(path, Limits())
    except PathNotAllowedError:
        return
    assert check_path(stored, Limits()) == stored
    assert stored.endswith(".md")
    assert not {"", ".", ".."} & set(stored.split("/"))


# --- entry.add


def test_c020_entry_with_the_delimiter_is_refused_by_name() -> None:
    base = {"MEMORY.md": b"A"}
    for text in ("Checklist:\n§\nrun the migration", "§\nx", "x\n§", "x\r\n § \r\ny", "§"):
        with pytest.raises(InvalidOperationError, match="§") as caught:
            run(base, EntryAdd("MEMORY.md", text), format=FormatName.HERMES)
        assert caught.value.status == 422


@pytest.mark.parametrize(
    ("document", "expected"),
    [
        ("", "new"),
        ("A\n§\nB", "A\n§\nB\n§\nnew"),
        ("A\n", "A\n§\nnew"),
        ("A\n§\n", "A\n§\nnew"),
        ("A\n§", "A\n§\nnew"),
        ("A\r\n§\r\nB", "A\r\n§\r\nB\r\n§\r\nnew"),
        ("costs 5 § 3", "costs 5 § 3\n§\nnew"),
    ],
)
def test_c023_hermes_entry_is_appended_without_final_newline(document: str, expected: str) -> None:
    delta = run({"MEMORY.md": document.encode()}, EntryAdd("MEMORY.md", "new\n"), format=FormatName.HERMES)

    assert delta == {"MEMORY.md": expected.encode()}


def test_hermes_entry_may_mention_the_sign_inside_a_line() -> None:
    delta = run({"MEMORY.md": b"A"}, EntryAdd("MEMORY.md", "see § 5\nand more"), format=FormatName.HERMES)

    assert delta == {"MEMORY.md": "A\n§\nsee § 5\nand more".encode()}


@pytest.mark.parametrize(
    ("document", "text", "expected"),
    [
        ("# T\n\n- a\n- b\n", "c", "# T\n\n- a\n- b\n- c\n"),
        ("- a\n- b", "c", "- a\n- b\n- c"),
        ("- a\n\ntext after\n", "c", "- a\n- c\n\ntext after\n"),
        ("* a\n  * nested\n    more\n\n# End\n", "c", "* a\n  * nested\n    more\n* c\n\n# End\n"),
        ("- a\n\n- b\n", "c", "- a\n\n- b\n\n- c\n"),
        ("- a\n\n  more of a\n", "c\nd\n\ne", "- a\n\n  more of a\n- c\n  d\n\n  e\n"),
        ("# T\n", "c", "# T\n\n- c\n"),
        ("text", "c", "text\n\n- c"),
        ("", "c", "- c\n"),
        ("- a\r\n", "c\nd", "- a\r\n- c\r\n  d\r\n"),
        ("- a\n", "- kept", "- a\n- kept\n"),
        ("- a\n", "* kept\n  more", "- a\n* kept\n  more\n"),
        ("- a\n\n```\n- code\n```\n", "c", "- a\n- c\n\n```\n- code\n```\n"),
        ("---\nname: x\ntags:\n- t\n---\ntext\n", "c", "---\nname: x\ntags:\n- t\n---\ntext\n\n- c\n"),
        ("- a\n\n1. one\n", "c", "- a\n- c\n\n1. one\n"),
        ("- a\n\n> - quoted\n", "c", "- a\n- c\n\n> - quoted\n"),
    ],
)
def test_entry_becomes_the_last_bullet_of_the_last_list(document: str, text: str, expected: str) -> None:
    for format_name in (FormatName.MARKDOWN, FormatName.CLAUDE, FormatName.CODEX):
        delta = run({"a.md": document.encode()}, EntryAdd("a.md", text), format=format_name)

        assert delta == {"a.md": expected.encode()}


def test_entry_without_text_is_refused() -> None:
    with pytest.raises(InvalidOperationError):
        run({"a.md": b"- a\n"}, EntryAdd("a.md", " \n"))


# --- patch


def git_diff(folder: Path, base: dict[str, bytes], new: dict[str, bytes | None], *options: str) -> str:
    def git(*arguments: str) -> bytes:
        command = ["git", "-c", "user.name=a", "-c", "user.email=a@b", "-c", "core.autocrlf=false", *arguments]
        return subprocess.run(command, cwd=folder, check=True, capture_output=True).stdout

    git("init", "-q")
    for state in (base, new):
        for path, document in state.items():
            place = folder / path
            place.parent.mkdir(parents=True, exist_ok=True)
            if document is None:
                place.unlink()
            else:
                place.write_bytes(document)
        git("add", "-A")
        if state is base:
            git("commit", "-q", "--allow-empty", "-m", "base")
    return git("diff", "--cached", *options).decode()


NUMBERED = "".join(f"line {n}\n" for n in range(1, 31)).encode()


@pytest.mark.parametrize(
    ("base", "new"),
    [
        ({"a.md": NUMBERED}, {"a.md": NUMBERED.replace(b"line 3\n", b"3\n").replace(b"line 25\n", b"25\n\nmore\n")}),
        ({"a.md": b"A\nB"}, {"a.md": b"A\nB\n"}),
        ({"a.md": b"A\nB"}, {"a.md": b"A2\nB"}),
        ({"a.md": b"A\n"}, {"a.md": b"A\nB"}),
        ({"a.md": b"A\r\nB\r\n"}, {"a.md": b"A\r\nC\r\n"}),
        ({"a.md": NUMBERED}, {"a.md": None, "dir b/メモ \t.md": b"x\n"}),
        ({"a.md": NUMBERED, "empty.md": b""}, {"a.md": b"x\n", "empty.md": None, "new/none.md": b""}),
        ({"a.md": NUMBERED}, {"a.md": None, "b.md": NUMBERED.replace(b"line 9\n", b"9\n")}),
        ({"a.md": NUMBERED}, {"a.md": None, "b.md": NUMBERED}),
        ({"a.md": b"-- x\n++ y\n"}, {"a.md": b"-- z\n++ y\n"}),
        ({"a.md": b"\n\nx\n"}, {"a.md": b"\nx\n"}),
        ({"a/b/x.md": b"1\n"}, {"a/b/x.md": b"2\n"}),
    ],
)
@pytest.mark.parametrize("options", [(), ("-U0",), ("--no-prefix",)])
def test_patch_written_by_git_rebuilds_the_documents(
    tmp_path: Path, base: dict[str, bytes], new: dict[str, bytes | None], options: tuple[str, ...]
) -> None:
    if options == ("--no-prefix",) and "empty.md" in base:
        pytest.skip("git names such documents on the diff line only")
    diff = git_diff(tmp_path, base, new, *options)
    if any("\t" in path for path in new):
        diff = diff.replace("\\t", "")  # a tab is fine in a diff, not in a new name
        new = {path.replace("\t", ""): document for path, document in new.items()}

    assert run(base, Patch(diff)) == new


def test_patch_with_lf_lines_fits_a_crlf_document_and_keeps_crlf() -> None:
    diff = "--- a/a.md\n+++ b/a.md\n@@ -1,3 +1,4 @@\n a\n-b\n+B\n+B2\n c\n"

    assert run({"a.md": b"a\r\nb\r\nc\r\n"}, Patch(diff)) == {"a.md": b"a\r\nB\r\nB2\r\nc\r\n"}


def test_patch_with_a_time_stamp_and_without_prefix_is_read() -> None:
    diff = "--- a.md\t2026-01-02 03:04:05\n+++ a.md\t2026-01-02 03:04:06\n@@ -1 +1 @@\n-a\n+b\n"

    assert run({"a.md": b"a\n"}, Patch(diff)) == {"a.md": b"b\n"}


@pytest.mark.parametrize(
    "diff",
    [
        "",
        "hello\n",
        "--- a/a.md\n+++ b/a.md\n",
        "--- a/a.md\n@@ -1 +1 @@\n-a\n+x\n",
        "--- a/a.md\n+++ b/a.md\n@@ -1,2 +1,2 @@\n-a\n+x\n",  # shorter than its header
        "--- a/a.md\n+++ b/a.md\n@@ -1 +1 @@\n-a\n+x\n+y\n",  # longer than its header
        "--- a/a.md\n+++ b/a.md\n@@ -1,3 +1,3 @@\n a\n-B\n+x\n c\n",  # context differs
        "--- a/a.md\n+++ b/a.md\n@@ -2,3 +2,3 @@\n a\n-b\n+x\n c\n",  # one line off
        "--- a/a.md\n+++ b/a.md\n@@ -3 +3 @@\n-c\n\\ No newline at end of file\n+x\n",  # there is a newline
        "--- a/a.md\n+++ b/a.md\n@@ -1 +1 @@\n-a\n+x\n\\ No newline at end of file\n",  # in the middle
        "--- a/a.md\n+++ b/a.md\n@@ -9 +9 @@\n-a\n+x\n",
        "--- a/a.md\n+++ b/a.md\n@@ -2 +2 @@\n-b\n+x\n@@ -1 +1 @@\n-a\n+x\n",  # out of order
        "--- a/a.md\n+++ b/b.md\n@@ -1 +1 @@\n-a\n+x\n",
        "--- a/gone.md\n+++ b/gone.md\n@@ -1 +1 @@\n-a\n+x\n",
        "--- /dev/null\n+++ b/a.md\n@@ -0,0 +1 @@\n+x\n",  # exists
        "--- a/a.md\n+++ /dev/null\n@@ -1 +0,0 @@\n-a\n",  # leaves text
        "--- /dev/null\n+++ /dev/null\n@@ -0,0 +1 @@\n+x\n",
        "diff --git a/a.md b/a.md\nold mode 100644\nnew mode 100755\n",
        "diff --git a/a.md b/a.md\nindex 1..2\nGIT binary patch\n",
        "--- a/a.md\n+++ b/a.md\n@@ -1 +1 @@\n-a\n+x\nand some words\n",
        "*** Begin Patch\n*** Update File: a.md\n@@\n-a\n+x\n*** End Patch\n",
        '--- "a/\\999.md"\n+++ b/a.md\n@@ -1 +1 @@\n-a\n+x\n',
    ],
)
def test_patch_that_does_not_fit_exactly_is_refused(diff: str) -> None:
    with pytest.raises(InvalidOperationError):
        run({"a.md": b"a\nb\nc\n"}, Patch(diff))


def test_patch_is_all_or_nothing_over_documents() -> None:
    diff = "--- a/a.md\n+++ b/a.md\n@@ -1 +1 @@\n-a\n+x\n--- a/b.md\n+++ b/b.md\n@@ -1 +1 @@\n-no\n+x\n"

    with pytest.raises(InvalidOperationError):
        run({"a.md": b"a\n", "b.md": b"b\n"}, Patch(diff))


def test_patch_new_name_may_not_clash() -> None:
    with pytest.raises(InvalidOperationError, match=r"A\.md.*a\.md"):
        run({"a.md": b"a\n"}, Patch("--- /dev/null\n+++ b/A.md\n@@ -0,0 +1 @@\n+x\n"))


# --- totality

texts = st.text(alphabet="ab\n\r§- \u00e9\u202e@+", max_size=12)
paths = st.one_of(st.sampled_from(["a.md", "b.md", "c.md", "A.md", "../x.md", "odd&.md"]), st.text(max_size=6))
diffs = st.one_of(
    texts, st.builds(lambda body: f"--- a/a.md\n+++ b/a.md\n@@ -1 +1,2 @@\n{body}", st.text("ab-+ \n\\", max_size=12))
)
operations: st.SearchStrategy[Operation] = st.one_of(
    st.builds(Write, paths, texts),
    st.builds(Edit, paths, st.lists(st.builds(Replacement, texts, texts), max_size=2).map(tuple)),
    st.builds(Delete, paths),
    st.builds(Rename, paths, paths),
    st.builds(EntryAdd, paths, texts),
    st.builds(Patch, diffs),
)


@given(
    st.dictionaries(st.sampled_from(["a.md", "b.md", "odd&.md"]), st.binary(max_size=12)),
    st.lists(operations, max_size=4),
    st.sampled_from(FormatName),
)
def test_build_returns_real_changes_or_a_clear_refusal(
    base: dict[str, bytes], asked: list[Operation], format_name: FormatName
) -> None:
    before = dict(base)

    try:
        delta = run(base, *asked, format=format_name)
    except MemoryReviewError as error:
        assert str(error)  # noqa: PT017
        delta = {}

    assert base == before
    assert all(base.get(path) != document for path, document in delta.items())
    for document in delta.values():
        (document or b"").decode()


def test_diff_changes_at_most_as_many_documents_as_there_may_be_operations() -> None:
    base = {f"{name}.md": b"x\n" for name in "abcd"}
    parts = {name: f"--- a/{name}.md\n+++ b/{name}.md\n@@ -1 +1 @@\n-x\n+y\n" for name in "abcd"}
    limits = Limits(operations=3)

    allowed = run(base, Patch(parts["a"] + parts["b"]), Patch(parts["c"]), limits=limits)

    assert allowed == {"a.md": b"y\n", "b.md": b"y\n", "c.md": b"y\n"}
    with pytest.raises(InvalidOperationError, match="change more than 3 documents"):
        run(base, Patch(parts["a"] + parts["b"]), Patch(parts["c"] + parts["d"]), limits=limits)
