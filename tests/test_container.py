"""The official pgvector image, where a Docker engine is present."""

from __future__ import annotations

import shutil
import subprocess
from collections.abc import Iterator

import pytest

from pymem import Memory, schema
from tests.conftest import Database, Server, create_database


def docker_engine() -> bool:
    return (
        shutil.which("docker") is not None
        and subprocess.run(["docker", "info"], capture_output=True, check=False).returncode == 0
    )


pytestmark = pytest.mark.skipif(not docker_engine(), reason="no Docker engine")


@pytest.fixture(scope="module")
def container() -> Iterator[Database]:
    from testcontainers.postgres import PostgresContainer

    with PostgresContainer("pgvector/pgvector:pg17", driver=None) as running:
        server = Server(running.get_connection_url())
        create_database(server, "pymem")
        schema.deploy(server.url("pymem"))
        yield Database(server, "pymem")


@pytest.mark.anyio
async def test_the_memory_works_in_the_official_image(container: Database) -> None:
    async with await Memory.connect(container.login("a")) as memory:
        await memory.store_fact("user", "likes", "green tea")
        await memory.store_fact("user", "likes", "black tea")

        assert [found.content for found in await memory.recall("tea")] == ["black tea"]
        assert await memory.rebuild_vector_indexes("hnsw") == "hnsw"
