"""What one document is by itself, whatever its folder is: a folder may hold the memory of several agents."""

from __future__ import annotations

import re

from memoryreview.core import frontmatter
from memoryreview.core.model import FormatName

from . import codex, hermes, index
from .base import Format, basename
from .codex import Codex
from .hermes import Hermes

_INSTRUCTION_NAME = re.compile(
    r"(?i:\.?(?:agents?|claude|gemini|qwen|copilot-instructions|global_rules|instructions|skill))(?:[ .(~].*)?\.mdc?"
    r"|(?:SOUL|IDENTITY|BOOTSTRAP|HEARTBEAT|TOOLS|CONVENTIONS|WARP|CRUSH|OPENCODE|JULES|CODEX)(?:[ .(~].*)?\.md"
    r"|(?i:.+\.(?:instructions|prompt|chatmode|agent)\.md|.+\.mdc)"
    r"|(?i:\.(?:cursor|windsurf|cline|roo|goose)(?:rules|hints).*)",
    re.DOTALL,
)
_INSTRUCTION_FOLDER = re.compile(
    r"(?:^|/)(?:\.(?:cline|roo|cursor|windsurf)rules(?:-[^/]+)?"
    r"|\.[^/]+/(?:rules|instructions|prompts|commands|skills|agents|workflows|steering))/",
    re.IGNORECASE,
)


def is_instruction(path: str) -> bool:
    """Whether a document is an instruction that people write for agents, by its name: `AGENTS.md` and its kin."""
    return _INSTRUCTION_NAME.fullmatch(basename(path)) is not None or _INSTRUCTION_FOLDER.search(path) is not None


def foreign(path: str, data: bytes, store: FormatName) -> Format | None:
    """Return the format of a document that is not of its store's format, None for one that is.

    A section sign on a line of its own makes no `§` file of an index, nor of a note with frontmatter.
    """
    found = _own(path, data)
    return None if found is None or found.name is store else found


def _own(path: str, data: bytes) -> Format | None:
    if codex.is_handbook(path, data) or codex.is_summary(path, data):
        return Codex()
    if not hermes.is_memory(path) or not hermes.has_delimiter(data) or index.rows(data):
        return None
    return None if isinstance(frontmatter.read(data), frontmatter.Frontmatter) else Hermes()
