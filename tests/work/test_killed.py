"""kill -9 at known points: the worker is a process of its own, held at a point by the stand-in, killed, and started again."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager
from pathlib import Path

import pytest

from bot.config import Settings
from bot.demo.github import Fault, StandIn
from bot.trackers.github import receive
from bot.work import workflows
from tests.engine import REPOSITORY, SPROCKETS
from tests.work.workers import Workers, workers

PATIENCE = 120.0
"""Seconds after which a test fails in place of waiting on."""


class Place:
    """The stand-in, the queue that events are put in, and workers that come and go."""

    def __init__(self, hub: StandIn, settings: Settings, started: Workers) -> None:
        self.hub = hub
        self.settings = settings
        self.workers = started

    def worker(self) -> AbstractContextManager[int]:
        """A worker that has started; killed at the end with SIGKILL."""
        return self.workers.working(self.settings)

    def open_issue(self, name: str, user: str = "octocat") -> int:
        """Open an issue and put its delivery in line."""
        issue = self.hub.open_issue(REPOSITORY, "It fails", SPROCKETS.format(name), user)
        delivery = self.hub.deliveries[-1]
        event = receive.event(delivery.event, delivery.guid, delivery.payload)
        assert event is not None
        workflows.submit(event)
        return issue.number

    def comments(self, issue: int) -> int:
        """How many comments an issue has."""
        return len(self.hub.comments(REPOSITORY, issue))

    def wait(self, predicate: Callable[[], bool]) -> None:
        """Wait for something that the stand-in can see."""
        assert self.hub.wait_for(predicate, PATIENCE)


@pytest.fixture
def place(standin: StandIn, make_settings: Callable[..., Settings], database_url: str, engine_catalogue: Path) -> Iterator[Place]:
    settings = make_settings(database_url=database_url)
    workflows.receive(settings)
    with workers(engine_catalogue) as started:
        yield Place(standin, settings, started)
    workflows.stop(0)


@pytest.mark.parametrize(
    ("database_url", "route", "kind"),
    [
        ("sqlite", "get_issue", "timeout"),
        ("sqlite", "create_comment", "timeout-before-write"),
        ("sqlite", "create_comment", "timeout"),
        ("postgresql", "create_comment", "timeout"),
    ],
    ids=["while reading", "before the comment is written", "after it is written", "after it is written, PostgreSQL"],
    indirect=["database_url"],
)
def test_a_worker_killed_and_started_again_leaves_one_comment(place: Place, route: str, kind: str) -> None:
    place.hub.plan(Fault(route, kind, seconds=PATIENCE))  # type: ignore[arg-type]
    issue = place.open_issue("alpha")
    with place.worker():
        place.wait(lambda: place.hub.count(route) > 0)
    assert place.comments(issue) == (1 if kind == "timeout" and route == "create_comment" else 0)
    with place.worker():
        place.wait(lambda: place.comments(issue) > 0)
        # The work of a second issue stands behind that of the first: when it has its comment, the first is at its end.
        second = place.open_issue("beta")
        place.wait(lambda: place.comments(second) > 0)
    assert place.comments(issue) == 1


@pytest.mark.parametrize("database_url", ["sqlite"], indirect=True)
def test_a_worker_killed_again_and_again_loses_and_doubles_nothing(place: Place) -> None:
    numbers = [place.open_issue(f"n{n}") for n in range(8)]
    place.hub.plan(*(Fault("create_comment", kind) for kind in ("502-after-write", "502-before-write") * 2))
    for _ in range(2):
        before = sum(map(place.comments, numbers))
        with place.worker():
            place.wait(lambda: sum(map(place.comments, numbers)) >= before + 2)  # noqa: B023
    with place.worker():
        place.wait(lambda: all(place.comments(number) for number in numbers))
        last = place.open_issue("last")
        place.wait(lambda: place.comments(last) > 0)
    assert [place.comments(number) for number in numbers] == [1] * len(numbers)


@pytest.mark.parametrize("database_url", ["sqlite"], indirect=True)
def test_one_persons_flood_does_not_stand_before_others(place: Place) -> None:
    flood = [place.open_issue(f"n{n}", "mallory") for n in range(8)]
    other = place.open_issue("other", "anna")
    with place.worker():
        place.wait(lambda: place.comments(other) > 0)
        assert sum(map(place.comments, flood)) < len(flood)
        place.wait(lambda: all(place.comments(number) for number in flood))
