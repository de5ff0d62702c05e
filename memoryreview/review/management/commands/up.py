from __future__ import annotations

import os
from argparse import ArgumentParser
from pathlib import Path
from typing import Any

from django.conf import settings
from django.utils.translation import gettext_noop as _

from memoryreview import serve
from memoryreview.review.management.base import MemoryCommand
from memoryreview.review.operations import accounts
from memoryreview.review.operations.reconcile import reconcile_all
from memoryreview.review.schedule import ensure_schedules


class Command(MemoryCommand):
    help = "Start the web pages, the API and the worker; stop with Ctrl-C."
    requires_system_checks = ["review"]  # noqa: RUF012

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("--host", default="127.0.0.1", help=_("address to serve at (default: 127.0.0.1)"))
        parser.add_argument("--port", type=int, default=8765, help=_("port of the pages (default: 8765)"))
        parser.add_argument("--no-open", action="store_true", help=_("do not open a browser"))

    def handle(self, *args: Any, **options: Any) -> None:
        server = serve.Server(host=options["host"], port=options["port"], home=Path(settings.HOME))
        serve.check_address(server.host, server.port)
        if "MEMORYREVIEW_PUBLIC_URL" not in os.environ:
            settings.PUBLIC_URL = os.environ["MEMORYREVIEW_PUBLIC_URL"] = server.url
        for fault in reconcile_all():
            self.stderr.write(fault)
        ensure_schedules()
        server.start()
        try:
            self._greet(server, open_browser=not options["no_open"])
        except BaseException:
            server.stop()
            raise
        server.wait()
        self.stdout.write("Stopped.")

    def _greet(self, server: serve.Server, *, open_browser: bool) -> None:
        link = accounts.owner_link()
        self.stdout.write(f"memoryreview is up: {server.url}/")
        if link is not None:
            self.stdout.write(f"Make your account with this one-time link: {link}")
        self.stdout.write(f"Data folder: {settings.HOME}. Stop with Ctrl-C.")
        self.stdout.flush()
        if open_browser:
            serve.open_browser(link or f"{server.url}/", self.stdout.write)
