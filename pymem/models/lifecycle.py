"""How a memory stands after what happened to it."""

from __future__ import annotations

from dataclasses import dataclass
from uuid import UUID


@dataclass(frozen=True, slots=True)
class MarkedRule:
    """How a rule stands after a mark."""

    id: UUID
    maturity: str
    effectiveness_score: float
    asymmetric_score: float
    applied_count: int
    success_count: int
    harmful_count: int
    needs_inversion: bool
