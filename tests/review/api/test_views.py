from __future__ import annotations

import hashlib
import json
import time
from importlib import import_module
from pathlib import Path
from typing import Any

import pytest
from django.apps import apps
from django.contrib.auth.models import User
from django.test import Client

from memoryreview.core.edits import blob_id
from memoryreview.review.api import waiting
from memoryreview.review.api.answers import PreviewAnswer, ProposalAnswer, StoreAnswer
from memoryreview.review.models import Change, Decision, Delivery, Proposal, Reason, Store
from memoryreview.review.operations import accounts, decide
from memoryreview.review.operations.partial import LeftOut, portions_of
from memoryreview.review.operations.standing import standing
from memoryreview.review.operations.stores import reading
from tests.conftest import MakeStore, on_disk
from tests.review.api.conftest import DATE, FACT, NOTE, Api, UnreadStream, edit

pytestmark = pytest.mark.django_db


def head_of(store: Store) -> str:
    with reading(store) as repository:
        head = repository.head()
    assert head is not None
    return head


def assert_problem(response: Any, status: int, problem: str) -> dict[str, Any]:
    """Check the whole shape of a refusal and that it stored nothing, and return its document."""
    document: dict[str, Any] = response.json()
    assert (response.status_code, document["type"]) == (status, problem)
    assert response.headers["Content-Type"] == "application/problem+json"
    assert document["status"] == status
    assert document["title"] == problem.replace("-", " ").capitalize()
    assert document["detail"].endswith((".", "!"))
    return document


def stored() -> tuple[int, int, int]:
    return Proposal.objects.count(), Delivery.objects.count(), Change.objects.count()


def test_proposal_that_waits_answers_202(api: Api, store: Store) -> None:
    base = head_of(store)

    response = api.propose(FACT, title="Port moved")

    answer = response.json()
    proposal = Proposal.objects.get()
    (action,) = answer.pop("actions")
    assert response.status_code == 202
    assert response.headers["Location"] == f"/api/v1/proposals/{proposal.pk}"
    assert answer == {
        "id": proposal.pk,
        "url": f"http://127.0.0.1:8765/proposals/{proposal.pk}",
        "state": "pending",
        "title": proposal.title,
        "store": "notes",
        "base": base,
        "commit": None,
        "changes": [],
        "revision": 1,
        "findings": [],
        "decision": None,
        "reasons": [],
        "duplicate_of": None,
        "rejected_before": None,
        "label_mismatch": None,
    }
    assert (action["kind"], action["verdict"], action["path"], action["lines"]) == (
        "fact.rewrite", "review", "build.md", [5, 5],
    )  # fmt: skip
    assert proposal.claimed_title == "Port moved"
    assert on_disk(store, "build.md") == NOTE.encode()


def test_proposal_that_is_proved_answers_201_with_its_commit(api: Api, store: Store) -> None:
    response = api.propose(DATE)

    answer = response.json()
    change = Change.objects.get(kind="auto")
    assert response.status_code == 201
    assert (answer["state"], answer["commit"], answer["changes"]) == ("applied", change.oid, [change.oid])
    assert [action["commit"] for action in answer["actions"]] == [change.oid]
    assert on_disk(store, "build.md") == NOTE.replace("13/04/2025", "2025-04-13").encode()


def test_mixed_proposal_answers_202_and_says_what_landed(api: Api, store: Store) -> None:
    base = head_of(store)

    response = api.propose(DATE, FACT)

    answer = response.json()
    landed = {action["kind"]: action.get("commit") for action in answer["actions"]}
    assert response.status_code == 202
    assert (answer["state"], answer["base"], answer["commit"]) == ("pending", base, head_of(store))
    assert landed == {"date.normalize": head_of(store), "fact.rewrite": None}


@pytest.mark.parametrize("operations", [[DATE], [FACT], [DATE, FACT], [{"op": "delete", "path": "build.md"}]])
def test_answers_have_the_documented_shape(api: Api, store: Store, operations: list[dict[str, Any]]) -> None:
    preview = api.post("preview", {"store": "notes", "operations": operations}).json()
    created = api.propose(*operations).json()
    read = api.get(f"proposals/{created['id']}").json()

    assert read == created
    ProposalAnswer.model_validate(created)
    PreviewAnswer.model_validate(preview)
    StoreAnswer.model_validate(api.get("stores/notes").json())


def test_c083_byte_equal_text_is_unchanged_and_queues_nothing(api: Api, store: Store) -> None:
    waiting_before = api.propose(FACT).json()

    response = api.propose({"op": "write", "path": "build.md", "content": NOTE})

    answer = response.json()
    assert (response.status_code, answer["state"], answer["id"], answer["url"]) == (200, "unchanged", None, None)
    assert answer["base"] == head_of(store)
    assert api.get(f"proposals/{waiting_before['id']}").json() == waiting_before
    assert Proposal.objects.count() == 1


def test_c083_changed_line_ends_are_refused(api: Api, store: Store) -> None:
    before = stored()

    response = api.propose({"op": "write", "path": "build.md", "content": NOTE.replace("\n", "\r\n")})

    assert_problem(response, 422, "schema-invalid")
    assert stored() == before


def test_repeat_of_a_waiting_proposal_answers_200_with_it(api: Api, store: Store) -> None:
    first = api.propose(FACT).json()

    response = api.propose(FACT, title="again")

    assert response.status_code == 200
    assert response.json() == {**first, "duplicate_of": first["id"]}
    assert Proposal.objects.get().repeats == 1


def test_used_idempotency_key_answers_200_with_the_present_state(api: Api, store: Store, owner: User) -> None:
    first = api.propose(FACT, headers={"idempotency-key": "key 1"}).json()
    proposal = Proposal.objects.get()
    decide.reject(proposal.pk, person=owner, version=proposal.version, reason=Reason.WRONG, note="It is 5432.")

    response = api.propose(FACT, headers={"idempotency-key": "key 1"})

    answer = response.json()
    assert (response.status_code, answer["id"], answer["state"]) == (200, first["id"], "rejected")
    assert answer["reasons"] == ["wrong", "It is 5432."]
    assert Proposal.objects.count() == 1


def test_used_idempotency_key_with_another_body_is_refused(api: Api, store: Store) -> None:
    api.propose(FACT, headers={"idempotency-key": "k"})
    before = stored()

    response = api.propose(DATE, headers={"idempotency-key": "k"})

    assert_problem(response, 409, "idempotency-key-reuse")
    assert stored() == before


def test_idempotency_key_is_kept_as_a_digest_only(api: Api, store: Store) -> None:
    """Whatever stands in a key or a body, nothing of it can be read again, or confirmed by hashing a guess."""
    secret = "AKIA" + "Q3EGRJW7" + "XKZ2M5TP"

    first = api.propose(FACT, headers={"idempotency-key": secret}).json()
    again = api.propose(FACT, headers={"idempotency-key": secret})

    row = Delivery.objects.get()
    assert len(row.key) == len(row.body_hash) == 64
    assert row.key != hashlib.sha256(secret.encode()).hexdigest()
    assert row.body_hash != hashlib.sha256(body_of(FACT)).hexdigest()
    assert (again.status_code, again.json()["id"]) == (200, first["id"])


def body_of(*operations: dict[str, Any]) -> bytes:
    """Return what `Api.propose` sends."""
    return json.dumps({"store": "notes", "operations": list(operations)}).encode()


def test_deliveries_from_before_their_digests_were_keyed_are_replayed(api: Api, store: Store) -> None:
    first = api.propose(FACT, headers={"idempotency-key": "one"}).json()
    keyed = Delivery.objects.get()
    before = [hashlib.sha256(content).hexdigest() for content in (b"one", body_of(FACT))]
    Delivery.objects.update(key=before[0], body_hash=before[1])

    import_module("memoryreview.review.migrations.0013_keyed_deliveries").key_digests(apps, None)

    row = Delivery.objects.get()
    assert (row.key, row.body_hash) == (keyed.key, keyed.body_hash)
    assert api.propose(FACT, headers={"idempotency-key": "one"}).json()["id"] == first["id"]
    assert_problem(api.propose(DATE, headers={"idempotency-key": "one"}), 409, "idempotency-key-reuse")


@pytest.mark.parametrize("token", ["", "mrv_" + "x" * 44, "Basic abc"])
@pytest.mark.parametrize(
    ("method", "address"),
    [("POST", "proposals"), ("PUT", "proposals/1"), ("DELETE", "proposals/1"), ("POST", "preview")],
)
def test_body_of_nobody_is_never_read(api: Api, db: None, method: str, address: str, token: str) -> None:
    response = api.call(
        method, f"/api/v1/{address}", headers={"authorization": f"Bearer {token}"},
        **{"wsgi.input": UnreadStream(), "CONTENT_LENGTH": "1000"},
    )  # fmt: skip

    assert_problem(response, 401, "unauthorized")


def test_idempotency_keys_of_two_agents_do_not_meet(api: Api, other_api: Api, store: Store) -> None:
    first = api.propose(FACT, headers={"idempotency-key": "k"}).json()
    second = other_api.propose(edit("npm", "pnpm"), headers={"idempotency-key": "k"}).json()

    assert second["id"] not in (None, first["id"])


def test_idempotency_key_that_is_none_is_refused(api: Api, store: Store) -> None:
    before = stored()

    for key in ("", " ", "x" * 256, "tab\there", "é", " k", "k "):
        document = assert_problem(api.propose(FACT, headers={"idempotency-key": key}), 422, "schema-invalid")
        assert document["errors"] == [
            {"field": "Idempotency-Key", "message": "must be 1 to 255 printable ASCII characters"}
        ]
    assert stored() == before


def test_proposal_of_another_agent_is_not_found(api: Api, other_api: Api, store: Store) -> None:
    theirs = other_api.propose(FACT).json()["id"]

    for method, body in (("GET", None), ("DELETE", None), ("PUT", {"store": "notes", "operations": [DATE]})):
        assert_problem(api.call(method, f"/api/v1/proposals/{theirs}", body), 404, "not-found")
    assert other_api.get(f"proposals/{theirs}").json()["state"] == "pending"


@pytest.mark.parametrize("number", ["0", "999", "9" * 30, "-1", "x", "1/approve", "1/reject", ""])
def test_proposal_that_is_none_is_not_found(api: Api, db: None, number: str) -> None:
    assert_problem(api.get(f"proposals/{number}"), 404, "not-found")


def test_revision_replaces_a_waiting_proposal(api: Api, store: Store) -> None:
    first = api.propose(FACT).json()

    response = api.call(
        "PUT", f"/api/v1/proposals/{first['id']}", {"store": "notes", "operations": [edit("port 5432", "port 5434")]}
    )

    answer = response.json()
    assert (response.status_code, answer["id"], answer["revision"], answer["state"]) == (202, first["id"], 2, "pending")
    assert (
        answer["actions"][0]["new"] == "- The database listens on port 5434.\n" or "5434" in answer["actions"][0]["new"]
    )
    assert api.get(f"proposals/{first['id']}").json() == answer


def test_revision_that_is_proved_lands_at_once(api: Api, store: Store) -> None:
    first = api.propose(FACT).json()

    response = api.call("PUT", f"/api/v1/proposals/{first['id']}", {"store": "notes", "operations": [DATE]})

    answer = response.json()
    assert (response.status_code, answer["state"], answer["commit"]) == (200, "applied", head_of(store))


def test_revision_for_another_store_is_refused(api: Api, store: Store, make_store: MakeStore) -> None:
    make_store({"build.md": NOTE}, name="other")
    first = api.propose(FACT).json()

    response = api.call("PUT", f"/api/v1/proposals/{first['id']}", {"store": "other", "operations": [DATE]})

    assert assert_problem(response, 422, "schema-invalid")["errors"][0]["field"] == "store"
    assert api.get(f"proposals/{first['id']}").json() == first


def test_withdrawing_is_harmless_twice_and_final(api: Api, store: Store) -> None:
    first = api.propose(FACT).json()

    responses = [api.call("DELETE", f"/api/v1/proposals/{first['id']}") for _ in range(2)]
    revised = api.call("PUT", f"/api/v1/proposals/{first['id']}", {"store": "notes", "operations": [DATE]})

    assert [(r.status_code, r.json()["state"]) for r in responses] == [(200, "withdrawn")] * 2
    document = assert_problem(revised, 409, "already-decided")
    assert (document["id"], document["state"]) == (first["id"], "withdrawn")
    assert Decision.objects.filter(verb="withdraw").count() == 1


def test_rejection_goes_back_with_its_reasons_and_is_remembered(api: Api, store: Store, owner: User) -> None:
    first = api.propose(FACT).json()
    proposal = Proposal.objects.get()
    decide.reject(proposal.pk, person=owner, version=proposal.version, reason=Reason.STALE, note="Not any more.")

    answer = api.get(f"proposals/{first['id']}").json()
    again = api.propose(FACT)
    with_evidence = api.propose(FACT, source={"evidence": "it listens on 5433 now"})

    assert (answer["state"], answer["reasons"]) == ("rejected", ["stale", "Not any more."])
    assert (answer["decision"]["verb"], answer["decision"]["reason"]) == ("reject", "stale")
    document = assert_problem(again, 409, "rejected-before")
    assert (document["rejected_before"]["id"], document["rejected_before"]["reason"]) == (first["id"], "stale")
    assert with_evidence.status_code == 202
    assert with_evidence.json()["rejected_before"]["note"] == "Not any more."


def test_approval_goes_back_with_its_commit(api: Api, store: Store, owner: User) -> None:
    first = api.propose(FACT).json()
    proposal = Proposal.objects.get()
    with reading(store) as repository:
        shown = standing(proposal.revision, repository).shown
    decided = decide.approve(proposal.pk, person=owner, version=proposal.version, shown=shown)

    answer = api.get(f"proposals/{first['id']}").json()

    assert decided.change is not None
    assert (answer["state"], answer["commit"], answer["base"]) == ("applied", decided.change.oid, first["base"])


@pytest.mark.parametrize("wait", ["x", "-1", "1.5", "99999", "٣", ""])
def test_wait_that_is_no_number_is_refused(api: Api, db: None, wait: str) -> None:
    assert_problem(api.get(f"proposals/1?wait={wait}"), 422, "schema-invalid")


def test_waiting_ends_with_the_time(api: Api, store: Store) -> None:
    first = api.propose(FACT).json()
    started = time.monotonic()

    answer = api.get(f"proposals/{first['id']}?wait=1").json()

    assert answer == first
    assert time.monotonic() - started > 0.9


def test_waiting_for_a_decided_proposal_is_over_at_once(api: Api, store: Store) -> None:
    first = api.propose(DATE).json()
    started = time.monotonic()

    assert api.get(f"proposals/{first['id']}?wait=25").json() == first
    assert time.monotonic() - started < 20  # it would wait for 25 s


def test_waiters_never_take_every_thread(api: Api, store: Store) -> None:
    first = api.propose(FACT).json()
    for _ in range(waiting.MAX_WAITERS):
        assert waiting._places.acquire(blocking=False)
    try:
        started = time.monotonic()
        assert api.get(f"proposals/{first['id']}?wait=25").json() == first
        assert time.monotonic() - started < 20  # it would wait for 25 s
    finally:
        for _ in range(waiting.MAX_WAITERS):
            waiting._places.release()


def test_stores_are_those_the_agent_was_given(owner: User, store: Store, make_store: MakeStore) -> None:
    make_store({"a.md": "# A\n"}, name="hidden")
    narrow = Api(accounts.add_agent("narrow", [store], person=owner), Client())

    assert [described["slug"] for described in narrow.get("stores").json()["stores"]] == ["notes"]
    for address in ("stores/hidden", "stores/hidden/files", "stores/hidden/files/a.md", "stores/nowhere"):
        assert_problem(narrow.get(address), 404, "not-found")
    assert_problem(narrow.propose(FACT, store="hidden"), 404, "not-found")
    assert_problem(narrow.post("preview", {"store": "hidden", "operations": [FACT]}), 404, "not-found")


def test_stores_are_those_that_the_agents_person_sees(
    stranger: User, api: Api, store: Store, make_store: MakeStore
) -> None:
    """An agent that was given no store, and one that was given it before its person lost sight of it."""
    shared = make_store({"a.md": "# A\n"}, name="shared", team=True)
    for spy in (
        Api(accounts.add_agent("spy", person=stranger), Client()),
        Api(accounts.add_agent("mole", [store, shared], person=stranger), Client()),
    ):
        assert spy.get("stores").json() == {"stores": []}
        for slug in ("notes", "shared"):
            for address in (f"stores/{slug}", f"stores/{slug}/files", f"stores/{slug}/files/a.md"):
                answer = spy.get(address)
                assert_problem(answer, 404, "not-found")
                assert store.root not in answer.content.decode()
    assert [described["slug"] for described in api.get("stores").json()["stores"]] == ["notes", "shared"]


def test_store_is_described(api: Api, store: Store) -> None:
    expected = {
        "slug": "notes",
        "format": store.format,
        "scope": "private",
        "guard": "observe",
        "root": store.root,
        "head": head_of(store),
        "documents": 2,
    }

    assert api.get("stores/notes").json() == expected
    assert api.get("stores").json() == {"stores": [expected]}


def test_files_are_listed_with_their_blobs(api: Api, store: Store) -> None:
    response = api.get("stores/notes/files")

    assert response.json() == {
        "store": "notes",
        "head": head_of(store),
        "files": [
            {"path": "build.md", "blob": blob_id(NOTE.encode())},
            {"path": "odd/q&a.md", "blob": blob_id(b"# Questions\n")},
        ],
    }
    assert response.headers["Memoryreview-Head"] == head_of(store)


@pytest.mark.parametrize(
    ("address", "content"),
    [("build.md", NOTE.encode()), ("odd/q&a.md", b"# Questions\n"), ("odd%2Fq%26a.md", b"# Questions\n")],
)
def test_file_is_answered_as_approved(api: Api, store: Store, address: str, content: bytes) -> None:
    response = api.get(f"stores/notes/files/{address}")

    assert (response.status_code, response.content) == (200, content)
    assert response.headers["ETag"] == f'"{blob_id(content)}"'
    assert response.headers["Memoryreview-Head"] == head_of(store)
    assert response.headers["Content-Type"] == "text/markdown; charset=utf-8"
    assert response.headers["X-Content-Type-Options"] == "nosniff"


def test_file_answers_approved_text_and_not_the_disk(api: Api, store: Store) -> None:
    (Path(store.root) / "build.md").write_text("unreviewed")

    assert api.get("stores/notes/files/build.md").content == NOTE.encode()


def test_file_of_any_bytes_is_answered_as_they_are(api: Api, make_store: MakeStore) -> None:
    make_store({"latin.md": b"caf\xe9\r\n"}, name="odd")

    response = api.get("stores/odd/files/latin.md")

    assert (response.content, response.headers["Content-Type"]) == (b"caf\xe9\r\n", "application/octet-stream")


def test_known_file_is_not_sent_again(api: Api, store: Store) -> None:
    tag = f'"{blob_id(NOTE.encode())}"'
    known = [tag, f'"other", {tag}', "*", f"W/{tag}"]

    responses = [api.get("stores/notes/files/build.md", headers={"if-none-match": value}) for value in known]
    changed = api.get("stores/notes/files/build.md", headers={"if-none-match": '"other"'})

    assert [(r.status_code, r.content, r.headers["ETag"]) for r in responses] == [(304, b"", tag)] * 4
    assert all(r.headers["Memoryreview-Head"] == head_of(store) for r in responses)
    assert changed.status_code == 200


def test_file_that_is_not_in_the_baseline_is_not_found(api: Api, store: Store) -> None:
    for path in (
        "none.md",
        "odd",
        "../build.md",
        "odd/../build.md",
        "/etc/passwd",
        "%00",
        "%ff.md",
        "%ed%a0%80",
        "%0A",
    ):
        assert_problem(api.get(f"stores/notes/files/{path}"), 404, "not-found")


def test_preview_tells_all_and_stores_nothing(api: Api, store: Store) -> None:
    before = stored()
    answer = api.post("preview", {"store": "notes", "operations": [DATE, FACT]}).json()

    assert (answer["verdict"], answer["state"], answer["base"]) == ("mixed", "pending", head_of(store))
    assert [action["kind"] for action in answer["actions"]] == ["date.normalize", "fact.rewrite"]
    assert answer["diff"] == (
        "--- a/build.md\n+++ b/build.md\n@@ -1,5 +1,5 @@\n # Build\n \n-- Moved to the new runner on 13/04/2025.\n"
        "+- Moved to the new runner on 2025-04-13.\n - Use npm for everything.\n"
        "-- The database listens on port 5432.\n+- The database listens on port 5433.\n"
    )
    assert (answer["findings"], answer["rejected_before"]) == ([], None)
    assert stored() == before
    assert on_disk(store, "build.md") == NOTE.encode()


@pytest.mark.parametrize(
    ("operations", "state"),
    [([DATE], "applied"), ([FACT], "pending"), ([{"op": "write", "path": "build.md", "content": NOTE}], "unchanged")],
)
def test_preview_names_the_state_that_a_proposal_gets(
    api: Api, store: Store, operations: list[dict[str, Any]], state: str
) -> None:
    preview = api.post("preview", {"store": "notes", "operations": operations}).json()

    assert preview["state"] == state
    assert api.propose(*operations).json()["state"] == state


def test_preview_shows_what_was_rejected(api: Api, store: Store, owner: User) -> None:
    first = api.propose(FACT).json()
    proposal = Proposal.objects.get()
    decide.reject(proposal.pk, person=owner, version=proposal.version, reason=Reason.WRONG, note="")

    answer = api.post("preview", {"store": "notes", "operations": [FACT]}).json()

    assert answer["rejected_before"]["id"] == first["id"]


def test_diff_of_a_preview_can_be_sent_as_a_patch(api: Api, store: Store) -> None:
    diff = api.post("preview", {"store": "notes", "operations": [FACT]}).json()["diff"]

    by_edit = api.propose(FACT).json()
    by_patch = api.propose({"op": "patch", "diff": diff}).json()

    assert by_patch["duplicate_of"] == by_edit["id"]


def test_c020_delimiter_in_an_entry_is_refused_by_name(api: Api, make_store: MakeStore) -> None:
    make_store({"MEMORY.md": "One thing\n§\nAnother thing"}, name="hermes", format="hermes")
    before = stored()

    response = api.propose(
        {"op": "entry.add", "path": "MEMORY.md", "text": "Checklist:\n§\nrun the migration"}, store="hermes"
    )

    assert "§" in assert_problem(response, 422, "schema-invalid")["detail"]
    assert stored() == before


def test_c095_quote_that_does_not_occur_once_names_the_nearest_passages(api: Api, make_store: MakeStore) -> None:
    text = "# Ports\n\n- Staging runs on port\u201180.\n- Port 5432 is the database.\n- Port 5432 is open.\n"
    make_store({"ports.md": text}, name="ports")

    missing = api.propose(edit("port-80", "port-81", "ports.md"), store="ports")
    twice = api.propose(edit("Port 5432", "Port 1", "ports.md"), store="ports")

    document = assert_problem(missing, 409, "no-match")
    assert (document["operation"], document["matches"], document["blob"]) == (1, 0, blob_id(text.encode()))
    assert document["nearest"][0]["line"] == 3
    assert len(document["nearest"]) <= 3
    document = assert_problem(twice, 409, "no-match")
    assert (document["matches"], [passage["line"] for passage in document["nearest"]]) == (2, [4, 5])
    assert Proposal.objects.count() == 0


def test_c142_proposal_is_all_or_nothing(api: Api, store: Store) -> None:
    before = stored()

    response = api.propose(DATE, edit("no such text", "x"), edit("npm", "pnpm"))

    document = assert_problem(response, 409, "no-match")
    assert document["operation"] == 2
    assert document["detail"].startswith("Operation 2:")
    assert (stored(), on_disk(store, "build.md")) == (before, NOTE.encode())


ESCAPES = [
    "../../.ssh/config", "/etc/passwd", "C:\\x.md", "C:/x.md", "a/../../b.md", "notes\\..\\..\\x.md", "ok.md\x00.png",
    "%2e%2e/x.md", ".git/hooks/x.md", "", ".", "..", "a//b.md", "a/./b.md", "a\nb.md", "a\u202eb.md",
]  # fmt: skip
ODD_NAMES = [
    "~/x.md", "x.py", "<img src=x onerror=alert(1)>.md", '"><b>.md', "CON.md", "x" * 121 + ".md",
    "/".join("abcdefghi") + ".md", "-x.md", ".hidden.md",
]  # fmt: skip


def assert_path_refused(api: Api, *operations: dict[str, Any]) -> None:
    before = stored()
    for operation in operations:
        document = assert_problem(api.propose(operation), 400, "path-not-allowed")
        assert not any(char < " " or char == "\u202e" for char in document["detail"])
    assert stored() == before


def test_c118_path_that_leaves_the_store_is_refused(api: Api, store: Store) -> None:
    for path in ESCAPES:
        assert_path_refused(
            api,
            {"op": "write", "path": path, "content": "x\n"},
            {"op": "rename", "path": "build.md", "to": path},
            {"op": "entry.add", "path": path, "text": "x"},
            {"op": "delete", "path": path},
            edit("x", "y", path),
        )


def test_c118_name_that_no_new_document_may_have_is_refused(api: Api, store: Store) -> None:
    for path in ODD_NAMES:
        assert_path_refused(
            api, {"op": "write", "path": path, "content": "x\n"}, {"op": "rename", "path": "build.md", "to": path}
        )


def test_c119_name_with_markup_is_plain_text_in_json(api: Api, make_store: MakeStore) -> None:
    make_store({"a&b.md": "# A\n", "x<b>.md": "# B\n"}, name="odd")

    listed = [file["path"] for file in api.get("stores/odd/files").json()["files"]]

    assert listed == ["a&b.md", "x<b>.md"]
    assert api.get("stores/odd/files").headers["Content-Type"] == "application/json"


@pytest.mark.parametrize(
    ("existing", "name"),
    [("alpha.md", "Alpha.md"), ("caf\u00e9.md", "cafe\u0301.md"), ("stra\u00dfe.md", "STRASSE.md")],
)
def test_c052_name_that_equals_another_is_refused(api: Api, make_store: MakeStore, existing: str, name: str) -> None:
    make_store({existing: "# One\n"}, name="names")

    response = api.propose({"op": "write", "path": name, "content": "# Two\n"}, store="names")

    assert response.status_code in (400, 422)
    assert response.headers["Content-Type"] == "application/problem+json"
    assert Proposal.objects.count() == 0


def fake_secret() -> str:
    return "ghp_" + "a8Zk3Qw9Lm2Xy7Rt" + "5Vb1Nc6Hd4Jf0GsPqW2e"


def test_secret_is_refused_and_never_repeated(api: Api, store: Store) -> None:
    secret = fake_secret()
    clean = edit("npm", "pnpm")
    sent: list[tuple[dict[str, Any], dict[str, Any]]] = [
        (edit("npm", f"npm with {secret}"), {}),
        (clean, {"title": f"use {secret}"}),
        (clean, {"rationale": f"token={secret}"}),
        (clean, {"source": {"evidence": f"he said {secret}"}}),
        (clean, {"scores": {"why": secret}}),
        (clean, {"kind": secret}),
    ]
    before = stored()

    for operation, fields in sent:
        document = assert_problem(api.propose(operation, **fields), 422, "secret-detected")
        assert secret not in json.dumps(document)
        assert {finding["scanner"] for finding in document["findings"]} == {"secret"}
    assert stored() == before


@pytest.mark.parametrize(
    "header",
    [None, "", "Bearer", "Bearer ", "Basic abc", "mrv_x", "Bearer x", "Bearer mrv_", "Bearer mrv_wrong", "Token mrv_x",
     "Bearer mrv_x, Bearer mrv_y", "Bearer mrv_\u00e9"],
)  # fmt: skip
def test_unknown_and_malformed_tokens_get_the_same_answer(db: None, header: str | None) -> None:
    headers = {} if header is None else {"authorization": header}

    responses = [
        Client().post("/api/v1/proposals", {"store": "notes"}, content_type="application/json", headers=headers),
        Client().get("/api/v1/stores", headers=headers),
    ]

    for response in responses:
        document = assert_problem(response, 401, "unauthorized")
        assert response.headers["WWW-Authenticate"] == "Bearer"
        assert document["detail"] == "Send the token of an agent as “Authorization: Bearer mrv_…”. Nothing was stored."


def test_revoked_token_is_as_good_as_none(api: Api, store: Store) -> None:
    accounts.revoke_agent(api.agent.agent)

    assert_problem(api.propose(FACT), 401, "unauthorized")
    assert_problem(api.get("stores"), 401, "unauthorized")
    assert Proposal.objects.count() == 0


def test_cookies_of_a_signed_in_person_open_no_door(owner_client: Client, store: Store) -> None:
    assert_problem(owner_client.get("/api/v1/stores"), 401, "unauthorized")
    posted = owner_client.post(
        "/api/v1/proposals", {"store": "notes", "operations": [FACT]}, content_type="application/json"
    )
    assert_problem(posted, 401, "unauthorized")


def test_token_in_the_address_opens_no_door(api: Api, store: Store) -> None:
    response = Client().get(f"/api/v1/stores?token={api.agent.token}&access_token={api.agent.token}")

    assert_problem(response, 401, "unauthorized")


@pytest.mark.parametrize(
    ("method", "address", "allowed"),
    [
        ("GET", "/api/v1/proposals", "POST"),
        ("PATCH", "/api/v1/proposals/1", "GET, PUT, DELETE, HEAD"),
        ("POST", "/api/v1/proposals/1", "GET, PUT, DELETE, HEAD"),
        ("OPTIONS", "/api/v1/preview", "POST"),
        ("POST", "/api/v1/stores", "GET, HEAD"),
        ("DELETE", "/api/v1/stores/notes/files/build.md", "GET, HEAD"),
        ("GET", "/hooks/v1/claude", "POST"),
    ],
)
def test_other_methods_are_refused(api: Api, db: None, method: str, address: str, allowed: str) -> None:
    response = api.call(method, address)

    assert_problem(response, 405, "method-not-allowed")
    assert response.headers["Allow"] == allowed


@pytest.mark.parametrize(
    "address", ["/api/v1/", "/api/v1/nothing", "/api/v1/proposals/", "/hooks/v1/", "/hooks/v1/a/b"]
)
def test_unknown_address_is_a_problem_too(api: Api, db: None, address: str) -> None:
    assert_problem(api.call("GET", address), 404, "not-found")


def test_media_type_is_checked(api: Api, store: Store) -> None:
    body = {"store": "notes", "operations": [FACT]}
    form = api.post("proposals", body, content_type="application/x-www-form-urlencoded")
    gzip = api.post("proposals", body, headers={"content-encoding": "gzip"})

    assert_problem(form, 415, "unsupported-media-type")
    assert_problem(gzip, 415, "unsupported-media-type")


def test_body_over_the_limit_is_refused(api: Api, store: Store) -> None:
    response = api.propose({"op": "write", "path": "a.md", "content": "x" * 1024 * 1024})

    document = assert_problem(response, 413, "payload-too-large")
    assert document["limit"] == 1024 * 1024
    assert document["size"] > document["limit"]


def test_body_that_is_not_utf_8_is_refused(api: Api, store: Store) -> None:
    assert_problem(api.post("proposals", b'{"store": "caf\xe9"}'), 422, "not-utf8")


def test_fields_that_are_wrong_are_named(api: Api, store: Store) -> None:
    response = api.post("proposals", {"store": "notes", "operations": [FACT], "state": "applied", "title": 1})

    assert assert_problem(response, 422, "schema-invalid")["errors"] == [
        {"field": "title", "message": "must be a string"},
        {"field": "state", "message": "is not a known field"},
    ]


def test_stale_blob_is_answered_with_the_present_one(api: Api, store: Store) -> None:
    response = api.propose({"op": "write", "path": "build.md", "content": "x\n", "base_blob": "0" * 40})

    document = assert_problem(response, 409, "stale-base")
    assert (document["path"], document["blob"]) == ("build.md", blob_id(NOTE.encode()))


def test_head_answers_as_get_does(api: Api, store: Store) -> None:
    response = api.call("HEAD", "/api/v1/stores/notes/files/build.md")

    assert (response.status_code, response.content) == (200, b"")
    assert response.headers["ETag"] == f'"{blob_id(NOTE.encode())}"'


def test_openapi_document_needs_no_token(db: None) -> None:
    response = Client().get("/api/v1/openapi.json")

    assert (response.status_code, response.json()["openapi"]) == (200, "3.1.0")


def test_c128_foreign_host_reaches_no_door(api: Api, store: Store) -> None:
    response = api.call("GET", "/api/v1/stores", headers={"host": "evil.example:8765"})

    assert response.status_code == 400
    assert b"notes" not in response.content


def test_c133_claimed_words_never_become_trailers(api: Api, store: Store) -> None:
    words = "fix\n\nCo-authored-by: Boss <b@x.invalid>\nReviewed-by: Admin <a@x.invalid>"

    answer = api.propose(DATE, title=words, rationale=words, source={"session": words}).json()

    with reading(store) as repository:
        message = repository.message(answer["commit"])
    assert "\nCo-authored-by:" not in message
    assert "\nReviewed-by:" not in message
    assert f"Proposal-Id: {answer['id']}" in message.splitlines()


def test_team_store_answers_with_what_a_person_must_decide(api: Api, make_store: MakeStore) -> None:
    make_store({"build.md": NOTE}, name="team", team=True)

    answer = api.propose(FACT, store="team").json()

    assert (answer["state"], answer["store"]) == ("pending", "team")


def test_what_should_change_is_told_to_the_agent_and_a_revision_waits_again(
    api: Api, store: Store, owner: User
) -> None:
    first = api.propose(FACT).json()
    proposal = Proposal.objects.get()
    decide.ask_for_changes(proposal.pk, person=owner, version=proposal.version, note="Say which host.")

    asked = api.get(f"proposals/{first['id']}?wait=25").json()
    changed = {"op": "entry.add", "path": "build.md", "text": "- Staging (db1) listens on 5433."}
    revised = api.call("PUT", f"/api/v1/proposals/{first['id']}", {"store": "notes", "operations": [changed]})

    assert (asked["state"], asked["reasons"]) == ("changes_requested", ["Say which host."])
    assert asked["decision"]["verb"] == "ask_changes"
    answer = revised.json()
    assert (revised.status_code, answer["state"], answer["revision"]) == (202, "pending", 2)
    assert (answer["decision"], answer["reasons"]) == (None, [])


def test_what_was_left_out_is_told_action_by_action(api: Api, store: Store, owner: User) -> None:
    note = {"op": "write", "path": "new.md", "content": "# New\n\nThe cache is warm.\n"}
    first = api.propose(FACT, note).json()
    proposal = Proposal.objects.get()
    with reading(store) as repository:
        view = standing(proposal.revision, repository)
    [out] = [p.number for p in portions_of(store, view) if any(part.path == "new.md" for part in p.parts)]
    decide.approve(
        proposal.pk, person=owner, version=proposal.version, shown=view.shown, note="Not ours.",
        left_out=LeftOut(frozenset({out}), Reason.WRONG_SCOPE),
    )  # fmt: skip

    answer = api.get(f"proposals/{first['id']}").json()
    again = api.propose(note)

    assert (answer["state"], answer["reasons"]) == ("applied", ["wrong scope", "Not ours."])
    told = {action["path"]: action for action in answer["actions"]}
    assert (told["build.md"]["outcome"], told["build.md"]["commit"]) == ("applied", answer["commit"])
    assert (told["new.md"]["outcome"], told["new.md"]["outcome_reason"]) == ("dropped", "wrong scope: Not ours.")
    assert assert_problem(again, 409, "rejected-before")["rejected_before"]["reason"] == "wrong scope"
