"""From a delivery to what it leads to, durably: DBOS keeps the work in SQL and goes on with it after a crash.

``submit`` puts an event in line and returns once that is committed. A worker (``start``) takes the events of one installation one
after another, so that its writes keep their pace and two deliveries of one issue never meet. An event is only a hint: each pass
reads the issue as it is now, asks the handler, and carries out what is not done yet.

A pass is one step of a workflow. It keeps no text, only what was done and how long to wait, so that nothing of a reporter's
lies in the work's tables, and so that after any wait the newest state of the issue counts.
"""

from __future__ import annotations

import sqlite3
import threading
import time
import traceback
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import sqlalchemy as sa
import structlog
from dbos import DBOS, DBOSClient, DBOSConfig, EnqueueOptions, WorkflowSerializationFormat
from dbos._serialization import DBOSPortableJSON

from bot import store
from bot.config import RepoConfig, Settings
from bot.model import Event
from bot.registry import HANDLERS, load
from bot.trackers import Gone, Tracker, Unavailable
from bot.work.desk import Desk, Outcome
from bot.work.logs import log_as_json, log_library_as_json
from bot.work.passes import Runtime, partition_of, work_on
from bot.work.sweeps import BEAT_SECONDS, Upkeep, keep_up
from bot.work.turns import Turns

APPLICATION = "explainbot"

APPLICATION_VERSION = "1"
"""DBOS goes on only with work of the same version. It stays when the code changes; raise it only when work that is already stored
cannot be understood any more, after the old workers have emptied the queue."""

QUEUE = "events"
POLL_SECONDS = 0.1
"""How often a worker looks for new events: with it an idle worker answers within a second."""
WORKERS = 32
"""Events that one process works on at the same time, at most one for each installation."""

MAX_PASSES = 64
"""Passes over one event before it is given up: each comment has at most eight attempts, and waits for its pace between them."""
MAX_RETURNS = 16
"""How often an event is put off when the tracker cannot be reached: with the growing waits, about a day."""
MAX_PUT_OFFS = 500
"""How often an event may wait for quiet hours to end, or for room in the hour."""
LONGEST_WAIT = 30.0
"""Seconds that a workflow may sleep in its worker; a longer wait goes back into the queue."""
LONGEST_RETURN = 2 * 3600.0

COMMAND_FIRST = 1
"""Priority of a command, whose author waits for it; the smaller number goes first. What the same person has put in line lately is
added, so that a flood does not delay others."""
ISSUE_NEXT = 2

log = structlog.get_logger("bot.work")


@dataclass(slots=True)
class _Worker:
    settings: Settings
    runtime: Runtime
    engine: sa.Engine
    configs: dict[int, tuple[float, RepoConfig]]
    executor: str
    ended: threading.Event
    keeper: threading.Thread | None = None


_worker: _Worker | None = None
_client: DBOSClient | None = None
_lock = threading.Lock()
_turns = Turns()


# ------------------------------------------------------------------------------------------------ starting and stopping


def work_database(url: str) -> str:
    """Where DBOS keeps the work: in the same PostgreSQL database (in a schema of its own), or in a SQLite file beside ours."""
    parsed = sa.make_url(url)
    if parsed.get_backend_name() == "postgresql" or not parsed.database:
        return url
    path = Path(parsed.database)
    return parsed.set(database=str(path.with_name(f"{path.stem}-work{path.suffix}"))).render_as_string(hide_password=False)


def start(settings: Settings, runtime: Runtime, executor: str = "worker-0") -> None:
    """Work in this process until :func:`stop`; what an earlier process of the same ``executor`` left unfinished goes on first.

    ``executor`` must be the same after a restart, and no two running processes may share it. Raises ConfigError when there is no
    usable webhook secret, sqlalchemy.exc.OperationalError when the database cannot be reached.
    """
    global _worker
    settings.secrets  # noqa: B018  fails here and not at the first comment
    load(HANDLERS.package)
    with _lock:
        if _worker is not None:
            raise RuntimeError("a worker already runs in this process")
        _worker = _Worker(settings, runtime, store.open(settings.database), {}, executor, threading.Event())
    receive(settings)
    DBOS(config=_dbos_config(work_database(settings.database), executor))
    log_library_as_json("dbos")
    DBOS.launch()
    _worker.keeper = threading.Thread(target=_keep_up, args=(_worker,), daemon=True, name="upkeep")
    _worker.keeper.start()
    log.info("worker started", executor=executor, database=_worker.engine.dialect.name)


def stop(seconds: int = 10) -> None:
    """Let running passes end, at most so long; what is left goes on at the next start."""
    global _worker, _client
    with _lock:
        worker, _worker = _worker, None
        client, _client = _client, None
    if worker is not None:
        worker.ended.set()
        if worker.keeper is not None:
            worker.keeper.join(max(seconds, 1))
        DBOS.destroy(workflow_completion_timeout_sec=seconds)
        store.leave(worker.engine, worker.executor)
        worker.engine.dispose()
        log.info("worker stopped")
    if client is not None:
        client.destroy()


def receive(settings: Settings) -> None:
    """Make :func:`submit` work in a process that does not work itself: the events wait for a worker.

    To be called after a server's processes have forked. Raises sqlalchemy.exc.OperationalError when the database cannot be
    reached.
    """
    global _client
    log_as_json()
    url = work_database(settings.database)
    with _lock:
        if _client is None:
            _prefer_wal(url)
            DBOS.migrate(url)
            _client = DBOSClient(system_database_url=url, serializer=DBOSPortableJSON, application_name=APPLICATION)
            _client.register_queue(QUEUE, partition_concurrency=1, worker_concurrency=WORKERS, polling_interval_sec=POLL_SECONDS)


def _keep_up(worker: _Worker) -> None:
    """The sweeps, every few seconds until the worker ends; nothing that goes wrong in one ends them."""

    def desk(place: store.Repository, tracker: Tracker) -> Desk:
        partition = f"installation:{place.installation}" if place.installation else f"repository:{place.repository_id}"
        settings = worker.settings
        return Desk(
            worker.engine, tracker, settings.secrets, place.repository_id, partition, settings.settle_seconds, settings.write_interval
        )

    upkeep = Upkeep(
        worker.engine, worker.executor, worker.runtime.connect, desk, submit, DBOS._recover_pending_workflows, worker.runtime.redeliver
    )
    while not worker.ended.is_set():
        try:
            keep_up(upkeep)
        except Exception as error:
            place = traceback.extract_tb(error.__traceback__)[-1]
            log.error("upkeep failed", error=type(error).__name__, file=Path(place.filename).name, line=place.lineno)
        worker.ended.wait(BEAT_SECONDS)


def submit(event: Event) -> str:
    """Put an event in line and return the id of its work, once that is committed; the same event again starts nothing.

    Raises RuntimeError when neither :func:`start` nor :func:`receive` was called, sqlalchemy.exc.DBAPIError when the database
    refuses, so that the delivery can be answered with an error and is seen as failed.
    """
    id = work_id(event)
    _enqueue(id, event, [], 0, 0.0, _turns.take(partition_of(event), event.actor))
    return id


def work_id(event: Event) -> str:
    """The id of an event's work: the delivery, and what it is about."""
    comment = f"/{event.comment}" if event.comment else ""
    return f"{event.name}:{event.repository_id}/{event.issue}{comment}:{event.delivery}"


def _enqueue(id: str, event: Event, did: list[str], returns: int, delay: float, behind: int = 0) -> None:
    """Commit work under an id; one that is already used is left as it is, so a step that calls this may run twice.

    It stands ``behind`` so many others of its kind.
    """
    options: EnqueueOptions = {
        "workflow_name": "deliver",
        "queue_name": QUEUE,
        "workflow_id": id,
        "app_version": APPLICATION_VERSION,
        "queue_partition_key": partition_of(event),
        "priority": (COMMAND_FIRST if event.name.startswith("comment.") else ISSUE_NEXT) + behind,
        "serialization_type": WorkflowSerializationFormat.PORTABLE,
        "application_name": APPLICATION,
    }
    if delay:
        options["delay_seconds"] = delay
    if _client is None:
        raise RuntimeError("neither a worker nor a receiver was started in this process")
    _client.enqueue(options, asdict(event), did, returns)


def _dbos_config(url: str, executor: str) -> DBOSConfig:
    return {
        "name": APPLICATION,
        "system_database_url": url,
        "application_version": APPLICATION_VERSION,
        "executor_id": executor,
        # JSON in place of the default, pickle: who can write to the database must not be able to run code.
        "serializer": DBOSPortableJSON,
        "log_level": "WARNING",
    }


def _prefer_wal(url: str) -> None:
    """Give DBOS's SQLite file a write-ahead log, which it keeps from then on: receivers then never wait for readers."""
    parsed = sa.make_url(url)
    if parsed.get_backend_name() == "sqlite" and parsed.database:
        Path(parsed.database).parent.mkdir(parents=True, exist_ok=True)
        connection = sqlite3.connect(parsed.database, timeout=30)
        try:
            connection.execute("PRAGMA journal_mode = WAL")
        except sqlite3.OperationalError:
            pass  # another process is at it
        finally:
            connection.close()


# ------------------------------------------------------------------------------------------------------------- the work


@DBOS.workflow(name="deliver")
def deliver(event: dict[str, Any], did: list[str], returns: int) -> str:
    """Work on one event until all is done, with durable waits; says how it ended."""
    id = DBOS.workflow_id or ""
    for _ in range(MAX_PASSES):
        ended = run_pass(event, did)
        did = did + ended["did"]
        if ended["state"] == "done":
            return str(ended["what"])
        seconds = float(ended["seconds"])
        if ended["state"] == "later" or seconds > LONGEST_WAIT:
            # Only a tracker that is away uses up returns: a wait for quiet hours or for room in the hour has its end.
            if returns >= (MAX_RETURNS if ended["state"] == "later" else MAX_PUT_OFFS):
                log.error("given up", work=id, why=ended["what"])
                return "given up"
            seconds = max(seconds, min(2.0 ** min(returns, 20), LONGEST_RETURN) if ended["state"] == "later" else 0.0)
            _enqueue(f"{id.split('~')[0]}~{returns + 1}", Event(**event), did, returns + 1, seconds)
            return "put off"
        DBOS.sleep(seconds)
    log.error("given up", work=id, why="too many passes")
    return "given up"


@DBOS.step(name="pass")
def run_pass(event: dict[str, Any], did: list[str]) -> dict[str, Any]:
    """Read, decide, and carry out what is not in ``did``, up to the first thing that has to wait."""
    what = Event(**event)
    known = {"work": work_id(what), "repository": what.repository, "issue": what.issue}
    begun = time.monotonic()
    try:
        ended, now_did = _work_on(what, frozenset(did))
    except Unavailable as error:
        ended, now_did = Outcome("later", error.retry_after, "unavailable"), []
        if _worker is not None:
            store.hold(_worker.engine, partition_of(what), error.retry_after)
    except Gone:
        ended, now_did = Outcome("done", what="gone"), []
    except Exception as error:
        # The message and the local values may hold what a reporter wrote; the type and the place do not.
        place = traceback.extract_tb(error.__traceback__)[-1]
        log.error("a pass failed", error=type(error).__name__, file=Path(place.filename).name, line=place.lineno, **known)
        ended, now_did = Outcome("later", 30.0, type(error).__name__), []
    log.info("pass", state=ended.state, what=ended.what, did=now_did, seconds=round(time.monotonic() - begun, 3), **known)
    return {"state": ended.state, "seconds": ended.seconds, "what": ended.what, "did": now_did}


def _work_on(event: Event, did: frozenset[str]) -> tuple[Outcome, list[str]]:
    if _worker is None:
        raise RuntimeError("the worker was stopped")
    return work_on(event, did, _worker.settings, _worker.engine, _worker.runtime, _worker.configs)
