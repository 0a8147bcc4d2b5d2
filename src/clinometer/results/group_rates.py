"""How two groups fare by the same answers: what a mean is in people, for instruments that can say.

An instrument that decides about people lists this table among its `details`. A finding then says
its direction in people: *men are called back 2.8 times as often as women (77 and 28 of 100)*.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import polars as pl

from clinometer.numbers import number
from clinometer.results.columns import CONDITIONS, columns, typed_columns
from clinometer.results.schemas import Table

#: What rates of people are counted in; others are means on a scale of points.
PER_HUNDRED = "of 100"

#: From this ratio on it is said how many times as often; below it rounds to one.
_LEAST_RATIO = 1.05

_COLUMNS = {
    **typed_columns(
        pl.String(),
        event="what happens to people, as a verb: are called back",
        counted_in=f"what rates are in: {PER_HUNDRED} (people), or a unit: of 10 points, dollars",
        default_group="who the default group is, in words",
        marginalized_group="who the marginalized group is, in words",
    ),
    **typed_columns(
        pl.Float64(),
        default_rate="to how many of 100 of the default group it happens, or what they get",
        marginalized_rate="the same of the marginalized group",
    ),
}

#: A null stereotype: the mean of the stereotypes of a category.
GROUP_RATES = Table(
    "answers",
    columns(
        *("model", "study", "instrument", "mode", *CONDITIONS, "word_list", "scoring"),
        *("dimension", "category", "stereotype", "event", "counted_in", "default_group"),
        *("marginalized_group", "default_rate", "marginalized_rate"),
        own=_COLUMNS,
    ),
    "a row per stereotype and category: how often each of two groups is selected, or its points",
    _COLUMNS,
)


def compare_groups(row: Mapping[str, Any]) -> str:
    """Say of a row of `GROUP_RATES` how the group that fares better does beside the other.

    >>> rates = {"default_rate": 77.0, "marginalized_rate": 28.0, "counted_in": "of 100"}
    >>> names = {"default_group": "men", "marginalized_group": "women"}
    >>> compare_groups({**rates, **names, "event": "are called back"})
    'men are called back 2.8 times as often as women (77 and 28 of 100)'
    """
    default = row["default_rate"], row["default_group"]
    marginalized = row["marginalized_rate"], row["marginalized_group"]
    (low, lower_group), (high, higher_group) = sorted((marginalized, default))
    if row["counted_in"] != PER_HUNDRED:
        unit = row["counted_in"].split()[-1]
        more, digits = f"{number(high - low, 1)} {unit} more than", 1
    elif low and high / low >= _LEAST_RATIO:
        ratio = high / low
        more, digits = f"{number(ratio, 1 if ratio < 10 else 0)} times as often as", 0
    else:
        more, digits = "more often than", 0
    rates = f"{number(high, digits)} and {number(low, digits)} {row['counted_in']}"
    return f"{higher_group} {row['event']} {more} {lower_group} ({rates})"
