"""Elements of SVG with their text escaped; nothing is styled inline, which the pages forbid."""

from __future__ import annotations

from typing import Any

from markupsafe import Markup, escape

from pymem.ui.shown import visible


def element(name: str, /, *children: Any, **attributes: Any) -> Markup:
    """Return an element; an attribute that is None is left out.

    Args:
        name: Name of the element.
        children: Elements (Markup) and texts.
        attributes: ``class_`` is class, and other underscores are hyphens.
    """
    written = "".join(
        f' {key.rstrip("_").replace("_", "-")}="{_written(value)}"'
        for key, value in attributes.items()
        if value is not None
    )
    inside = "".join(
        child if isinstance(child, Markup) else escape(visible(str(child))) for child in children
    )
    # Names are constants of this package, and all else is escaped above.
    return Markup(f"<{name}{written}>{inside}</{name}>")  # noqa: S704


def _written(value: Any) -> str:
    if isinstance(value, int):
        return str(value)
    if isinstance(value, float):
        return f"{value:.3f}".rstrip("0").rstrip(".")
    return escape(visible(str(value)))


def percent(share: float) -> str:
    """Return a share, 0..1, as a length."""
    return f"{_written(100.0 * share)}%"


def drawing(*children: Any, name: str, **attributes: Any) -> Markup:
    """Return a drawing with a name for those who do not see it."""
    return element("svg", *children, role="img", aria_label=name, **attributes)
