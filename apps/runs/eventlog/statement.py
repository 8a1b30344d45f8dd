"""The log's own statements, prepared: parsing and planning them anew took a sixth of an append."""

from __future__ import annotations

import threading
from collections.abc import Sequence
from typing import Any

import psycopg
from django.db import DEFAULT_DB_ALIAS, DatabaseError, connections, transaction
from psycopg import errors

# What a pooler answers that gives each transaction another session. Nothing was executed then.
FORGOTTEN = (
    errors.InvalidSqlStatementName,
    errors.DuplicatePreparedStatement,
    errors.ProtocolViolation,
)


class _Pen(threading.local):
    """A cursor on the connection that Django holds for this thread."""

    link: psycopg.Connection[Any] | None = None
    cursor: psycopg.Cursor[Any]
    # For the whole process: whether the server remembers what was prepared.
    prepares = True

    def on(self, link: psycopg.Connection[Any]) -> psycopg.Cursor[Any]:
        if link is not self.link:
            link.prepare_threshold = 5  # Django switches it off; only here it is asked for
            self.cursor = psycopg.Cursor(link)
            self.cursor.format = psycopg.pq.Format.BINARY
            self.link = link
        return self.cursor


_pen = _Pen()


def fetch(statement: str, parameters: Sequence[Any]) -> list[tuple[Any, ...]]:
    """The rows of a statement, in the transaction that is open or in one of its own."""
    database = connections[DEFAULT_DB_ALIAS]
    try:
        return _fetch(database, statement, parameters)
    except DatabaseError as error:
        if not (_Pen.prepares and isinstance(error.__cause__, FORGOTTEN)):
            raise
        _Pen.prepares = False
        return _fetch(database, statement, parameters)


def _fetch(database: Any, statement: str, parameters: Sequence[Any]) -> list[tuple[Any, ...]]:
    if not database.in_atomic_block:
        return _execute(database, statement, parameters)
    # A savepoint, so that the caller's transaction survives a refusal.
    with transaction.atomic():
        return _execute(database, statement, parameters)


def _execute(database: Any, statement: str, parameters: Sequence[Any]) -> list[tuple[Any, ...]]:
    """Past Django's cursor, which cannot prepare, with all that it does for connection and errors.

    Whoever watches queries (a debug page, a test) gets Django's own.
    """
    if not _Pen.prepares or database.queries_logged or database.execute_wrappers:
        with database.cursor() as plain:
            plain.execute(statement, parameters)
            return list(plain.fetchall())
    database.close_if_health_check_failed()
    database.ensure_connection()
    database.validate_no_broken_transaction()
    with database.wrap_database_errors:
        cursor = _pen.on(database.connection)
        cursor.execute(statement, parameters, prepare=True)
        return cursor.fetchall()
