"""Write the generated files, or with --check compare them: python -m generator [--check]."""

from __future__ import annotations

import sys
import tempfile
from pathlib import Path

from generator import changes
from pymem.server import EmbeddedServer

ROOT = Path(__file__).parent.parent


def main() -> None:
    """Write or compare the files."""
    with tempfile.TemporaryDirectory(prefix="pymem-generate-") as folder:
        Path(folder).chmod(0o755)
        server = EmbeddedServer(folder, settings={"fsync": "off"})
        server.start()
        try:
            texts = changes.generate(ROOT, server.url())
        finally:
            server.stop()
    stale = [p for p, text in texts.items() if not p.is_file() or p.read_text() != text]
    if "--check" not in sys.argv[1:]:
        for path in stale:
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(texts[path], encoding="utf-8")
    elif stale:
        names = ", ".join(str(path.relative_to(ROOT)) for path in stale)
        sys.exit(f"not up to date: {names}; run make generate")


main()
