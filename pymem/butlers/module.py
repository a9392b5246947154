"""The module that a host loads."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from contextlib import asynccontextmanager
from dataclasses import asdict, dataclass, field, replace
from typing import Any
from uuid import UUID

from pydantic import BaseModel

from pymem.butlers.connection import check_schema, connection_string, push_settings, source_of
from pymem.butlers.framework import Undo, register_hooks
from pymem.butlers.hooks import SessionHooks
from pymem.butlers.hosted_tools import hosted_tool, select_hosted_tools
from pymem.butlers.jobs import (
    CONSOLIDATION,
    Job,
    Resources,
    Schedule,
    consolidate,
    host_llm,
    jobs,
    schedules,
)
from pymem.config import MemoryModuleConfig, parse_config
from pymem.consolidation.llm import LLM
from pymem.database import Database, Request
from pymem.embedding import EmbeddingEngine, find_embedding_engine
from pymem.errors import InvalidArgumentError, PymemError, UnavailableError
from pymem.memory import Memory
from pymem.models import Settings
from pymem.tools import Tool, answer_call, error_answer, request_id_of
from pymem.worker import EmbeddingWorker

logger = logging.getLogger(__name__)

_POOL_SECONDS = 5.0
_PREPARE_SECONDS = 15.0
_RETRY_SECONDS = 2.0

CONSOLIDATION_TOOL = "memory_run_consolidation"


@dataclass(slots=True)
class ToolMeta:
    """Information for hosts that ask for approval of tool calls.

    Attributes:
        arg_sensitivities: Whether each argument is critical.
    """

    arg_sensitivities: dict[str, bool] = field(default_factory=dict)


class MemoryModule:
    """The memory of a butler, hosted in the butler's own database.

    It has the members of the framework's ``Module`` but does not derive from it; a host that
    requires a subclass derives one from both (docs/butlers.md).

    Tools always act for the tenant of the login. They see the butler's own memories and global
    ones unless a call names another scope. If the database is down when the butler starts, the
    module waits for it in the background; a missing schema or a login without access is an error
    at once.
    """

    def __init__(self) -> None:
        super().__init__()
        self._db: Any = None
        self._config = MemoryModuleConfig()
        self._butler: str | None = None
        self._database: Database | None = None
        self._memory: Memory | None = None
        self._embedding_engine: EmbeddingEngine | None = None
        self._settings: Settings | None = None
        self._tools: tuple[Tool[Any], ...] = select_hosted_tools()
        self._llm: LLM | None = None
        self._llm_in_session: LLM | None = None
        self._interface: Any = None
        self._unregister: list[Undo] = []
        self._hooks = self._make_hooks()
        self._background: asyncio.Task[None] | None = None

    # Identity

    @property
    def name(self) -> str:
        """Name of the module, as in ``[modules.memory]``."""
        return "memory"

    @property
    def config_schema(self) -> type[BaseModel]:
        """The configuration of the module."""
        return MemoryModuleConfig

    @property
    def dependencies(self) -> list[str]:
        """Modules that this one needs: none."""
        return []

    def migration_revisions(self) -> str | None:
        """Return the label of the module's migrations.

        The schema is deployed with pymem or sqitch, not by the host (docs/butlers.md).
        """
        return "memory"

    def tool_metadata(self) -> dict[str, ToolMeta]:
        """Return which arguments decide what is deleted or changed permanently."""
        one_memory = {"memory_type": True, "memory_id": True}
        return {
            "memory_forget": ToolMeta(dict(one_memory)),
            "memory_restore": ToolMeta(dict(one_memory)),
            "memory_run_episode_cleanup": ToolMeta({"max_entries": True}),
        }

    # Lifecycle

    async def on_startup(self, config: Any, db: Any, *_: Any, **__: Any) -> None:
        """Connect, and apply the configuration to the settings of the tenant.

        Args:
            config: MemoryModuleConfig, the section as a mapping, or None for the defaults.
            db: The host's database; see connection_string.
            _: Ignored: other objects of the host, such as a credential store.
            __: Ignored.

        Raises:
            InvalidArgumentError: The configuration is invalid or names no database.
            DatabaseError: The database has no schema memory.
            TenantDeniedError: The login may not use the memory, or has no tenant.
        """
        await self.on_shutdown()
        async with self.undo_on_failure():
            self._take(config, db)
            url = connection_string(db, self._config)
            self._hooks = self._make_hooks()
            self._database = Database(
                url, max_size=self._config.max_connections, timeout=_POOL_SECONDS
            )
            await self._database.open(wait=False)
            is_ready = await self._prepare()
            if (engine := self._find_embedding_engine()) is not None:
                engine.embedder.start()
            self._background = asyncio.create_task(self._attend(is_ready))

    @asynccontextmanager
    async def undo_on_failure(self) -> AsyncIterator[None]:
        """Shut down if the block raises: the host would not, and connections would remain."""
        try:
            yield
        except BaseException:
            await self.on_shutdown()
            raise

    async def on_shutdown(self) -> None:
        """Close the connections; release the hooks, the host's database, the embedding engine."""
        self._remove_hooks()
        self._interface = None
        if self._background is not None:
            self._background.cancel()
            await asyncio.gather(self._background, return_exceptions=True)
        await self._hooks.close()
        if self._memory is not None:
            await self._memory.finish(within=0)
        if self._database is not None:
            await self._database.close()
        self._background = self._database = self._memory = self._settings = None
        self._db = self._embedding_engine = None

    async def register_tools(
        self, mcp: Any, config: Any, db: Any, butler_name: str | None = None
    ) -> None:
        """Register the tools on the host's MCP server; if that fails, shut down.

        Args:
            mcp: Has a decorator ``tool()``, as FastMCP.
            config: As in on_startup.
            db: As in on_startup.
            butler_name: The agent that the tools act for, also recorded as the actor; default: the
                name of the host's server.
        """
        async with self.undo_on_failure():
            self._take(config, db)
            self._butler = butler_name or getattr(mcp, "name", None) or self._butler
            for tool in self._tools:
                mcp.tool()(hosted_tool(tool, self._call_tool))
            if self._interface is not None:
                self.register_hooks(self._interface)

    def wire_runtime(self, *runtime: Any, **_: Any) -> None:
        """Take the host's spawner, so extraction and consolidation use the host's own LLM."""
        for part in runtime:
            if callable(getattr(part, "trigger", None)):
                self._llm = host_llm(part)
                self._llm_in_session = host_llm(part, in_session=True)
        if self._memory is not None:
            self._memory.llm = self._llm

    # Sessions

    async def on_session_start(
        self,
        trigger_prompt: str,
        butler: str,
        *,
        token_budget: int | None = None,
        request_id: str | None = None,
    ) -> str:
        """Return memory as text for the system prompt of a session; see SessionHooks."""
        return await self._hooks.context(
            trigger_prompt, butler, token_budget=token_budget, request_id=request_id
        )

    async def on_session_end(
        self,
        content: str,
        butler: str,
        *,
        session_id: UUID | str | None = None,
        importance: float | None = None,
        metadata: dict[str, Any] | None = None,
        request_id: str | None = None,
    ) -> UUID | None:
        """Store the outcome of a session as an episode; see SessionHooks."""
        return await self._hooks.store_episode(
            content,
            butler,
            session_id=session_id,
            importance=importance,
            metadata=metadata,
            request_id=request_id,
        )

    async def forget(self, memory_type: str, memory_id: UUID | str) -> dict[str, Any]:
        """Forget a memory and return the answer of the tool memory_forget."""
        return await self._call_tool(
            "memory_forget", {"memory_type": memory_type, "memory_id": memory_id}
        )

    def register_hooks(self, memory_hooks: Any) -> None:
        """Register the hooks with the framework; on_shutdown removes them.

        The newest framework knows a butler by its name. Until register_tools says what that is, the
        hooks are registered for the schema of its database, which bears the same name.

        Args:
            memory_hooks: The framework's module ``butlers.core.memory_hooks``, or
                ``butlers.core.spawner`` where it has no such module.

        Raises:
            InvalidArgumentError: It has no hooks.
        """
        self._remove_hooks()
        owner = self._butler or getattr(self._db, "schema", None)
        self._unregister = register_hooks(self, memory_hooks, [owner] if owner else [])
        self._interface = memory_hooks

    def _remove_hooks(self) -> None:
        while self._unregister:
            self._unregister.pop()()

    def framework_pool(self) -> Any:
        """Return the host's pool, for jobs of the framework on the tables of its own memory.

        None if those are in a schema of their own (``memory_schema``), which this pool does not
        search: there it might find tables of the same names that are something else.
        """
        return None if self._config.memory_schema else getattr(self._db, "pool", None)

    async def run_consolidation(
        self, *, spawner: Any = None, batch_size: int | None = None, **_: Any
    ) -> dict[str, Any]:
        """Run the job memory_consolidation, as the framework's own handler calls it.

        Args:
            spawner: Whose sessions consolidate if the configuration names no LLM.
            batch_size: Episodes per run; None for the setting.
            _: Ignored: what else the framework's own module is told.
        """
        resources = self._resources(CONSOLIDATION)
        if resources.llm is None and spawner is not None:
            resources = replace(resources, llm=host_llm(spawner))
        return await consolidate(resources, batch_size=batch_size)

    def is_of(self, pool: Any) -> bool:
        """Return whether this module was started for the butler with this pool."""
        return pool is not None and getattr(self._db, "pool", None) is pool

    # Periodic work

    def schedules(self) -> list[Schedule]:
        """Return the schedules of the jobs for the host."""
        return schedules(self._config, self._current_settings())

    async def ensure_schedules(self, ensure: Callable[..., Awaitable[None]]) -> None:
        """Make the schedules that the host does not have yet; those that it has stay.

        A schedule that cannot be made is only logged: the butler can do without it.

        Args:
            ensure: The framework's ``butlers.core.scheduler.ensure_module_default_schedule``.
        """
        schema = getattr(self._db, "schema", None)
        for schedule in self.schedules():
            try:
                await ensure(
                    self._db.pool,
                    name=schedule.name,
                    cron=schedule.cron,
                    job_name=schedule.job_name,
                    owner_butler=getattr(self._db, "owner_butler", None) or schema,
                    owner_schema=schema or "public",
                )
            except Exception:
                logger.warning("the schedule %s was not made", schedule.name, exc_info=True)

    def jobs(self) -> dict[str, Job]:
        """Return the jobs by name; they raise their errors."""
        return jobs(self._resources)

    def _resources(self, job: str) -> Resources:
        return Resources(
            self._get_memory().for_request(actor=f"schedule:{job}"),
            self._get_embedding_engine(),
            self._consolidation_llm() if job == CONSOLIDATION else None,
        )

    def _consolidation_llm(self, *, in_session: bool = False) -> LLM | None:
        """Return the LLM of the configuration, or else that of the host."""
        return self._config.consolidation.llm.open() or (
            self._llm_in_session if in_session else self._llm
        )

    # Resources

    def _take(self, config: Any, db: Any) -> None:
        self._db = db if db is not None else self._db
        if isinstance(config, MemoryModuleConfig):
            self._config = config
        elif isinstance(config, Mapping):
            self._config = parse_config(config)
        elif config is not None:
            raise InvalidArgumentError(
                f"the configuration is a {type(config).__name__}",
                hint="Pass a MemoryModuleConfig, or the section [modules.memory].",
            )
        self._tools = select_hosted_tools(self._config.groups)

    def _current_settings(self) -> dict[str, Any]:
        """Return the settings of the tenant, or the configured ones before they are read."""
        if self._settings is None:
            return self._config.all_settings()
        return asdict(self._settings)

    def _get_embedding_engine(self) -> EmbeddingEngine | None:
        """Return the engine shared by all tools, created on first use; None without a model."""
        if self._embedding_engine is None:
            self._embedding_engine = self._find_embedding_engine()
        return self._embedding_engine

    def _find_embedding_engine(self) -> EmbeddingEngine | None:
        return find_embedding_engine(**self._config.embedding.named())

    def _get_memory(self) -> Memory:
        if self._database is None:
            raise UnavailableError(
                "the memory module is not started", hint="Call on_startup first."
            )
        if self._memory is None:
            self._memory = Memory(
                self._database,
                engine=self._get_embedding_engine(),
                request=Request(tenant_id=self._config.tenant_id),
                llm=self._llm,
            )
        return self._memory

    def _make_hooks(self) -> SessionHooks:
        return SessionHooks(
            self._get_memory,
            timeout=self._config.hook_timeout_seconds,
            token_budget=self._config.own("context_token_budget"),
        )

    async def _call_tool(self, name: str, arguments: dict[str, Any]) -> dict[str, Any]:
        try:
            memory = self._get_memory().for_request(actor=self._butler, butler=self._butler)
            if name == CONSOLIDATION_TOOL:
                memory.llm = self._consolidation_llm(in_session=True)
        except PymemError as error:
            return error_answer(error, request_id_of(arguments))
        # Of a tenant with several butlers, each has the budget of its own butler.toml.
        budget = self._config.own("context_token_budget")
        if name == "memory_context" and arguments.get("token_budget") is None and budget:
            arguments = arguments | {"token_budget": budget}
        answer, _ = await answer_call(memory, name, arguments, tools=self._tools)
        return answer

    # In the background

    async def _prepare(self) -> bool:
        """Check the schema and push the settings; return False if the database is unavailable."""
        assert self._database is not None  # noqa: S101 - just opened
        try:
            async with asyncio.timeout(_PREPARE_SECONDS):
                await asyncio.to_thread(check_schema, self._database.url)
                self._settings = await push_settings(
                    Memory(
                        self._database,
                        request=Request(tenant_id=self._config.tenant_id, actor="butler.toml"),
                    ),
                    self._config,
                    source_of(self._db),
                )
        except UnavailableError as error:
            logger.warning("the memory is not available yet: %s [%s]", error, error.code)
            return False
        except TimeoutError:
            logger.warning("the memory did not answer within %g seconds", _PREPARE_SECONDS)
            return False
        return True

    async def _attend(self, is_ready: bool) -> None:
        try:
            while not is_ready:
                await asyncio.sleep(_RETRY_SECONDS)
                is_ready = await self._prepare()
            if self._config.embedding_worker:
                await self._embed_forever()
        except PymemError as error:
            logger.error("the background work of the memory failed: %s [%s]", error, error.code)
        except Exception:
            logger.exception("the background work of the memory failed")

    async def _embed_forever(self) -> None:
        engine = self._get_embedding_engine()
        if engine is None:
            logger.warning("embedding_worker: no embedding model is installed")
            return
        memory = self._get_memory().for_request(actor="embedding-worker")
        await EmbeddingWorker(memory, engine).run_forever()
