"""Commands for access tokens, with which clients reach the memory over HTTP."""

from __future__ import annotations

import re
from datetime import timedelta
from typing import Any

import click

from pymem import display
from pymem.cli.base import (
    Options,
    as_json,
    main,
    pass_options,
    print_json,
    print_table,
    run,
)
from pymem.errors import NotFoundError


class _Duration(click.ParamType[timedelta]):
    name = "duration"

    def convert(
        self, value: Any, param: click.Parameter | None, ctx: click.Context | None
    ) -> timedelta:
        if isinstance(value, timedelta):
            return value
        units = {"h": timedelta(hours=1), "d": timedelta(days=1), "w": timedelta(weeks=1)}
        matched = re.fullmatch(r"([0-9]{1,5})([hdw])", value)
        if matched is None:
            self.fail(f"{value!r} is no duration such as 12h, 90d or 4w", param, ctx)
        return int(matched[1]) * units[matched[2]]


@main.group()
def token() -> None:
    """Make, list and revoke the tokens of a tenant, for `pymem mcp --transport http`.

    For a login with the role memory_admin.
    """


@token.command()
@click.option("--name", required=True, help="What it is for, such as laptop.")
@click.option(
    "--role",
    required=True,
    type=click.Choice(["reader", "writer", "worker", "admin"]),
    help="reader: searches; writer: also stores; worker: also maintenance; admin: everything.",
)
@click.option("--actor", help="Who acts by it, for the audit; default: the name.")
@click.option("--expires", type=_Duration(), help="After how long, such as 12h or 4w; default 90d.")
@as_json
@pass_options
def create(
    options: Options,
    name: str,
    role: Any,
    actor: str | None,
    expires: timedelta | None,
    json_: bool,
) -> None:
    """Make a token and print it: this once, for only its digest is kept."""
    made = run(
        options,
        lambda memory: memory.create_access_token(name, role, actor=actor, expires_in=expires),
    )
    if json_:
        print_json(made)
        return
    click.echo(made.token)
    click.echo(
        f"id {made.id}, expires {display.moment(made.expires_at)}; keep the token now, it is not "
        "shown again",
        err=True,
    )


@token.command("list")
@as_json
@pass_options
def list_(options: Options, json_: bool) -> None:
    """List the tokens, newest first, without the secrets."""
    tokens = run(options, lambda memory: memory.list_access_tokens())
    if json_:
        print_json(tokens)
    else:
        print_table(display.access_tokens(tokens))


@token.command()
@click.argument("token_id", metavar="ID")
@as_json
@pass_options
def revoke(options: Options, token_id: str, json_: bool) -> None:
    """End a token: whoever has it is refused from now on."""
    if not run(options, lambda memory: memory.revoke_access_token(token_id)):
        raise NotFoundError(f"no token has id {token_id}", hint="Find ids with `pymem token list`.")
    if json_:
        print_json({"id": token_id, "revoked": True})
    else:
        click.echo("revoked")
