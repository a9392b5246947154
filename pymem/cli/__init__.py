"""The command ``pymem``: ``base`` names the modules that add its commands."""

from __future__ import annotations

import os
import signal
import sys
from contextlib import suppress
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from pymem.cli.base import main

__all__ = ["main", "start"]

OPTIONS_WITH_VALUES = (
    "--database-url",
    "--read-url",
    "--freshness",
    "--data",
    "--tenant",
    "--actor",
    "--butler",
    "--log-format",
)
"""Those of the main command, which may precede the name of another one."""


def start() -> None:
    """Run the command of this process."""
    # While modules are imported there is nothing to clean up, and nobody wants their traceback.
    # Later the command itself handles an interrupt.
    if signal.getsignal(signal.SIGINT) is signal.default_int_handler:
        signal.signal(signal.SIGINT, signal.SIG_DFL)
    if _is_event(sys.argv[1:]):
        _answer_event()
    from pymem.cli.base import main

    main(prog_name="pymem")


def _is_event(arguments: list[str]) -> bool:
    """Return whether a coding agent runs this as a hook: an event that is known or will be."""
    words = iter(arguments)
    for word in words:
        if word in OPTIONS_WITH_VALUES:
            next(words, None)
        elif not word.startswith("-"):
            return word == "hook" and next(words, "-h") not in (
                *("install", "uninstall"),
                *("--help", "-h"),
            )
    return False


def _answer_event() -> None:
    """Run a hook, and exit with 0: the 2 of a usage error would stop what the agent does."""
    try:
        from pymem.cli.base import main

        main(prog_name="pymem", standalone_mode=False)
    except BaseException as error:
        print(f"pymem hook: {type(error).__name__}", file=sys.stderr)  # noqa: T201
    finally:
        with suppress(Exception):
            sys.stdout.flush()
            sys.stderr.flush()
        os._exit(0)


def __getattr__(name: str) -> Any:
    if name == "main":
        from pymem.cli.base import main

        return main
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
