"""Looking after what was done: comments that stand twice."""

from __future__ import annotations

from bot import store
from bot.trackers import Gone
from bot.work.marker import fingerprint
from bot.work.posting import Desk, find_own


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
