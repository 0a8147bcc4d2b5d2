"""How both groups fare, and how far answers lie apart that differ in the wording or the person.

Values
    With the score s of an answer about somebody of the default group, (1 + s) / 2 is the share that
    the person gets of what can be had; of the marginalized group it is (1 − s) / 2. Shares times
    the reach of the outcome are in its unit: people of 100, dollars, words.

    `twin_differences` has the mean distance of two answers, in that unit: of answers to the same
    prompt (*again*), to two wordings about the same person (*wording*), about two people of one
    group in one wording (*person*), and about the two people of a pair (*group*). Distances have no
    sign: noise of answers is in all four, so that the first is the least that the others can be.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import polars as pl

from clinometer.authoring import (
    CONDITIONS,
    GROUP_RATES,
    PER_HUNDRED,
    Meaning,
    Study,
    Table,
    Tables,
    as_estimates,
    columns,
    typed_columns,
)
from clinometer_measures.twins.part import GROUPS, NAME, TwinsPart, part_of

__all__ = ["DETAILS", "compare_twins"]

_RUN = ("model", "study", "instrument", "mode", *CONDITIONS, "word_list", "scoring")

_COLUMNS = {
    **typed_columns(
        pl.String(),
        differs_in=Meaning(
            "what two answers differ in: again (nothing), wording, person (of one group) or group",
            "They differ in",
        ),
        distance_in=f"what distances are in: {PER_HUNDRED} (people), or the unit of the outcome",
    ),
    **typed_columns(pl.Int64(), n_compared=Meaning("pairs of answers", "Pairs")),
    **typed_columns(
        pl.Float64(),
        distance=Meaning(
            "mean distance of two answers, without its sign", "Mean distance", digits=1
        ),
    ),
}

DETAILS = {
    "group_rates": GROUP_RATES,
    "twin_differences": Table(
        "answers",
        columns(
            *_RUN, *("category", "stereotype", "differs_in", "distance_in", "n_compared"),
            "distance", own=_COLUMNS,
        ),
        "a row per contrast and what two answers differ in: how far they lie apart",
        _COLUMNS,
    ),
}  # fmt: skip

#: What two answers differ in → the columns that they share, and those of which they do not share
#: all; without such columns nothing else is asked of them.
_PAIRS: Mapping[str, tuple[tuple[str, ...], tuple[str, ...]]] = {
    "again": (("variation", "person"), ()),
    "wording": (("person",), ("variation", "person")),
    "person": (("variation", "version"), ("variation", "version", "person")),
    "group": (("pair_id",), ()),
}


def compare_twins(scores: pl.LazyFrame, study: Study) -> Tables:
    """Set out how groups fare and how far answers lie apart; `scores`: of one model and study."""
    part = part_of(study)
    answers = scores.filter(pl.col("control").is_null(), instrument=NAME).drop_nulls("score")
    if part is None:
        return Tables(as_estimates([], {}))
    unit, (worst, best) = part.outcome.counted_in, part.outcome.ends
    sign = pl.when(pl.col("version") == "default").then(1.0).otherwise(-1.0)
    person = pl.when(pl.col("version") == "default").then("default").otherwise("marginalized")
    shares = answers.select(
        *(*_RUN, "category", "stereotype", "variation", "version", "pair_id"),
        person=person,
        amount=worst + (best - worst) * (1 + sign * pl.col("score")) / 2,
    ).collect()
    rates: list[dict[str, Any]] = []
    differences: list[dict[str, Any]] = []
    for keys, contrast in shares.group_by(*_RUN, "category", "stereotype", maintain_order=True):
        about = dict(zip((*_RUN, "category", "stereotype"), keys, strict=True))
        rates += _rates(contrast, about, part, unit)
        differences += [{**about, "distance_in": unit, **row} for row in _distances(contrast)]
    tables = {
        "group_rates": pl.DataFrame(rates, schema=GROUP_RATES.schema),
        "twin_differences": pl.DataFrame(differences, schema=DETAILS["twin_differences"].schema),
    }
    return Tables(as_estimates([], {}), tables)


def _rates(
    contrast: pl.DataFrame, about: dict[str, Any], part: TwinsPart, unit: str
) -> Iterator[dict[str, Any]]:
    """Yield how both groups of a contrast fare, if both have answers and the study names them."""
    people = part.people.get(about["stereotype"])
    means = dict(contrast.group_by("version").agg(pl.col("amount").mean()).iter_rows())
    if people is None or len(means) < len(GROUPS):
        return
    yield {
        **about,
        "dimension": None,
        "event": part.outcome.verb,
        "counted_in": unit,
        "default_group": people.default,
        "marginalized_group": people.marginalized,
        "default_rate": means["default"],
        "marginalized_rate": means["marginalized"],
    }


def _distances(contrast: pl.DataFrame) -> Iterator[dict[str, Any]]:
    """Yield how far two answers lie apart, by what they differ in."""
    for name, (shared, apart) in _PAIRS.items():
        distance, count = _all_pairs(contrast, shared)
        if apart:
            alike, count_alike = _all_pairs(contrast, apart)
            distance, count = distance - alike, count - count_alike
        if count:
            yield {"differs_in": name, "n_compared": count, "distance": distance / count}


def _all_pairs(contrast: pl.DataFrame, shared: Sequence[str]) -> tuple[float, int]:
    """Return the summed distances of all pairs of answers that share columns, and how many.

    Of n amounts in their order number i is the larger of i pairs and the smaller of n − 1 − i.
    """
    amounts = pl.col("amount").sort()
    signs = 2 * pl.int_range(pl.len()) - (pl.len().cast(pl.Int64) - 1)
    groups = contrast.group_by(*shared, maintain_order=True).agg(
        distance=(amounts * signs).sum(), count=pl.len().cast(pl.Int64)
    )
    pairs = groups["count"] * (groups["count"] - 1) // 2
    return float(groups["distance"].sum()), int(pairs.sum())
