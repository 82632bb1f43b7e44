"""What the bot remembers in SQL: its answers, the errors that issues hold, when it may write again.

SQLite is the default, PostgreSQL is had by URL; both have the same tables. Nothing that a reporter wrote is kept: only numbers,
ids of records, and hashes. :func:`open` gives an engine, and each room of functions takes it as first argument.
"""

from __future__ import annotations

from bot.store.answers import Answer, answers_on, find_answer, find_job, intend, move, note
from bot.store.database import open, write
from bot.store.knowledge import (
    Sighting,
    correct,
    corrected,
    forget_sightings,
    issues_with,
    judge,
    judged,
    last_config,
    remember,
    remember_config,
    tally,
)
from bot.store.manners import actor_key, comments_because_of, comments_on, count_comment, forget_counts, seconds_to_room, take
from bot.store.pace import hold, reserve
from bot.store.upkeep import (
    Kind,
    Repository,
    beat,
    changed_since,
    claim,
    forget_handled,
    handled_text,
    is_handled,
    leave,
    meet,
    met_since,
    note_handled,
    take_silent,
)

__all__ = [
    "Answer",
    "Kind",
    "Repository",
    "Sighting",
    "actor_key",
    "answers_on",
    "beat",
    "changed_since",
    "claim",
    "comments_because_of",
    "comments_on",
    "correct",
    "corrected",
    "count_comment",
    "find_answer",
    "find_job",
    "forget_counts",
    "forget_handled",
    "forget_sightings",
    "handled_text",
    "hold",
    "intend",
    "is_handled",
    "issues_with",
    "judge",
    "judged",
    "last_config",
    "leave",
    "meet",
    "met_since",
    "move",
    "note",
    "note_handled",
    "open",
    "remember",
    "remember_config",
    "reserve",
    "seconds_to_room",
    "take",
    "take_silent",
    "tally",
    "write",
]
