"""Events to effects. A handler reads through its context, decides, and returns what should be written; it writes nothing.

The command line, the webhook's worker and the backlog scan call the same functions with the same values.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Protocol, cast

from bot.catalogue.catalogue import Catalogue
from bot.config import RepoConfig
from bot.model import Effect, Event
from bot.registry import HANDLERS
from bot.trackers import Tracker


@dataclass(frozen=True, slots=True)
class Given:
    """A comment of ours that stands on an issue: its purpose, and the ids of the records it is about, root cause first."""

    purpose: str
    records: tuple[str, ...]


class Memory(Protocol):
    """What is remembered of one repository."""

    def given(self, issue: int) -> tuple[Given, ...]:
        """Our comments on an issue, oldest first."""

    def issues_with(self, record: str) -> tuple[int, ...]:
        """The numbers of the issues that hold an error, ascending."""

    def corrected(self, issue: int) -> str:
        """The record that a maintainer said the issue is about; "" when nobody did."""

    def problem(self) -> str:
        """What is wrong with the repository's configuration; "" when nothing is."""


class Forgetful:
    """The memory of who remembers nothing: a dry run, the command line."""

    def given(self, issue: int) -> tuple[Given, ...]:
        """Nothing."""
        return ()

    def issues_with(self, record: str) -> tuple[int, ...]:
        """Nothing."""
        return ()

    def corrected(self, issue: int) -> str:
        """Nothing."""
        return ""

    def problem(self) -> str:
        """Nothing."""
        return ""


@dataclass(frozen=True, slots=True)
class Context:
    """What a handler may look at: the repository on its tracker, its catalogue (None when none is built), its configuration.

    ``record_url`` makes the address of a record's page from its id. ``minimum`` is the operator's least certainty of an answer
    that nobody asked for, ``records_repository`` where record files are kept (``owner/name`` or "").
    """

    tracker: Tracker
    catalogue: Catalogue | None
    config: RepoConfig
    record_url: Callable[[str], str]
    memory: Memory = field(default_factory=Forgetful)
    minimum: float = 0.0
    records_repository: str = ""


Handler = Callable[[Event, Context], tuple[Effect, ...]]


def handle(event: Event, context: Context) -> tuple[Effect, ...]:
    """What should be written because of this event, in the order of its writing; nothing for an event that nobody handles.

    Raises Gone and Unavailable when the tracker does while being read.
    """
    entry = HANDLERS.get(event.name)
    if entry is None or event.by_bot:
        return ()
    return cast(Handler, entry.value)(event, context)
