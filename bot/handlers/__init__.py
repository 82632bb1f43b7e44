"""Events to effects. A handler reads through its context, decides, and returns what should be written; it writes nothing.

The command line, the webhook's worker and the backlog scan call the same functions with the same values.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import cast

from bot.catalogue.catalogue import Catalogue
from bot.config import RepoConfig
from bot.model import Effect, Event
from bot.registry import HANDLERS
from bot.trackers import Tracker


@dataclass(frozen=True, slots=True)
class Context:
    """What a handler may look at: the repository on its tracker, its catalogue (None when none is built), its configuration.

    ``record_url`` makes the address of a record's page from its id.
    """

    tracker: Tracker
    catalogue: Catalogue | None
    config: RepoConfig
    record_url: Callable[[str], str]


Handler = Callable[[Event, Context], tuple[Effect, ...]]


def handle(event: Event, context: Context) -> tuple[Effect, ...]:
    """What should be written because of this event, in the order of its writing; nothing for an event that nobody handles.

    Raises Gone and Unavailable when the tracker does while being read.
    """
    entry = HANDLERS.get(event.name)
    if entry is None or event.by_bot:
        return ()
    return cast(Handler, entry.value)(event, context)
