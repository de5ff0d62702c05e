"""`memoryreview propose`: send one document or one patch for review, from a shell or a hook."""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from memoryreview.core.errors import MemoryReviewError
from memoryreview.core.names import shown
from memoryreview.core.text import decode

from .client import Client
from .console import STANDARD_INPUT, USAGE, complain, read_bytes, run, say
from .console import gettext_noop as _


def command(argv: Sequence[str]) -> int:
    """Run the command and return its exit code: 0 proposed, 1 refused, 2 usage."""
    return run(parser(), argv, _propose)


def parser() -> argparse.ArgumentParser:
    made = argparse.ArgumentParser(
        prog="memoryreview propose",
        description="Propose a change of a memory store. MEMORYREVIEW_URL and MEMORYREVIEW_TOKEN say where and who.",
    )
    made.add_argument("--store", required=True, help=_("name of the store"))
    what = made.add_mutually_exclusive_group(required=True)
    what.add_argument(
        "--file", metavar="PATH", help=_("propose the whole text of this document; - reads it from standard input")
    )
    what.add_argument("--patch", metavar="FILE", help=_("propose a unified diff; - reads it from standard input"))
    made.add_argument("--as", dest="name", metavar="NAME", help=_("path of the document in the store, for --file"))
    made.add_argument("--title", help=_("what the change is, in a few words"))
    made.add_argument("--rationale", help=_("why it should be remembered"))
    made.add_argument("--evidence", action="append", metavar="TEXT", help=_("quote that supports it; may be repeated"))
    made.add_argument("--base", metavar="COMMIT", help=_("commit that the change was made from"))
    made.add_argument("--json", action="store_true", help=_("print the answer as JSON"))
    return made


def _propose(options: argparse.Namespace) -> int:
    if (options.name is not None and options.file is None) or (options.name is None and options.file == STANDARD_INPUT):
        complain("--as goes with --file; a document from standard input needs it.")
        return USAGE
    client = Client.from_environment()
    proposal: dict[str, Any] = {"store": options.store, "operations": [_operation(options, client)]}
    stated = {"title": options.title, "rationale": options.rationale, "base": options.base}
    proposal.update({name: text for name, text in stated.items() if text})
    if options.evidence:
        proposal["source"] = {"evidence": "\n".join(options.evidence)}
    answer = client.propose(proposal)
    if options.json:
        sys.stdout.write(json.dumps(answer, indent=2) + "\n")
    else:
        say(_sentence(answer))
    return 0


def _operation(options: argparse.Namespace, client: Client) -> dict[str, str]:
    if options.patch is not None:
        return {"op": "patch", "diff": _text(options.patch)}
    content = _text(options.file)
    path = options.name if options.name is not None else _path_in_store(Path(options.file), client.store(options.store))
    return {"op": "write", "path": path, "content": content}


def _text(name: str) -> str:
    return decode(read_bytes(name), shown(name))


def _path_in_store(file: Path, store: Mapping[str, Any]) -> str:
    """Return the path below the store's folder for a file in it, else the file's name."""
    real = file.resolve()
    root = Path(str(store.get("root") or "/dev/null")).resolve()
    path = real.relative_to(root).as_posix() if real.is_relative_to(root) else file.name
    try:
        path.encode("utf-8")
    except UnicodeEncodeError as error:
        raise MemoryReviewError(
            f"The name “{shown(path)}” is not UTF-8. Name it with --as; nothing was sent."
        ) from error
    return path


def _sentence(answer: Mapping[str, Any]) -> str:
    """Say in one line what became of the proposal."""
    state, title = str(answer["state"]), answer.get("title", "")
    where = f"proposal {answer['id']}: {answer['url']}"
    if state == "unchanged":
        return "Unchanged: the store says this already; nothing was proposed."
    if answer.get("duplicate_of") is not None:
        return f"Already waiting as {where}"
    actions = answer.get("actions", [])
    landed = sum(1 for action in actions if action.get("commit"))
    if state == "applied":
        return f"Applied: {title} ({where})"
    if state == "quarantined":
        return f"Quarantined, a person must look at it first: {title} ({where})"
    if state == "pending" and landed:
        return f"Applied {landed} of {len(actions)} parts, the rest waits for review: {title} ({where})"
    if state == "pending":
        return f"Waits for review: {title} ({where})"
    return f"{state.replace('_', ' ').capitalize()}: {title} ({where})"
