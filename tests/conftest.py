"""What all tests share: both databases, and a small catalogue."""

from __future__ import annotations

import os
import uuid
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.databases import new_database, postgres
from tests.engine import build_catalogue


@pytest.fixture(scope="session")
def postgres_url() -> Iterator[str]:
    """A PostgreSQL server for the whole run, started at the first use; the workers of one run share it."""
    with postgres(os.environ.get("PYTEST_XDIST_TESTRUNUID") or uuid.uuid4().hex) as url:
        yield url


@pytest.fixture(params=["sqlite", "postgresql"])
def database_url(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[str]:
    """The URL of an empty database, once on SQLite and once on PostgreSQL."""
    if request.param == "sqlite":
        yield f"sqlite:///{tmp_path}/explainbot.sqlite"
        return
    with new_database(request.getfixturevalue("postgres_url")) as url:
        yield url


@pytest.fixture(scope="session")
def engine_catalogue(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The built catalogue of octo/engine."""
    path = tmp_path_factory.mktemp("catalogue") / "engine.sqlite"
    build_catalogue(path)
    return path
