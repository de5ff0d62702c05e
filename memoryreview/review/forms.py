"""Forms of people: sign-in, the first account, agents and teams. Decisions are plain fields, checked by operations."""

from __future__ import annotations

from typing import Any

from django import forms
from django.contrib.auth.forms import AuthenticationForm
from django.http import HttpRequest
from django.utils.text import format_lazy
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from memoryreview.review.models import Role

PASSWORD_MIN_CHARS = 12


class SignInForm(AuthenticationForm):
    def __init__(self, request: HttpRequest | None = None, *args: Any, **kwargs: Any) -> None:
        super().__init__(request, *args, **kwargs)
        self.error_messages = {
            "invalid_login": _("Name and password do not fit together. Both mind capital letters."),
            "inactive": _("This account is closed."),
        }


class WelcomeForm(forms.Form):
    username = forms.CharField(
        label=gettext_lazy("Name"),
        max_length=150,
        widget=forms.TextInput(attrs={"autocomplete": "username", "autofocus": True}),
    )
    password = forms.CharField(
        label=gettext_lazy("Password"),
        min_length=PASSWORD_MIN_CHARS,
        strip=False,
        help_text=format_lazy(
            gettext_lazy("At least {count} characters. A sentence is easy to remember."), count=PASSWORD_MIN_CHARS
        ),
        widget=forms.PasswordInput(attrs={"autocomplete": "new-password"}),
    )
    again = forms.CharField(
        label=gettext_lazy("Password again"),
        strip=False,
        widget=forms.PasswordInput(attrs={"autocomplete": "new-password"}),
    )

    def clean(self) -> dict[str, object]:
        values = super().clean() or {}
        if values.get("password") and values.get("again") and values["password"] != values["again"]:
            self.add_error("again", _("The two passwords differ."))
        return values


class AgentForm(forms.Form):
    name = forms.CharField(
        label=gettext_lazy("Name"),
        max_length=40,
        help_text=gettext_lazy(
            "1 to 40 of a–z, 0–9, dot, dash, underscore. It stands beside everything that the agent proposes."
        ),
        widget=forms.TextInput(attrs={"autocomplete": "off", "spellcheck": "false"}),
    )


class RoleForm(forms.Form):
    """What a role field may hold; "none" takes a person out of a team."""

    role = forms.ChoiceField(choices=[(str(role), str(role)) for role in Role] + [("none", "none")])
