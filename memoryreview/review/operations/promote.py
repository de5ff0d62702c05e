"""Carry a document from a private store to a team's: it always waits, with its provenance."""

from __future__ import annotations

from pathlib import Path

from django.contrib.auth.models import User

from memoryreview.baseline.sessions import working_directories
from memoryreview.core import scan
from memoryreview.core.errors import NotUtf8Error
from memoryreview.core.formats import index
from memoryreview.core.formats import of as format_of
from memoryreview.core.frontmatter import Frontmatter, read
from memoryreview.core.model import Delta, FormatName, Scope, Severity, Tree
from memoryreview.review.models import Agent, Proposal, Store

from . import proposals
from .errors import AlreadyDecidedError, NotFoundError, NotPermittedError, RefusedChangeError, SecretDetectedError
from .judge import judge
from .proposals import Draft, Promotion, Submission
from .stores import reading


def promote(store: Store, path: str, *, to: Store, person: User) -> Proposal:
    """Propose a document of a person's store to a team of theirs. The proposal waits for a maintainer.

    Raises: NotFoundError, NotPermittedError, SecretDetectedError, AlreadyDecidedError when the same waits already.
    """
    if to.scope != Scope.TEAM or not Store.objects.visible_to(person).filter(pk=to.pk).exists():
        raise NotFoundError("team store", to.slug)
    with reading(store) as repository:
        head = repository.head() or ""
        source = Promotion(store=store, path=path, commit=head)
        made = draft(source, repository.snapshot(head), to, submission=Submission(), person=person)
    if not made.delta:
        raise NotPermittedError("The team's store holds this document already, word for word. Nothing was stored.")
    twin = Proposal.objects.live().filter(store=to, fingerprint=proposals.fingerprint(to, made.delta)).first()
    if twin is not None:
        raise AlreadyDecidedError(twin, None)
    return proposals.store_proposal(made)


def draft(
    source: Promotion,
    tree: Tree,
    target: Store,
    *,
    submission: Submission,
    agent: Agent | None = None,
    person: User | None = None,
) -> Draft:
    """Build the proposal that carries `source` into `target`: the document and its index row together."""
    content = tree.get(source.path)
    if content is None:
        raise NotFoundError("document", source.path[:120])
    _refuse_private(source, content)
    with reading(target) as repository:
        base = repository.head() or ""
        there = repository.snapshot(base)
        delta = _delta(target, there, source.path, content)
        return Draft(
            store=target,
            base=base,
            tree=there,
            delta=delta,
            classification=judge(target, there, delta, promoted_from=source.store.slug, source=submission.source),
            submission=submission,
            agent=agent,
            person=person,
            promotion=source,
        )


def _refuse_private(source: Promotion, content: bytes) -> None:
    """Notes about a person, of nobody knows whom, and what looks like a credential never go to a team."""
    try:
        text = content.decode("utf-8")
    except UnicodeDecodeError as error:
        raise NotUtf8Error(source.path, error.start) from error
    if len(working_directories(Path(source.store.root))) > 1:
        why = "Sessions in several working directories write to this folder, so nobody knows whose notes these are."
        raise RefusedChangeError("not-permitted", "scope.promote", source.path, [why])
    head = read(content)
    if isinstance(head, Frontmatter) and head.type == "user":
        raise RefusedChangeError(
            "not-permitted", "scope.promote", source.path, ["Notes of type “user” are about a person and stay private."]
        )
    secrets = [
        finding
        for finding in scan.scan(text, path=source.path, scope=Scope.TEAM)
        if finding.scanner == "secret" and finding.severity is not Severity.NOTE
    ]
    if secrets:
        raise SecretDetectedError(secrets)


def _delta(target: Store, there: Tree, path: str, content: bytes) -> Delta:
    if there.get(path) == content:
        return {}
    delta: dict[str, bytes | None] = {path: content}
    form = format_of(FormatName(target.format))
    for index_path in there:
        if not form.is_index(index_path) or index_path == path:
            continue
        rows = there[index_path]
        if all(row.target != path for row in index.rows(rows)):
            head = read(content)
            name = (
                head.name
                if isinstance(head, Frontmatter) and head.name
                else path.rsplit("/", 1)[-1].removesuffix(".md")
            )
            description = head.description if isinstance(head, Frontmatter) else ""
            delta[index_path] = index.append_row(rows, title=name, target=path, description=description)
        break
    return delta
