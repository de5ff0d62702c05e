from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from memoryreview.core.scan.personal import RULES, PersonalRule, personal_hits

from .samples import open_repeats_before_the_end


def rules_found(text: str) -> list[str]:
    return [hit.rule for hit in personal_hits(text)]


@pytest.mark.parametrize("rule", RULES, ids=lambda rule: rule.example)
def test_rule_finds_its_example(rule: PersonalRule) -> None:
    hits = personal_hits(f"# Notes\n\nText ({rule.example}).\n")

    assert (rule.id, rule.severity) in {(hit.rule, hit.severity) for hit in hits}


@pytest.mark.parametrize("rule", RULES, ids=lambda rule: rule.example)
def test_rule_does_not_find_its_near_miss(rule: PersonalRule) -> None:
    assert rule.id not in rules_found(f"# Notes\n\n{rule.near}\n")


@pytest.mark.parametrize("rule", RULES, ids=lambda rule: rule.example)
def test_pattern_repeats_without_bound_only_at_its_end(rule: PersonalRule) -> None:
    assert open_repeats_before_the_end(rule.pattern) == []


@pytest.mark.parametrize(
    ("text", "rule"),
    [
        ("Phone +00 000 0000, call after ten", "phone-number"),
        ("Handy: 0171 2345678", "phone-number"),
        ("电话：13812345678", "phone-number"),
        ("휴대폰 010-1234-5678", "phone-number"),
        ("(555) 123-4567", "phone-number"),
        ("Lives at 12 Elm Street", "postal-address"),
        ("Wohnt in der Lindenstraße 7", "postal-address"),
        ("12 rue Victor", "postal-address"),
        ("Calle Mayor 5", "postal-address"),
        ("北京市中山路12号", "postal-address"),
        ("〒100-0001", "postal-address"),
        ("DOB: 1990-01-02", "birth-date"),
        ("On sick leave until May", "health"),
        ("Dana is pregnant", "health"),
        ("the NAS is 192.168.1.44", "private-ip"),
        ("db.prod.svc.cluster.local:5432", "internal-host"),
        ("https://wiki.corp/x", "internal-host"),
        ("C:\\Users\\dana\\notes", "home-path"),
    ],
)
def test_private_text_is_reported(text: str, rule: str) -> None:
    assert rules_found(text) == [rule]


@pytest.mark.parametrize(
    "text",
    [
        "2026-05-19 to 2026-06-01, v1.2.3, build 20260519",
        "id 7d1c0a52-0b1e-4c8e-9a55-3f0a6f2b9e11",
        "commit 1558581188fca575016653682b286e72b2f37ae6",
        "1600000000 seconds, port 5432, 4096 tokens",
        "127.0.0.1:8765, 203.0.113.9, 300.168.1.1, 10.2.3",
        "settings.local.json, CLAUDE.local.md, config.local, localhost",
        "git clone git@github.com:acme/app.git",
        "/home/runner/work, /Users/<you>/x, ~/notes",
        "12 Google Drive folders, 3 more ways to 4 places",
        "The phone client retries 3 times.",
        "The health check answers 200.",
    ],
)
def test_look_alikes_are_not_reported(text: str) -> None:
    assert rules_found(text) == []


@given(st.text(max_size=200))
@settings(max_examples=60, deadline=None)
def test_scan_is_total_on_any_text(text: str) -> None:
    for hit in personal_hits(text):
        assert 0 <= hit.start < hit.end <= len(text)
