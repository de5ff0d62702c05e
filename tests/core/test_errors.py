from __future__ import annotations

import pytest

from memoryreview.core.errors import first_sentence


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("The disk is full. Nothing was changed; make room.", "The disk is full"),
        (
            "“/notes/a. b.md” cannot be written: no room. Nothing was changed.",
            "“/notes/a. b.md” cannot be written: no room",
        ),
        ("“a “b. c”. d” is gone. Try again.", "“a “b. c”. d” is gone"),
        ("git 2.39.5 is too old. Nothing was changed.", "git 2.39.5 is too old"),
        ("One sentence only.", "One sentence only"),
        ("No full stop", "No full stop"),
        ("", ""),
    ],
)
def test_first_sentence_ends_at_a_full_stop_that_is_in_no_name(text: str, told: str) -> None:
    assert first_sentence(text) == told
