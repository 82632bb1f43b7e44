"""What the bot remembers in SQL: its answers, the errors that issues hold, when it may write again.

SQLite is the default, PostgreSQL is had by URL; both have the same tables. Nothing that a reporter wrote is kept: only numbers,
ids of records, and hashes. :func:`open` gives an engine, and each room of functions takes it as first argument.
"""

from __future__ import annotations

from bot.store.answers import Answer, answers_since, find_answer, find_job, intend, move, note
from bot.store.database import open, write
from bot.store.knowledge import Sighting, forget_sightings, issues_with, judge, judged, last_config, remember, remember_config
from bot.store.pace import hold, reserve

__all__ = [
    "Answer",
    "Sighting",
    "answers_since",
    "find_answer",
    "find_job",
    "forget_sightings",
    "hold",
    "intend",
    "issues_with",
    "judge",
    "judged",
    "last_config",
    "move",
    "note",
    "open",
    "remember",
    "remember_config",
    "reserve",
    "write",
]
