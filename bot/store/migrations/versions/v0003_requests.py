"""Which text of a comment was carried out."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0003"
down_revision = "0002"


def upgrade() -> None:
    """Add the column."""
    op.add_column("handled", sa.Column("text", sa.String(16), nullable=False, server_default=""))
