"""Commands for entities: who and what facts are about."""

from __future__ import annotations

from datetime import datetime
from typing import Any

import click

from pymem import display
from pymem.cli.base import (
    Options,
    as_json,
    as_of_option,
    json_object,
    main,
    no_memory,
    pass_options,
    print_json,
    print_table,
    run,
)
from pymem.memory import Memory
from pymem.models import to_json


@main.group()
def entity() -> None:
    """Make, find and merge entities: who and what facts are about."""


entity_types = click.Choice(["person", "organization", "place", "other"])
entity_id_argument = click.argument("entity_id", metavar="ID")


@entity.command()
@click.argument("canonical_name", metavar="NAME")
@click.option("--type", "entity_type", type=entity_types, required=True, help="What it is.")
@click.option("--alias", "aliases", multiple=True, help="Another name of it; may be repeated.")
@click.option("--metadata", help="JSON object to keep with it.")
@as_of_option
@as_json
@pass_options
def create(
    options: Options,
    canonical_name: str,
    entity_type: Any,
    aliases: tuple[str, ...],
    metadata: str | None,
    as_of: datetime | None,
    json_: bool,
) -> None:
    """Make an entity and print its id.

    NAME is the full name it goes by. Look first with `pymem entity resolve` whether there is one.
    """
    parsed = json_object("--metadata", metadata)
    created = run(
        options,
        lambda memory: memory.entity_create(
            canonical_name,
            entity_type,
            aliases=list(aliases),
            metadata=parsed,
            as_of=as_of,
        ),
    )
    if json_:
        print_json({"entity_id": created})
    else:
        click.echo(str(created))


@entity.command()
@entity_id_argument
@as_json
@pass_options
def show(options: Options, entity_id: str, json_: bool) -> None:
    """Show one entity, in whatever state.

    active_facts is how many facts are about it. Of one that was merged away, merged_into is the
    entity that stands for it now.
    """
    found = run(options, lambda memory: memory.entity_get(entity_id))
    if found is None:
        raise no_memory("entity", entity_id)
    if json_:
        print_json(found)
    else:
        print_table(display.record(to_json(found)))


@entity.command()
@entity_id_argument
@click.option("--name", "canonical_name", help="The new name.")
@click.option(
    "--alias",
    "aliases",
    multiple=True,
    help="Another name of it; may be repeated. All together replace those there are.",
)
@click.option("--no-aliases", is_flag=True, help="Leave it no other name.")
@click.option("--metadata", help="JSON object; its keys are merged into those there are.")
@as_of_option
@as_json
@pass_options
def update(
    options: Options,
    entity_id: str,
    canonical_name: str | None,
    aliases: tuple[str, ...],
    no_aliases: bool,
    metadata: str | None,
    as_of: datetime | None,
    json_: bool,
) -> None:
    """Change the names or metadata of an entity.

    What is left out stays as it is.
    """
    if aliases and no_aliases:
        raise click.UsageError("--no-aliases contradicts --alias")
    if canonical_name is None and metadata is None and not aliases and not no_aliases:
        raise click.UsageError(
            "there is nothing to change: pass --name, --alias, --no-aliases or --metadata"
        )
    parsed = json_object("--metadata", metadata)
    updated = run(
        options,
        lambda memory: memory.entity_update(
            entity_id,
            canonical_name=canonical_name,
            aliases=list(aliases) if aliases or no_aliases else None,
            metadata=parsed,
            as_of=as_of,
        ),
    )
    if not updated:
        raise no_memory("entity", entity_id)
    if json_:
        print_json({"entity_id": entity_id, "updated": True})
    else:
        click.echo("updated")


@entity.command()
@click.argument("name")
@click.option("--type", "entity_type", type=entity_types, help="Only entities of this type.")
@click.option("--topic", help="What the talk is about.")
@click.option(
    "--mentioned-with", multiple=True, help="A name that was mentioned with it; may be repeated."
)
@click.option(
    "--fuzzy",
    is_flag=True,
    help="Also names that are only similar, such as misspelt ones; needs pg_trgm.",
)
@click.option("--limit", type=int, default=20, show_default=True)
@as_json
@pass_options
def resolve(
    options: Options,
    name: str,
    entity_type: Any,
    topic: str | None,
    mentioned_with: tuple[str, ...],
    fuzzy: bool,
    limit: int,
    json_: bool,
) -> None:
    """Show whom or what NAME may mean.

    NAME is whole or a part, whatever its case and accents; what fits best comes first. What facts
    about an entity have in common with --topic and --mentioned-with adds to its score.
    """
    found = run(
        options,
        lambda memory: memory.entity_resolve(
            name,
            entity_type=entity_type,
            context_hints={"topic": topic, "mentioned_with": list(mentioned_with)},
            enable_fuzzy=fuzzy,
            max_results=limit,
        ),
    )
    if json_:
        print_json(found)
    elif found:
        print_table(display.resolved_entities(found))
    else:
        click.echo("no entity fits")
    if not found:
        wider = ("" if fuzzy else ", --fuzzy") + ("" if entity_type is None else ", no --type")
        click.echo(
            f"hint: Try another name{wider}, or make one with `pymem entity create`.", err=True
        )


@entity.command()
@click.argument("source_entity_id", metavar="SOURCE_ID")
@click.argument("target_entity_id", metavar="TARGET_ID")
@as_of_option
@as_json
@pass_options
def merge(
    options: Options,
    source_entity_id: str,
    target_entity_id: str,
    as_of: datetime | None,
    json_: bool,
) -> None:
    """Merge an entity into another one.

    Both are the same, and the target stays: what is known about the source becomes known about
    it. Of two facts with the same scope and predicate the surer one stays. `pymem entity unmerge
    SOURCE_ID` takes it back.
    """
    merged = run(
        options,
        lambda memory: memory.entity_merge(source_entity_id, target_entity_id, as_of=as_of),
    )
    if json_:
        print_json(
            {
                "source_entity_id": source_entity_id,
                "target_entity_id": target_entity_id,
                **to_json(merged),
            }
        )
        return
    click.echo(
        f"merged: facts moved {merged.facts_repointed}, superseded {merged.facts_superseded}, of "
        f"the past {merged.historical_facts_moved}; mentions moved {merged.mentions_repointed}; "
        f"aliases taken over {merged.aliases_added}"
    )


@entity.command()
@entity_id_argument
@as_of_option
@as_json
@pass_options
def unmerge(options: Options, entity_id: str, as_of: datetime | None, json_: bool) -> None:
    """Take the merge of an entity back.

    ID is that of the source, which is an entity of its own again. What was stored about the
    target since the merge stays with the target.
    """
    unmerged = run(options, lambda memory: memory.entity_unmerge(entity_id, as_of=as_of))
    if json_:
        print_json({"entity_id": entity_id, **to_json(unmerged)})
        return
    click.echo(
        f"unmerged from {unmerged.target_entity_id}: facts returned {unmerged.facts_returned}, "
        f"active again {unmerged.facts_reactivated}, kept {unmerged.facts_kept}; mentions "
        f"returned {unmerged.mentions_returned}; names removed {unmerged.aliases_removed}"
    )


@entity.command()
@entity_id_argument
@click.option(
    "--depth", type=int, default=1, show_default=True, help="How many steps away at most, 1 to 5."
)
@click.option("--limit", type=int, default=50, show_default=True)
@as_json
@pass_options
def neighbors(options: Options, entity_id: str, depth: int, limit: int, json_: bool) -> None:
    """Show the entities around one.

    Those that facts connect with it, the nearest first.
    """

    async def work(memory: Memory) -> Any:
        rows = await memory.entity_neighbors(entity_id, depth, limit)
        # Around an entity that is unknown or was merged away there is nothing either.
        return rows, None if rows else await memory.entity_get(entity_id)

    rows, lonely = run(options, work)
    if not rows and lonely is None:
        raise no_memory("entity", entity_id)
    if json_:
        print_json(rows)
    elif rows:
        print_table(display.neighbors(rows))
    else:
        click.echo("no neighbors")
    if lonely is not None and lonely.merged_into is not None:
        click.echo(f"hint: It was merged into entity {lonely.merged_into}: use that one.", err=True)
