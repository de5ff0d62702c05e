"""Reads pages the way a browser does: elements, attributes, line ends, and what a form would send."""

from __future__ import annotations

from dataclasses import dataclass, field
from html.parser import HTMLParser
from typing import Protocol

_VOID = {"br", "col", "hr", "img", "input", "link", "meta"}


@dataclass
class Element:
    tag: str
    attributes: dict[str, str]
    texts: list[str] = field(default_factory=list)
    ancestors: tuple[Element, ...] = ()

    @property
    def text(self) -> str:
        return " ".join("".join(self.texts).split())


class Page(HTMLParser):
    def __init__(self, html: str) -> None:
        super().__init__(convert_charrefs=True)
        self.elements: list[Element] = []
        self._open: list[Element] = []
        self.feed(html.replace("\r\n", "\n").replace("\r", "\n"))

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        element = Element(tag, {name: value or "" for name, value in attrs}, ancestors=tuple(self._open))
        self.elements.append(element)
        if tag not in _VOID:
            self._open.append(element)

    def handle_endtag(self, tag: str) -> None:
        while self._open and self._open.pop().tag != tag:
            pass

    def handle_data(self, data: str) -> None:
        for element in self._open:
            element.texts.append(data)

    def all(self, tag: str, **attributes: str) -> list[Element]:
        wanted = {name.rstrip("_").replace("_", "-"): value for name, value in attributes.items()}
        return [
            element
            for element in self.elements
            if element.tag == tag and all(element.attributes.get(name) == value for name, value in wanted.items())
        ]

    def one(self, tag: str, **attributes: str) -> Element:
        found = self.all(tag, **attributes)
        assert len(found) == 1, f"{len(found)} of <{tag} {attributes}>"
        return found[0]

    def by_id(self, name: str) -> Element:
        [element] = [element for element in self.elements if element.attributes.get("id") == name]
        return element

    @property
    def text(self) -> str:
        return " ".join("".join(self.elements[0].texts).split()) if self.elements else ""

    def form(self, action: str) -> dict[str, str]:
        """Return what the form of an address would send, untouched; a text box drops its first line break."""
        form = self.one("form", action=action)
        sent: dict[str, str] = {}
        for element in self.elements:
            if form not in element.ancestors or "name" not in element.attributes:
                continue
            name, attributes = element.attributes["name"], element.attributes
            if element.tag == "textarea":
                sent[name] = "".join(element.texts).removeprefix("\n").replace("\n", "\r\n")
            elif element.tag == "input" and (
                attributes.get("type") not in ("radio", "checkbox") or "checked" in attributes
            ):
                sent[name] = attributes.get("value", "")
        return sent


class Answer(Protocol):
    @property
    def content(self) -> bytes: ...


def read(response: Answer) -> Page:
    return Page(response.content.decode())
