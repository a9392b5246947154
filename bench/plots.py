"""Draws the figures kept in bench/results as SVG for the documentation.

latency.svg: each call by the number of facts, beside the floor. scale.svg: recall by the facts of
its tenant, for two sizes of everything. quality.svg: what each step of retrieval finds.

    python bench/plots.py [--results bench/results] [--images docs/images]
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import matplotlib as mpl

mpl.use("svg")

from cycler import cycler
from matplotlib import pyplot as plt
from matplotlib.axes import Axes
from matplotlib.ticker import FuncFormatter, LogLocator, NullLocator

ROOT = Path(__file__).parent.parent

# The qualitative colors of Okabe and Ito, which color-blind readers can tell apart.
COLORS = ["#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9", "#000000"]

STYLE: dict[Any, Any] = {
    "svg.fonttype": "none",  # text stays text
    "svg.hashsalt": "pymem",  # the same figures give the same file
    "font.family": "sans-serif",
    "font.size": 10,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.grid": True,
    "axes.axisbelow": True,
    "grid.color": "#dddddd",
    "grid.linewidth": 0.6,
    "lines.linewidth": 1.8,
    "lines.markersize": 4.5,
    "axes.prop_cycle": cycler(color=COLORS),
    "legend.frameon": False,
    "figure.figsize": (7, 4),
    "figure.constrained_layout.use": True,
    "savefig.facecolor": "white",
}

CALLS = ["recall", "context", "hybrid_search", "semantic_search", "keyword_search", "store_fact"]


def latency(axes: Axes, result: dict[str, Any]) -> None:
    """Draw the median of each call, and the floor of hybrid search, by the number of facts."""
    by_size = {int(size): figures for size, figures in result["figures"].items()}
    sizes = sorted(by_size)
    for name in CALLS:
        axes.plot(sizes, [by_size[size][name]["p50"] for size in sizes], marker="o", label=name)
    floor = [by_size[size]["hybrid, same tables"]["p50"] for size in sizes]
    axes.plot(sizes, floor, "--", color="#888888", label="floor: hybrid search by hand")
    axes.set_xlabel("facts, of 50 tenants")
    axes.set_title("Milliseconds of a call, median", loc="left")
    _logarithmic(axes, sizes)


def scale(axes: Axes, result: dict[str, Any]) -> None:
    """Draw median and 95th percentile of recall by the facts of its tenant."""
    for step, color in zip(result["figures"], COLORS, strict=False):
        by_size = {int(size): own for size, own in step["server_ms"]["recall"].items()}
        sizes = sorted(by_size)
        label = f"{step['facts']:,} facts in all"
        for name, line in (("p50", "o-"), ("p95", "o:")):
            values = [by_size[size][name] for size in sizes]
            axes.plot(sizes, values, line, color=color, label=f"{label}, {name}")
        _logarithmic(axes, sizes)
    axes.set_xlabel("facts of the tenant")
    axes.set_title("Milliseconds of recall in the server", loc="left")


def quality(axes: Axes, result: dict[str, Any]) -> None:
    """Draw what each step finds: recall of the evidence at ten, and mean reciprocal rank."""
    figures = {
        f"{system}, {rendering}" if rendering == "content alone" else system: figure
        for rendering, by in result["figures"].items()
        if rendering != "off topic"
        for system, figure in by.items()
    }
    places = range(len(figures))
    for measure, offset, color in (("R@10", -0.2, COLORS[0]), ("MRR", 0.2, COLORS[5])):
        values = [figure[measure] for figure in figures.values()]
        bars = axes.barh(
            [place + offset for place in places], values, height=0.36, color=color, label=measure
        )
        axes.bar_label(bars, fmt="%.3f", padding=3, fontsize=8)
    axes.set_yticks(list(places), list(figures))
    plt.gcf().set_size_inches(8, 6)
    axes.invert_yaxis()
    axes.set_xlim(0, 1)
    axes.grid(visible=False, axis="y")
    axes.set_title("Evidence found: recall at 10, mean reciprocal rank", loc="left")
    axes.legend(loc="lower right")


def _logarithmic(axes: Axes, sizes: list[int]) -> None:
    axes.set_xscale("log")
    axes.set_yscale("log")
    axes.set_xticks(sizes, [f"{size:,}" for size in sizes])
    axes.xaxis.set_minor_locator(NullLocator())
    axes.yaxis.set_major_locator(LogLocator(subs=(1, 2, 5)))
    axes.yaxis.set_minor_locator(NullLocator())
    axes.yaxis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:g}"))
    axes.legend(fontsize=8)


PLOTS: dict[str, tuple[str, Callable[[Axes, dict[str, Any]], None]]] = {
    "latency": ("latency.json", latency),
    "scale": ("scale.json", scale),
    "quality": ("locomo.json", quality),
}


def main() -> None:
    """Draw what there are figures for."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--results", type=Path, default=ROOT / "bench" / "results")
    parser.add_argument("--images", type=Path, default=ROOT / "docs" / "images")
    arguments = parser.parse_args()
    arguments.images.mkdir(parents=True, exist_ok=True)
    with mpl.rc_context(STYLE):
        for name, (file, draw) in PLOTS.items():
            path = arguments.results / file
            if not path.exists():
                print(f"{path} is missing: no {name}.svg")
                continue
            figure, axes = plt.subplots()
            draw(axes, json.loads(path.read_text()))
            image = arguments.images / f"{name}.svg"
            # Without the date of drawing.
            figure.savefig(image, metadata={"Date": None})
            plt.close(figure)
            print(image)


if __name__ == "__main__":
    main()
