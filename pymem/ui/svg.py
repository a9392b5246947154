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
    written = Markup("").join(
        Markup(' {}="{}"').format(_name(key), _value(value))
        for key, value in attributes.items()
        if value is not None
    )
    inside = Markup("").join(
        child if isinstance(child, Markup) else escape(visible(str(child))) for child in children
    )
    return Markup("<{0}{1}>{2}</{0}>").format(Markup(name), written, inside)  # noqa: S704 - a constant


def _name(key: str) -> str:
    return key.rstrip("_").replace("_", "-")


def _value(value: Any) -> str:
    if isinstance(value, float):
        return f"{value:.3f}".rstrip("0").rstrip(".")
    return visible(str(value))


def percent(share: float) -> str:
    """Return a share, 0..1, as a length."""
    return f"{_value(100 * share)}%"


def drawing(*children: Any, name: str, **attributes: Any) -> Markup:
    """Return a drawing with a name for those who do not see it."""
    return element("svg", *children, role="img", aria_label=name, **attributes)
