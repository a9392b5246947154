"""The calls of a hook: one connection, without a pool and without the model."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import datetime
from itertools import pairwise
from typing import Any
from uuid import UUID

import psycopg
import psycopg.conninfo

from pymem.connections import check_connection_string
from pymem.hooks.text import quote_line
from pymem.sanitize import clean_text, dump_json
from pymem.times import load_times

_TITLE = "# Memory Context"
_CONNECT_SECONDS = 2
_STATEMENT_MILLISECONDS = 2500

# For each line, whether it shares enough words with the topic.
_SHARED_WORDS = """
    with topic as (
      select
        s.text_search_config::regconfig as config,
        tsvector_to_array(to_tsvector(s.text_search_config::regconfig, %(topic)s)) as words
      from memory.current_settings() as s
    )
    select
      (
        select count(*)
        from unnest(t.words) as w
        where w = any (tsvector_to_array(to_tsvector(t.config, l.line)))
      ) >= least(cardinality(t.words), 2)
    from topic as t
    cross join unnest(%(lines)s::text[]) with ordinality as l (line, position)
    order by l.position
"""
# Chinese, Japanese, Thai, Lao, Burmese, Khmer. Searches read them in pairs, too.
_WITHOUT_SPACES = re.compile(
    "[\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3040-\u30ff\u3400-\u9fff\uf900-\ufaff"
    "\U00020000-\U0003134f]+"
)
# What a line of a context tells about its memory.
_ABOUT = re.compile(r" \((?:confidence|maturity): [^()]*\)$")

_TURNS_SEARCHED = 50
_TURNS_SHOWN = 6
_LONGEST_TURN = 400


@dataclass(frozen=True, slots=True)
class Agent:
    """Who a hook acts for.

    Attributes:
        butler: The butler whose memory it is.
        tenant: The tenant, for a login that serves several.
        actor: The actor of the audit stream.
    """

    butler: str
    tenant: str | None
    actor: str


@dataclass(frozen=True, slots=True)
class Episode:
    """A turn as it is stored; its key makes sure that it is stored once."""

    key: str
    content: str
    session_id: UUID
    metadata: dict[str, Any]
    created_at: datetime | None = None


class HookMemory:
    """The memory, for one hook.

    Args:
        url: The connection string.
        agent: Who it acts for.
    """

    def __init__(self, url: str, agent: Agent) -> None:
        self._agent = agent
        # A pooler in transaction mode may not know prepared statements.
        self._connection = psycopg.connect(
            check_connection_string(url),
            autocommit=True,
            connect_timeout=_CONNECT_SECONDS,
            prepare_threshold=None,
        )
        load_times(self._connection)

    def close(self) -> None:
        """Close the connection."""
        self._connection.close()

    def is_broken(self, error: psycopg.Error) -> bool:
        """Return whether there is no use in further calls after an error."""
        return self._connection.closed or isinstance(error, psycopg.OperationalError)

    def context(self, topic: str, budget: int, *, is_prompt: bool) -> str | None:
        """Return what is remembered about a topic, by words, as lines; None for nothing.

        Args:
            topic: What it is about.
            budget: The most tokens it may take.
            is_prompt: Whether it is what a user says, which often has nothing to do with what is
                remembered, and not the name of something: then a memory has to share two different
                words with it, or the only one. One alone is there by chance too often, such as
                the "look" of "looks good".
        """
        topic = clean_text(topic)
        with self._request() as cursor:
            cursor.execute(
                "select memory.context(trigger_prompt => %(topic)s, butler => %(butler)s, "
                "token_budget => %(budget)s, include_recent_episodes => false)",
                {
                    "topic": topic,
                    "butler": self._agent.butler,
                    "budget": budget,
                },
            )
            [text] = cursor.fetchone() or ("",)
            lines = str(text).removeprefix(_TITLE).strip().split("\n")
            if is_prompt and lines != [""]:
                said = [_part_words(_ABOUT.sub("", line)) for line in lines]
                cursor.execute(_SHARED_WORDS, {"topic": _part_words(topic), "lines": said})
                lines = _with_headings(lines, [fits for (fits,) in cursor.fetchall()])
        return "\n".join(lines) or None

    def recent_turns(self, header: str) -> list[str]:
        """Return the newest turns of a repository, a line each, newest first.

        Args:
            header: The beginning of the first line of their content.
        """
        phrase = re.sub(r'["\\]', " ", header)
        with self._request() as cursor:
            cursor.execute(
                "select created_at, content from memory.query(query => %(query)s, "
                "types => '{episode}', scope => %(butler)s, sort => 'created', "
                "max_results => %(most)s)",
                {
                    "query": f'"{phrase}"',
                    "butler": self._agent.butler,
                    "most": _TURNS_SEARCHED,
                },
            )
            found = cursor.fetchall()
        lines = []
        for created_at, content in found:
            first, _, rest = content.partition("\n")
            # The phrase ignores punctuation and what follows: another repository may begin so.
            if first == header or first.startswith(f"{header} (branch "):
                lines.append(f"- [{created_at:%Y-%m-%d %H:%M}] {quote_line(rest, _LONGEST_TURN)}")
        return lines[:_TURNS_SHOWN]

    def store(self, episode: Episode) -> None:
        """Store an episode unless it is known by its key.

        Raises:
            psycopg.Error: It is not stored.
        """
        try:
            with self._request() as cursor:
                cursor.execute(
                    "select memory.store_episode(content => %(content)s, "
                    "butler => %(butler)s, session_id => %(session_id)s, "
                    "metadata => %(metadata)s::jsonb, idempotency_key => %(key)s, "
                    "created_at => %(created_at)s)",
                    {
                        "content": clean_text(episode.content),
                        "butler": self._agent.butler,
                        "session_id": episode.session_id,
                        "metadata": dump_json(episode.metadata),
                        "key": episode.key,
                        "created_at": episode.created_at,
                    },
                )
        except psycopg.DatabaseError as error:
            # The turn is there, as an earlier hook saw it.
            if error.sqlstate != "PM004":
                raise

    @contextmanager
    def _request(self) -> Iterator[psycopg.Cursor[Any]]:
        """Make calls in a transaction that names tenant, actor and butler."""
        with self._connection.transaction(), self._connection.cursor() as cursor:
            cursor.execute(
                "select set_config('statement_timeout', %(timeout)s, true), "
                "memory.set_request(tenant_id => %(tenant)s, actor => %(actor)s, "
                "butler => %(butler)s)",
                {
                    "timeout": str(_STATEMENT_MILLISECONDS),
                    "tenant": self._agent.tenant,
                    "actor": self._agent.actor,
                    "butler": self._agent.butler,
                },
            )
            yield cursor


def _part_words(text: str) -> str:
    """Return a text with the pairs of characters, as words, of scripts that have no spaces."""

    def pairs(run: re.Match[str]) -> str:
        found = run[0]
        return f" {' '.join(map(''.join, pairwise(found))) if len(found) > 1 else found} "

    return _WITHOUT_SPACES.sub(pairs, text)


def _with_headings(lines: list[str], fits: list[bool]) -> list[str]:
    """Return the lines that fit, below the headings of those."""
    kept: list[str] = []
    heading = ""
    for line, does_fit in zip(lines, fits, strict=True):
        if line.startswith("## "):
            heading = line
        elif line and does_fit:
            if heading:
                kept += [*([""] if kept else []), heading]
                heading = ""
            kept.append(line)
    return kept


def name_memory(url: str, agent: Agent) -> str:
    """Return what identifies the memory of an agent: no password, which may change."""
    parts = psycopg.conninfo.conninfo_to_dict(check_connection_string(url))
    where = [str(parts.get(name) or "") for name in ("host", "port", "dbname", "user")]
    return json.dumps([*where, agent.tenant, agent.actor, agent.butler])


def is_refused(error: psycopg.Error) -> bool:
    """Return whether a memory will never take what it refused with this error."""
    return error.sqlstate == "PM002" or isinstance(
        error, psycopg.DataError | psycopg.IntegrityError
    )
