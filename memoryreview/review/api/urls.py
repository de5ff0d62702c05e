"""Addresses of the agents' doors. `urlpatterns` stand below `api/v1/`, `hook_urlpatterns` below `hooks/v1/`.

`stray_urlpatterns` answer what is asked beside them, of another version say: a problem too, never a page.
"""

from __future__ import annotations

from django.urls import path, register_converter
from django.urls.converters import StringConverter

from . import views, webhook


class AnythingConverter(StringConverter):
    """Line breaks included: names of adopted files may hold them, and no address falls through to the pages."""

    regex = r"[\s\S]+"


register_converter(AnythingConverter, "anything")

urlpatterns = [
    path("proposals", views.proposals, name="api-proposals"),
    path("proposals/<int:proposal_id>", views.proposal, name="api-proposal"),
    path("preview", views.preview, name="api-preview"),
    path("stores", views.stores, name="api-stores"),
    path("stores/<slug:slug>", views.store, name="api-store"),
    path("stores/<slug:slug>/files", views.files, name="api-files"),
    path("stores/<slug:slug>/files/<anything:path>", views.file, name="api-file"),
    path("openapi.json", views.schema, name="api-schema"),
    path("", views.unknown, name="api-root"),
    path("<anything:rest>", views.unknown, name="api-unknown"),
]
hook_urlpatterns = [
    path("<str:agent>", webhook.delivery, name="hook"),
    path("", views.unknown, name="hook-root"),
    path("<anything:rest>", views.unknown, name="hook-unknown"),
]
stray_urlpatterns = [path("", views.unknown), path("<anything:rest>", views.unknown)]
