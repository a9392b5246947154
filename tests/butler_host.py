"""A host that obeys the contract of the framework butlers, for the module that it loads.

It does what the framework's daemon does with a module, in the same order and with the same calls,
those of its older releases too; what it serves is an MCP server of the official SDK.
"""

from __future__ import annotations

import abc
import functools
import inspect
import json
import tomllib
from collections.abc import Callable
from contextlib import AsyncExitStack
from dataclasses import dataclass, field
from types import SimpleNamespace
from typing import Any

from mcp import Client
from mcp.server.mcpserver import MCPServer
from psycopg.conninfo import conninfo_to_dict
from pydantic import BaseModel

from pymem.butlers import MemoryModule


class Module(abc.ABC):
    """What the framework asks of a module."""

    @property
    @abc.abstractmethod
    def name(self) -> str: ...

    @property
    @abc.abstractmethod
    def config_schema(self) -> type[BaseModel]: ...

    @property
    @abc.abstractmethod
    def dependencies(self) -> list[str]: ...

    @abc.abstractmethod
    async def register_tools(self, mcp: Any, config: Any, db: Any, butler_name: str) -> None: ...

    @abc.abstractmethod
    def migration_revisions(self) -> str | None: ...

    @abc.abstractmethod
    async def on_startup(
        self, config: Any, db: Any, credential_store: Any = None, blob_store: Any = None
    ) -> None: ...

    @abc.abstractmethod
    async def on_shutdown(self) -> None: ...

    def tool_metadata(self) -> dict[str, Any]:
        return {}

    def user_inputs(self) -> tuple[Any, ...]:
        return ()


class HostedMemory(MemoryModule, Module):
    """The module as the framework's registry wants it: a subclass of its own base."""


@dataclass
class HostDatabase:
    """The framework's database: where it is, and a pool, here one that nobody may use."""

    db_name: str
    host: str
    port: int
    user: str
    password: str
    ssl: str | None = None
    schema: str | None = "general"
    role: str | None = None
    pool: object = field(default_factory=object)

    @classmethod
    def at(cls, url: str) -> HostDatabase:
        parameters = conninfo_to_dict(url)
        return cls(
            db_name=str(parameters["dbname"]),
            host=str(parameters["host"]),
            port=int(str(parameters.get("port", 5432))),
            user=str(parameters["user"]),
            password=str(parameters.get("password", "")),
        )


class MemoryHooks:
    """What the framework keeps for a process: hooks that modules have registered."""

    context: Callable[..., Any]
    store_episode: Callable[..., Any]
    forget: Callable[..., Any]

    def register_memory_context(self, function: Callable[..., Any]) -> None:
        self.context = function

    def register_memory_store_episode(self, function: Callable[..., Any]) -> None:
        self.store_episode = function

    def register_memory_forget(self, function: Callable[..., Any]) -> None:
        self.forget = function


class OwnedMemoryHooks:
    """What the framework keeps since July 2026: hooks for each butler, found by its name."""

    def __init__(self) -> None:
        self.sessions: dict[str, Any] = {}
        self.maintenance: dict[str, Any] = {}
        self.forget: Callable[..., Any] | None = None

    def register_memory_forget(self, fn: Callable[..., Any]) -> None:
        self.forget = fn

    def register_memory_session_runtime(
        self, butler_name: str, *, context: Callable[..., Any], store_episode: Callable[..., Any]
    ) -> object:
        self.sessions[butler_name] = SimpleNamespace(context=context, store_episode=store_episode)
        return self.sessions[butler_name]

    def unregister_memory_session_runtime(self, butler_name: str, runtime: object) -> None:
        if self.sessions.get(butler_name) is runtime:
            del self.sessions[butler_name]

    def register_memory_maintenance_runtime(
        self,
        butler_name: str,
        *,
        pool_resolver: Callable[[], Any],
        consolidation: Callable[..., Any],
    ) -> object:
        self.maintenance[butler_name] = SimpleNamespace(
            pool_resolver=pool_resolver, consolidation=consolidation
        )
        return self.maintenance[butler_name]

    def unregister_memory_maintenance_runtime(self, butler_name: str, runtime: object) -> None:
        if self.maintenance.get(butler_name) is runtime:
            del self.maintenance[butler_name]

    async def fetch_memory_context(
        self, pool: Any, butler_name: str, prompt: str, *, token_budget: int = 3000
    ) -> str | None:
        if butler_name not in self.sessions:
            return None
        text: str | None = await self.sessions[butler_name].context(
            pool, butler_name, prompt, token_budget=token_budget
        )
        return text

    async def store_session_episode(
        self, pool: Any, butler_name: str, session_output: str, session_id: Any = None
    ) -> bool:
        if butler_name not in self.sessions:
            return False
        stored: bool = await self.sessions[butler_name].store_episode(
            pool, butler_name, session_output, session_id
        )
        return stored


class SpanWrappingMCP:
    """Stands before the server and wraps each tool, as the framework does for its telemetry."""

    def __init__(self, server: Any) -> None:
        self._server = server
        self.called: list[str] = []

    def tool(self, *arguments: Any, **options: Any) -> Callable[..., Any]:
        register = self._server.tool(*arguments, **options)

        def wrapper(function: Any) -> Any:
            @functools.wraps(function)
            async def instrumented(*args: Any, **kwargs: Any) -> Any:
                inspect.signature(function).bind_partial(*args, **kwargs).apply_defaults()
                self.called.append(function.__name__)
                return await function(*args, **kwargs)

            return register(instrumented)

        return wrapper

    def __getattr__(self, name: str) -> Any:
        return getattr(self._server, name)


class Butler:
    """A daemon of the framework with the one module.

    Args:
        database: Its database.
        toml: Its butler.toml.
        old: Whether to call as the framework's first releases did: no butler_name, no stores, the
            configuration unvalidated.
        server: The MCP server; that of the official SDK if left out.
    """

    def __init__(
        self,
        database: HostDatabase,
        toml: str = "",
        *,
        name: str = "general",
        old: bool = False,
        server: Any = None,
    ) -> None:
        self.name = name
        self.module: MemoryModule = HostedMemory()
        self.hooks = MemoryHooks()
        self.database = database
        self.mcp = SpanWrappingMCP(MCPServer(name) if server is None else server)
        self._old = old
        self._section = tomllib.loads(toml).get("modules", {}).get("memory", {})
        self._stack = AsyncExitStack()
        self.client: Client

    async def start(self) -> None:
        module = self.module
        assert isinstance(module, Module)
        if self._old:
            await module.on_startup(self._section, self.database)
            await module.register_tools(self.mcp, self._section, self.database)
            return
        section = {
            k: v for k, v in self._section.items() if k not in ("credentials_env", "enabled")
        }
        assert module.config_schema.model_config.get("extra") == "forbid"
        config = module.config_schema.model_validate(section)
        await module.on_startup(config, self.database, credential_store=object(), blob_store=None)
        module.register_hooks(self.hooks)
        await module.register_tools(self.mcp, config, self.database, butler_name=self.name)

    async def connect(self) -> Client:
        """Return a client of its MCP server, in this process."""
        self.client = await self._stack.enter_async_context(Client(self.mcp._server))
        return self.client

    async def call(self, name: str, /, **arguments: Any) -> dict[str, Any]:
        """Call a tool as an agent would and return its answer."""
        result = await self.client.call_tool(name, arguments)
        assert not result.is_error, result
        answer: dict[str, Any] = json.loads(result.content[0].text)  # type: ignore[union-attr]
        assert result.structured_content == answer
        return answer

    async def __aenter__(self) -> Butler:
        await self.start()
        return self

    async def __aexit__(self, *_: object) -> None:
        await self._stack.aclose()
        await self.module.on_shutdown()
