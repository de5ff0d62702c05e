"""People, agents and stores that most tests need: an owner, a second maintainer, a stranger, and an agent."""

from __future__ import annotations

import gc
import os
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.db.backends.signals import connection_created
from django.test import Client
from hypothesis import HealthCheck, settings

from memoryreview.core.edits import Edit, Operation, Replacement
from memoryreview.review.models import Agent, Membership, Proposal, Role, Store
from memoryreview.review.operations import accounts, receive
from memoryreview.review.operations.adopt import adopt
from memoryreview.review.operations.proposals import Submission

from . import schedule, template

# How fast a machine is proves nothing, so no property is timed.
settings.register_profile("untimed", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("untimed")

PASSWORD = "correct horse battery"

MakeStore = Callable[..., Store]
Propose = Callable[..., Proposal]


def pytest_terminal_summary(terminalreporter: Any) -> None:
    """Print the figures that tests recorded, such as how many faults were tried."""
    reports = [report for kind in ("passed", "failed") for report in terminalreporter.stats.get(kind, [])]
    figures = sorted({str(value) for report in reports for name, value in report.user_properties if name == "figures"})
    if figures:
        terminalreporter.section("figures")
        for line in figures:
            terminalreporter.write_line(line)


def pytest_configure() -> None:
    template.share()


@pytest.hookimpl(trylast=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    items.sort(key=schedule.in_order)


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(config: pytest.Config, log: Any) -> schedule.Scheduling:
    return schedule.Scheduling(config, log)


def pytest_collection_finish() -> None:
    """Nothing that was imported or collected is garbage: let the collector not look at it again and again, and look
    less often: what a page leaves behind is mostly gone without it."""
    gc.collect()
    gc.freeze()
    gc.set_threshold(50_000, 20, 20)


@pytest.fixture(autouse=True)
def umask() -> Iterator[None]:
    """Give new files the usual modes, whatever started the tests or ran before: `cli.main` narrows them for good."""
    before = os.umask(0o022)
    yield
    os.umask(before)


@pytest.fixture(scope="session")
def django_db_modify_db_settings(django_db_modify_db_settings_parallel_suffix: None) -> None:
    """Take the tables of the databases in memory from the template, before pytest-django brings them up to date."""
    connection_created.connect(template.fill)


@pytest.fixture
def owner(db: None) -> User:
    return User.objects.create_user("olga", password=PASSWORD, is_superuser=True)


@pytest.fixture
def second(owner: User) -> User:
    return User.objects.create_user("sam", password=PASSWORD)


@pytest.fixture
def stranger(owner: User) -> User:
    return User.objects.create_user("stella", password=PASSWORD)


@pytest.fixture
def owner_client(owner: User) -> Client:
    """A browser in which the owner signed in just now, password and all."""
    client = Client()
    client.post("/sign-in", {"username": owner.username, "password": PASSWORD})
    return client


@pytest.fixture
def make_store(owner: User, tmp_path: Path) -> MakeStore:
    """Write files into a folder and adopt it. `team=True` makes a team store with the owner as maintainer."""

    def make(files: Mapping[str, str | bytes], *, name: str = "notes", team: bool = False, **options: Any) -> Store:
        root = tmp_path / "memory" / name
        for path, content in files.items():
            (root / path).parent.mkdir(parents=True, exist_ok=True)
            (root / path).write_bytes(content if isinstance(content, bytes) else content.encode())
        root.mkdir(parents=True, exist_ok=True)
        if team:
            options |= {"scope": "team", "team": "acme"}
        return adopt(root, name=name, **options).store

    return make


@pytest.fixture
def join(second: User) -> Callable[..., Membership]:
    """Make a person a maintainer (or member) of a store's team."""

    def add(store: Store, person: User, role: Role = Role.MAINTAINER) -> Membership:
        assert store.team is not None
        return Membership.objects.create(team=store.team, person=person, role=role)

    return add


@pytest.fixture
def agent(owner: User) -> Agent:
    return accounts.add_agent("claude", person=owner).agent


@pytest.fixture
def propose(agent: Agent) -> Propose:
    """Submit operations as the agent and return the stored proposal."""

    def submit(
        store: Store, *operations: Operation | receive.Promote, by: Agent | None = None, **options: Any
    ) -> Proposal:
        submission = Submission(**{key: options.pop(key) for key in list(options) if key != "base"})
        request = receive.Request(store.slug, operations, base=options.get("base"), submission=submission)
        proposal = receive.submit(request, agent=by or agent).proposal
        assert proposal is not None, "the request changes nothing"
        return Proposal.objects.get(pk=proposal.pk)

    return submit


def replaced(path: str, old: str, new: str) -> Edit:
    """An edit that replaces one passage."""
    return Edit(path=path, edits=(Replacement(old, new),))


def on_disk(store: Store, path: str) -> bytes:
    return (Path(store.root) / path).read_bytes()
