"""Commands for access tokens, which clients use over HTTP."""

from __future__ import annotations

import re
from datetime import timedelta
from typing import Any, get_args

import click

from pymem import display
from pymem.cli.base import Options, command, main, render, run
from pymem.cli.ids import Id
from pymem.errors import NotFoundError
from pymem.models import TokenRole


def _parse_duration(text: str) -> timedelta:
    units = {"h": timedelta(hours=1), "d": timedelta(days=1), "w": timedelta(weeks=1)}
    matched = re.fullmatch(r"([0-9]{1,5})([hdw])", text)
    if matched is None:
        raise click.BadParameter(f"{text!r} is not a duration such as 12h, 90d or 4w")
    return int(matched[1]) * units[matched[2]]


@main.group()
def token() -> None:
    """Create, list and revoke a tenant's tokens for `pymem mcp --transport http`.

    Requires a login with the role memory_admin.
    """


@command(token)
@click.option("--name", required=True, help="What the token is for, such as laptop.")
@click.option(
    "--role",
    required=True,
    type=click.Choice(get_args(TokenRole)),
    help="reader: search; writer: also store; worker: also maintenance; admin: everything.",
)
@click.option("--actor", help="Actor recorded in the audit stream; default: the name.")
@click.option(
    *("--expires", "expires_in"),
    type=_parse_duration,
    metavar="DURATION",
    help="Lifetime, such as 12h or 4w; default: 90d.",
)
def create(options: Options, json_: bool, **wanted: Any) -> None:
    """Create a token and print it once; only its digest is stored."""
    made = run(options, lambda memory: memory.create_access_token(**wanted))
    render(made, json_, made.token)
    if not json_:
        expires_at = display.moment(made.expires_at)
        note = f"id {made.id}, expires {expires_at}; save the token now, it is not shown again"
        click.echo(note, err=True)


@command(token, "list")
def list_(options: Options, json_: bool) -> None:
    """List the tokens, newest first, without the secrets."""
    columns = ("id", "name", "role", "actor", "status", "expires_at", "last_used_on")
    tokens = run(options, lambda memory: memory.list_access_tokens())
    render(tokens, json_, display.tabulate(tokens, *columns))


@command(token)
@click.argument("token_id", type=Id("token"), metavar="ID")
def revoke(options: Options, token_id: str, json_: bool) -> None:
    """Revoke a token: requests with it are rejected from now on."""
    if not run(options, lambda memory: memory.revoke_access_token(token_id)):
        raise NotFoundError(f"no token has id {token_id}", hint="Find ids with `pymem token list`.")
    render({"id": token_id, "revoked": True}, json_, "revoked")
