"""What a YAML reader would make of a head: where it fails. Nothing here reads a value.

PyYAML is asked one question only, would it fail here? It sees events, never builds values, and never sees a head with
aliases, deep nesting or large size.
"""

from __future__ import annotations

import re

import yaml

from .names import shown

MAX_YAML_CHARS = 16 * 1024
MAX_YAML_BRACKETS = 64

QUOTED = re.compile(r"""(?:"((?:[^"\\]|\\.)*)"|'((?:[^']|'')*)')(?:[ \t]+#.*)?""", re.DOTALL)
BLOCK_SCALAR = re.compile(r"[|>][+-]?[0-9]?[+-]?(?:[ \t]+#.*)?")
COMMENT = re.compile(r"(?:^|[ \t])#")
_FLOW_REFERENCE = re.compile(r"[\[{,:][ \t]*[*&]\w")
_SPECIAL_STARTS = tuple("@`%!|>,]}")


def fault(raw: str) -> str | None:
    """Return the kind of problem that a value begun on one line is likely to give a YAML reader."""
    if raw[:1] in ("'", '"'):
        return None if QUOTED.fullmatch(raw) else "head-quote"
    if raw[:1] in ("[", "{"):
        if _FLOW_REFERENCE.search(raw):
            return "head-alias"
        return None if raw[-1] in "]}" else "head-special"
    if raw[:1] in ("*", "&"):
        return "head-alias"
    if BLOCK_SCALAR.fullmatch(raw):
        return None
    if raw.startswith((*_SPECIAL_STARTS, "- ", "? ", ": ")) or raw in ("-", "?"):
        return "head-special"
    comment = COMMENT.search(raw)
    seen = raw[: comment.start()] if comment else raw
    return "head-colon" if re.search(r":[ \t]|:$", seen) else None


_SENTENCES = {
    "head-colon": "A YAML reader fails on “{key}”: an unquoted value must not hold a colon followed by a blank.",
    "head-quote": "A YAML reader fails on “{key}”: the value opens with a quote but is not one quoted text.",
    "head-alias": "“{key}” reads as a YAML anchor or alias; it is shown as it is written and never expanded.",
    "head-special": "A YAML reader fails on “{key}”: its value begins with a mark that has a meaning in YAML.",
}


def sentence(kind: str, key: str) -> str:
    """Return what is wrong with the value of a key, and what follows from it."""
    return _SENTENCES[kind].format(key=shown(key))


def is_readable(text: str) -> bool:
    """Whether the head is small and flat enough to ask a YAML parser about it."""
    return len(text) <= MAX_YAML_CHARS and text.count("[") + text.count("{") <= MAX_YAML_BRACKETS


def stumble(text: str) -> tuple[str, int, str] | None:
    """Return what makes a YAML reader fail. Reads events only and stops at the first anchor, alias or tag."""
    try:
        for event in yaml.parse(text, Loader=yaml.SafeLoader):
            lineno = (event.start_mark.line if event.start_mark else 0) + 2
            if getattr(event, "anchor", None) is not None:
                return "head-alias", lineno, sentence("head-alias", f"line {lineno}")
            if getattr(event, "tag", None) is not None:
                return "head-special", lineno, sentence("head-special", f"line {lineno}")
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark or error.context_mark
        lineno = (mark.line if mark else 0) + 2
        is_tab = "\\t" in (error.problem or "")
        what = "a tab stands where only blanks may" if is_tab else "the line is no “key: value”"
        kind = "head-tab" if is_tab else "head-syntax"
        return kind, lineno, f"A YAML reader fails here: {what}."
    except (yaml.YAMLError, ValueError, RecursionError):
        return "head-syntax", 2, "A YAML reader fails on this head: it holds a character that YAML does not allow."
    return None
