"""The command ``pymem``."""

from pymem.cli import managing, reading, serving, storing
from pymem.cli.base import main

__all__ = ["main", "managing", "reading", "serving", "storing"]
