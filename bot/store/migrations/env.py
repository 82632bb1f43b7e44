"""Alembic's entry: runs the steps on the connection, and inside the transaction, that the caller holds."""

from __future__ import annotations

from alembic import context

from bot.store.tables import metadata

context.configure(
    connection=context.config.attributes["connection"],
    target_metadata=metadata,
    version_table="explainbot_version",
    # SQLite cannot alter a column: Alembic copies the table (https://alembic.sqlalchemy.org/en/latest/batch.html).
    render_as_batch=True,
)
context.run_migrations()
