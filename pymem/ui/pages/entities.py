"""People, things and places: their names, what is near them, and which are the same."""

from __future__ import annotations

import asyncio
from typing import Any
from uuid import UUID

from starlette.responses import Response

from pymem.errors import NotFoundError
from pymem.models import Entity, Neighbor
from pymem.ui import graphs
from pymem.ui.page import Page, require
from pymem.ui.rendering import memory_link
from pymem.ui.shown import clip
from pymem.ui.viewer import Viewer

_PAGE = 50
_FACTS = 20
KINDS = ("person", "organization", "place", "other")


async def list_entities(page: Page) -> Response:
    """Show the entities by name, and pairs that may be the same."""
    query = page.query
    text = query.text("q") or None
    kind = query.choice("type", ("any", *KINDS), "any")
    state = query.choice("state", ("active", "merged", "any"), "active")
    after = query.text("after") or None
    if address := query.canonical:
        return page.redirect(address)
    viewer = page.viewer
    rows, suggestions = await asyncio.gather(
        viewer.load(
            viewer.reading.list_entities(
                query=text,
                types=None if kind == "any" else [kind],
                states=None if state == "any" else [state],
                after=after,
                max_results=_PAGE,
            )
        ),
        viewer.load(viewer.reading.merge_suggestions(max_results=10)),
    )
    found = rows.value or []
    return page.render(
        "entities.html",
        rows=rows,
        suggestions=suggestions,
        kinds=[("any", "Any type"), *((each, each) for each in KINDS)],
        kind=kind,
        state=state,
        next=query.link(after=found[-1].cursor) if len(found) == _PAGE else None,
    )


async def _get(viewer: Viewer, entity_id: str) -> Entity:
    try:
        known = UUID(entity_id)
    except ValueError as error:
        raise NotFoundError(f"no entity has the id {clip(entity_id, 60)}") from error
    found = await viewer.turn(viewer.reading.entity_get(known))
    if found is None:
        raise NotFoundError(
            f"no entity has the id {clip(entity_id, 60)}",
            hint="It was erased, or it belongs to another tenant.",
        )
    return found


async def show_entity(page: Page) -> Response:
    """Show an entity with its facts and its neighborhood."""
    depth = page.query.whole("depth", 1, low=1, high=2)
    if address := page.query.canonical:
        return page.redirect(address)
    viewer = page.viewer
    entity = await _get(viewer, page.parameter("entity_id"))
    facts, neighbors, events = await asyncio.gather(
        viewer.load(
            viewer.reading.list_memories(types=["fact"], entity_id=entity.id, max_results=_FACTS)
        ),
        viewer.load(viewer.reading.entity_neighbors(entity.id, depth, graphs.MOST_NODES - 1)),
        viewer.load(viewer.reading.list_events(memory_id=entity.id, max_results=10)),
    )
    near = neighbors.value or []
    return page.render(
        "entity.html",
        entity=entity,
        facts=facts,
        neighbors=neighbors,
        events=events,
        depth=depth,
        graph=_draw(entity, near) if near else None,
        names={row.entity_id: row.canonical_name for row in near}
        | {entity.id: entity.canonical_name},
        is_capped=len(near) >= graphs.MOST_NODES - 1,
        kinds=KINDS,
    )


def _draw(entity: Entity, near: list[Neighbor]) -> Any:
    nodes = [
        graphs.Node(
            str(entity.id), entity.canonical_name, entity.entity_type, 0, None, "", "#main"
        ),
        *(
            graphs.Node(
                str(row.entity_id),
                row.canonical_name,
                row.entity_type,
                row.depth,
                str(row.via_entity_id),
                f"{'→' if row.direction == 'outgoing' else '←'} {row.relation.replace('_', ' ')}",
                memory_link("entity", row.entity_id),
            )
            for row in near
        ),
    ]
    return graphs.neighborhood(
        nodes, name=f"{entity.canonical_name} and {len(near)} entities near it"
    )


async def show_merge(page: Page) -> Response:
    """Show what a merge would do."""
    query = page.query
    source_id, target_id = query.uuid("source"), query.uuid("target")
    require(
        source_id is not None and target_id is not None and not query.errors,
        "two entities are needed",
        "Choose the other one on the page of an entity.",
    )
    viewer = page.viewer
    source = await _get(viewer, str(source_id))
    target = await _get(viewer, str(target_id))
    preview = await viewer.load(viewer.reading.merge_preview(source.id, target.id))
    return page.render("merge.html", source=source, target=target, preview=preview)


async def merge(page: Page) -> Response:
    """Merge two entities."""
    source_id, target_id = page.fields.text("source"), page.fields.text("target")
    await page.viewer.turn(
        page.viewer.acting("merge", 0).entity_merge(source_id, target_id),
        page.viewer.role_of("merge"),
    )
    return page.done("merge", back=memory_link("entity", target_id))


async def unmerge(page: Page) -> Response:
    """Make the source of a merge an entity of its own again."""
    entity_id = page.parameter("entity_id")
    await page.viewer.turn(
        page.viewer.acting("unmerge", 0).entity_unmerge(entity_id), page.viewer.role_of("unmerge")
    )
    return page.done("unmerge", back=memory_link("entity", entity_id))


async def rename(page: Page) -> Response:
    """Change the names of an entity."""
    fields = page.fields
    is_there = await page.viewer.turn(
        page.viewer.acting("rename", 0).entity_update(
            page.parameter("entity_id"),
            canonical_name=fields.text("canonical_name", required=True),
            aliases=fields.words("aliases"),
        ),
        page.viewer.role_of("rename"),
    )
    if not is_there:
        raise NotFoundError("this entity does not exist any more")
    return page.done("rename")


async def create(page: Page) -> Response:
    """Create an entity."""
    fields = page.fields
    made = await page.viewer.turn(
        page.viewer.acting("store", 0).entity_create(
            fields.text("canonical_name", required=True),
            fields.choice("entity_type", KINDS),  # type: ignore[arg-type]
            aliases=fields.words("aliases"),
        ),
        page.viewer.role_of("store"),
    )
    return page.done("create_entity", back=memory_link("entity", made), parts=0)


PAGES = (
    ("/entities", list_entities),
    ("/entities/merge", show_merge),
    ("/entities/{entity_id}", show_entity),
)
WRITES = (
    ("/entities", create, "store"),
    ("/entities/merge", merge, "merge"),
    ("/entities/{entity_id}/unmerge", unmerge, "unmerge"),
    ("/entities/{entity_id}/rename", rename, "rename"),
)
