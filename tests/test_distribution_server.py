"""The PostgreSQL of the distribution, with plpgsql_check; on Debian 12 the oldest supported."""

from __future__ import annotations

import platform
import shutil
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from pymem.server import EmbeddedServer
from tests.conftest import ROOT, Database, Server, create_template
from tests.test_pgtap import FILES, create_tap_database, prove

PLACE = ROOT / ".build" / "distribution-server"
MISSING = PLACE.with_suffix(".missing")


@pytest.fixture(scope="module")
def distribution_server() -> Iterator[Server]:
    if MISSING.exists():
        pytest.skip(f"no PostgreSQL of the distribution: {MISSING.read_text().strip()}")
    assert PLACE.exists(), "make test runs scripts/distribution-server first"
    folder = Path(tempfile.mkdtemp(prefix="pymem-test-"))
    folder.chmod(0o755)
    # The checkout may lie where the user who runs the server has no access.
    shutil.copytree(PLACE, folder / "software", symlinks=True)
    embedded = EmbeddedServer(folder, settings={"fsync": "off"})
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("PYMEM_POSTGRES_BIN", str((folder / "software" / "bin").resolve()))
        embedded.start()
        try:
            yield Server(embedded.url())
        finally:
            embedded.stop()
            shutil.rmtree(folder, ignore_errors=True)


@pytest.fixture(scope="module")
def distribution_template(distribution_server: Server) -> str:
    return create_template(distribution_server)


@pytest.fixture(scope="module")
def tap_database(distribution_server: Server, distribution_template: str) -> Database:
    return create_tap_database(distribution_server, distribution_template)


def test_it_is_the_oldest_that_the_distribution_has(distribution_server: Server) -> None:
    version = Database(distribution_server, "postgres").value("show server_version_num")
    major = int(version) // 10000
    if platform.freedesktop_os_release().get("VERSION_CODENAME") == "bookworm":
        assert major == 15
    assert major >= 15


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem)
def test_pgtap(tap_database: Database, path: Path) -> None:
    # What other servers lack is here: plpgsql_check in catalog.sql.
    assert "# SKIP" not in prove(tap_database, path).upper()
