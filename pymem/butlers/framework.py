"""Adapters that register the module's hooks with the framework, in each form that it has had.

==================  ============================================================================
the framework has   the hooks
==================  ============================================================================
of July 2026        ``butlers.core.memory_hooks`` keeps a set of hooks for each butler, by name
of June 2026        ``butlers.core.memory_hooks`` keeps one set for the process
before              none: ``butlers.core.spawner`` has two functions that call the framework's own
                    memory module; ours take their place for the butlers that have our module
==================  ============================================================================
"""

from __future__ import annotations

import functools
import logging
from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING, Any
from weakref import WeakSet

from pymem.errors import InvalidArgumentError

if TYPE_CHECKING:
    from pymem.butlers.module import MemoryModule

logger = logging.getLogger(__name__)

Undo = Callable[[], None]

_modules: WeakSet[MemoryModule] = WeakSet()


def register_hooks(module: MemoryModule, interface: Any, owners: Iterable[str]) -> list[Undo]:
    """Register the hooks of a module with the framework; return what removes them again.

    Args:
        module: The module.
        interface: The framework's module ``butlers.core.memory_hooks``, or ``butlers.core.spawner``
            where it has no such module.
        owners: Names by which the framework knows the butler; used by the newest interface only. An
            older one tells butlers apart by the pool that it passes.

    Raises:
        InvalidArgumentError: The interface is none of those.
    """
    if hasattr(interface, "register_memory_session_runtime"):
        return _register_by_owner(module, interface, owners)
    _modules.add(module)
    if hasattr(interface, "register_memory_context"):
        interface.register_memory_context(_context)
        interface.register_memory_store_episode(_store_episode)
        interface.register_memory_forget(_forget)
    elif hasattr(interface, "fetch_memory_context") and hasattr(interface, "store_session_episode"):
        _replace(interface, "fetch_memory_context", _context)
        _replace(interface, "store_session_episode", _store_episode)
    else:
        raise InvalidArgumentError(
            f"{getattr(interface, '__name__', interface)!r} has no hooks of memory",
            hint="Pass butlers.core.memory_hooks, or butlers.core.spawner (docs/butlers.md).",
        )
    return [functools.partial(_modules.discard, module)]


def _register_by_owner(module: MemoryModule, interface: Any, owners: Iterable[str]) -> list[Undo]:
    _modules.add(module)
    interface.register_memory_forget(_forget)
    undo: list[Undo] = [functools.partial(_modules.discard, module)]

    async def context(
        _: Any, butler_name: str, prompt: str, *, token_budget: int | None = None
    ) -> str | None:
        text = await module.on_session_start(prompt, butler_name, token_budget=token_budget)
        return text or None

    async def store_episode(
        _: Any, butler_name: str, session_output: str, session_id: Any = None
    ) -> bool:
        stored = await module.on_session_end(session_output, butler_name, session_id=session_id)
        return stored is not None

    for owner in owners:
        runtime = interface.register_memory_session_runtime(
            owner, context=context, store_episode=store_episode
        )
        undo.append(functools.partial(interface.unregister_memory_session_runtime, owner, runtime))
        if hasattr(interface, "register_memory_maintenance_runtime"):
            maintenance = interface.register_memory_maintenance_runtime(
                owner,
                pool_resolver=module.framework_pool,
                consolidation=module.run_consolidation,
            )
            undo.append(
                functools.partial(
                    interface.unregister_memory_maintenance_runtime, owner, maintenance
                )
            )
    return undo


def _replace(interface: Any, name: str, ours: Callable[..., Any]) -> None:
    """Call ours instead of a function, for the pools of butlers that have our module."""
    original = getattr(interface, name)
    if getattr(original, "_calls_pymem", False):
        return

    @functools.wraps(original)
    async def replacement(pool: Any, *arguments: Any, **named: Any) -> Any:
        function = original if _find_module(pool) is None else ours
        return await function(pool, *arguments, **named)

    replacement._calls_pymem = True  # type: ignore[attr-defined]
    setattr(interface, name, replacement)


def _find_module(pool: Any) -> MemoryModule | None:
    return next((module for module in _modules if module.is_of(pool)), None)


def _module_of(pool: Any) -> MemoryModule | None:
    module = _find_module(pool)
    if module is None:
        logger.error("no memory module was started for the pool of this session")
    return module


async def _context(
    pool: Any, butler_name: str, prompt: str, *, token_budget: int | None = None
) -> str | None:
    module = _module_of(pool)
    if module is None:
        return None
    text = await module.on_session_start(prompt, butler_name, token_budget=token_budget)
    return text or None


async def _store_episode(
    pool: Any, butler_name: str, session_output: str, session_id: Any = None
) -> bool:
    module = _module_of(pool)
    if module is None:
        return False
    stored = await module.on_session_end(session_output, butler_name, session_id=session_id)
    return stored is not None


async def _forget(pool: Any, memory_type: str, memory_id: Any, **_: Any) -> dict[str, Any]:
    module = _module_of(pool)
    if module is None:
        return {"forgotten": False, "error": "memory module not loaded"}
    return {"forgotten": False, **await module.forget(memory_type, memory_id)}
