"""Colours and type of the charts.

A chart names its colours as CSS variables (``var(--ink)``), so that in the page one drawing
follows the light, dark and print schemes of ``report.css``. Files that stand alone get the
light values of the same style sheet (`svg`).
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable
from functools import cache
from importlib.resources import files
from itertools import cycle
from typing import Any

_CATEGORIES = ("race", "gender", "religion", "health")
_FONT = "system-ui, -apple-system, 'Segoe UI', Roboto, 'Helvetica Neue', Arial, sans-serif"

#: Classes of a share of the marginalized group: around the middle one it is neutral.
HEAT_STEPS = (0.1, 0.25, 0.4, 0.6, 0.75, 0.9)
HEAT = tuple(f"var(--heat-{step})" for step in range(len(HEAT_STEPS) + 1))

#: Five classes of a share that has no neutral value, from few to many.
YES = tuple(f"var(--yes-{step})" for step in range(5))

#: Ten classes of an activation, from none to all.
ACTIVATION = tuple(f"var(--active-{step})" for step in range(10))

#: The size of the letters of labels.
LABEL_SIZE = 12

CONFIG: dict[str, Any] = {
    "background": None,
    "font": _FONT,
    "view": {"stroke": None},
    "axis": {
        "labelColor": "var(--ink)",
        "titleColor": "var(--soft)",
        "titleFontWeight": "normal",
        "titlePadding": 8,
        "gridColor": "var(--grid)",
        "domainColor": "var(--line)",
        "tickColor": "var(--line)",
        "labelFontSize": LABEL_SIZE,
        "titleFontSize": 12,
        # 0: no label is cut; `svg.draw` makes room for what is longer than its place.
        "labelLimit": 0,
    },
    "header": {"labelColor": "var(--ink)", "labelFontSize": 13, "labelLimit": 0, "title": None},
    "legend": {
        "labelColor": "var(--ink)",
        "titleColor": "var(--soft)",
        "titleFontWeight": "normal",
        "labelFontSize": 12,
        "titleFontSize": 12,
        "orient": "top",
        "titleLimit": 500,
        "labelLimit": 0,
    },
    "title": {"color": "var(--ink)", "anchor": "start", "frame": "group", "fontSize": 13},
}


#: Letters that are narrower or wider than others, in DejaVu Sans.
_NARROW, _WIDE = frozenset(" ijlftrI.,:;'|!/()[]-·’"), frozenset("mwMW@%…—→<>=+−±×÷~#&^")


def text_width(text: str, size: float, *, bold: bool = False) -> float:
    """Return how wide a text may be, in pixels, in the widest of the usual fonts, DejaVu Sans.

    Drawings are laid out with a narrower font than some readers have: Linux shows DejaVu Sans.
    """
    ems = sum(map(_letter_width, text))
    return ems * size * (1.12 if bold else 1.0)


def _letter_width(letter: str) -> float:
    """Return the width of a letter in ems."""
    if letter in _NARROW:
        return 0.42
    if letter in _WIDE or unicodedata.east_asian_width(letter) in ("W", "F"):
        return 1.0
    return 0.78 if letter.isupper() else 0.64


@cache
def stylesheet() -> str:
    """Return the style sheet of the page."""
    return (files("clinometer.pieces") / "templates" / "report.css").read_text(encoding="utf-8")


def category_colors(categories: Iterable[str]) -> dict[str, str]:
    """Assign each category its colour; those no paper knows take the spare ones in turn."""
    spare = cycle(f"var(--other-{number})" for number in range(1, 5))
    colors = {}
    for name in dict.fromkeys(categories):
        has_color = name.lower() in _CATEGORIES
        colors[name] = f"var(--{name.lower()})" if has_color else next(spare)
    return colors


def line_styles(count: int) -> list[dict[str, Any]]:
    """Return colour, dash and shape of several lines, which differ without colour too."""
    colors = ("gender", "race", "religion", "health", "other-1", "other-2", "other-3", "other-4")
    dashes = ([1, 0], [8, 3], [4, 2], [9, 3, 2, 3])
    shapes = ("circle", "square", "triangle-up", "diamond", "cross", "triangle-down")
    styles = []
    for index in range(count):
        rounds, color = divmod(index, len(colors))
        style = {
            "color": f"var(--{colors[color]})",
            # Each round of the colours begins with another dash: both have a common divisor.
            "dash": dashes[(index + rounds) % len(dashes)],
            "shape": shapes[index % len(shapes)],
        }
        styles.append(style)
    return styles


@cache
def light() -> dict[str, str]:
    """Return the colours of the light scheme by name."""
    # The first rule of the style sheet is that of the light scheme.
    block = stylesheet().split("{", 1)[1].split("}", 1)[0]
    return dict(re.findall(r"--([\w-]+):\s*(#[0-9a-f]{6})", block))
