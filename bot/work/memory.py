"""What handlers may ask of the store about one repository."""

from __future__ import annotations

from dataclasses import dataclass

import sqlalchemy as sa

from bot import store
from bot.handlers import Given


@dataclass(frozen=True, slots=True)
class StoredMemory:
    """The memory of one repository (:class:`bot.handlers.Memory`)."""

    engine: sa.Engine
    repository_id: int

    def given(self, issue: int) -> tuple[Given, ...]:
        """Our comments on an issue, oldest first."""
        return tuple(
            Given(answer.purpose, tuple(answer.records.split()))
            for answer in store.answers_on(self.engine, self.repository_id, issue)
            if answer.comment_id is not None and answer.state in ("posted", "folded", "withdrawn")
        )

    def issues_with(self, record: str) -> tuple[int, ...]:
        """The numbers of the issues that hold an error, ascending."""
        return store.issues_with(self.engine, self.repository_id, record)

    def corrected(self, issue: int) -> str:
        """The record that a maintainer said the issue is about; "" when nobody did."""
        return store.corrected(self.engine, self.repository_id, issue)

    def problem(self) -> str:
        """What is wrong with the repository's configuration; "" when nothing is."""
        known = store.last_config(self.engine, self.repository_id)
        return known[1] if known else ""
