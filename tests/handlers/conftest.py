"""A context whose tracker is the stand-in, reached as in earnest."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from bot.catalogue.catalogue import Catalogue
from bot.config import RepoConfig, Settings
from bot.demo.github import StandIn
from bot.handlers import Context, Forgetful, Given, Memory, handle
from bot.model import Effect, Event
from bot.trackers.github import receive
from bot.trackers.github.app import connect

REPOSITORY = "octo/engine"


@dataclass(frozen=True)
class Remembered:
    """What is remembered, as values."""

    comments: tuple[Given, ...] = ()
    issues: tuple[int, ...] = ()
    record: str = ""
    mistake: str = ""

    def given(self, issue: int) -> tuple[Given, ...]:
        """The same for each issue."""
        return self.comments

    def issues_with(self, record: str) -> tuple[int, ...]:
        """The same for each record."""
        return self.issues

    def corrected(self, issue: int) -> str:
        """The same for each issue."""
        return self.record

    def problem(self) -> str:
        """The mistake."""
        return self.mistake


@dataclass
class Scene:
    """The stand-in, and what the handlers make of what happens there."""

    hub: StandIn
    settings: Settings
    catalogue: Catalogue | None
    config: RepoConfig = field(default_factory=RepoConfig)
    memory: Memory = field(default_factory=Forgetful)
    minimum: float = 0.0

    def remember(self, **known: object) -> None:
        """Remember these things from now on."""
        self.memory = Remembered(**known)  # type: ignore[arg-type]

    def record(self, words: str) -> str:
        """The id of the record that these words find."""
        assert self.catalogue is not None
        (found,), _ = self.catalogue.search(words, "", 1, 1)
        return found.id

    def open(self, body: str, title: str = "It fails", **more: bool) -> tuple[int, tuple[Effect, ...]]:
        """Open an issue: its number, and the effects."""
        number = self.hub.open_issue(REPOSITORY, title, body, **more).number
        return number, self.effects()

    def say(self, issue: int, body: str, user: str = "octocat") -> tuple[Effect, ...]:
        """Write a comment: the effects."""
        self.hub.comment(REPOSITORY, issue, body, user)
        return self.effects()

    def effects(self, event: Event | None = None) -> tuple[Effect, ...]:
        """What the handlers want because of an event; of the last delivery when none is given."""
        event = event or self.event()
        return handle(event, self.context()) if event else ()

    def event(self) -> Event | None:
        """The last delivery as an event."""
        delivery = self.hub.deliveries[-1]
        return receive.event(delivery.event, delivery.guid, delivery.payload)

    def context(self) -> Context:
        """What a handler may look at."""
        tracker = connect(self.settings, REPOSITORY)
        return Context(
            tracker, self.catalogue, self.config, lambda id: f"http://bot.test/errors/{id}", self.memory, self.minimum, "bot/records"
        )


@pytest.fixture
def scene(engine_catalogue: Path) -> Iterator[Scene]:
    """A repository with maintainers of every rank."""
    hub = StandIn()
    ranks = {rank: rank for rank in ("admin", "maintain", "write", "triage", "read")}
    hub.add_repository(REPOSITORY, collaborators=ranks | {"helper": "write"})
    with hub.serve():
        settings = Settings(github_url=hub.url, token=hub.token("helper"))  # type: ignore[arg-type]
        yield Scene(hub, settings, Catalogue.open(engine_catalogue))
