"""Commands for cron: what has to be done now and then."""

from __future__ import annotations

from datetime import datetime

from pymem.cli.base import (
    Options,
    all_tenants_option,
    as_json,
    as_of_option,
    for_tenants,
    main,
    pass_options,
    print_per_tenant,
    run,
)


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
