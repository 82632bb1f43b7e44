"""One pass over an event: read what it is about as it is now, let the handler decide, carry out what can be done now."""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, datetime

import sqlalchemy as sa

from bot import store
from bot.catalogue.catalogue import Catalogue
from bot.config import OWNER_REPOSITORY, RepoConfig, Settings
from bot.handlers import Context, handle
from bot.model import Event
from bot.trackers import Tracker
from bot.work.carrying import carry_out
from bot.work.configuration import repository_config
from bot.work.desk import Desk, Outcome
from bot.work.manners import before_reading
from bot.work.memory import StoredMemory


@dataclass(frozen=True, slots=True)
class Runtime:
    """What a worker is given from outside: how to reach a repository, and its catalogue (None when none is built).

    ``redeliver`` asks the tracker to send again what it could not deliver since then (seconds since 1970); None where it cannot.
    """

    connect: Callable[[str, int | None], Tracker]
    catalogue: Callable[[str], Catalogue | None]
    redeliver: Callable[[float], int] | None = None


def partition_of(event: Event) -> str:
    """Whose writes stand in one line: the installation's, or with a plain token the repository's."""
    return f"installation:{event.installation}" if event.installation else f"repository:{event.repository_id}"


def desk_for(event: Event, settings: Settings, engine: sa.Engine, tracker: Tracker) -> Desk:
    """From where one writes because of an event."""
    return Desk(
        engine=engine,
        tracker=tracker,
        secrets=settings.secrets,
        repository_id=event.repository_id,
        partition=partition_of(event),
        settle=settings.settle_seconds,
        interval=settings.write_interval,
        actor=event.actor,
        per_person=settings.comments_per_person,
        per_repository=settings.comments_per_repository,
        commands_per_person=settings.commands_per_person,
    )


def work_on(
    event: Event,
    did: frozenset[str],
    settings: Settings,
    engine: sa.Engine,
    runtime: Runtime,
    configs: dict[int, tuple[float, RepoConfig]],
) -> tuple[Outcome, list[str]]:
    """Read, decide, and carry out what is not in ``did``, up to the first thing that has to wait; also says what is now done.

    ``configs`` keeps what repositories have configured. Raises Gone and Unavailable.
    """
    if event.by_bot:
        return Outcome("done", what="by a bot"), []
    tracker = runtime.connect(event.repository, event.installation)
    store.meet(engine, store.Repository(event.repository_id, event.repository, event.installation))
    desk = desk_for(event, settings, engine, tracker)
    if early := before_reading(event, desk, first=not did):
        _note_handled(event, early, engine)
        return early, []
    text = short_hash(tracker.comment(event.comment).body) if event.comment else ""
    if event.comment and not did and store.handled_text(engine, event.repository_id, event.comment) == text:
        return Outcome("done", what="carried out before"), []

    def owner() -> Tracker:
        """The repository in which the owner keeps what holds for all of its repositories."""
        return runtime.connect(f"{event.repository.split('/')[0]}/{OWNER_REPOSITORY}", event.installation)

    catalogue = runtime.catalogue(event.repository)
    config = repository_config(tracker, engine, event.repository_id, configs, owner)
    if config.quiet_hours and event.name.startswith("issue.") and (wait := config.quiet_hours.seconds_left(datetime.now(UTC))):
        return Outcome("wait", wait, "quiet hours"), []
    context = Context(
        tracker,
        catalogue,
        config,
        lambda id: f"{settings.public_url.rstrip('/')}/errors/{id}",
        StoredMemory(engine, event.repository_id),
        settings.minimum,
        settings.records_repository,
    )
    outcome, now_did = carry_out(handle(event, context), event, desk, catalogue, did)
    _note_handled(event, outcome, engine, text)
    return outcome, now_did


def short_hash(text: str) -> str:
    """16 hex digits by which a text is known again."""
    return hashlib.sha256(text.encode("utf-8", "replace")).hexdigest()[:16]


def _note_handled(event: Event, outcome: Outcome, engine: sa.Engine, text: str = "") -> None:
    """Let the sweep for what was missed pass over this, and a delivery of it that comes again under another id change nothing."""
    if outcome.state == "done":
        kind: store.Kind = "comment" if event.comment else "issue"
        store.note_handled(engine, event.repository_id, kind, event.comment or event.issue, text=text)
