"""Errors of the baseline that more than one of its modules raises."""

from __future__ import annotations

from memoryreview.core.errors import MemoryReviewError


class BaselineError(MemoryReviewError):
    """The baseline cannot be used. `str(error)` says what is wrong, what was not changed and what to do."""

    problem = "baseline-unusable"
    status = 503


class ForeignConfigError(BaselineError):
    """The git config of a baseline is not the one that we wrote; its objects may all be there."""
