"""Groups by names and groups that are stated: whether both move scores alike.

Measures
    A name signals more than a group: class, age, how rare it is. In contrasts of `Cue` both
    candidates have names of one group, and a sentence in the résumé says of one what group it is
    of. Both differences are of scores, in points of a scale from 1 to 10: default less
    marginalized, the mean over pairs with two scores. Difference: that by the statement less the
    mean of those by names.

Intervals
    95%, over names, occupations and wordings, which both have (`statistics.crossed_factors`).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np
import polars as pl

from clinometer.authoring import typed_columns
from clinometer.statistics.crossed_factors import crossed_interval, factor_levels
from clinometer_measures.hiring.part import STEPS, Cue

__all__ = ["MARGIN", "STATEMENT_COLUMNS", "statement_rows"]

#: Points within which two differences are held to be alike: a tenth of the scale.
MARGIN = 0.1 * STEPS

_POINTS = ", in points, default less marginalized"

STATEMENT_COLUMNS = {
    **typed_columns(
        pl.String(),
        agreement=f"differ (the interval of stated_less_names excludes 0), agree (it lies within "
        f"{MARGIN:g} points) or open; null: no interval",
    ),
    **typed_columns(
        pl.Float64(),
        by_names=f"difference of scores by names of the group{_POINTS}",
        names_low="low end of the 95% interval of by_names",
        names_high="high end of this interval",
        by_statement=f"difference of scores where the résumé states the group{_POINTS}",
        statement_low="low end of the 95% interval of by_statement",
        statement_high="high end of this interval",
        stated_less_names="by_statement − by_names",
        stated_less_low="low end of the 95% interval of stated_less_names",
        stated_less_high="high end of this interval",
    ),
}

_FACTORS = ("marginalized", "default", "variation", "object")


def statement_rows(run: pl.DataFrame, cues: Mapping[str, Cue]) -> Iterator[dict[str, Any]]:
    """Yield a row per stated group; `run`: scores of one run in dimension *score*.

    Where one of the two was not asked, its columns are left out.
    """
    # Sentences have both candidates in one answer, other modes have one each.
    complete = pl.col("score").count().over("pair_id") == pl.len().over("pair_id")
    is_whole_pair = (pl.len().over("pair_id") == 2) | pl.col("version").is_null()
    pairs = run.filter(complete & is_whole_pair).group_by("pair_id", maintain_order=True).agg(
        pl.col("stereotype", *_FACTORS).first(), points=STEPS * pl.col("score").mean()
    )  # fmt: skip
    for key, cue in cues.items():
        statement_pairs = pairs.filter(stereotype=key)
        name_pairs = pairs.filter(pl.col("stereotype").is_in(cue.names))
        if statement_pairs.is_empty() and name_pairs.is_empty():
            continue
        row: dict[str, Any] = {"stereotype": key, "n_pairs": statement_pairs.height}
        for part, names in ((statement_pairs, _STATEMENT), (name_pairs, _NAMES)):
            if not part.is_empty():
                row |= _columns(_contrast(part.with_columns(weight=1.0)), names)
        if not (statement_pairs.is_empty() or name_pairs.is_empty()):
            weighted_pairs = (
                statement_pairs.with_columns(weight=1.0),
                name_pairs.with_columns(weight=-1.0),
            )
            difference = _contrast(pl.concat(weighted_pairs))
            row |= {**_columns(difference, _LESS), "agreement": _agreement(difference)}
        yield row


_STATEMENT = ("by_statement", "statement_low", "statement_high")
_NAMES = ("by_names", "names_low", "names_high")
_LESS = ("stated_less_names", "stated_less_low", "stated_less_high")


def _columns(fitted: Mapping[str, float | None], names: tuple[str, ...]) -> dict[str, Any]:
    values = (fitted["estimate"], fitted["ci_low"], fitted["ci_high"])
    return dict(zip(names, values, strict=True))


def _contrast(pairs: pl.DataFrame) -> dict[str, float | None]:
    """Return the sum over weights, 1 or −1, of the weight times its mean points."""
    points, weights = pairs["points"].to_numpy(), pairs["weight"].to_numpy()
    estimate, influence = 0.0, np.zeros(len(points))
    for weight in np.unique(weights):
        members = weights == weight
        mean = points[members].mean()
        estimate += float(weight * mean)
        influence[members] = weight * (points[members] - mean) / members.sum()
    return crossed_interval(estimate, influence, factor_levels(pairs, _FACTORS))


def _agreement(difference: Mapping[str, float | None]) -> str | None:
    """Say what the interval of a difference says."""
    low, high = difference["ci_low"], difference["ci_high"]
    if low is None or high is None:
        return None
    if low > 0 or high < 0:
        return "differ"
    return "agree" if -MARGIN < low and high < MARGIN else "open"
