from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memoryreview.baseline.objects import (
    FOLDER_MODE,
    TreeEntry,
    decode_commit,
    decode_tree,
    encode_tree,
    is_oid,
    object_id,
)
from memoryreview.baseline.repository import Repository
from tests.baseline.git_checks import git

OID = "0123456789abcdef" * 2 + "01234567"

names = st.binary(min_size=1, max_size=6).filter(lambda name: b"\0" not in name and b"/" not in name)
oids = st.binary(min_size=20, max_size=20).map(bytes.hex)
entries = st.builds(TreeEntry, oid=oids, mode=st.sampled_from([0o100644, 0o100755, 0o120000, FOLDER_MODE]))


@given(tree=st.dictionaries(names, entries, max_size=8))
def test_tree_comes_back_from_its_bytes(tree: dict[bytes, TreeEntry]) -> None:
    assert decode_tree(encode_tree(tree)) == tree


@given(tree=st.dictionaries(names, entries, min_size=1, max_size=4), cut=st.integers(min_value=1, max_value=10))
def test_cut_tree_is_refused(tree: dict[bytes, TreeEntry], cut: int) -> None:
    with pytest.raises(ValueError, match="cut"):
        decode_tree(encode_tree(tree)[:-cut])


def test_tree_is_sorted_as_git_sorts(repository: Repository) -> None:
    blob, empty = object_id(b"blob", b""), object_id(b"tree", b"")
    repository.objects.write(b"blob", b"", blob)
    repository.objects.write(b"tree", b"", empty)
    tree = {name: TreeEntry(blob, 0o100644) for name in (b"a.b", b"a0", b"a-b", b"b", b"A", b"\xff")}
    tree[b"a"] = TreeEntry(empty, FOLDER_MODE)
    rows = b"".join(
        b"%06o %s %s\t%s\0" % (e.mode, b"tree" if e.is_folder else b"blob", e.oid.encode(), n) for n, e in tree.items()
    )
    made = git(repository.git_dir, "mktree", "-z", content=rows).decode().strip()
    assert object_id(b"tree", encode_tree(tree)) == made


@pytest.mark.parametrize(
    "payload",
    [
        b"",
        b"committer A <a> 1 +0000\n\nx",
        f"tree {OID}\n\nx".encode(),
        f"tree {OID}\ncommitter nobody\n\nx".encode(),
        f"tree {OID}\nparent main\ncommitter A <a> 1 +0000\n\nx".encode(),
        f"tree {OID}\ncommitter A <a> 123456789012345 +0000\n\nx".encode(),
    ],
)
def test_bytes_that_are_no_commit_are_refused(payload: bytes) -> None:
    with pytest.raises(ValueError, match="commit lacks"):
        decode_commit(payload)


@pytest.mark.parametrize("value", ["", OID[:-1], OID + "0", OID.upper(), OID + "\n", "g" * 40, "0" * 64])
def test_oid_is_forty_lower_case_hex_digits(value: str) -> None:
    assert is_oid(OID)
    assert not is_oid(value)


@pytest.mark.parametrize("size", [0, 1, 8_150, 8_192, 8_193, 300_000])
def test_objects_of_every_size_are_ones_for_git(repository: Repository, size: int) -> None:
    payload = (b"- line %d\n" * 40_000 % tuple(range(40_000)))[:size]
    oid = object_id(b"blob", payload)

    repository.objects.write(b"blob", payload, oid)

    assert git(repository.git_dir, "cat-file", "blob", oid) == payload
    assert Repository(repository.git_dir).blob(oid) == payload
