"""What commands share: options, connections, errors, output."""

from __future__ import annotations

import asyncio
import json
import logging
import sys
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, TypeVar

import click
from rich.progress import BarColumn, Progress, TaskProgressColumn, TextColumn, TimeRemainingColumn

from pymem import display
from pymem.database import Request
from pymem.embedding import embeddings_installed, get_embedding_engine
from pymem.errors import InvalidArgumentError, NotFoundError, PymemError, UnavailableError
from pymem.memory import Memory
from pymem.models import to_json
from pymem.printing import LineFormatter, printable, protect_streams
from pymem.server import EmbeddedServer
from pymem.version import __version__

F = TypeVar("F", bound=Callable[..., Any])
T = TypeVar("T")

DATABASE = "pymem"
LOGIN = "pymem"
TENANT = "default"

_LOAD_SECONDS = 10.0

EXIT_REFUSED = 1
EXIT_UNAVAILABLE = 3

SECTIONS = {
    "Store": ("store", "add", "ingest", "link", "embed"),
    "Find": (
        *("search", "recall", "query", "context", "list", "get", "related", "history"),
        *("events", "stats"),
    ),
    "Maintain": (
        *("confirm", "mark", "forget", "restore", "erase", "contradictions"),
        *("sweep", "cleanup", "hygiene"),
    ),
    "Entities": ("entity",),
    "Entries": ("entries",),
    "Consolidate": ("consolidate", "runs", "release", "review", "undo", "requeue"),
    "Operate": (
        *("up", "down", "deploy", "mcp", "token", "configure", "doctor", "verify"),
        *("reindex", "check-vectors", "calibrate"),
    ),
}
"""The commands as `pymem --help` lists them."""


@dataclass(frozen=True, slots=True)
class Options:
    """The options that every command shares."""

    database_url: str | None
    data: Path | None
    tenant: str | None
    actor: str | None
    butler: str | None

    def request(self) -> Request:
        """Return the request that commands act for."""
        return Request(tenant_id=self.tenant, actor=self.actor, butler=self.butler)

    def server(self) -> EmbeddedServer:
        """Return the embedded server of this user."""
        return EmbeddedServer(self.data)

    def url(self) -> str:
        """Return the database to use: the one given, or else the embedded server."""
        if self.database_url:
            return self.database_url
        server = self.server()
        if not server.is_running():
            raise UnavailableError(
                "no memory is running",
                hint="Start the embedded one with `pymem up`, or set PYMEM_DATABASE_URL.",
            )
        return server.url(DATABASE, LOGIN)


class _Main(click.Group):
    """Lists commands in sections; prints a PymemError as one line and sets the exit code."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        return [name for names in SECTIONS.values() for name in names]

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        width = max(len(name) for name in self.list_commands(ctx))
        for title, names in SECTIONS.items():
            with formatter.section(title):
                formatter.write_dl(
                    [
                        (name.ljust(width), self.commands[name].get_short_help_str(limit=120))
                        for name in names
                    ]
                )

    def main(self, *args: Any, **settings: Any) -> Any:
        # Before anything is printed, usage errors included, and for tracebacks also afterwards.
        protect_streams()
        return super().main(*args, **settings)

    def invoke(self, ctx: click.Context) -> Any:
        try:
            return super().invoke(ctx)
        except PymemError as error:
            message = printable(error.message, one_line=True)
            click.echo(f"error: {message} [{error.code}]", err=True)
            if error.hint:
                click.echo(f"hint: {printable(error.hint, one_line=True)}", err=True)
            code = EXIT_UNAVAILABLE if isinstance(error, UnavailableError) else EXIT_REFUSED
            ctx.exit(code)


@click.group(cls=_Main, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(__version__, prog_name="pymem")
@click.option(
    "--database-url",
    envvar="PYMEM_DATABASE_URL",
    help="Connection string of the database; default: the embedded server (pymem up).",
)
@click.option(
    "--data",
    type=click.Path(path_type=Path, file_okay=False),
    envvar="PYMEM_DATA",
    help="Data folder of the embedded server.",
)
@click.option("--tenant", envvar="PYMEM_TENANT", help="Tenant, for a login that serves several.")
@click.option(
    "--actor", envvar="PYMEM_ACTOR", help="Actor recorded in the audit stream; default: the login."
)
@click.option(
    "--butler",
    envvar="PYMEM_BUTLER",
    help="Agent (butler) to act for: commands see its own memories and global ones unless a scope "
    "is given; default: all memories.",
)
@click.option("--verbose", is_flag=True, help="Log progress to standard error.")
@click.pass_context
def main(ctx: click.Context, /, *, verbose: bool, **options: Any) -> None:
    """Long-term memory for AI agents, inside PostgreSQL.

    Exit codes: 0 success, 1 refused (the message says why), 2 usage error, 3 the database is
    unreachable.
    """
    handler = logging.StreamHandler()
    handler.setFormatter(LineFormatter("%(levelname)s: %(message)s"))
    logging.basicConfig(level=logging.INFO if verbose else logging.WARNING, handlers=[handler])
    logging.captureWarnings(True)
    ctx.obj = Options(**options)


pass_options = click.make_pass_decorator(Options)


def command(group: click.Group = main, name: str | None = None) -> Callable[[F], click.Command]:
    """Return a decorator that makes a command with --json; it receives the options and json_."""

    def decorate(function: F) -> click.Command:
        made = group.command(name)(pass_options(function))
        made.params.append(JSON)
        return made

    return decorate


def parse_time(text: str) -> datetime:
    """Parse a time; without a time zone it is UTC."""
    try:
        parsed = datetime.fromisoformat(text)
    except ValueError:
        raise click.BadParameter(
            f"{text!r} is not a time such as 2026-03-01 or 2026-03-01T12:00Z"
        ) from None
    return parsed if parsed.tzinfo else parsed.replace(tzinfo=UTC)


def parse_object(option: str, text: str) -> dict[str, Any]:
    """Parse the JSON object given as an option."""
    hint = 'Pass an object such as {"source": "email"}.'
    try:
        value = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise InvalidArgumentError(f"{option} is not JSON: {error}", hint=hint) from error
    if not isinstance(value, dict):
        raise InvalidArgumentError(f"{option} is not a JSON object", hint=hint)
    return value


AS_OF = click.Option(
    ["--as-of"], type=parse_time, metavar="TIME", help="Act as if it were this time (UTC)."
)
as_of_option = click.option("--as-of", type=parse_time, metavar="TIME", help=AS_OF.help)
JSON = click.Option(["--json", "json_"], is_flag=True, help="Print JSON.")


def run(options: Options, work: Callable[[Memory], Awaitable[T]], *, embed: bool = False) -> T:
    """Connect, run something on the memory and disconnect."""
    engine = get_embedding_engine() if embed and embeddings_installed() else None
    if engine is not None:
        # Each command loads the model anew, and a person rather waits than misses what is meant.
        engine.embedder.load_seconds = _LOAD_SECONDS

    async def connected() -> T:
        async with await Memory.connect(
            options.url(), engine=engine, request=options.request(), max_size=4
        ) as memory:
            return await work(memory)

    return asyncio.run(connected())


def no_memory(memory_type: str, memory_id: str) -> NotFoundError:
    """Return the error for an unknown id."""
    names = {"entity": "pymem entity resolve", "entry": "pymem entries query"}
    name = names.get(memory_type, "pymem search")
    return NotFoundError(f"no {memory_type} has id {memory_id}", hint=f"Find ids with `{name}`.")


def render(value: Any, json_: bool, *people: Any) -> None:
    """Print a result: as JSON, or as texts and tables; into a pipe, tables are bare lines."""
    if json_:
        click.echo(json.dumps(to_json(value), ensure_ascii=False, indent=2))
        return
    console = display.make_console()
    for part in people:
        if isinstance(part, str):
            click.echo(part)
        elif console.is_terminal:
            console.print(part)
        else:
            click.echo(part.plain())


def start_progress(description: str, total: float, unit: str) -> tuple[Progress, Any]:
    """Return a progress bar, a context manager, and its task; silent without a terminal."""
    progress = Progress(
        TextColumn("{task.description}"),
        BarColumn(),
        TaskProgressColumn(),
        TextColumn("{task.completed:,.0f}" + unit),
        TimeRemainingColumn(),
        console=display.make_console(stderr=True),
        disable=not sys.stderr.isatty(),
    )
    return progress, progress.add_task(description, total=total)
