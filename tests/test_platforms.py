"""What only some platforms have is imported only where it is used."""

from __future__ import annotations

import subprocess
import sys

_WITHOUT = """
import importlib, os, pkgutil, sys, warnings
warnings.simplefilter("ignore")
for name in ("fcntl", "grp", "pwd", "resource", "termios"):
    sys.modules[name] = None
del os.memfd_create, os.geteuid, os.getegid
import pymem
from pymem.errors import UnavailableError
for module in pkgutil.walk_packages(pymem.__path__, "pymem."):
    # A script that only the leader of a process group runs, and the SDK, which asks for the name
    # of the platform.
    if module.name.startswith(
        ("pymem.consolidation.keeper", "pymem.mcp_server", "pymem.rest.routes", "pymem.ui")
    ):
        continue
    if not module.name.endswith(("__main__", "_backend")):
        importlib.import_module(module.name)
"""


def run(code: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-c", _WITHOUT + code], capture_output=True, text=True, check=False
    )


def test_every_module_can_be_imported_without_what_only_unix_has() -> None:
    done = run("")

    assert done.returncode == 0, done.stderr


def test_the_embedded_server_says_on_which_platforms_it_runs() -> None:
    done = run(
        """
from pymem.server import EmbeddedServer
try:
    EmbeddedServer("data").start()
except UnavailableError as error:
    print(error.message, error.hint)
"""
    )

    assert done.stdout.startswith("the embedded server runs on Linux and macOS only"), done.stderr
    assert "PYMEM_DATABASE_URL" in done.stdout


def test_importing_the_package_loads_no_library() -> None:
    done = subprocess.run(
        [
            *(sys.executable, "-c"),
            "import sys, pymem; print({'numpy', 'psycopg', 'pydantic', 'rich'} & {*sys.modules})",
        ],
        capture_output=True,
        text=True,
        check=True,
    )

    assert done.stdout == "set()\n"
