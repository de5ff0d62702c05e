"""Whatever a template or a script shows in words can be translated."""

from __future__ import annotations

import re
from html.parser import HTMLParser
from pathlib import Path

import pytest
from django.template.base import Lexer, Token, TokenType

ROOT = Path(__file__).resolve().parents[2]
TEMPLATES = sorted((ROOT / "templates").rglob("*.html"))
SCRIPTS = sorted((ROOT / "static" / "memoryreview" / "js").glob("*.js"))

HOLE = "\ufffc"  # stands for what a tag or variable prints; it is no letter
NAMES = ("memoryreview", "~/.claude/projects/my-project/memory")
LITERALS = {"my-store", "h2"}  # a placeholder in a command, the name of an element
HIDES = {"blocktranslate": "endblocktranslate", "blocktrans": "endblocktrans", "comment": "endcomment"}
TAKES_NO_WORDS = {"if", "elif", "load", "extends", "url", "static", "asset", "icon", "translate", "trans"}
NO_WORDS = {"code", "kbd", "script", "style"}
VOID = {"area", "base", "br", "col", "embed", "hr", "img", "input", "link", "meta", "source", "track", "wbr"}
SHOWN = {"alt", "label", "placeholder", "title"} | {
    f"aria-{name}" for name in ("description", "label", "placeholder", "roledescription", "valuetext")
}


def has_words(text: str) -> bool:
    for name in NAMES:
        text = text.replace(name, "")
    return any(letter.isalpha() for letter in text)


def is_sentence(text: str) -> bool:
    return has_words(text) and (" " in text.strip() or text.rstrip().endswith((".", "!", "?", "…")))


class Words(HTMLParser):
    """Collects texts and attributes with words in them, each with its line."""

    def __init__(self) -> None:
        super().__init__()
        self.open: list[str] = []
        self.found: list[tuple[int, str]] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        if tag not in VOID:
            self.open.append(tag)
        named = {name: value or "" for name, value in attrs}
        is_button = tag == "input" and named.get("type") in {"submit", "button", "reset"}
        for name, value in named.items():
            is_shown = name in SHOWN or (name == "value" and is_button)
            if (is_shown and has_words(value)) or (name.startswith("data-") and is_sentence(value)):
                self.found.append((self.getpos()[0], f'{name}="{value}"'))

    def handle_endtag(self, tag: str) -> None:
        if tag in self.open:
            del self.open[len(self.open) - 1 - self.open[::-1].index(tag) :]

    def handle_data(self, data: str) -> None:
        if has_words(data) and NO_WORDS.isdisjoint(self.open):
            before = data[: len(data) - len(data.lstrip())].count("\n")
            self.found.append((self.getpos()[0] + before, " ".join(data.split())))


def literals(token: Token) -> list[str]:
    """Return the words that a variable or tag carries itself, as in `{{ name|default:"nobody" }}`."""
    if token.token_type is TokenType.VAR:
        filters = re.findall(r"\|(\w+):[\"']([^\"']*)[\"']", token.contents)
        return [
            text for name, text in filters if name not in {"date", "time"} and has_words(text) and text not in LITERALS
        ]
    if token.contents.split()[0] in TAKES_NO_WORDS:
        return []
    return [text for text in re.findall(r"(?<!_\()[\"']([^\"']*)[\"']", token.contents) if is_sentence(text)]


def opaque(token: Token) -> str:
    """Return the tag that ends what is translated or never shown, "" for a tag that hides nothing."""
    if token.token_type is not TokenType.BLOCK:
        return ""
    return "endblock" if token.contents == "block page_class" else HIDES.get(token.contents.split()[0], "")


def untranslated(source: str) -> list[str]:
    """Return "line: text" for each text of a template that its translators would never see."""
    html, found, end = [], [], ""
    for token in Lexer(source).tokenize():
        lines = "\n" * token.contents.count("\n")
        if end:
            end = "" if token.token_type is TokenType.BLOCK and token.contents.split()[0] == end else end
            html.append(lines)
        elif token.token_type is TokenType.TEXT:
            html.append(token.contents)
        elif token.token_type is not TokenType.COMMENT:
            end = opaque(token)
            html.append((HOLE if token.token_type is TokenType.VAR else "") + lines)
            found += [] if end else [(token.lineno or 0, text) for text in literals(token)]
    words = Words()
    words.feed("".join(html))
    words.close()
    return [f"{line}: {text}" for line, text in sorted(found + words.found)]


@pytest.mark.parametrize("path", TEMPLATES, ids=lambda path: path.stem)
def test_a_template_shows_no_word_that_cannot_be_translated(path: Path) -> None:
    assert untranslated(path.read_text("utf-8")) == []


@pytest.mark.parametrize(
    ("source", "found"),
    [
        ("<p>\n  Sign in</p>", ["2: Sign in"]),
        ("{% block title %}Digest · memoryreview{% endblock %}", ["1: Digest · memoryreview"]),
        ("<p>{% if a %}{{ a }} left{% endif %}</p>", [f"1: {HOLE} left"]),
        ("<option>all</option>", ["1: all"]),
        ('<a aria-label="Line {{ n }}">{{ n }}</a>', [f'1: aria-label="Line {HOLE}"']),
        ('<input type="submit" value="Go">', ['1: value="Go"']),
        ('<b data-say="Not here."></b>', ['1: data-say="Not here."']),
        ("{# a #}\n{{ name|default:'nobody' }}{{ n|pluralize:\"is,are\" }}", ["2: is,are", "2: nobody"]),
        ('{% include "a.html" with words="Two words" %}', ["1: Two words"]),
        ("<code>git log</code> shows", ["1: shows"]),
        ("{% blocktranslate %}a\nb{% endblocktranslate %}\nbare", ["3: bare"]),
    ],
)
def test_a_word_outside_of_translation_is_found(source: str, found: list[str]) -> None:
    assert untranslated(source) == found


@pytest.mark.parametrize(
    "source",
    [
        '<p title="{% translate \'As the system\' %}">{% translate "Sign in" %} · memoryreview</p>',
        "{% blocktranslate trimmed with a=b|plain count n=c %}{{ n }} of {{ a }}{% plural %}all{% endblocktranslate %}",
        '<code>git log</code> <kbd>Ctrl Enter</kbd> {{ at|date:"Y-m-d" }} {{ a|default:_("none") }}',
        '<input name="title" value="text" data-act="go-queue"><p class="a b" hx-swap="outerHTML">+{{ n }}</p>',
        '{# Words of ours. #}{% comment %}More words{% endcomment %}{% if a == "two words" %}×{% endif %}',
    ],
)
def test_what_is_translated_or_no_word_passes(source: str) -> None:
    assert untranslated(source) == []


def sentences(script: str) -> list[str]:
    """Return the strings of a script that read like English: two words with a blank between, or a full stop."""
    code = re.sub(r"/\*.*?\*/|(?<![:\"'`])//[^\n]*", "", script, flags=re.DOTALL)
    strings = [text for _, text in re.findall(r"([\"'`])((?:\\.|(?!\1).)*)\1", code)]
    plain = [re.sub(r"\$\{[^}]*\}", HOLE, text) for text in strings]
    return [
        text
        for text in plain
        if re.search(r"[A-Za-z]{2,} [A-Za-z]{2,}|[a-z]\.$", text) and not re.search(r"[#\[<>=]", text)
    ]


@pytest.mark.parametrize("path", SCRIPTS, ids=lambda path: path.stem)
def test_a_script_says_nothing_in_words_of_its_own(path: Path) -> None:
    assert sentences(path.read_text("utf-8")) == []


def test_a_sentence_in_a_script_is_found() -> None:
    script = '/** Not this one. */ tell("Not here."); say(`${n} proposals wait`); find("#a b, c d"); // "nor this"\n'
    assert sentences(script) == ["Not here.", f"{HOLE} proposals wait"]
