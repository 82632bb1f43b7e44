"""Making the tracker look as a handler says: exactly one comment for each answer, whatever breaks in between.

The protocol. An intent is committed before a comment is written, and the comment carries a marker. When nobody knows how a write
ended (a time-out, a server error, a killed process), the next attempt waits until a comment that did arrive can be seen in the
list, looks for our marker in comments of ours, and writes again only when there is none. PyGithub and others retry such writes by
themselves, which doubles comments (probot/probot#921).

Each function does at most one write and comes back with what happened; it never waits itself.
"""

from __future__ import annotations

import time
from collections.abc import Iterator
from typing import Any, Literal

from bot import store
from bot.answering.shorter import shorten
from bot.model import (
    AddLabels,
    AllowAnswer,
    Comment,
    Correct,
    DropAnswer,
    Effect,
    FoldAnswer,
    Judge,
    PostAnswer,
    React,
    Remember,
    UnfoldAnswer,
    WithdrawAnswer,
)
from bot.store import Answer
from bot.trackers import Ambiguous, Gone, Refused, TooLong, Unavailable
from bot.work.desk import Desk, Outcome
from bot.work.manners import enough, room
from bot.work.marker import fingerprint, job_id, mark, read_marker

MAX_ATTEMPTS = 8
"""Writes of one comment that may end without an answer before we give up."""

LIGHT_INTERVAL = 1.0
"""Seconds after a write that notifies nobody: at least one between two writes, three after one that notifies
(https://docs.github.com/en/rest/using-the-rest-api/best-practices-for-using-the-rest-api#pause-between-mutative-requests)."""

DELETED = "somebody deleted the comment"
NOT_WANTED = "somebody asked for silence"
TOO_LONG = "too long"
ANOTHER = "another front end answers"
"""An App and an Action of ours work on one repository with the same secret: what the other has written is not written again."""


def perform(effect: Effect, desk: Desk) -> Outcome:
    """Carry out one effect as far as it goes now; to be called again until it is done.

    ``Remember``, ``Judge`` and ``Correct`` are not for the tracker and raise TypeError here.
    """
    try:
        match effect:
            case PostAnswer():
                return _post(effect, desk)
            case WithdrawAnswer():
                return _withdraw(effect, desk)
            case React() | AddLabels():
                return _touch(effect, desk)
            case DropAnswer():
                return _drop(effect, desk)
            case FoldAnswer():
                return _fold(effect, desk)
            case UnfoldAnswer() | AllowAnswer():
                return _lift(effect, desk)
            case Remember() | Judge() | Correct():
                raise TypeError("nothing to write on a tracker")
    except Unavailable as error:
        store.hold(desk.engine, desk.partition, error.retry_after)
        return Outcome("later", error.retry_after, "unavailable")


def find_own(desk: Desk, issue: int) -> Iterator[tuple[str, Comment]]:
    """Our comments on an issue with the job ids of their markers, oldest first; what others pasted is passed over."""
    us = desk.tracker.identity()
    return ((job, comment) for job, comment in _marked(desk, issue) if comment.author_id == us)


def _marked(desk: Desk, issue: int) -> Iterator[tuple[str, Comment]]:
    """The comments of an issue that carry a marker made with our secret, whoever wrote them, oldest first."""
    for comment in desk.tracker.comments(issue):
        if job := read_marker(comment.body, desk.secrets):
            yield job, comment


def _post(effect: PostAnswer, desk: Desk) -> Outcome:
    answer = store.find_answer(desk.engine, desk.repository_id, effect.issue, effect.purpose)
    if answer is None:
        answer = _intend(desk, effect)
    if answer.state == "dead":
        if answer.reason in (DELETED, NOT_WANTED):
            return Outcome("done", what="left deleted")
        # A new event gives it another chance, which begins with a look because attempts is not 0.
        store.note(desk.engine, answer, state="intent", attempts=1, reason="")
        answer = _again(desk, effect)
    if answer.comment_id is None:
        if answer.attempts and (wait := _unsettled(answer, desk)):
            return Outcome("wait", wait, "settling")
        if _look(answer, desk):
            return Outcome("done", what=ANOTHER)
        answer = _again(desk, effect)
    if answer.comment_id is None:
        return _create(effect, answer, desk)
    if answer.state == "folded" and answer.records == " ".join(effect.records):
        return Outcome("done", what="left folded")
    if answer.state == "posted" and answer.body_hash == fingerprint(effect.body):
        return Outcome("done", what="unchanged")
    return _edit(effect, answer, desk, "posted")


def _withdraw(effect: WithdrawAnswer, desk: Desk) -> Outcome:
    answer = store.find_answer(desk.engine, desk.repository_id, effect.issue, effect.purpose)
    if answer is None or answer.state == "dead":
        return Outcome("done", what="nothing to withdraw")
    if answer.comment_id is None and answer.attempts:
        if wait := _unsettled(answer, desk):
            return Outcome("wait", wait, "settling")
        _look(answer, desk)
        answer = _again(desk, effect)
    if answer.comment_id is None:
        store.note(desk.engine, answer, state="withdrawn", attempts=0)
        return Outcome("done", what="nothing to withdraw")
    if answer.state == "withdrawn" and answer.body_hash == fingerprint(effect.body):
        return Outcome("done", what="unchanged")
    return _edit(effect, answer, desk, "withdrawn")


def _fold(effect: FoldAnswer, desk: Desk) -> Outcome:
    answer = store.find_answer(desk.engine, desk.repository_id, effect.issue, effect.purpose)
    if answer is None or answer.comment_id is None or answer.state not in ("posted", "folded"):
        return Outcome("done", what="nothing to fold")
    if answer.state == "folded" and answer.body_hash:
        return Outcome("done", what="unchanged")
    return _edit(effect, answer, desk, "folded")


def _lift(effect: UnfoldAnswer | AllowAnswer, desk: Desk) -> Outcome:
    """Take back a fold or a silence; the comment itself is written by what comes after."""
    answer = store.find_answer(desk.engine, desk.repository_id, effect.issue, effect.purpose)
    if isinstance(effect, UnfoldAnswer) and answer and answer.state == "folded":
        store.note(desk.engine, answer, state="posted", body_hash="")
    if isinstance(effect, AllowAnswer) and answer and answer.state == "dead" and answer.reason == NOT_WANTED:
        # Attempts are not 0, so that the next writer looks first whether a comment stands there after all.
        store.note(desk.engine, answer, state="intent", attempts=1, reason="")
    return Outcome("done", what="lifted")


def _drop(effect: DropAnswer, desk: Desk) -> Outcome:
    answer = store.find_answer(desk.engine, desk.repository_id, effect.issue, effect.purpose) or _intend(desk, effect)
    if answer.state == "dead" and answer.comment_id is None:
        store.note(desk.engine, answer, reason=NOT_WANTED)
        return Outcome("done", what="not wanted")
    if answer.comment_id is None:
        if answer.attempts and (wait := _unsettled(answer, desk)):
            return Outcome("wait", wait, "settling")
        _look(answer, desk)
        answer = _again(desk, effect)
    if answer.comment_id is not None:
        if wait := store.reserve(desk.engine, desk.partition, min(desk.interval, LIGHT_INTERVAL)):
            return Outcome("wait", wait, "pace")
        try:
            desk.tracker.delete_comment(answer.comment_id)
        except Ambiguous:
            return Outcome("wait", desk.settle, "ambiguous")
        except Refused:
            return Outcome("done", what="refused")
        except Gone:
            pass
    store.note(desk.engine, answer, state="dead", reason=NOT_WANTED, comment_id=None, body_hash="", attempts=0)
    return Outcome("done", what="not wanted")


def _create(effect: PostAnswer, answer: Answer, desk: Desk) -> Outcome:
    if answer.attempts >= MAX_ATTEMPTS:
        store.note(desk.engine, answer, state="dead", reason=f"{MAX_ATTEMPTS} attempts without an answer")
        return Outcome("done", what="dead")
    if what := enough(effect.issue, desk):
        return Outcome("done", what=what)
    if wait := room(desk):
        return Outcome("wait", wait, "no room in this hour")
    if wait := store.reserve(desk.engine, desk.partition, desk.interval):
        return Outcome("wait", wait, "pace")
    store.note(desk.engine, answer, state="intent", attempts=answer.attempts + 1, attempted_at=time.time())
    try:
        comment = desk.tracker.create_comment(effect.issue, mark(_text_of(effect, answer), answer.job, desk.secrets))
    except Ambiguous:
        store.note(desk.engine, answer, attempted_at=time.time())
        return Outcome("wait", desk.settle, "ambiguous")
    except (Gone, Refused) as error:
        if _may_be_shorter(error, answer):
            store.note(desk.engine, answer, attempts=answer.attempts, attempted_at=answer.attempted_at, reason=TOO_LONG)
            return Outcome("wait", 0.0, TOO_LONG)
        store.note(desk.engine, answer, state="dead", reason=type(error).__name__.lower())
        return Outcome("done", what="dead")
    except Unavailable:
        store.note(desk.engine, answer, attempts=answer.attempts, attempted_at=answer.attempted_at)
        raise
    _settle(answer, comment, desk, records=" ".join(effect.records), body_hash=fingerprint(effect.body))
    return Outcome("done", what="posted")


def _edit(
    effect: PostAnswer | WithdrawAnswer | FoldAnswer, answer: Answer, desk: Desk, state: Literal["posted", "withdrawn", "folded"]
) -> Outcome:
    assert answer.comment_id is not None  # noqa: S101
    if answer.attempts >= MAX_ATTEMPTS:
        store.note(desk.engine, answer, attempts=0, reason="an edit was given up")
        return Outcome("done", what="edit given up")
    if wait := store.reserve(desk.engine, desk.partition, desk.interval):
        return Outcome("wait", wait, "pace")
    # The old hash goes before the write: after a crash nobody knows which text stands there, and editing twice is harmless.
    store.note(desk.engine, answer, attempts=answer.attempts + 1, attempted_at=time.time(), body_hash="")
    try:
        desk.tracker.edit_comment(answer.comment_id, mark(_text_of(effect, answer), answer.job, desk.secrets))
    except Ambiguous:
        return Outcome("wait", desk.settle, "ambiguous")
    except Gone:
        store.note(desk.engine, answer, state="dead", reason=DELETED)
        return Outcome("done", what="left deleted")
    except Refused as error:
        if _may_be_shorter(error, answer):
            store.note(desk.engine, answer, attempts=answer.attempts, reason=TOO_LONG)
            return Outcome("wait", 0.0, TOO_LONG)
        store.note(desk.engine, answer, attempts=0, reason="an edit was refused")
        return Outcome("done", what="refused")
    except Unavailable:
        store.note(desk.engine, answer, attempts=answer.attempts)
        raise
    # What was withdrawn or folded is still about the same records.
    records = " ".join(effect.records) if isinstance(effect, PostAnswer) else answer.records
    store.note(desk.engine, answer, state=state, attempts=0, body_hash=fingerprint(effect.body), records=records, reason="")
    return Outcome("done", what="edited")


def _text_of(effect: PostAnswer | WithdrawAnswer | FoldAnswer, answer: Answer) -> str:
    """What is written: the text, or its shorter form after the tracker refused it for its length."""
    return shorten(effect.body) if answer.reason == TOO_LONG else effect.body


def _may_be_shorter(error: Exception, answer: Answer) -> bool:
    """Whether a shorter text is tried after a refusal: once, and only when the text was what was refused."""
    return isinstance(error, TooLong) and answer.reason != TOO_LONG


def _touch(effect: React | AddLabels, desk: Desk) -> Outcome:
    """A reaction or labels: the same twice is one, so nothing needs to be known of an earlier attempt."""
    if wait := store.reserve(desk.engine, desk.partition, min(desk.interval, LIGHT_INTERVAL)):
        return Outcome("wait", wait, "pace")
    try:
        if isinstance(effect, React):
            desk.tracker.react(effect.comment, effect.content)
        else:
            desk.tracker.add_labels(effect.issue, effect.labels)
    except Ambiguous:
        return Outcome("wait", desk.settle, "ambiguous")
    except (Gone, Refused) as error:
        return Outcome("done", what=type(error).__name__.lower())
    return Outcome("done", what="touched")


def _look(answer: Answer, desk: Desk) -> bool:
    """Look for the comment of an answer and note it; says whether, in its place, one of another front end stands.

    This also happens before the first attempt: a lost database, or a second copy of the bot, must not double a comment, and an
    issue that was moved brings its comments along, with the markers of its old place.
    """
    moved: list[tuple[Answer, Comment]] = []
    another = False
    us = desk.tracker.identity()
    for job, comment in _marked(desk, answer.issue):
        if comment.author_id != us:
            # People can paste a marker that they have seen; a bot of theirs could only keep us from saying the same again.
            another = another or (comment.by_bot and job == answer.job)
            continue
        if job == answer.job:
            _settle(answer, comment, desk)
            return False
        old = store.find_job(desk.engine, job)
        if old and old.purpose == answer.purpose:
            moved.append((old, comment))
    if moved:
        old, comment = moved[0]
        store.move(desk.engine, old, answer)
        _settle(answer, comment, desk, body_hash="")
        return False
    return another


def _settle(answer: Answer, comment: Comment, desk: Desk, **changes: object) -> None:
    known: dict[str, Any] = {
        "state": "posted",
        "comment_id": comment.id,
        "attempts": 0,
        "body_hash": fingerprint(comment.body),
        "reason": "",
    }
    store.note(desk.engine, answer, **(known | changes))
    store.count_comment(desk.engine, answer.repository_id, comment.id, answer.issue, desk.actor, desk.partition)


def _unsettled(answer: Answer, desk: Desk) -> float:
    """Seconds until a comment that the last attempt may have written can be seen for sure; a clock put back adds nothing."""
    left = (answer.attempted_at or 0.0) + desk.settle - time.time()
    return min(max(left, 0.0), desk.settle)


def _intend(desk: Desk, effect: PostAnswer | DropAnswer) -> Answer:
    job = job_id(desk.repository_id, effect.issue, effect.purpose)
    store.intend(desk.engine, desk.repository_id, effect.issue, effect.purpose, job)
    return _again(desk, effect)


def _again(desk: Desk, effect: PostAnswer | WithdrawAnswer | DropAnswer) -> Answer:
    answer = store.find_answer(desk.engine, desk.repository_id, effect.issue, effect.purpose)
    if answer is None:
        raise LookupError("an answer vanished from the database")
    return answer
