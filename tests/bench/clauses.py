"""Sentences whose parts are known: hooks of rows that may be cut, and lines with a date in them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from random import Random

ROW_CHARS = 200

_CLAUSES: Mapping[str, tuple[str, Sequence[str]]] = {
    "en": (
        ", ",
        (
            "staging is quiet and the team watches the dashboard",
            "the release branch is tagged and the notes are published",
            "the on-call engineer writes the summary for the channel",
            "the index of the wiki names the owner of the service",
            "the build runs on the big machine in the cellar",
            "the report goes to the lead of the group",
        ),
    ),
    "de": (
        "; ",
        (
            "die Probe läuft auf dem kleinen Rechner und das Team liest mit",
            "der Zweig wird markiert und die Notizen stehen auf der Seite",
            "die Leitung der Gruppe liest den Bericht und das Protokoll",
            "der Dienst schreibt das Protokoll in den Ordner der Gruppe",
        ),
    ),
    "fr": (
        "; ",
        (
            "le groupe lit le tableau et la branche est dans la page du projet",
            "la page du groupe montre le rapport de la semaine et le nom du chef",
            "le service écrit le journal dans le dossier du groupe",
            "la machine du sous-sol fait la construction de la branche",
        ),
    ),
    "es": (
        "; ",
        (
            "el grupo lee el tablero y la rama está en la página del proyecto",
            "la página del grupo muestra el informe y el nombre de la persona",
            "el servicio escribe el diario en la carpeta del grupo",
            "la máquina grande hace la construcción de la rama",
        ),
    ),
    "zh": (
        "，",
        (
            "发布之日团队看仪表板",
            "分支会打标签并写好说明",
            "值班工程师写总结给频道",
            "报告交给小组的组长",
            "构建在大机器上运行",
        )
        * 4,
    ),
    "ja": ("、", ("チームは画面を見る", "担当者は報告を書く", "枝に札を付けて公開する", "記録は共有の棚に置く") * 6),
    "ko": (
        ", ",
        ("팀은 화면을 본다", "담당자는 보고서를 쓴다", "기록은 서랍에 둔다", "빌드는 큰 기계에서 돈다") * 6,
    ),
}

_OPENINGS = {"en": "It is a quiet day", "de": "Der Tag ist ruhig", "fr": "Le jour est calme", "es": "El día es claro"}

DATED: Mapping[str, Sequence[str]] = {
    "en": (
        "The team moved the host on {date} and kept the name.",
        "Moved: {date}",
        "The audit of {date} found nothing",
    ),
    "de": ("Der Umzug war am {date} und lief gut.", "Umgezogen am {date}"),
    "fr": ("Le groupe a changé de salle le {date} sans bruit.",),
    "es": ("El grupo se movió el {date} y guardó el nombre.",),
    "zh": ("团队于 {date} 搬迁了主机。",),
}

RELATIVE: Sequence[tuple[str, str, str, int]] = (
    ("en", "The rollout failed {word}, cause: expired certificate.", "yesterday", -1),
    ("en", "{word} the disk of the host broke.", "Yesterday", -1),
    ("en", "We moved the host {word}.", "today", 0),
    ("de", "Der Umzug lief {word} gut.", "gestern", -1),
    ("de", "Wir haben {word} den Rechner umgestellt.", "heute", 0),
    ("fr", "Le groupe a changé de salle {word}.", "hier", -1),
    ("es", "El grupo movió el servidor {word}.", "ayer", -1),
    ("zh", "{word}完成了同步脚本", "昨天", -1),
    ("ko", "{word} 배포를 완료했습니다.", "어제", -1),
)


def sentence(random: Random) -> str:
    mark, parts = _CLAUSES[random.choice(("en", "en", "de", "fr", "es"))]
    return mark.join(random.sample(list(parts), 2))


def cut_hook(random: Random, before: str) -> tuple[str, str, str]:
    """Return what stays of the hook of a row that is too long, the mark, and what goes. Args: before: row up to it."""
    language = random.choice([*_CLAUSES])
    mark, parts = _CLAUSES[language]
    clauses = random.sample(list(dict.fromkeys(parts)), len(dict.fromkeys(parts)))
    pool = list(parts)
    kept = clauses[0]
    rest = [clause for clause in (clauses[1:] + pool) if clause not in kept] or pool
    at = 0
    while len(before) + len(kept) + len(mark) + len(rest[at % len(rest)]) + 1 <= ROW_CHARS:
        kept += mark + rest[at % len(rest)]
        at += 1
    lost = rest[at % len(rest)]
    while len(before) + len(kept) + len(mark) + len(lost) <= ROW_CHARS:
        at += 1
        lost += mark + rest[at % len(rest)]
    return kept, mark, lost


def opening(words: str) -> str:
    """Return a clause that may stand before others of the same language."""
    language = next((name for name, (_, parts) in _CLAUSES.items() if any(part in words for part in parts)), "en")
    return _OPENINGS.get(language, "OK")
