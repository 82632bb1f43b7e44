"""Which errors which issues hold, what people said of the answers, and the last configuration of each repository."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import asdict, dataclass

import sqlalchemy as sa

from bot.store.answers import insert
from bot.store.database import write
from bot.store.tables import configs, corrections, occurrences, opinions


@dataclass(frozen=True, slots=True)
class Sighting:
    """A record that was found on an issue; nothing of the reporter's text."""

    record_id: str
    type: str
    template: str
    verdict: str


def remember(
    engine: sa.Engine, repository: str, repository_id: int, issue: int, found: Sequence[Sighting], now: float | None = None
) -> None:
    """Keep exactly these records for the issue: what an edit took away goes, what was there keeps its first time."""
    now = time.time() if now is None else now
    here = (occurrences.c.repository_id == repository_id, occurrences.c.issue == issue)
    with write(engine) as connection:
        connection.execute(sa.delete(occurrences).where(*here, occurrences.c.record_id.not_in([s.record_id for s in found])))
        for sighting in found:
            values = {**asdict(sighting), "repository": repository}
            statement = insert(connection, occurrences).values(**values, repository_id=repository_id, issue=issue, seen_at=now)
            connection.execute(statement.on_conflict_do_update(index_elements=["repository_id", "issue", "record_id"], set_=values))


def forget_sightings(engine: sa.Engine, repository_id: int, issue: int) -> None:
    """Remove what was found on an issue: it is gone."""
    with write(engine) as connection:
        connection.execute(sa.delete(occurrences).where(occurrences.c.repository_id == repository_id, occurrences.c.issue == issue))


def issues_with(engine: sa.Engine, repository_id: int, record_id: str) -> tuple[int, ...]:
    """The numbers of the issues that hold that error, ascending."""
    query = (
        sa.select(occurrences.c.issue)
        .where(occurrences.c.repository_id == repository_id, occurrences.c.record_id == record_id)
        .order_by(occurrences.c.issue)
    )
    with engine.connect() as connection:
        return tuple(connection.execute(query).scalars())


def judge(engine: sa.Engine, repository_id: int, issue: int, comment_id: int, opinion: str, records: str, now: float | None = None) -> None:
    """Keep what a comment says of the answer to its issue; the same comment counts once, with what it says last."""
    now = time.time() if now is None else now
    values = {"repository_id": repository_id, "issue": issue, "comment_id": comment_id, "opinion": opinion, "records": records}
    with write(engine) as connection:
        statement = insert(connection, opinions).values(**values, seen_at=now)
        connection.execute(
            statement.on_conflict_do_update(index_elements=["repository_id", "comment_id"], set_={"opinion": opinion, "records": records})
        )


def judged(engine: sa.Engine, record_id: str) -> tuple[tuple[int, int, str], ...]:
    """What was said of answers with that record: repository id, issue, opinion; oldest first."""
    query = (
        sa.select(opinions.c.repository_id, opinions.c.issue, opinions.c.opinion)
        .where(opinions.c.records.contains(record_id, autoescape=True))
        .order_by(opinions.c.seen_at)
    )
    with engine.connect() as connection:
        return tuple((row.repository_id, row.issue, row.opinion) for row in connection.execute(query))


def tally(engine: sa.Engine, record_id: str) -> dict[str, int]:
    """How often each opinion was given of answers with that record."""
    query = (
        sa.select(opinions.c.opinion, sa.func.count().label("times"))
        .where(opinions.c.records.contains(record_id, autoescape=True))
        .group_by(opinions.c.opinion)
    )
    with engine.connect() as connection:
        return {row.opinion: row.times for row in connection.execute(query)}


def correct(engine: sa.Engine, repository_id: int, issue: int, record_id: str, comment_id: int, now: float | None = None) -> None:
    """Keep which record a maintainer said an issue is about, in place of what was said before."""
    now = time.time() if now is None else now
    values = {"record_id": record_id, "comment_id": comment_id, "at": now}
    with write(engine) as connection:
        statement = insert(connection, corrections).values(repository_id=repository_id, issue=issue, **values)
        connection.execute(statement.on_conflict_do_update(index_elements=["repository_id", "issue"], set_=values))


def corrected(engine: sa.Engine, repository_id: int, issue: int) -> str:
    """The record that a maintainer said the issue is about; "" when nobody did."""
    query = sa.select(corrections.c.record_id).where(corrections.c.repository_id == repository_id, corrections.c.issue == issue)
    with engine.connect() as connection:
        return connection.execute(query).scalar() or ""


def remember_config(engine: sa.Engine, repository_id: int, text: str | None, problem: str = "", now: float | None = None) -> None:
    """Keep a repository's configuration file; with a ``problem``, keep that beside the last good text."""
    now = time.time() if now is None else now
    problem = problem[:1000]
    changes = {"problem": problem, "updated_at": now} | ({} if problem else {"text": text})
    with write(engine) as connection:
        statement = insert(connection, configs).values(
            repository_id=repository_id, text=None if problem else text, problem=problem, updated_at=now
        )
        connection.execute(statement.on_conflict_do_update(index_elements=["repository_id"], set_=changes))


def last_config(engine: sa.Engine, repository_id: int) -> tuple[str | None, str] | None:
    """The last good text (None: there was no file) and the problem of a later one; None when nothing is known."""
    query = sa.select(configs.c.text, configs.c.problem).where(configs.c.repository_id == repository_id)
    with engine.connect() as connection:
        row = connection.execute(query).first()
    return (row.text, row.problem) if row else None
