from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

import memoryreview.core.classify as package
from memoryreview.core.classify import rules
from memoryreview.core.classify import verify as verifier
from memoryreview.core.classify.verify import verify
from memoryreview.core.model import SAFE_KINDS, Context, Kind, Proof, Rewrite
from memoryreview.core.overlay import Overlay

FOLDER = Path(package.__file__).parent
CHECK = [FOLDER / "verify.py", FOLDER / "claim.py", *sorted((FOLDER / "invariants").glob("*.py"))]
RULES = sorted((FOLDER / "rules").glob("*.py"))

BASE = {"a.md": b"- use pnpm\n- use make\n- use pnpm\n", "b.md": b"x\n"}
CUT = Rewrite("a.md", 22, 33, b"")
PROPOSED = Overlay(BASE, {"a.md": b"- use pnpm\n- use make\n"})


def imported(file: Path) -> Iterator[str]:
    """Yield the modules that a file imports, relative ones resolved by name."""
    package_name = ".".join(("memoryreview", "core", "classify", *file.parent.relative_to(FOLDER).parts))
    for node in ast.walk(ast.parse(file.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            module = f"{package_name}.{node.module or ''}".rstrip(".") if node.level else node.module or ""
            yield from (f"{module}.{alias.name}" for alias in node.names)


def test_check_shares_no_code_with_the_rules() -> None:
    own = (
        "memoryreview.core.classify.verify",
        "memoryreview.core.classify.claim",
        "memoryreview.core.classify.invariants",
    )
    used_by_check = {name for file in CHECK for name in imported(file) if name.startswith("memoryreview.core.classify")}
    used_by_rules = {name for file in RULES for name in imported(file) if name.startswith("memoryreview.core.classify")}

    assert used_by_check
    assert all(name.startswith(own) for name in used_by_check)
    assert not any(name.startswith(own) for name in used_by_rules)


def test_check_is_shorter_than_the_rules() -> None:
    def size(files: list[Path]) -> int:
        return sum(len(file.read_bytes()) for file in files)

    assert size(CHECK) < size(RULES)


def test_check_knows_the_version_of_every_rule() -> None:
    assert dict(verifier.VERSIONS) == dict(rules.VERSIONS)
    assert set(verifier.VERSIONS) == SAFE_KINDS


def test_true_proof_is_confirmed() -> None:
    assert verify(BASE, PROPOSED, Proof(Kind.DEDUPE_EXACT, 1, (CUT,)), Context())


@pytest.mark.parametrize(
    "rewrites",
    [
        (),
        (Rewrite("missing.md", 0, 1, b""),),
        (Rewrite("a.md", 5, 3, b""),),
        (Rewrite("a.md", -4, 3, b""),),
        (Rewrite("a.md", 22, 999, b""),),
        (CUT, Rewrite("a.md", 30, 33, b"")),
        (CUT, Rewrite("a.md", 0, 3, b"")),
        (Rewrite("b.md", 0, 2, b""), CUT),
    ],
)
def test_rewrites_that_are_not_in_place_are_refused(rewrites: tuple[Rewrite, ...]) -> None:
    for rule in SAFE_KINDS:
        assert not verify(BASE, PROPOSED, Proof(rule, 1, rewrites), Context())


def test_rule_that_is_no_safe_rule_is_refused() -> None:
    assert not verify(BASE, PROPOSED, Proof(Kind.FACT_DELETE, 1, (CUT,)), Context())


def test_proof_of_another_change_is_refused() -> None:
    assert not verify(BASE, BASE, Proof(Kind.DEDUPE_EXACT, 1, (CUT,)), Context())
    assert not verify(BASE, {"b.md": b"x\n"}, Proof(Kind.DEDUPE_EXACT, 1, (CUT,)), Context())
    assert not verify(BASE, {"a.md": PROPOSED["a.md"]}, Proof(Kind.DEDUPE_EXACT, 1, (CUT,)), Context())


@pytest.mark.parametrize("rule", sorted(SAFE_KINDS - {Kind.DEDUPE_EXACT}))
def test_true_rewrite_under_the_name_of_another_rule_is_refused(rule: Kind) -> None:
    assert not verify(BASE, PROPOSED, Proof(rule, 1, (CUT,)), Context())


def test_rewrite_without_effect_is_refused() -> None:
    proof = Proof(Kind.FORMAT_BLANK, 1, (Rewrite("b.md", 1, 1, b""),))

    assert not verify(BASE, Overlay(BASE, {}), proof, Context())
