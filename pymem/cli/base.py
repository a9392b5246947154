"""What the commands share: options, connecting, errors, printing."""

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
from pymem.server import EmbeddedServer
from pymem.version import __version__

F = TypeVar("F", bound=Callable[..., Any])
T = TypeVar("T")

DATABASE = "pymem"
LOGIN = "pymem"
TENANT = "default"

EXIT_REFUSED = 1
EXIT_UNAVAILABLE = 3


@dataclass(frozen=True, slots=True)
class Options:
    """What is the same for every command."""

    database_url: str | None
    data: Path | None
    tenant: str | None
    actor: str | None
    butler: str | None

    def request(self) -> Request:
        """Return on whose behalf commands act."""
        return Request(tenant_id=self.tenant, actor=self.actor, butler=self.butler)

    def server(self) -> EmbeddedServer:
        """Return the embedded server of this user."""
        return EmbeddedServer(self.data)

    def url(self) -> str:
        """Return the database to use: the one named, else the embedded server's."""
        if self.database_url:
            return self.database_url
        server = self.server()
        if not server.is_running():
            raise UnavailableError(
                "no memory is running",
                hint="Start the embedded one with `pymem up`, or set PYMEM_DATABASE_URL.",
            )
        return server.url(DATABASE, LOGIN)


class _Group(click.Group):
    """Turns errors of the memory into one line and an exit code."""

    def invoke(self, ctx: click.Context) -> Any:
        try:
            return super().invoke(ctx)
        except PymemError as error:
            click.echo(f"error: {error.message} [{error.code}]", err=True)
            if error.hint:
                click.echo(f"hint: {error.hint}", err=True)
            code = EXIT_UNAVAILABLE if isinstance(error, UnavailableError) else EXIT_REFUSED
            ctx.exit(code)


@click.group(cls=_Group, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(__version__, prog_name="pymem")
@click.option(
    "--database-url",
    envvar="PYMEM_DATABASE_URL",
    help="Connection string of the memory; default: the embedded server (pymem up).",
)
@click.option(
    "--data",
    type=click.Path(path_type=Path, file_okay=False),
    envvar="PYMEM_DATA",
    help="Folder of the embedded server.",
)
@click.option(
    "--tenant", envvar="PYMEM_TENANT", help="Tenant, for a login that serves several of them."
)
@click.option("--actor", envvar="PYMEM_ACTOR", help="Who acts, for the audit; default: the login.")
@click.option(
    "--butler",
    envvar="PYMEM_BUTLER",
    help="The agent (butler) whose memory this is: commands look at its own memories and global "
    "ones unless told otherwise; default: at everybody's.",
)
@click.option("--verbose", is_flag=True, help="Say what happens, on standard error.")
@click.pass_context
def main(
    ctx: click.Context,
    database_url: str | None,
    data: Path | None,
    tenant: str | None,
    actor: str | None,
    butler: str | None,
    verbose: bool,
) -> None:
    """Long-term memory for AI agents, inside PostgreSQL.

    Exit codes: 0 done, 1 refused (the message says why), 2 wrong usage, 3 the memory cannot be
    reached.
    """
    logging.basicConfig(
        level=logging.INFO if verbose else logging.WARNING, format="%(levelname)s: %(message)s"
    )
    ctx.obj = Options(database_url, data, tenant, actor, butler)


pass_options = click.make_pass_decorator(Options)
as_json = click.option("--json", "json_", is_flag=True, help="Print JSON, for programs.")
types_option = click.option(
    "--type",
    "types",
    type=click.Choice(["episode", "fact", "rule"]),
    multiple=True,
    help="Only this type; may be repeated.",
)


def scope_option(command: F) -> F:
    """Add the options that say whose memories a command looks at."""
    command = click.option(
        "--all-scopes",
        "scope",
        flag_value="*",
        help="Everybody's memories; the same as --scope '*'.",
    )(command)
    return click.option(
        "--scope",
        help="Only the memories of this agent or role and global ones; default: those of pymem "
        "--butler, without one everybody's.",
    )(command)


def butler_option(help_: str) -> Callable[[F], F]:
    """Return what adds an option for the agent that a command cannot do without."""

    def fall_back(ctx: click.Context, param: click.Parameter, value: str | None) -> str | None:
        if value is None and not ctx.resilient_parsing:
            value = ctx.obj.butler
            if value is None:
                raise click.MissingParameter(ctx=ctx, param=param)
        return value

    return click.option(
        "--butler", callback=fall_back, help=f"{help_}; default: that of pymem --butler."
    )


limit_option = click.option("--limit", type=int, default=10, show_default=True)
min_confidence_option = click.option(
    "--min-confidence", type=float, help="Leave out what has decayed below it, 0 to 1."
)
min_relevance_option = click.option(
    "--min-relevance",
    type=float,
    help="Leave out what fits less than this, 0 to 1; 0 for the nearest there is. Default: only "
    "what fits, as the settings have it, so that an empty answer means that nothing does.",
)


class _Time(click.ParamType[datetime]):
    name = "time"

    def convert(
        self, value: Any, param: click.Parameter | None, ctx: click.Context | None
    ) -> datetime:
        if isinstance(value, datetime):
            return value
        try:
            parsed = datetime.fromisoformat(value)
        except ValueError:
            self.fail(f"{value!r} is no time such as 2026-03-01 or 2026-03-01T12:00Z", param, ctx)
        return parsed if parsed.tzinfo else parsed.replace(tzinfo=UTC)


as_of_option = click.option("--as-of", type=_Time(), help="As if it were this time (UTC).")
known_at_option = click.option(
    "--known-at", type=_Time(), help="What was known at this time, as it would have answered then."
)
valid_at_option = click.option(
    "--valid-at",
    type=_Time(),
    help="What held in the world at this time, superseded facts too.",
)


def run(
    options: Options,
    work: Callable[[Memory], Awaitable[T]],
    *,
    embed: bool = False,
) -> T:
    """Connect, run something on the memory and disconnect."""
    engine = get_embedding_engine() if embed and embeddings_installed() else None

    async def connected() -> T:
        async with await Memory.connect(
            options.url(), engine=engine, request=options.request(), max_size=4
        ) as memory:
            return await work(memory)

    return asyncio.run(connected())


all_tenants_option = click.option(
    "--all-tenants",
    is_flag=True,
    help="Every tenant, each in a transaction of its own; for a login with memory_gateway.",
)


async def for_tenants(
    memory: Memory, all_tenants: bool, work: Callable[[Memory], Awaitable[T]]
) -> list[tuple[str | None, T]]:
    """Run something for each tenant, or for the one of the login; return the answers."""
    if not all_tenants:
        return [(None, await work(memory))]
    return [
        (tenant.tenant_id, await work(memory.for_request(tenant_id=tenant.tenant_id)))
        for tenant in await memory.list_tenants()
    ]


def print_per_tenant(answers: list[tuple[str | None, Any]], json_: bool, **columns: str) -> None:
    """Print counts as a table or JSON, a line for each tenant and row.

    Args:
        answers: What for_tenants returned: a row, or a list of rows, for each tenant.
        json_: Whether to print JSON.
        columns: Headings by the name of the field.
    """
    rows = [
        ({} if tenant is None else {"tenant": tenant}) | to_json(row)
        for tenant, answer in answers
        for row in (answer if isinstance(answer, list) else [answer])
    ]
    if json_:
        click.echo(json.dumps(rows, ensure_ascii=False, indent=2))
        return
    headings = ({"tenant": "tenant"} if rows and "tenant" in rows[0] else {}) | columns
    numbers = [
        heading
        for field, heading in headings.items()
        if rows and not isinstance(rows[0][field], str)
    ]
    result = display.table(*headings.values(), right=numbers, whole=("anchor",))
    for row in rows:
        result.add_row(*(display.escape(str(row[field])) for field in headings))
    print_table(result)


def print_table(value: Any) -> None:
    """Print something as rich draws it."""
    display.make_console().print(value)


def print_json(value: Any) -> None:
    """Print a result for a program."""
    click.echo(json.dumps(to_json(value), ensure_ascii=False, indent=2))


def start_progress(description: str, total: float, unit: str) -> tuple[Progress, Any]:
    """Return a progress bar, to be entered, and its task; silent without a terminal."""
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


def json_object(option: str, text: str | None) -> dict[str, Any] | None:
    """Return the JSON object that an option holds, None for none."""
    if text is None:
        return None
    hint = 'Pass an object such as {"source": "email"}.'
    try:
        value = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise InvalidArgumentError(f"{option} is no JSON: {error}", hint=hint) from error
    if not isinstance(value, dict):
        raise InvalidArgumentError(f"{option} is no JSON object", hint=hint)
    return value


memory_type_argument = click.argument(
    "memory_type", type=click.Choice(["episode", "fact", "rule"]), metavar="TYPE"
)
memory_id_argument = click.argument("memory_id", metavar="ID")


def no_memory(memory_type: str, memory_id: str) -> NotFoundError:
    """Return the error for an id that is not there."""
    command = "pymem entity resolve" if memory_type == "entity" else "pymem search"
    return NotFoundError(f"no {memory_type} has id {memory_id}", hint=f"Find ids with `{command}`.")
