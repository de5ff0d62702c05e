"""Every message of the sources: what is marked in the web layer and in templates, and what core and operations say.

Python is read as a syntax tree and templates by Django's own translation to it, so no other program is needed.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from django.utils.translation.template import templatize

from memoryreview.review.presenters.recorded import CONTEXT, TITLES

ROOT = Path(__file__).resolve().parents[2]
PACKAGE = ROOT / "memoryreview"
SPEAKING = ("core", "baseline", "review/operations", "review/models", "database.py", "zone.py")
"""Parts that speak English only; what they say is looked up where a page shows it."""

_IN_PIECES = (
    "core/budget.py",
    "core/canvas.py",
    "core/classify/changed.py",
    "core/classify/classify.py",
    "core/classify/loaded.py",
    "core/classify/mass.py",
    "core/classify/moves.py",
    "core/classify/reasons.py",
    "core/classify/rules/index_sync.py",
    "core/classify/whole.py",
    "core/classify/wording.py",
    "core/criteria.py",
    "core/diff.py",
    "core/edits.py",
    "core/errors.py",
    "core/formats",
    "core/moves.py",
    "core/names.py",
    "core/patch.py",
    "core/redact.py",
    "core/relations",
    "core/scan/disguise.py",
    "core/scan/paths.py",
    "core/tidy",
    "core/yaml_view.py",
    "baseline/errors.py",
    "baseline/folder.py",
    "baseline/lost.py",
    "baseline/placement.py",
    "baseline/scan.py",
    "baseline/worktree.py",
    "review/operations",
)
"""Parts whose texts are put together from pieces, or are titles: there a text need not end as a sentence does."""

_MARKS = {"_", "gettext", "gettext_lazy", "gettext_noop"}
_PLURALS = {"ngettext", "ngettext_lazy"}
_LOGS = {"debug", "info", "warning", "error", "exception", "critical"}
_FINDS = ("The text ", "Hidden text ", "Holds ", "Looks like ", "Says ", "Speaks of ", "Tells ")
"""How the sentence of a scanner's rule begins; the other texts of a rule are what it looks for."""

_MADE_TITLES = (
    "%(gone)s becomes %(come)s",
    "%(gone)s becomes %(come)s in “%(label)s”",
    "%(gone)s becomes %(come)s, %(gone2)s becomes %(come2)s",
    "Add “%(text)s”",
    "Add “%(text)s” to %(place)s",
    "Delete “%(text)s”",
    "Delete “%(text)s” from %(place)s",
    "Move “%(text)s” from %(place)s",
    "Move “%(text)s” from %(place)s and change it",
    "Move “%(text)s” to %(place)s",
    "Move “%(text)s” to %(place)s and change it",
    "Rewrite “%(before)s” as “%(after)s”",
    "Tick “%(text)s”",
    "Untick “%(text)s”",
)
"""Titles as `core.classify` puts them together, from more than one place of it."""

_MADE = (
    " by %(person)s",
    "%(article)s %(what)s changes: %(gone)s becomes %(come)s.",
    "%(article)s %(what)s comes: %(come)s.",
    "%(article)s %(what)s goes: %(gone)s.",
    "%(count)s lines",
    "%(count)s lines ",
    "%(lines)s lines or %(size)s",
    "%(path)s, line %(line)s",
    "a %(service)s key",
    "a %(service)s token",
    "an %(service)s key",
    "an %(service)s token",
    "line %(line)s",
    *("Add", "Change", "Delete", "Drop", "Cut", "from", "to", "number", "unit", "citation", "address"),
    *("stable", "reusable", "sourced", "allowed"),
    *("shortened", "moved from line %(line)s", "moved to line %(line)s"),
    *("%(count)s lines moved from line %(line)s", "%(count)s lines moved to line %(line)s"),
    *("applied", "applying", "expired", "pending", "rejected", "rolled back", "superseded", "withdrawn"),
    *("agent", "change", "differ", "differs", "document", "proposal", "store", "team"),
    *("a private key", "a password behind its label", "a key or token behind its label"),
)
"""Single words, and pieces that are shared: what stands for a name in other sentences."""

_RULES = {"block", "review", "note", "rule", "token", "PersonalRule"}
_IN_TABLES = {"Sign": (2,), "Binding": (3, 4)}
_TEMPLATE_CALL = re.compile(r"\b(n?p?gettext)\((.+?)\)(?=\s|$)", re.DOTALL)
_SENTENCE = re.compile(r"[.!?][”)]?$")
_PATTERN = re.compile(r"\(\?|\\|\)\?|\[\^|\]\{")
_FIXED = re.compile(
    r"(?:diff|new|deleted|old|rename|copy|similarity|GIT|Binary)\b.*[ \d]$"
    r"|(?:SET|RESET|DELETE|SELECT|INSERT|VACUUM|PRAGMA)\b|[(|]|Task Group: |.*\|"
)
"""What git, SQL and word lists are made of."""

_WORDS = re.compile(r"[A-Za-z’']{2,}")
_NAME = re.compile(r"%\(\w+\)s")
_FIELD = re.compile(r"\{(\w+)\}")


@dataclass(frozen=True, slots=True, order=True)
class Message:
    """One entry of the catalogue; `many` and `context` are "" where it has none."""

    one: str
    many: str = ""
    context: str = ""


def messages() -> frozenset[Message]:
    """Return all of them."""
    return frozenset({*_marked(), *_in_templates(), *recorded()})


def _marked() -> Iterator[Message]:
    for path in sorted(PACKAGE.rglob("*.py")):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Call):
                yield from _of_call(node)


def _of_call(call: ast.Call) -> Iterator[Message]:
    name = call.func.attr if isinstance(call.func, ast.Attribute) else getattr(call.func, "id", "")
    texts = [_constant(one) for one in call.args]
    if name in _MARKS and texts and texts[0]:
        yield Message(texts[0])
    elif name in _PLURALS and len(texts) > 1 and texts[0]:
        yield Message(texts[0], texts[1])
    elif name == "plural" and len(texts) > 1 and texts[1]:
        many = texts[2] if len(texts) > 2 else f"{texts[1]}s"
        yield Message(f"%(count)s {texts[1]}", f"%(count)s {many}")
    elif name == "Words" and call.args and isinstance(call.args[0], ast.Dict):
        yield from (Message(text) for text in map(_constant, call.args[0].values) if text)
    elif name in _IN_TABLES:
        yield from (Message(texts[at]) for at in _IN_TABLES[name] if at < len(texts) and texts[at])


def _constant(node: ast.expr) -> str:
    return node.value if isinstance(node, ast.Constant) and isinstance(node.value, str) else ""


def _in_templates() -> Iterator[Message]:
    for path in sorted((ROOT / "templates").rglob("*")):
        if path.is_file():
            yield from _of_template(templatize(path.read_text(encoding="utf-8"), origin=str(path)))


def _of_template(source: str) -> Iterator[Message]:
    for name, arguments in _TEMPLATE_CALL.findall(source):
        call = ast.parse(f"f({arguments})", mode="eval").body
        assert isinstance(call, ast.Call)
        texts = [text for text in map(_constant, call.args) if text]
        context = texts.pop(0) if name in ("pgettext", "npgettext") else ""
        yield Message(texts[0], texts[1] if len(texts) > 1 else "", context)


def recorded() -> Iterator[Message]:
    """Yield what core and operations say, with names for what is put in."""
    for part in SPEAKING:
        path = PACKAGE / part
        for file in sorted(path.rglob("*.py")) if path.is_dir() else [path]:
            in_pieces = file.relative_to(PACKAGE).as_posix().startswith(_IN_PIECES)
            yield from (Message(text, context=CONTEXT) for text in said(file.read_text("utf-8"), in_pieces=in_pieces))
    yield from (Message(text, context=CONTEXT) for text in _MADE)
    yield from (Message(text, context=TITLES) for text in _MADE_TITLES)


def said(source: str, *, in_pieces: bool = False) -> list[str]:
    """Return the texts of a module that may reach a person: those that end as sentences do, and pieces where asked."""
    tree = ast.parse(source)
    unsaid = {id(node) for node in _unsaid(tree)}
    texts = [_text(node) for node in ast.walk(tree) if id(node) not in unsaid]
    return list(dict.fromkeys(text for text in texts if _is_said(text, in_pieces=in_pieces)))


def _is_said(text: str, *, in_pieces: bool) -> bool:
    words = len(_WORDS.findall(_NAME.sub(" ", text)))
    if "\n" in text or (words > 19 and not _SENTENCE.search(text)) or _PATTERN.search(text) or " " not in text.strip():
        return False
    return (
        words >= 3
        if _SENTENCE.search(text)
        else in_pieces and words >= 2 and not _FIXED.match(text) and "|" not in text
    )


def _unsaid(tree: ast.Module) -> Iterator[ast.AST]:
    """Yield what no person reads: docstrings, what goes to the log, patterns, and the pieces of longer texts."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef):
            yield from (one.value for one in node.body if isinstance(one, ast.Expr))
        elif isinstance(node, ast.JoinedStr):
            yield from node.values
        elif isinstance(node, ast.Call) and getattr(node.func, "attr", "") in {*_LOGS, "compile"}:
            yield from node.args
        elif isinstance(node, ast.Call) and getattr(node.func, "id", "") in _RULES:
            yield from (one for one in node.args if not _constant(one).startswith(_FINDS))
        elif isinstance(node, ast.Assert) and node.msg is not None:
            yield node.msg


def _text(node: ast.AST) -> str:
    """Return a text as a message, "" for whatever is none."""
    if isinstance(node, ast.Constant) and isinstance(node.value, str):
        return _FIELD.sub(r"%(\1)s", node.value.replace("%", "%%")) if _FIELD.search(node.value) else node.value
    if not isinstance(node, ast.JoinedStr):
        return ""
    names: dict[str, int] = {}
    return "".join(_piece(part, names) for part in node.values)


def _piece(part: ast.expr, names: dict[str, int]) -> str:
    if isinstance(part, ast.Constant):
        return str(part.value).replace("%", "%%")
    assert isinstance(part, ast.FormattedValue)
    name = _name(part.value)
    names[name] = names.get(name, 0) + 1
    return f"%({name}{names[name] if names[name] > 1 else ''})s"


def _name(value: ast.expr) -> str:
    """Name what is put into a text by the last word of its expression."""
    words = re.findall(r"[A-Za-z]\w*", re.sub(r"(['\"]).*?\1", "", ast.unparse(value)))
    own = [word.lower() for word in words if word not in {"if", "else", "for", "in", "not", "str", "len", "is", "or"}]
    return own[-1] if own else "value"
