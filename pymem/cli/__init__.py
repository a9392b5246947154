"""The command ``pymem``."""

from pymem.cli import maintaining, managing, reading, serving, storing
from pymem.cli.base import main

__all__ = ["main", "maintaining", "managing", "reading", "serving", "storing"]
