"""Questions that are built and compiled once: for a page of the queue both take several times what the answers do."""

from __future__ import annotations

from collections.abc import Mapping
from copy import copy
from datetime import timedelta
from typing import Any, Generic, TypeVar

from django.core.exceptions import EmptyResultSet
from django.db import connections
from django.db.backends.base.base import BaseDatabaseWrapper
from django.db.models import BigIntegerField, DateTimeField, Expression, Field, QuerySet
from django.db.models.sql.compiler import SQLCompiler

_Row = TypeVar("_Row")


class Slot(Expression):
    """A value that a prepared question is asked with, by its name; `less` is taken from it."""

    def __init__(self, name: str, output_field: Field[Any, Any], *, less: Any = None) -> None:
        super().__init__(output_field=output_field)
        self.name, self.less = name, less

    def given(self, values: Mapping[str, Any], connection: BaseDatabaseWrapper) -> object:
        value = values[self.name] if self.less is None else values[self.name] - self.less
        return self.output_field.get_db_prep_value(value, connection)

    def as_sql(self, compiler: SQLCompiler, connection: Any) -> tuple[str, Any]:
        return "%s", [self]


def number(name: str) -> Slot:
    """Leave a whole number open, such as the id of a row."""
    return Slot(name, BigIntegerField())


def now(*, less: timedelta | None = None) -> Slot:
    """Return the time at which a question is asked: a time that is built into one would stay that of the first."""
    return Slot("now", DateTimeField(), less=less)


class Prepared(Generic[_Row]):
    """A question as the database gets it, with slots left open. Answers are never kept.

    Whoever keeps one keeps it by all values that it was built of, apart from those in slots: the time is one of them.
    """

    def __init__(self, found: QuerySet[Any, _Row]) -> None:
        self._found = found
        self._compiler = found.all().query.get_compiler(found.db)
        try:
            self._statement: tuple[str, tuple[Any, ...]] | None = self._compiler.as_sql()
        except EmptyResultSet:
            self._statement = None
        del self._compiler.connection  # that of this thread, which may end before its questions do

    def ask(self, **values: Any) -> list[_Row]:
        """Return the rows. Args: values: one for each slot."""
        if self._statement is None:
            return []
        sql, found = self._statement
        connection = connections[self._found.db]
        given = tuple(one.given(values, connection) if isinstance(one, Slot) else one for one in found)
        asked = self._found.all()
        compiler = copy(self._compiler)
        compiler.connection = connection
        compiler.as_sql = lambda *_, **__: (sql, given)
        asked.query.get_compiler = lambda *_, **__: compiler  # type: ignore[method-assign]
        return list(asked)
