"""How much was written, where and because of whom: what keeps us from writing too much."""

from __future__ import annotations

import hashlib
import time
from typing import Literal

import sqlalchemy as sa

from bot.store.answers import insert
from bot.store.database import write
from bot.store.tables import buckets, written

HOUR = 3600.0
DAY = 24 * HOUR


def actor_key(login: str) -> str:
    """A short hash of a login: who it was can be compared, and is not kept."""
    return hashlib.sha256(login.lower().encode("utf-8", "replace")).hexdigest()[:16]


def count_comment(
    engine: sa.Engine, repository_id: int, comment_id: int, issue: int, actor: str, partition: str, now: float | None = None
) -> None:
    """Note a comment of ours; the same one counts once."""
    now = time.time() if now is None else now
    values = {"repository_id": repository_id, "comment_id": comment_id, "issue": issue, "actor": actor_key(actor)}
    with write(engine) as connection:
        connection.execute(insert(connection, written).values(**values, partition=partition, at=now).on_conflict_do_nothing())


def comments_on(engine: sa.Engine, repository_id: int, issue: int, since: float) -> int:
    """How many comments we wrote on an issue since then (seconds since 1970), deleted ones too."""
    return _count(engine, written.c.repository_id == repository_id, written.c.issue == issue, written.c.at >= since)


def comments_because_of(engine: sa.Engine, actor: str, since: float) -> int:
    """How many comments we wrote because of one person since then, in all repositories."""
    return _count(engine, written.c.actor == actor_key(actor), written.c.at >= since)


def seconds_to_room(
    engine: sa.Engine, where: Literal["repository_id", "partition"], key: int | str, most: int, now: float | None = None
) -> float:
    """Seconds until a comment there is again one of at most ``most`` in an hour; 0.0 when it is now."""
    now = time.time() if now is None else now
    column = written.c[where]
    query = sa.select(written.c.at).where(column == key, written.c.at > now - HOUR, written.c.at <= now)
    with engine.connect() as connection:
        oldest = connection.execute(query.order_by(written.c.at.desc()).offset(most - 1).limit(1)).scalar()
    return 0.0 if oldest is None else max(0.1, float(oldest) + HOUR - now)


def take(engine: sa.Engine, name: str, capacity: int, seconds: float, now: float | None = None) -> bool:
    """Take a token out of a bucket that holds ``capacity`` of them and fills up within ``seconds``; False when it is empty."""
    now = time.time() if now is None else now
    with write(engine) as connection:
        full = insert(connection, buckets).values(name=name, tokens=float(capacity), at=now)
        connection.execute(full.on_conflict_do_nothing())
        row = connection.execute(sa.select(buckets).where(buckets.c.name == name).with_for_update()).one()
        # A clock that was put back fills nothing.
        tokens = min(float(capacity), row.tokens + max(0.0, now - row.at) * capacity / seconds)
        taken: bool = tokens >= 1.0
        changes = {"tokens": tokens - 1.0 if taken else tokens, "at": now}
        connection.execute(sa.update(buckets).where(buckets.c.name == name).values(changes))
        return taken


def forget_counts(engine: sa.Engine, before: float) -> None:
    """Remove what no limit looks at any more."""
    with write(engine) as connection:
        connection.execute(sa.delete(written).where(written.c.at < before))
        connection.execute(sa.delete(buckets).where(buckets.c.at < before))


def _count(engine: sa.Engine, *where: sa.ColumnElement[bool]) -> int:
    with engine.connect() as connection:
        return connection.execute(sa.select(sa.func.count()).select_from(written).where(*where)).scalar_one()
