"""What a document must be before anything in it can be safe, and what no change may do to it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable

from memoryreview.core import frontmatter
from memoryreview.core.formats import is_instruction, of_document, signs
from memoryreview.core.model import Context, FormatName, Kind, Tree
from memoryreview.core.names import prefixes
from memoryreview.core.text import fold_name, split_lines, undecodable_at

from .document import DELIMITER, has_delimiter, is_blank


def refusal(path: str, before: bytes | None, after: bytes | None, context: Context) -> tuple[Kind, str] | None:
    """Return why a change of one document can never be stored, None when it can."""
    states = [state for state in (before, after) if state is not None]
    if any(undecodable_at(state) is not None for state in states):
        return Kind.NOT_UTF8, f"“{path}” is not UTF-8, so it is read-only here. Convert it first; nothing was changed."
    limit = context.limits.refused_bytes
    largest = max((len(state) for state in states), default=0)
    if largest > limit:
        return Kind.OVER_SIZE, f"“{path}” has {largest:,} bytes; documents over {limit:,} bytes are read-only here."
    if before and after:
        if _rewrites_line_ends(before, after):
            return (
                Kind.LINE_ENDS,
                "Line ends of unchanged lines would be rewritten. Send the text with the line ends it has.",
            )
        if _is_hermes(path, before, context) and _smuggles_delimiter(before, after):
            return Kind.DELIMITER, "The delimiter “§” would split an entry or leave an empty one. Send plain entries."
    elif after and _is_hermes(path, after, context) and _empty_entries(after):
        return Kind.DELIMITER, "The delimiter “§” would leave an empty entry. Send plain entries."
    return None


def _is_hermes(path: str, data: bytes, context: Context) -> bool:
    return of_document(context.format, path, data).name is FormatName.HERMES


def name_clashes(added: Iterable[str], proposed: Tree) -> dict[str, str]:
    """Return, for each new name that is another one's but for case or composition, that other name.

    Folders count as names too: two that differ in case are one on many disks.
    """
    new_names = sorted(added)
    if not new_names:
        return {}
    wanted = {fold_name(name) for path in new_names for name in prefixes(path)}
    standing: dict[str, set[str]] = {}
    for path in proposed:
        for name in prefixes(path):
            folded = fold_name(name)
            if folded in wanted:
                standing.setdefault(folded, set()).add(name)
    clashes: dict[str, str] = {}
    for path in new_names:
        others = [o for name in prefixes(path) for o in sorted(standing[fold_name(name)]) if o != name]
        if others:
            clashes[path] = others[0]
        elif any(name in proposed for name in prefixes(path) if name != path):
            clashes[path] = next(name for name in prefixes(path) if name in proposed)
    return clashes


def why_never_safe(path: str, states: Iterable[bytes], context: Context) -> str:
    """Return why nothing in a document may be applied by itself, "" when something may."""
    if context.promoted_from:
        return "What a team reads is always decided by a person."
    if is_instruction(path):
        return "The document is an instruction that people write for agents, so a person reads every change of it."
    if signs.may_be_conflict_copy(path):
        return "The document is a conflict copy that a sync tool left behind."
    for data in states:
        if len(data) > context.limits.file_bytes:
            return f"The document is larger than {context.limits.file_bytes:,} bytes, so a person reads every change."
        if signs.has_merge_marks(data):
            return "The document holds an unresolved merge."
        head = frontmatter.read(data)
        if isinstance(head, frontmatter.NoFrontmatter) and head.problem and head.problem[0] == "head-unclosed":
            return "The frontmatter has no closing fence, so nobody knows where the text begins."
    return ""


def _rewrites_line_ends(before: bytes, after: bytes) -> bool:
    if b"\r\n" not in before and b"\r\n" not in after:
        return False
    old, new = split_lines(before), split_lines(after)
    old_ends, new_ends = {line.eol for line in old} - {b""}, {line.eol for line in new} - {b""}
    if len(old_ends) == 1 and new_ends and old_ends.isdisjoint(new_ends):
        return True
    lost = Counter((line.body, line.eol) for line in old if line.eol)
    gained = Counter((line.body, line.eol) for line in new if line.eol)
    gone = {body for body, _ in lost - gained if not is_blank(body)}
    return any(body in gone for body, _ in gained - lost)


def _smuggles_delimiter(before: bytes, after: bytes) -> bool:
    if not has_delimiter(after):
        return False
    if _empty_entries(after) > _empty_entries(before):
        return True
    old, new = _entries(before), _entries(after)
    new_set, starts = set(new), {entry[0]: index for index, entry in enumerate(new) if entry}
    for entry in old:
        index = starts.get(entry[0]) if entry and entry not in new_set else None
        if index is not None and _is_cut_up(entry, new[index:]):
            return True
    return False


def _is_cut_up(entry: tuple[bytes, ...], following: list[tuple[bytes, ...]]) -> bool:
    """Whether the first of some entries, put together, are the one."""
    joined: tuple[bytes, ...] = ()
    for count, part in enumerate(following, start=1):
        joined += part
        if joined == entry:
            return count > 1
        if entry[: len(joined)] != joined:
            return False
    return False


def _entries(data: bytes) -> list[tuple[bytes, ...]]:
    found: list[list[bytes]] = [[]]
    for line in split_lines(data):
        if line.body == DELIMITER:
            found.append([])
        else:
            found[-1].append(line.body)
    return [tuple(lines) for lines in found]


def _empty_entries(data: bytes) -> int:
    """Return the number of entries without text, of a document that has delimiters."""
    entries = _entries(data)
    return sum(all(is_blank(line) for line in entry) for entry in entries) if len(entries) > 1 else 0
