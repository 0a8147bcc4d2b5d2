"""What a report says of differences between groups: which are shown, hidden or changed."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import polars as pl

from clinometer.families.states.report.results import (
    ONE_LAYER,
    READING,
    at_one_layer,
    first_reading,
    in_words,
    layer_name,
    pairs,
    placebo_ends,
)
from clinometer.report.prose import ALPHA, bracketed, interval, interval_title, number, p_value

__all__ = ["profile_finding"]

#: Up to this many comparisons without a difference are named, and as many examples.
MOST_NAMED = 3


def profile_finding(part: pl.DataFrame) -> str:
    """Say on which dimensions groups differ, where the mean hides signs, and under other ways."""
    every = at_one_layer(part)
    own = first_reading(every)
    known = own.drop_nulls("estimate").to_dicts()
    if not known:
        return "No difference could be measured; see the notes."
    sure = [row for row in known if row["p_claim"] is not None and row["p_claim"] < ALPHA]
    unsure = [row for row in known if row not in sure]
    parts = [_higher(row, interval_title(own)) for row in sure]
    if len(unsure) > MOST_NAMED:
        parts.append(f"No difference is shown in {len(unsure)} comparisons.")
    elif unsure:
        parts.append(f"No difference is shown for {'; '.join(map(_difference, unsure))}.")
    chance = [_compared(row) for row in sure if (row["p_permutation"] or 0) > ALPHA]
    if chance:
        parts.append(
            f"In the permutation test (words shuffled between groups) p is above .05 for "
            f"{'; '.join(chance)}."
        )
    return " ".join([*parts, *_hidden(first_reading(part)), *_changed(every, own)])


def _higher(row: Mapping[str, Any], title: str) -> str:
    first, second = row["first"], row["second"]
    low, high = row["ci_low"], row["ci_high"]
    if row["estimate"] < 0:
        first, second = second, first
        low, high = (None, None) if None in (low, high) else (-high, -low)
    ends = "" if None in (low, high) else f"{title} {interval(low, high)}; "
    return (
        f"{row['dimension']}: {first} {number(abs(row['estimate']))} standard deviations above "
        f"{second} ({ends}p (Holm) {p_value(row['p_claim'])}{_beside_placebos(row)})."
    )


def _compared(row: Mapping[str, Any]) -> str:
    return f"{row['dimension']}, {pairs(row)}"


def _difference(row: Mapping[str, Any]) -> str:
    value = bracketed(row["estimate"], row["ci_low"], row["ci_high"])
    return f"{_compared(row)} {value}{_beside_placebos(row)}"


def _beside_placebos(row: Mapping[str, Any]) -> str:
    if row["p_placebo"] is None:
        return ""
    return f", placebos {placebo_ends(row)} with p {p_value(row['p_placebo'])}"


def _hidden(part: pl.DataFrame) -> list[str]:
    """Name the dimensions on which layers differ significantly in opposite directions."""
    sure = part.filter(ONE_LAYER, pl.col("p_claim") < ALPHA)
    both = []
    for mine in sure.partition_by("first", "second", "dimension", maintain_order=True):
        low, high = (
            mine.sort("estimate", descending=down).row(0, named=True) for down in (False, True)
        )
        if low["estimate"] < 0 < high["estimate"]:
            both.append(
                f"{_compared(low)}: {number(low['estimate'])} at {layer_name(low['layer'])}, "
                f"{number(high['estimate'])} at {layer_name(high['layer'])}"
            )
    examples = "; ".join(both[:MOST_NAMED])
    return [f"The mean hides opposite signs at single layers ({examples})."] if both else []


def _changed(every: pl.DataFrame, own: pl.DataFrame) -> list[str]:
    """Say whether other contexts, or removed components, change a sign."""
    keys = ["dimension", "first", "second"]
    usual = own.select(*keys, usual=pl.col("estimate").sign())
    others = every.join(own, on=[*keys, *READING], how="anti", nulls_equal=True)
    compared = others.drop_nulls("estimate").join(usual, on=keys)
    if compared.is_empty():
        return []
    changed = compared.filter(pl.col("estimate").sign() != pl.col("usual"))
    if changed.is_empty():
        return ["Other contexts or removed components change no sign."]
    ways = dict.fromkeys(
        f"{row['dimension']}: {', '.join(in_words(key, row[key]) for key in READING)}"
        for row in changed.iter_rows(named=True)
    )
    return [f"Signs change with how the model is read ({'; '.join(list(ways)[:MOST_NAMED])})."]
