"""The scanner for what a team should not share: personal data, addresses of private machines. Team scope only.

Light by intent: names, habits and plain illness are beyond patterns. It lists what a person must look at.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass

from memoryreview.core.model import Severity

from .hit import Hit, without_covered
from .normalise import secret_view

MIN_PHONE_DIGITS = 7
MAX_PHONE_DIGITS = 15


def _is_phone(match: re.Match[str]) -> bool:
    return MIN_PHONE_DIGITS <= sum(char.isdigit() for char in str(match["value"])) <= MAX_PHONE_DIGITS


def _is_person_mail(match: re.Match[str]) -> bool:
    return str(match["user"]).casefold() not in ("git", "noreply", "no-reply", "hg", "svn", "x-access-token")


def _is_person_folder(match: re.Match[str]) -> bool:
    return str(match["user"]).casefold().strip("<>{}$%") not in _COMMON_ACCOUNTS


def _is_host(match: re.Match[str]) -> bool:
    first = str(match[0]).casefold().split(".")[0]
    return first not in ("com", "org", "net", "io", "dev", "config", "settings", "env", "compose", "docker-compose")


def _is_octets(match: re.Match[str]) -> bool:
    return all(int(part) <= 255 for part in match[0].split("."))


def _is_card(match: re.Match[str]) -> bool:
    digits = [int(char) for char in match[0] if char.isdigit()]
    doubled = (d if i % 2 == 0 else sum(divmod(2 * d, 10)) for i, d in enumerate(reversed(digits)))
    return 13 <= len(digits) <= 16 and len(set(digits)) > 2 and sum(doubled) % 10 == 0


_COMMON_ACCOUNTS = frozenset({
    "user", "username", "user_name", "you", "me", "name", "your_name", "yourname", "runner", "ubuntu", "root", "node",
    "vscode", "app", "public", "shared", "ec2-user", "admin", "git", "linuxbrew", "debian", "jovyan", "home", "default",
    "someone", "developer", "dev", "docker", "vagrant", "circleci",
})  # fmt: skip
_STREETS = r"(?:Street|St\.|Avenue|Ave\b\.?|Road|Rd\.|Lane|Boulevard|Blvd\.?|Court|Terrace|Crescent)"
_PHONE_LABEL = (
    r"(?i:phone|tel|telephone|mobile|cell|call|fax|whatsapp|telefon|handy|tél|téléphone|móvil|teléfono|телефон"
    r"|电话|手机|電話|携帯|전화|휴대폰|연락처)"
)
_NUMBER = r"(?P<value>\(?\+?\d[\d ().\-/]{5,22}\d)"


@dataclass(frozen=True, slots=True)
class PersonalRule:
    """One kind of private text. `literals`: without any of them it cannot match; () where there are none."""

    id: str
    severity: Severity
    literals: tuple[str, ...]
    pattern: re.Pattern[str]
    message: str
    example: str
    near: str
    judge: Callable[[re.Match[str]], bool] = bool


RULES: tuple[PersonalRule, ...] = (
    PersonalRule(
        "phone-number", Severity.REVIEW, (),
        re.compile(
            _PHONE_LABEL + r"(?:[^\W\d]| ){0,12}[:.]?\s{0,2}" + _NUMBER + r"(?![\w-])"
        ),
        "Looks like a phone number: a team store is read by everyone in the team.",
        "Phone 0555 123 4567", "Phone support closes at 17:00", _is_phone,
    ),
    PersonalRule(
        "phone-number", Severity.REVIEW, (),
        re.compile(
            r"(?<![\w.+/-])(?P<value>\+\d{1,3}[ ().-]{1,3}\d{1,4}(?:[ ().-]{1,2}\d{2,8}){1,4}|\+\d{9,14}"
            r"|\(\d{3}\) ?\d{3}-\d{4}|\d{3}-\d{3}-\d{4}|01\d-\d{3,4}-\d{4}|1[3-9]\d{9})(?![\w-])"
        ),
        "Looks like a phone number: a team store is read by everyone in the team.",
        "+49 30 1234567", "2026-05-19 and 1.2.3", _is_phone,
    ),
    PersonalRule(
        "postal-address", Severity.REVIEW, (),
        re.compile(
            r"\b\d{1,5}[A-Za-z]?,? (?:[A-Z][\w'.-]{1,20} ){1,3}" + _STREETS
            + r"|\b(?i:flat|apartment|apt\.?|unit|house"
            r"|room)\s#?\d{1,5}[A-Za-z]?,?\s(?:[A-Z][\w'.-]{1,20}\s){1,3}" + _STREETS
            + r"|\b[A-ZÄÖÜ][a-zäöüß-]{2,30}(?:straße|strasse|str\.|weg|gasse|platz|allee) \d{1,4}[a-z]?\b"
            r"|\b\d{1,4},? (?:bis |ter )?(?:rue|avenue|boulevard|impasse|chemin) [A-Za-zÀ-ÿ]{2,30}"
            r"|\b(?:[Cc]alle|[Aa]venida|[Pp]aseo) [A-ZÁÉÍÓÚÑ][\w .]{1,30},? (?:n[.º°]{0,2} ?)?\d{1,4}\b"
            r"|[\u4e00-\u9fff]{2,12}(?:路|街|大道|巷)\d{1,5}[号號]|〒 ?\d{3}-\d{4}|\d{1,3}丁目\d{1,3}"
            r"|[가-힣]{1,10}(?:로|길) ?\d{1,4}번"
            r"|(?i:home address|postal address|street address|wohnadresse|privatadresse|住址|住所|주소"
            r"|домашний адрес)\s{0,2}[:：]\s{0,3}[^\n]{0,60}\d"
        ),
        "Looks like a postal address: a team store is read by everyone in the team.",
        "flat 7, Example Street", "flat 7 of the README", bool,
    ),
    PersonalRule(
        "birth-date", Severity.REVIEW, (),
        re.compile(
            r"(?i)(?:\bborn(?: on)?|\bbirthday|\bdate of birth|\bdob|geburtstag|geboren am|cumpleaños|生日|誕生日|생일)"
            r"[^\n\d]{0,20}\d{1,4}[./\- ]"
        ),
        "Looks like a date of birth: a team store is read by everyone in the team.",
        "Date of birth: 1990-01-02", "The project was born in Oslo", bool,
    ),
    PersonalRule(
        "identity-number", Severity.REVIEW, ("-",),
        re.compile(r"(?<![\w-])(?!000|666|9)\d{3}-(?!00)\d{2}-(?!0000)\d{4}(?![\w-])"),
        "Looks like a social security number: a team store is read by everyone in the team.",
        "123-45-6789", "2026-05-19", bool,
    ),
    PersonalRule(
        "payment-card", Severity.REVIEW, (),
        re.compile(r"(?<![\w.-])[3-6]\d{3}(?:[ -]?\d{4}){2}[ -]?\d{1,4}(?![\w.-])"),
        "Looks like a payment card number: a team store is read by everyone in the team.",
        "4012 8888 8888 1881", "4012 8888 8888 1882", _is_card,
    ),
    PersonalRule(
        "health", Severity.REVIEW, (),
        re.compile(
            r"(?i)\b(?:migraines?|diabet(?:es|ic)|asthma|epilep(?:sy|tic)|cancer|chemotherapy|hiv|pregnan(?:t|cy)"
            r"|antidepressants?|schizophrenia|adhd|autis(?:m|tic)|anxiety disorder|burn-?out|therapist|psychiatrist"
            r"|miscarriage|sick leave|medical leave|parental leave|diagnosed with|insulin|depression|migräne|schwanger"
            r"|krankgeschrieben|krebs|embarazada|cáncer|enceinte|мигрень|беременн\w{0,6})\b"
            r"|偏头痛|偏頭痛|糖尿病|怀孕|抑郁|癌症|片頭痛|妊娠|うつ病|편두통|당뇨|임신|우울증"
        ),
        "Speaks of somebody's health: a team store is read by everyone in the team.",
        "Migraine on bright screens.", "The health check answers 200.", bool,
    ),
    PersonalRule(
        "not-to-share", Severity.REVIEW, (),
        re.compile(r"(?i)\b(?:never|do not|don['’]?t) share(?: (?:this|it)(?: note)?)?(?=[.!]|\s{0,3}$|\n)"
        r"|\bstrictly private\b"),
        "Says itself that it is not to be shared.",
        "Never share.", "Never share tokens in chat.", bool,
    ),
    PersonalRule(
        "private-ip", Severity.REVIEW, (".",),
        re.compile(
            r"(?<![\d.])(?:10\.\d{1,3}\.\d{1,3}\.\d{1,3}|192\.168\.\d{1,3}\.\d{1,3}"
            r"|172\.(?:1[6-9]|2\d|3[01])\.\d{1,3}\.\d{1,3}|169\.254\.169\.254"
            r"|100\.(?:6[4-9]|[7-9]\d|1[01]\d|12[0-7])\.\d{1,3}\.\d{1,3})(?![\d.]{0,40}\d)"
        ),
        "Looks like the address of a machine in a private network.",
        "10.42.7.19", "127.0.0.1 and 203.0.113.9", _is_octets,
    ),
    PersonalRule(
        "internal-host", Severity.REVIEW,
        (".internal", ".corp", ".intranet", ".lan", ".local", ".home.arpa", ".svc.cluster.local"),
        re.compile(
            r"(?i)(?:(?<![a-z0-9\-._/@])|(?<=://))[a-z0-9\-]{1,63}(?:\.[a-z0-9\-]{1,63}){0,5}"
            r"\.(?:internal|corp|intranet|lan|local|home\.arpa|svc\.cluster\.local)\b(?!\.[a-z]|[-_(])"
        ),
        "Looks like the name of a machine inside a company or a home.",
        "http://jenkins.corp.internal:8080/", "CLAUDE.local.md and com.acme.internal.Foo", _is_host,
    ),
    PersonalRule(
        "e-mail", Severity.NOTE, ("@",),
        re.compile(r"(?<![\w.+/-])(?P<user>[\w.+-]{1,64})@[\w-]{1,63}(?:\.[\w-]{1,63}){0,4}\.[A-Za-z]{2,24}\b"),
        "Holds an e-mail address.",
        "dana@acme.test", "git@github.com", _is_person_mail,
    ),
    PersonalRule(
        "home-path", Severity.NOTE, ("/users/", "/home/", "\\users\\"),
        re.compile(r"(?:/Users/|/home/|[A-Za-z]:\\{1,2}Users\\{1,2})(?P<user>[^/\\\s\"'`:;,)]{1,64})"),
        "Holds a path with the name of an account.",
        "/Users/dana/notes", "/home/runner/work", _is_person_folder,
    ),
)  # fmt: skip


def personal_hits(text: str) -> list[Hit]:
    """Return what looks private, none of it inside another hit of the same or a higher severity."""
    view = secret_view(text)
    lowered = view.text.lower()
    hits: list[Hit] = []
    for rule in RULES:
        if rule.literals and not any(literal in lowered for literal in rule.literals):
            continue
        for match in rule.pattern.finditer(view.text):
            if rule.judge(match):
                start, end = view.span(*match.span("value" if "value" in match.groupdict() else 0))
                hits.append(Hit("personal", rule.id, rule.severity, start, end, rule.message))
    return without_covered(hits)
