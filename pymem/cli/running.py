"""The command that runs everything that recurs."""

from __future__ import annotations

import asyncio
import json
import logging
import signal
from collections.abc import Callable, Coroutine, Sequence
from contextlib import AsyncExitStack
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from pymem.cli.base import (
    Options,
    command,
    metrics_listener,
    metrics_options,
    model_options,
    servers_option,
    tenant_map_option,
)
from pymem.cli.consolidating import report_run
from pymem.cli.llm_options import choose_llm, llm_options
from pymem.cli.maintaining import all_tenants_option
from pymem.errors import InvalidArgumentError
from pymem.memory import Memory
from pymem.models import ConsolidationRun, to_json
from pymem.observing.spans import export_spans
from pymem.tenants.places import Place, TenantMap

if TYPE_CHECKING:
    from pymem.runner import Done

_POOL_SECONDS = 5.0


def servers_of(tenant_map: Path, url: str) -> list[str]:
    """Return the connection strings of a login at the servers of a map of tenants."""
    places = dict.fromkeys(TenantMap(tenant_map).places().values())
    if not places:
        raise InvalidArgumentError(
            f"the map of tenants {tenant_map} names no server",
            hint="Pass --server instead, or write: acme = host=… port=5432 dbname=memory",
        )
    return [place.applied_to(url) for place in places]


async def run_each(
    works: Sequence[Callable[[], Coroutine[Any, Any, None]]], stop: Callable[[], None]
) -> None:
    """Do several things at once; when one fails, stop the others, and raise its error."""
    tasks = [asyncio.create_task(work()) for work in works]
    try:
        await asyncio.wait(tasks, return_when=asyncio.FIRST_EXCEPTION)
    finally:
        stop()
        ended = await asyncio.gather(*tasks, return_exceptions=True)
    for result in ended:
        if isinstance(result, BaseException):
            raise result


@command(name="run")
@all_tenants_option
@llm_options
@model_options
@click.option("--no-embed", is_flag=True, help="Leave embedding to other workers.")
@click.option("--once", is_flag=True, help="Do what is due now, and exit; for cron.")
@servers_option
@tenant_map_option
@metrics_options
@click.pass_context
def run_all(
    context: click.Context,
    options: Options,
    /,
    *,
    all_tenants: bool,
    no_embed: bool,
    once: bool,
    servers: tuple[str, ...],
    tenant_map: Path | None,
    metrics_port: int | None,
    metrics_host: str,
    json_: bool,
    **llm: Any,
) -> None:
    """Run all that recurs until interrupted: jobs, embedding, consolidation.

    Jobs run by the schedules of the tenant, in UTC; what was missed is done once. Consolidation
    requires an LLM. Any number of these may run at once, and beside pg_cron: each due time is run
    once. While the database is away it waits. On SIGTERM or SIGINT it finishes what it is at, for
    some seconds, and exits with 0.

    With --server, it works at several servers at once; with --map, at those that it names, as the
    login of --database-url.
    """
    from pymem.runner import Runner

    urls = list(servers) or (
        [options.url()] if tenant_map is None else servers_of(tenant_map, options.url())
    )
    if len(urls) > 1 and metrics_port is not None:
        raise click.UsageError("--metrics-port is for one server; run one process for each")
    if once and metrics_port is not None:
        raise click.UsageError("--once ends before anybody could read metrics")
    listener = metrics_listener(metrics_port, metrics_host)
    backend = choose_llm(context, **llm)
    engine = None if no_embed else options.engine()
    export_spans("pymem-run")
    # The runner says it once.
    logging.getLogger("psycopg.pool").setLevel(logging.ERROR)

    def tell(what: str, **more: Any) -> None:
        now = datetime.now(UTC)
        if json_:
            event = {"time": now.isoformat(), "what": what, **more}
            click.echo(json.dumps(to_json(event), ensure_ascii=False))
        else:
            result = more.pop("result", None)
            details = ", ".join(f"{name} {value}" for name, value in more.items() if value)
            click.echo(
                f"{now:%Y-%m-%d %H:%M:%S} {what}"
                + ("" if result is None else f": {json.dumps(result, ensure_ascii=False)}")
                + (f" ({details})" if details else "")
            )

    def on_run(run: ConsolidationRun) -> None:
        if json_:
            tell("consolidation", run=run)
        else:
            report_run(run)

    async def runner_of(url: str, stack: AsyncExitStack) -> tuple[Runner, Memory]:
        server = {"server": str(Place.of(url))} if len(urls) > 1 else {}

        def on_done(done: Done) -> None:
            seconds = round(done.seconds, 2)
            tell(done.what, result=done.result, seconds=seconds, tenant=done.tenant, **server)

        memory = await stack.enter_async_context(
            await Memory.connect(
                url,
                request=options.request(),
                wait=once and len(urls) == 1,
                max_size=4,
                timeout=_POOL_SECONDS,
            )
        )
        runner = Runner(
            memory,
            engine=engine,
            llm=backend,
            all_tenants=all_tenants,
            on_done=on_done,
            on_run=on_run,
        )
        return runner, memory

    async def work() -> None:
        async with AsyncExitStack() as stack:
            runners = [await runner_of(url, stack) for url in urls]

            def stop() -> None:
                for runner, _ in runners:
                    runner.stop()

            if once:
                await run_each([runner.run_once for runner, _ in runners], lambda: None)
                return
            for number in (signal.SIGTERM, signal.SIGINT):
                asyncio.get_running_loop().add_signal_handler(number, stop)
            tell(
                "running",
                embedding=engine.model if engine is not None else "off",
                consolidation="on" if backend is not None else "off: no LLM",
            )
            if listener is not None:
                from pymem.observing.exporter import exporting

                [(_, memory)] = runners
                await stack.enter_async_context(exporting(listener, memory, {"run": memory}))
            await run_each([runner.run for runner, _ in runners], stop)
            tell("stopped")

    asyncio.run(work())
