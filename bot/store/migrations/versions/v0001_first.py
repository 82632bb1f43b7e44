"""Answers, occurrences, opinions, pace of writes, configurations."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0001"
down_revision = None


def upgrade() -> None:
    """Make the first tables."""
    op.create_table(
        "answers",
        sa.Column("repository_id", sa.BigInteger, autoincrement=False, nullable=False),
        sa.Column("issue", sa.BigInteger, autoincrement=False, nullable=False),
        sa.Column("purpose", sa.String(64), nullable=False),
        sa.Column("job", sa.String(16), nullable=False),
        sa.Column("state", sa.String(16), nullable=False),
        sa.Column("comment_id", sa.BigInteger),
        sa.Column("body_hash", sa.String(64), nullable=False, server_default=""),
        sa.Column("records", sa.Text, nullable=False, server_default=""),
        sa.Column("attempts", sa.Integer, nullable=False, server_default="0"),
        sa.Column("attempted_at", sa.Float),
        sa.Column("reason", sa.String(200), nullable=False, server_default=""),
        sa.Column("created_at", sa.Float, nullable=False),
        sa.Column("updated_at", sa.Float, nullable=False),
        sa.PrimaryKeyConstraint("repository_id", "issue", "purpose", name="pk_answers"),
        sa.UniqueConstraint("job", name="uq_answers_job"),
    )
    op.create_table(
        "occurrences",
        sa.Column("repository_id", sa.BigInteger, autoincrement=False, nullable=False),
        sa.Column("issue", sa.BigInteger, autoincrement=False, nullable=False),
        sa.Column("record_id", sa.String(64), nullable=False),
        sa.Column("repository", sa.String(200), nullable=False),
        sa.Column("type", sa.String(200), nullable=False),
        sa.Column("template", sa.Text, nullable=False),
        sa.Column("verdict", sa.String(16), nullable=False),
        sa.Column("seen_at", sa.Float, nullable=False),
        sa.PrimaryKeyConstraint("repository_id", "issue", "record_id", name="pk_occurrences"),
    )
    op.create_index("ix_occurrences_record_id", "occurrences", ["record_id", "repository_id"])
    op.create_table(
        "opinions",
        sa.Column("repository_id", sa.BigInteger, autoincrement=False, nullable=False),
        sa.Column("comment_id", sa.BigInteger, autoincrement=False, nullable=False),
        sa.Column("issue", sa.BigInteger, nullable=False),
        sa.Column("opinion", sa.String(16), nullable=False),
        sa.Column("records", sa.Text, nullable=False),
        sa.Column("seen_at", sa.Float, nullable=False),
        sa.PrimaryKeyConstraint("repository_id", "comment_id", name="pk_opinions"),
    )
    op.create_table(
        "writers",
        sa.Column("partition", sa.String(200), nullable=False),
        sa.Column("next_at", sa.Float, nullable=False),
        sa.PrimaryKeyConstraint("partition", name="pk_writers"),
    )
    op.create_table(
        "configs",
        sa.Column("repository_id", sa.BigInteger, autoincrement=False, nullable=False),
        sa.Column("text", sa.Text),
        sa.Column("problem", sa.String(1000), nullable=False, server_default=""),
        sa.Column("updated_at", sa.Float, nullable=False),
        sa.PrimaryKeyConstraint("repository_id", name="pk_configs"),
    )
