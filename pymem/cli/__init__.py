"""The command ``pymem``: ``base`` names the modules that add its commands."""

from __future__ import annotations

import signal
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from pymem.cli.base import main

__all__ = ["main", "start"]


def start() -> None:
    """Run the command of this process."""
    # While modules are imported there is nothing to clean up, and nobody wants their traceback.
    # Later the command itself handles an interrupt.
    if signal.getsignal(signal.SIGINT) is signal.default_int_handler:
        signal.signal(signal.SIGINT, signal.SIG_DFL)
    from pymem.cli.base import main

    main(prog_name="pymem")


def __getattr__(name: str) -> Any:
    if name == "main":
        from pymem.cli.base import main

        return main
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
