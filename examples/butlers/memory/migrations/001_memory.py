"""The label that the framework looks for; the schema memory is deployed with pymem or sqitch."""

revision = "mem_001"
down_revision = None
branch_labels = ("memory",)
depends_on = None


def upgrade() -> None:
    """Leave the database as it is."""


def downgrade() -> None:
    """Leave the database as it is."""
