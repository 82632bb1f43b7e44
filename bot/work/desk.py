"""From where one writes on a repository, and how a write ends."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import sqlalchemy as sa

from bot.trackers import Tracker


@dataclass(frozen=True, slots=True)
class Desk:
    """All that is needed to write on one repository. Times are in seconds; ``partition`` names the writer whose pace is kept.

    ``actor`` is whose doing it is; at most ``per_person`` comments an hour come of one person, who may not sort issues, and
    ``per_repository`` on one repository; ``commands_per_person`` are answered in an hour (0: no limit).
    """

    engine: sa.Engine
    tracker: Tracker
    secrets: tuple[bytes, ...]
    repository_id: int
    partition: str
    settle: float
    interval: float
    actor: str = ""
    per_person: int = 0
    per_repository: int = 0
    commands_per_person: int = 0


@dataclass(frozen=True, slots=True)
class Outcome:
    """``done``: nothing is left to do. ``wait``: call again after ``seconds``.

    ``later``: the tracker asked us to stay away so long.
    """

    state: Literal["done", "wait", "later"]
    seconds: float = 0.0
    what: str = ""
