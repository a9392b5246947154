"""Put the bundles of the schema into the wheel."""

from __future__ import annotations

import runpy
from pathlib import Path
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface


class BundleHook(BuildHookInterface[Any]):
    """Write the bundles below .build and add them as pymem/sql."""

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        """Add the files; an editable install reads the checkout itself."""
        if version == "editable":
            return
        root = Path(self.root)
        # Run by path: importing the package would need its dependencies.
        module = runpy.run_path(str(root / "pymem" / "bundles.py"))
        current = self.metadata.version
        folder = root / ".build" / "sql"
        folder.mkdir(parents=True, exist_ok=True)
        for name, text in module["write_bundles"](root, current).items():
            if name.count("--") == 1 and name != f"pymem--{current}.sql":
                continue  # an older release as a whole
            (folder / name).write_text(text, encoding="utf-8")
            build_data["force_include"][str(folder / name)] = f"pymem/sql/{name}"
