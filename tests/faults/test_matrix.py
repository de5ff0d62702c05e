"""Every operation, broken at every durable step: afterwards there is one truth, and nothing is lost or done twice."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path

import pytest

import memoryreview
from memoryreview.baseline import steps

from . import points
from .lab import Experiment, Lab
from .scenarios import SCENARIOS
from .tripwire import applies

SHARE = 100
"""Of the points beside the announced steps one in so many is tried here; `python -m tests.bench faults` tries all."""


@pytest.mark.parametrize("scenario", SCENARIOS)
def test_nothing_is_lost_whatever_goes_wrong(
    lab: Lab, scenario: str, record_property: Callable[[str, object], None]
) -> None:
    clean = lab.run(Experiment(scenario))
    assert (clean.faults, clean.error) == ((), "")
    tally = points.Tally()

    points.run(lab, points.share(SCENARIOS[scenario], clean, of=SHARE), tally)

    record_property("figures", f"faults, {scenario}: {tally}")
    assert tally.broken == []
    assert tally.struck["kill"] >= 1


ELSEWHERE = re.compile(r"(packs|graph|objects|anew)\..*")
"""Steps of operations that are no scenario here: their own tests kill them."""


def test_every_step_that_the_product_announces_is_listed_and_struck(lab: Lab) -> None:
    package = Path(memoryreview.__file__).parent
    announced = {
        found
        for path in package.rglob("*.py")
        for found in re.findall(r"""on_step\("([a-z_]+\.[a-z_]+)"\)""", path.read_text())
    }
    reached = {event for name in SCENARIOS for event in lab.run(Experiment(name)).events if event.startswith("step.")}

    assert [name for name in announced if f"`{name}`" not in str(steps.__doc__)] == []
    assert {f"step.{name}" for name in announced if not ELSEWHERE.fullmatch(name)} == reached


@pytest.mark.parametrize("folders", [0, 1, 3])
def test_an_address_stays_however_many_folders_are_made(folders: int) -> None:
    events = [*["os.mkdir"] * folders, "step.ref.moved", "os.fsync", "os.fsync", "step.ref.moved", "os.fsync"]

    assert [where for _, where in points.addresses(events)][-3:] == [
        "step.ref.moved 1 > os.fsync 2",
        "step.ref.moved 2",
        "step.ref.moved 2 > os.fsync 1",
    ]


@pytest.mark.parametrize(
    ("what", "event"),
    [
        ("kill", "step.ref.moved"),
        ("torn", "os.write"),
        ("EIO", "os.read"),
        ("full", "sql.INSERT"),
        ("raise", "sql.COMMIT"),
    ],
)
def test_faults_strike_where_they_can_come(what: str, event: str) -> None:
    assert applies(what, event)
    assert not applies(what, "sql.SELECT" if what != "full" else "os.write")
