"""A burst: thousands of issues in a minute, most of them by one person."""

from __future__ import annotations

import threading
import time
from collections import Counter, defaultdict
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, contextmanager
from statistics import quantiles

import requests

from bot.demo.github import StandIn
from tests.bench.suites import Found, Run, suite
from tests.bench.suites.scene import SECRET, cache_folder, database, server, unfinished, work_engine
from tests.engine import SPROCKETS

ISSUES, MINUTE = 5_000, 60.0
OWNERS = 20
"""Installations; in the first one of them everybody waits behind the flood."""
FLOOD = 5
"""Each of so many issues is one of the flood: all of one person, in the first installation."""
PACE = 0.5
"""Seconds between two comments of one installation (3 in earnest, which would make a run of hours)."""
PER_PERSON = 5
PATIENCE = 1200.0
SLACK = 0.35
"""Share of the pace by which two comments may come closer together than they were sent: threads, and the way through the stand-in."""


@suite(
    "burst",
    "5,000 issues in a minute",
    "nothing lost, never above the pace, a flood delays nobody else",
    full=ISSUES,
    quick=100,
    slice=ISSUES,
)
@contextmanager
def burst(seed: int) -> Iterator[Run]:
    """Issues are opened evenly over a minute (fewer: over a share of it), delivered to gunicorn, and answered at the pace that is set."""

    def run(indices: range) -> Found:
        found = Found()
        with ExitStack() as stack:
            names = [f"octo-{number}/engine" for number in range(OWNERS)]
            url, cache = stack.enter_context(database("sqlite")), stack.enter_context(cache_folder(*names))
            hub = stack.enter_context(StandIn(secret=SECRET).serve())
            for name in names:
                hub.add_repository(name)
            more = {"comments_per_person": PER_PERSON, "commands_per_person": 20, "comments_per_repository": 1000}
            settings = hub.settings(
                **more,
                private_key=hub.private_key,
                webhook_secrets=SECRET.decode(),
                database_url=url,
                cache_dir=cache,
                write_interval=PACE,
                settle_seconds=1,
            )
            serving = stack.enter_context(server(settings, "--threads", "8"))
            opened = _open(hub, indices, serving.port, found)
            written = _watch(hub, url, found)
            _judge(opened, written, found)
        return found

    yield run


def _open(hub: StandIn, indices: range, port: int, found: Found) -> dict[tuple[str, int], tuple[str, float]]:
    """Open the issues and deliver them at once; says who opened which, and when."""
    opened: dict[tuple[str, int], tuple[str, float]] = {}
    lock, local = threading.Lock(), threading.local()
    begun, each = time.monotonic(), MINUTE / ISSUES

    def one(index: int) -> None:
        time.sleep(max(0.0, begun + index * each - time.monotonic()))
        flood = index % FLOOD == 0
        user, name = ("mallory", "octo-0/engine") if flood else (f"user-{index}", f"octo-{(index - index // FLOOD) % OWNERS}/engine")
        with lock, hub.changed:
            before = len(hub.webhook.deliveries)
            issue = hub.open_issue(name, "It fails", SPROCKETS.format(index), user)
            delivery = hub.webhook.deliveries[before]
            opened[name, issue.number] = user, time.monotonic()
        if not hasattr(local, "session"):
            local.session = requests.Session()
        answer = local.session.post(f"http://127.0.0.1:{port}/hooks/github", data=delivery.body, headers=delivery.headers, timeout=30)
        if answer.status_code != 202:
            found.fail(index, f"answered {answer.status_code}")

    with ThreadPoolExecutor(16) as pool:
        list(pool.map(one, indices))
    found.counted["seconds to deliver"] = round(time.monotonic() - begun)
    return opened


def _watch(hub: StandIn, url: str, found: Found) -> dict[tuple[str, int], list[float]]:
    """Wait until all work has come to its end; says when each comment came."""
    written: dict[tuple[str, int], list[float]] = defaultdict(list)
    engine = work_engine(url)
    known: set[int] = set()

    def note() -> None:
        now = time.monotonic()
        with hub.changed:
            for repository in hub.state.repositories.values():
                for comment in repository.comments.values():
                    if comment.id not in known:
                        known.add(comment.id)
                        written[repository.full_name, comment.issue].append(now - (time.time() - comment.created.timestamp()))

    deadline = time.monotonic() + PATIENCE
    while unfinished(engine):
        if time.monotonic() > deadline:
            found.fail(0, f"{unfinished(engine)} works came to no end")
            break
        time.sleep(0.5)
    note()
    engine.dispose()
    return written


def _judge(opened: dict[tuple[str, int], tuple[str, float]], written: dict[tuple[str, int], list[float]], found: Found) -> None:
    by_person: Counter[str] = Counter()
    waits: dict[bool, list[float]] = {True: [], False: []}
    times: dict[str, list[float]] = defaultdict(list)
    for at, (place, (user, begun)) in enumerate(opened.items()):
        came = written.get(place, [])
        by_person[user] += len(came)
        times[place[0]] += came
        if user != "mallory":
            if len(came) != 1:
                found.fail(at, f"{len(came)} comments on issue {place} of {user}")
            else:
                waits[place[0] == "octo-0/engine"].append(came[0] - begun)
    found.counted["comments"] = sum(by_person.values())
    if by_person["mallory"] > PER_PERSON:
        found.fail(0, f"{by_person['mallory']} comments because of one person")
    for place, moments in times.items():
        moments.sort()
        for at in range(len(moments) - 10):
            if moments[at + 10] - moments[at] < (10 - 2 * SLACK) * PACE:
                found.fail(0, f"ten comments within {moments[at + 10] - moments[at]:.2f} s in {place}")
                break
    beside, free = (_p95(waits[flooded]) for flooded in (True, False))
    found.counted["p95 s to a comment beside the flood"], found.counted["p95 s elsewhere"] = round(beside), round(free)
    if beside > free + 5:
        found.fail(0, f"beside the flood people wait {beside:.1f} s, elsewhere {free:.1f} s")


def _p95(values: list[float]) -> float:
    return quantiles(values, n=20)[-1] if len(values) > 1 else max(values, default=0.0)
