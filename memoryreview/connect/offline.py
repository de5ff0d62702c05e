"""`memoryreview classify` and `scan-text`: verdicts without a server, a data folder or a database."""

from __future__ import annotations

import argparse
import json
import os
import sys
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict
from datetime import datetime
from pathlib import Path
from typing import Any

from memoryreview.core import formats, scan
from memoryreview.core.classify.classify import classify
from memoryreview.core.model import (
    Action,
    Classification,
    Context,
    Finding,
    FormatName,
    Scope,
    Severity,
    Verdict,
)
from memoryreview.core.names import shown
from memoryreview.core.redact import action_shape, redacted
from memoryreview.core.text import decode

from .console import DONE, REFUSED, STANDARD_INPUT, UnreadableError, read_bytes, run, say
from .console import gettext_noop as _

AUTO = "auto"
MAX_READ_BYTES = 64 * 1024 * 1024
"""Above what a verdict refuses, so that the verdict can say so."""

_FAILING = {
    "review": frozenset({Verdict.REVIEW, Verdict.MIXED, Verdict.REFUSED}),
    "refused": frozenset({Verdict.REFUSED}),
}
_CLASSIFY_FINDING = ("scanner", "rule", "severity", "path", "line")
_SCAN_FINDING = ("scanner", "rule", "severity", "line", "column", "length")


def classify_command(argv: Sequence[str]) -> int:
    """Run `classify BASE PROPOSED`. Returns 0 when a verdict was reached, 1 where --fail-on says so, 2 for usage."""
    return run(classify_parser(), argv, _classify)


def classify_parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="memoryreview classify",
        description="Say what may be applied without a person. Compares two files or two folders. Knows the time and "
        "no history: what depends on an approved deletion, an approved rename or the age of a line waits.",
    )
    parser.add_argument("base", help=_("file or folder as it is"))
    parser.add_argument("proposed", help=_("file or folder as it would be"))
    parser.add_argument(
        "--format", choices=[AUTO, *FormatName], default=AUTO, help=_("format of the memory (default: auto)")
    )
    parser.add_argument("--json", action="store_true", help=_("print the classification as JSON"))
    parser.add_argument("--fail-on", choices=sorted(_FAILING), help=_("exit 1 when something waits or is refused"))
    return parser


def scan_text_command(argv: Sequence[str]) -> int:
    """Run `scan-text [FILE|-]`. Returns 1 when a finding blocks, 2 for usage."""
    return run(scan_text_parser(), argv, _scan_text)


def scan_text_parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="memoryreview scan-text", description="Look for secrets and hidden instructions in one text."
    )
    parser.add_argument(
        "file", nargs="?", default=STANDARD_INPUT, help=_("file to scan; - reads standard input (default)")
    )
    parser.add_argument("--json", action="store_true", help=_("print the findings as JSON"))
    return parser


def _classify(options: argparse.Namespace) -> int:
    base, proposed = _trees(options.base, options.proposed)
    name = formats.detect(base or proposed) if options.format == AUTO else FormatName(options.format)
    result = classify(base, proposed, Context(format=name, now=datetime.now().astimezone()))
    shown_result = redacted(result, base, proposed)
    if options.json:
        _print_json(classification_json(shown_result))
    else:
        for line in _report(shown_result):
            say(line)
    return REFUSED if result.verdict in _FAILING.get(options.fail_on, ()) else DONE


def _trees(base: str, proposed: str) -> tuple[dict[str, bytes], dict[str, bytes]]:
    """Return both sides as trees. Of two files the first names the document; the null device is a missing one."""
    are_folders = Path(base).is_dir(), Path(proposed).is_dir()
    if all(are_folders):
        return _folder(Path(base)), _folder(Path(proposed))
    if any(are_folders):
        raise UnreadableError(base if are_folders[0] else proposed, "compare two files or two folders, not one of each")
    name = Path(proposed if base == os.devnull else base).name
    return _file(base, name), _file(proposed, name)


def _file(source: str, name: str) -> dict[str, bytes]:
    return {} if source == os.devnull else {name: read_bytes(source, limit_bytes=MAX_READ_BYTES)}


def _folder(root: Path) -> dict[str, bytes]:
    """Read all Markdown documents below a folder; hidden folders and links that lead out of it are left aside."""
    return {
        path.relative_to(root).as_posix(): read_bytes(str(path), limit_bytes=MAX_READ_BYTES)
        for path in _documents(root)
    }


def _documents(root: Path) -> Iterator[Path]:
    inside = root.resolve()
    for folder, folders, names in os.walk(root, onerror=_refuse):
        folders[:] = sorted(name for name in folders if not name.startswith("."))
        for name in sorted(names):
            path = Path(folder) / name
            if name.lower().endswith(".md") and path.is_file() and path.resolve().is_relative_to(inside):
                yield path


def _refuse(error: OSError) -> None:
    raise UnreadableError(str(error.filename), (error.strerror or "it is not a folder").lower())


def classification_json(result: Classification) -> dict[str, Any]:
    """Return a classification as JSON; actions have the shape that they have in answers of the API."""
    return {
        "verdict": str(result.verdict),
        "actions": [action_shape(action) for action in result.actions],
        "findings": [_chosen(finding, _CLASSIFY_FINDING) for finding in result.findings],
    }


def _report(result: Classification) -> Iterator[str]:
    count = len(result.actions)
    yield f"{result.verdict}: {count} {'action' if count == 1 else 'actions'}"
    for action in result.actions:
        yield f"  {action.verdict:<9}{action.kind:<16}{_place(action)}  {action.title}"
        yield from (f"           {reason}" for reason in action.reasons)
    yield from (f"  {_finding_line(finding)}" for finding in result.findings)


def _place(action: Action) -> str:
    span = action.new_lines or action.lines
    return action.path + (f":{span[0]}" if span else "")


def _scan_text(options: argparse.Namespace) -> int:
    text = decode(read_bytes(options.file), shown(options.file))
    findings = scan.scan(text, scope=Scope.TEAM)  # the stricter rules; who will read it is not known here
    if options.json:
        _print_json({"findings": [_chosen(finding, _SCAN_FINDING) for finding in findings]})
    else:
        for finding in findings:
            say(_finding_line(finding))
        if not findings:
            say("Nothing found.")
    return REFUSED if any(finding.severity is Severity.BLOCK for finding in findings) else DONE


def _finding_line(finding: Finding) -> str:
    where = f"{finding.path}:{finding.line}" if finding.path else f"line {finding.line}"
    return f"{finding.severity:<7}{finding.rule} at {where}, column {finding.column}: {finding.message}"


def _chosen(finding: Finding, fields: Sequence[str]) -> Mapping[str, Any]:
    known = asdict(finding) | {"severity": str(finding.severity)}
    return {name: known[name] for name in fields}


def _print_json(value: Mapping[str, Any]) -> None:
    sys.stdout.write(json.dumps(value, indent=2) + "\n")
