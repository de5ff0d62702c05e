from __future__ import annotations

import pytest

from memoryreview.core.model import FormatName
from memoryreview.core.relations import disagrees
from memoryreview.core.relations.disagree import MAX_BYTES

PORT = "- The database port of staging is 5432.\n"
OTHER = "- The database port of staging is 6000.\n"


@pytest.mark.parametrize(
    ("before", "after", "expected"),
    [
        (PORT, PORT + OTHER, True),
        (PORT, OTHER, False),  # the old value goes: that is a rewrite
        (PORT, PORT + "- Releases go out on Monday.\n", False),
        ("", PORT + OTHER, True),
    ],
)
def test_a_change_disagrees_with_what_its_document_goes_on_saying(before: str, after: str, expected: bool) -> None:
    head = "# Staging\n\n"
    tree = {"a.md": (head + before).encode()} if before else {}

    assert disagrees(tree, {"a.md": (head + after).encode()}, FormatName.MARKDOWN) is expected


def test_what_goes_or_is_large_is_not_compared() -> None:
    large = PORT.encode() + b"x" * MAX_BYTES

    assert not disagrees({"a.md": PORT.encode()}, {"a.md": None}, FormatName.MARKDOWN)
    assert not disagrees({"a.md": large}, {"a.md": large + OTHER.encode()}, FormatName.MARKDOWN)
