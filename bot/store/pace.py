"""When the writes of an installation may go out: kept in the database, so that all processes and restarts keep to it."""

from __future__ import annotations

import time

import sqlalchemy as sa

from bot.store.answers import insert
from bot.store.database import write
from bot.store.tables import writers

LONGEST_HOLD = 2 * 3600.0
"""A hold that ends later than this many seconds from now comes from a clock that was put back; it is not believed."""


def reserve(engine: sa.Engine, partition: str, interval: float, now: float | None = None) -> float:
    """Take the next moment to write: 0.0 when it is now, or else the seconds to wait.

    Once it is taken, the one after it comes ``interval`` seconds later.
    """
    now = time.time() if now is None else now
    with write(engine) as connection:
        connection.execute(insert(connection, writers).values(partition=partition, next_at=0.0).on_conflict_do_nothing())
        query = sa.select(writers.c.next_at).where(writers.c.partition == partition).with_for_update()
        next_at = connection.execute(query).scalar_one()
        if now < next_at <= now + LONGEST_HOLD:
            return float(next_at - now)
        connection.execute(sa.update(writers).where(writers.c.partition == partition).values(next_at=now + interval))
        return 0.0


def hold(engine: sa.Engine, partition: str, seconds: float, now: float | None = None) -> None:
    """Let nothing be written for that long: the tracker asked for it."""
    now = time.time() if now is None else now
    until = now + min(seconds, LONGEST_HOLD)
    with write(engine) as connection:
        statement = insert(connection, writers).values(partition=partition, next_at=until)
        connection.execute(
            statement.on_conflict_do_update(index_elements=["partition"], set_={"next_at": until}, where=writers.c.next_at < until)
        )
