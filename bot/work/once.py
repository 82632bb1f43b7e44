"""One event worked on to its end in this process, without a queue and without a database that lasts: how the GitHub Action runs.

What a database would remember is read from the issue: our comments are known by their markers, and what people said of them by the
commands that stand there.
"""

from __future__ import annotations

import time
from collections.abc import Callable

from bot import store
from bot.config import RepoConfig, Settings
from bot.model import DropAnswer, Event
from bot.reading.commands import parse_commands
from bot.registry import HANDLERS, load
from bot.trackers import Gone, Tracker, Unavailable
from bot.work.desk import Desk, Outcome
from bot.work.manners import surely_sorts
from bot.work.marker import job_id, read_marker
from bot.work.passes import Runtime, desk_for, work_on
from bot.work.posting import perform

MAX_PASSES = 40
LONGEST_WAIT = 120.0
"""Seconds that a workflow run waits at a time: a runner costs money, and the next event gives another chance."""


def work_once(event: Event, settings: Settings, runtime: Runtime, app_login: str = "") -> str:
    """Work on one event until all is done; says in a few words how it ended.

    ``app_login`` is the login of an App that answers on the same repository with the same secret: where its comment stands, ours is not
    written, or taken back. Raises ConfigError when there is no usable secret, and Unavailable when the tracker cannot be read.
    """
    load(HANDLERS.package)
    engine = store.open(settings.database)
    did: set[str] = set()
    configs: dict[int, tuple[float, RepoConfig]] = {}

    def one_pass() -> Outcome:
        outcome, now_did = work_on(event, frozenset(did), settings, engine, runtime, configs)
        did.update(now_did)
        return outcome

    try:
        tracker = runtime.connect(event.repository, event.installation)
        desk = desk_for(event, settings, engine, tracker)
        purpose = f"command:{event.comment}" if event.comment else "auto"
        if not event.comment and _is_unwanted(tracker, event.issue):
            return "people asked for silence, or said that the answer is wrong"
        if app_login and _stands(desk, event.issue, purpose, app_login):
            return "the App answers"
        ended = _until_done(one_pass)
        if app_login and ended in ("posted", "touched"):
            time.sleep(settings.settle_seconds)  # what the App wrote at the same moment may be listed late
            if _stands(desk, event.issue, purpose, app_login):
                _until_done(lambda: perform(DropAnswer(event.issue, purpose), desk))
                return "the App answers"
        return ended
    except Gone:
        return "gone"
    finally:
        engine.dispose()


def _until_done(attempt: Callable[[], Outcome]) -> str:
    """Try, wait as long as the outcome says, and try again; says in a few words how it ended."""
    for _ in range(MAX_PASSES):
        try:
            outcome = attempt()
        except Unavailable as error:
            outcome = Outcome("later", error.retry_after, "unavailable")
        if outcome.state == "done":
            return outcome.what
        if outcome.seconds > LONGEST_WAIT:
            return f"left for the next event: {outcome.what}"
        time.sleep(outcome.seconds)
    return "given up"


def _stands(desk: Desk, issue: int, purpose: str, login: str) -> bool:
    """Whether a comment of that user answers this already. Anybody can paste a marker, so it counts only in a comment of that user."""
    job = job_id(desk.repository_id, issue, purpose)
    theirs = (comment for comment in desk.tracker.comments(issue) if comment.author.lower() == login.lower())
    return any(read_marker(comment.body, desk.secrets) == job for comment in theirs)


def _is_unwanted(tracker: Tracker, issue: int) -> bool:
    """Whether the last word on the issue is ``/explain off`` (of its author or of those who sort issues) or ``/explain wrong``."""
    author = tracker.issue(issue).author
    unwanted = False
    for comment in tracker.comments(issue):
        for command in () if comment.by_bot else parse_commands(comment.body):
            word = next(iter(command.argument.split()), "").lower()
            if word in ("wrong", "right"):
                unwanted = word == "wrong"
            elif word in ("off", "on") and (comment.author == author or surely_sorts(tracker, comment.author)):
                unwanted = word == "off"
    return unwanted
