"""Orient: look at the folder as it is before anything in it is touched."""

from __future__ import annotations

from memoryreview.core import frontmatter
from memoryreview.core.formats import lint, of, signs
from memoryreview.core.formats.base import Format, is_document
from memoryreview.core.model import FormatName, Limits, Tree
from memoryreview.core.text import undecodable_at

from .model import Survey

BULK_PROBLEM = "bulk-dead"


def orient(tree: Tree, format_name: FormatName, limits: Limits) -> Survey:
    """Read a folder: which documents may be tidied, how full its budgets are, what looks wrong. Total."""
    form = of(format_name)
    problems = form.lint(tree)
    skipped = {path: why for path in sorted(tree) if (why := _why_skipped(path, tree, form, limits))}
    documents = {path: tree[path] for path in sorted(tree) if path not in skipped}
    meters = tuple(meter for path, data in documents.items() for meter in form.meters(path, data))
    is_incomplete = any(problem.kind == BULK_PROBLEM for problem in problems)
    return Survey(format_name, documents, skipped, meters, lint.ordered(problems), is_incomplete)


def _why_skipped(path: str, tree: Tree, form: Format, limits: Limits) -> str:
    data = tree[path]
    if not is_document(path):
        return "It is no Markdown document."
    if form.is_generated(path):
        return "A tool rewrites it by itself."
    if signs.may_be_conflict_copy(path) or signs.conflict_original(path, tree) is not None:
        return "It is a conflict copy that a sync tool left behind."
    if len(data) > limits.file_bytes:
        return f"It is larger than {limits.file_bytes:,} bytes."
    if undecodable_at(data) is not None:
        return "It is not UTF-8."
    if signs.has_merge_marks(data):
        return "It holds an unresolved merge."
    head = frontmatter.read(data)
    if isinstance(head, frontmatter.NoFrontmatter) and head.problem and head.problem[0] == "head-unclosed":
        return "Its frontmatter has no closing fence."
    return ""
