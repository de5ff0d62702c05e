"""Addresses of pages, by what they are about."""

from __future__ import annotations

from django.urls import URLPattern, path, register_converter
from django.urls.converters import StringConverter

from . import (
    accounts,
    batch,
    decisions,
    digest,
    erase,
    heads,
    history,
    language,
    people,
    queue,
    restore,
    saved,
    search,
    selection,
    settings,
    start,
    stores,
    system,
    tidy,
    touched,
    watch,
    writing,
)


class DocumentConverter(StringConverter):
    """Any path, line breaks included: a file's name may hold them."""

    regex = r"[\s\S]+"


class OidConverter(StringConverter):
    """A whole commit id. Documents end in `.md`, so none has such a name."""

    regex = "[0-9a-f]{40}"


register_converter(DocumentConverter, "document")
register_converter(OidConverter, "oid")

queue_urls = [
    path("", queue.queue, name="queue"),
    path("queue/fresh", queue.fresh, name="fresh"),
    path("queue/count", watch.count, name="count"),
    path("badge/<int:count>.svg", watch.badge, name="badge"),
    path("undo", decisions.undo, name="undo"),
    path("batch", batch.batch, name="batch"),
    path("views/", saved.views, name="views"),
    path("views/save", saved.save, name="view-save"),
    path("views/<int:pk>/rename", saved.rename, name="view-rename"),
    path("views/<int:pk>/delete", saved.delete, name="view-delete"),
    path("proved/", saved.proved, name="proved"),
    path("proved/look", saved.look, name="look"),
    path("proposals/<int:pk>", queue.proposal, name="proposal"),
    path("proposals/<int:pk>/lines", touched.touched, name="touched-lines"),
    path("proposals/<int:pk>/approve", decisions.approve, name="approve"),
    path("proposals/<int:pk>/reject", decisions.reject, name="reject"),
    path("proposals/<int:pk>/duplicate", decisions.duplicate, name="duplicate"),
    path("proposals/<int:pk>/ask", decisions.ask, name="ask"),
    path("proposals/<int:pk>/snooze", decisions.snooze, name="snooze"),
    path("proposals/<int:pk>/wake", decisions.wake, name="wake"),
    path("proposals/<int:pk>/reopen", decisions.reopen, name="reopen"),
    path("proposals/<int:pk>/edit", decisions.edit, name="edit"),
    path("proposals/<int:pk>/release", decisions.release, name="release"),
]
store_urls = [
    path("stores/", stores.stores, name="stores"),
    path("stores/<slug:slug>/", stores.store, name="store"),
    path("stores/<slug:slug>/write", writing.write_document, name="write-document"),
    path("stores/<slug:slug>/links", stores.document_links, name="document-links"),
    path("stores/<slug:slug>/compare", heads.choose, name="compare-heads"),
    path("stores/<slug:slug>/compare/<oid:old>...<oid:new>", heads.compare, name="compare"),
    path("stores/<slug:slug>/download", heads.download, name="store-zip"),
    path("stores/<slug:slug>/download/<oid:oid>", heads.download, name="store-zip-at"),
    path("stores/<slug:slug>/erase", erase.erase, name="erase"),
    path("stores/<slug:slug>/restore/<oid:oid>", restore.restore, name="restore"),
    path("stores/<slug:slug>/put-back", stores.put_back, name="put-back"),
    path("stores/<slug:slug>/accept-loss", stores.accept_loss, name="accept-loss"),
    path("stores/<slug:slug>/begin-anew", stores.begin_anew, name="begin-anew"),
    path("stores/<slug:slug>/<document:path>", stores.document, name="document"),
    path("search/", search.search_page, name="search"),
    path("promote", stores.promote, name="promote"),
    path("settings/", settings.settings, name="settings"),
    path("settings/<slug:slug>/", settings.store_settings, name="store-settings"),
    path("settings/<slug:slug>/folder", settings.store_folder, name="store-folder"),
    path("settings/<slug:slug>/push", settings.store_push, name="store-push"),
]
history_urls = [
    path("history/", history.history, name="history"),
    path("history/rollback", selection.roll_back_selected, name="rollback-selected"),
    path("history/keep", history.keep, name="keep"),
    path("changes/<str:oid>", history.change, name="change"),
    path("changes/<str:oid>/rollback", history.roll_back, name="rollback"),
    path("changes/<str:oid>/rollback-together", history.roll_back_together, name="rollback-together"),
    path("changes/<str:oid>/rollback-by-hand", history.roll_back_by_hand, name="rollback-by-hand"),
]
people_urls = [
    path("agents/", people.agents, name="agents"),
    path("agents/<int:pk>/revoke", people.revoke_agent, name="agent-revoke"),
    path("teams/", people.teams, name="teams"),
    path("teams/<slug:slug>/invite", people.invite, name="team-invite"),
    path("teams/<slug:slug>/role", people.set_role, name="team-role"),
    path("sign-in", accounts.sign_in, name="sign-in"),
    path("sign-out", accounts.sign_out, name="sign-out"),
    path("language", language.choose, name="language"),
    path("welcome/<str:token>", accounts.welcome, name="welcome"),
]
tidy_urls = [
    path("tidy/", tidy.page, name="tidy"),
    path("tidy/<slug:slug>/run", tidy.run, name="tidy-run"),
    path("tidy/<slug:slug>/switch", tidy.switch, name="tidy-switch"),
    path("tidy/<slug:slug>/resume", tidy.resume, name="tidy-resume"),
]
system_urls = [
    path("adopt/", start.adopt, name="adopt"),
    path("queue/first", start.first, name="first"),
    path("digest/", digest.page, name="digest"),
    path("digest/now", digest.make_now, name="digest-now"),
    path("digest/file", digest.set_file, name="digest-file"),
    path("digest/webhook", digest.set_webhook, name="digest-webhook"),
    path("digest/messages/<uuid:pk>", digest.redeliver, name="redeliver"),
    path("health/", system.health, name="health"),
    path("help/", system.help_page, name="help"),
    path("help/<slug:name>", system.help_page, name="help-page"),
]

page_urls = [*queue_urls, *store_urls, *history_urls, *people_urls, *tidy_urls, *system_urls]


def _without_slash(urls: list[URLPattern]) -> list[URLPattern]:
    """Return patterns of the same addresses typed without their last slash. None of them can be a document's."""
    routes = [str(one.pattern) for one in urls]
    return [path(route[:-1], system.with_slash) for route in routes if route.endswith("/")]


urlpatterns = [*page_urls, *_without_slash(page_urls)]
