"""Tables of the help that come from the tables in the code, so that neither can drift from the other."""

from __future__ import annotations

import argparse
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from importlib import import_module

from django.core.management import get_commands, load_command_class
from django.utils.translation import gettext as _

from memoryreview.cli import EARLY_COMMANDS
from memoryreview.core.concerns import Concern
from memoryreview.core.model import Kind, Severity
from memoryreview.core.scan.catalogue import NamedRule, named_rules
from memoryreview.review.models import ChangeKind, Reason, State, Verb

from .recorded import in_language
from .words import CHANGE_WORDS, CONCERN_WORDS, KIND_WORDS, REASON_WORDS, STATE_WORDS, VERB_WORDS

OWN_APP = "memoryreview.review"
_OF_DJANGO = frozenset(
    {"help", "version", "verbosity", "settings", "pythonpath", "traceback", "no_color", "force_color", "skip_checks"}
)


@dataclass(frozen=True, slots=True)
class Option:
    """One argument of a command: `name` as it is typed, `words` what it does, "" where nobody says."""

    command: str
    name: str
    words: str


def options() -> Iterator[Option]:
    """Yield every argument of every command of ours, by command."""
    ours = {name for name, app in get_commands().items() if app == OWN_APP} | set(EARLY_COMMANDS)
    for name in sorted(ours):
        yield from _options(name, _parser(name))


def _parser(name: str) -> argparse.ArgumentParser:
    if name not in EARLY_COMMANDS:
        return load_command_class(OWN_APP, name).create_parser("memoryreview", name)
    module, function = EARLY_COMMANDS[name]
    make: Callable[[], argparse.ArgumentParser] = getattr(
        import_module(module), function.removesuffix("command") + "parser"
    )
    return make()


def _options(command: str, parser: argparse.ArgumentParser) -> Iterator[Option]:
    for action in parser._actions:  # noqa: SLF001  # argparse tells its arguments nowhere else
        if isinstance(action, argparse._SubParsersAction):  # noqa: SLF001
            for name, below in action.choices.items():
                yield from _options(f"{command} {name}", below)
        elif action.dest not in _OF_DJANGO:
            choices = f" ({', '.join(map(str, action.choices))})" if action.choices else ""
            name = ", ".join(action.option_strings) or str(action.metavar or action.dest).upper()
            yield Option(command, name, f"{_(action.help)}{choices}" if action.help else "")


def _table(heads: tuple[str, ...], rows: Iterable[tuple[str, ...]]) -> str:
    cells = [heads, ("---",) * len(heads), *rows]
    return "\n".join(f"| {' | '.join(_cell(text) for text in row)} |" for row in cells)


def _cell(text: str) -> str:
    return text.replace("|", "\\|").replace("\n", " ")


def _words(names: Iterable[str], words: Mapping[str, str], head: str) -> str:
    return _table((head, _("meaning")), ((f"`{name}`", str(words[name])) for name in names))


def _rule(rule: NamedRule) -> tuple[str, ...]:
    severities = rule.severities or (Severity.BLOCK, Severity.REVIEW)
    sees = in_language(rule.words)
    if rule.scanner == "secret":
        sees = _("Holds %(what)s.") % {"what": sees}
    return rule.scanner, f"`{rule.id}`", _(" or ").join(severities), sees


TABLES: dict[str, Callable[[], str]] = {
    "states": lambda: _words(State, {str(one): words for one, words in STATE_WORDS.items()}, _("state")),
    "verbs": lambda: _words(Verb, {str(one): words for one, words in VERB_WORDS.items()}, _("verb")),
    "changes": lambda: _words(ChangeKind, {str(one): words for one, words in CHANGE_WORDS.items()}, _("kind")),
    "concerns": lambda: _words(Concern, {str(one): words for one, words in CONCERN_WORDS.items()}, _("reason")),
    "kinds": lambda: _words(Kind, {str(one): words for one, words in KIND_WORDS.items()}, _("kind")),
    "reasons": lambda: _table(
        (_("key"), _("reason"), _("meaning")),
        ((f"`{n}`", f"`{one}`", REASON_WORDS[one]) for n, one in enumerate(Reason, start=1)),
    ),
    "options": lambda: _table(
        (_("command"), _("argument"), _("does")),
        ((f"`{one.command}`", f"`{one.name}`", one.words) for one in options()),
    ),
    "rules": lambda: _table((_("scanner"), _("rule"), _("severity"), _("sees")), map(_rule, named_rules())),
}
"""By the name that stands in a page as a line of its own: `[[states]]`."""


def filled(text: str) -> str:
    """Put the tables where a page names them. Raises KeyError for a name that is none."""
    lines = text.split("\n")
    return "\n".join(TABLES[line[2:-2]]() if line.startswith("[[") and line.endswith("]]") else line for line in lines)
