"""What is known of each answer: one row for a repository, an issue and a purpose."""

from __future__ import annotations

import time
from dataclasses import dataclass
from typing import Literal

import sqlalchemy as sa
from sqlalchemy.dialects import postgresql, sqlite

from bot.store.database import write
from bot.store.tables import answers

State = Literal["intent", "posted", "folded", "withdrawn", "dead"]


@dataclass(frozen=True, slots=True)
class Answer:
    """A row of ``answers``; the columns say what each value means."""

    repository_id: int
    issue: int
    purpose: str
    job: str
    state: State
    comment_id: int | None
    body_hash: str
    records: str
    attempts: int
    attempted_at: float | None
    reason: str
    created_at: float
    updated_at: float


def insert(connection: sa.Connection, table: sa.Table) -> sqlite.Insert | postgresql.Insert:
    """An insert that knows ``on_conflict_…`` in the dialect at hand."""
    return postgresql.insert(table) if connection.dialect.name == "postgresql" else sqlite.insert(table)


def find_answer(engine: sa.Engine, repository_id: int, issue: int, purpose: str) -> Answer | None:
    """The answer with that purpose on that issue, as far as one was ever intended."""
    query = sa.select(answers).where(*_key(repository_id, issue, purpose))
    with engine.connect() as connection:
        row = connection.execute(query).first()
    return Answer(**row._mapping) if row else None


def find_job(engine: sa.Engine, job: str) -> Answer | None:
    """The answer whose comment carries that job id in its marker."""
    with engine.connect() as connection:
        row = connection.execute(sa.select(answers).where(answers.c.job == job)).first()
    return Answer(**row._mapping) if row else None


def intend(engine: sa.Engine, repository_id: int, issue: int, purpose: str, job: str, now: float | None = None) -> bool:
    """Note that an answer is to be, before anything is written on the tracker; False when it was noted before.

    The database decides between two that come at once. The row count of ``ON CONFLICT DO NOTHING`` is -1 on PostgreSQL, so the
    inserted row is asked for.
    """
    now = time.time() if now is None else now
    values = {"repository_id": repository_id, "issue": issue, "purpose": purpose, "job": job, "state": "intent"}
    with write(engine) as connection:
        statement = insert(connection, answers).values(**values, created_at=now, updated_at=now)
        return connection.execute(statement.on_conflict_do_nothing().returning(answers.c.job)).first() is not None


def note(engine: sa.Engine, answer: Answer, now: float | None = None, **changes: object) -> None:
    """Change columns of an answer, committed when this returns."""
    now = time.time() if now is None else now
    statement = sa.update(answers).where(*_key(answer.repository_id, answer.issue, answer.purpose))
    with write(engine) as connection:
        connection.execute(statement.values(updated_at=now, **changes))


def move(engine: sa.Engine, old: Answer, new: Answer, now: float | None = None) -> None:
    """Hand the comment of ``old`` to ``new``: the issue was moved, and its comments with it."""
    now = time.time() if now is None else now
    taken = sa.update(answers).where(*_key(old.repository_id, old.issue, old.purpose))
    given = sa.update(answers).where(*_key(new.repository_id, new.issue, new.purpose))
    with write(engine) as connection:
        connection.execute(taken.values(state="dead", comment_id=None, reason="the issue was moved", updated_at=now))
        connection.execute(given.values(state="posted", comment_id=old.comment_id, body_hash=old.body_hash, attempts=0, updated_at=now))


def answers_on(engine: sa.Engine, repository_id: int, issue: int) -> tuple[Answer, ...]:
    """All answers ever intended on an issue, oldest first."""
    query = sa.select(answers).where(answers.c.repository_id == repository_id, answers.c.issue == issue).order_by(answers.c.created_at)
    with engine.connect() as connection:
        return tuple(Answer(**row._mapping) for row in connection.execute(query))


def _key(repository_id: int, issue: int, purpose: str) -> tuple[sa.ColumnElement[bool], ...]:
    return answers.c.repository_id == repository_id, answers.c.issue == issue, answers.c.purpose == purpose
