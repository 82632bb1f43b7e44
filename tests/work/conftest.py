"""A repository on the stand-in, reached as the bot reaches GitHub, and a desk to write from."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

from bot import store
from bot.config import Settings
from bot.demo.github import StandIn, StoredComment
from bot.model import Effect, PostAnswer
from bot.trackers.github.app import connect
from bot.work.desk import Desk, Outcome
from bot.work.posting import perform

REPOSITORY = "octo/engine"
SECRET = b"a secret that is long enough to be one."


@pytest.fixture
def standin() -> Iterator[StandIn]:
    """The stand-in with one repository, served on loopback."""
    hub = StandIn(secret=SECRET)
    hub.add_repository(REPOSITORY, collaborators={"helper": "write", "maintainer": "triage"})
    with hub.serve():
        yield hub


@pytest.fixture
def make_settings(standin: StandIn, tmp_path: Path) -> Callable[..., Settings]:
    """Settings of an operator whose bot is the user ``helper`` on the stand-in."""

    def make(**changes: object) -> Settings:
        values: dict[str, object] = {
            "webhook_secrets": SECRET.decode(),
            "token": standin.token("helper"),
            "github_url": standin.url,
            "database_url": f"sqlite:///{tmp_path}/explainbot.sqlite",
            "settle_seconds": 0.3,
            "write_interval": 0.0,
            "comments_per_person": 0,
            "commands_per_person": 0,
            "comments_per_repository": 0,
        }
        return Settings(**(values | changes))  # type: ignore[arg-type]

    return make


@dataclass
class Bench:
    """A desk at the stand-in, and what stands on its issue."""

    hub: StandIn
    desk: Desk
    issue: int

    def run(self, effect: Effect) -> list[Outcome]:
        """Carry an effect out to its end, keeping to every wait."""
        outcomes = [perform(effect, self.desk)]
        while outcomes[-1].state != "done":
            time.sleep(outcomes[-1].seconds)
            outcomes.append(perform(effect, self.desk))
        return outcomes

    def post(self, text: str, purpose: str = "auto") -> list[Outcome]:
        """Post an answer."""
        return self.run(PostAnswer(self.issue, purpose, text))

    @property
    def comments(self) -> tuple[StoredComment, ...]:
        """All comments on the issue."""
        return self.hub.comments(REPOSITORY, self.issue)

    @property
    def texts(self) -> list[str]:
        """What the comments say, without their markers."""
        return [comment.body.split("\n\n<!-- eb:")[0] for comment in self.comments]


@pytest.fixture
def bench(standin: StandIn, make_settings: Callable[..., Settings], database_url: str) -> Bench:
    """A desk on each database, and an open issue."""
    settings = make_settings(database_url=database_url)
    issue = standin.open_issue(REPOSITORY, "It fails", "text").number
    repository_id = standin.state.repository(REPOSITORY).id
    desk = Desk(
        engine=store.open(database_url),
        tracker=connect(settings, REPOSITORY),
        secrets=settings.secrets,
        repository_id=repository_id,
        partition=f"repository:{repository_id}",
        settle=settings.settle_seconds,
        interval=settings.write_interval,
    )
    return Bench(standin, desk, issue)
