"""What a report says of differences between groups: which are shown, hidden or changed."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import polars as pl

from clinometer.numbers import bracketed, interval, number, p_value
from clinometer.pieces.prose import ALPHA, interval_title
from clinometer_measures.states.report.results import (
    IS_SINGLE_LAYER,
    READING,
    first_reading,
    in_words,
    keep_summary_layer,
    layer_name,
    pair_label,
    placebo_ends,
)

__all__ = ["profile_finding"]

#: Up to this many comparisons without a difference are named, and as many examples.
MOST_EXAMPLES = 3


def profile_finding(part: pl.DataFrame) -> str:
    """Say on which dimensions groups differ, where the mean hides signs, and under other ways."""
    differences = keep_summary_layer(part)
    in_first_reading = first_reading(differences)
    rows = in_first_reading.drop_nulls("estimate").to_dicts()
    if not rows:
        return "No difference could be measured; see the notes."
    significant = [row for row in rows if row["p_claim"] is not None and row["p_claim"] < ALPHA]
    inconclusive = [row for row in rows if row not in significant]
    sentences = [_higher_text(row, interval_title(in_first_reading)) for row in significant]
    if len(inconclusive) > MOST_EXAMPLES:
        sentences.append(f"No difference is shown in {len(inconclusive)} comparisons.")
    elif inconclusive:
        sentences.append(
            f"No difference is shown for {'; '.join(map(_difference_text, inconclusive))}."
        )
    by_chance = [_comparison(row) for row in significant if (row["p_permutation"] or 0) > ALPHA]
    if by_chance:
        sentences.append(
            f"In the permutation test (words shuffled between groups) p is above .05 for "
            f"{'; '.join(by_chance)}."
        )
    sentences += _opposite_signs(first_reading(part))
    sentences += _sign_changes(differences, in_first_reading)
    return " ".join(sentences)


def _higher_text(row: Mapping[str, Any], title: str) -> str:
    """Say which group is higher; `title` is what the interval is called."""
    first, second = row["first"], row["second"]
    low, high = row["ci_low"], row["ci_high"]
    # The group that is higher comes first, so the interval is turned as well.
    if row["estimate"] < 0:
        first, second = second, first
        low, high = (None, None) if None in (low, high) else (-high, -low)
    ends = "" if None in (low, high) else f"{title} {interval(low, high)}; "
    return (
        f"{row['dimension']}: {first} {number(abs(row['estimate']))} standard deviations above "
        f"{second} ({ends}p (Holm) {p_value(row['p_claim'])}{_placebo_text(row)})."
    )


def _comparison(row: Mapping[str, Any]) -> str:
    """Name the dimension and the groups that are compared on it."""
    return f"{row['dimension']}, {pair_label(row)}"


def _difference_text(row: Mapping[str, Any]) -> str:
    """Write a difference with its interval and that of its placebos."""
    value = bracketed(row["estimate"], row["ci_low"], row["ci_high"])
    return f"{_comparison(row)} {value}{_placebo_text(row)}"


def _placebo_text(row: Mapping[str, Any]) -> str:
    """Write the interval and the p of the placebos, where there are any."""
    if row["p_placebo"] is None:
        return ""
    return f", placebos {placebo_ends(row)} with p {p_value(row['p_placebo'])}"


def _opposite_signs(part: pl.DataFrame) -> list[str]:
    """Name the dimensions on which layers differ significantly in opposite directions."""
    significant = part.filter(IS_SINGLE_LAYER, pl.col("p_claim") < ALPHA)
    texts = []
    for layers in significant.partition_by("first", "second", "dimension", maintain_order=True):
        low = layers.sort("estimate").row(0, named=True)
        high = layers.sort("estimate", descending=True).row(0, named=True)
        if low["estimate"] < 0 < high["estimate"]:
            texts.append(
                f"{_comparison(low)}: {number(low['estimate'])} at {layer_name(low['layer'])}, "
                f"{number(high['estimate'])} at {layer_name(high['layer'])}"
            )
    examples = "; ".join(texts[:MOST_EXAMPLES])
    return [f"The mean hides opposite signs at single layers ({examples})."] if texts else []


def _sign_changes(differences: pl.DataFrame, in_first_reading: pl.DataFrame) -> list[str]:
    """Say whether other contexts, or removed components, change a sign."""
    keys = ["dimension", "first", "second"]
    first_signs = in_first_reading.select(*keys, first_sign=pl.col("estimate").sign())
    in_other_readings = differences.join(
        in_first_reading, on=[*keys, *READING], how="anti", nulls_equal=True
    )
    pairs = in_other_readings.drop_nulls("estimate").join(first_signs, on=keys)
    if pairs.is_empty():
        return []
    changed = pairs.filter(pl.col("estimate").sign() != pl.col("first_sign"))
    if changed.is_empty():
        return ["Other contexts or removed components change no sign."]
    texts = []
    for row in changed.iter_rows(named=True):
        reading = ", ".join(in_words(key, row[key]) for key in READING)
        texts.append(f"{row['dimension']}: {reading}")
    # Several pairs of groups may change on a dimension: each text once.
    examples = "; ".join(list(dict.fromkeys(texts))[:MOST_EXAMPLES])
    return [f"Signs change with how the model is read ({examples})."]
