"""Bring the catalogue up to date: `python -m tests.language.update`, from the root of the repository.

It keeps what is translated, drops what nobody says any more, and names what is left to translate in the .po.
"""

from __future__ import annotations

import os
import sys

import django


def main() -> int:
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "tests.settings")
    django.setup()
    from . import catalogue
    from .collect import messages

    found, translated = messages(), catalogue.read()
    catalogue.write(found, translated)
    missing = sorted(message for message in found if not translated.get(message))
    for message in missing:
        print(message.one)  # noqa: T201  # what is left to do
    return bool(missing)


if __name__ == "__main__":
    sys.exit(main())
