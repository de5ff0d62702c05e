"""`python -m tests.bench queue_pages`: the queue with a million proposals that wait, against the same with a thousand.

Each queue has a database of its own. One proposal is made by the product's own writers; the others are its copies,
spread over stores, agents, kinds, ranks, states and days by their numbers, with a tenth decided. Both are kept below
TMPDIR for the next run, until a migration or this file changes.
"""

from __future__ import annotations

import hashlib
import shutil
import tempfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from html import escape
from pathlib import Path
from statistics import median
from time import process_time
from typing import Any, cast

from django.conf import settings
from django.contrib.auth.models import User
from django.core.management import call_command
from django.db import connection
from django.db.backends.utils import CursorWrapper
from django.db.migrations.loader import MigrationLoader
from django.db.models import F, Model
from django.template import Context, Engine
from django.test import Client
from django.test.utils import setup_test_environment, teardown_test_environment

from memoryreview.core.concerns import GRAVITY
from memoryreview.core.edits import Edit, Replacement
from memoryreview.core.model import Scope
from memoryreview.review.models import Agent, Proposal, Revision, SearchedProposal, Store
from memoryreview.review.operations import accounts, queue_search, receive
from memoryreview.review.operations.adopt import adopt
from memoryreview.review.operations.listing import Reader
from memoryreview.review.operations.queue_order import Place
from memoryreview.review.presenters.filters import Filter
from memoryreview.review.presenters.rows import Row

from .history_size import _fetched, _open
from .timing import verdict

FEW, BOUND = 1_000, 1.2
PAGE_BOUND, ROWS_BOUND = 1.6, 15.0
AGENTS = 4
_DAYS = 90
PASSWORD = "correct horse battery"
_DATABASE = "memoryreview.sqlite3"

FILTERS: Mapping[str, Filter] = {
    "all": Filter(),
    "agent": Filter(agent="agent-3"),
    "store": Filter(store="home"),
    "scope": Filter(scope="team"),
    "kind": Filter(kind="fact.delete"),
    "high risk": Filter(risk="high"),
    "low risk": Filter(risk="low"),
    "quarantined": Filter(state="quarantined"),
    "failed": Filter(state="failed"),
    "with agents": Filter(show="agents"),
    "mine": Filter(show="mine"),
    "second approval": Filter(show="second"),
    "a week old": Filter(age="week"),
    "a month old": Filter(age="month"),
    "a common word": Filter(q="port"),
    "a rare word": Filter(q="zanzibar"),
    "words and filters": Filter(q="change port", agent="agent-3", risk="low"),
    "two letters": Filter(q="po"),
    "agent, kind and risk": Filter(agent="agent-3", kind="fact.rewrite", risk="low"),
}


@dataclass(frozen=True, slots=True)
class Queue:
    """One installation with so many proposals that wait."""

    home: Path
    client: Client
    count: int

    def use(self) -> None:
        settings.HOME = self.home
        _open(self.home / _DATABASE)


def run(*, count: int, rounds: int) -> bool:
    folder = _kept()
    few, many = (_queue(folder / str(size), size) for size in (FEW, count))
    holds = [
        _page_holds(f"{name}, {where} page", few, many, rounds, wanted, where)
        for name, wanted in FILTERS.items()
        for where in ("first", "middle", "last")
    ]
    holds.append(_fragment_holds(few, many, rounds))
    holds += [_render_holds(many, rounds), _rows_hold(many, rounds)]
    return all(holds)


def _kept() -> Path:
    """Return the folder for what this file makes of these migrations; what was made of others goes."""
    migrations = sorted(name for app, name in MigrationLoader(None).disk_migrations if app == "review")
    made_of = Path(__file__).read_bytes() + "".join(migrations).encode()
    folder = Path(tempfile.gettempdir()) / "memoryreview-bench-queue" / hashlib.sha256(made_of).hexdigest()[:16]
    for other in folder.parent.glob("*"):
        if other != folder:
            shutil.rmtree(other)
    return folder


def _page_holds(name: str, few: Queue, many: Queue, rounds: int, wanted: Filter, where: str) -> bool:
    addresses = {id(one): _address(one, wanted, where) for one in (few, many)}
    return _holds(name, few, many, rounds, lambda one: _fetched(one.client, addresses[id(one)]))


def _fragment_holds(few: Queue, many: Queue, rounds: int) -> bool:
    """A proposal as the list fetches it: a part of the page."""
    addresses = {}
    for one in (few, many):
        one.use()
        addresses[id(one)] = _context(one, "/")["list"].rows[0].url

    def ask(one: Queue) -> object:
        return one.client.get(addresses[id(one)], headers={"HX-Request": "true"})

    return _holds("a proposal as part of a page", few, many, rounds, ask)


def _holds(name: str, few: Queue, many: Queue, rounds: int, ask: Callable[[Queue], object]) -> bool:
    times: list[list[float]] = [[], []]
    for number in range(rounds + 2):
        for at, one in enumerate((few, many)):
            one.use()
            start = process_time()
            ask(one)
            if number > 1:
                times[at].append(process_time() - start)
    low, high = (median(each) for each in times)
    print(f"  {low * 1e3:7.1f} ms of {few.count:,}, {high * 1e3:7.1f} ms of {many.count:,}")
    return verdict(name, median(b / a for a, b in zip(*times, strict=True)), BOUND)


def _render_holds(many: Queue, rounds: int) -> bool:
    """The page against rendering its template with everything ready."""
    many.use()
    context = _context(many, "/")
    template = Engine.get_default().get_template("review/queue.html")
    works: Mapping[str, Callable[[], object]] = {
        "page": lambda: _fetched(many.client, "/"),
        "template": lambda: template.render(Context(dict(context))),
    }
    times = _turns(works, rounds)
    return verdict("page against rendering its template", times["page"] / times["template"], PAGE_BOUND)


def _rows_hold(many: Queue, rounds: int) -> bool:
    """The rows of a page against an f-string for each."""
    many.use()
    context = _context(many, "/")
    rows = context["list"].rows
    template = Engine.get_default().get_template("review/_list.html")
    works: Mapping[str, Callable[[], object]] = {
        "list": lambda: template.render(Context(dict(context))),
        "f-string": lambda: "".join(_plain(row) for row in rows),
    }
    times = _turns(works, rounds * 3)
    return verdict(
        f"template of a list of {len(rows)} rows against f-strings", times["list"] / times["f-string"], ROWS_BOUND
    )


def _turns(works: Mapping[str, Callable[[], object]], rounds: int) -> dict[str, float]:
    times: dict[str, list[float]] = {name: [] for name in works}
    for number in range(rounds + 2):
        for name, work in works.items():
            start = process_time()
            work()
            if number > 1:
                times[name].append(process_time() - start)
    for name, each in times.items():
        print(f"  {median(each) * 1e3:7.2f} ms {name}")
    return {name: median(each) for name, each in times.items()}


def _context(one: Queue, address: str) -> dict[str, Any]:
    """Return the variables with which a page is rendered; what is asked for late is asked for already."""
    setup_test_environment()
    try:
        context = cast("Any", one.client.get(address)).context[0].flatten()
    finally:
        teardown_test_environment()  # it slows down what is timed
    return {name: value() if callable(value) else value for name, value in context.items()}


def _plain(row: Row) -> str:
    """Print a row as a person would who writes no template."""
    return (
        f'<li id="row-{row.id}" class="row"><a class="row__link" href="{escape(row.url)}" data-row="{row.id}">'
        f'<span class="sign sign--{row.sign.name}">{row.sign.icon}</span><span class="row__title">{row.sign.word}: '
        f'{escape(row.title)}</span><span class="row__age" title="{row.exact}">{row.age}</span><span class="row__meta">'
        f"{escape(row.path)} {escape(row.agent)} {row.store} {row.concern} {row.lines}</span></a>"
        f'<input type="checkbox" name="proposal" value="{row.id}" aria-label="{escape(row.title)}"></li>'
    )


def _address(one: Queue, wanted: Filter, where: str) -> str:
    """Return the address of a page; it has to show something."""
    one.use()
    address = wanted.url()
    if where == "middle":
        address = wanted.page_url(after=_middle(one, wanted)) or address
    if where == "last":
        address = wanted.page_url(at_end=True)
    if not _context(one, address)["list"].rows and wanted.q != "zanzibar":
        raise RuntimeError(f"{address} shows nothing")
    return address


def _middle(one: Queue, wanted: Filter) -> Place | None:
    """Return a place in the middle, as of a queue without a filter where a search finds little."""
    asked = wanted.asked
    order = ("created_at", "id") if asked.is_by_age else ("-risk", "-id")
    waiting = Proposal.objects.filter(is_open=True).order_by(*order)
    if asked.risk is not None and not asked.agent:
        return None
    return _reader().place_of(asked, waiting[one.count // 2])


def _reader() -> Reader:
    return Reader.of(User.objects.get(username="olga"))


def _queue(home: Path, count: int) -> Queue:
    """Open an installation, after making it where there is none."""
    queue, whole = Queue(home / "installation", Client(), count), home / "whole"
    if not whole.exists():
        shutil.rmtree(home, ignore_errors=True)
        queue.home.mkdir(parents=True)
        settings.HOME = queue.home
        connection.close()
        connection.settings_dict["NAME"] = str(queue.home / _DATABASE)
        _make(home / "memory", count)
        whole.touch()
    queue.use()
    queue.client.post("/sign-in", {"username": "olga", "password": PASSWORD})
    print(f"{count:,} that wait, database {(queue.home / _DATABASE).stat().st_size / 2**20:.0f} MiB", flush=True)
    return queue


def _make(folder: Path, count: int) -> None:
    """Make an installation in which so many proposals wait, and a tenth as many were rejected."""
    call_command("migrate", verbosity=0)
    owner = User.objects.create_user("olga", password=PASSWORD, is_superuser=True)
    User.objects.create_user("sam", password=PASSWORD)
    agents = [accounts.add_agent(f"agent-{number}", person=owner).agent for number in range(AGENTS)]
    stores = [_store(folder, name) for name in ("work", "home", "acme")]
    for store in stores:
        request = receive.Request(store.slug, (Edit("build.md", (Replacement("5432", "5433"),)),))
        receive.submit(request, agent=agents[0])
    _copy(stores, agents, count)


def _store(folder: Path, name: str) -> Store:
    root = folder / name
    root.mkdir(parents=True)
    (root / "build.md").write_text("# Build\n\nUse npm for everything.\nThe port is 5432.\n")
    return (adopt(root, name=name, scope=Scope.TEAM, team="acme") if name == "acme" else adopt(root, name=name)).store


def _copy(stores: Sequence[Store], agents: Sequence[Agent], count: int) -> None:
    """Copy the first proposal; what a copy is follows from the remainders of its number.

    Each filter fills its pages with a thousand already: what a row costs is the same in both.
    """
    total = count * 11 // 10
    own = {
        "state": "CASE WHEN i % 11 = 0 THEN 'rejected' WHEN i % 7 = 1 THEN 'quarantined' "
        "WHEN i % 5 = 1 THEN 'changes_requested' ELSE 'pending' END",
        "failure": "CASE WHEN i % 3 = 1 THEN 'The disk was full.' ELSE '' END",
        "store_id": _choice("i", [store.pk for store in stores]),
        "agent_id": _choice("i / 3", [agent.pk for agent in agents]),
        "lead_kind": _choice("i / 60", [f"'{kind}'" for kind in GRAVITY]),
        "risk": "(i * 7) % 61",
        "created_at": f"datetime('now', '-' || (({total} - i) * {_DAYS * 1440} / {total}) || ' minutes') || '.000000'",
        "title": f"'Change port ' || i || CASE WHEN i > {total - 3} THEN ' of zanzibar' ELSE '' END",
        "fingerprint": "'copy-' || i",
        "searched": "CASE WHEN i % 11 = 0 THEN 0 ELSE version END",
    }
    heads = {one.store_id: one.base for one in Revision.objects.annotate(store_id=F("proposal__store_id"))}
    with connection.cursor() as cursor, _without_indexes(cursor):
        cursor.execute("PRAGMA synchronous = OFF")
        _insert(cursor, Proposal, own, total)
        base = _choice("i", [f"'{heads[store.pk]}'" for store in stores])
        first = Proposal.objects.order_by("pk")[len(stores)].pk
        _insert(cursor, Revision, {"proposal_id": f"{first - 1} + i", "base": base, "submitted_base": base}, total)
        _read_for_search(cursor, stores)


def _read_for_search(cursor: CursorWrapper, stores: Sequence[Store]) -> None:
    """Let the copies be searched as the first proposals are, each by its own title, with their index made at once."""
    queue_search.bring_up()
    known = {
        one.proposal.store_id: one.text.split("\n", 2) for one in SearchedProposal.objects.select_related("proposal")
    }
    cursor.execute(
        "SELECT name, sql FROM sqlite_master WHERE type = 'trigger' AND tbl_name = 'review_searchedproposal'"
    )
    triggers = cursor.fetchall()
    for name, _ in triggers:
        cursor.execute(f'DROP TRIGGER "{name}"')
    for store in stores:
        sign, _, rest = known[store.pk]
        cursor.execute(
            "INSERT INTO review_searchedproposal (place, proposal_id, text) "
            "SELECT (risk << 40) | id, id, %s || char(10) || lower(title) || char(10) || %s FROM review_proposal "
            "WHERE store_id = %s AND searched AND id NOT IN (SELECT proposal_id FROM review_searchedproposal)",
            [sign, rest, store.pk],
        )
    queue_search.forget_trigrams()
    for _, sql in triggers:
        cursor.execute(sql)


def _insert(cursor: CursorWrapper, model: type[Model], own: Mapping[str, str], total: int) -> None:
    """Insert copies of the first row; `own` are columns that each copy has for itself, made of its number `i`."""
    fields = [field for field in model._meta.concrete_fields if not field.generated and not field.primary_key]
    columns = [str(field.column) for field in fields]
    cursor.execute(
        f"WITH RECURSIVE numbers(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM numbers WHERE i < {total}) "
        f"INSERT INTO {model._meta.db_table} ({', '.join(columns)}) "
        f"SELECT {', '.join(own.get(column, column) for column in columns)} FROM numbers, {model._meta.db_table} "
        f"WHERE id = (SELECT MIN(id) FROM {model._meta.db_table})"
    )


@contextmanager
def _without_indexes(cursor: CursorWrapper) -> Iterator[None]:
    """Make the indexes after the rows: one by one they take minutes."""
    tables = (Proposal._meta.db_table, Revision._meta.db_table)
    cursor.execute(
        "SELECT name, sql FROM sqlite_master WHERE type = 'index' AND sql != '' AND tbl_name IN (%s, %s)", tables
    )
    indexes = cursor.fetchall()
    for name, _ in indexes:
        cursor.execute(f'DROP INDEX "{name}"')
    yield
    for _, sql in indexes:
        cursor.execute(sql)


def _choice(number: str, values: Sequence[object]) -> str:
    cases = " ".join(f"WHEN {at} THEN {value}" for at, value in enumerate(values))
    return f"CASE ({number}) % {len(values)} {cases} END"
