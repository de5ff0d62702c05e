"""Which agent is asking. A token proposes and reads; nothing that decides looks at it."""

from __future__ import annotations

import re

from django.http import HttpRequest

from memoryreview.review.models import Agent
from memoryreview.review.operations import accounts

from .problems import UnauthorizedError

_BEARER = re.compile(r"[Bb][Ee][Aa][Rr][Ee][Rr] +(mrv_[A-Za-z0-9_-]{1,200}) *")


def agent_of(request: HttpRequest) -> Agent:
    """Return the agent whose token the request carries. Raises UnauthorizedError."""
    stated = _BEARER.fullmatch(request.headers.get("Authorization", ""))
    agent = accounts.agent_by_token(stated[1]) if stated else None
    if agent is None:
        raise UnauthorizedError
    return agent
