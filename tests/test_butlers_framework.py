"""The module in the framework as it was in February, June and July 2026."""

from __future__ import annotations

import asyncio
import importlib
import inspect
import pkgutil
import sys
from pathlib import Path
from types import ModuleType, SimpleNamespace
from typing import Any, Literal
from uuid import uuid4

import pytest
from mcp.server.mcpserver import MCPServer

import pymem.butlers
from pymem.butlers import MemoryModuleConfig
from pymem.butlers.hosted_tools import select_hosted_tools
from pymem.config import parse_config
from pymem.errors import InvalidArgumentError
from pymem.tools import TOOLS
from tests.butler_host import (
    Butler,
    HostDatabase,
    MemoryHooks,
    Module,
    OwnedMemoryHooks,
    SpanWrappingMCP,
)
from tests.conftest import ROOT, Database

pytestmark = [pytest.mark.anyio, pytest.mark.usefixtures("keywords_only")]

EXAMPLE = ROOT / "examples" / "butlers" / "a_pymem.py"

State = Literal["february", "june", "july"]

OWN_PACKAGE = """
from butlers.modules.base import Module


class MemoryModule(Module):
    name = "memory"
    config_schema = None
    dependencies = ()
    async def register_tools(self, mcp, config, db, butler_name): ...
    def migration_revisions(self): ...
    async def on_startup(self, config, db, credential_store=None, blob_store=None): ...
    async def on_shutdown(self): ...
"""


@pytest.fixture
def host_database(database: Database) -> HostDatabase:
    return HostDatabase.at(database.login("a"))


class Framework:
    """A process of the framework, with the modules that its parts import and look for.

    Args:
        state: When it was.
        folder: Becomes its folder of modules: its own memory and the example.
    """

    def __init__(self, state: State, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        self.jobs: dict[str, dict[str, Any]] = {"home": {"collect_briefing": None}}
        self.schedules: dict[str, dict[str, Any]] = {}
        self.own_calls: list[str] = []
        self.fails_at = ""
        (folder / "memory").mkdir()
        (folder / "memory" / "__init__.py").write_text(OWN_PACKAGE)
        (folder / "memory" / "storage.py").write_text("def store_fact(): ...\n")
        (folder / "approvals.py").write_text("")
        (folder / "a_pymem.py").write_text(EXAMPLE.read_text())

        async def fetch_memory_context(
            pool: Any, butler_name: str, prompt: str, *, token_budget: int = 3000
        ) -> str | None:
            self.own_calls.append(butler_name)
            return "the framework's own"

        async def store_session_episode(
            pool: Any, butler_name: str, session_output: str, session_id: Any = None
        ) -> bool:
            self.own_calls.append(butler_name)
            return False

        async def ensure_module_default_schedule(pool: Any, *, name: str, **entry: Any) -> None:
            if self.fails_at == name:
                raise OSError("no table scheduled_tasks")
            self.schedules.setdefault(name, entry | {"pool": pool})

        spawner: dict[str, Any] = {
            "fetch_memory_context": fetch_memory_context,
            "store_session_episode": store_session_episode,
        }
        registry = {"_DETERMINISTIC_SCHEDULE_JOB_REGISTRY": self.jobs}
        hooks: Any = OwnedMemoryHooks() if state == "july" else MemoryHooks()
        self.hooks: Any = hooks
        modules: dict[str, dict[str, Any]] = {
            "butlers": {"__path__": []},
            "butlers.core": {"__path__": []},
            "butlers.core.scheduler": {},
            "butlers.core.spawner": spawner if state == "february" else {},
            "butlers.modules": {"__path__": [str(folder)]},
            "butlers.modules.base": {"Module": Module},
            "butlers.daemon": registry if state == "february" else {},
        }
        if state != "february":
            modules["butlers.scheduled_jobs"] = registry
            modules["butlers.core.memory_hooks"] = {
                name: getattr(self.hooks, name)
                for name in dir(self.hooks)
                if name.startswith(("register", "unregister"))
            }
        if state == "july":
            modules["butlers.core.scheduler"]["ensure_module_default_schedule"] = (
                ensure_module_default_schedule
            )
        for name, members in modules.items():
            stub = ModuleType(name)
            vars(stub).update(members)
            monkeypatch.setitem(sys.modules, name, stub)
        for found in ("a_pymem", "memory", "memory.storage", "approvals"):
            monkeypatch.delitem(sys.modules, f"butlers.modules.{found}", raising=False)
        if state == "february":
            self.hooks = sys.modules["butlers.core.spawner"]
        elif state == "june":
            hooks.fetch_memory_context = lambda *a, **n: hooks.context(*a, **n)
            hooks.store_session_episode = lambda *a, **n: hooks.store_episode(*a, **n)

    def find_modules(self) -> dict[str, type[Any]]:
        """Return the modules by name: the first of each, in the order of the folder."""
        found: dict[str, type[Any]] = {}
        path = sys.modules["butlers.modules"].__path__
        for entry in pkgutil.walk_packages(path, prefix="butlers.modules."):
            module = importlib.import_module(entry.name)
            for _, member in inspect.getmembers(module, inspect.isclass):
                if issubclass(member, Module) and not inspect.isabstract(member):
                    found.setdefault(member().name, member)
        return found


@pytest.fixture(params=["february", "june", "july"])
def state(request: pytest.FixtureRequest) -> State:
    named: State = request.param
    return named


@pytest.fixture
def framework(state: State, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Framework:
    return Framework(state, tmp_path, monkeypatch)


async def start(module: Any, database: HostDatabase, state: State) -> None:
    """Start a module as the framework of that time does."""
    config = module.config_schema.model_validate({})
    mcp = SpanWrappingMCP(MCPServer("home"))
    if state == "february":
        await module.on_startup(config, database, None)
        await module.register_tools(mcp, config, database)
    else:
        await module.on_startup(config, database, credential_store=None, blob_store=None)
        await module.register_tools(mcp, config, database, butler_name="home")


def count_connections(database: Database) -> int:
    found: int = database.value(
        "select count(*) from pg_stat_activity where datname = current_database() "
        "and usename = 'pymem_test_a'"
    )
    return found


# The example


async def test_the_example_takes_part_in_sessions_and_jobs(
    framework: Framework, state: State, database: Database, host_database: HostDatabase
) -> None:
    host_database.schema = "home"
    module = framework.find_modules()["memory"]()
    assert isinstance(module, pymem.butlers.MemoryModule)
    await start(module, host_database, state)
    try:
        hooks, pool = framework.hooks, host_database.pool
        assert await hooks.store_session_episode(pool, "home", "Rex barked", uuid4()) is True
        database.query("select memory.store_fact('Rex', 'is', 'a dog that barks', scope => 'home')")
        text = await hooks.fetch_memory_context(pool, "home", "Does Rex bark?", token_budget=3000)
        done = await framework.jobs["home"]["memory_event_seal"](pool, None)
    finally:
        await module.on_shutdown()

    assert "a dog that barks" in text
    assert done["sealed"] > 0
    assert "collect_briefing" in framework.jobs["home"]
    assert framework.own_calls == []
    assert await hooks.store_session_episode(pool, "home", "too late") is False


async def test_the_example_leaves_the_package_that_others_import(framework: Framework) -> None:
    found = framework.find_modules()

    storage = importlib.import_module("butlers.modules.memory.storage")
    assert storage.store_fact is not None
    assert found["memory"].__module__ == "butlers.modules.a_pymem"
    assert found["memory"]().migration_revisions() == "memory"


@pytest.mark.parametrize("state", ["july"])
async def test_the_example_makes_the_schedules_that_its_host_lacks(
    framework: Framework, state: State, host_database: HostDatabase
) -> None:
    host_database.schema = "home"
    framework.schedules["memory_decay_sweep"] = {"cron": "the owner's"}
    framework.fails_at = "memory_event_seal"
    module = framework.find_modules()["memory"]()
    await start(module, host_database, state)
    wanted = {entry.name: entry.cron for entry in module.schedules()}
    await module.on_shutdown()

    made = {name: entry["cron"] for name, entry in framework.schedules.items()}
    del wanted["memory_event_seal"]
    assert made == wanted | {"memory_decay_sweep": "the owner's"}
    assert framework.schedules["memory_consolidation"]["owner_butler"] == "home"
    assert framework.schedules["memory_consolidation"]["pool"] is host_database.pool


@pytest.mark.parametrize("state", ["february"])
async def test_butlers_without_the_module_keep_the_memory_of_the_framework(
    framework: Framework, state: State, host_database: HostDatabase
) -> None:
    module = framework.find_modules()["memory"]()
    await start(module, host_database, state)
    text = await framework.hooks.fetch_memory_context(object(), "work", "Rex")
    await module.on_shutdown()

    assert text == "the framework's own"
    assert framework.own_calls == ["work"]


async def test_no_connection_remains_when_a_start_fails(
    framework: Framework,
    state: State,
    database: Database,
    host_database: HostDatabase,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    module = framework.find_modules()["memory"]()
    for name in ("butlers.core.memory_hooks", "butlers.core.spawner"):
        if name in sys.modules:
            monkeypatch.setitem(sys.modules, name, ModuleType(name))
    with pytest.raises(InvalidArgumentError, match="has no hooks of memory"):
        await start(module, host_database, state)

    # A server ends a session a moment after its client has gone.
    async with asyncio.timeout(10):
        while count_connections(database) > 0:
            await asyncio.sleep(0.01)
    assert module._database is None


# The hooks of July 2026


async def test_each_butler_has_its_own_hooks_by_its_name(database: Database) -> None:
    hooks = OwnedMemoryHooks()
    home = HostDatabase.at(database.login("a"))
    work = HostDatabase.at(database.login("b"))
    for name, at in (("home", home), ("work", work)):
        at.schema = name
    at_home, at_work = Butler(home, name="home"), Butler(work, name="work")
    at_home.hooks = at_work.hooks = hooks  # type: ignore[assignment]
    async with at_home, at_work:
        assert set(hooks.sessions) == set(hooks.maintenance) == {"home", "work"}
        # The framework may pass another pool than the one of the module.
        assert await hooks.store_session_episode(object(), "home", "Rex barked") is True
        assert await hooks.store_session_episode(object(), "work", "The boss barked") is True
        assert await hooks.store_session_episode(object(), "travel", "A train") is False
        replaced = hooks.sessions["work"] = SimpleNamespace()

    assert hooks.sessions == {"work": replaced}
    assert hooks.maintenance == {}
    said = database.query("select tenant_id, content from memory.episodes order by tenant_id")
    assert said == [("a", "Rex barked"), ("b", "The boss barked")]


async def test_the_hooks_are_found_by_the_name_of_the_butler_not_of_its_schema(
    host_database: HostDatabase,
) -> None:
    hooks = OwnedMemoryHooks()
    host_database.schema = "shared"
    butler = Butler(host_database, name="home")
    butler.hooks = hooks  # type: ignore[assignment]
    async with butler:
        assert set(hooks.sessions) == {"home"}


class Spawner:
    """The host's runtime, whose only slot may be taken."""

    def __init__(self) -> None:
        self.asked: list[tuple[str, bool]] = []

    async def trigger(
        self, prompt: str, trigger_source: str, bypass_butler_semaphore: bool = False
    ) -> Any:
        self.asked.append((trigger_source, bypass_butler_semaphore))
        return SimpleNamespace(success=True, output="{}", error=None)


async def test_the_handler_of_the_framework_consolidates_with_its_spawner(
    database: Database, host_database: HostDatabase
) -> None:
    hooks, spawner = OwnedMemoryHooks(), Spawner()
    butler = Butler(host_database, name="home")
    butler.hooks = hooks  # type: ignore[assignment]
    database.query("select memory.configure('{\"consolidation_episode_threshold\": 1}')")
    async with butler:
        await butler.module.on_session_end("Rex barked", "home")
        runtime = hooks.maintenance["home"]
        done = await runtime.consolidation(
            spawner=spawner, batch_size=500, enable_shared_catalog=True
        )
        assert runtime.pool_resolver() is host_database.pool

    assert done["dry_run"] is False
    assert spawner.asked == [("schedule:consolidation", False)]


async def test_jobs_on_the_own_tables_never_see_a_pool_of_another_schema(
    host_database: HostDatabase,
) -> None:
    hooks = OwnedMemoryHooks()
    butler = Butler(host_database, '[modules.memory]\nmemory_schema = "home_mem"\n', name="home")
    butler.hooks = hooks  # type: ignore[assignment]
    async with butler:
        assert hooks.maintenance["home"].pool_resolver() is None


# Jobs and tools


async def test_consolidation_takes_the_batch_size_that_the_framework_sends(
    database: Database, host_database: HostDatabase
) -> None:
    spawner = Spawner()
    database.query("select memory.configure('{\"consolidation_episode_threshold\": 1}')")
    async with Butler(host_database) as butler:
        butler.module.wire_runtime(spawner, ROOT, switchboard_client=None)
        for number in range(3):
            await butler.module.on_session_end(f"Rex barked {number} times", "general")
        job = butler.module.jobs()["memory_consolidation"]
        await job(host_database.pool, {"batch_size": 1})
        sizes = database.query(
            "select cardinality(episode_ids) from memory.consolidation_runs order by started_at"
        )
        for mistaken in (0, True, "many"):
            with pytest.raises(InvalidArgumentError, match="batch_size"):
                await job(host_database.pool, {"batch_size": mistaken})

    assert sizes
    assert {size for (size,) in sizes} == {1}


async def test_the_tool_consolidates_with_the_llm_of_the_host_as_the_job_does(
    host_database: HostDatabase,
) -> None:
    spawner = Spawner()
    async with Butler(host_database) as butler:
        await butler.connect()
        butler.module.wire_runtime(spawner, ROOT, switchboard_client=None)
        await butler.module.on_session_end("Rex barked", "general")
        answer = await butler.call("memory_run_consolidation")

    assert answer["dry_run"] is False
    # The session that called the tool has the butler's slot.
    assert spawner.asked == [("schedule:consolidation", True)]


# The configuration of its roster


@pytest.mark.parametrize(
    "section",
    [
        {},
        {"groups": ["core", "entity"]},
        {"groups": ["core", "preferences", "entity"]},
        {"groups": ["core", "feedback", "entity", "admin"]},
        {"groups": ["core", "entity"], "memory_schema": "chronicler_mem"},
        {"groups": []},
        {"enable_shared_catalog": False, "catalog_source_schema": "x", "embedding_model": "y"},
    ],
)
async def test_sections_of_the_roster_are_read(
    host_database: HostDatabase, section: dict[str, Any]
) -> None:
    config = MemoryModuleConfig.model_validate(section)
    butler = Butler(host_database)
    butler._section = section
    async with butler:
        listed = {tool.name for tool in (await (await butler.connect()).list_tools()).tools}

    assert config.memory_schema == section.get("memory_schema")
    groups = section.get("groups", [])
    assert {"memory_store_fact", "memory_search", "memory_confirm", "memory_context"} <= listed
    assert ("memory_forget" in listed) == (not groups or "feedback" in groups)
    assert ("entity_neighbors" in listed) == (not groups or "entity" in groups)
    assert ("memory_stats" in listed) == (not groups or "admin" in groups)


def test_foreign_keys_are_named_in_one_warning(caplog: pytest.LogCaptureFixture) -> None:
    parse_config(
        {
            "groups": ["core", "preferences"],
            "enable_shared_catalog": True,
            "embedding_model": "all-MiniLM-L6-v2",
            "graph_health": {"every": 5},
            "enabled": True,
        }
    )

    [record] = caplog.records
    assert record.getMessage().endswith(
        ": enable_shared_catalog, embedding_model, graph_health, groups: preferences"
    )


def test_groups_of_ours_are_named_beside_those_of_the_framework() -> None:
    def names(*groups: str) -> set[str]:
        return {tool.name for tool in select_hosted_tools(groups)}

    assert names("core", "conversation") == names("core") | {"memory_add"}
    assert names("all") == {tool.name for tool in TOOLS}
    assert names("preferences") == set()
    assert names() == names("core", "feedback", "entity", "admin")
    with pytest.raises(InvalidArgumentError, match="psychic"):
        names("core", "psychic")
