"""Opening the database, and bringing its tables up to date."""

from __future__ import annotations

import sqlite3
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import sqlalchemy as sa
from alembic import command
from alembic.config import Config
from sqlalchemy.engine.interfaces import DBAPIConnection
from sqlalchemy.pool import ConnectionPoolEntry

BUSY_SECONDS = 30.0
"""How long SQLite waits for another writer before it gives up."""

_migrating = threading.Lock()
"""Alembic keeps the database that it works on in a global: within a process one thread at a time."""

MIGRATION_LOCK = 0x65787062
"""Key of PostgreSQL's advisory lock that one process holds while it brings the tables up to date."""


def open(url: str) -> sa.Engine:
    """An engine on the database, with all tables there and up to date.

    Processes that start at once wait for each other. A SQLite file and its folder are made when they are missing. Raises
    sqlalchemy.exc.OperationalError when the database cannot be reached.
    """
    parsed = sa.make_url(url)
    if parsed.get_backend_name() == "postgresql":
        parsed = parsed.set(drivername="postgresql+psycopg")
        engine = sa.create_engine(parsed, pool_pre_ping=True)
    else:
        if parsed.database:
            Path(parsed.database).parent.mkdir(parents=True, exist_ok=True)
        engine = sa.create_engine(parsed, connect_args={"timeout": BUSY_SECONDS})
        sa.event.listen(engine, "connect", _prepare_sqlite)
        sa.event.listen(engine, "begin", _begin)
    migrate(engine)
    return engine


def migrate(engine: sa.Engine) -> None:
    """Bring the tables up to date, in one transaction that only one process can hold."""
    config = Config()
    config.set_main_option("script_location", str(Path(__file__).parent / "migrations").replace("%", "%%"))
    with _migrating, write(engine) as connection:
        if connection.dialect.name == "postgresql":
            connection.execute(sa.select(sa.func.pg_advisory_xact_lock(MIGRATION_LOCK)))
        config.attributes["connection"] = connection
        command.upgrade(config, "head")


@contextmanager
def write(engine: sa.Engine) -> Iterator[sa.Connection]:
    """A transaction. On SQLite it holds the write lock from its first moment."""
    with engine.connect() as plain, plain.execution_options(writes=True).begin() as transaction:
        yield transaction.connection


def _prepare_sqlite(connection: DBAPIConnection, _: ConnectionPoolEntry) -> None:
    # The driver's own transactions are switched off: they begin late, and a reader that becomes a writer gets
    # SQLITE_BUSY_SNAPSHOT at once, whatever the time-out (https://www.sqlite.org/rescode.html#busy_snapshot).
    connection.isolation_level = None
    cursor = connection.cursor()
    cursor.execute(f"PRAGMA busy_timeout = {int(BUSY_SECONDS * 1000)}")
    _insist(lambda: cursor.execute("PRAGMA journal_mode = WAL"))
    cursor.execute("PRAGMA synchronous = FULL")
    cursor.close()


def _insist(action: Callable[[], object]) -> None:
    """Repeat while the file is locked: changing the journal's mode does not wait by itself."""
    end = time.monotonic() + BUSY_SECONDS
    while True:
        try:
            action()
            return
        except sqlite3.OperationalError:
            if time.monotonic() > end:
                raise
            time.sleep(0.01)


def _begin(connection: sa.Connection) -> None:
    connection.exec_driver_sql("BEGIN IMMEDIATE" if connection.get_execution_options().get("writes") else "BEGIN")
