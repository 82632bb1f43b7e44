"""Faults of GitHub while workers are killed with SIGKILL: whatever breaks, each answer is one comment."""

from __future__ import annotations

import random
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from math import ceil

from bot.config import Settings
from bot.demo.github import Fault, StandIn, faults_of
from bot.demo.github.faults import Kind
from bot.trackers.github import receive
from bot.work import workflows
from bot.work.marker import job_id, read_marker
from tests.bench.suites import Found, Run, chance, suite
from tests.bench.suites.scene import SECRET, UNLIMITED, folder, unfinished, work_engine
from tests.databases import new_database, postgres
from tests.engine import SPROCKETS, build_catalogue
from tests.work.workers import Workers, workers

JOBS = 50
"""Answers of one slice, on one database: of four, three are automatic and one is asked for by a command."""
KILLS_OF_A_JOB = 0.22
"""A little more than one for five jobs, because the last ones may find nothing left to do."""
REPOSITORIES = 12
LIFE = (0.02, 0.3)
"""Seconds that a worker lives, at least and at most, from when it has started."""

KINDS: tuple[Kind, ...] = (
    "502-before-write",
    "502-after-write",
    "reset-before-write",
    "reset",
    "timeout-before-write",
    "timeout",
    "401",
    "429",
    "403-primary",
    "403-secondary",
    "list-lag",
)
ROUTES = ("create_comment",) * 5 + ("create_reaction", "list_comments", "get_issue", "get_content")
FAULTS_OF_A_LIFE = 3
SETTLE, LAG, PAUSE = 0.5, 0.2, 0.5
"""Seconds to wait after a write of unknown outcome, that lists lag behind, and to pause where GitHub names no time (10, at most 5, and
60 in earnest: everything here runs about twenty times as fast)."""
PATIENCE = 180.0


@suite("faults", "faults of GitHub × kill -9, SQLite and PostgreSQL", "0 lost, 0 doubled", full=10_000, quick=JOBS + 8, slice=JOBS)
@contextmanager
def faults(seed: int) -> Iterator[Run]:
    """Slices of jobs, in turns on SQLite (one worker) and on PostgreSQL (two); a worker is killed, and another of its name goes on."""
    with ExitStack() as stack:
        place = stack.enter_context(folder())
        build_catalogue(place / "engine.sqlite")
        nursery = stack.enter_context(workers(place / "engine.sqlite", log=place / "log"))
        servers: list[str] = []

        def run(indices: range) -> Found:
            draw, found = chance(seed, "faults", indices.start), Found()
            with ExitStack() as slice:
                if (indices.start // JOBS) % 2:
                    if not servers:
                        servers.append(stack.enter_context(postgres(place.name)))
                    url, names = slice.enter_context(new_database(servers[0])), ["worker-0", "worker-1"]
                else:
                    url, names = f"sqlite:///{slice.enter_context(folder())}/bot.sqlite", ["worker-0"]
                hub = slice.enter_context(StandIn(secret=SECRET).serve())
                for number in range(REPOSITORIES):
                    hub.add_repository(_name(number), collaborators={"helper": "write"})
                more = {**UNLIMITED, "settle_seconds": SETTLE, "github_url": hub.url, "database_url": url}
                settings = Settings(webhook_secrets=SECRET.decode(), token=hub.token("helper"), **more)  # type: ignore[arg-type]
                workflows.receive(settings)
                slice.callback(workflows.stop, 0)
                jobs = _open(hub, indices)
                _live_and_die(hub, settings, nursery, names, draw, len(jobs), found)
                _judge(hub, jobs, found)
            found.counted["SQLite jobs" if len(names) == 1 else "PostgreSQL jobs"] += len(indices)
            return found

        yield run


def _name(index: int) -> str:
    # Each owner has an installation of its own, and its own line in the queue with it.
    return f"octo-{index % REPOSITORIES}/engine"


def _open(hub: StandIn, indices: range) -> dict[str, int]:
    """Open issues, ask for answers, and put all deliveries in line: the job of each answer with its index."""
    jobs: dict[str, int] = {}
    for index in indices:
        name = _name(index // 4)
        id = hub.state.repository(name).id
        if index % 4 == 3:
            issue = hub.issues(name)[0].number
            jobs[job_id(id, issue, f"command:{hub.comment(name, issue, '/explain help').id}")] = index
        else:
            jobs[job_id(id, hub.open_issue(name, "It fails", SPROCKETS.format(index)).number, "auto")] = index
    for delivery in hub.deliveries:
        if event := receive.event(delivery.event, delivery.guid, delivery.payload):
            workflows.submit(event)
    return jobs


def _live_and_die(
    hub: StandIn, settings: Settings, nursery: Workers, names: list[str], draw: random.Random, jobs: int, found: Found
) -> None:
    """Let workers come and be killed until the kills are used up, then let the work come to its end."""
    engine = work_engine(settings.database)
    alive = {name: nursery.start(settings, name, PAUSE) for name in names}
    try:
        for life in range(ceil(KILLS_OF_A_JOB * jobs)):
            name = names[life % len(names)]
            hub.plan(*_faults(draw))
            time.sleep(draw.uniform(*LIFE))
            if not unfinished(engine):
                break
            found.counted["kills"] += 1
            if not nursery.kill(alive[name]):
                found.fail(0, "a worker ended by itself")
            alive[name] = nursery.start(settings, name, PAUSE)
        deadline = time.monotonic() + PATIENCE
        while left := unfinished(engine):
            if time.monotonic() > deadline:
                found.fail(0, f"{left} works came to no end")
                return
            time.sleep(0.05)
    finally:
        for pid in alive.values():
            nursery.kill(pid)
        engine.dispose()


def _faults(draw: random.Random) -> tuple[Fault, ...]:
    """What goes wrong during one life."""
    made = faults_of(draw.randrange(2**32), FAULTS_OF_A_LIFE, KINDS, ROUTES, seconds=LAG)
    # One limit in three says how long to wait: a second, which is the least that can be said.
    return tuple(
        Fault(fault.when, fault.kind, seconds=1.0)
        if fault.kind in ("429", "403-primary", "403-secondary") and draw.random() < 0.33
        else fault
        for fault in made
    )


def _judge(hub: StandIn, jobs: dict[str, int], found: Found) -> None:
    """Each job has to be one comment of ours."""
    written: Counter[str] = Counter()
    for repository in hub.state.repositories.values():
        for comment in repository.comments.values():
            if comment.author.login == "helper":
                written[read_marker(comment.body, (SECRET,)) or "none"] += 1
    found.counted["faults"] += sum(seen.status == 0 or seen.status >= 400 for seen in hub.seen if seen.route != "get_content")
    for job, index in jobs.items():
        if written[job] != 1:
            found.fail(index, "lost" if not written[job] else f"doubled: {written[job]} comments")
    for job in written.keys() - jobs.keys():
        found.fail(0, f"a comment that nobody asked for, of job {job}")
