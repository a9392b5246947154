"""Conversations: their turns are stored at once, what follows from them in the background."""

from __future__ import annotations

import logging
from collections.abc import Mapping, Sequence
from datetime import datetime
from functools import partial
from typing import TYPE_CHECKING, Any, Literal, get_args
from uuid import UUID

from pymem.errors import InvalidArgumentError, TenantDeniedError
from pymem.memory.functions import Functions
from pymem.models import StoredMessage

if TYPE_CHECKING:
    from pymem.consolidation.llm import LLM
    from pymem.embedding import EmbeddingEngine
    from pymem.memory.client import Memory

logger = logging.getLogger(__name__)

Extraction = Literal["none", "summary", "llm"]
"""How observations are made of a conversation."""


class Conversations(Functions):
    """Takes the messages of a conversation as agents have them."""

    async def add(
        self,
        messages: Sequence[Any] | Mapping[str, Any] | str,
        *,
        session_id: UUID | str | None = None,
        butler: str | None = None,
        extract: Extraction = "none",
        consolidate: bool = False,
        importance: float | None = None,
        llm: LLM | None = None,
        as_of: datetime | None = None,
    ) -> list[StoredMessage]:
        """Store the turns of a conversation and return them; handed over again, only new ones.

        It takes no longer than storing. In the background follow, in a transaction once it has been
        committed: embedding, with an engine and a login that has the role memory_worker;
        extraction; and consolidation. Close, or finish, waits for them. What they do not get done
        waits in the database, for the workers.

        Args:
            messages: Messages in the form of OpenAI or Anthropic, as dictionaries or objects of
                their clients; a text is one of the user. See memory.store_messages.
            session_id: The session that they belong to; without, only the whole conversation is
                recognized when it is handed over again.
            butler: The agent that had the conversation; default: that of the request.
            extract: What waits for consolidation. none: each turn. summary: what the user said,
                and the last answer. llm: observations that the LLM makes of the new turns, and
                what the user said that none of them holds.
            consolidate: Whether the waiting episodes of the butler become facts and rules at once
                rather than by schedule; the login needs the role memory_worker.
            importance: Importance of each turn, 0 to 10; default: 5.
            llm: Extracts and consolidates; default: that of the memory.
            as_of: When they are stored.

        Raises:
            InvalidArgumentError: A message is malformed, and nothing is stored; or there is no
                LLM, or no butler.
        """
        butler = self._request.butler if butler is None else butler
        llm = self.llm if llm is None else llm
        if butler is None:
            raise InvalidArgumentError(
                "it is not said whose conversation it is", hint="Pass butler, such as 'home'."
            )
        if extract not in get_args(Extraction):
            raise InvalidArgumentError(
                f"unknown extract: {extract!r}", hint=f"Valid: {', '.join(get_args(Extraction))}."
            )
        if llm is None and (consolidate or extract == "llm"):
            raise InvalidArgumentError(
                "there is no LLM to extract or consolidate with",
                hint="Pass llm, or leave it to `pymem consolidate`.",
            )
        if isinstance(messages, str):
            messages = [{"role": "user", "content": messages}]
        elif isinstance(messages, Mapping):
            messages = [messages]
        stored = await self.store_messages(
            _plain(messages),
            butler,
            session_id=session_id,
            importance=importance,
            extraction="summary" if extract == "summary" else None,
            as_of=as_of,
        )

        new = [message.episode_id for message in stored if message.is_new]
        if new and self._engine is not None and not self._background.embeds_nothing:
            self._follow_up("embedding", partial(_embed, engine=self._engine, count=len(new)))
        if new and llm is not None and extract == "llm":
            self._follow_up("extraction", partial(_extract, llm=llm, episode_ids=new, as_of=as_of))
        if llm is not None and consolidate:
            self._follow_up("consolidation", partial(_consolidate, llm=llm, butler=butler))
        return stored


async def _embed(memory: Memory, engine: EmbeddingEngine, count: int) -> None:
    """Embed as many memories as were stored: those, or what has waited for longer."""
    from pymem.worker import EmbeddingWorker

    if await memory._version_id() is None:
        return  # Searches use another model, or the engine fails.
    worker = EmbeddingWorker(memory, engine, batch_size=min(count, 64))
    try:
        while count > 0 and (embedded := await worker.run_once()):
            count -= embedded
    except TenantDeniedError:
        memory._background.embeds_nothing = True
        logger.debug("the login is no worker: what add stores waits for one to be embedded")


async def _extract(
    memory: Memory, llm: LLM, episode_ids: Sequence[UUID], as_of: datetime | None
) -> None:
    from pymem.consolidation.extraction import extract_observations

    await extract_observations(memory, llm, episode_ids, as_of=as_of)


async def _consolidate(memory: Memory, llm: LLM, butler: str) -> None:
    from pymem.consolidation.worker import ConsolidationWorker

    report = await ConsolidationWorker(memory, llm, butler=butler).run()
    for run in report.runs:
        if run.status == "failed":
            reasons = "; ".join(str(error["message"]) for error in run.errors)
            logger.warning("consolidation of %s failed: %s", butler, reasons)


def _plain(value: Any) -> Any:
    """Return a message as JSON values: clients of LLMs have objects, with times and ids."""
    if isinstance(value, Mapping):
        return {key: _plain(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [_plain(item) for item in value]
    if hasattr(value, "model_dump"):
        return _plain(value.model_dump(mode="json"))
    if isinstance(value, UUID):
        return str(value)
    return value.isoformat() if isinstance(value, datetime) else value
