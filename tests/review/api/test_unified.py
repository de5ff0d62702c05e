from __future__ import annotations

from hypothesis import given, settings
from hypothesis import strategies as st

from memoryreview.core.patch import apply, parse
from memoryreview.review.api.unified import unified_diff


def test_unified_diff_of_equal_documents_is_empty() -> None:
    assert unified_diff("a.md", b"one\n", b"one\n") == ""


def test_unified_diff_shows_three_lines_around_a_change() -> None:
    old = b"".join(b"line %d\n" % n for n in range(1, 12))

    assert unified_diff("notes/a.md", old, old.replace(b"line 6\n", b"line six\n")) == (
        "--- a/notes/a.md\n+++ b/notes/a.md\n@@ -3,7 +3,7 @@\n line 3\n line 4\n line 5\n-line 6\n+line six\n"
        " line 7\n line 8\n line 9\n"
    )


def test_unified_diff_joins_changes_whose_context_touches() -> None:
    old = b"".join(b"%d\n" % n for n in range(20))
    near = old.replace(b"\n5\n", b"\nfive\n").replace(b"\n12\n", b"\ntwelve\n")
    far = old.replace(b"\n5\n", b"\nfive\n").replace(b"\n13\n", b"\nthirteen\n")

    assert unified_diff("a.md", old, near).count("@@ -") == 1
    assert unified_diff("a.md", old, far).count("@@ -") == 2


def test_unified_diff_of_a_new_document_comes_from_nowhere() -> None:
    assert unified_diff("a.md", None, b"one\n") == "--- /dev/null\n+++ b/a.md\n@@ -0,0 +1,1 @@\n+one\n"


def test_unified_diff_of_a_deletion_goes_nowhere() -> None:
    assert unified_diff("a.md", b"one\n", None) == "--- a/a.md\n+++ /dev/null\n@@ -1,1 +0,0 @@\n-one\n"


def test_unified_diff_marks_a_missing_final_newline() -> None:
    assert unified_diff("a.md", b"one", b"one\n") == (
        "--- a/a.md\n+++ b/a.md\n@@ -1,1 +1,1 @@\n-one\n\\ No newline at end of file\n+one\n"
    )


def test_unified_diff_quotes_a_name_that_could_be_mistaken() -> None:
    assert unified_diff('a"\n.md', b"", b"x\n").startswith('--- "a/a\\042\\012.md"\n+++ "b/a\\042\\012.md"\n')


lines = st.lists(st.sampled_from(["a", "b", "c", "", "é", "- x", "@@ -1 +1 @@"]), max_size=30)
documents = st.tuples(lines, st.booleans()).map(lambda d: ("\n".join(d[0]) + "\n" * d[1]).encode())


@settings(max_examples=150, deadline=None)
@given(documents, documents, st.sampled_from([b"\n", b"\r\n"]))
def test_unified_diff_applies_to_the_old_document(old: bytes, new: bytes, line_end: bytes) -> None:
    old, new = old.replace(b"\n", line_end), new.replace(b"\n", line_end)
    diff = unified_diff("notes/a.md", old, new)
    if old == new:
        assert diff == ""
        return

    (patch,) = parse(diff)
    assert (patch.old_path, patch.new_path) == ("notes/a.md", "notes/a.md")
    assert apply(old, patch.hunks) == new
