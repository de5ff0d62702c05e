from __future__ import annotations

from pathlib import Path

import pytest

from memoryreview import zone


@pytest.fixture(autouse=True)
def no_variables(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    for name in (zone.VARIABLE, "TZ"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setattr(zone, "_LINK", tmp_path / "localtime")
    monkeypatch.setattr(zone, "_NAME", tmp_path / "timezone")


def test_zone_is_handed_down_past_the_one_that_django_sets(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TZ", "Asia/Tokyo")
    assert zone.machine_zone() == "Asia/Tokyo"

    monkeypatch.setenv("TZ", "UTC")
    assert zone.machine_zone() == "Asia/Tokyo"


def test_zone_is_that_of_the_system(tmp_path: Path) -> None:
    folder = tmp_path / "zoneinfo" / "Europe"
    folder.mkdir(parents=True)
    (folder / "Berlin").touch()
    (tmp_path / "localtime").symlink_to(folder / "Berlin")

    assert zone.machine_zone() == "Europe/Berlin"


@pytest.mark.parametrize("stated", ["", "CET-1CEST", "Nowhere/Nothing", "../../etc"])
def test_zone_without_a_name_falls_back(monkeypatch: pytest.MonkeyPatch, tmp_path: Path, stated: str) -> None:
    monkeypatch.setenv("TZ", stated)
    (tmp_path / "timezone").write_text("Europe/Paris\n")

    assert zone.machine_zone() == "Europe/Paris"


def test_zone_is_utc_when_nothing_says_more() -> None:
    assert zone.machine_zone() == "UTC"


def test_unknown_zone_stops_the_start(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(zone.VARIABLE, "Mars/Olympus")

    with pytest.raises(ValueError, match="Europe/Berlin, not “Mars/Olympus”"):
        zone.machine_zone()
