"""What pages show, as frozen values: every query, comparison and sentence is done before a template runs."""

from __future__ import annotations
