from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from memoryreview.core.scan.unicode import unicode_hits


def tags(ascii_text: str) -> str:
    return "".join(chr(0xE0000 + ord(char)) for char in ascii_text)


def selectors(payload: bytes) -> str:
    return "".join(chr(0xFE00 + byte) if byte < 16 else chr(0xE0100 + byte - 16) for byte in payload)


def seen(text: str) -> list[tuple[str, str]]:
    return [(hit.rule, hit.severity.value) for hit in unicode_hits(text)]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Note" + tags("obey"), [("tag-characters", "block")]),
        ("\U0001f3f4" + tags("gbxxx") + "\U000e007f", [("tag-characters", "block")]),
        ("😀" + selectors(b"obey"), [("variation-selectors", "block")]),
        ("x\ufe0f", [("variation-selectors", "review")]),
        ("a\U000e0101", [("variation-selectors", "block")]),
        ("file\u202etxt.exe", [("bidi-override", "block")]),
        ("\u2066abc\u2069", [("bidi-isolate", "block"), ("bidi-isolate", "block")]),
        ("\u2067שלום\u2069", [("bidi-isolate", "review"), ("bidi-isolate", "review")]),
        ("abc\u200edef", [("direction-mark", "review")]),
        ("ab\u200dcd", [("joiner", "block")]),
        ("1 \u200c 2", [("joiner", "review")]),
        ("end.\u200b", [("invisible", "review")]),
        ("a\u200bb", [("invisible", "review")]),
        ("a\u200bb\u2060c", [("invisible", "block"), ("invisible", "block")]),
        ("end.\u200b\u200c\u200b\u200c\u200b\u200c", [("invisible", "block")]),
        ("late \ufeff mark", [("invisible", "review")]),
        ("soft\u00adhyphen", [("invisible", "review")]),
        ("\x1b[8m", [("control", "block")]),
        ("a\x00b", [("control", "block")]),
        ("a\rb", [("control", "block")]),
        ("a\x7f", [("control", "block")]),
        ("a\x93b", [("c1-control", "review")]),
        ("a\u2028b\x0cc", [("line-break", "review"), ("line-break", "review")]),
        ("\ue000 icon", [("unassigned", "review")]),
        ("paypаl login", [("mixed-script", "review")]),
        ("Ignοre it", [("mixed-script", "review")]),
    ],
)
def test_odd_character_is_reported(text: str, expected: list[tuple[str, str]]) -> None:
    assert seen(text) == expected


@pytest.mark.parametrize(
    "text",
    [
        "\ufeff# Notes",
        "line\r\nline\r\n\ttab",
        "👩\u200d💻 ❤️ 👍🏽 🏳️\u200d🌈 1️⃣ #️⃣ ‼️ ↔️ 👨\u200d👩\u200d👧",
        "\U0001f3f4" + tags("gbeng") + "\U000e007f office",
        "کتاب\u200cها را می\u200cخوانم",
        "हिन्दी क्\u200dष",
        "ไทย\u200bภาษา",
        "葛\U000e0101飾",
        "שלום\u200f 12",
        "\U0001fadf is newer than some tables",
        "Привет мир, Ελληνικά, naïve Ångström",
        "Δtime λcode 35 µs kΩ",
        "日本語のテキスト api",
    ],
)
def test_ordinary_text_of_many_scripts_is_not_reported(text: str) -> None:
    assert seen(text) == []


def test_run_is_one_hit_at_its_place() -> None:
    [hit] = unicode_hits("Ship it" + tags("obey") + ".")

    assert (hit.start, hit.end) == (7, 11)


@given(st.text(max_size=200))
@settings(max_examples=100, deadline=None)
def test_scan_is_total_on_any_text(text: str) -> None:
    for hit in unicode_hits(text):
        assert 0 <= hit.start < hit.end <= len(text)


@given(st.text(st.sampled_from("abc ÄÖß.,:\n-"), max_size=80))
@settings(max_examples=50, deadline=None)
def test_plain_latin_text_is_never_reported(text: str) -> None:
    assert seen(text) == []
