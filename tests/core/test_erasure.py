"""Finding and replacing what is to go, in documents, names, messages and rows."""

from __future__ import annotations

from datetime import date

import pytest

from memoryreview.core.erasure import Eraser, EraserError

DAY = date(2026, 11, 30)
MARK = "[erased 2026-11-30]"


def test_a_document_keeps_every_other_byte() -> None:
    eraser = Eraser(DAY, text=" hunter2! ")

    content = "\ufeffa hunter2!\r\n\tHunter2! hunter2!hunter2!".encode() + b"\xff"

    assert eraser.document(content) == f"\ufeffa {MARK}\r\n\tHunter2! {MARK}{MARK}".encode() + b"\xff"
    assert eraser.document(b"nothing of it") == b"nothing of it"


def test_letters_may_be_composed_or_decomposed() -> None:
    for typed in ("Zoë Müller", "Zoe\u0308 Mu\u0308ller"):
        eraser = Eraser(DAY, text=typed)

        assert eraser.document("Zoë Müller, Zoe\u0308 Mu\u0308ller".encode()) == f"{MARK}, {MARK}".encode()


def test_what_remains_never_holds_the_text_again() -> None:
    eraser = Eraser(DAY, text="abcabc")

    assert eraser.document(b"abcabcabc") == f"{MARK}abc".encode()


@pytest.mark.parametrize("text", ["", "  \n", "brief", "x" * 70_000, "[erased ", "2026-11-30", "\udc80broken"])
def test_a_text_that_cannot_be_searched_for_is_refused_without_naming_it(text: str) -> None:
    with pytest.raises(EraserError) as refused:
        Eraser(DAY, text=text)
    assert not text.strip() or text not in str(refused.value)


def test_two_letters_of_chinese_are_long_enough() -> None:
    assert Eraser(DAY, text="李明").document("找李明".encode()) == f"找{MARK}".encode()


def test_prose_finds_the_text_wrapped_quoted_and_line_by_line() -> None:
    eraser = Eraser(DAY, text="first secret line\nsecond secret line")

    assert eraser.prose("said first secret line second secret line.") == f"said {MARK}."
    assert eraser.prose("> first secret line\n> second  secret line") == f"> {MARK}"
    assert eraser.prose("only the second secret line") == f"only the {MARK}"


def test_a_title_that_quotes_the_beginning_is_replaced_whole() -> None:
    eraser = Eraser(DAY, text="sk-live-**51HxQ**-99887766")

    assert eraser.title("Add “key: sk-live-51Hx…” to notes.md") == MARK
    assert eraser.title("Add “key: sk-live-**51HxQ**-99887766” to a.md") == f"Add “key: {MARK}” to a.md"
    assert eraser.title("Delete document live.md") == "Delete document live.md"


def test_names_stay_apart_and_paths_keep_their_folders() -> None:
    eraser = Eraser(DAY, text="Zoë Müller")

    assert eraser.place("people/Zoë Müller.md") == "people/erased-2026-11-30.md"
    assert eraser.place("people/Zoe\u0308 Mu\u0308ller.md") == "people/erased-2026-11-30-2.md"
    assert eraser.place("people/Zoë Müller.md") == "people/erased-2026-11-30.md"
    assert eraser.place("people/Zo.md") == "people/Zo.md"


def test_values_are_cleaned_but_for_words_of_ours() -> None:
    eraser = Eraser(DAY, text="approved")
    action = {"kind": "approved", "path": "approved.md", "old": "was approved", "lines": [1, 2], "proof": None}

    assert eraser.value(action) == {
        "kind": "approved",
        "path": "erased-2026-11-30.md",
        "old": f"was {MARK}",
        "lines": [1, 2],
        "proof": None,
    }
    assert eraser.value({"kind": "approved"}, foreign=True) == {"kind": MARK}
    assert eraser.value({"approved.md": "x"}) == {"erased-2026-11-30.md": "x"}


def test_spots_show_the_line_masked() -> None:
    eraser = Eraser(DAY, text="one two\nthree")

    assert eraser.spots(b"x\nsay one two\nthree end\none two\nthree") == [(2, "say •••••• end"), (4, "••••••")]


def test_logs_hold_unprintable_characters_escaped() -> None:
    pattern = Eraser(DAY, text="line one\nline\u200b two").logged()

    assert pattern is not None
    assert pattern.search(rb"WARNING line one\nline\u200b two again") is not None


def test_it_prints_nothing_of_what_it_looks_for() -> None:
    assert "hunter22" not in repr(Eraser(DAY, text="hunter22"))
