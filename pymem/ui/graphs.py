"""A neighborhood of entities as a drawing: the same data give the same picture."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from markupsafe import Markup

from pymem.ui.shown import clip
from pymem.ui.svg import element

MOST_NODES = 60

_WIDTH = 1000
_HEIGHT = 540
_SIDE = 170
_TOP = 34
_NAMED_EDGES = 24
_NAME = 22


@dataclass(frozen=True, slots=True)
class Node:
    """An entity.

    Attributes:
        key: Its id.
        name: Its name.
        kind: person, organization, place or other.
        depth: Steps from the middle, which is 0.
        via: The node by which it was reached; None in the middle.
        relation: The relation by which it was reached, with an arrow.
        link: The page of the node.
    """

    key: str
    name: str
    kind: str
    depth: int
    via: str | None
    relation: str
    link: str


def neighborhood(nodes: Sequence[Node], *, name: str) -> Markup:
    """Return nodes on rings around the first, each near the one by which it was reached."""
    places = _places(nodes[:MOST_NODES])
    lines, labels, dots = [], [], []
    for node in nodes[:MOST_NODES]:
        x, y, angle = places[node.key]
        if node.via in places:
            from_x, from_y, _ = places[node.via]
            lines.append(
                element(
                    "line",
                    element("title", node.relation),
                    class_="edge",
                    x1=from_x,
                    y1=from_y,
                    x2=x,
                    y2=y,
                )
            )
            if len(nodes) <= _NAMED_EDGES:
                labels.append(
                    element(
                        "text",
                        clip(node.relation, _NAME),
                        class_="edge-name",
                        x=from_x + 0.55 * (x - from_x),
                        y=from_y + 0.55 * (y - from_y) + 3,
                        text_anchor="middle",
                    )
                )
        is_left = math.cos(angle) < -0.05 and node.depth > 0
        dots.append(
            element(
                "circle", class_=f"node {node.kind} depth-{node.depth}", cx=x, cy=y, r=_size(node)
            )
        )
        labels.append(
            element(
                "a",
                element(
                    "text",
                    clip(node.name, _NAME),
                    element("title", f"{node.name}: {node.relation or node.kind}"),
                    x=x + (-10 if is_left else 10 if node.depth else 0),
                    y=y + (4 if node.depth else -14),
                    text_anchor="end" if is_left else "start" if node.depth else "middle",
                ),
                href=node.link,
                class_=f"depth-{node.depth}",
            )
        )
    return element(
        "svg",
        *lines,
        *dots,
        *labels,
        class_="graph",
        viewBox=f"0 0 {_WIDTH} {_HEIGHT}",
        role="group",
        aria_label=name,
    )


def _size(node: Node) -> float:
    return (9.0, 6.0, 4.0)[min(node.depth, 2)]


def _places(nodes: Sequence[Node]) -> dict[str, tuple[float, float, float]]:
    """Return the place and angle of each node: children share the angle of their parent."""
    children: dict[str, list[Node]] = {}
    depths = {node.key: node.depth for node in nodes}
    for node in nodes:
        if node.via is not None and node.depth > depths.get(node.via, node.depth):
            children.setdefault(node.via, []).append(node)
    sizes: dict[str, int] = {}
    for node in sorted(nodes, key=lambda node: -node.depth):
        sizes[node.key] = max(
            1, sum(sizes.get(child.key, 1) for child in children.get(node.key, ()))
        )
    deepest = max([1, *(node.depth for node in nodes)])
    middle = (_WIDTH / 2, _HEIGHT / 2)
    places: dict[str, tuple[float, float, float]] = {}
    if not nodes:
        return places

    def place(node: Node, start: float, end: float) -> None:
        angle = (start + end) / 2
        share = node.depth / deepest
        places[node.key] = (
            round(middle[0] + math.cos(angle) * share * (_WIDTH / 2 - _SIDE), 1),
            round(middle[1] + math.sin(angle) * share * (_HEIGHT / 2 - _TOP), 1),
            angle,
        )
        at = start
        below = children.get(node.key, ())
        total = sum(sizes[child.key] for child in below)
        for child in below:
            width = (end - start) * sizes[child.key] / total
            place(child, at, at + width)
            at += width

    place(nodes[0], -math.pi / 2, 1.5 * math.pi)
    for position, node in enumerate(nodes):
        # Reached by one that is not among them.
        if node.key not in places:
            angle = 2 * math.pi * position / len(nodes)
            places[node.key] = (
                round(middle[0] + math.cos(angle) * (_WIDTH / 2 - _SIDE), 1),
                round(middle[1] + math.sin(angle) * (_HEIGHT / 2 - _TOP), 1),
                angle,
            )
    return places
