"""What the interval of a row generalises over, and which rows decide."""

from __future__ import annotations

from typing import Literal

import polars as pl

__all__ = ["RANGES", "Range", "range_text", "rows_of_range"]

Range = Literal["prompts", "other_prompts", "stereotypes"]

#: Range → as it is printed.
RANGES: dict[Range, str] = {
    "prompts": "in these prompts",
    "other_prompts": "in other prompts",
    "stereotypes": "for other stereotypes",
}

#: In `conditional_on`, what had one level only → what of other prompts is open.
_OPEN = {
    "one wording": "other wordings",
    "one order": "the other order",
    "one version": "other versions",
    "one marginalized word": "other words",
    "one default word": "other words",
}


def rows_of_range(estimates: pl.DataFrame, range_name: Range) -> pl.DataFrame:
    """Return the rows of one range; `estimates` have columns of `results.ESTIMATES`."""
    return estimates.filter(range=range_name)


def range_text(range_name: Range, conditional_on: str | None) -> str:
    """Print a range, with what of it is open where a source of variation had one level only."""
    levels = (conditional_on or "").split(", ")
    facets = dict.fromkeys(_OPEN[level] for level in levels if level in _OPEN)
    if range_name == "prompts" or not facets:
        return RANGES[range_name]
    return f"{RANGES[range_name]} (open: {', '.join(facets)})"
