"""Facts in nine languages, as tokens of which every other value means something else."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import date, timedelta
from random import Random
from types import MappingProxyType

SLOT = re.compile(r"\{(\w+)\}")
FIRST_DAY = date(2023, 1, 1)
DAYS = 900

NAMES = ["Ana", "Bruno", "Chen", "Dagny", "Emeka", "Farah", "Goran", "Hana", "Ines", "Jonas", "Kemal", "Lucía"]
PLACES = [
    "billing",
    "ledger",
    "atlas",
    "kestrel",
    "harbor",
    "mosaic",
    "pylon",
    "quarry",
    "relay",
    "sextant",
    "tundra",
    "vellum",
]
STEMS = [
    "deploy",
    "retry",
    "token",
    "cache",
    "schema",
    "backup",
    "import",
    "parser",
    "queue",
    "shard",
    "tenant",
    "webhook",
]
CODES = ("make {}", "--{}", "{}_LIMIT=1", "pnpm {}", "{}()", "npm run {}")

TEXTS: Mapping[str, Sequence[str]] = MappingProxyType(
    {
        "en": (
            "The {place} service {turn} listen on port {number} when {name} opens {url}",
            "{name} {turn} restart {path} within {number} {unit} of the alarm",
            "Every release of {place} {turn} run {code} before the branch is tagged",
            "The team of {name} moved the {place} host on {date} and kept {path}",
            "Backups of {place} {turn} stay for {number} {unit}, says {name}",
        ),
        "de": (
            "Der Dienst {place} {turn} auf Port {number} lauschen, sagt {name}",
            "{name} {turn} {path} innerhalb von {number} {unit} neu starten",
            "Am {date} zog der Rechner {place} um und behielt {path}",
            "Jede Freigabe von {place} {turn} mit {code} gebaut werden",
        ),
        "fr": (
            "Le service {place} {turn} écouter sur le port {number}, dit {name}",
            "{name} {turn} relancer {path} dans les {number} {unit} après l'alarme",
            "Le {date} l'hôte {place} a changé de salle avec {path}",
        ),
        "es": (
            "El servicio {place} {turn} escuchar en el puerto {number}, dice {name}",
            "{name} {turn} reiniciar {path} en {number} {unit} tras la alarma",
            "El {date} se movió el servidor {place} con {path}",
        ),
        "it": ("Il servizio {place} {turn} usare la porta {number}, dice {name}",),
        "ru": ("Служба {place} {turn} слушать порт {number}, говорит {name}",),
        "zh": (
            "服务 {place} {turn}监听端口 {number}，由{name}负责",
            "{name}{turn}在 {number} {unit}内重启 {path}",
            "备份 {place} {turn}保留 {number} {unit}，见 {url}",
        ),
        "ja": (
            "{place} サービスはポート {number} を使う{turn}。担当は{name}",
            "{name}は {number} {unit}以内に {path} を再起動{turn}",
        ),
        "ko": (
            "{place} 서비스는 포트 {number}에서 {turn}, 담당은 {name}",
            "{name}은 {number} {unit} 안에 {path}를 {turn}",
        ),
    }
)

TURNS: Mapping[str, Sequence[str]] = MappingProxyType(
    {
        "en": ("must", "must not", "may", "should never", "can only", "must, except on Sundays,", "must, if asked,"),
        "de": ("darf", "darf nicht", "muss", "muss nie", "soll nur nachts", "muss, wenn gefragt,"),
        "fr": ("doit", "ne doit pas", "peut", "ne peut jamais", "doit seulement", "doit, sauf le dimanche,"),
        "es": ("debe", "no debe", "puede", "nunca puede", "solo debe", "debe, salvo el domingo,"),
        "it": ("deve", "non deve", "può", "non può mai"),
        "ru": ("должна", "не должна", "может", "никогда не может"),
        "zh": ("必须", "不得", "可以", "从不", "仅在夜间", "除周日外必须"),
        "ja": ("こと", "ことはない", "べき", "べきではない"),
        "ko": ("한다", "하지 않는다", "해야 한다", "하면 안 된다"),
    }
)

UNITS: Mapping[str, Sequence[str]] = MappingProxyType(
    {
        "en": ("seconds", "minutes", "hours", "days", "MB", "GB", "percent"),
        "de": ("Sekunden", "Minuten", "Stunden", "Tagen", "MB"),
        "fr": ("secondes", "minutes", "heures", "jours"),
        "es": ("segundos", "minutos", "horas", "días"),
        "it": ("secondi", "minuti"),
        "ru": ("секунд", "минут"),
        "zh": ("秒", "分钟", "小时", "天"),
        "ja": ("秒", "分", "時間", "日"),
        "ko": ("초", "분", "시간", "일"),
    }
)

NEGATIONS: Mapping[str, Sequence[str]] = MappingProxyType(
    {
        "en": (" not", " never", " no"),
        "de": (" nicht", " nie", " kein"),
        "fr": (" pas", " jamais", " sans"),
        "es": (" no", " nunca", " sin"),
        "it": (" non",),
        "ru": (" не",),
        "zh": ("不", "没有", "无"),
        "ja": ("ない", "非"),
        "ko": (" 안", " 못"),
    }
)

_MONTHS: Mapping[str, Sequence[str]] = MappingProxyType(
    {
        "en": [
            "January",
            "February",
            "March",
            "April",
            "May",
            "June",
            "July",
            "August",
            "September",
            "October",
            "November",
            "December",
        ],
        "de": [
            "Januar",
            "Februar",
            "März",
            "April",
            "Mai",
            "Juni",
            "Juli",
            "August",
            "September",
            "Oktober",
            "November",
            "Dezember",
        ],
        "fr": [
            "janvier",
            "février",
            "mars",
            "avril",
            "mai",
            "juin",
            "juillet",
            "août",
            "septembre",
            "octobre",
            "novembre",
            "décembre",
        ],
        "es": [
            "enero",
            "febrero",
            "marzo",
            "abril",
            "mayo",
            "junio",
            "julio",
            "agosto",
            "septiembre",
            "octubre",
            "noviembre",
            "diciembre",
        ],
    }
)


@dataclass(frozen=True, slots=True)
class Token:
    """A piece of a line. `kind` is the name of its slot, or "text"; `day` is what a date says."""

    kind: str
    text: str
    day: date | None = None
    language: str = ""


def fact(random: Random, language: str = "") -> tuple[Token, ...]:
    """Return one statement, with a number of its own so that two are never equal by chance."""
    spoken = language or random.choice([*TEXTS, "en", "en", "en", "de"])
    template = random.choice(TEXTS[spoken])
    tokens = [*_tokens(random, template, spoken)]
    if not any(token.kind == "number" for token in tokens):
        tokens += [Token("text", " ("), Token("number", str(random.randint(10_000, 99_999))), Token("text", ")")]
    return tuple(tokens)


def _tokens(random: Random, template: str, language: str) -> Sequence[Token]:
    found: list[Token] = []
    for index, part in enumerate(SLOT.split(template)):
        if index % 2:
            found.append(value(random, part, language))
        elif part:
            found.append(Token("text", part, language=language))
    return found


def value(random: Random, kind: str, language: str) -> Token:
    """Return one value of a kind of slot."""
    if kind == "date":
        return dated(random, some_day(random), language)
    return Token(kind, _VALUES[kind](random, language), language=language)


def _path(random: Random, language: str) -> str:
    folder, ending = random.choice(("src", "etc", "ops")), random.choice(("py", "yml"))
    return f"{folder}/{random.choice(STEMS)}/{random.choice(PLACES)}.{ending}"


def _url(random: Random, language: str) -> str:
    return f"https://{random.choice(PLACES)}.example.com/{random.choice(STEMS)}/{random.randint(1, 99)}"


_VALUES: Mapping[str, Callable[[Random, str], str]] = {
    "number": lambda random, _: str(random.randint(1_000, 99_999)),
    "unit": lambda random, language: random.choice(UNITS[language]),
    "turn": lambda random, language: random.choice(TURNS[language]),
    "name": lambda random, _: random.choice(NAMES),
    "place": lambda random, _: random.choice(PLACES),
    "path": _path,
    "url": _url,
    "target": lambda random, _: f"{random.choice(STEMS)}_{random.randint(100, 999)}.md",
    "citation": lambda random, _: f" [Task {random.randint(1, 99)}]",
    "code": lambda random, _: f"`{random.choice(CODES).format(random.choice(STEMS))}`",
}


def other(random: Random, token: Token) -> Token:
    """Return another value of the same kind, one that says something else."""
    while True:
        if token.day is not None:
            found = dated(
                random, token.day + timedelta(days=random.choice((-31, -7, -1, 1, 2, 30, 365))), token.language
            )
        else:
            found = value(random, token.kind, token.language or "en")
        if found.text != token.text:
            return found


def some_day(random: Random) -> date:
    return FIRST_DAY + timedelta(days=random.randrange(DAYS))


def dated(random: Random, day: date, language: str) -> Token:
    """Return a day as one of the many ways to write it."""
    form = random.choice(("iso", "iso", "plain", "plain", "slashed", "cjk", "short"))
    if form == "plain":
        return Token("date", written(random, day, language), day, language)
    texts = {
        "iso": day.isoformat(),
        "slashed": f"{day.day:02}/{day.month:02}/{day.year}",
        "cjk": f"{day.year}年{day.month}月{day.day}日",
        "short": f"{day.day:02}.{day.month:02}.{day.year % 100:02}",
    }
    return Token("date", texts[form], day, language)


def written(random: Random, day: date, language: str) -> str:
    """Return a day in a form that has one reading, whatever the day: year first, or with the month's name."""
    forms = [f"{day.year}/{day.month:02}/{day.day:02}", f"{day.year}.{day.month:02}.{day.day:02}"]
    if day.day > 12:
        forms += [f"{day.day}/{day.month:02}/{day.year}", f"{day.month}/{day.day}/{day.year}"]
        forms += [f"{day.day}.{day.month:02}.{day.year}"]
    month = _MONTHS.get(language, _MONTHS["en"])[day.month - 1]
    forms += [f"{day.day} {month} {day.year}", f"{day.day}. {month} {day.year}"]
    if language not in ("de", "fr", "es"):
        forms += [f"{month} {day.day}, {day.year}", f"{month[:3]} {day.day}, {day.year}"]
    return random.choice(forms)


def text_of(tokens: Sequence[Token]) -> str:
    return "".join(token.text for token in tokens)
