"""A catalogue as people edit it (.po) and as the program loads it (.mo), without any other program.

The .po has one line for each text and no places, so that a difference shows what was said and nothing else.
"""

from __future__ import annotations

import ast
import struct
from collections.abc import Iterable, Mapping
from pathlib import Path

from .collect import PACKAGE, Message

FOLDER = PACKAGE / "locale" / "zh_Hans" / "LC_MESSAGES"
PO, MO = FOLDER / "django.po", FOLDER / "django.mo"
HEADER = "".join(
    f"{name}: {value}\n"
    for name, value in (
        ("Project-Id-Version", "memoryreview"),
        ("Language", "zh_Hans"),
        ("MIME-Version", "1.0"),
        ("Content-Type", "text/plain; charset=UTF-8"),
        ("Content-Transfer-Encoding", "8bit"),
        ("Plural-Forms", "nplurals=1; plural=0;"),
    )
)
_MAGIC = 0x950412DE


def read(path: Path = PO) -> dict[Message, str]:
    """Return the translations of a .po as `write` leaves it, or as an editor of catalogues does."""
    found: dict[Message, str] = {}
    for block in path.read_text(encoding="utf-8").split("\n\n"):
        fields: dict[str, str] = {}
        name = ""
        for line in block.splitlines():
            if line.startswith("#"):
                continue
            if not line.startswith('"'):
                name, _, line = line.partition(" ")
            fields[name] = fields.get(name, "") + str(ast.literal_eval(line))
        if fields.get("msgid"):
            message = Message(fields["msgid"], fields.get("msgid_plural", ""), fields.get("msgctxt", ""))
            found[message] = fields.get("msgstr", "") or fields.get("msgstr[0]", "")
    return found


def write(messages: Iterable[Message], translations: Mapping[Message, str]) -> None:
    """Write both files: what the sources say now, with the translations that are there; one that lacks is ""."""
    said = {message: translations.get(message, "") for message in sorted(messages)}
    FOLDER.mkdir(parents=True, exist_ok=True)
    PO.write_text("\n".join([_block(Message(""), HEADER), *(_block(*pair) for pair in said.items())]), "utf-8")
    MO.write_bytes(compiled(said))


def _block(message: Message, said: str) -> str:
    lines = [f"msgctxt {_quoted(message.context)}"] if message.context else []
    lines.append(f"msgid {_quoted(message.one)}")
    lines += [f"msgid_plural {_quoted(message.many)}"] if message.many else []
    lines.append(f"msgstr{'[0]' if message.many else ''} {_quoted(said)}")
    return "\n".join([*lines, ""])


def _quoted(text: str) -> str:
    escaped = text.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n").replace("\t", "\\t")
    return f'"{escaped}"'


def compiled(translations: Mapping[Message, str]) -> bytes:
    """Return a catalogue as GNU gettext lays it out: tables of lengths and places, then the texts in order."""
    pairs = {b"": HEADER.encode()}
    for message, said in translations.items():
        if said:
            key = f"{message.context}\4{message.one}" if message.context else message.one
            pairs["\0".join(filter(None, (key, message.many))).encode()] = said.encode()
    texts = [*sorted(pairs), *(pairs[key] for key in sorted(pairs))]
    start = 28 + 8 * len(texts)
    table = b""
    for text in texts:
        table += struct.pack("<2I", len(text), start)
        start += len(text) + 1
    head = struct.pack("<7I", _MAGIC, 0, len(pairs), 28, 28 + 8 * len(pairs), 0, 0)
    return head + table + b"".join(text + b"\0" for text in texts)
