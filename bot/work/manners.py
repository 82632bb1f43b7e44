"""When nothing more is written: limits for an issue, a person, a repository and an installation, all kept in the store."""

from __future__ import annotations

import time

from bot import store
from bot.model import Event
from bot.store.manners import DAY, HOUR
from bot.trackers import Tracker, Unavailable, may_sort
from bot.work.desk import Desk, Outcome

MAX_COMMENTS_A_DAY = 3
"""Comments of ours that one issue gets in 24 hours, for whatever purpose, so that nobody can fill an issue through us."""

MAX_PER_PARTITION = 400
"""Comments in an hour of one installation; GitHub allows about 500, people's own included
(https://docs.github.com/en/rest/using-the-rest-api/rate-limits-for-the-rest-api#about-secondary-rate-limits)."""

ENOUGH = frozenset({"enough for this issue", "enough for this person"})
"""Outcomes of a comment that was not written, because there are enough."""


def before_reading(event: Event, desk: Desk, first: bool = True) -> Outcome | None:
    """What can be said of an event without reading anything: a flood must not use up our requests. None: go on.

    ``first`` says that nothing was done because of the event yet.
    """
    if event.comment and first and desk.commands_per_person:
        name = f"commands/{store.actor_key(event.actor)}"
        if not store.take(desk.engine, name, desk.commands_per_person, HOUR) and not surely_sorts(desk.tracker, event.actor):
            return Outcome("done", what="enough for this person")
    if event.name in ("issue.edited", "comment.edited"):
        return None  # what stands there already may have to change
    if _is_spent(desk):
        return Outcome("done", what="enough for this person")
    if wait := room(desk):
        return Outcome("wait", wait, "no room in this hour")
    return None


def enough(issue: int, desk: Desk) -> str:
    """Why no further comment is written on an issue now; "" when one may be."""
    if store.comments_on(desk.engine, desk.repository_id, issue, time.time() - DAY) >= MAX_COMMENTS_A_DAY:
        return "enough for this issue"
    return "enough for this person" if _is_spent(desk) else ""


def room(desk: Desk) -> float:
    """Seconds until the hour has room for another comment in this repository and of this installation; 0.0 when it has.

    Without a limit for the repository there is none at all.
    """
    if not desk.per_repository:
        return 0.0
    wait = store.seconds_to_room(desk.engine, "partition", desk.partition, MAX_PER_PARTITION)
    return max(wait, store.seconds_to_room(desk.engine, "repository_id", desk.repository_id, desk.per_repository))


def _is_spent(desk: Desk) -> bool:
    """Whether one person has caused as many comments in the last hour as one may who may not sort issues."""
    if not desk.per_person or not desk.actor:
        return False
    caused = store.comments_because_of(desk.engine, desk.actor, time.time() - HOUR)
    return caused >= desk.per_person and not surely_sorts(desk.tracker, desk.actor)


def surely_sorts(tracker: Tracker, user: str) -> bool:
    """Whether a user may sort issues there; what cannot be read counts as not allowed."""
    try:
        return may_sort(tracker, user)
    except Unavailable:
        return False
