"""The App and the Action on one repository: whoever is first, each issue has one comment."""

from __future__ import annotations

import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, contextmanager
from itertools import count

from dbos import DBOS

from bot.catalogue.catalogue import Catalogue, catalogue_path
from bot.config import Settings
from bot.demo.github import Fault, StandIn
from bot.model import Event
from bot.trackers.github import receive
from bot.trackers.github.app import connect
from bot.work import workflows
from bot.work.marker import job_id, read_marker
from bot.work.once import work_once
from bot.work.passes import Runtime
from tests.bench.suites import Found, Run, chance, suite
from tests.bench.suites.scene import SECRET, UNLIMITED, cache_folder, database, folder
from tests.engine import REPOSITORY, SPROCKETS

SETTLE, LAG = 1.5, 0.15
"""Seconds to wait until a comment can be seen for sure, and that lists lag behind (10 and at most 5 in earnest)."""
RACERS = 5
ACTION = "github-actions[bot]"


@suite("fronts", "App and Action on one repository", "one comment each", full=1_000, quick=20, slice=50)
@contextmanager
def fronts(seed: int) -> Iterator[Run]:
    """Races of the App (hook, queue, worker) and the Action (one event, no database) to one issue or one command.

    They start at the same moment, or one up to two settle times later; lists lag in every third race.
    """
    with ExitStack() as stack:
        cache, place = stack.enter_context(cache_folder()), stack.enter_context(folder())
        catalogue = stack.enter_context(Catalogue.open(catalogue_path(cache, REPOSITORY)))
        hub = stack.enter_context(StandIn(secret=SECRET).serve())
        hub.state.account(ACTION, "Bot")
        for number in range(RACERS):
            hub.add_repository(f"octo-{number}/engine", collaborators={ACTION: "write"})
        more = {**UNLIMITED, "settle_seconds": SETTLE}
        url = stack.enter_context(database("sqlite"))
        app = hub.settings(database_url=url, **more)
        workflows.start(app, Runtime(lambda name, installation: connect(app, name, installation), lambda _: catalogue))
        stack.callback(workflows.stop, 0)
        pool = stack.enter_context(ThreadPoolExecutor(2 * RACERS))
        token, runs = hub.token(ACTION), count()

        def action(event: Event, delay: float) -> str:
            time.sleep(max(delay, 0.0))
            path = place / f"{next(runs)}.sqlite"
            common = {
                **more,
                "webhook_secrets": SECRET.decode(),
                "github_url": hub.url,
                "token": token,
                "database_url": f"sqlite:///{path}",
            }
            settings = Settings(**common)  # type: ignore[arg-type]
            runtime = Runtime(lambda name, _: connect(settings, name, login=ACTION), lambda _: catalogue)
            try:
                return work_once(event, settings, runtime, hub.bot.login)
            finally:
                path.unlink()

        def race(index: int) -> tuple[str, str]:
            draw = chance(seed, "fronts", index)
            name = f"octo-{index % RACERS}/engine"
            if index % 3 == 2:
                hub.plan(Fault("list_comments", "list-lag", times=4, seconds=LAG))
            if index % 4 == 3:
                issue = hub.open_issue(name, "No error", "Paint it green.").number
                comment = hub.comment(name, issue, "/explain help").id
                purpose = f"command:{comment}"
            else:
                issue, purpose, comment = hub.open_issue(name, "It fails", SPROCKETS.format(index)).number, "auto", None
            sent = next(
                d
                for d in reversed(hub.deliveries)
                if (d.payload.get("issue") or {}).get("number") == issue and d.repository_id == hub.state.repository(name).id
            )
            event = receive.event(sent.event, sent.guid, sent.payload)
            assert event is not None
            delay = draw.choice((0.0, 0.0, draw.uniform(-2 * SETTLE, 2 * SETTLE), draw.uniform(-0.2, 0.2)))
            running = pool.submit(action, event, delay)
            time.sleep(max(-delay, 0.0))
            id, returns = workflows.submit(event), 0
            said = DBOS.retrieve_workflow(id).get_result(polling_interval_sec=0.02)
            while said == "put off":
                returns += 1
                said = DBOS.retrieve_workflow(f"{id}~{returns}").get_result(polling_interval_sec=0.02)
            by_action = running.result()
            job = job_id(event.repository_id, issue, purpose)
            stand = [c.author.login for c in hub.comments(name, issue) if read_marker(c.body, (SECRET,)) == job]
            ended = "the App's" if stand == [hub.bot.login] else "the Action's"
            wrong = (
                ""
                if len(stand) == 1
                else f"{len(stand)} comments by {stand}; App: {said}, Action: {by_action}, Action {delay:+.2f} s later"
            )
            return ended, wrong

        def run(indices: range) -> Found:
            found = Found()
            with ThreadPoolExecutor(RACERS) as racers:
                for index, (ended, wrong) in zip(indices, racers.map(race, indices), strict=True):
                    found.counted[ended] += not wrong
                    if wrong:
                        found.fail(index, wrong)
            return found

        yield run
