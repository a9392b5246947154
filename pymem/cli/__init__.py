"""The command ``pymem``."""

from pymem.cli import (
    consolidating,
    diagnosing,
    maintaining,
    managing,
    reading,
    serving,
    storing,
    tokens,
)
from pymem.cli.base import main

__all__ = [
    "consolidating",
    "diagnosing",
    "main",
    "maintaining",
    "managing",
    "reading",
    "serving",
    "storing",
    "tokens",
]
