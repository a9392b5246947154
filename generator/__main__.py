"""Writes what the catalog of the schema says, or compares it: ``python -m generator [--check]``.

The changes of sqitch.plan are deployed into a server of their own, which is removed at the end.
"""

from __future__ import annotations

import argparse
import difflib
import os
import subprocess
import sys
import types
from pathlib import Path

ROOT = Path(__file__).parent.parent
PAGES = ("docs/sql.md", "docs/configuration.md")
# Files that modules print, from the declarations of the tools.
MADE = {
    "docs/tools.md": "pymem.tools.document",
    "clients/typescript/src/schema.ts": "generator.typescript",
}

# The package as it imports itself may need what is yet to be generated.
package = types.ModuleType("pymem")
package.__path__ = [str(ROOT / "pymem")]
sys.modules["pymem"] = package

from generator.catalog import read_catalog  # noqa: E402
from generator.client import write_client  # noqa: E402
from generator.database import deployed_schema  # noqa: E402
from generator.invisible import write_invisible  # noqa: E402
from generator.pages import write_page  # noqa: E402
from generator.settings import write_config  # noqa: E402
from generator.sync import write_sync  # noqa: E402


def main() -> int:
    """Write or compare all generated files; return 1 if they differ."""
    parser = argparse.ArgumentParser(prog="generator", description=__doc__)
    parser.add_argument("--check", action="store_true", help="compare, and write nothing")
    check = parser.parse_args().check
    # Deploy scripts hold them too, so they come before the deployment.
    hidden = write_invisible(ROOT)
    stale = [path for path, text in hidden.items() if _renew(path, text, check=check)]
    with deployed_schema(ROOT) as (connection, deployed):
        catalog = read_catalog(connection, deployed.origin)
    files = {**deployed.scripts, **write_client(catalog, ROOT), **write_config(catalog)}
    files |= write_sync(ROOT, files)
    files |= {page: write_page((ROOT / page).read_text(), catalog) for page in PAGES}
    stale += [path for path, text in files.items() if _renew(path, text, check=check)]
    if not (stale and check):
        # The declarations of the tools use the client.
        for path, module in MADE.items():
            stale += [path] if _renew(path, _output(module), check=check) else []
    for path in stale:
        print(path if check else f"wrote {path}", file=sys.stderr)
    if stale and check:
        print("The schema says otherwise: run make generate.", file=sys.stderr)
    return int(bool(stale) and check)


def _renew(path: str, text: str, *, check: bool) -> bool:
    """Write a file that is not as it should be, or print how; return whether it is not."""
    file = ROOT / path
    present = file.read_text() if file.exists() else ""
    if present == text:
        return False
    if check:
        sys.stdout.writelines(
            difflib.unified_diff(
                present.splitlines(True), text.splitlines(True), path, f"{path} (generated)"
            )
        )
    else:
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text)
    return True


def _output(module: str) -> str:
    return subprocess.run(
        [sys.executable, "-m", module],
        cwd=ROOT,
        env={**os.environ, "PYTHONPATH": str(ROOT)},
        stdout=subprocess.PIPE,
        text=True,
        check=True,
    ).stdout


if __name__ == "__main__":
    sys.exit(main())
