"""A person who clears a mixed queue by keyboard: what they press for each proposal, and what the database has then.

No mouse, no selector that acts: the script reads which proposal the page shows, as eyes do, and presses keys.
"""

from __future__ import annotations

import sqlite3
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field

from playwright.sync_api import Page, expect

from memoryreview.review.states import Reason, Verb

from .conftest import Site, edit

PACE_S = 1.2
"""A person's time for one decision: looking, deciding, pressing."""

_NOTE = """# Service {n}

- The port of service {n} is {port}.
- Its log goes to disk.
- Its owner is Ana.

Ask before a restart.
"""
_WATCH = """
const answers = [];  // from the first key to the page that stands again
addEventListener("keydown", () => {
  if (answers.at(-1)?.to !== Infinity) answers.push({from: performance.now(), to: Infinity});
}, true);
addEventListener("review:settled", () => answers.forEach((one) => (one.to = Math.min(one.to, performance.now()))));
new PerformanceObserver((list) => {
  for (const entry of list.getEntries()) {
    if (entry.hadRecentInput) continue;
    const isAnswer = answers.some((one) => one.from <= entry.startTime && entry.startTime <= one.to);
    window.reportShift(entry.value, isAnswer ? "" : entry.sources.map((one) => one.node?.className).join());
  }
}).observe({type: "layout-shift", buffered: true});
let held = false;
(function look() {
  const lost = document.activeElement === document.body || document.activeElement === null;
  if (held && lost && document.visibilityState === "visible") window.reportLost(document.title);
  held = held || !lost;
  requestAnimationFrame(look);
})();
"""

_SHOWS = "(pk) => document.getElementById('proposal')?.dataset.id === pk"
_SHOWS_ANOTHER = "(pk) => ![undefined, pk].includes(document.getElementById('proposal')?.dataset.id)"
_ASKS = "(name) => document.activeElement?.matches('button') && document.activeElement.innerText.includes(name)"
_IS_SETTLED = """() => {
  const pane = document.getElementById("proposal");
  if (!pane || document.querySelector("#proposal[aria-busy=true], .htmx-request, .proposal--fresh")) return false;
  return pane.dataset.id === "0" || document.querySelectorAll("[data-row][aria-current=true]").length === 1;
}"""

Recorded = tuple[int, str, str]
"""A decision as its row has it: proposal, verb, reason."""


@dataclass(slots=True)
class Figures:
    """What the run came to. `wanted` are the decisions in order, as meant; `recorded` as the database has them.

    `late`: shifts that answer a key, more than 500 ms after it since the machine was slow: the row that was decided
    leaves, the next actions come. Within that time the browser itself takes them for an answer, and counts none.
    """

    seconds: float = 0.0
    wanted: list[Recorded] = field(default_factory=list)
    recorded: list[Recorded] = field(default_factory=list)
    lost: list[str] = field(default_factory=list)
    shift: float = 0.0
    late: int = 0
    moved: list[str] = field(default_factory=list)
    took_s: dict[str, list[float]] = field(default_factory=dict)

    @property
    def wrong(self) -> int:
        pairs = zip(self.wanted, self.recorded, strict=False)
        return sum(one != other for one, other in pairs) + abs(len(self.wanted) - len(self.recorded))


def fill(site: Site, store: str, count: int) -> dict[int, str]:
    """Adopt a store and propose one change per document; return what a person does with each proposal."""
    notes = {f"note{n:03}": _NOTE.format(n=n, port=5000 + n) for n in range(count)}
    root = site.adopt(store, **notes)
    acts = dict(_proposed(site, store, count - 1))
    path = root / f"note{count - 1:03}.md"  # nobody was asked about this one
    path.write_text(path.read_text().replace("Its log goes to disk", "Its log goes nowhere"))
    site.one.json("capture", store)  # unless the watcher was faster
    direct = [row for row in site.one.json("queue") if (row["store"], row["agent"]) == (store, "direct")]
    acts |= {row["id"]: "approve" for row in direct}
    return acts


_KINDS = ("delete", "reject", "part", "ask", "approve", "approve", "reject", "approve", "approve", "approve")


def _proposed(site: Site, store: str, count: int) -> Iterator[tuple[int, str]]:
    for n in range(count):
        act, path, port = _KINDS[n % len(_KINDS)], f"note{n:03}.md", 5000 + n
        change = edit(path, f"is {port}.", f"is {port + 2000}.")
        if act == "delete":
            change = edit(path, "- Its owner is Ana.\n", "")
        elif act == "part":
            change["edits"].append({"old": "Ask before a restart.", "new": "Restart at will."})
        elif n % 40 in (4, 5):
            act = "edit" if n % 40 == 4 else "back"
        yield site.propose(store, change), act


class Person:
    """Hands on the keys. `think_s` is the pace: no decision is made in less."""

    def __init__(self, page: Page, figures: Figures, pace_s: float) -> None:
        self._page, self._figures, self._pace_s = page, figures, pace_s
        self._numbers = 0

    def decide(self, act: str) -> None:
        started, shown = time.monotonic(), self.shown()
        if self._pace_s:
            self._page.wait_for_timeout(self._pace_s * 500)  # look first
        steps: dict[str, Callable[[int], None]] = {
            "approve": self._approve, "delete": self._delete, "reject": self._reject, "part": self._part,
            "ask": self._ask, "edit": self._edit, "back": self._back,
        }  # fmt: skip
        steps[act](shown)
        took = time.monotonic() - started
        self._figures.took_s.setdefault(act, []).append(took)
        if took < self._pace_s:
            self._page.wait_for_timeout((self._pace_s - took) * 1000)

    def shown(self) -> int:
        return int(self._page.locator("#proposal").get_attribute("data-id") or 0)

    def _press(self, *keys: str) -> None:
        for key in keys:
            self._page.keyboard.press(key)

    def _until(self, condition: str, wanted: str = "") -> None:
        """Look at every frame, as eyes do: `expect` looks again after 100, 350, 850 ms and every second from then."""
        self._page.wait_for_function(condition, arg=wanted)

    def _done(self, shown: int, verb: Verb, reason: str = "") -> None:
        self._figures.wanted.append((shown, str(verb), reason))
        self._until(_SHOWS_ANOTHER, str(shown))
        self._settle()

    def _settle(self) -> None:
        self._until(_IS_SETTLED)
        self._page.evaluate("new Promise((drawn) => requestAnimationFrame(() => requestAnimationFrame(drawn)))")
        self._page.evaluate("dispatchEvent(new Event('review:settled'))")
        is_lost = self._page.evaluate("document.activeElement === document.body")
        if is_lost:
            self._figures.lost.append(f"after {self._figures.wanted[-1:]}")

    def _approve(self, shown: int) -> None:
        self._press("a")
        self._done(shown, Verb.APPROVE)

    def _delete(self, shown: int) -> None:
        self._press("a")
        self._until(_ASKS, "Approve deletion")
        self._press("a")
        self._done(shown, Verb.APPROVE)

    def _reject(self, shown: int) -> None:
        reason = list(Reason)[self._numbers % len(Reason)]
        self._numbers += 1
        self._press("r", str(list(Reason).index(reason) + 1), "Enter")
        self._done(shown, Verb.REJECT, str(reason))

    def _part(self, shown: int) -> None:
        self._press("n", "n", " ")
        self._until("(words) => document.querySelector('[data-words]')?.innerText.trim() === words", "1 of 2 parts")
        self._press("a")
        self._done(shown, Verb.APPROVE)

    def _ask(self, shown: int) -> None:
        self._press("c")
        self._page.keyboard.type("Which host?")
        self._press("Control+Enter")
        self._done(shown, Verb.ASK_CHANGES)

    def _edit(self, shown: int) -> None:
        self._press("e")
        self._page.wait_for_url("**/edit*")
        self._until("() => document.activeElement === document.querySelector('textarea')")
        self._press("Control+End")
        self._page.keyboard.type("Seen.")
        self._press("Control+Enter")
        self._page.wait_for_url(lambda url: "/edit" not in url)
        self._figures.wanted.append((shown, str(Verb.EDIT), ""))
        self._done(shown, Verb.APPROVE)

    def _back(self, shown: int) -> None:
        """Reject in haste, take it back, approve."""
        self._press("r", "Control+Enter")
        self._done(shown, Verb.REJECT)
        self._press("u")
        self._until(_SHOWS, str(shown))
        self._settle()
        self._figures.wanted.append((shown, str(Verb.REOPEN), ""))
        self._approve(shown)


def clear(site: Site, page: Page, store: str, acts: dict[int, str], *, pace_s: float) -> Figures:
    """Clear the queue of a store and return the figures of the run."""
    figures = Figures()

    def report_shift(value: float, what: str) -> None:
        if what:
            figures.shift += value
            figures.moved.append(what)
        else:
            figures.late += 1

    def report_lost(where: str) -> None:
        figures.lost.append(where)

    page.expose_function("reportShift", report_shift)
    page.expose_function("reportLost", report_lost)
    page.add_init_script(_WATCH)
    page.goto(f"{site.url}/?store={store}")
    person = Person(page, figures, pace_s)
    expect(page.locator("[data-row]:focus")).to_have_count(1)
    started = time.monotonic()
    while shown := person.shown():
        person.decide(acts[shown])
    figures.seconds = time.monotonic() - started
    figures.recorded = _recorded(site, store)
    return figures


def _recorded(site: Site, store: str) -> list[Recorded]:
    with sqlite3.connect(f"file:{site.one.home / 'memoryreview.sqlite3'}?mode=ro", uri=True) as database:
        rows = database.execute(
            "select d.proposal_id, d.verb, d.reason from review_decision d join review_store s on s.id = d.store_id"
            " where s.slug = ? and d.person_id is not null and d.proposal_id is not null order by d.id",
            [store],
        )
        return [(pk, verb, reason) for pk, verb, reason in rows]
