"""Adapters that register the module's hooks with the framework."""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING, Any
from weakref import WeakSet

if TYPE_CHECKING:
    from pymem.butlers.module import MemoryModule

logger = logging.getLogger(__name__)

_modules: WeakSet[MemoryModule] = WeakSet()


def register_hooks(module: MemoryModule, memory_hooks: Any) -> None:
    """Register the hooks of a module with the framework.

    The framework keeps one set of hooks per process, which may run several butlers. The pool it
    passes identifies the calling butler, so each uses only its own memory.
    """
    _modules.add(module)
    memory_hooks.register_memory_context(_context)
    memory_hooks.register_memory_store_episode(_store_episode)
    memory_hooks.register_memory_forget(_forget)


def _module_of(pool: Any) -> MemoryModule | None:
    for module in _modules:
        if module.is_of(pool):
            return module
    logger.error("no memory module was started for the pool of this session")
    return None


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
