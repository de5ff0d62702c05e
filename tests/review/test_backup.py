"""A backup through the command line, on another data folder: everything is there, and nothing hostile gets in."""

from __future__ import annotations

import hashlib
import json
import os
import shutil
import sqlite3
import stat
import subprocess
import sys
import zipfile
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

import pytest

from tests.baseline.git_checks import ROOT, assert_clean
from tests.template import migrated

pytestmark = pytest.mark.xdist_group("backup")  # they share what takes long to start


@pytest.fixture(scope="module")
def machine(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A data folder with two stores, a waiting write and a packed baseline, and a backup of it."""
    base = tmp_path_factory.mktemp("machine")
    for name in ("notes", "codex"):
        (base / name).mkdir()
        (base / name / "a.md").write_bytes(b"- A fact.\r\n- Ports are 5432.\n")
    (base / "notes" / "q&a.md").write_bytes(b"\xef\xbb\xbfmark\n")
    migrated(base / "home")
    memoryreview(base, "adopt", str(base / "notes"))
    memoryreview(base, "adopt", str(base / "codex"))
    (base / "notes" / "a.md").write_bytes(b"- A fact.\r\n- Ports are 5432.\n- It waits.\n")
    memoryreview(base, "capture")
    baseline = next((base / "home/baselines").iterdir())
    subprocess.run(["git", f"--git-dir={baseline}", "repack", "-adq"], check=True)
    done = memoryreview(base, "backup", str(base / "out.zip"), "--json")
    told = json.loads(done.stdout)
    assert (told["path"], told["stores"], told["left_out"]) == (str(base / "out.zip"), 2, [])
    return base


def memoryreview(base: Path, *arguments: str, home: str = "home", code: int = 0) -> subprocess.CompletedProcess[str]:
    own = {name: value for name, value in os.environ.items() if name != "DJANGO_SETTINGS_MODULE"}
    environment = {**own, "MEMORYREVIEW_HOME": str(base / home)}
    done = subprocess.run(
        [sys.executable, "-m", "memoryreview", *arguments],
        capture_output=True,
        text=True,
        cwd=ROOT,
        env=environment,
        check=False,
    )
    assert done.returncode == code, (done.stdout, done.stderr)
    assert "Traceback" not in done.stderr
    return done


def test_backup_is_for_its_owner_alone_and_never_takes_the_place_of_a_file(machine: Path) -> None:
    backup = machine / "out.zip"
    assert stat.S_IMODE(backup.stat().st_mode) == 0o600
    before = backup.read_bytes()
    assert "exists already" in memoryreview(machine, "backup", str(backup), code=1).stderr
    assert backup.read_bytes() == before
    assert "agents read" in memoryreview(machine, "backup", str(machine / "notes" / "b.zip"), code=1).stderr
    assert sorted(path.name for path in machine.glob(".mr-*")) == []
    rows = sqlite3.connect(machine / "home/memoryreview.sqlite3").execute("SELECT path FROM review_backup").fetchall()
    assert rows == [(str(backup),)]


def test_restored_data_folder_has_everything_and_verifies(machine: Path, tmp_path: Path) -> None:
    arguments = ("--root", f"notes={tmp_path / 'notes'}", "--root", f"codex={tmp_path / 'codex'}")
    done = memoryreview(tmp_path, "restore-backup", str(machine / "out.zip"), *arguments, home="new")
    assert "Everything holds" in done.stdout
    assert (tmp_path / "notes/a.md").read_bytes() == (machine / "notes/a.md").read_bytes()
    assert (tmp_path / "notes/q&a.md").read_bytes() == b"\xef\xbb\xbfmark\n"
    assert json.loads(memoryreview(tmp_path, "verify", "--json", home="new").stdout) == {"ok": True, "faults": []}
    (waiting,) = json.loads(memoryreview(tmp_path, "queue", "--json", home="new").stdout)
    assert waiting["title"] == "Add “It waits.”"
    assert json.loads(memoryreview(tmp_path, "capture", "--json", home="new").stdout) == {"proposals": []}
    assert len(json.loads(memoryreview(tmp_path, "queue", "--json", home="new").stdout)) == 1
    for name in ("secret.key", "decision.key"):
        assert (tmp_path / "new" / name).read_text() == (machine / "home" / name).read_text()
    for baseline in (tmp_path / "new/baselines").iterdir():
        assert_clean(baseline)
    assert {path for path in (tmp_path / "new").rglob("*") if path.stat().st_mode & 0o077} == set()


TELL = """
    INSERT INTO auth_user (id, username, password, is_superuser, is_staff, is_active, date_joined, first_name,
        last_name, email) VALUES (7, 'olga', '!', 1, 0, 1, '2026-01-01', '', '', '');
    INSERT INTO review_endpoint (person_id, writes_file, url, secret)
        VALUES (7, 1, 'https://hooks.acme.example/x', 's');
    INSERT INTO review_message (id, person_id, event, body, created_at, attempts, due_at, fault)
        VALUES ('00000000000000000000000000000001', 7, 'digest.ready', '{}', '2026-01-01', 0, '2026-01-01', '');
"""


def test_nothing_is_sent_from_a_restored_data_folder_until_a_person_says_so(machine: Path, tmp_path: Path) -> None:
    def send_from_there(members: dict[str, bytes], manifest: dict[str, object]) -> None:
        members["memoryreview.sqlite3"] = content = sending.read_bytes()
        listed = manifest["members"]
        assert isinstance(listed, dict)
        listed["memoryreview.sqlite3"] = {"size": len(content), "sha256": hashlib.sha256(content).hexdigest()}

    sending = tmp_path / "sending.sqlite3"
    with zipfile.ZipFile(machine / "out.zip") as archive:
        sending.write_bytes(archive.read("memoryreview.sqlite3"))
    with closing(sqlite3.connect(sending)) as database:
        database.execute("UPDATE review_store SET push_to = '/mnt/copy.git', pushed = 'x' WHERE slug = 'notes'")
        database.executescript(TELL)
    backup = rewritten(machine / "out.zip", tmp_path / "sending.zip", send_from_there)

    arguments = ("--root", f"notes={tmp_path / 'notes'}", "--root", f"codex={tmp_path / 'codex'}")
    done = memoryreview(tmp_path, "restore-backup", str(backup), *arguments, home="new")

    assert "notes: A backup was restored, so nothing is pushed to “/mnt/copy.git” any more." in done.stderr
    assert "codex: A backup" not in done.stderr
    assert "so no webhook tells “https://hooks.acme.example/x” anything any more." in done.stderr
    with closing(sqlite3.connect(tmp_path / "new/memoryreview.sqlite3")) as database:
        stores = database.execute("SELECT slug, push_to, pushed, push_fault <> '' FROM review_store ORDER BY slug")
        assert stores.fetchall() == [("codex", "", "", 0), ("notes", "", "", 1)]
        told = database.execute("SELECT note FROM review_decision WHERE note LIKE 'A backup was restored%'").fetchall()
        assert len(told) == 1
        assert database.execute("SELECT url, secret FROM review_endpoint").fetchall() == [("", "")]
        messages = database.execute("SELECT event, due_at, fault FROM review_message").fetchall()
        assert messages == [("digest.ready", None, "A backup was restored before this was sent.")]


def test_folders_that_are_not_on_this_machine_are_named_and_the_rest_is_there(machine: Path, tmp_path: Path) -> None:
    moved = tmp_path / "moved"
    shutil.copytree(machine, moved, ignore=shutil.ignore_patterns("home"))
    with zipfile.ZipFile(machine / "out.zip") as archive:
        manifest = json.loads(archive.read("manifest.json"))
    assert {store["root"] for store in manifest["stores"]} == {str(machine / "notes"), str(machine / "codex")}
    away = machine.with_name("away")
    machine.rename(away)
    try:
        done = memoryreview(tmp_path, "restore-backup", str(moved / "out.zip"), home="new")
        assert done.stderr.count("is not on this machine") == 2
        assert len(json.loads(memoryreview(tmp_path, "history", "--json", home="new").stdout)) == 2
        told = json.loads(memoryreview(tmp_path, "verify", "--json", home="new", code=1).stdout)
        assert {fault["kind"] for fault in told["faults"]} == {"folder"}
    finally:
        away.rename(machine)


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (("--root", "notes"), "STORE=FOLDER"),
        (("--root", "nobody=/tmp/x"), "no store “nobody”"),
    ],
)
def test_wrong_arguments_change_nothing(
    machine: Path, tmp_path: Path, arguments: tuple[str, ...], sentence: str
) -> None:
    done = memoryreview(tmp_path, "restore-backup", str(machine / "out.zip"), *arguments, home="new", code=1)
    assert sentence in done.stderr
    assert list(tmp_path.iterdir()) == []


def test_a_data_folder_in_use_is_never_overwritten(machine: Path, tmp_path: Path) -> None:
    (tmp_path / "new").mkdir()
    (tmp_path / "new" / "mine").write_text("mine")
    assert "not empty" in memoryreview(tmp_path, "restore-backup", str(machine / "out.zip"), home="new", code=1).stderr
    assert [path.name for path in tmp_path.rglob("*")] == ["new", "mine"]


def rewritten(source: Path, target: Path, change: Callable[[dict[str, bytes], dict[str, object]], None]) -> Path:
    """Copy a backup with other members or another manifest."""
    with zipfile.ZipFile(source) as archive:
        members = {name: archive.read(name) for name in archive.namelist() if name != "manifest.json"}
        manifest = json.loads(archive.read("manifest.json"))
    change(members, manifest)
    with zipfile.ZipFile(target, "w") as archive:
        for name, content in members.items():
            archive.writestr(name, content)
        archive.writestr("manifest.json", json.dumps(manifest))
    return target


def _named(name: str) -> Callable[[dict[str, bytes], dict[str, object]], None]:
    def change(members: dict[str, bytes], manifest: dict[str, object]) -> None:
        members[name] = b"x"
        listed = manifest["members"]
        assert isinstance(listed, dict)
        listed[name] = {"size": 1, "sha256": "2d711642b726b04401627ca9fbac32f5c8530fb1903cc4db02258717921a4881"}

    return change


def _changed_byte(members: dict[str, bytes], manifest: dict[str, object]) -> None:
    content = bytearray(members["memoryreview.sqlite3"])
    content[5000] ^= 1
    members["memoryreview.sqlite3"] = bytes(content)


def _longer(members: dict[str, bytes], manifest: dict[str, object]) -> None:
    members["memoryreview.sqlite3"] += bytes(300_000_000)


def _lost(members: dict[str, bytes], manifest: dict[str, object]) -> None:
    del members["secret.key"]


def _newer(members: dict[str, bytes], manifest: dict[str, object]) -> None:
    listed = manifest["migrations"]
    assert isinstance(listed, list)
    listed.append("9999_of_the_future")


def _newer_format(members: dict[str, bytes], manifest: dict[str, object]) -> None:
    manifest["format"] = 2


@pytest.mark.parametrize(
    ("change", "sentence"),
    [
        (_named("../escaped"), "which no backup does"),
        (_named("/etc/escaped"), "which no backup does"),
        (_named("baselines/../../x.git/objects/aa/" + "a" * 38), "which no backup does"),
        (_named("settings.py"), "which no backup does"),
        (_named("baselines/00000000-0000-0000-0000-000000000000.git/config"), "which no backup does"),
        (_named("baselines/00000000-0000-0000-0000-000000000000.git/head"), "names no head"),
        (_changed_byte, "is not what the manifest says"),
        (_longer, "is not what the manifest says"),
        (_lost, "does not hold the members"),
        (_newer, "made by a newer memoryreview"),
        (_newer_format, "made by a newer memoryreview"),
    ],
)
def test_a_hostile_or_damaged_backup_is_refused_and_leaves_nothing(
    machine: Path,
    tmp_path: Path,
    change: Callable[[dict[str, bytes], dict[str, object]], None],
    sentence: str,
) -> None:
    hostile = rewritten(machine / "out.zip", tmp_path / "hostile.zip", change)
    done = memoryreview(tmp_path, "restore-backup", str(hostile), home="new", code=1)
    assert sentence in done.stderr
    assert [path.name for path in tmp_path.iterdir()] == ["hostile.zip"]


def _manifest_of(text: str) -> Callable[[Path], None]:
    def write(target: Path) -> None:
        with zipfile.ZipFile(target, "w") as archive:
            archive.writestr("manifest.json", text)

    return write


def _with_flag(offset: int, value: int) -> Callable[[Path], None]:
    """Say in both headers of a manifest that it is encrypted, or packed in a way that nobody knows."""

    def write(target: Path) -> None:
        _manifest_of('{"format": 1, "members": {}}')(target)
        content = bytearray(target.read_bytes())
        content[content.index(b"PK\x03\x04") + offset - 2] = value
        content[content.index(b"PK\x01\x02") + offset] = value
        target.write_bytes(content)

    return write


@pytest.mark.parametrize(
    "write",
    [
        _manifest_of('{"format": 1, "members": {"secret.key": {"size": 1e999, "sha256": ""}}}'),
        _manifest_of("[" * 200_000),
        _manifest_of('{"format": 1, "members": {"secret.key": {"size": 1, "sha256": ""}'),
        _manifest_of('{"format": 2, "members": {}, "memoryreview": "\\u001b[31m"}'),
        _with_flag(8, 1),
        _with_flag(10, 99),
        _with_flag(10, zipfile.ZIP_LZMA),
    ],
)
def test_a_manifest_that_somebody_made_up_is_refused_in_a_sentence(
    tmp_path: Path, write: Callable[[Path], None]
) -> None:
    write(tmp_path / "file")
    done = memoryreview(tmp_path, "restore-backup", str(tmp_path / "file"), home="new", code=1)
    assert "Nothing was changed" in done.stderr
    assert "\x1b" not in done.stderr
    assert [path.name for path in tmp_path.iterdir()] == ["file"]


@pytest.mark.parametrize("content", [b"", b"PK\x03\x04 not really", b"text"])
def test_what_is_no_backup_is_said_so(tmp_path: Path, content: bytes) -> None:
    (tmp_path / "file").write_bytes(content)
    done = memoryreview(tmp_path, "restore-backup", str(tmp_path / "file"), home="new", code=1)
    assert "no backup of memoryreview" in done.stderr
    assert "cannot be read" in memoryreview(tmp_path, "restore-backup", str(tmp_path / "no"), home="new", code=1).stderr
    assert [path.name for path in tmp_path.iterdir()] == ["file"]


def test_a_link_in_a_backup_is_refused(machine: Path, tmp_path: Path) -> None:
    hostile = rewritten(machine / "out.zip", tmp_path / "x.zip", lambda members, manifest: None)
    with zipfile.ZipFile(hostile) as archive:
        members = {name: archive.read(name) for name in archive.namelist()}
    with zipfile.ZipFile(hostile, "w") as archive:
        for name, content in members.items():
            info = zipfile.ZipInfo(name)
            info.external_attr = ((stat.S_IFLNK if name == "secret.key" else stat.S_IFREG) | 0o600) << 16
            archive.writestr(info, content)
    assert "no plain file" in memoryreview(tmp_path, "restore-backup", str(hostile), home="new", code=1).stderr


def test_a_store_without_its_baseline_is_left_out_and_named(machine: Path, tmp_path: Path) -> None:
    shutil.copytree(machine / "home", tmp_path / "home")
    shutil.rmtree(next((tmp_path / "home/baselines").iterdir()))
    done = memoryreview(tmp_path, "backup", str(tmp_path / "part.zip"), "--json")
    told = json.loads(done.stdout)
    assert (told["stores"], len(told["left_out"])) == (1, 1)
    assert "There is no baseline" in told["left_out"][0] or "cannot be packed" in told["left_out"][0]
