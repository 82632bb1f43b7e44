"""The server as a process of its own, the stand-in for GitHub beside it, and how far the work on an issue is."""

from __future__ import annotations

import os
import signal
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from functools import cached_property, partial
from pathlib import Path
from typing import Any, Literal
from urllib.error import URLError
from urllib.request import urlopen

from bot.config import Settings
from bot.demo.github import StandIn, StoredComment
from bot.trackers.github.receive import Malformed, event

START_SECONDS = 30.0
"""How long the server may take until it answers."""

LOOK_SECONDS = 0.1
"""How often the work's state is looked at."""

ENDED = frozenset({"SUCCESS", "ERROR", "CANCELLED", "MAX_RECOVERY_ATTEMPTS_EXCEEDED"})
"""DBOS's words for work that goes on no more."""

State = Literal["waiting", "answered", "silent", "failed"]


class DemoError(Exception):
    """The demo cannot run; the message says why."""


class Demo:
    """A running demo. ``server`` is the address of the bot's server, ``stand_in`` what stands in for GitHub."""

    def __init__(self, repository: str, stand_in: StandIn, server: str, database: str, process: subprocess.Popen[bytes], log: Path) -> None:
        self.repository = repository
        self.stand_in = stand_in
        self.server = server
        self._database = database
        self._process = process
        self._log = log

    def await_server(self, seconds: float = START_SECONDS) -> None:
        """Wait until the server answers. Raises DemoError with its last words when it ends, or does not answer so long."""
        deadline = time.monotonic() + seconds
        while time.monotonic() < deadline:
            if self._process.poll() is not None:
                raise DemoError(f"the server ended: {self.last_words()}")
            try:
                with urlopen(f"{self.server}/healthz", timeout=1):  # noqa: S310  our own address
                    return
            except (URLError, OSError):
                time.sleep(0.05)
        raise DemoError(f"the server did not start within {seconds:.0f} s: {self.last_words()}")

    def await_end(self) -> None:
        """Wait until the server ends, which it does not by itself. Raises DemoError when it has."""
        self._process.wait()
        raise DemoError(f"the server ended: {self.last_words()}")

    def last_words(self) -> str:
        """The last lines that the server printed."""
        lines = self._log.read_text("utf-8", "replace").strip().split("\n")
        return " / ".join(line.strip() for line in lines[-3:]) or "it said nothing"

    def answers(self, number: int) -> tuple[StoredComment, ...]:
        """The bot's comments on an issue, oldest first."""
        return tuple(c for c in self.stand_in.comments(self.repository, number) if c.author == self.stand_in.bot)

    def state(self, number: int) -> State:
        """How far the bot is with the events of an issue. ``silent``: it is done and has written no comment."""
        deliveries = [d for d in self.stand_in.deliveries if d.payload.get("issue", {}).get("number") == number]
        if not all(d.done for d in deliveries):
            return "waiting"
        if deliveries and not 200 <= deliveries[-1].status_code < 300:
            return "failed"
        if any(self._works_on(d.event, d.guid, d.payload) for d in deliveries):
            return "waiting"
        return "answered" if self.answers(number) else "silent"

    def wait(self, number: int, seconds: float, seen: str | None = None) -> State:
        """Wait until the bot is done with an issue, at most so long.

        With ``seen`` (see :meth:`mark`), only until the comments are others than those.
        """
        deadline = time.monotonic() + seconds
        while (state := self.state(number)) == "waiting" and (left := deadline - time.monotonic()) > 0:
            now = self.mark(number)
            if seen not in (None, now):
                break
            # A comment wakes us at once; that the work is done without one is only to be seen by looking again.
            self.stand_in.wait_for(partial(self._is_other, number, now), min(left, LOOK_SECONDS))
        return state

    def _is_other(self, number: int, mark: str) -> bool:
        return self.mark(number) != mark

    def mark(self, number: int) -> str:
        """Changes with every change of the comments of an issue."""
        comments = self.stand_in.comments(self.repository, number)
        return "-".join(f"{c.id}.{c.updated.timestamp():.6f}.{len(c.reactions)}" for c in comments) or "none"

    def warm_up(self) -> None:
        """Load now what looking at the work needs; it takes a moment."""
        self._client  # noqa: B018

    def _works_on(self, name: str, delivery: str, payload: dict[str, Any]) -> bool:
        """Whether the work on a delivery that was taken is not done yet."""
        from bot.work.workflows import work_id

        try:
            what = event(name, delivery, payload)
        except Malformed:
            return False
        if what is None or what.by_bot:
            return False
        works = self._client.list_workflows(workflow_id_prefix=work_id(what), load_input=False, load_output=False)
        return not works or any(work.status not in ENDED for work in works)

    @cached_property
    def _client(self) -> Any:
        from dbos import DBOSClient

        from bot.work.workflows import work_database

        return DBOSClient(system_database_url=work_database(self._database))


@contextmanager
def run(repository: str, settings: Settings, files: dict[str, str] | None = None) -> Iterator[Demo]:
    """A demo of one repository, with a fresh database, while the block runs; all on loopback.

    The server starts meanwhile; what is sent to it waits until it is up, see :meth:`Demo.await_server`. ``files`` are files of the
    repository, such as ``.github/explainbot.yml``.
    """
    with tempfile.TemporaryDirectory(prefix="explainbot-demo-") as folder, socket.create_server(("127.0.0.1", 0)) as listening:
        server = f"http://127.0.0.1:{listening.getsockname()[1]}"
        stand_in = StandIn(f"{server}/hooks/github", senders=4)
        stand_in.add_repository(repository, files=files)
        with stand_in.serve():
            database = f"sqlite:///{Path(folder) / 'demo.sqlite'}"
            environment = _environment(stand_in, settings, server, database, folder)
            log = Path(folder) / "server.log"
            with _started(listening, environment, log) as process:
                yield Demo(repository, stand_in, server, database, process, log)


def _environment(stand_in: StandIn, settings: Settings, server: str, database: str, folder: str) -> dict[str, str]:
    kept = {name: value for name, value in os.environ.items() if not name.startswith("EXPLAINBOT_")}
    return kept | {
        "EXPLAINBOT_WEBHOOK_SECRETS": stand_in.secret.decode(),
        "EXPLAINBOT_APP_ID": str(stand_in.facts.id),
        "EXPLAINBOT_PRIVATE_KEY": stand_in.private_key,
        "EXPLAINBOT_GITHUB_URL": stand_in.url,
        "EXPLAINBOT_DATABASE_URL": database,
        "EXPLAINBOT_DATA_DIR": folder,
        "EXPLAINBOT_PUBLIC_URL": server,
        "EXPLAINBOT_ERRORS_DIR": str(settings.errors_dir.absolute()),
        "EXPLAINBOT_CACHE_DIR": str(settings.cache_dir.absolute()),
        # The stand-in has no limits to keep to, and its list of comments does not lag.
        "EXPLAINBOT_WRITE_INTERVAL": "0",
        "EXPLAINBOT_SETTLE_SECONDS": "1",
        # Whoever tries it opens many issues.
        "EXPLAINBOT_COMMENTS_PER_PERSON": "0",
        "EXPLAINBOT_COMMANDS_PER_PERSON": "0",
        "EXPLAINBOT_COMMENTS_PER_REPOSITORY": "0",
    }


@contextmanager
def _started(listening: socket.socket, environment: dict[str, str], log: Path) -> Iterator[subprocess.Popen[bytes]]:
    command = [sys.executable, "-m", "bot.cli", "serve", "--listen-fd", str(listening.fileno()), "--with-parent"]
    with log.open("wb") as output:
        process = subprocess.Popen(
            command,
            env=environment,
            pass_fds=[listening.fileno()],
            stdin=subprocess.DEVNULL,
            stdout=output,
            stderr=output,
            start_new_session=True,
        )
    # From here on the server alone listens: when it has ended, nobody is kept waiting.
    listening.close()
    try:
        yield process
    finally:
        # No need for a soft end: what is unfinished goes with the database.
        with suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)
        process.wait()
