"""Commands for cron: what has to be done now and then."""

from __future__ import annotations

import sys
from dataclasses import dataclass
from datetime import datetime

import click

from pymem import display
from pymem.cli.base import (
    EXIT_REFUSED,
    Options,
    all_tenants_option,
    as_json,
    as_of_option,
    for_tenants,
    main,
    pass_options,
    print_json,
    print_per_tenant,
    print_table,
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
    """Turn harmful rules into warnings, promote those that have come of age, seal new events."""
    if rule_id is not None:
        if all_tenants:
            raise click.UsageError("--revert is for one tenant")
        maturity = run(options, lambda memory: memory.revert_inversion(rule_id, as_of=as_of))
        if json_:
            print_json({"rule_id": rule_id, "maturity": maturity})
        else:
            click.echo(f"a rule again, {maturity}")
        return

    async def tidy(tenant: Memory) -> HygieneReport:
        rules = await tenant.run_rule_hygiene(as_of=as_of)
        seal = await tenant.seal_events()
        return HygieneReport(
            rules.inverted, rules.promoted, seal.sealed, f"{seal.position}:{seal.hash.hex()}"
        )

    answers = run(options, lambda memory: for_tenants(memory, all_tenants, tidy))
    print_per_tenant(
        answers,
        json_,
        inverted="warnings",
        promoted="promoted",
        sealed="events sealed",
        anchor="anchor",
    )


@dataclass(frozen=True, slots=True)
class HygieneReport:
    """What hygiene did; anchor: the end of the hash chain, for `pymem verify`."""

    inverted: int
    promoted: int
    sealed: int
    anchor: str


@main.command()
@click.option("--anchor", help="What an earlier `pymem hygiene` printed.")
@as_json
@pass_options
def verify(options: Options, anchor: str | None, json_: bool) -> None:
    """Look for whatever contradicts the hash chain of the audit stream.

    Exit code 1 if something does.
    """
    position, hash_ = _anchor(anchor)
    problems = run(
        options,
        lambda memory: memory.verify_chain(anchor_position=position, anchor_hash=hash_),
    )
    if json_:
        print_json(problems)
    elif problems:
        print_table(display.chain_problems(problems))
    else:
        click.echo("nothing contradicts the chain")
    if problems:
        sys.exit(EXIT_REFUSED)


def _anchor(text: str | None) -> tuple[int | None, bytes | None]:
    if text is None:
        return None, None
    position, _, digits = text.partition(":")
    try:
        return int(position), bytes.fromhex(digits)
    except ValueError:
        raise click.BadParameter(
            "pass a position and a hash in hexadecimal, such as 12:9f86…", param_hint="--anchor"
        ) from None
