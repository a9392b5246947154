"""The command that runs everything that recurs."""

from __future__ import annotations

import asyncio
import json
import logging
import signal
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

import click

from pymem.cli.base import (
    Options,
    command,
    metrics_listener,
    metrics_options,
    model_options,
)
from pymem.cli.consolidating import report_run
from pymem.cli.llm_options import choose_llm, llm_options
from pymem.cli.maintaining import all_tenants_option
from pymem.memory import Memory
from pymem.models import ConsolidationRun, to_json
from pymem.observing.spans import export_spans

if TYPE_CHECKING:
    from pymem.runner import Done

_POOL_SECONDS = 5.0


@command(name="run")
@all_tenants_option
@llm_options
@model_options
@click.option("--no-embed", is_flag=True, help="Leave embedding to other workers.")
@click.option("--once", is_flag=True, help="Do what is due now, and exit; for cron.")
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
    """
    from pymem.runner import Runner

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

    def on_done(done: Done) -> None:
        tell(done.what, result=done.result, seconds=round(done.seconds, 2), tenant=done.tenant)

    def on_run(run: ConsolidationRun) -> None:
        if json_:
            tell("consolidation", run=run)
        else:
            report_run(run)

    async def work() -> None:
        async with await Memory.connect(
            options.url(),
            request=options.request(),
            wait=once,
            max_size=4,
            timeout=_POOL_SECONDS,
        ) as memory:
            runner = Runner(
                memory,
                engine=engine,
                llm=backend,
                all_tenants=all_tenants,
                on_done=on_done,
                on_run=on_run,
            )
            if once:
                await runner.run_once()
                return
            for number in (signal.SIGTERM, signal.SIGINT):
                asyncio.get_running_loop().add_signal_handler(number, runner.stop)
            tell(
                "running",
                embedding=engine.model if engine is not None else "off",
                consolidation="on" if backend is not None else "off: no LLM",
            )
            if listener is None:
                await runner.run()
            else:
                from pymem.observing.exporter import exporting

                async with exporting(listener, memory, {"run": memory}):
                    await runner.run()
            tell("stopped")

    asyncio.run(work())
