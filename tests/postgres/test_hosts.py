"""The store's lock between hosts: same database, baselines on shared storage, no lock file in common."""

from __future__ import annotations

from pathlib import Path

import psycopg
import pytest

from .conftest import Hosts, address

TEXT = "# One\n\nDeploys run on Monday.\n"

HOLD = """
with locked(store):
    say(held=session())
    heard()
say(left=True)
"""

WAIT = """
stores.LOCK_TIMEOUT_S = float(sys.argv[1])
try:
    with locked(store) as shop:
        say(got=True)
except Exception as error:
    say(refused=type(error).__name__, sentence=str(error))
"""

SUBMIT = """
from memoryreview.core.edits import Edit, Replacement, Write
from memoryreview.review.operations.proposals import Submission
agent = Agent.objects.get(name="claude")
numbers = []
for number in range(int(sys.argv[1])):
    row = f"- [Topic {number}](topic_{number}.md) \\u2014 what number {number} is about\\n"
    first = "- [One](one.md) \\u2014 the first\\n"
    edit = Edit("MEMORY.md", (Replacement(first, first + row),))
    write = Write(f"topic_{number}.md", f"Topic {number}.\\n")
    request = receive.Request("notes", (edit, write), submission=Submission())
    numbers.append(receive.submit(request, agent=agent).proposal.pk)
say(numbers=numbers)
"""

APPROVE = """
say(ready=True)
heard()
outcomes = []
for number in json.loads(sys.argv[1]):
    try:
        approve(number)
        outcomes.append("done")
    except Exception as error:
        outcomes.append(f"{type(error).__name__}: {error}")
say(outcomes=outcomes)
"""

JUDGE = """
reconcile.reconcile(store)
with locked(store) as shop:
    head = {path: text.decode() for path, text in shop.tree().items()}
say(faults=[str(one) for one in audit.audit()], head=head, changes=Change.objects.count())
"""


def test_another_host_waits_and_is_told_that_the_store_is_busy(hosts: Hosts) -> None:
    holder = hosts.start("a", HOLD)
    assert holder.hear()["held"]

    refusal = hosts.run("b", WAIT, "0.3")

    assert refusal["refused"] == "BusyError"
    assert refusal["sentence"].endswith("Nothing was changed; try again in a moment.")
    waiting = hosts.start("b", WAIT, "60")
    holder.tell()
    assert waiting.hear() == {"got": True}
    waiting.end()
    assert holder.end() == [{"left": True}]
    assert hosts.locks() == 0


def test_a_killed_host_leaves_no_lock(hosts: Hosts) -> None:
    holder = hosts.start("a", HOLD)
    holder.hear()

    holder.kill()

    assert hosts.run("b", WAIT, "60") == {"got": True}


def test_the_lock_is_left_on_every_way_out_and_once_for_each_time_it_was_taken(hosts: Hosts) -> None:
    told = hosts.run("a", """
from memoryreview.review.operations.stores import packing
with packing(store) as free, locked(store), locked(store):
    pass
class Oops(Exception): pass
for way in ("raise", "return", "refuse"):
    def go():
        with locked(store):
            with locked(store):
                if way == "raise":
                    raise Oops
                if way == "refuse":
                    Store.objects.get(pk=-1)
                return
    try:
        go()
    except (Oops, Store.DoesNotExist):
        pass
try:
    with locked(store):
        Decision.objects.create(store_id=-1, verb="adopt")   # the database refuses
except Exception as error:
    failed = type(error).__name__
with connection.cursor() as cursor:
    cursor.execute("SELECT count(*) FROM pg_locks WHERE locktype = 'advisory' AND pid = pg_backend_pid()")
    say(left=cursor.fetchone()[0], free=free is not None, failed=failed)
""")  # fmt: skip

    assert told == {"left": 0, "free": True, "failed": "IntegrityError"}


@pytest.mark.parametrize(
    ("step", "stands"),
    [("object.stored", False), ("intent.recorded", False), ("ref.locked", False), ("ref.moved", True)],
)
def test_who_lost_the_lock_moves_nothing_more(hosts: Hosts, step: str, stands: bool) -> None:
    """The session of host a ends at a step of landing; host b takes the lock, finishes, and writes; a goes on."""
    one, two = hosts.run("a", SUBMIT, "2")["numbers"]
    holder = hosts.start("a", """
def pause(name):
    if name == sys.argv[1] and os.environ.pop("HOST", ""):
        say(session=pid)
        heard()
steps.on_step = pause
pid = session()
try:
    approve(int(sys.argv[2]))
    say(refused="")
except Exception as error:
    say(refused=type(error).__name__, problem=getattr(error, "problem", ""), sentence=str(error))
""", step, str(one))  # fmt: skip
    hosts.end_session(holder.hear()["session"])

    other = hosts.run("b", f"approve({two})\nsay(done=True)\n" + JUDGE)
    disk = {path.name: path.read_text() for path in hosts.memory.glob("*.md")}
    holder.tell()
    (told,) = holder.end()

    assert told["refused"] == "LockLostError"
    assert told["problem"] == "busy"
    assert "look how it stands" in told["sentence"]
    assert other["faults"] == []
    assert ("topic_0.md" in other["head"]) is stands
    assert "topic_1.md" in other["head"]
    assert disk == other["head"]
    assert {path.name: path.read_text() for path in hosts.memory.glob("*.md")} == disk
    after = hosts.run("b", JUDGE)
    assert after == other


def test_a_session_that_was_opened_anew_holds_nothing(hosts: Hosts) -> None:
    code = """
try:
    with locked(store) as shop:
        connection.close()
        assert Store.objects.count() == 1   # by another session
        try:
            shop.worktree().replace("one.md", expected=sys.argv[1].encode(), new=b"lost")
        finally:
            assert shop.worktree().read("one.md") == sys.argv[1].encode()
except Exception as error:
    say(refused=type(error).__name__)
"""

    told = hosts.run("a", code, TEXT)

    assert told == {"refused": "LockLostError"}
    assert (hosts.memory / "one.md").read_text() == TEXT


def test_twenty_approvals_by_two_hosts_make_twenty_rows(hosts: Hosts) -> None:
    numbers = hosts.run("a", SUBMIT, "20")["numbers"]
    acts = [hosts.start("ab"[half], APPROVE, str(numbers[half::2])) for half in (0, 1)]
    for act in acts:
        act.hear()
    for act in acts:
        act.tell()

    outcomes = [act.end()[0]["outcomes"] for act in acts]

    assert outcomes == [["done"] * 10] * 2
    told = hosts.run("a", JUDGE)
    assert told["faults"] == []
    assert told["changes"] == 21
    rows = told["head"]["MEMORY.md"].splitlines()
    assert sorted(row for row in rows if "topic_" in row) == sorted({row for row in rows if "topic_" in row})
    assert sum("topic_" in row for row in rows) == 20
    assert {path.name: path.read_text() for path in hosts.memory.glob("*.md")} == told["head"]


def test_approve_against_reject_by_two_hosts_has_one_winner(hosts: Hosts) -> None:
    numbers = hosts.run("a", SUBMIT, "6")["numbers"]
    reject = APPROVE.replace("approve(number)", "decide.reject(number, person=olga, version=1)")
    acts = [hosts.start("a", APPROVE, str(numbers)), hosts.start("b", reject, str(numbers[::-1]))]
    for act in acts:
        act.hear()
    for act in acts:
        act.tell()

    approved, rejected = (act.end()[0]["outcomes"] for act in acts)

    for at, first, second in zip(numbers, approved, rejected[::-1], strict=True):
        assert sorted((first.split(":")[0], second.split(":")[0])) == ["AlreadyDecidedError", "done"]
        state = hosts.query("SELECT state FROM review_proposal WHERE id = %s", at)
        assert state == [("applied" if first == "done" else "rejected",)]
    assert hosts.run("a", JUDGE)["faults"] == []


def test_the_chain_of_decisions_holds_when_two_hosts_write_to_it(hosts: Hosts) -> None:
    code = """
say(ready=True)
heard()
for number in range(100):
    ledger.record_now(Decision(store=store, verb=Verb.CONFIGURE, person=olga, note=f"{os.environ['HOST']} {number}"))
"""
    acts = [hosts.start(host, code) for host in ("a", "b")]
    for act in acts:
        act.hear()
    for act in acts:
        act.tell()
    for act in acts:
        act.end()

    told = hosts.run("a", "say(broken=list(ledger.broken_links()), count=Decision.objects.count())")

    assert told == {"broken": [], "count": 201}


def test_no_host_packs_or_sweeps_what_another_one_packs(hosts: Hosts) -> None:
    holder = hosts.start("a", """
from memoryreview.review.operations.stores import packing
with packing(store) as fd:
    say(held=fd is not None)
    heard()
""")  # fmt: skip
    assert holder.hear() == {"held": True}
    pack = """
upkeep.SOME_LOOSE = 1
from memoryreview.review.operations.stores import packing
with packing(store, wait_s=0.2) as fd:
    held = fd is not None
reconcile.reconcile(store)
say(did=upkeep.upkeep(store), held=held)
"""

    assert hosts.run("b", pack) == {"did": None, "held": False}
    holder.tell()
    holder.end()
    assert hosts.run("b", pack) == {"did": "collect", "held": True}
    assert hosts.run("a", JUDGE)["faults"] == []


def test_a_start_on_one_host_leaves_what_another_one_adopts(hosts: Hosts) -> None:
    second = hosts.folder / "second"
    second.mkdir()
    (second / "two.md").write_text("Two.\n")
    adopting = hosts.start("a", """
from pathlib import Path
from memoryreview.review.operations.adopt import adopt
def pause(name):
    if name == "ref.locked":
        say(begun=True)
        heard()
steps.on_step = pause
adopt(Path(sys.argv[1]), name="second")
""", str(second))  # fmt: skip
    adopting.hear()

    hosts.run("b", "reconcile.reconcile_all()")

    adopting.tell()
    adopting.end()
    assert hosts.run("b", JUDGE)["faults"] == []


ERASE = """
from memoryreview.review.management.base import migrate
from memoryreview.review.operations import erase
migrate()
found = erase.preview(store, person=olga, text=sys.argv[1])
erasure = erase.erase(store, person=olga, shown=found.shown, confirmation="notes", text=sys.argv[1])
say(forgotten=erasure.forgotten, left=erasure.left)
"""
TALK = """
from memoryreview.core.edits import Write
from memoryreview.review.operations.proposals import Submission
agent = Agent.objects.get(name="claude")
request = receive.Request("notes", (Write("secret.md", f"{sys.argv[1]}\\n"),), submission=Submission())
approve(receive.submit(request, agent=agent).proposal.pk)
with connection.cursor() as cursor:
    cursor.execute("ANALYZE")
"""


def _stands_in_files(hosts: Hosts, text: str) -> bool:
    """Whether a file of the database holds a text, once the server has written them all."""
    hosts.query("CHECKPOINT")
    ((folder,),) = hosts.query("SELECT current_setting('data_directory')")
    ((number,),) = hosts.query("SELECT oid FROM pg_database WHERE datname = current_database()")
    files = [path for path in (Path(folder) / "base" / str(number)).iterdir() if path.is_file()]
    assert files
    return any(text.encode() in path.read_bytes() for path in files)


def test_the_database_forgets_what_was_erased_once_nobody_looks_at_it_as_it_was(hosts: Hosts) -> None:
    text = "The phone of Anna Kowalska is 555-0142"
    hosts.run("a", TALK, text)
    assert _stands_in_files(hosts, text)

    with psycopg.connect(address(hosts.database)) as reader:
        reader.execute("SET TRANSACTION ISOLATION LEVEL REPEATABLE READ")
        reader.execute("SELECT count(*) FROM auth_user")
        told = hosts.run("a", ERASE, text)
        assert told == {"forgotten": False, "left": []}
    hosts.run("a", "reconcile.reconcile(store)")

    assert hosts.query("SELECT forgotten FROM review_erasure") == [(True,)]
    assert not _stands_in_files(hosts, text)
    assert hosts.run("a", JUDGE)["faults"] == []
