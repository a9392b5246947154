"""Indexes: how vectors are found, and whether all are in place."""

from __future__ import annotations

from datetime import datetime

from pymem.memory.calls import Calls
from pymem.models import IndexProblem, IndexStatement, VectorMethod, VectorRecall


class IndexMethods(Calls):
    """Methods that build and check indexes."""

    async def rebuild_vector_indexes(
        self, method: VectorMethod | None = None, *, lists: int | None = None
    ) -> str:
        """Choose and build how vectors are found; return the method."""
        result: str = await self._value("rebuild_vector_indexes", method=method, lists=lists)
        return result

    async def vector_index_statements(
        self, method: VectorMethod, *, lists: int | None = None
    ) -> list[IndexStatement]:
        """Return the steps of a rebuild, for the owner of the schema to run beside the traffic."""
        return await self._rows(
            IndexStatement, "vector_index_statements", method=method, lists=lists
        )

    async def check_vector_recall(
        self,
        *,
        sample: int | None = None,
        depth: int | None = None,
        as_of: datetime | None = None,
    ) -> list[VectorRecall]:
        """Compare what indexes and searches find with the exact answers, per memory type."""
        return await self._rows(
            VectorRecall, "check_vector_recall", sample=sample, depth=depth, as_of=as_of
        )

    async def check_indexes(self) -> list[IndexProblem]:
        """Return the indexes of the schema that are missing or invalid."""
        return await self._rows(IndexProblem, "check_indexes")
