"""Named points of every durable write, for fault tests: each one is a place where a kill must lose nothing.

In order: `repository.written`; for each object, or for both files of a pack of many, `object.written`, `object.stored`;
for the branch `ref.written`, `ref.locked`, `ref.moved`, `ref.durable`; for a document `document.created`,
`document.written`, `document.compared`, `document.exchanged`, `document.replaced`, `document.durable`, or, when it
goes, `document.found`, `document.aside`, `document.removed`, `document.durable`. Operations of review add their own
between these: `intent.recorded`, `documents.written`, `change.recorded`, `decision.recorded`. Packing has
`packs.written`, `graph.written`, `objects.pruned`. Capturing has `drift.seen` between its two looks. Tidying has
`tidy.landed` and `tidy.suggested`.

When a text is erased from a history: `erasure.begun`, `rewrite.sealed`, `rewrite.brought_in`, `erasure.recorded`, those
of the branch, `rewrite.rest_dropped`, those of the documents, `erasure.replayed`, `erasure.forgotten`,
`erasure.backups_removed`, `erasure.done`.

When a new baseline begins for a store that lost its own: `anew.set_aside`, `repository.written`, those of the objects,
`intent.recorded`, those of the branch, `change.recorded`.

The product announces each step and never assigns `on_step`. Tests do, in a process of their own to kill it there, or in
this one to watch the order or to write at that moment.
"""

from __future__ import annotations

from collections.abc import Callable


def _pass(_name: str) -> None:
    return


on_step: Callable[[str], None] = _pass
