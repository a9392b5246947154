"""How vectors are found, and what is wrong with indexes."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class VectorRecall:
    """What the approximate index of a memory type does to the answers of a tenant.

    Overlaps are shares of the exact answer, 0 to 1; times are median milliseconds of a query.
    """

    memory_type: str
    method: str
    is_valid: bool | None
    is_used: bool
    memories: int
    queries: int
    index_overlap: float | None
    worst_index_overlap: float | None
    short_index_answers: int | None
    search_overlap: float | None
    worst_search_overlap: float | None
    short_searches: int
    exact_ms: float | None
    index_ms: float | None
    search_ms: float | None


@dataclass(frozen=True, slots=True)
class IndexStatement:
    """A step of a rebuild of the approximate indexes."""

    statement: str


@dataclass(frozen=True, slots=True)
class IndexProblem:
    """An index that is missing or invalid, and the statement that repairs it."""

    index_name: str
    problem: str
    repair: str
