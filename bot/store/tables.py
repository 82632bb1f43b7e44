"""The tables. ``migrations`` makes them; a test holds the two against each other."""

from __future__ import annotations

import sqlalchemy as sa

metadata = sa.MetaData(
    naming_convention={"pk": "pk_%(table_name)s", "uq": "uq_%(table_name)s_%(column_0_N_name)s", "ix": "ix_%(column_0_N_label)s"}
)

answers = sa.Table(
    "answers",
    metadata,
    sa.Column("repository_id", sa.BigInteger, primary_key=True, autoincrement=False),
    sa.Column("issue", sa.BigInteger, primary_key=True, autoincrement=False),
    sa.Column("purpose", sa.String(64), primary_key=True, doc="auto, or command:<comment id>"),
    sa.Column("job", sa.String(16), nullable=False, unique=True, doc="short hash of the three above; stands in the marker"),
    sa.Column("state", sa.String(16), nullable=False, doc="intent, posted, withdrawn or dead"),
    sa.Column("comment_id", sa.BigInteger, doc="our comment, once it is known to exist"),
    sa.Column("body_hash", sa.String(64), nullable=False, server_default="", doc="SHA-256 of the body that stands there"),
    sa.Column("records", sa.Text, nullable=False, server_default="", doc="record ids, separated by spaces"),
    sa.Column(
        "attempts",
        sa.Integer,
        nullable=False,
        server_default="0",
        doc="writes begun since one is known to have ended",
    ),
    sa.Column("attempted_at", sa.Float, doc="when the last of them began or ended, seconds since 1970"),
    sa.Column("reason", sa.String(200), nullable=False, server_default="", doc="why it is dead"),
    sa.Column("created_at", sa.Float, nullable=False),
    sa.Column("updated_at", sa.Float, nullable=False),
)

occurrences = sa.Table(
    "occurrences",
    metadata,
    sa.Column("repository_id", sa.BigInteger, primary_key=True, autoincrement=False),
    sa.Column("issue", sa.BigInteger, primary_key=True, autoincrement=False),
    sa.Column("record_id", sa.String(64), primary_key=True),
    sa.Column("repository", sa.String(200), nullable=False, doc="owner/name as it was then"),
    sa.Column("type", sa.String(200), nullable=False),
    sa.Column("template", sa.Text, nullable=False),
    sa.Column("verdict", sa.String(16), nullable=False),
    sa.Column("seen_at", sa.Float, nullable=False, doc="first time, seconds since 1970"),
    sa.Index("ix_occurrences_record_id", "record_id", "repository_id"),
)

opinions = sa.Table(
    "opinions",
    metadata,
    sa.Column("repository_id", sa.BigInteger, primary_key=True, autoincrement=False),
    sa.Column("comment_id", sa.BigInteger, primary_key=True, autoincrement=False, doc="the comment that says it"),
    sa.Column("issue", sa.BigInteger, nullable=False),
    sa.Column("opinion", sa.String(16), nullable=False, doc="wrong"),
    sa.Column("records", sa.Text, nullable=False, doc="record ids of the answer as it stood then, separated by spaces"),
    sa.Column("seen_at", sa.Float, nullable=False),
)

writers = sa.Table(
    "writers",
    metadata,
    sa.Column("partition", sa.String(200), primary_key=True, doc="installation or repository whose writes are in line"),
    sa.Column("next_at", sa.Float, nullable=False, doc="no write before then, seconds since 1970"),
)

configs = sa.Table(
    "configs",
    metadata,
    sa.Column("repository_id", sa.BigInteger, primary_key=True, autoincrement=False),
    sa.Column("text", sa.Text, doc="the last configuration file that could be read; null: there is none"),
    sa.Column("problem", sa.String(1000), nullable=False, server_default="", doc="what is wrong with a later one"),
    sa.Column("updated_at", sa.Float, nullable=False),
)
