"""A throw-away database that holds the schema of a checkout."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import psycopg

from generator.changes import Deployed, deploy_changes
from pymem.server import EmbeddedServer


@contextmanager
def deployed_schema(root: Path) -> Iterator[tuple[psycopg.Connection[Any], Deployed]]:
    """Deploy the changes of sqitch.plan into a server of its own, which is removed at the end.

    Yields a superuser's connection and what each change added.
    """
    with tempfile.TemporaryDirectory(prefix="pymem-generate-") as folder:
        Path(folder).chmod(0o755)
        server = EmbeddedServer(folder, settings={"fsync": "off"})
        server.start()
        try:
            with psycopg.connect(server.url(), autocommit=True) as connection:
                yield connection, deploy_changes(root, connection)
        finally:
            server.stop()
