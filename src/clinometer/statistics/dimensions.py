"""Stereotype content: how dimensions go together, and models in order.

Reference
    Li et al. (2025), MIST, arXiv:2506.14161: section 4.2 (whether dimensions go together) and
    Figure 4 (ranks of the models). Its Table 1, a t test per model and dimension, are the
    estimates of level ``model`` and method ``published``; its spread is the population standard
    deviation, and its t takes n − 1: t = mean / (sd / √(n − 1)), the same number as the usual t
    of the sample standard deviation.

Measures
    `correlate_dimensions`: whether a group that is disfavoured on one dimension is so on another.
    `rank_models`: which model leans most, 1 the most, and the best and the worst rank that the
    intervals allow.

Deviations from the source
    The paper reads ranks and agreement of dimensions off figures; here both have intervals.
"""

from __future__ import annotations

from itertools import combinations
from typing import Any

import numpy as np
import polars as pl
from scipy.special import stdtr

from clinometer.results import CONDITIONS, ESTIMATES, NO_ESTIMATES, as_estimates, check
from clinometer.results.estimates import COMMON_MEASURES, KEYS
from clinometer.results.ranges import rows_of_range
from clinometer.statistics.clustered import Array
from clinometer.statistics.intervals import interval_around

_RUN = ("study", "instrument", "mode", *CONDITIONS, "word_list", "scoring", "control")

#: Fewer points are not correlated: Fisher's interval needs 4.
FEWEST = 4


def correlate_dimensions(estimates: pl.DataFrame) -> pl.DataFrame:
    """Correlate the means of every two dimensions, over stereotypes and over models.

    Parameters
    ----------
    estimates
        Columns of `results.ESTIMATES`.

    Returns
    -------
    polars.DataFrame
        Columns of `results.ESTIMATES`: of each pair of dimensions, `first` and `second`, Pearson's
        correlation with Fisher's 95% interval and Spearman's. `level` says what the points are:
        stereotypes within a model, or models. They are few and share groups, so an interval is a
        description rather than a test.
    """
    frame = check(estimates, ESTIMATES, "estimates")
    if frame["dimension"].drop_nulls().n_unique() < 2:
        return NO_ESTIMATES
    frame = _scores(frame).drop_nulls(["dimension", "estimate"])
    rows: list[dict[str, Any]] = []
    for level, keys in (("stereotype", (*_RUN, "model")), ("model", _RUN)):
        for key, group in frame.filter(level=level).group_by(keys, maintain_order=True):
            if group["model"].n_unique() < 2 and level == "model":
                continue
            tables = group.group_by("dimension", maintain_order=True)
            means = {str(name): part.select(level, "estimate") for (name,), part in tables}
            for a, b in combinations(means, 2):
                matched = means[a].join(means[b], on=level, maintain_order="left")
                points = matched["estimate"].to_numpy(), matched["estimate_right"].to_numpy()
                row_keys = dict(zip(keys, key, strict=True))
                row_keys |= {"subject": row_keys.get("model"), "level": level}
                row_keys |= {"n": matched.height, "first": a, "second": b}
                rows += [row_keys | row for row in correlate(*points, "a dimension does not vary")]
    return as_estimates(rows, COMMON_MEASURES)


def correlate(x: Array, y: Array, constant: str, confidence: float = 0.95) -> list[dict[str, Any]]:
    """Give Pearson's correlation of two lists, with Fisher's interval, and Spearman's.

    Two rows, of columns of `results.ESTIMATES`. Fewer than 4 points, or a list that does not vary,
    have no correlation but a `note`: in the second case `constant`.
    """
    row = pearson_row(x, y, constant, confidence)
    spearman: dict[str, Any] = {"measure": "rank_correlation", "method": "descriptive"}
    if "note" in row:
        return [row, spearman | {"note": row["note"]}]
    ranks = (pl.Series(values).rank().to_numpy() for values in (x, y))
    return [row, spearman | {"estimate": _pearson(*ranks)}]


def pearson_row(x: Array, y: Array, constant: str, confidence: float = 0.95) -> dict[str, Any]:
    """Give Pearson's correlation of two lists, with Fisher's interval, or a `note`: `correlate`."""
    pearson: dict[str, Any] = {"measure": "correlation", "method": "fisher"}
    if len(x) < FEWEST:
        return pearson | {"note": f"fewer than {FEWEST} points"}
    if np.ptp(x) == 0 or np.ptp(y) == 0:
        return pearson | {"note": constant}
    r = _pearson(x, y)
    with np.errstate(divide="ignore"):  # r of ±1: t and the ends of Fisher's z are infinite
        t = abs(r) * np.sqrt(np.divide(len(x) - 2, 1 - r**2))
        ends = interval_around(float(np.arctanh(r)), (len(x) - 3) ** -0.5, confidence)
    low, high = np.tanh(ends).tolist()
    pearson |= {"ci_low": low, "ci_high": high, "confidence": confidence}
    return pearson | {"estimate": r, "p": float(2 * stdtr(len(x) - 2, -t)), "test": "t"}


def _pearson(x: Array, y: Array) -> float:
    return float(np.clip(np.corrcoef(x, y)[0, 1], -1, 1))


def rank_models(estimates: pl.DataFrame) -> pl.DataFrame:
    """Put the models of each run and dimension in order of their means.

    Parameters
    ----------
    estimates
        Columns of `results.ESTIMATES`.

    Returns
    -------
    polars.DataFrame
        Columns of `results.ESTIMATES`, for runs of two models or more: the rank, 1 for the mean
        that is most stereotype-consistent (equal means share the better rank), and as its interval
        the best rank, 1 + the models whose interval lies wholly above, and the worst, the number
        of models less those wholly below. `n` is the number of models.
    """
    frame = _scores(estimates).filter(level="model")
    if frame.height < 2:
        return NO_ESTIMATES
    keys = [*_RUN, "dimension"]
    ranked = []
    for _, part in frame.filter(pl.len().over(keys) > 1).group_by(keys, maintain_order=True):
        low, high = part["ci_low"].to_numpy(), part["ci_high"].to_numpy()
        # Each model against each, shape (models, models); a null interval is nan, never above.
        above = (low > high[:, None]).sum(axis=1)
        below = (high < low[:, None]).sum(axis=1)
        ends = {"ci_low": 1 + above, "ci_high": part["estimate"].count() - below}
        bounded = pl.col("ci_low").is_not_null() & pl.col("ci_high").is_not_null()
        ranked.append(
            part.select(
                *("subject", "model", "level", *keys, "confidence"),
                measure=pl.lit("rank"),
                method=pl.lit("interval_overlap"),
                estimate=pl.col("estimate").rank("min", descending=True).cast(pl.Float64),
                n=pl.lit(part.height),
                range_high=pl.lit(part.height),
                **{name: pl.when(bounded).then(pl.Series(end)) for name, end in ends.items()},
            )
        )
    if not ranked:
        return NO_ESTIMATES
    return as_estimates(pl.concat(ranked).sort(*keys, "estimate"), COMMON_MEASURES)


def _scores(estimates: pl.DataFrame) -> pl.DataFrame:
    """Give the means of scores for other prompts or, where these are open, for these prompts."""
    frame = check(estimates, ESTIMATES, "estimates")
    means = frame.filter(pl.col("tost_margin").is_not_null(), pl.col("factor").is_null())
    wide, prompts = (rows_of_range(means, name) for name in ("other_prompts", "prompts"))
    tested = wide.drop_nulls("se")
    keys = ["subject", *KEYS]
    missing = prompts.join(tested, on=list(dict.fromkeys(keys)), how="anti", nulls_equal=True)
    return pl.concat([tested, missing])
