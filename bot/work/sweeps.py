"""Looking after what was done and what was missed: comments that stand twice, deliveries that never came, workers that died."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass
from itertools import islice

import sqlalchemy as sa
import structlog

from bot import store
from bot.model import Event
from bot.store.manners import DAY, HOUR
from bot.trackers import Ambiguous, Gone, Refused, Tracker, Unavailable
from bot.trackers.github.receive import may_command
from bot.work.desk import Desk
from bot.work.marker import fingerprint
from bot.work.posting import find_own

BEAT_SECONDS = 15.0
"""How often a worker gives a sign of life."""
SILENT_SECONDS = 120.0
"""After so long without one, its work goes to others."""
MISSED_SECONDS = 600.0
"""How often we look for what we missed."""
REPAIR_SECONDS = HOUR

OVERLAP_SECONDS = 300.0
"""What the last look may not yet have seen: lists lag, and clocks differ."""
LONGEST_LOOK_BACK = DAY
"""After a longer outage, what is older stays unanswered: people have moved on, and nobody wants them all at once."""
MAX_MISSED = 1000
"""Issues, and comments, of one repository that one look takes up."""
MAX_REPAIRED = 500

log = structlog.get_logger("bot.work")


@dataclass(frozen=True, slots=True)
class Upkeep:
    """What the sweeps are given. ``executor`` is this worker's name; ``recover`` takes over the work of others by their names."""

    engine: sa.Engine
    executor: str
    connect: Callable[[str, int | None], Tracker]
    desk: Callable[[store.Repository, Tracker], Desk]
    submit: Callable[[Event], object]
    recover: Callable[[list[str]], object]
    redeliver: Callable[[float], int] | None = None


def keep_up(upkeep: Upkeep, now: float | None = None) -> None:
    """Give a sign of life, and do what is due; to be called every few seconds. Of several workers one does each thing."""
    store.beat(upkeep.engine, upkeep.executor, now)
    now = time.time() if now is None else now
    if silent := store.take_silent(upkeep.engine, upkeep.executor, now - SILENT_SECONDS):
        log.warning("workers are silent", executors=silent)
        try:
            upkeep.recover(list(silent))
        except Exception:
            for name in silent:  # they stay silent, and the next look tries again
                store.beat(upkeep.engine, name, 0.0)
            raise
    if (last := store.claim(upkeep.engine, "missed", MISSED_SECONDS, now)) is not None:
        find_missed(upkeep, max(last - OVERLAP_SECONDS, now - LONGEST_LOOK_BACK))
    if (last := store.claim(upkeep.engine, "repair", REPAIR_SECONDS, now)) is not None:
        repair_all(upkeep, max(last - OVERLAP_SECONDS, now - LONGEST_LOOK_BACK))
        store.forget_counts(upkeep.engine, now - 2 * DAY)
        store.forget_handled(upkeep.engine, now - 3 * LONGEST_LOOK_BACK)


def find_missed(upkeep: Upkeep, since: float) -> int:
    """Take up issues and commands since then that no delivery told us of, and ask for deliveries that failed; says how many.

    A missed event stands in line like any other: it is read anew, and what was answered meanwhile is not answered again.
    """
    taken = 0
    if upkeep.redeliver is not None:
        try:
            taken += upkeep.redeliver(since)
        except (Unavailable, Gone) as error:
            log.warning("deliveries cannot be looked at", error=type(error).__name__)
    for place in store.met_since(upkeep.engine, since - 30 * DAY):
        try:
            taken += _find_missed_in(place, upkeep, since)
        except (Unavailable, Gone) as error:
            log.warning("a repository cannot be looked at", repository=place.name, error=type(error).__name__)
    if taken:
        log.info("missed", taken=taken)
    return taken


def _find_missed_in(place: store.Repository, upkeep: Upkeep, since: float) -> int:
    tracker, taken = upkeep.connect(place.name, place.installation), 0

    def take(name: str, issue: int, actor: str, comment: int | None = None) -> None:
        upkeep.submit(Event(name, place.name, place.repository_id, issue, actor, False, comment, place.installation, "missed"))

    for issue in islice(tracker.opened_since(since), MAX_MISSED):
        if not issue.by_bot and not store.is_handled(upkeep.engine, place.repository_id, "issue", issue.number):
            take("issue.opened", issue.number, issue.author)
            taken += 1
    for comment in islice(tracker.commented_since(since), MAX_MISSED):
        if comment.by_bot or comment.author_id == tracker.identity() or not may_command(comment.body):
            continue
        if not store.is_handled(upkeep.engine, place.repository_id, "comment", comment.id):
            take("comment.created", comment.issue, comment.author, comment.id)
            taken += 1
    return taken


def repair_all(upkeep: Upkeep, since: float) -> int:
    """Delete doubles on all issues whose answers changed since then; says how many."""
    known = {place.repository_id: place for place in store.met_since(upkeep.engine, since - 30 * DAY)}
    deleted = 0
    for repository_id, issue in store.changed_since(upkeep.engine, since, MAX_REPAIRED):
        if (place := known.get(repository_id)) is None:
            continue
        try:
            deleted += len(repair(upkeep.desk(place, upkeep.connect(place.name, place.installation)), issue))
        except (Unavailable, Refused, Ambiguous, Gone) as error:
            log.warning("an issue cannot be repaired", repository=place.name, issue=issue, error=type(error).__name__)
    if deleted:
        log.warning("doubles deleted", comments=deleted)
    return deleted


def repair(desk: Desk, issue: int) -> tuple[int, ...]:
    """Delete the younger ones of our comments that carry one job id; returns the ids of those deleted.

    Two such comments come from a process that lay frozen during its write longer than the settle time. Raises Unavailable,
    Refused, Ambiguous and Gone (the issue) as the tracker does; to be called again then.
    """
    kept: dict[str, int] = {}
    deleted: list[int] = []
    for job, comment in list(find_own(desk, issue)):
        if job not in kept:
            kept[job] = comment.id
            answer = store.find_job(desk.engine, job)
            if answer and answer.comment_id != comment.id:
                store.note(desk.engine, answer, comment_id=comment.id, body_hash=fingerprint(comment.body))
            continue
        try:
            desk.tracker.delete_comment(comment.id)
            deleted.append(comment.id)
        except Gone:
            continue
    return tuple(deleted)
