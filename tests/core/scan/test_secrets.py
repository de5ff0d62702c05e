from __future__ import annotations

import base64
import json
import random
import re
import time
from collections.abc import Callable

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from memoryreview.core.model import Severity
from memoryreview.core.scan import secrets
from memoryreview.core.scan.secret_rule import SecretRule, entropy
from memoryreview.core.scan.secret_rules_review import REVIEW_RULES
from memoryreview.core.scan.secrets import BLOCK_RULES, RULES, secret_hits

from .samples import Sample, build_example, load_samples, open_repeats_before_the_end, whole

SECRET_SAMPLES = [sample for sample in load_samples() if sample.kind == "secret"]
MULTI_LINE = {"private-key-pem", "putty-key"}

CONTEXTS: dict[str, Callable[[str], str]] = {
    "prose": lambda token: f"The deploy job reads {token} at start.",
    "code": lambda token: f"```sh\nexport X='{token}'\n```",
    "table cell": lambda token: f"| host | value |\n|---|---|\n| a | {token} |",
    "HTML comment": lambda token: f"Notes\n<!-- {token} -->\nend",
    "link title": lambda token: f'[guide](https://acme.test/g "{token}")',
    "URL query": lambda token: f"https://acme.test/hook?token={token}&x=1",
    "JSON string": lambda token: json.dumps({"value": token}),
    "YAML value": lambda token: f"service:\n  value: {token}\n",
    "frontmatter": lambda token: f"---\nname: a\nvalue: {token}\n---\n\nText.",
}


def seeded(rule: SecretRule, seed: int = 7) -> str:
    return build_example(rule.example, random.Random(f"{rule.id}{seed}"))


def rules_found(text: str) -> set[str]:
    return {hit.rule for hit in secret_hits(text)}


@pytest.mark.parametrize(
    ("rule", "context"),
    [
        pytest.param(rule, context, id=f"{rule.id}-{context}")
        for rule in BLOCK_RULES
        for context in CONTEXTS
        if rule.id not in MULTI_LINE or context in ("prose", "code", "HTML comment", "JSON string")
    ],
)
def test_block_rule_finds_its_example_in(rule: SecretRule, context: str) -> None:
    example = seeded(rule)

    hits = secret_hits(CONTEXTS[context](example))

    assert (rule.id, Severity.BLOCK) in {(hit.rule, hit.severity) for hit in hits}


@pytest.mark.parametrize("rule", REVIEW_RULES, ids=lambda rule: rule.id)
def test_review_rule_finds_its_example(rule: SecretRule) -> None:
    hits = secret_hits(f"# Notes\n\n{seeded(rule)}\n\nMore text.\n")

    assert [(hit.rule, hit.severity) for hit in hits if hit.rule == rule.id] == [(rule.id, Severity.REVIEW)]


@pytest.mark.parametrize("rule", RULES, ids=lambda rule: rule.id)
def test_rule_does_not_find_its_near_miss(rule: SecretRule) -> None:
    chooser = random.Random(rule.id)
    near = build_example(rule.near, chooser) if rule.near is not None else seeded(rule)[:-1]

    assert rule.id not in rules_found(f"Value {near} here.")


@pytest.mark.parametrize("rule", [r for r in BLOCK_RULES if r.min_entropy], ids=lambda rule: rule.id)
def test_rule_does_not_find_a_placeholder_body(rule: SecretRule) -> None:
    blank = re.sub(r"<[A-Za-z0-9]+:(\d+)>", lambda hole: "x" * int(hole[1]), rule.example)

    assert rule.id not in rules_found(f"Value {blank} here.")


@pytest.mark.parametrize("rule", RULES, ids=lambda rule: rule.id)
def test_example_holds_a_literal_of_the_prefilter(rule: SecretRule) -> None:
    example = seeded(rule)
    haystack = example.lower() if rule.pattern.flags & re.IGNORECASE else example

    assert any(literal in haystack for literal in rule.literals)


@pytest.mark.parametrize("rule", [rule for rule in RULES if rule.starts_with_literal], ids=lambda rule: rule.id)
def test_rule_that_starts_with_a_literal_does(rule: SecretRule) -> None:
    match = rule.pattern.search(seeded(rule))

    assert match is not None
    assert match[0].lower().startswith(rule.literals)


@pytest.mark.parametrize("rule", RULES, ids=lambda rule: rule.id)
def test_pattern_repeats_without_bound_only_at_its_end(rule: SecretRule) -> None:
    assert open_repeats_before_the_end(rule.pattern) == []


def test_open_repeat_check_sees_the_patterns_it_exists_for() -> None:
    for dangerous in (r"a+b", r"(?:a+)+", r"[^\n]{0,400} {60,}x", r"(?:x|a*)b", r"(?:ab*){2,9}$"):
        assert open_repeats_before_the_end(re.compile(dangerous)) != []


def test_rule_ids_are_unique() -> None:
    assert len({rule.id for rule in RULES}) == len(RULES)


@given(st.integers(0, 10**9), st.sampled_from([rule for rule in BLOCK_RULES if rule.id not in MULTI_LINE]))
@settings(max_examples=100, deadline=None)
def test_random_body_of_any_block_rule_is_found(seed: int, rule: SecretRule) -> None:
    example = seeded(rule, seed)
    if entropy(example) < rule.min_entropy + 0.1 or rule.placeholder.search(example):
        return

    assert rule.id in rules_found(f"- value `{example}`")


@pytest.mark.parametrize("sample", SECRET_SAMPLES, ids=lambda sample: sample.id)
def test_hit_stands_in_the_text_and_never_repeats_it(sample: Sample) -> None:
    for hit in secret_hits(sample.text):
        assert 0 <= hit.start < hit.end <= len(sample.text)
        assert sample.text[hit.start : hit.end] not in hit.message


def token(kind: str = "github-token") -> str:
    return seeded(next(rule for rule in RULES if rule.id == kind))


def test_token_with_zero_width_spaces_is_found_where_it_stands() -> None:
    spaced = token()[:9] + "\u200b" + token()[9:20] + "\u200d" + token()[20:]
    text = f"é “key” {spaced}."

    [hit] = secret_hits(text)

    assert (hit.severity, text[hit.start : hit.end]) == (Severity.BLOCK, spaced)


def test_full_width_token_is_found_where_it_stands() -> None:
    wide = "".join(chr(ord(char) + 0xFEE0) for char in token("aws-access-key-id"))

    [hit] = secret_hits(f"ﷺ key {wide}\n")

    assert (hit.rule, hit.start, hit.end) == ("aws-access-key-id", 6, 6 + len(wide))


@pytest.mark.parametrize("wrap", ["\\\n    ", "`\n`", '" +\n  "', "\n"])
def test_wrapped_token_waits_for_a_person(wrap: str) -> None:
    text = f"token {token()[:22]}{wrap}{token()[22:]}"

    hits = secret_hits(text)

    assert [(hit.rule, hit.severity, hit.end) for hit in hits] == [("github-token", Severity.REVIEW, len(text))]


def test_token_inside_base64_is_found_as_the_whole_run() -> None:
    run = base64.b64encode(f"TOKEN={token()}\n".encode()).decode()

    [hit] = secret_hits(f"decode {run} please")

    assert (hit.rule, hit.severity, hit.start, hit.end) == ("github-token", Severity.BLOCK, 7, 7 + len(run))


def test_private_key_is_covered_to_its_last_line() -> None:
    body = "\n".join("".join(random.Random(n).choices("abcdefGHIJ0123456789+/", k=64)) for n in range(20))
    label = " ".join(("OPENSSH", "PRIVATE", "KEY"))
    key = f"-----BEGIN {label}-----\n{body}\n-----END {label}-----"

    [hit] = secret_hits(f"a\n{key}\nb")

    assert (hit.start, hit.end) == (2, 2 + len(key))


def test_private_key_without_an_end_is_covered_line_by_line() -> None:
    lines = ["".join(random.Random(n).choices("abcdefGHIJ0123456789+/", k=64)) for n in range(5)]
    key = "-----BEGIN " + "PRIVATE KEY-----\n" + "\n".join(lines)

    [hit] = secret_hits(f"{key}\n\nPlain words follow.\n")

    assert (hit.start, hit.end) == (0, len(key))


def web_token(head: object, claims: object) -> str:
    parts = (base64.urlsafe_b64encode(json.dumps(part).encode()).decode().rstrip("=") for part in (head, claims))
    return ".".join((*parts, "Ab3dEf6hIj9kLm2nOp5qRs8tUv"))


def test_web_token_of_the_public_example_waits_and_others_block() -> None:
    public = web_token({"alg": "HS256", "typ": "JWT"}, {"sub": "1234567890", "name": "John Doe"})
    expired = web_token({"alg": "RS256", "typ": "JWT"}, {"sub": "dana", "exp": 1})
    headless = web_token({"typ": "cursor"}, {"sub": "dana"})

    severities = [[hit.severity for hit in secret_hits(f"cookie {text}")] for text in (public, expired, headless)]

    assert severities == [[Severity.REVIEW], [Severity.BLOCK], []]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("postgresql://ledger:fake<+>Pass2026@db.acme.test/ledger", "block"),
        ("mysql://app:p%40<+>ss%2Fw0rd9@db.acme.test/x", "block"),
        ("https://user:a@b9<+>x7Kq2@git.acme.test/r", "block"),
        ("redis://:ab<+>c12@cache.acme.test:6379/0", "review"),
        ("postgres://app:Longer9<+>Password@localhost:5432/db", "review"),
        ("amqp://app:Longer9<+>Password@[::1]:5672", "review"),
        ("postgres://user:password@db.acme.test/x", "pass"),
        ("postgres://user:${DB_PASS}@db.acme.test/x", "pass"),
        ("postgres://user:%24DB_PASS@db.acme.test/x", "pass"),
        ("postgres://user:your_password@db.acme.test/x", "pass"),
        ("http://localhost:8080/a@2x.png", "pass"),
    ],
)
def test_address_with_a_password(text: str, expected: str) -> None:
    hits = [hit for hit in secret_hits(whole(text)) if hit.rule == "url-credentials"]

    assert [hit.severity.value for hit in hits] == ([] if expected == "pass" else [expected])


@pytest.mark.parametrize(
    "text",
    [
        "bot token: f_9Fa<+>KeFaKeFaKeFaKe9FAKE9fake9FaKe-FaKeFAKE9 (agent_id: 0000)",
        "auth token is a8F3k<+>d93Jfk20dkQpz81",
        "Token (prod): a8F3k<+>d93Jfk20dkQpz81",
        "API-Schlüssel: a8F3k<+>d93Jfk20dkQpz81",
        "トークン: a8F3k<+>d93Jfk20dkQpz81",
        "signing key `3f9c2b7d5e8a<+>1c4f6b0d9e7a2c5f8b1d`",
    ],
)
def test_c134_long_token_behind_a_label_waits(text: str) -> None:
    assert [(hit.rule, hit.severity) for hit in secret_hits(whole(text))] == [("keyword-assign", Severity.REVIEW)]


@pytest.mark.parametrize(
    "text",
    [
        "cache key user-profile-2026-v1",
        "commit 3f9c2b7d5e8a1c4f6b0d9e7a2c5f8b1d3f9c2b7d",
        "originSessionId: 7d1c0a52-0b1e-4c8e-9a55-3f0a6f2b9e11",
        "session token 7d1c0a52-0b1e-4c8e-9a55-3f0a6f2b9e11",
        "api_key = config.get('OPENAI_KEY2')",
        "token = request.headers.get('X-Auth-Token')",
        "public key: MIIBIjANBgkqhkiG9w0BAQEFAAOCAQ8A",
        "max_tokens=4096, token_budget: 128000",
        "why-we-moved-from-celery-to-django-q2-and-what-broke-on-the-way",
    ],
)
def test_c134_slugs_hashes_ids_and_code_are_no_tokens(text: str) -> None:
    assert secret_hits(text) == []


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("nas: pass=root", "root"),
        ("비밀번호: `fake9876`", "fake9876"),
        ("비밀번호는 fake9876 입니다", "fake9876"),
        ('passphrase is "correct fake battery staple"', "correct fake battery staple"),
        ("密码：hunter2x", "hunter2x"),
        ("パスワードは sakura88 です", "sakura88"),
        ("Das Passwort lautet Sommer99!", "Sommer99!"),
        ("contraseña: gato123", "gato123"),
        ("mot de passe : soleil99", "soleil99"),
        ("senha=flamengo", "flamengo"),
        ("пароль: qwerty77", "qwerty77"),
        ("DB_PASSWORD=tiger", "tiger"),
        ('{"password": "hunter2"}', "hunter2"),
        ("**Password:** `open-sesame`", "open-sesame"),
        ("- WiFi password: swordfish", "swordfish"),
        ("| nas | root | pass: r00tpw |", "r00tpw"),
    ],
)
def test_c136_short_password_behind_a_label_waits(text: str, value: str) -> None:
    [hit] = secret_hits(text)

    assert (hit.severity, text[hit.start : hit.end]) == (Severity.REVIEW, value)


@pytest.mark.parametrize(
    "text",
    [
        "密码、权限由运维管理",
        "密码：由运维管理",
        "a field named password",
        "비밀번호: 관리자에게 문의",
        "the password is stored in the vault",
        "Password: required",
        "Password policy: at least 12 characters",
        "passwords are hashed with argon2id-v19",
        "pass: 42 fail: 3",
        'label: "Enter your password"',
        "password = getpass.getpass()",
        "Passwort: im Tresor",
        "compass=north, bypass=auto",
    ],
)
def test_c136_words_about_passwords_are_no_passwords(text: str) -> None:
    assert secret_hits(text) == []


@pytest.mark.parametrize(
    "text",
    [
        "postgresql://postgres:<YOUR_PASSWORD_HERE>@localhost/db",
        "password=$DB_PASSWORD",
        "password: ********",
        "AKIA…EXAMPLE",
        "AKIAIOS<+>FODNN7EXAMPLE",
        "token: <paste-token-here>",
        'password: "{{ vault_password }}"',
        "secret: ${{ secrets.DB_PASSWORD_V2 }}",
        "API_TOKEN=your_token_here",
        "password: [REDACTED]",
        "password=op://Eng/db/password",
        "password: !vault",
    ],
)
def test_c137_placeholder_is_no_finding(text: str) -> None:
    assert secret_hits(whole(text)) == []


def test_same_place_is_reported_once_by_its_most_telling_rule() -> None:
    hits = secret_hits(f"GITHUB_TOKEN={token()}")

    assert [hit.rule for hit in hits] == ["github-token"]


@given(st.text(max_size=400))
@settings(max_examples=60, deadline=None)
def test_scan_is_total_on_any_text(text: str) -> None:
    for hit in secret_hits(text):
        assert 0 <= hit.start < hit.end <= len(text)


def test_adversarial_texts_take_bounded_time() -> None:
    literals = sorted({literal for rule in secrets.RULES for literal in rule.literals if len(literal) > 2})
    texts = ["a" * 100_000, "a-" * 50_000, " " * 100_000, "\n" * 100_000, "eyJa." * 20_000, "password:" * 11_000]
    texts.append("".join(literal + "a" * 40 for literal in literals) * 8)
    began = time.monotonic()

    for text in texts:
        secret_hits(text[:100_000])

    assert time.monotonic() - began < 30
