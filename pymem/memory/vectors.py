"""Embedding of texts and queries in the client."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable, Sequence
from typing import Any, TypeVar
from uuid import UUID

import numpy as np
import numpy.typing as npt

from pymem.errors import ConflictError, EmbeddingError, PymemError
from pymem.memory.base import Client
from pymem.models import EmbeddingVersion, MemoryType

logger = logging.getLogger(__name__)

Embedding = Sequence[float] | npt.NDArray[np.floating[Any]]

Answer = TypeVar("Answer")


class Vectors(Client):
    """Embeds texts and queries for the methods that store and search, if there is an engine."""

    async def _with_vector(
        self, call: Callable[..., Awaitable[Answer]], query: str | None, embedding: Embedding | None
    ) -> Answer:
        """Make a call with the vector of its query, which is embedded unless given."""
        embedded, version_id = await self._embedded_query(embedding, query)
        try:
            return await call(embedding=embedded, embedding_version_id=version_id)
        except ConflictError:
            if version_id is None:
                raise
            # The embedding version has been switched in the meantime.
            self._versions.pop(self._request.tenant_id, None)
            embedded, version_id = await self._embedded_query(embedding, query)
            return await call(embedding=embedded, embedding_version_id=version_id)

    async def _embedded_query(
        self, embedding: Embedding | None, query: str | None
    ) -> tuple[Embedding | None, UUID | None]:
        if embedding is not None or not query or not query.strip():
            return embedding, None
        version_id = await self._version_id()
        if version_id is None:
            return None, None
        return await self._embed(query, is_query=True), version_id

    async def _embed(self, text: str, *, is_query: bool = False) -> Embedding:
        assert self._engine is not None  # noqa: S101 - there is no version without an engine
        embed = self._engine.embed_query if is_query else self._engine.embed
        try:
            return await asyncio.to_thread(embed, text)
        except PymemError:
            raise
        except Exception as error:
            raise EmbeddingError(
                f"the embedding engine failed: {error}",
                hint="Go on without an engine: memories are stored for the embedding worker, and "
                "found by their words.",
            ) from error

    async def _version_id(self) -> UUID | None:
        """Return the id of the engine's version, or None if searches use another version."""
        if self._engine is None:
            return None
        tenant_id = self._request.tenant_id
        if tenant_id not in self._versions:
            version = await asyncio.to_thread(lambda engine: engine.version, self._engine)
            if self._database.read_only:
                # Read-only: the model cannot be registered here, so use it only if it is active.
                active = await self._active_version()
                if active is None or (active.model, active.version) != (
                    self._engine.model,
                    version,
                ):
                    return None
                self._versions[tenant_id] = active.id
                return active.id
            try:
                version_id = await self._value(
                    "register_embedding_version", model=self._engine.model, version=version
                )
                active = await self._active_version()
            except ConflictError as error:
                logger.warning("searching by keyword, storing without vectors: %s", error)
                active = None
            self._versions[tenant_id] = (
                version_id if active is not None and active.id == version_id else None
            )
        return self._versions[tenant_id]

    async def _active_version(self) -> EmbeddingVersion | None:
        return await self._row_or_none(EmbeddingVersion, "active_embedding_version")

    async def _with_text(
        self,
        call: Callable[..., Awaitable[Answer]],
        memory_type: MemoryType,
        embedding: Embedding | None,
        embedding_version_id: UUID | str | None,
        /,
        **text: Any,
    ) -> Answer:
        """Make a call that stores a memory with the vector of its text, embedded unless given."""
        embedded_here = False
        if (
            embedding is None
            and text["content"] is not None
            and (version_id := await self._version_id()) is not None
        ):
            rendered = await self._value("embedding_text", memory_type=memory_type, **text)
            embedding, embedding_version_id = await self._embed(rendered), version_id
            embedded_here = True
        try:
            return await call(embedding=embedding, embedding_version_id=embedding_version_id)
        except ConflictError:
            if not embedded_here:
                raise
            # The embedding version may have been switched in the meantime. Store without a vector;
            # the embedding worker adds it. Any other conflict is raised again by this call.
            self._versions.pop(self._request.tenant_id, None)
            return await call()
