"""The shape of what agents send and get. The OpenAPI document is made from these models."""

from __future__ import annotations

from typing import Annotated, Any, Literal, TypeAlias, TypeVar, assert_never

from pydantic import AfterValidator, BaseModel, ConfigDict, Field, ValidationError

from memoryreview.core import edits
from memoryreview.core.model import Limits
from memoryreview.review.operations.proposals import Submission
from memoryreview.review.operations.receive import Promote, Request, RequestedOperation

from .body import shown_name
from .problems import SchemaInvalidError

MAX_SHOWN_FAULTS = 20
MAX_OPERATIONS = Limits().operations


def _without_nul(text: str) -> str:
    # PostgreSQL cannot store it, and no text has a use for it.
    if "\x00" in text:
        raise ValueError
    return text


WITHOUT_NUL = AfterValidator(_without_nul)
Text: TypeAlias = Annotated[str, WITHOUT_NUL]
Oid: TypeAlias = Annotated[str, Field(pattern=r"^[0-9a-f]{40}$")]
Share: TypeAlias = Annotated[float, Field(ge=0, le=1)]


class Strict(BaseModel):
    """No coercion, no unknown fields."""

    model_config = ConfigDict(strict=True, extra="forbid", frozen=True)


class Open(BaseModel):
    """No coercion; fields beyond the named ones are kept as sent."""

    model_config = ConfigDict(strict=True, extra="allow", frozen=True)


class WriteOperation(Strict):
    """Whole text of a document. With `base_blob` the document must still be that blob."""

    op: Literal["write"]
    path: str
    content: str
    base_blob: Oid | None = None


class Replacement(Strict):
    """`old` must occur exactly once."""

    old: str
    new: str


class EditOperation(Strict):
    op: Literal["edit"]
    path: str
    edits: Annotated[list[Replacement], Field(min_length=1, max_length=MAX_OPERATIONS)]


class DeleteOperation(Strict):
    op: Literal["delete"]
    path: str


class RenameOperation(Strict):
    op: Literal["rename"]
    path: str
    to: str


class EntryAddOperation(Strict):
    """Add one entry at the place that the store's format has for new ones."""

    op: Literal["entry.add"]
    path: str
    text: str


class PromoteOperation(Strict):
    """Carry a document to a team store. Stands alone in a proposal."""

    op: Literal["promote"]
    path: str
    to_store: Text


class PatchOperation(Strict):
    """A unified diff; it applies at its exact places or not at all."""

    op: Literal["patch"]
    diff: str


OperationBody: TypeAlias = (
    WriteOperation
    | EditOperation
    | DeleteOperation
    | RenameOperation
    | EntryAddOperation
    | PromoteOperation
    | PatchOperation
)
OPERATION_NAMES = ("write", "edit", "delete", "rename", "entry.add", "promote", "patch")


class SourceFile(Open):
    path: Text
    line: Annotated[int, Field(ge=1)] | None = None
    text: Text | None = None


class Source(Open):
    """Where the agent has it from. Shown to the reviewer; new `evidence` or `files` reopen what was rejected."""

    session: Text | None = None
    task: Text | None = None
    message_index: Annotated[int, Field(ge=0)] | None = None
    evidence: Text | None = None
    files: list[SourceFile] | None = None


class Scores(Open):
    """What the agent thinks of it. Advice: no effect on what happens."""

    stable: Share | None = None
    reusable: Share | None = None


class ProposalRequest(Strict):
    store: Annotated[str, Field(min_length=1, max_length=60), WITHOUT_NUL]
    title: Annotated[str, Field(max_length=300), WITHOUT_NUL] | None = None
    rationale: Annotated[str, Field(max_length=20_000), WITHOUT_NUL] | None = None
    base: Oid | None = None
    operations: Annotated[
        list[Annotated[OperationBody, Field(discriminator="op")]], Field(min_length=1, max_length=MAX_OPERATIONS)
    ]
    source: Source | None = None
    scores: Scores | None = None
    confidence: Share | None = None
    kind: Annotated[str, Field(max_length=80), WITHOUT_NUL] | None = None


class Envelope(Strict):
    """Body of a webhook delivery."""

    type: Literal["memory.proposal"]
    timestamp: Annotated[str, Field(max_length=64), WITHOUT_NUL] | None = None
    data: ProposalRequest


Model = TypeVar("Model", bound=BaseModel)


def parse(model: type[Model], value: object) -> Model:
    """Read a JSON value as a model. Raises SchemaInvalidError that names every field, and never a value."""
    try:
        return model.model_validate(value)
    except ValidationError as error:
        faults = error.errors(include_url=False, include_input=False)[:MAX_SHOWN_FAULTS]
        raise SchemaInvalidError([(_place(fault["loc"]), _message(fault)) for fault in faults]) from None


def to_request(body: ProposalRequest) -> Request:
    """Return the request as the operations take it."""
    return Request(
        store=body.store,
        base=body.base,
        operations=tuple(_operation(operation) for operation in body.operations),
        submission=Submission(
            title=body.title or "",
            rationale=body.rationale or "",
            claimed_kind=body.kind or "",
            source=body.source.model_dump(exclude_unset=True) if body.source else {},
            scores=body.scores.model_dump(exclude_unset=True) if body.scores else {},
            confidence=body.confidence,
        ),
    )


def _operation(body: OperationBody) -> RequestedOperation:
    match body:
        case WriteOperation():
            return edits.Write(body.path, body.content, body.base_blob)
        case EditOperation():
            return edits.Edit(body.path, tuple(edits.Replacement(pair.old, pair.new) for pair in body.edits))
        case DeleteOperation():
            return edits.Delete(body.path)
        case RenameOperation():
            return edits.Rename(body.path, body.to)
        case EntryAddOperation():
            return edits.EntryAdd(body.path, body.text)
        case PromoteOperation():
            return Promote(body.path, body.to_store)
        case PatchOperation():
            return edits.Patch(body.diff)
        case _:
            assert_never(body)


def _place(location: tuple[int | str, ...]) -> str:
    """Return `operations[0].content` for pydantic's location, which also holds the name of the operation."""
    named: list[int | str] = []
    for at, step in enumerate(location):
        if at and isinstance(location[at - 1], int) and location[at - 2] == "operations" and step in OPERATION_NAMES:
            continue
        named.append(step)
    place = "".join(f"[{step}]" if isinstance(step, int) else f".{shown_name(step)}" for step in named)
    return place.removeprefix(".") or "body"


_MESSAGES = {
    "missing": "is missing",
    "extra_forbidden": "is not a known field",
    "string_type": "must be a string",
    "int_type": "must be a whole number",
    "float_type": "must be a number",
    "list_type": "must be a list",
    "dict_type": "must be an object",
    "model_type": "must be an object",
    "model_attributes_type": "must be an object",
    "string_too_short": "must not be empty",
    "too_short": "must not be empty",
    "string_too_long": "is longer than {max_length} characters",
    "too_long": "has more than {max_length} entries",
    "greater_than_equal": "must be at least {ge:g}",
    "less_than_equal": "must be at most {le:g}",
    "string_pattern_mismatch": "must be 40 lower-case hex digits",
    "literal_error": "must be {expected}",
    "value_error": "holds a NUL character",
    "union_tag_not_found": f"needs “op”: one of {', '.join(OPERATION_NAMES)}",
    "union_tag_invalid": f"has an unknown “op”; use one of {', '.join(OPERATION_NAMES)}",
}


def _message(fault: Any) -> str:
    return _MESSAGES.get(fault["type"], "is not valid").format(**fault.get("ctx", {}))
