"""What several suites need: folders, databases, the program's server as a process of its own, real payloads."""

from __future__ import annotations

import contextlib
import http.client
import json
import os
import re
import signal
import subprocess
import sys
import tempfile
import threading
import uuid
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import sqlalchemy as sa

from bot.catalogue.catalogue import catalogue_path
from bot.config import Settings
from bot.demo.github import StandIn
from bot.work.workflows import work_database
from tests.databases import new_database, postgres
from tests.engine import REPOSITORY, SPROCKETS, build_catalogue
from tests.work.workers import environment_of

ROOT = Path(__file__).parents[3]
SECRET = b"the secret of the battery is long enough"
UNLIMITED = {"comments_per_person": 0, "commands_per_person": 0, "comments_per_repository": 0, "write_interval": 0.0}
"""Settings under which nothing but the fault itself keeps a comment away."""

START_SECONDS = 120

_TIME = re.compile(rb"20\d\d-\d\d-\d\dT\d\d:\d\d:\d\dZ")


@contextmanager
def folder() -> Iterator[Path]:
    """An empty folder; it goes with the block."""
    with tempfile.TemporaryDirectory(prefix="explainbot-battery-") as path:
        yield Path(path)


@contextmanager
def cache_folder(*repositories: str) -> Iterator[Path]:
    """A cache folder that holds the catalogue of octo/engine, for these repositories (itself when none is named)."""
    with folder() as path:
        for name in repositories or (REPOSITORY,):
            catalogue = catalogue_path(path, name)
            catalogue.parent.mkdir(parents=True)
            build_catalogue(catalogue)
        yield path


@contextmanager
def database(kind: str) -> Iterator[str]:
    """The URL of an empty database: ``sqlite`` or ``postgresql``."""
    with ExitStack() as stack:
        if kind == "sqlite":
            yield f"sqlite:///{stack.enter_context(folder())}/bot.sqlite"
        else:
            server = stack.enter_context(postgres(uuid.uuid4().hex))
            yield stack.enter_context(new_database(server))


@dataclass
class Server:
    """A running ``explainbot serve``; ``log`` holds what it has written."""

    process: subprocess.Popen[bytes]
    port: int
    log: Path

    def kill(self) -> None:
        """Kill it and its processes with SIGKILL."""
        os.killpg(self.process.pid, signal.SIGKILL)
        self.process.wait()

    def lines(self) -> Iterator[dict[str, Any]]:
        """What its log says, as far as it is JSON."""
        for line in self.log.read_text("utf-8", "replace").splitlines():
            if line.startswith("{"):
                yield json.loads(line)


@contextmanager
def server(settings: Settings, *arguments: str, port: int = 0, command: tuple[str, ...] = ("-m", "bot.cli", "serve")) -> Iterator[Server]:
    """The program's own server (gunicorn) as a process of its own; killed at the end."""
    clean = {name: value for name, value in os.environ.items() if not name.startswith("EXPLAINBOT_")}
    with folder() as path:
        log = path / "log"
        told = threading.Event()
        found: list[int] = []
        process = subprocess.Popen(
            [sys.executable, *command, "--port", str(port), *arguments],
            env=clean | environment_of(settings) | {"PYTHONPATH": str(ROOT)},
            cwd=ROOT,
            stderr=subprocess.PIPE,
            start_new_session=True,
        )

        def read() -> None:
            assert process.stderr is not None
            with log.open("wb") as file:
                for line in process.stderr:
                    file.write(line)
                    file.flush()
                    if line.startswith(b"explainbot listens at "):
                        found.append(int(line.rsplit(b":", 1)[1]))
                        told.set()
            told.set()

        reader = threading.Thread(target=read, daemon=True)
        reader.start()
        try:
            if not told.wait(START_SECONDS) or not found:
                raise RuntimeError(f"the server did not start: {log.read_text('utf-8', 'replace')[-2000:]}")
            _await(found[0])
            yield Server(process, found[0], log)
        finally:
            if process.poll() is None:
                os.killpg(process.pid, signal.SIGKILL)
            process.wait()
            reader.join(10)


def _await(port: int) -> None:
    """Wait until a server answers: its socket is there before its processes are."""
    with contextlib.closing(http.client.HTTPConnection("127.0.0.1", port, timeout=START_SECONDS)) as connection:
        connection.request("GET", "/healthz")
        connection.getresponse().read()


def unfinished(engine: sa.Engine) -> int:
    """How many workflows of a work database have not ended."""
    table = "dbos.workflow_status" if engine.dialect.name == "postgresql" else "workflow_status"
    with engine.connect() as connection:
        return int(
            connection.exec_driver_sql(f"SELECT count(*) FROM {table} WHERE status IN ('ENQUEUED', 'PENDING', 'DELAYED')").scalar_one()
        )


def work_engine(url: str) -> sa.Engine:
    """An engine that reads the work's tables of a database."""
    return sa.create_engine(work_database(url))


@cache
def real_payloads() -> tuple[tuple[str, dict[str, Any]], ...]:
    """Payloads with their events: GitHub's own examples where their package is installed (``make contract`` does), and what the stand-in
    sends."""
    hub = StandIn(secret=SECRET)
    hub.add_repository(REPOSITORY)
    hub.open_issue(REPOSITORY, "It fails", SPROCKETS.format("alpha"))
    hub.edit_issue(REPOSITORY, 1, title="It still fails")
    comment = hub.comment(REPOSITORY, 1, "/explain")
    hub.edit_comment(REPOSITORY, comment.id, "/explain why")
    hub.set_open(REPOSITORY, 1, False)
    hub.set_open(REPOSITORY, 1, True)
    hub.webhook.close()
    # The same bytes in each run: what a seed draws must not hang on the clock.
    found = [(delivery.event, json.loads(_TIME.sub(b"2026-01-01T00:00:00Z", delivery.body))) for delivery in hub.deliveries]
    node = Path(os.environ.get("EXPLAINBOT_NODE_PACKAGES", ROOT / ".venv" / "node")) / "node_modules"
    index = node / "@octokit/webhooks-examples/api.github.com/index.json"
    if index.exists():
        for entry in json.loads(index.read_text("utf-8")):
            found += [(entry["name"], payload) for payload in entry["examples"]]
    return tuple(found)
