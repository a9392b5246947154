"""The store of LangGraph in a tenant's memory: ``pip install 'pymem-postgres[langgraph]'``."""

from __future__ import annotations

import asyncio
import math
from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime
from types import TracebackType
from typing import TYPE_CHECKING, Any, Self, cast

try:
    from langchain_core.embeddings import Embeddings
    from langgraph.store.base import (
        BaseStore,
        GetOp,
        IndexConfig,
        Item,
        ListNamespacesOp,
        Op,
        PutOp,
        Result,
        SearchItem,
        SearchOp,
        TTLConfig,
        ensure_embeddings,
        get_text_at_path,
        tokenize_path,
        validate_op_namespace,
    )
except ImportError as error:
    raise ImportError(
        "pymem.langgraph needs langgraph-checkpoint: pip install 'pymem-postgres[langgraph]'"
    ) from error

from pymem.errors import InvalidArgumentError
from pymem.memory.client import Memory
from pymem.memory.sync import SyncMemory

if TYPE_CHECKING:
    from pymem.embedding import EmbeddingEngine

DIMENSIONS = 384
# What is sent may have 32 levels; the value of an operation is at the third.
_MAX_DEPTH = 29

__all__ = ["PymemStore"]


class PymemStore(BaseStore):
    """Items of LangGraph under namespaces and keys, in tables with row security, audit and history.

    A batch is one call of one SQL function, in one transaction: all its reads see the items as
    they were before it, and of several puts of one item the last one holds.

    With a SyncMemory, which may be shared by threads and event loops, all methods work. With a
    Memory only the asynchronous ones do, in its event loop.

    Args:
        memory: The open memory of a tenant. Whoever opened it closes it.
        index: What is embedded for searches by meaning: dims (384), fields (paths into values; the
            whole value unless given) and embed (the engine of the memory unless given). Searches
            compare with vectors of the same model: that of the engine, or the attribute model of
            embed, or its text; functions are taken to be one. None: searches ignore their query.
        ttl: default_ttl (minutes) of items that are put without one, and refresh_on_read (True
            unless given). Expired items are never returned, and deleted by the tenant's job
            delete_expired_items; omit_expired and sweep_interval_minutes are ignored.

    Raises:
        InvalidArgumentError: dims is not 384, or there is nothing to embed with. Methods raise it
            for what cannot be stored, and other subclasses of PymemError.
    """

    supports_ttl = True

    def __init__(
        self,
        memory: SyncMemory | Memory,
        *,
        index: IndexConfig | None = None,
        ttl: TTLConfig | None = None,
    ) -> None:
        self.memory = memory
        self.ttl_config = ttl
        self.embeddings: Embeddings | None = None
        self._fields: list[str] = []
        self._model: Any = None
        self._owns = False
        if index is not None:
            self._fields = list(index.get("fields") or ["$"])
            self.embeddings = self._embeddings_of(index)
            embed = index.get("embed")
            # The name of a model; vectors of a function are taken to be of one model.
            self._model = embed if isinstance(embed, str) else getattr(embed, "model", None)

    @classmethod
    def connect(
        cls,
        url: str,
        *,
        engine: EmbeddingEngine | None = None,
        index: IndexConfig | None = None,
        ttl: TTLConfig | None = None,
        **connection: Any,
    ) -> Self:
        """Connect to a database; use as ``with PymemStore.connect(url) as store``.

        Args:
            url: Connection string of an ordinary login.
            engine: Embeds texts, unless index has an embed of its own.
            index: As in PymemStore.
            ttl: As in PymemStore.
            connection: As in SyncMemory.connect.
        """
        memory = SyncMemory.connect(url, engine=engine, **connection)
        try:
            store = cls(memory, index=index, ttl=ttl)
        except BaseException:
            memory.close()
            raise
        store._owns = True
        return store

    def close(self) -> None:
        """Close the connections of a store that connected itself."""
        if self._owns:
            cast("SyncMemory", self.memory).close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self.close()

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        await asyncio.to_thread(self.close)

    def batch(self, ops: Iterable[Op]) -> list[Result]:
        """Execute operations in one transaction; the results are in their order."""
        batch = self._read(ops)
        if not batch.operations:
            return []
        memory = self._blocking()
        if batch.texts or batch.queries:
            embeddings = cast("Embeddings", self.embeddings)
            texts = embeddings.embed_documents(batch.texts) if batch.texts else []
            queries = [embeddings.embed_query(query) for query in batch.queries]
            batch.set_vectors(self._model_name(), texts, queries)
        return batch.results(memory._wait(batch.send(memory.memory)))

    async def abatch(self, ops: Iterable[Op]) -> list[Result]:
        """Execute operations in one transaction; the results are in their order."""
        batch = self._read(ops)
        if not batch.operations:
            return []
        if batch.texts or batch.queries:
            embeddings = cast("Embeddings", self.embeddings)
            texts = await embeddings.aembed_documents(batch.texts) if batch.texts else []
            queries = [await embeddings.aembed_query(query) for query in batch.queries]
            batch.set_vectors(self._model_name(), texts, queries)
        return batch.results(await self._run(batch.send))

    def sweep_ttl(self) -> int:
        """Delete expired items now, as the job delete_expired_items does; return how many."""
        return self._blocking().delete_expired_items()

    async def asweep_ttl(self) -> int:
        """Delete expired items now, as the job delete_expired_items does; return how many."""

        async def sweep(memory: Memory) -> int:
            return await memory.delete_expired_items()

        return cast("int", await self._run(sweep))

    def _model_name(self) -> str | None:
        if isinstance(self.embeddings, _EngineEmbeddings):
            return self.embeddings.name
        return self._model if isinstance(self._model, str) else None

    def _blocking(self) -> SyncMemory:
        if isinstance(self.memory, SyncMemory):
            return self.memory
        raise InvalidArgumentError(
            "this store has a Memory, which cannot block",
            hint="Use the asynchronous methods, or give it a SyncMemory.",
        )

    async def _run(self, work: Any) -> Any:
        if isinstance(self.memory, SyncMemory):
            return await self.memory._wait_async(work(self.memory.memory))
        return await work(self.memory)

    def _embeddings_of(self, index: IndexConfig) -> Embeddings:
        dims = index.get("dims", DIMENSIONS)
        if dims != DIMENSIONS:
            raise InvalidArgumentError(
                f"the index has {dims} dimensions",
                hint=f"Use a model with {DIMENSIONS}: vectors of memories have as many.",
            )
        if (embed := index.get("embed")) is not None:
            return ensure_embeddings(embed)
        if self.memory.engine is None:
            raise InvalidArgumentError(
                "the index has nothing to embed with",
                hint="Give the memory an engine, or the index an embed.",
            )
        return _EngineEmbeddings(self.memory.engine)

    def _read(self, ops: Iterable[Op]) -> _Batch:
        batch = _Batch()
        for op in ops:
            validate_op_namespace(op)
            if isinstance(op, GetOp):
                batch.add(
                    op,
                    "get",
                    namespace=list(op.namespace),
                    key=_checked_key(op.key),
                    refresh=bool(op.refresh_ttl),
                )
            elif isinstance(op, SearchOp):
                _check_json(op.filter, "the filter")
                batch.add(
                    op,
                    "search",
                    namespace_prefix=list(op.namespace_prefix),
                    filter=op.filter,
                    limit=op.limit,
                    offset=op.offset,
                    refresh=bool(op.refresh_ttl),
                )
                if self.embeddings is not None and op.query and op.query.strip():
                    batch.embed_query(op.query)
            elif isinstance(op, ListNamespacesOp):
                batch.add(
                    op,
                    "list",
                    conditions=[
                        {"match": condition.match_type, "path": list(condition.path)}
                        for condition in op.match_conditions or ()
                    ],
                    max_depth=op.max_depth,
                    limit=op.limit,
                    offset=op.offset,
                )
            elif isinstance(op, PutOp):
                self._read_put(batch, op)
            else:
                raise InvalidArgumentError(
                    f"unknown operation {type(op).__name__}",
                    hint="Pass GetOp, SearchOp, ListNamespacesOp or PutOp.",
                )
        return batch

    def _read_put(self, batch: _Batch, op: PutOp) -> None:
        key = _checked_key(op.key)
        if op.value is not None and not isinstance(op.value, Mapping):
            raise InvalidArgumentError(
                f"the value of {key!r} is a {type(op.value).__name__}", hint="Pass a dict."
            )
        value = None if op.value is None else dict(op.value)
        _check_json(value, f"the value of {key!r}")
        batch.add(
            op, "put", namespace=list(op.namespace), key=key, value=value, ttl=op.ttl, vectors=[]
        )
        if self.embeddings is None or value is None or op.index is False:
            return
        for path in self._fields if op.index is None else op.index:
            tokens = path if path == "$" else tokenize_path(path)
            texts = get_text_at_path(value, tokens)
            for number, text in enumerate(texts):
                if text.strip():
                    batch.embed(f"{path}.{number}" if len(texts) > 1 else path, text)


class _Batch:
    """The operations of a call of memory.batch_items, and what has to be embedded for them.

    Attributes:
        operations: An element for each.
        texts: Each text that the items have, once.
        queries: Each query, once.
    """

    def __init__(self) -> None:
        self.operations: list[dict[str, Any]] = []
        self.texts: list[str] = []
        self.queries: list[str] = []
        self._ops: list[Op] = []
        self._numbers: dict[str, int] = {}
        # By the number of the operation: what its vectors are made of.
        self._paths: list[tuple[int, str, int]] = []
        self._asked: list[tuple[int, int]] = []

    def add(self, op: Op, kind: str, **element: Any) -> None:
        self._ops.append(op)
        self.operations.append(
            {"op": kind} | {name: value for name, value in element.items() if value is not None}
        )

    def embed(self, path: str, text: str) -> None:
        """Embed a text of the operation added last."""
        number = self._numbers.setdefault(text, len(self.texts))
        if number == len(self.texts):
            self.texts.append(text)
        self._paths.append((len(self.operations) - 1, path, number))

    def embed_query(self, query: str) -> None:
        """Embed the query of the operation added last."""
        if query not in self.queries:
            self.queries.append(query)
        self._asked.append((len(self.operations) - 1, self.queries.index(query)))

    def set_vectors(self, model: str | None, texts: Sequence[Any], queries: Sequence[Any]) -> None:
        """Take the vectors of texts and queries, and the name of the model that made them."""
        for what, wanted, given in (
            ("texts", self.texts, texts),
            ("queries", self.queries, queries),
        ):
            if len(wanted) != len(given):
                raise InvalidArgumentError(
                    f"embed returned {len(given)} vectors for {len(wanted)} {what}",
                    hint="Return one vector for each text, in their order.",
                )
        vectors = [_checked_vector(vector) for vector in texts]
        asked = [_checked_vector(vector) for vector in queries]
        for place, path, number in self._paths:
            operation = self.operations[place]
            operation["vectors"].append({"path": path, "embedding": vectors[number]})
            operation["model"] = model
        for place, number in self._asked:
            self.operations[place] |= {"embedding": asked[number], "model": model}

    async def send(self, memory: Memory) -> list[Any]:
        """Call the database once; a login that only reads may send reads of one kind."""
        kinds = {operation["op"] for operation in self.operations}
        kind = kinds.pop() if len(kinds) == 1 else None
        elements: Any = self.operations
        if kind in {"get", "search", "list"}:
            elements = [
                {name: value for name, value in operation.items() if name != "op"}
                for operation in self.operations
            ]
        if kind == "get":
            return await memory.get_items(elements)
        if kind == "search":
            return await memory.search_items(elements)
        if kind == "list":
            return await memory.list_item_namespaces(elements)
        return await memory.batch_items(elements)

    def results(self, rows: list[Any]) -> list[Result]:
        """Return a result for each operation."""
        found: list[list[Any]] = [[] for _ in self._ops]
        for row in rows:
            found[row.ordinal - 1].append(row)
        return [_result(op, rows) for op, rows in zip(self._ops, found, strict=True)]


class _EngineEmbeddings(Embeddings):
    """The model that embeds memories."""

    def __init__(self, engine: EmbeddingEngine) -> None:
        self._engine = engine

    @property
    def name(self) -> str:
        """The model and its version; read in the threads that embed, for it reads the weights."""
        return f"{self._engine.model} {self._engine.version}"

    def embed_documents(self, texts: list[str]) -> list[list[float]]:
        self.name  # noqa: B018 - read here
        return self._engine.embed_batch(texts)

    def embed_query(self, text: str) -> list[float]:
        self.name  # noqa: B018 - read here
        return self._engine.embed_query(text)


def _result(op: Op, rows: list[Any]) -> Result:
    if isinstance(op, GetOp):
        return Item(**_item(rows[0])) if rows else None
    if isinstance(op, SearchOp):
        return [SearchItem(**_item(row), score=row.score) for row in rows]
    if isinstance(op, ListNamespacesOp):
        return [tuple(row.namespace) for row in rows]
    return None


def _item(row: Any) -> dict[str, Any]:
    created_at: datetime = row.created_at
    return {
        "namespace": tuple(row.namespace),
        "key": row.key,
        "value": row.value,
        "created_at": created_at,
        "updated_at": row.updated_at,
    }


def _checked_key(key: Any) -> str:
    if not isinstance(key, str):
        raise InvalidArgumentError(f"the key is a {type(key).__name__}", hint="Pass a text.")
    _check_text(key, "the key")
    return key


def _checked_vector(vector: Any) -> list[float]:
    numbers = [float(number) for number in vector]
    if len(numbers) != DIMENSIONS:
        raise InvalidArgumentError(
            f"embed returned a vector with {len(numbers)} dimensions",
            hint=f"Use a model with {DIMENSIONS}.",
        )
    return numbers


def _check_text(text: str, what: str) -> None:
    """Refuse what would be stored otherwise than it is."""
    if "\x00" in text:
        raise InvalidArgumentError(
            f"{what} contains NUL", hint="PostgreSQL cannot store it; leave it out."
        )
    try:
        text.encode()
    except UnicodeEncodeError as error:
        raise InvalidArgumentError(
            f"{what} contains half a character", hint="Pass text that can be encoded as UTF-8."
        ) from error


def _check_json(value: Any, what: str, depth: int = 0) -> None:
    """Refuse what JSON would not give back as it is."""
    if depth > _MAX_DEPTH:
        raise InvalidArgumentError(
            f"{what} is nested too deeply", hint=f"Nest at most {_MAX_DEPTH} levels."
        )
    if value is None or isinstance(value, bool | int):
        return
    if isinstance(value, str):
        _check_text(value, what)
    elif isinstance(value, float):
        if not math.isfinite(value):
            raise InvalidArgumentError(
                f"{what} holds {value}", hint="JSON has only finite numbers."
            )
    elif isinstance(value, dict):
        for key, item in value.items():
            if not isinstance(key, str):
                raise InvalidArgumentError(
                    f"{what} has a key that is a {type(key).__name__}", hint="Pass texts as keys."
                )
            _check_text(key, what)
            _check_json(item, what, depth + 1)
    elif isinstance(value, list | tuple):
        for item in value:
            _check_json(item, what, depth + 1)
    else:
        raise InvalidArgumentError(
            f"{what} holds a {type(value).__name__}", hint="Pass JSON values only."
        )
