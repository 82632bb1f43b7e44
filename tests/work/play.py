"""A small play: people act on the stand-in, and what is delivered is worked on in this process, without a queue."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass, field, replace

from bot.catalogue.catalogue import Catalogue
from bot.config import RepoConfig, Settings
from bot.demo.github import StandIn
from bot.handlers import Context, handle
from bot.model import Event
from bot.trackers import Gone, Unavailable
from bot.trackers.github import receive
from bot.trackers.github.app import connect
from bot.work.carrying import carry_out
from bot.work.desk import Desk
from bot.work.manners import before_reading
from bot.work.memory import StoredMemory
from tests.engine import REPOSITORY, SPROCKETS


@dataclass
class Play:
    """Deliveries are worked on in this process, one after another, with every wait kept."""

    hub: StandIn
    desk: Desk
    catalogue: Catalogue
    config: RepoConfig = field(default_factory=RepoConfig)
    sent: int = 0
    between: Callable[[], object] | None = None
    """Called after each attempt that had to be put off because GitHub could not be read."""

    def run(self) -> list[str]:
        """Work on what happened since the last call, and say how each ended."""
        new = self.hub.deliveries[self.sent :]
        self.sent += len(new)
        events = [receive.event(delivery.event, delivery.guid, delivery.payload) for delivery in new]
        return [self.work(event) for event in events if event is not None]

    def work(self, event: Event) -> str:
        """Work on one event to its end."""
        place = self.hub.state.repository(event.repository)
        tracker = connect(Settings(github_url=self.hub.url, token=self.desk.tracker.token), event.repository)  # type: ignore[attr-defined]
        desk = replace(self.desk, tracker=tracker, actor=event.actor, repository_id=place.id)
        memory = StoredMemory(desk.engine, place.id)
        context = Context(tracker, self.catalogue, self.config, lambda id: f"http://bot.test/errors/{id}", memory)
        did: list[str] = []
        if early := before_reading(event, desk):
            return early.what
        while True:
            try:
                outcome, now_did = carry_out(handle(event, context), event, desk, self.catalogue, frozenset(did))
            except Gone:
                return "gone"
            except Unavailable:
                if self.between:
                    self.between()
                continue
            did += now_did
            if outcome.state == "done":
                return outcome.what
            time.sleep(outcome.seconds)

    def open(self, body: str = SPROCKETS.format("a"), user: str = "octocat") -> int:
        """Open an issue and work on it: its number."""
        number = self.hub.open_issue(REPOSITORY, "It fails", body, user).number
        self.run()
        return number

    def say(self, issue: int, body: str, user: str = "octocat") -> list[str]:
        """Write a comment, work on it, and say which reactions it got."""
        comment = self.hub.comment(REPOSITORY, issue, body, user)
        self.run()
        (stored,) = [c for c in self.hub.comments(REPOSITORY, issue) if c.id == comment.id]
        return [reaction.content for reaction in stored.reactions]

    def own(self, issue: int, repository: str = REPOSITORY) -> list[str]:
        """What our comments on an issue say, without their markers."""
        return [c.body.split("\n\n<!-- eb:")[0] for c in self.hub.comments(repository, issue) if c.author.login == "helper"]

    def record(self, words: str) -> str:
        """The id of the record that these words find."""
        (found,), _ = self.catalogue.search(words, "", 1, 1)
        return found.id
