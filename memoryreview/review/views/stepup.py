"""Risky acts ask for the password again when it was not given in the last minutes."""

from __future__ import annotations

import time

from django.conf import settings
from django.contrib.auth.models import User
from django.http import HttpRequest
from django.utils.translation import gettext as _

from . import throttle

_PASSWORD_AT = "password_at"  # noqa: S105  # the name of a session key


def note_password(request: HttpRequest) -> None:
    """Remember when the password was last typed, for acts that ask for it again after a while."""
    request.session[_PASSWORD_AT] = time.time()


def asks_password(request: HttpRequest) -> bool:
    """Whether the last password entry is too long ago for a risky act. A clock that went back asks, too."""
    age_s = time.time() - float(request.session.get(_PASSWORD_AT, 0))
    return not 0 <= age_s <= settings.STEP_UP_MINUTES * 60


def step_up(request: HttpRequest) -> str:
    """Check the password that came with a risky act, where one is needed. Return "" or why it may not go on."""
    if not asks_password(request):
        return ""
    typed = request.POST.get("password", "")
    if not typed:
        return _("Type your password: it was last given more than a while ago.")
    name = request.user.get_username()
    wait_s = throttle.passwords.begin(name)
    if wait_s:
        return throttle.wait_words(wait_s)
    if not isinstance(request.user, User) or not request.user.check_password(typed):
        return _("The password is not right. Nothing was changed.")
    throttle.passwords.forget(name)
    note_password(request)
    return ""
