"""The command ``pymem``."""

from pymem.cli import (
    consolidating,
    diagnosing,
    entities,
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
    "entities",
    "main",
    "maintaining",
    "managing",
    "reading",
    "serving",
    "storing",
    "tokens",
]
