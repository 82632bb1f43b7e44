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
    sa.Column("state", sa.String(16), nullable=False, doc="intent, posted, folded, withdrawn or dead"),
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
    sa.Column("opinion", sa.String(16), nullable=False, doc="wrong or right"),
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

written = sa.Table(
    "written",
    metadata,
    sa.Column("repository_id", sa.BigInteger, primary_key=True, autoincrement=False),
    sa.Column("comment_id", sa.BigInteger, primary_key=True, autoincrement=False, doc="a comment of ours, once it is known to exist"),
    sa.Column("issue", sa.BigInteger, nullable=False),
    sa.Column("actor", sa.String(16), nullable=False, doc="short hash of the login of whoever caused it"),
    sa.Column("partition", sa.String(200), nullable=False, doc="as in writers"),
    sa.Column("at", sa.Float, nullable=False, doc="seconds since 1970"),
    sa.Index("ix_written_repository_id", "repository_id", "at"),
    sa.Index("ix_written_actor", "actor", "at"),
    sa.Index("ix_written_partition", "partition", "at"),
)

corrections = sa.Table(
    "corrections",
    metadata,
    sa.Column("repository_id", sa.BigInteger, primary_key=True, autoincrement=False),
    sa.Column("issue", sa.BigInteger, primary_key=True, autoincrement=False),
    sa.Column("record_id", sa.String(64), nullable=False, doc="what a maintainer said the issue is about"),
    sa.Column("comment_id", sa.BigInteger, nullable=False, doc="the comment that says it"),
    sa.Column("at", sa.Float, nullable=False),
)

repositories = sa.Table(
    "repositories",
    metadata,
    sa.Column("repository_id", sa.BigInteger, primary_key=True, autoincrement=False),
    sa.Column("name", sa.String(201), nullable=False, doc="owner/name in the last delivery"),
    sa.Column("installation", sa.BigInteger, doc="null with a plain token"),
    sa.Column("seen_at", sa.Float, nullable=False),
)

handled = sa.Table(
    "handled",
    metadata,
    sa.Column("repository_id", sa.BigInteger, primary_key=True, autoincrement=False),
    sa.Column("kind", sa.String(8), primary_key=True, doc="issue or comment"),
    sa.Column("number", sa.BigInteger, primary_key=True, autoincrement=False, doc="the issue's number, or the comment's id"),
    sa.Column("at", sa.Float, nullable=False),
    sa.Column("text", sa.String(16), nullable=False, server_default="", doc="short hash of the comment that was carried out"),
    sa.Index("ix_handled_at", "at"),
)

executors = sa.Table(
    "executors",
    metadata,
    sa.Column("name", sa.String(200), primary_key=True),
    sa.Column("seen_at", sa.Float, nullable=False, doc="last sign of life, seconds since 1970"),
)

sweeps = sa.Table(
    "sweeps",
    metadata,
    sa.Column("name", sa.String(64), primary_key=True),
    sa.Column("at", sa.Float, nullable=False, doc="when the last one began"),
)

buckets = sa.Table(
    "buckets",
    metadata,
    sa.Column("name", sa.String(64), primary_key=True, doc="what is limited, and a short hash of whom"),
    sa.Column("tokens", sa.Float, nullable=False),
    sa.Column("at", sa.Float, nullable=False, doc="when they were counted, seconds since 1970"),
)
