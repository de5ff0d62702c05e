"""Text that a person typed in a browser, back to the bytes of the document it belongs to."""

from __future__ import annotations

from rapidfuzz.distance import Indel

from .text import BYTE_ORDER_MARK, line_end, split_lines


def restore_line_ends(typed: str, original: bytes) -> bytes:
    """Return what was typed with the line ends of `original`: a form turns every one into CRLF.

    Lines that stand in the original keep the very end they had (mixed files stay mixed); new lines get the document's
    usual end. A byte order mark that the original had stays. The last line ends as typed.
    """
    text = typed.replace("\r\n", "\n").replace("\r", "\n")
    usual = line_end(original)
    bodies = text.encode("utf-8", "surrogatepass").split(b"\n")
    lines = split_lines(original)
    ends = [usual] * len(bodies)
    for block in Indel.opcodes([line.body for line in lines], bodies):
        if block.tag == "equal":
            for offset in range(block.src_end - block.src_start):
                ends[block.dest_start + offset] = lines[block.src_start + offset].eol or usual
    joined = b"".join(body + end for body, end in zip(bodies[:-1], ends, strict=False)) + bodies[-1]
    loses_mark = original.startswith(BYTE_ORDER_MARK) and not joined.startswith(BYTE_ORDER_MARK)
    return BYTE_ORDER_MARK + joined if loses_mark else joined
