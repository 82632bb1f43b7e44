"""Events to effects. A handler reads through its context, decides, and returns what should be written; it writes nothing.

The command line, the webhook's worker and the backlog scan call the same functions with the same values.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from bot.catalogue.catalogue import Catalogue
from bot.config import RepoConfig
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
