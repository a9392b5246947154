"""Hints as people read them at the command line: commands instead of SQL functions."""

from __future__ import annotations

import re

import click

from pymem.cli.base import main
from pymem.hints import CALL, read_arguments, rewrite_calls, words_of

_COMMANDS = {
    "accept_proposals": "review --accept",
    "archive_entry": "entries archive",
    "calibrate_similarity": "calibrate",
    "consolidate_entries": "entries consolidate",
    "create_access_token": "token create",
    "create_entry": "entries new",
    "create_link": "link",
    "erase_subject": "erase",
    "find_ids": "list",
    "keyword_search": "search --mode keyword",
    "list_access_tokens": "token list",
    "list_consolidation_runs": "runs",
    "list_memories": "list",
    "measure_index_recall": "check-vectors",
    "preview_proposals": "review",
    "rebuild_vector_indexes": "reindex",
    "reject_proposals": "review --reject",
    "release_run": "release",
    "requeue_episodes": "requeue",
    "revert_inversion": "hygiene --revert",
    "revoke_access_token": "token revoke",
    "run_decay_sweep": "sweep",
    "run_episode_cleanup": "cleanup",
    "run_rule_hygiene": "hygiene",
    "seal_events": "hygiene",
    "store_episodes": "ingest",
    "undo_consolidation": "undo",
    "undo_entry_merge": "entries undo-merge",
    "undo_event": "undo",
    "undo_preview_event": "undo --preview",
    "verify_chain": "verify",
}
"""The commands that call functions of which there is no tool."""

# A statement for psql, of a whole call.
_STATEMENT = re.compile(rf"select (?:\w+ from )?({CALL.pattern});?")  # noqa: S608 - a pattern


def hint_for_people(hint: str) -> str:
    """Return a hint that names commands where there are any; the rest is for psql."""
    if "memory.for_request" in hint or "memory.set_request" in hint:
        return "Name the tenant: pymem --tenant NAME."
    if not CALL.search(hint):
        return hint
    commands = commands_by_function()

    def write(function: str, arguments: str | None) -> str | None:
        return None if function not in commands else _written(commands[function], arguments)

    hint = _STATEMENT.sub(lambda found: write(found[2], found[3]) or found[0], hint)
    return rewrite_calls(hint, write)


def name_options(text: str, command: click.Command | None) -> str:
    """Return a message with the options of a command instead of the arguments they stand for."""
    written: dict[str, str] = {}
    for each in command.params if command else ():
        name = "max_results" if each.name == "limit" else str(each.name)
        is_option = isinstance(each, click.Option)
        written[name] = max(each.opts, key=len) if is_option else each.human_readable_name
    # A name without an underscore is a word, too.
    return re.sub(r"\b[a-z]+(?:_[a-z]+)+\b", lambda word: written.get(word[0], word[0]), text)


def commands_by_function() -> dict[str, str]:
    """Return the command that calls a function of the schema, by the name of the function."""
    from pymem.cli.memories import COMMANDS, OTHERWISE
    from pymem.tools import TOOLS

    command_of = {each.tool: each.name for each in COMMANDS} | OTHERWISE
    return {tool.function or tool.name: command_of[tool.name] for tool in TOOLS} | _COMMANDS


def find_command(name: str) -> click.Command:
    """Return the command of a name that may go on with options."""
    found: click.Command = main
    for word in name.split():
        if not isinstance(found, click.Group):
            break
        inner = found.get_command(click.Context(found), word)
        if inner is None:
            raise KeyError(name)
        found = inner
    return found


def _written(name: str, arguments: str | None) -> str:
    """Return a command with the arguments of a call, as far as it takes them."""
    parameters = {each.name: each for each in find_command(name).params}
    words = [f"`pymem {name}"]
    for key, value in read_arguments(arguments):
        if key is None:
            words.append(value.strip("'") if value.startswith("'") else value.upper())
        elif isinstance(option := parameters.get(key), click.Option):
            words += [f"{option.opts[0]} {word}" for word in words_of(value) or [value.strip("'")]]
    return f"{' '.join(words)}`"
