"""Every refusal of the agents' doors as a problem document. Source: RFC 9457."""

from __future__ import annotations

from collections.abc import Sequence

from django.http import HttpResponse, JsonResponse

from memoryreview.core.errors import MemoryReviewError

_RETRY_AFTER_S = {429: "60", 503: "1"}


class UnauthorizedError(MemoryReviewError):
    """No token, an unknown one or a revoked one: all alike, so that nothing can be learned by trying."""

    problem = "unauthorized"
    status = 401

    def __init__(self) -> None:
        super().__init__("Send the token of an agent as “Authorization: Bearer mrv_…”. Nothing was stored.")


class RouteNotFoundError(MemoryReviewError):
    problem = "not-found"
    status = 404

    def __init__(self, what: str) -> None:
        super().__init__(f"There is no such {what}. Nothing was changed.")


class MethodNotAllowedError(MemoryReviewError):
    problem = "method-not-allowed"
    status = 405

    def __init__(self, allowed: Sequence[str]) -> None:
        self.allowed = ", ".join(allowed)
        super().__init__(f"This address answers {self.allowed} only. Nothing was changed.")


class LengthRequiredError(MemoryReviewError):
    problem = "length-required"
    status = 411

    def __init__(self) -> None:
        super().__init__("The length of the body is not known. Send a Content-Length; nothing was stored.")


class UnsupportedMediaTypeError(MemoryReviewError):
    problem = "unsupported-media-type"
    status = 415

    def __init__(self, reason: str) -> None:
        super().__init__(f"{reason} Send plain “application/json” in UTF-8; nothing was stored.")


class BodyIncompleteError(MemoryReviewError):
    """The sender fell silent or went away before the end of the body."""

    problem = "body-incomplete"
    status = 408

    def __init__(self) -> None:
        super().__init__("The body did not arrive in full, or took too long. Nothing was stored; send it again.")


class SchemaInvalidError(MemoryReviewError):
    """The request does not have the shape that the API asks for.

    Args:
        faults: (place of the field, what is wrong with it), at least one. No value that was sent.
    """

    def __init__(self, faults: Sequence[tuple[str, str]]) -> None:
        self.faults = tuple(faults)
        place, message = self.faults[0]
        super().__init__(f"“{place}” {message}. Nothing was stored.")

    def members(self) -> dict[str, object]:
        return {"errors": [{"field": place, "message": message} for place, message in self.faults]}


class BodyNotUtf8Error(MemoryReviewError):
    problem = "not-utf8"

    def __init__(self, offset_bytes: int) -> None:
        self.offset_bytes = offset_bytes
        super().__init__(f"The body is not UTF-8 (byte {offset_bytes}). Nothing was stored.")

    def members(self) -> dict[str, object]:
        return {"offset": self.offset_bytes}


class InternalError(MemoryReviewError):
    problem = "internal-error"
    status = 500

    def __init__(self) -> None:
        super().__init__(
            "This is a bug in memoryreview; it was logged. Whether something was stored is not known: ask for it."
        )


def problem_response(error: MemoryReviewError) -> HttpResponse:
    """Answer with the error's problem document and the headers that go with its status."""
    document = {
        **error.members(),
        "type": error.problem,
        "title": error.problem.replace("-", " ").capitalize(),
        "status": error.status,
        "detail": str(error),
    }
    response = JsonResponse(document, status=error.status, content_type="application/problem+json")
    if isinstance(error, UnauthorizedError):
        response.headers["WWW-Authenticate"] = "Bearer"
    if isinstance(error, MethodNotAllowedError):
        response.headers["Allow"] = error.allowed
    if error.status in _RETRY_AFTER_S:
        response.headers["Retry-After"] = _RETRY_AFTER_S[error.status]
    return response
