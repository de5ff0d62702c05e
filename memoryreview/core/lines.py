"""A document as lines to compare, decoded only where they are shown."""

from __future__ import annotations

_CR, _LF = b"\r", b"\n"
_ENDS = (_CR, _LF)


class Lines:
    """Lines split at LF. `keys` are what to compare them by: their bytes without the LF, except that a last line
    without LF carries one, as no other line can.

    Args: document: None where it does not exist; that has no line, like b"".
    """

    def __init__(self, document: bytes | None) -> None:
        self.document = document or b""
        self.keys = self.document.split(_LF)
        if self.keys[-1]:
            self.keys[-1] += _LF
        else:
            self.keys.pop()

    def __len__(self) -> int:
        return len(self.keys)

    def __getitem__(self, at: int) -> str:
        """Return a line (0-based) without its end; bytes that are not UTF-8 as lone surrogates."""
        return self.body(at).decode("utf-8", "surrogateescape")

    def body(self, at: int) -> bytes:
        """Return the bytes of a line (0-based) without its end."""
        key = self.keys[at]
        return key[:-1] if key.endswith(_ENDS) else key

    def end(self, at: int) -> bytes:
        """Return b"\\n", b"\\r\\n", or b"" for a last line without line end."""
        key = self.keys[at]
        if not key.endswith(_ENDS):
            return _LF
        return b"" if key.endswith(_LF) else _CR + _LF
