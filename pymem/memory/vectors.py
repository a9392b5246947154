"""Embedding of texts and queries in the client."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable, Sequence
from typing import Any, TypeVar
from uuid import UUID

import numpy as np
import numpy.typing as npt

from pymem.errors import ConflictError, EmbeddingError, InvalidArgumentError, PymemError
from pymem.memory.base import Client
from pymem.models import EmbeddingVersion, MemoryType
from pymem.observing.spans import seen_embedding

logger = logging.getLogger(__name__)

Embedding = Sequence[float] | npt.NDArray[np.floating[Any]]

Answer = TypeVar("Answer")

# How the message of a function ends that cannot do without the vector of a query.
_NEEDS_VECTOR = "without an embedding"


class Vectors(Client):
    """Embeds texts and queries for the methods that store and search, if there is an engine.

    What an engine does not give in time is done without: memories are stored for the embedding
    worker, and searched by their words.
    """

    async def _with_vector(
        self,
        call: Callable[..., Awaitable[Answer]],
        query: str | None,
        embedding: Embedding | None,
        expand: Callable[[str], Awaitable[str]] | None = None,
        topic: Callable[[str], Awaitable[str]] | None = None,
    ) -> Answer:
        """Make a call with the vector of its query, which is embedded unless given.

        Args:
            call: Takes embedding and embedding_version_id.
            query: What is embedded.
            embedding: Its vector, if it is known.
            expand: Returns what to embed instead.
            topic: Returns what of it is embedded.
        """
        embedded, version_id = await self._embedded_query(embedding, query, expand, topic)
        try:
            return await call(embedding=embedded, embedding_version_id=version_id)
        except ConflictError:
            if version_id is None:
                raise
            # The embedding version has been switched in the meantime.
            self._versions.pop(self._request.tenant_id, None)
            embedded, version_id = await self._embedded_query(embedding, query, expand, topic)
            return await call(embedding=embedded, embedding_version_id=version_id)
        except InvalidArgumentError as error:
            if embedded is None and error.message.endswith(_NEEDS_VECTOR):
                raise self._no_meaning() from error
            raise

    def _no_meaning(self) -> PymemError:
        """Return the error for what can only be searched by meaning."""
        hint = "Search by words: mode hybrid or keyword."
        if self.meaning_off is not None:
            return EmbeddingError(f"searching by meaning is off: {self.meaning_off}", hint=hint)
        reason = (
            "this client has no embedding model"
            if self._engine is None
            else "the query is empty, or its vector is of another model than those stored"
        )
        return InvalidArgumentError(f"searching by meaning is off: {reason}", hint=hint)

    async def _embedded_query(
        self,
        embedding: Embedding | None,
        query: str | None,
        expand: Callable[[str], Awaitable[str]] | None,
        topic: Callable[[str], Awaitable[str]] | None,
    ) -> tuple[Embedding | None, UUID | None]:
        if embedding is not None or not query or not query.strip():
            return embedding, None
        version_id = await self._version_id()
        if version_id is None:
            return None, None
        if topic is not None:
            query = await topic(query)
            if not query.strip():
                return None, None
        vector = self._embed(query, is_query=True)
        if expand is None:
            embedded = await vector
        else:
            # At once, because most queries stay as they are.
            embedded, expanded = await asyncio.gather(vector, expand(query))
            if embedded is not None and expanded != query:
                embedded = await self._embed(expanded, is_query=True)
        return embedded, None if embedded is None else version_id

    async def _embed(self, text: str, *, is_query: bool = False) -> Embedding | None:
        """Return the vector of a text, or None where the engine fails or is late."""
        assert self._engine is not None  # noqa: S101 - there is no version without an engine
        with seen_embedding(self._engine.model):
            vector = await self._engine.embedder.embed(text, is_query=is_query)
        return self._unless_off(vector)

    def _unless_off(self, answer: Answer | None) -> Answer | None:
        """Return the answer of the engine, and remember why there is none."""
        assert self._engine is not None  # noqa: S101 - it has answered
        self.meaning_off = self._engine.embedder.trouble if answer is None else None
        return answer

    async def _version_id(self) -> UUID | None:
        """Return the id of the engine's version, or None if searches use another version."""
        if self._engine is None:
            return None
        tenant_id = self._request.tenant_id
        if tenant_id not in self._versions:
            version = self._unless_off(await self._engine.embedder.version())
            if version is None:
                return None
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
            embedding = await self._embed(rendered)
            embedding_version_id = None if embedding is None else version_id
            embedded_here = embedding is not None
        try:
            return await call(embedding=embedding, embedding_version_id=embedding_version_id)
        except ConflictError:
            if not embedded_here:
                raise
            # The embedding version may have been switched in the meantime. Store without a vector;
            # the embedding worker adds it. Any other conflict is raised again by this call.
            self._versions.pop(self._request.tenant_id, None)
            return await call()
