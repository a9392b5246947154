"""Commands for cron: what has to be done now and then."""

from __future__ import annotations

from datetime import datetime

import click

from pymem.cli.base import (
    Options,
    all_tenants_option,
    as_json,
    as_of_option,
    for_tenants,
    main,
    pass_options,
    print_json,
    print_per_tenant,
    run,
    start_progress,
)
from pymem.maintenance import clean_up_episodes
from pymem.memory import Memory
from pymem.models import Cleanup


@main.command()
@all_tenants_option
@as_of_option
@as_json
@pass_options
def sweep(options: Options, all_tenants: bool, as_of: datetime | None, json_: bool) -> None:
    """Let facts and rules fade, recover and expire by their confidence."""
    answers = run(
        options,
        lambda memory: for_tenants(
            memory, all_tenants, lambda tenant: tenant.run_decay_sweep(as_of=as_of)
        ),
    )
    print_per_tenant(
        answers,
        json_,
        memory_type="type",
        checked="checked",
        fading="began to fade",
        expired="expired",
        recovered="recovered",
    )


@main.command()
@click.option("--max-entries", type=int, help="How many episodes may remain; default: the setting.")
@click.option("--batch-size", type=int, help="Episodes deleted in a transaction; default 10000.")
@all_tenants_option
@as_of_option
@as_json
@pass_options
def cleanup(
    options: Options,
    max_entries: int | None,
    batch_size: int | None,
    all_tenants: bool,
    as_of: datetime | None,
    json_: bool,
) -> None:
    """Delete episodes that have expired or are beyond capacity."""
    bar, task = start_progress("deleting", 0, "")
    total = 0

    def progress(deleted: int, due: int) -> None:
        nonlocal total
        total += deleted
        bar.update(task, completed=total, total=total + due)

    async def clean_up(tenant: Memory) -> Cleanup:
        return await clean_up_episodes(
            tenant,
            max_entries=max_entries,
            batch_size=batch_size,
            as_of=as_of,
            progress=progress,
        )

    with bar:
        answers = run(options, lambda memory: for_tenants(memory, all_tenants, clean_up))
    print_per_tenant(
        answers,
        json_,
        expired_deleted="expired",
        capacity_deleted="beyond capacity",
        remaining="remaining",
    )


@main.command()
@click.option("--revert", "rule_id", help="Make this anti-pattern the rule again that it was.")
@all_tenants_option
@as_of_option
@as_json
@pass_options
def hygiene(
    options: Options,
    rule_id: str | None,
    all_tenants: bool,
    as_of: datetime | None,
    json_: bool,
) -> None:
    """Turn harmful rules into warnings, and promote those that have come of age."""
    if rule_id is not None:
        if all_tenants:
            raise click.UsageError("--revert is for one tenant")
        maturity = run(options, lambda memory: memory.revert_inversion(rule_id, as_of=as_of))
        if json_:
            print_json({"rule_id": rule_id, "maturity": maturity})
        else:
            click.echo(f"a rule again, {maturity}")
        return
    answers = run(
        options,
        lambda memory: for_tenants(
            memory, all_tenants, lambda tenant: tenant.run_rule_hygiene(as_of=as_of)
        ),
    )
    print_per_tenant(
        answers, json_, inverted="turned into warnings", promoted="promoted by their age"
    )
