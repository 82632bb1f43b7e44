"""Comments written, corrections, and what the sweeps need: repositories, what was handled, workers' signs of life."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0002"
down_revision = "0001"


def upgrade() -> None:
    """Make the tables."""
    op.create_table(
        "written",
        sa.Column("repository_id", sa.BigInteger, autoincrement=False, nullable=False),
        sa.Column("comment_id", sa.BigInteger, autoincrement=False, nullable=False),
        sa.Column("issue", sa.BigInteger, nullable=False),
        sa.Column("actor", sa.String(16), nullable=False),
        sa.Column("partition", sa.String(200), nullable=False),
        sa.Column("at", sa.Float, nullable=False),
        sa.PrimaryKeyConstraint("repository_id", "comment_id", name="pk_written"),
    )
    op.create_index("ix_written_repository_id", "written", ["repository_id", "at"])
    op.create_index("ix_written_actor", "written", ["actor", "at"])
    op.create_index("ix_written_partition", "written", ["partition", "at"])
    op.create_table(
        "corrections",
        sa.Column("repository_id", sa.BigInteger, autoincrement=False, nullable=False),
        sa.Column("issue", sa.BigInteger, autoincrement=False, nullable=False),
        sa.Column("record_id", sa.String(64), nullable=False),
        sa.Column("comment_id", sa.BigInteger, nullable=False),
        sa.Column("at", sa.Float, nullable=False),
        sa.PrimaryKeyConstraint("repository_id", "issue", name="pk_corrections"),
    )
    op.create_table(
        "repositories",
        sa.Column("repository_id", sa.BigInteger, autoincrement=False, nullable=False),
        sa.Column("name", sa.String(201), nullable=False),
        sa.Column("installation", sa.BigInteger),
        sa.Column("seen_at", sa.Float, nullable=False),
        sa.PrimaryKeyConstraint("repository_id", name="pk_repositories"),
    )
    op.create_table(
        "handled",
        sa.Column("repository_id", sa.BigInteger, autoincrement=False, nullable=False),
        sa.Column("kind", sa.String(8), nullable=False),
        sa.Column("number", sa.BigInteger, autoincrement=False, nullable=False),
        sa.Column("at", sa.Float, nullable=False),
        sa.PrimaryKeyConstraint("repository_id", "kind", "number", name="pk_handled"),
    )
    op.create_index("ix_handled_at", "handled", ["at"])
    op.create_table(
        "executors",
        sa.Column("name", sa.String(200), nullable=False),
        sa.Column("seen_at", sa.Float, nullable=False),
        sa.PrimaryKeyConstraint("name", name="pk_executors"),
    )
    op.create_table(
        "sweeps",
        sa.Column("name", sa.String(64), nullable=False),
        sa.Column("at", sa.Float, nullable=False),
        sa.PrimaryKeyConstraint("name", name="pk_sweeps"),
    )
    op.create_table(
        "buckets",
        sa.Column("name", sa.String(64), nullable=False),
        sa.Column("tokens", sa.Float, nullable=False),
        sa.Column("at", sa.Float, nullable=False),
        sa.PrimaryKeyConstraint("name", name="pk_buckets"),
    )
