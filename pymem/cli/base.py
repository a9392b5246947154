"""What commands share: options, connections, errors, output."""

from __future__ import annotations

import errno
import importlib
import json
import logging
import os
import pkgutil
import signal
import sys
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import click

from pymem.printing import LineFormatter, printable, protect_streams
from pymem.version import __version__

# What only some commands need is imported where they do: the others start the sooner.
if TYPE_CHECKING:
    from rich.progress import Progress

    from pymem.database import Request
    from pymem.embedding import EmbeddingEngine, Precision
    from pymem.errors import NotFoundError
    from pymem.memory import Memory
    from pymem.observing.exporter import MetricsListener
    from pymem.readers import Freshness
    from pymem.server import EmbeddedServer

F = TypeVar("F", bound=Callable[..., Any])
T = TypeVar("T")

PORT = click.IntRange(0, 65535)
_LOAD_SECONDS = 20.0  # torch takes ten to start from a cold disk

EXIT_REFUSED = 1
EXIT_UNAVAILABLE = 3

EXIT_INTERRUPTED = 128 + signal.SIGINT

SECTIONS: dict[str, dict[str, str]] = {
    "Store": {
        "store": "Store one episode, fact or rule",
        "add": "Store a conversation",
        "ingest": "Store episodes from a file or standard input",
        "link": "Link one memory to another",
        "embed": "Embed memories that have no vector yet",
        "import": "Store what other memories and chats have exported",
        "export": "Write the memory as files",
    },
    "Find": {
        "search": "Search by meaning and words, best match first",
        "recall": "Recall what matters for a topic",
        "query": "Find memories by an expression of the query language",
        "context": "Render memory as text for a system prompt",
        "list": "List memories, with filters, in several orders",
        "get": "Show one memory with its links",
        "peek": "Show one memory without counting a use, and when it fades",
        "diff": "Show what differs between two times",
        "activity": "Count what happened in each day",
        "curve": "Show how the confidence of a memory decays",
        "related": "Follow the links of a memory",
        "history": "Show every state of a memory or entity",
        "events": "Show the audit stream",
        "stats": "Count memories by type and state",
    },
    "Maintain": {
        "confirm": "Confirm that a fact or rule still holds",
        "mark": "Report whether a rule helped or harmed",
        "forget": "Forget a memory that is wrong or unwanted",
        "restore": "Restore a forgotten, superseded or expired memory",
        "undo": "Undo a write, or a consolidation run",
        "erase": "Delete everything about a subject for good",
        "contradictions": "List memories that contradict each other",
        "dismiss": "Say that two memories are both true",
        "sweep": "Let memories fade and expire by their confidence",
        "cleanup": "Delete episodes that have expired or are too many",
        "hygiene": "Promote good rules, turn harmful ones into warnings",
    },
    "Entities": {"entity": "Create, find and merge people and things"},
    "Entries": {"entries": "Write, find and edit Markdown memories"},
    "Consolidate": {
        "consolidate": "Have an LLM turn episodes into facts and rules",
        "runs": "Show consolidation runs and their results",
        "release": "Release the episodes of a run that died",
        "review": "Accept or reject what consolidation proposes",
        "requeue": "Have failed episodes consolidated again",
    },
    "Operate": {
        "up": "Start the embedded server",
        "down": "Stop the embedded server and keep its data",
        "upgrade": "Bring its data to a new major version of PostgreSQL",
        "run": "Run everything that recurs, until stopped",
        "ui": "Open the memory in the browser",
        "deploy": "Deploy or upgrade the schema in a database",
        "mcp": "Serve the tools to MCP hosts",
        "hook": "Connect Claude Code and Codex",
        "token": "Create, list and revoke tokens for HTTP",
        "tenant": "List and move tenants, copy one into a file",
        "configure": "Apply a butler.toml, and show what changed",
        "settings": "Show the settings",
        "doctor": "Check everything, and say how to fix problems",
        "verify": "Verify the hash chain of the audit stream",
        "psql": "Open psql on the memory",
        "backup": "Write a backup, or restore one",
        "model": "Install the embedding model, show what is used",
        "reembed": "Change the embedding model",
        "reindex": "Choose the vector search method, build its indexes",
        "check-vectors": "Compare vector search with exact results",
        "calibrate": "Measure what similarities mean for the model",
        "completion": "Print what completes commands in your shell",
    },
}
"""The commands as `pymem --help` lists them, with a line on each."""

_MODULES = {
    "completing": ("completion",),
    "consolidating": ("consolidate", "runs", "release", "review", "undo", "requeue"),
    "conversations": ("add",),
    "diagnosing": ("doctor",),
    "editing": ("entries",),
    "hooking": ("hook",),
    "listing": ("list", "link", "peek", "curve", "diff", "activity", "dismiss"),
    "maintaining": ("sweep", "cleanup", "hygiene", "erase", "verify", "configure", "settings"),
    "memories": (
        *("store", "search", "recall", "query", "context", "get", "related", "history"),
        *("events", "stats", "confirm", "mark", "forget", "restore", "contradictions"),
        *("entity", "entries"),
    ),
    "models": ("model",),
    "pages": ("ui",),
    "running": ("run",),
    "serving": ("up", "down", "upgrade", "deploy", "mcp"),
    "storing": ("psql", "backup"),
    "tenants": ("tenant",),
    "tokens": ("token",),
    "transferring": ("export", "import"),
    "vectors": ("ingest", "embed", "reembed", "reindex", "check-vectors", "calibrate"),
}
"""The modules of this package whose import adds the commands."""


@dataclass(frozen=True, slots=True)
class Options:
    """The options that every command shares."""

    database_url: str | None
    data: Path | None
    tenant: str | None
    actor: str | None
    butler: str | None
    model: str | None = None
    dimensions: int | None = None
    config: Path | None = None
    read_url: str | None = None
    freshness: Freshness = "fresh"

    def readers(self) -> dict[str, Any]:
        """Return the arguments of Memory.connect that say who answers reads."""
        return {"read_url": self.read_url, "freshness": self.freshness}

    def engine(self) -> EmbeddingEngine | None:
        """Return the engine that the options, variables or a butler.toml name, in this order.

        None where embeddings are not installed or disabled.
        """
        from pymem.embedding import find_embedding_engine

        return find_embedding_engine(**self._embedding())

    def require_engine(self, precision: Precision | None = None) -> EmbeddingEngine:
        """Return the engine, whether its model can be loaded or not."""
        from pymem.embedding import get_embedding_engine

        return get_embedding_engine(**self._embedding(), precision=precision)

    def _embedding(self) -> dict[str, Any]:
        named: dict[str, Any] = {}
        file = self.config or os.environ.get("PYMEM_CONFIG")
        if file and self.model is None and not os.environ.get("PYMEM_EMBEDDING_MODEL"):
            from pymem.config import load_config

            named = load_config(file).embedding.named()
        given = {"model": self.model, "dimensions": self.dimensions}
        return named | {name: value for name, value in given.items() if value is not None}

    def request(self) -> Request:
        """Return the request that commands act for."""
        from pymem.database import Request

        return Request(tenant_id=self.tenant, actor=self.actor, butler=self.butler)

    def server(self) -> EmbeddedServer:
        """Return the embedded server of this user."""
        from pymem.server import EmbeddedServer

        return EmbeddedServer(self.data)

    def url(self) -> str:
        """Return the database to use: the one given, or else the embedded server, started.

        The variable PYMEM_NO_START forbids starting it.
        """
        if self.database_url:
            return self.database_url
        from pymem.embedded import find_memory, start_memory

        server = self.server()
        url = find_memory(server)
        if url is None and os.environ.get("PYMEM_NO_START"):
            from pymem.errors import UnavailableError

            raise UnavailableError(
                "no memory is running, and PYMEM_NO_START forbids starting one",
                hint="Start the embedded one with `pymem up`, or set PYMEM_DATABASE_URL.",
            )
        if url is None:
            click.echo("starting the embedded server; `pymem down` stops it", err=True)
            url = start_memory(server)
        return url


class _Main(click.Group):
    """Lists commands in sections; prints a PymemError as one line and sets the exit code."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        return [name for names in SECTIONS.values() for name in names]

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        modules = [module for module, names in _MODULES.items() if cmd_name in names]
        for module in modules or (each.name for each in pkgutil.iter_modules(_package_path())):
            if not module.startswith("_"):
                importlib.import_module(f"pymem.cli.{module}")
        return super().get_command(ctx, cmd_name)

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        width = max(len(name) for name in self.list_commands(ctx))
        for title, names in SECTIONS.items():
            with formatter.section(title):
                formatter.write_dl([(name.ljust(width), text) for name, text in names.items()])

    def main(self, *args: Any, **settings: Any) -> Any:
        # Before anything is printed, usage errors included, and for tracebacks also afterwards.
        protect_streams()
        return super().main(*args, **settings)

    def invoke(self, ctx: click.Context) -> Any:
        try:
            return super().invoke(ctx)
        except KeyboardInterrupt:
            click.echo("interrupted", err=True)
            ctx.exit(EXIT_INTERRUPTED)
        except Exception as error:
            from pymem.errors import PymemError, UnavailableError

            if isinstance(error, OSError) and error.errno == errno.ENOSPC:
                click.echo(f"error: cannot write: {error.strerror}", err=True)
                # What is left of the output would be written, and fail, once more.
                os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
                ctx.exit(EXIT_REFUSED)
            if not isinstance(error, PymemError):
                raise
            from pymem.cli.hints import hint_for_people, name_options

            command = ctx.meta.get(_COMMAND)
            message = printable(name_options(error.message, command), one_line=True)
            click.echo(f"error: {message} [{error.code}]", err=True)
            if error.hint:
                hint = name_options(hint_for_people(error.hint), command)
                click.echo(f"hint: {printable(hint, one_line=True)}", err=True)
            code = EXIT_UNAVAILABLE if isinstance(error, UnavailableError) else EXIT_REFUSED
            ctx.exit(code)
        finally:
            if ctx.meta.get(_HANDLES_INTERRUPTS):
                signal.signal(signal.SIGINT, signal.SIG_DFL)


def _url_in_file() -> str | None:
    """Return the connection string in a file, as containers get secrets, if there is one."""
    name = os.environ.get("PYMEM_DATABASE_URL_FILE")
    if not name:
        return None
    try:
        url = Path(name).read_text(encoding="utf-8").strip()
    except (OSError, UnicodeDecodeError) as error:
        from pymem.errors import UnavailableError

        raise UnavailableError(
            f"the file {name} cannot be read", hint="PYMEM_DATABASE_URL_FILE names it."
        ) from error
    if not url:
        from pymem.errors import UnavailableError

        raise UnavailableError(
            f"the file {name} is empty", hint="PYMEM_DATABASE_URL_FILE names it."
        )
    return url


def _package_path() -> list[str]:
    return [str(Path(__file__).parent)]


_COMMAND = "pymem.command"
"""The command that runs, whose options errors name."""
_HANDLES_INTERRUPTS = "pymem.handles_interrupts"
"""Whether the main command, rather than who called it, made SIGINT a KeyboardInterrupt."""


@click.group(cls=_Main, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(__version__, prog_name="pymem")
@click.option(
    "--database-url",
    envvar="PYMEM_DATABASE_URL",
    help="Connection string of the database; default: the embedded server, started if need be.",
)
@click.option(
    "--data",
    type=click.Path(path_type=Path, file_okay=False),
    envvar="PYMEM_DATA",
    help="Data folder of the embedded server.",
)
@click.option(
    "--read-url",
    envvar="PYMEM_READ_URL",
    help="Connection string of standbys of the database, which then answer what only reads.",
)
@click.option(
    "--freshness",
    envvar="PYMEM_FRESHNESS",
    type=click.Choice(["fresh", "stale"]),
    default="fresh",
    show_default=True,
    help="What standbys promise. fresh: what was stored before the command began, and by it, is "
    "there, or the primary answers; stale: the answer as it is.",
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
@click.option(
    "--log-format",
    envvar="PYMEM_LOG_FORMAT",
    type=click.Choice(["text", "json"]),
    default="text",
    show_default=True,
    help="What is logged to standard error: lines of text, or of JSON for log collectors.",
)
@click.pass_context
def main(ctx: click.Context, /, *, verbose: bool, log_format: str, **options: Any) -> None:
    """Long-term memory for AI agents, inside PostgreSQL.

    A butler is an agent that uses the memory, such as home or health. Its episodes are its own;
    facts and rules are its own too, or global. --butler looks at the memory as that agent does.

    An ID may be its first digits, four or more, if no other begins with them. Into a pipe, tables
    are lines with tabs; --json prints everything.

    Exit codes: 0 success, 1 refused (the message says why), 2 usage error, 3 the database is
    unreachable, 130 interrupted.
    """
    if signal.getsignal(signal.SIGINT) is signal.SIG_DFL:
        # Not a handler of our own: with this one asyncio cancels what it runs.
        signal.signal(signal.SIGINT, signal.default_int_handler)
        ctx.meta[_HANDLES_INTERRUPTS] = True
    handler = logging.StreamHandler()
    if log_format == "json":
        from pymem.observing.logs import JsonFormatter

        handler.setFormatter(JsonFormatter())
    else:
        handler.setFormatter(LineFormatter("%(levelname)s: %(message)s"))
    logging.basicConfig(level=logging.INFO if verbose else logging.WARNING, handlers=[handler])
    logging.captureWarnings(True)
    options["database_url"] = options["database_url"] or _url_in_file()
    ctx.obj = Options(**options)


pass_options = click.make_pass_decorator(Options)


def metrics_options(function: F) -> F:
    """Add the options that say where a command serves its metrics."""
    function = click.option(
        "--metrics-host",
        default="127.0.0.1",
        show_default=True,
        help="Address of --metrics-port. Whoever reaches it can read the metrics.",
    )(function)
    return click.option(
        "--metrics-port",
        type=PORT,
        envvar="PYMEM_METRICS_PORT",
        help="Serve metrics for Prometheus on this port; 0: any free port; default: do not.",
    )(function)


def metrics_listener(port: int | None, host: str) -> MetricsListener | None:
    """Return where metrics are served, as these options say; None for nowhere."""
    if port is None:
        return None
    from pymem.observing.exporter import MetricsListener

    return MetricsListener(
        port, host, lambda address: click.echo(f"serving metrics at {address}", err=True)
    )


def servers_option(function: F) -> F:
    """Add the option that names several servers."""
    return click.option(
        *("--server", "servers"),
        multiple=True,
        envvar="PYMEM_SERVERS",
        metavar="URL",
        help="Connection string of a server; may be repeated. Also PYMEM_SERVERS, with spaces "
        "between them. Without any, --database-url names the only one.",
    )(function)


def tenant_map_option(function: F) -> F:
    """Add the option that names the map of tenants."""
    return click.option(
        *("--map", "tenant_map"),
        type=click.Path(path_type=Path, dir_okay=False),
        envvar="PYMEM_TENANT_MAP",
        metavar="FILE",
        help="Map of tenants: a file with database entries of PgBouncer.",
    )(function)


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
    from pymem.errors import InvalidArgumentError

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


def keep(ctx: click.Context, param: click.Parameter, value: Any) -> Any:
    """Keep the value of an option among those that every command shares."""
    options = ctx.find_object(Options)
    if options is not None and value is not None:
        ctx.obj = replace(options, **{str(param.name): value})
    return value


_MODEL_OPTIONS: dict[str, dict[str, Any]] = {
    "--model": {
        "metavar": "FOLDER|URL",
        "help": "Embedding model: a folder with a saved one, or https://host/v1#name for one of a "
        "service with OpenAI's API; default: the packaged one. Also PYMEM_EMBEDDING_MODEL, or the "
        "model in the butler.toml that PYMEM_CONFIG names.",
    },
    "--dimensions": {
        "type": click.IntRange(1),
        "help": "384: use the first 384 numbers of its longer vectors, if it is made for that. "
        "Also PYMEM_EMBEDDING_DIMENSIONS.",
    },
}


def model_params() -> list[click.Parameter]:
    """Return the options that name the embedding model, which Options.engine reads."""
    return [
        click.Option([name], callback=keep, expose_value=False, **settings)
        for name, settings in _MODEL_OPTIONS.items()
    ]


def model_options(function: F) -> F:
    """Add the options that name the embedding model, which Options.engine reads."""
    for name, settings in reversed(_MODEL_OPTIONS.items()):
        function = click.option(name, callback=keep, expose_value=False, **settings)(function)
    return function


def run(options: Options, work: Callable[[Memory], Awaitable[T]], *, embed: bool = False) -> T:
    """Connect, run something on the memory and disconnect."""
    import asyncio

    from pymem.memory import Memory

    context = click.get_current_context()
    context.meta[_COMMAND] = context.command
    engine = options.engine() if embed else None
    if engine is not None:
        # Each command loads the model anew, and a person would rather wait than miss what is meant.
        engine.embedder.load_seconds = _LOAD_SECONDS

    async def connected() -> T:
        async with await Memory.connect(
            options.url(),
            engine=engine,
            request=options.request(),
            max_size=4,
            **options.readers(),
        ) as memory:
            return await work(memory)

    return asyncio.run(connected())


def no_memory(memory_type: str, memory_id: str) -> NotFoundError:
    """Return the error for an unknown id."""
    from pymem.errors import NotFoundError

    names = {"entity": "pymem entity resolve", "entry": "pymem entries query"}
    name = names.get(memory_type, "pymem search")
    return NotFoundError(f"no {memory_type} has id {memory_id}", hint=f"Find ids with `{name}`.")


def render(value: Any, json_: bool, *people: Any) -> None:
    """Print a result: as JSON, or as texts and tables; into a pipe, tables are bare lines."""
    if json_:
        from pymem.models import to_json

        click.echo(json.dumps(to_json(value), ensure_ascii=False, indent=2))
        return
    if all(isinstance(part, str) for part in people):
        click.echo("\n".join(people))
        return
    from pymem import display

    console = display.make_console()
    for part in people:
        if isinstance(part, str):
            click.echo(part)
        elif console.is_terminal:
            console.print(part)
        else:
            click.echo(part.plain())


def start_progress(description: str, total: float | None, unit: str) -> tuple[Progress, Any]:
    """Return a progress bar, a context manager, and its task; silent without a terminal."""
    from rich.progress import (
        BarColumn,
        Progress,
        TaskProgressColumn,
        TextColumn,
        TimeRemainingColumn,
    )

    from pymem import display

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
