"""Templates: what they print is escaped, and what is invisible in it is written out."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from datetime import date, datetime, tzinfo
from functools import cache
from importlib.resources import files
from typing import Any
from uuid import UUID

from jinja2 import Environment, PackageLoader, StrictUndefined
from markupsafe import Markup
from starlette.responses import HTMLResponse

from pymem.models import to_json
from pymem.times import far_time
from pymem.ui import PREFIX, charts, wording
from pymem.ui.shown import (
    clip,
    compare_words,
    editable,
    keyed,
    shown,
    visible,
    without_heading,
)
from pymem.ui.svg import element

STATIC = {
    "pymem.css": "text/css; charset=utf-8",
    "pymem.js": "text/javascript; charset=utf-8",
    "htmx.min.js": "text/javascript; charset=utf-8",
    "htmx.LICENSE": "text/plain; charset=utf-8",
    "icon.svg": "image/svg+xml",
}
"""The files that pages load, with their types."""


@cache
def static_file(name: str) -> bytes:
    """Return the content of a file that pages load."""
    return files("pymem.ui").joinpath("static", name).read_bytes()


@cache
def static_link(name: str) -> str:
    """Return the address of such a file, which changes with its content."""
    digest = hashlib.sha256(static_file(name)).hexdigest()[:12]
    return f"{PREFIX}/static/{name}?v={digest}"


def _finalize(value: Any) -> Any:
    """Return what is printed for a value; texts of people become visible, None a dash."""
    if value is None:
        return "–"
    if isinstance(value, Markup):
        return value
    return visible(value) if isinstance(value, str) else value


def _time(at: datetime | date | None, now: datetime, zone: tzinfo) -> Markup | str:
    """Return a time as how long ago it is, with the exact one behind it."""
    if at is None:
        return "–"
    if not isinstance(at, datetime):
        return element("time", wording.day(at, zone), datetime=at.isoformat())
    if said := far_time(at):
        return said
    return element(
        "time",
        wording.ago(at, now),
        datetime=at.isoformat(),
        title=wording.moment(at, zone),
    )


def _pretty_json(value: Any) -> str:
    return json.dumps(to_json(value), ensure_ascii=False, indent=2, sort_keys=True)


def memory_link(memory_type: str, memory_id: UUID | str) -> str:
    """Return the page of a memory or an entity."""
    if memory_type == "entity":
        return f"{PREFIX}/entities/{memory_id}"
    return f"{PREFIX}/m/{memory_type}/{memory_id}"


def _make_environment() -> Environment:
    environment = Environment(
        loader=PackageLoader("pymem.ui"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        auto_reload=False,
        finalize=_finalize,
    )
    environment.filters.update(
        shown=shown,
        editable=editable,
        capital=wording.capital,
        clip=lambda text, length: "–" if text is None else clip(text, length),
        num=wording.number,
        words=wording.words,
        pretty_json=_pretty_json,
        time=_time,
        moment=wording.moment,
        day=wording.day,
        ago=wording.ago,
    )
    environment.globals.update(
        PREFIX=PREFIX,
        compare_words=compare_words,
        keyed=keyed,
        listed=wording.listed,
        memory_link=memory_link,
        meter=charts.meter,
        NAVIGATION=wording.NAVIGATION,
        patterns=charts.PATTERNS,
        plural=wording.plural,
        RELATIONS=wording.RELATIONS,
        STATES=wording.STATES,
        static_link=static_link,
        without_heading=without_heading,
    )
    return environment


ENVIRONMENT = _make_environment()


def render(template: str, status: int, context: Mapping[str, Any]) -> HTMLResponse:
    """Return a page made of a template."""
    return HTMLResponse(ENVIRONMENT.get_template(template).render(context), status)
