"""What the owner of a store, or a maintainer of its team, sets: how much lands without them."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from django.conf import settings
from django.contrib.auth.models import User
from django.db import transaction

from memoryreview.core.errors import MemoryReviewError
from memoryreview.core.model import SAFE_KINDS, Kind, Scope
from memoryreview.core.names import shown as shown_name
from memoryreview.review.models import Decision, Store, Verb

from . import ledger
from .context import settings_of, switched_off
from .errors import NotPermittedError, StaleViewError
from .permissions import require_maintainer
from .stores import locked

MAX_ROOT_CHARS = 1000


class SettingError(MemoryReviewError):
    """A value that cannot be set. `field` names it."""

    def __init__(self, field: str, sentence: str) -> None:
        self.field = field
        super().__init__(sentence)


class ConfirmationError(MemoryReviewError):
    """More would land unasked, and the person did not give their password just now. `sentences` say what would."""

    problem = "not-permitted"
    status = 403

    def __init__(self, sentences: tuple[str, ...]) -> None:
        self.sentences = sentences
        super().__init__("More would land without asking you. Nothing was saved; give your password.")


@dataclass(frozen=True, slots=True)
class Settings:
    """Args: evidence_root: absolute path, "" for none. passive: new facts of agents land unread."""

    switched_off: frozenset[Kind] = frozenset()
    index_row_chars: int = 200
    evidence_root: str = ""
    passive: bool = False

    def shown(self) -> str:
        """Return a hash which a form carries, so that it cannot overwrite what it did not show."""
        shape = [sorted(self.switched_off), self.index_row_chars, self.evidence_root, self.passive]
        return hashlib.sha256(json.dumps(shape).encode()).hexdigest()


def current(store: Store) -> Settings:
    """Return the settings as they are stored now; rules that cannot be read count as switched off."""
    stated = settings_of(store)
    return Settings(switched_off(stated), stated.index_row_chars, stated.evidence_root, stated.passive)


def loosened(before: Settings, after: Settings) -> tuple[str, ...]:
    """Return a sentence for everything that would land more easily afterwards."""
    return tuple(sentence for sentence, is_laxer in _differences(before, after) if is_laxer)


def differences(before: Settings, after: Settings) -> tuple[str, ...]:
    """Return a sentence for every setting that differs."""
    return tuple(sentence for sentence, _ in _differences(before, after))


def _differences(before: Settings, after: Settings) -> Iterator[tuple[str, bool]]:
    for kind in sorted(after.switched_off - before.switched_off):
        yield f"Edits of the rule {kind} wait for a person.", False
    for kind in sorted(before.switched_off - after.switched_off):
        yield f"Edits of the rule {kind} land by proof.", True
    if before.index_row_chars != after.index_row_chars:
        sentence = f"Index rows of more than {after.index_row_chars} characters may be shortened."
        yield sentence, after.index_row_chars < before.index_row_chars
    if before.evidence_root != after.evidence_root:
        root = shown_name(after.evidence_root)
        sentence = f"Evidence is looked up in “{root}”." if root else "Evidence is not looked up."
        yield sentence, before.evidence_root != ""
    if before.passive != after.passive:
        yield ("New facts land unread.", True) if after.passive else ("New facts wait for a person.", False)


def configure(store: Store, *, person: User, shown: str, wanted: Settings, confirmed: bool = False) -> Decision | None:
    """Set a store. Effects in order, under its lock, so that no change lands by half-known rules:

    1. Compare permission, what the person saw, and every value.
    2. Save, and record who set what. Returns None, and records nothing, when nothing differs.

    Args: shown: hash of what the form showed. confirmed: the person gave their password just now.
    Raises: NotPermittedError; StaleViewError when somebody else set it meanwhile; SettingError; ConfirmationError;
        BusyError.
    """
    require_maintainer(person, store)
    with locked(store) as shop:
        before = current(shop.store)
        after = Settings(
            wanted.switched_off,
            wanted.index_row_chars,
            _checked_root(wanted.evidence_root, before.evidence_root, person),
            wanted.passive,
        )
        told = differences(before, after)
        if not told:
            return None
        if before.shown() != shown:
            raise StaleViewError(
                "These settings changed since you opened the page. Nothing was saved; this is how they stand now."
            )
        _check(shop.store, after)
        laxer = loosened(before, after)
        if laxer and not confirmed:
            raise ConfirmationError(laxer)
        with transaction.atomic():
            Store.objects.filter(pk=store.pk).update(
                switched_off=sorted(map(str, after.switched_off)),
                index_row_chars=after.index_row_chars,
                evidence_root=after.evidence_root,
                passive=after.passive,
            )
            return ledger.record(Decision(store=store, verb=Verb.CONFIGURE, person=person, note=" ".join(told)))


def _check(store: Store, wanted: Settings) -> None:
    if not wanted.switched_off <= SAFE_KINDS:
        raise SettingError("rules", "Only rules that prove an edit harmless can be switched off. Nothing was saved.")
    if not Store.MIN_ROW_CHARS <= wanted.index_row_chars <= Store.MAX_ROW_CHARS:
        raise SettingError(
            "index_row_chars",
            f"Choose between {Store.MIN_ROW_CHARS} and {Store.MAX_ROW_CHARS} characters. Nothing was saved.",
        )
    if wanted.passive and store.scope != Scope.PRIVATE:
        raise SettingError("passive", "What a team reads is always read by a person first. Nothing was saved.")


def may_name_folder(person: User) -> bool:
    """Whether a person may name a folder of this machine: whoever else signs in has no business in its files."""
    return person.is_superuser


def _checked_root(text: str, before: str, person: User) -> str:
    """Return the real path of an evidence folder, "" for none."""
    stated = text.strip()
    if stated == before:
        return before
    if not may_name_folder(person):
        raise NotPermittedError("Only the owner of this installation names a folder of its disk. Nothing was saved.")
    if not stated:
        return ""
    root, home = _folder(stated), Path(settings.HOME).resolve()
    if root is None:
        raise SettingError("evidence_root", "Name a folder on this machine by its full path. Nothing was saved.")
    if root == Path(root.anchor) or Path.home().resolve().is_relative_to(root):
        raise SettingError("evidence_root", "That is too much; name the folder of the code itself. Nothing was saved.")
    if root.is_relative_to(home) or home.is_relative_to(root):
        raise SettingError("evidence_root", "The data folder of memoryreview is no evidence. Nothing was saved.")
    if any(root.is_relative_to(kept) for kept in Store.objects.values_list("root", flat=True)):
        raise SettingError("evidence_root", "A memory is no evidence for a memory. Nothing was saved.")
    return str(root)


def _folder(stated: str) -> Path | None:
    """Return the real path of a folder that is there."""
    if "\0" in stated or len(stated) > MAX_ROOT_CHARS:
        return None
    try:
        path = Path(stated).expanduser()
        return path.resolve() if path.is_absolute() and path.is_dir() else None
    except (OSError, RuntimeError):  # not readable, or the home of nobody
        return None
