"""What the sweeps need to know: which workers live, when a sweep last ran, which repositories there are, what was handled."""

from __future__ import annotations

import time
from dataclasses import dataclass
from typing import Literal

import sqlalchemy as sa

from bot.store.answers import insert
from bot.store.database import write
from bot.store.tables import answers, executors, handled, repositories, sweeps

Kind = Literal["issue", "comment"]


@dataclass(frozen=True, slots=True)
class Repository:
    """A repository that sent us an event; ``installation`` is None with a plain token."""

    repository_id: int
    name: str
    installation: int | None


def beat(engine: sa.Engine, name: str, now: float | None = None) -> None:
    """Note that a worker lives."""
    now = time.time() if now is None else now
    with write(engine) as connection:
        statement = insert(connection, executors).values(name=name, seen_at=now)
        connection.execute(statement.on_conflict_do_update(index_elements=["name"], set_={"seen_at": now}))


def leave(engine: sa.Engine, name: str) -> None:
    """Note that a worker ends, so that nobody waits for it to be silent long enough."""
    with write(engine) as connection:
        connection.execute(sa.update(executors).where(executors.c.name == name).values(seen_at=0.0))


def take_silent(engine: sa.Engine, own: str, before: float) -> tuple[str, ...]:
    """Workers without a sign of life since then; each is given to one caller only, who goes on with what it left."""
    with write(engine) as connection:
        gone = sa.delete(executors).where(executors.c.name != own, executors.c.seen_at < before)
        return tuple(sorted(connection.execute(gone.returning(executors.c.name)).scalars()))


def claim(engine: sa.Engine, name: str, every: float, now: float | None = None) -> float | None:
    """Take a sweep that is due, ``every`` so many seconds: when the last one began (seconds since 1970), or None when none is due.

    The first call only notes the time. Of several callers one gets it.
    """
    now = time.time() if now is None else now
    with write(engine) as connection:
        made = insert(connection, sweeps).values(name=name, at=now).on_conflict_do_nothing().returning(sweeps.c.name)
        if connection.execute(made).first() is not None:
            return None
        last = float(connection.execute(sa.select(sweeps.c.at).where(sweeps.c.name == name).with_for_update()).scalar_one())
        if last <= now < last + every:
            return None
        connection.execute(sa.update(sweeps).where(sweeps.c.name == name).values(at=now))
        return min(last, now)


def meet(engine: sa.Engine, repository: Repository, now: float | None = None) -> None:
    """Note a repository that sent an event."""
    now = time.time() if now is None else now
    values = {"name": repository.name, "installation": repository.installation, "seen_at": now}
    with write(engine) as connection:
        statement = insert(connection, repositories).values(repository_id=repository.repository_id, **values)
        connection.execute(statement.on_conflict_do_update(index_elements=["repository_id"], set_=values))


def met_since(engine: sa.Engine, since: float, most: int = 1000) -> tuple[Repository, ...]:
    """Repositories that sent an event since then, the latest first."""
    query = sa.select(repositories.c.repository_id, repositories.c.name, repositories.c.installation)
    query = query.where(repositories.c.seen_at >= since).order_by(repositories.c.seen_at.desc()).limit(most)
    with engine.connect() as connection:
        return tuple(Repository(**row._mapping) for row in connection.execute(query))


def note_handled(engine: sa.Engine, repository_id: int, kind: Kind, number: int, now: float | None = None, text: str = "") -> None:
    """Note that an issue or comment was worked on; ``text`` is the short hash of a comment that was carried out."""
    now = time.time() if now is None else now
    with write(engine) as connection:
        statement = insert(connection, handled).values(repository_id=repository_id, kind=kind, number=number, at=now, text=text)
        connection.execute(
            statement.on_conflict_do_update(
                index_elements=["repository_id", "kind", "number"], set_={"at": now} | ({"text": text} if text else {})
            )
        )


def handled_text(engine: sa.Engine, repository_id: int, comment: int) -> str:
    """The short hash of the text with which a comment was carried out last; "" when it was not."""
    query = sa.select(handled.c.text)
    query = query.where(handled.c.repository_id == repository_id, handled.c.kind == "comment", handled.c.number == comment)
    with engine.connect() as connection:
        return connection.execute(query).scalar() or ""


def is_handled(engine: sa.Engine, repository_id: int, kind: Kind, number: int) -> bool:
    """Whether an issue or comment was worked on."""
    query = sa.select(handled.c.at).where(handled.c.repository_id == repository_id, handled.c.kind == kind, handled.c.number == number)
    with engine.connect() as connection:
        return connection.execute(query).first() is not None


def forget_handled(engine: sa.Engine, before: float) -> None:
    """Remove what no sweep looks back to. What was carried out stays: a captured delivery can come again at any time."""
    with write(engine) as connection:
        connection.execute(sa.delete(handled).where(handled.c.at < before, handled.c.text == ""))


def changed_since(engine: sa.Engine, since: float, most: int = 1000) -> tuple[tuple[int, int], ...]:
    """Repository id and number of the issues on which an answer changed since then, the latest first."""
    at = sa.func.max(answers.c.updated_at)
    query = sa.select(answers.c.repository_id, answers.c.issue).where(answers.c.updated_at >= since)
    query = query.group_by(answers.c.repository_id, answers.c.issue).order_by(at.desc()).limit(most)
    with engine.connect() as connection:
        return tuple((row.repository_id, row.issue) for row in connection.execute(query))
