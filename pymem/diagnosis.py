"""Checks of the doctor that only a client of the database can make."""

from __future__ import annotations

import asyncio
import os
import shutil
import stat
import time
from collections.abc import Iterator
from datetime import datetime
from pathlib import Path

import psycopg
from psycopg.conninfo import conninfo_to_dict

from pymem.connections import check_connection_string
from pymem.database import Request
from pymem.embedding import INSTALL_HINT, EmbeddingEngine, find_embedding_engine
from pymem.errors import PymemError, TenantDeniedError, translate
from pymem.memory import Memory
from pymem.models import EmbeddingVersion, Finding
from pymem.schema import deployed_version
from pymem.server import EmbeddedServer
from pymem.version import __version__

SEVERITIES = ("error", "warning", "info", "ok")

_LITTLE_SPACE = 1 << 30


async def diagnose(
    url: str,
    *,
    request: Request | None = None,
    server: EmbeddedServer | None = None,
    engine: EmbeddingEngine | None = None,
    as_of: datetime | None = None,
) -> list[Finding]:
    """Return the problems of a memory, worst first, and the checks that passed.

    Args:
        url: Connection string of the login, which is examined too.
        request: The request to act for.
        server: The embedded server, if it hosts the memory.
        engine: The engine to try; None for the one that the environment names.
        as_of: Act as if it were this time.

    Raises:
        UnavailableError: The database cannot be reached.
    """
    found = list(_examine_folder(server)) if server is not None else []
    schema = await asyncio.to_thread(_examine_schema, url)
    found.append(schema)
    if schema.severity == "ok":
        async with await Memory.connect(url, request=request, max_size=1) as memory:
            found += await memory.diagnose(passed=True, as_of=as_of)
            found += await _examine_engine(memory, engine)
    return sorted(found, key=lambda finding: SEVERITIES.index(finding.severity))


async def examine_engine(
    url: str, request: Request | None = None, engine: EmbeddingEngine | None = None
) -> list[Finding]:
    """Try the model of this client on a memory; no finding for a login without a tenant.

    Args:
        url: Connection string of a login.
        request: The request to act for.
        engine: As in diagnose.
    """
    async with await Memory.connect(url, request=request, max_size=1) as memory:
        return await _examine_engine(memory, engine)


def _examine_folder(server: EmbeddedServer) -> Iterator[Finding]:
    folder = server.folder
    # Anyone who can enter this folder can log in as any role.
    sockets = Path(str(conninfo_to_dict(server.url())["host"]))
    has_room = (free := shutil.disk_usage(folder).free) >= _LITTLE_SPACE
    is_private = not sockets.stat().st_mode & (stat.S_IRWXG | stat.S_IRWXO)
    if not has_room:
        yield Finding(
            "warning",
            "folder",
            str(folder),
            f"the disk of {folder} has {free >> 20} MiB left",
            "Make room, or stop the server (pymem down) and move the folder (PYMEM_DATA).",
        )
    if not is_private:
        yield Finding(
            "error",
            "folder",
            str(sockets),
            f"other users can enter {sockets} and log in as any role",
            f"chmod 700 {sockets}",
        )
    if has_room and is_private:
        yield Finding("ok", "folder", None, f"{folder} has room and is private", None)


def _examine_schema(url: str) -> Finding:
    try:
        with psycopg.connect(check_connection_string(url), autocommit=True) as connection:
            user, database = connection.info.user, connection.info.dbname
            try:
                version = deployed_version(connection)
            except psycopg.errors.InsufficientPrivilege:
                return Finding(
                    "error",
                    "login",
                    user,
                    f"the login {user} has none of the memory's roles",
                    "Have an administrator grant it one with sql/grant_login.sql.",
                )
    except psycopg.Error as error:
        raise translate(error) from error
    if version is None:
        return Finding(
            "error",
            "schema",
            database,
            f"the database {database} does not have the schema memory",
            "Deploy it: pymem --database-url postgresql://… deploy; with --check it says who can.",
        )
    if version != __version__:
        return Finding(
            "error",
            "schema",
            database,
            f"the schema is version {version}, pymem is {__version__}",
            f"Upgrade the older one: the schema with sqitch deploy or the upgrade script in sql/, "
            f'pymem with pip install "pymem-postgres=={version}".',
        )
    return Finding("ok", "schema", None, f"the schema and pymem are version {version}", None)


async def _examine_engine(memory: Memory, engine: EmbeddingEngine | None) -> list[Finding]:
    try:
        versions = await memory.current_embedding_versions()
    except TenantDeniedError:
        # Without a tenant there is nothing to embed.
        return []
    engine = engine or find_embedding_engine()
    if engine is None:
        return [_no_engine(versions)]
    return [await try_engine(memory, engine, versions)]


_CONSEQUENCE = "it searches by keyword only, and leaves embedding to a worker"


def _no_engine(versions: list[EmbeddingVersion]) -> Finding:
    switched_off = bool(os.environ.get("PYMEM_NO_EMBEDDINGS"))
    return Finding(
        "warning" if versions and not switched_off else "info",
        "engine",
        None,
        (
            f"PYMEM_NO_EMBEDDINGS disables embedding in this client: {_CONSEQUENCE}"
            if switched_off
            else f"this client has no embedding model: {_CONSEQUENCE}"
        ),
        "Unset PYMEM_NO_EMBEDDINGS." if switched_off else INSTALL_HINT,
    )


async def try_engine(
    memory: Memory, engine: EmbeddingEngine, versions: list[EmbeddingVersion]
) -> Finding:
    """Load the model, embed a query and search for it, and say how long that took.

    Args:
        memory: The memory of a tenant, without an engine; nothing is changed in it.
        engine: The engine of this client.
        versions: The embedding versions of the tenant.
    """
    begun = time.monotonic()
    try:
        version = await asyncio.to_thread(engine.load)
        loaded = time.monotonic()
        vector = await asyncio.to_thread(engine.embed, _SAMPLE)
        embedded = time.monotonic()
    except Exception as error:
        # What a broken installation raises has no common base class.
        hint = error.hint if isinstance(error, PymemError) else None
        return Finding(
            "error",
            "engine",
            engine.model,
            f"the embedding model cannot be used: "
            f"{error.message if isinstance(error, PymemError) else error!r}; {_CONSEQUENCE}",
            hint or INSTALL_HINT,
        )
    took = f"loaded in {loaded - begun:.1f} s, a query in {(embedded - loaded) * 1000:.0f} ms"
    known = {(version.model, version.version): version for version in versions}
    current = known.get((engine.model, version))
    if known and current is None:
        model, other = next(iter(known))
        return Finding(
            "warning",
            "engine",
            engine.model,
            f"the vectors are from model {model} version {other}, this client uses "
            f"{engine.model} version {version}: {_CONSEQUENCE}",
            "Name that model with --model or PYMEM_EMBEDDING_MODEL, or change to this one: "
            "pymem reembed.",
        )
    active = await memory.active_embedding_version()
    await memory.search(
        _SAMPLE,
        max_results=1,
        embedding=vector if current is not None and current == active else None,
    )
    took += f", a search in {(time.monotonic() - embedded) * 1000:.0f} ms"
    return Finding("ok", "engine", None, f"this client embeds with {engine.model}: {took}", None)


_SAMPLE = "What does the user like to drink?"
