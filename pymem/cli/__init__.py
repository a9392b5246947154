"""The command ``pymem``."""

from pymem.cli import consolidating, maintaining, managing, reading, serving, storing, tokens
from pymem.cli.base import main

__all__ = [
    "consolidating",
    "main",
    "maintaining",
    "managing",
    "reading",
    "serving",
    "storing",
    "tokens",
]
