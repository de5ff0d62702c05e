"""`memoryreview demo`: the real server in a throw-away data folder, with sample stores and agents that use its API."""

from __future__ import annotations

import argparse
import json
import os
import secrets
import shutil
import signal
import string
import sys
import tempfile
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from types import FrameType
from typing import TYPE_CHECKING, Any

from . import serve
from .connect.client import Client, ProblemError
from .connect.console import DONE, run, say
from .connect.console import gettext_noop as _
from .core.errors import MemoryReviewError
from .core.model import FormatName, Scope
from .core.snooze import Snooze

if TYPE_CHECKING:
    from django.contrib.auth.models import User

    from .review.models import Store

PACKAGE = Path(__file__).resolve().parent
HOST = "127.0.0.1"
STOPPING = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
ASK_AGAIN_S = 0.5  # Python swallows what a signal raises inside a finalizer, so it is raised until somebody hears it
AGENTS = ("claude-code", "codex-nightly", "hermes")
TEAM_STORE = "acme-team"
STORES = {
    "acme-web": FormatName.CLAUDE,
    "hermes-home": FormatName.HERMES,
    "ledger": FormatName.CODEX,
    TEAM_STORE: FormatName.CLAUDE,
}


class DemoError(MemoryReviewError):
    """The demo cannot start."""


def command(argv: Sequence[str]) -> int:
    """Run `demo` until Ctrl-C or SIGTERM; nothing is left behind. Returns the exit code.

    Call before Django loads: the demo never opens the data folder, database or broker that the environment names.
    """
    return run(parser(), argv, _demo)


def parser() -> argparse.ArgumentParser:
    made = argparse.ArgumentParser(
        prog="memoryreview demo", description="Try memoryreview on sample memory, in a folder that is thrown away."
    )
    made.add_argument("--port", type=int, default=8765, help=_("port of the pages (default: 8765)"))
    made.add_argument("--no-open", action="store_true", help=_("do not open a browser"))
    return made


def _demo(options: argparse.Namespace) -> int:
    serve.check_address(HOST, options.port)
    if shutil.which("git") is None:
        raise DemoError("git is not installed. Nothing was started; install it (Debian: apt-get install git).")
    with _stage(options.port) as server:
        address = _start(server)
        if not options.no_open:
            serve.open_browser(address, say)
        server.wait()
    say("Stopped. The sample folders are gone.")
    return DONE


@contextmanager
def _stage(port: int) -> Iterator[serve.Server]:
    """Make a folder of mode 0700 with a server for it. However it ends, stop the server and remove the folder."""

    def interrupt(signum: int, frame: FrameType | None) -> None:
        signal.setitimer(signal.ITIMER_REAL, ASK_AGAIN_S)
        raise KeyboardInterrupt

    previous = {number: signal.signal(number, interrupt) for number in (*STOPPING, signal.SIGALRM)}
    folder = Path(tempfile.mkdtemp(prefix="memoryreview-demo-")).resolve()
    server = serve.Server(host=HOST, port=port, home=folder / "data")
    try:
        yield server
    except KeyboardInterrupt:
        pass  # asked to stop, however early
    except serve.ServeError as error:
        raise DemoError(f"The demo's web server failed. {_last_line(server.home / 'web.log')}") from error
    finally:
        for number in previous:
            signal.signal(number, signal.SIG_IGN)  # an impatient second Ctrl-C must not leave half of it
        signal.setitimer(signal.ITIMER_REAL, 0)
        server.stop()
        shutil.rmtree(folder, ignore_errors=True)
        for number, handler in previous.items():
            signal.signal(number, handler)


def _last_line(log: Path) -> str:
    """Return how a log ends: it goes with the folder, so pointing at it would not help."""
    lines = log.read_text("utf-8", "replace").strip().splitlines() if log.exists() else []
    return f"Its log ends with: {lines[-1]}" if lines else "Its log is empty."


def _start(server: serve.Server) -> str:
    """Fill the folders, start the server, let everybody act. Returns the address to open."""
    samples = _samples()
    script = json.loads(_with_fake_key((samples / "proposals.json").read_text("utf-8")))
    memory = server.home.parent / "memory"  # beside the data folder: adopting refuses a folder inside it
    _copy(samples / "stores", memory)
    _load_django(server)
    cast = _cast(memory)
    server.start()
    sent = _propose(server.url, script["proposals"], cast)
    _write_directly(script["direct_writes"], cast)
    for number, decision in ((one.number, decision) for one in sent for decision in one.decisions):
        if number is not None:
            _decide(number, decision, cast)
    for one in sent:
        if one.again is not None:
            Client(server.url, cast.tokens[one.agent]).call("PUT", f"proposals/{one.number}", one.again)
    _start_schedules()
    _greet(server, memory, cast, sent)
    return f"{server.url}/"


def _start_schedules() -> None:
    from .review.schedule import ensure_schedules

    ensure_schedules()


def _samples() -> Path:
    """Return the folder of samples, which lies beside the package in a checkout and inside it in a wheel."""
    inside = PACKAGE / "fixtures" / "demo"
    return inside if inside.is_dir() else PACKAGE.parent / "fixtures" / "demo"


def _copy(source: Path, target: Path) -> None:
    """Copy the bytes alone: a package may be installed read-only, and its modes are no use here."""
    for path in source.rglob("*.md"):
        copied = target / path.relative_to(source)
        copied.parent.mkdir(parents=True, exist_ok=True)
        copied.write_bytes(path.read_bytes())


def _with_fake_key(text: str) -> str:
    """Put a cloud key that never existed where the samples want one: no file may hold even a fake one."""
    body = "".join(secrets.SystemRandom().sample(string.ascii_uppercase.replace("X", "") + "234567", 16))
    return text.replace("{fake cloud key}", "AK" + "IA" + body)


def _load_django(server: serve.Server) -> None:
    server.home.mkdir(mode=0o700)
    for name in [name for name in os.environ if name.startswith("MEMORYREVIEW_")]:
        del os.environ[name]  # a real database or broker named there is not ours to fill
    os.environ["MEMORYREVIEW_HOME"] = str(server.home)
    os.environ["MEMORYREVIEW_PUBLIC_URL"] = server.url
    os.environ["DJANGO_SETTINGS_MODULE"] = "memoryreview.settings"
    import django

    django.setup()
    from .review.management.base import migrate

    migrate()


@dataclass(frozen=True, slots=True)
class Cast:
    """Who and what takes part. `heads` are the first commits of the stores, which agents name as their base."""

    people: Mapping[str, User]
    password: str
    stores: Mapping[str, Store]
    heads: Mapping[str, str]
    tokens: Mapping[str, str]


def _cast(memory: Path) -> Cast:
    """Make the owner first, so that what is adopted is hers, then the stores, a second maintainer, and the agents."""
    from .review.models import Role
    from .review.operations import accounts
    from .review.operations.adopt import adopt

    alphabet = "abcdefghjkmnpqrstuvwxyz23456789"
    password = "-".join("".join(secrets.choice(alphabet) for _ in range(4)) for _ in range(4))
    people = {"ana": _account(accounts.owner_link(), "ana", password)}
    stores, heads = {}, {}
    for slug, form in STORES.items():
        scope = Scope.TEAM if slug == TEAM_STORE else Scope.PRIVATE
        adopted = adopt(memory / slug, name=slug, format=form, scope=scope, team="acme")
        stores[slug], heads[slug] = adopted.store, adopted.head
    team = stores[TEAM_STORE].team
    if team is None:
        raise DemoError("The team store was adopted without a team.")
    people["ben"] = _account(accounts.invite(team, role=Role.MAINTAINER, by=people["ana"]), "ben", password)
    tokens = {name: accounts.add_agent(name, person=people["ana"]).token for name in AGENTS}
    return Cast(people, password, stores, heads, tokens)


def _account(address: str | None, username: str, password: str) -> User:
    """Use a one-time link as a browser would."""
    from .review.operations import accounts

    link = accounts.find_link((address or "").rpartition("/")[2])
    if link is None:
        raise DemoError(f"The one-time link for “{username}” does not work.")
    return accounts.create_account(link, username=username, password=password)


@dataclass(frozen=True, slots=True)
class Sent:
    """One attempt of an agent and what the server answered. `number` is None when nothing was stored for it.

    `again` is what the agent sends when it was asked for changes, None for an agent that does not answer.
    """

    agent: str
    outcome: str
    number: int | None
    decisions: Sequence[Mapping[str, str]]
    again: Mapping[str, Any] | None


def _propose(url: str, attempts: Sequence[Mapping[str, Any]], cast: Cast) -> list[Sent]:
    sent = []
    for attempt in attempts:
        client = Client(url, cast.tokens[attempt["agent"]])
        request = dict(attempt["request"])
        if request.get("base") == "{head}":
            request["base"] = cast.heads[request["store"]]
        try:
            answer = client.propose(request)
        except ProblemError as refusal:
            outcome, number = refusal.problem, None
        else:
            outcome, number = "duplicate" if answer.get("duplicate_of") else answer["state"], answer["id"]
        sent.append(Sent(attempt["agent"], outcome, number, attempt.get("decisions", ()), attempt.get("again")))
    return sent


def _write_directly(writes: Sequence[Mapping[str, Any]], cast: Cast) -> None:
    """Write to memory folders as an agent does that knows nothing of us, and capture that."""
    from .review.operations.capture import capture

    for write in writes:
        store = cast.stores[write["store"]]
        for document in write["documents"]:
            path = Path(store.root) / document["path"]
            before = path.read_bytes() if path.exists() else b""
            path.write_bytes(before.replace(document["old"].encode(), document["new"].encode(), 1))
        capture(store)


def _decide(number: int, decision: Mapping[str, str], cast: Cast) -> None:
    """Decide as a person of the cast does in the browser, so that history has something to show."""
    from .review.models import Change, ChangeKind
    from .review.operations import decide, rollback, snooze
    from .review.operations.standing import standing
    from .review.operations.stores import reading

    proposal = decide.fetch(number)
    person, note = cast.people[decision["person"]], decision["note"]
    match decision["verb"]:
        case "approve":
            with reading(proposal.store) as repository:
                shown = standing(proposal.revision, repository).shown
            decide.approve(number, person=person, version=proposal.version, shown=shown, note=note)
        case "reject":
            decide.reject(number, person=person, version=proposal.version, reason=decision["reason"], note=note)
        case "ask":
            decide.ask_for_changes(number, person=person, version=proposal.version, note=note)
        case "snooze":
            chosen = Snooze(decision["until"])
            snooze.snooze(number, person=person, version=proposal.version, chosen=chosen, note=note)
        case "rollback":
            change = Change.objects.filter(proposal=proposal, kind=ChangeKind.APPROVED).latest("pk")
            rollback.roll_back(change, person=person, note=note)
        case verb:
            raise DemoError(f"The samples name a decision “{verb}” that nobody can take.")


def _greet(server: serve.Server, memory: Path, cast: Cast, sent: Sequence[Sent]) -> None:
    from .review.models import Proposal

    outcomes = Counter(one.outcome for one in sent)
    story = (
        f"{len(AGENTS)} agents sent {len(sent)} proposals: {outcomes['applied']} applied by proof, "
        f"{outcomes['duplicate']} counted as a repeat, {outcomes['secret-detected']} refused for the key in it. "
        f"{Proposal.objects.waiting().count()} wait, with what was written to disk without asking."
    )
    for line in (
        f"memoryreview demo is up: {server.url}/",
        f"Sign in as “ana” or as “ben”, both with the password {cast.password}",
        story,
        f"Memory folders: {memory}",
        f"Data folder: {server.home}",
        "Try:",
        "  1. As ana, clear the queue by keys: j and k move, a approves, r rejects, e edits, u undoes, ? shows all.",
        "  2. As ana, approve a promotion to acme-team: her own agent asked for it, so only ben may.",
        f"  3. Change a note in {memory / 'acme-web'}: it stands in the queue a moment later.",
        "Both folders are removed at the end. Stop with Ctrl-C.",
    ):
        say(line)
    sys.stdout.flush()
