"""What was deleted for good, and what is left."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Erasure:
    """How many of one kind were erased, or would be."""

    object: str
    erased: int


@dataclass(frozen=True, slots=True)
class Remainder:
    """How many rows of a column still name an erased subject."""

    table_name: str
    column_name: str
    remaining: int
