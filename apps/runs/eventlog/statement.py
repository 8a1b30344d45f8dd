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

    def on(self, link: psycopg.Connection[Any]) -> psycopg.Cursor[Any]:
        if link is not self.link:
            self.cursor = psycopg.Cursor(link)
            self.cursor.format = psycopg.pq.Format.BINARY
            self.link = link
        return self.cursor


_pen = _Pen()
_prepares = True


def fetch(statement: str, parameters: Sequence[Any]) -> list[tuple[Any, ...]]:
    """The rows of a statement, in the transaction that is open or in one of its own."""
    global _prepares
    database = connections[DEFAULT_DB_ALIAS]
    try:
        return _fetch(database, statement, parameters)
    except DatabaseError as error:
        if not (_prepares and isinstance(error.__cause__, FORGOTTEN)):
            raise
        _prepares = False
        return _fetch(database, statement, parameters)


def _fetch(database: Any, statement: str, parameters: Sequence[Any]) -> list[tuple[Any, ...]]:
    if not database.in_atomic_block:
        return _execute(database, statement, parameters)
    database.validate_no_broken_transaction()
    # A savepoint, so that the caller's transaction survives a refusal.
    with transaction.atomic():
        return _execute(database, statement, parameters)


def _execute(database: Any, statement: str, parameters: Sequence[Any]) -> list[tuple[Any, ...]]:
    """Past Django's cursor, which cannot prepare, with all that it does for connection and errors.

    Whoever watches queries (a debug page, a test) gets Django's own.
    """
    if not _prepares or database.queries_logged or database.execute_wrappers:
        with database.cursor() as plain:
            plain.execute(statement, parameters)
            return list(plain.fetchall())
    database.close_if_health_check_failed()
    if database.connection is None:
        database.ensure_connection()
    link = database.connection
    # Only meanwhile: else psycopg would also remember the text of each of Django's own queries.
    link.prepare_threshold = 0
    try:
        cursor = _pen.on(link)
        cursor.execute(statement, parameters, prepare=True)
        return cursor.fetchall()
    except psycopg.Error:
        with database.wrap_database_errors:
            raise
    finally:
        link.prepare_threshold = None
