"""Commands for access tokens, with which clients reach the memory over HTTP."""

from __future__ import annotations

import re
from datetime import timedelta
from typing import Any, get_args

import click

from pymem import display
from pymem.cli.base import Options, command, main, run, tell
from pymem.errors import NotFoundError
from pymem.models import TokenRole


def _parse_duration(text: str) -> timedelta:
    units = {"h": timedelta(hours=1), "d": timedelta(days=1), "w": timedelta(weeks=1)}
    matched = re.fullmatch(r"([0-9]{1,5})([hdw])", text)
    if matched is None:
        raise click.BadParameter(f"{text!r} is no duration such as 12h, 90d or 4w")
    return int(matched[1]) * units[matched[2]]


@main.group()
def token() -> None:
    """Make, list and revoke the tokens of a tenant, for `pymem mcp --transport http`.

    For a login with the role memory_admin.
    """


@command(token)
@click.option("--name", required=True, help="What it is for, such as laptop.")
@click.option(
    "--role",
    required=True,
    type=click.Choice(get_args(TokenRole)),
    help="reader: searches; writer: also stores; worker: also maintenance; admin: everything.",
)
@click.option("--actor", help="Who acts by it, for the audit; default: the name.")
@click.option(
    *("--expires", "expires_in"),
    type=_parse_duration,
    metavar="DURATION",
    help="After how long, such as 12h or 4w; default 90d.",
)
def create(options: Options, json_: bool, **wanted: Any) -> None:
    """Make a token and print it: this once, for only its digest is kept."""
    made = run(options, lambda memory: memory.create_access_token(**wanted))
    tell(made, json_, made.token)
    if not json_:
        expires_at = display.moment(made.expires_at)
        told = f"id {made.id}, expires {expires_at}; keep the token now, it is not shown again"
        click.echo(told, err=True)


@command(token, "list")
def list_(options: Options, json_: bool) -> None:
    """List the tokens, newest first, without the secrets."""
    columns = ("id", "name", "role", "actor", "status", "expires_at", "last_used_on")
    tokens = run(options, lambda memory: memory.list_access_tokens())
    tell(tokens, json_, display.tabulate(tokens, *columns))


@command(token)
@click.argument("token_id", metavar="ID")
def revoke(options: Options, token_id: str, json_: bool) -> None:
    """End a token: whoever has it is refused from now on."""
    if not run(options, lambda memory: memory.revoke_access_token(token_id)):
        raise NotFoundError(f"no token has id {token_id}", hint="Find ids with `pymem token list`.")
    tell({"id": token_id, "revoked": True}, json_, "revoked")
