"""Commands that maintain the memory as a whole: jobs for cron, erasure, settings."""

from __future__ import annotations

import sys
from collections.abc import Awaitable, Callable
from datetime import datetime
from pathlib import Path
from typing import Any

import click

from pymem import schema
from pymem.cli.base import EXIT_REFUSED, Options, as_of_option, command, render, run, start_progress
from pymem.cli.ids import Id
from pymem.display import Column, plain_value, tabulate
from pymem.maintenance import clean_up_episodes, sweep_memories
from pymem.memory import Memory
from pymem.models import ChainProblem, Cleanup, to_json

Values = dict[str, Any]

all_tenants_option = click.option(
    "--all-tenants",
    is_flag=True,
    help="Every tenant, each in its own transaction; requires memory_gateway.",
)


def run_per_tenant(
    options: Options,
    all_tenants: bool,
    work: Callable[[Memory], Awaitable[Any]],
    json_: bool,
    *columns: str | Column,
) -> None:
    """Run work for the login's tenant or for each tenant, and print the resulting rows."""

    async def work_for_each(memory: Memory) -> list[tuple[dict[str, str], Any]]:
        if not all_tenants:
            return [({}, await work(memory))]
        return [
            ({"tenant": each.tenant_id}, await work(memory.for_request(tenant_id=each.tenant_id)))
            for each in await memory.list_tenants()
        ]

    rows = [
        tenant | to_json(row)
        for tenant, answer in run(options, work_for_each)
        for row in (answer if isinstance(answer, list) else [answer])
    ]
    render(rows, json_, tabulate(rows, *(["tenant"] if all_tenants else []), *columns))


@command()
@all_tenants_option
@as_of_option
def sweep(options: Options, all_tenants: bool, as_of: datetime | None, json_: bool) -> None:
    """Mark facts and rules as fading, recovered or expired by their confidence."""
    columns = ("memory_type", "checked", Column("began to fade", "fading"), "expired", "recovered")
    run_per_tenant(
        options, all_tenants, lambda memory: sweep_memories(memory, as_of=as_of), json_, *columns
    )


@command()
@click.option(
    "--max-entries", type=int, help="Maximum number of episodes to keep; default: the setting."
)
@click.option("--batch-size", type=int, help="Episodes deleted per transaction; default: 10000.")
@all_tenants_option
@as_of_option
def cleanup(options: Options, all_tenants: bool, json_: bool, **limits: Any) -> None:
    """Delete episodes that have expired or exceed the capacity."""
    bar, task = start_progress("deleting", 0, "")
    total = 0

    def progress(deleted: int, due: int) -> None:
        nonlocal total
        total += deleted
        bar.update(task, completed=total, total=total + due)

    async def clean_up(memory: Memory) -> Cleanup:
        return await clean_up_episodes(memory, progress=progress, **limits)

    expired = Column("expired", "expired_deleted")
    beyond = Column("beyond capacity", "capacity_deleted")
    with bar:
        run_per_tenant(options, all_tenants, clean_up, json_, expired, beyond, "remaining")


@command()
@click.option(
    "--revert", "rule_id", type=Id("rule"), help="Turn this anti-pattern back into the rule it was."
)
@all_tenants_option
@as_of_option
def hygiene(
    options: Options, rule_id: str | None, all_tenants: bool, as_of: datetime | None, json_: bool
) -> None:
    """Turn harmful rules into warnings, promote rules that earned it, seal new events."""
    if rule_id is not None:
        if all_tenants:
            raise click.UsageError("--revert is for one tenant")
        maturity = run(options, lambda memory: memory.revert_inversion(rule_id, as_of=as_of))
        render({"rule_id": rule_id, "maturity": maturity}, json_, f"a rule again, {maturity}")
        return

    definitions = schema.definitions_digest(options.url()).hex()

    async def tidy(memory: Memory) -> dict[str, Any]:
        rules = await memory.run_rule_hygiene(as_of=as_of)
        seal = await memory.seal_events()
        # The end of the hash chain and the schema are the anchor of `pymem verify`.
        return {
            "inverted": rules.inverted,
            "promoted": rules.promoted,
            "sealed": seal.sealed,
            "anchor": f"{seal.position}:{seal.hash.hex()}:{definitions}",
        }

    columns = (Column("warnings", "inverted"), "promoted", "sealed", "anchor")
    run_per_tenant(options, all_tenants, tidy, json_, *columns)


@command()
@click.option("--anchor", help="Anchor printed by an earlier `pymem hygiene`.")
def verify(options: Options, anchor: str | None, json_: bool) -> None:
    """Verify the hash chain of the audit stream, and the schema.

    Exit code 1 if anything contradicts it.
    """
    position, hash_, definitions = _parse_anchor(anchor)
    problems = run(
        options, lambda memory: memory.verify_chain(anchor_position=position, anchor_hash=hash_)
    )
    if definitions not in (None, schema.definitions_digest(options.url())):
        detail = "functions, triggers, policies or tables are not those of the anchor"
        problems.append(ChainProblem("definition changed", None, None, None, None, detail))
    render(problems, json_, tabulate(problems) if problems else "nothing contradicts the chain")
    if problems:
        sys.exit(EXIT_REFUSED)


def _parse_anchor(text: str | None) -> tuple[int | None, bytes | None, bytes | None]:
    if text is None:
        return None, None, None
    position, _, digits = text.partition(":")
    chain, separator, definitions = digits.partition(":")
    try:
        return (
            int(position),
            bytes.fromhex(chain),
            bytes.fromhex(definitions) if separator else None,
        )
    except ValueError:
        raise click.BadParameter(
            "pass a position and a hexadecimal hash, such as 12:9f86…", param_hint="--anchor"
        ) from None


@command()
@click.argument("subject")
@click.option(
    "--exact", is_flag=True, help="Only facts about the name and their sources, not mere mentions."
)
@click.option("--dry-run", is_flag=True, help="Only show what would be erased.")
@click.option("--yes", is_flag=True, help="Do not ask for confirmation.")
def erase(
    options: Options, subject: str, exact: bool, dry_run: bool, yes: bool, json_: bool
) -> None:
    """Permanently delete everything about SUBJECT, and verify that nothing remains.

    Exit code 1 if something remains: with --exact, other memories that mention it; or memories
    stored in the meantime.
    """

    async def work(memory: Memory) -> Any:
        found = await memory.erase_subject(subject, mentions=not exact, dry_run=True)
        if dry_run:
            return found, []
        if not yes and not json_:
            render(found, json_, tabulate(found))
            click.confirm("Erase this permanently?", abort=True)
        erased = await memory.erase_subject(subject, mentions=not exact)
        return erased, await memory.verify_erasure(subject)

    erased, columns = run(options, work)
    remaining = [column for column in columns if column.remaining]
    result = {"erased": erased, "examined": len(columns), "remaining": remaining}
    render(result, json_, tabulate(erased))
    if not json_:
        for column in remaining:
            where = f"{column.table_name}.{column.column_name}"
            click.echo(f"still in {where}: {column.remaining}", err=True)
        if not dry_run and not remaining:
            click.echo(f"nothing remains in {len(columns)} text columns")
    if remaining:
        sys.exit(EXIT_REFUSED)


@command()
@click.argument("file", type=click.Path(path_type=Path, dir_okay=False), required=False)
@click.option("--reset", is_flag=True, help="Also set back to defaults what FILE does not name.")
def configure(options: Options, file: Path | None, reset: bool, json_: bool) -> None:
    """Apply the [modules.memory] section of a butler.toml, and show what changed.

    What FILE does not name stays as it is. Without FILE, show the settings.
    """
    if file is None:
        if reset:
            raise click.UsageError("--reset is for a FILE")
        _show_settings(options, json_=json_)
        return
    from pymem.config import load_config

    config = load_config(file)
    wanted = config.settings()

    async def work(memory: Memory) -> tuple[Values, Values]:
        before = to_json(await memory.current_settings())
        defaults = to_json(config.defaults()) if reset else {}
        changes = wanted | {
            name: None
            for name, default in defaults.items()
            if name not in wanted and before[name] != default
        }
        return before, to_json(await memory.configure(changes)) if changes else before

    before, after = run(options, work)
    changed = {
        name: {"before": before[name], "after": value}
        for name, value in after.items()
        if before[name] != value
    }
    rows = [
        {"setting": name} | {when: plain_value(value) for when, value in change.items()}
        for name, change in changed.items()
    ]
    render({"changed": changed}, json_, tabulate(rows) if rows else "nothing changed")


@command()
@click.option("--changed", is_flag=True, help="Only those that are not the default.")
def settings(options: Options, changed: bool, json_: bool) -> None:
    """Show the settings of the tenant, and the defaults of those that were changed."""
    _show_settings(options, changed=changed, json_=json_)


def _show_settings(options: Options, *, changed: bool = False, json_: bool) -> None:
    from pymem.config import MemoryModuleConfig

    defaults = to_json(MemoryModuleConfig.defaults())
    found = {
        name: value
        for name, value in to_json(run(options, lambda memory: memory.current_settings())).items()
        if not changed or (name in defaults and value != defaults[name])
    }
    rows = [
        {
            "setting": name,
            "value": plain_value(value),
            "default": plain_value(defaults[name])
            if name in defaults and value != defaults[name]
            else None,
        }
        for name, value in found.items()
    ]
    columns = ("setting", "value", Column("default, if another", "default", nothing=""))
    render(found, json_, tabulate(rows, *columns) if rows else "all settings are the defaults")
