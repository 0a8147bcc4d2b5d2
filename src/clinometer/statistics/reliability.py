"""Reliability: whether the same stereotypes score high when they are measured again.

Reference
    Split halves: Spearman (1910), British J. Psychology 3, 271–295; Brown (1910), same volume,
    296–322. Generalisability: Cronbach, Gleser, Nanda & Rajaratnam (1972), *The dependability of
    behavioral measurements*; Shavelson & Webb (1991), *Generalizability theory: a primer*; Brennan
    (2001), *Generalizability theory*. Its interval: Feldt (1965), Psychometrika 30, 357–370.

Measures
    The objects of measurement are the stereotypes of a model, study, instrument and mode.

    `split_half`: Pearson's r of the stereotypes' means in the odd and the even draws, stepped up to
    the whole by Spearman–Brown, 2r / (1 + r). The halves also differ in group words. With one draw
    of each wording, every second wording makes a half.

    `generalisability`: with the means of stereotypes (p) by wordings (i) and the mean squares of
    their two-way analysis, Eρ² = 1 − MS(pi) / MS(p): the reliability of the stereotypes' order over
    wordings and draws. With one wording, draws take the place of wordings, nested in stereotypes:
    1 − MS(r:p) / MS(p).

    `dependability`: Φ = σ²(p) / (σ²(p) + σ²(i)/n(i) + σ²(pi)/n(i)), the same for the mean itself
    rather than the order. It equals Eρ² with one wording, whose effect cannot be known.

    `variance_component`: σ² of stereotypes, wordings, their interaction, and draws, from mean
    squares; negative estimates are 0. They say where the variance of one draw comes from. With one
    draw of each wording, draws are part of the interaction.

    Correlations of the stereotypes' means between two wordings, group orders, modes or instruments.

Range
    1: the stereotypes' order is the same again; 0: it is not related. Coefficients below 0 are 0.

What these cannot show
    Agreement over seeds, temperatures or time: no column of scores tells them apart. Where all
    wordings show the same draws (MIST), the part of the draws counts as the stereotypes' in
    `generalisability` and `dependability`; `split_half` keeps draws apart.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import combinations
from typing import Any, NamedTuple

import numpy as np
import polars as pl
from scipy.special import fdtri

from clinometer.results import SCORES, as_estimates, check
from clinometer.results.columns import with_codes
from clinometer.results.estimates import COMMON_MEASURES
from clinometer.statistics.clustered import Array
from clinometer.statistics.dimensions import FEWEST, pearson_row
from clinometer.statistics.summaries import NEVER_POOLED

Row = dict[str, Any]

#: What tells runs of an instrument apart.
_RUN = ("model", *NEVER_POOLED)

#: Column whose values are compared → the measure of their correlation.
FACETS = {
    "variation": "wording_correlation",
    "order": "order_correlation",
    "mode": "mode_correlation",
    "instrument": "instrument_correlation",
}

#: The columns of scores that are read.
USED = (*_RUN, "stereotype", "variation", "order", "pair_id", "iteration", "score")

#: The measures of this module.
RELIABILITY = (
    "split_half",
    "generalisability",
    "dependability",
    "variance_component",
    *FACETS.values(),
)

_CONSTANT = "the means of the stereotypes do not vary"


def estimate_reliability(scores: pl.DataFrame, confidence: float = 0.95) -> pl.DataFrame:
    """Estimate the reliability of each model, study, instrument, mode and further factors.

    Parameters
    ----------
    scores
        Columns `USED` of `results.SCORES`; control studies and responses without a score are left
        out.
    confidence
        Level of the intervals, 0 to 1.

    Returns
    -------
    polars.DataFrame
        Columns of `results.ESTIMATES`, of level ``model``; `measure` is one of `RELIABILITY`, `n`
        the number of stereotypes. Correlations name what they compare in `first` and `second`,
        variance components their source in `component`. A value that cannot be estimated is null,
        with a `note`.

    Raises
    ------
    InputError
        If a column is missing.
    """
    frame = with_codes(check(scores, {name: SCORES[name] for name in USED}, "scores"), "pair_id")
    scored = frame.filter(pl.col("score").is_not_null(), pl.col("control").is_null())
    rows: list[Row] = []
    for facet in FACETS:
        rows += _facet_correlations(scored, facet, confidence)
    for key, run_scores in scored.group_by(_RUN, maintain_order=True):
        run = dict(zip(_RUN, key, strict=True))
        units = _units(run_scores)
        run_rows = [_split_half(units, confidence), *_component_rows(units, confidence)]
        rows += [run | row for row in run_rows]
    order = ["measure", *_RUN, "first", "second", "component"]
    estimates = as_estimates([_estimate_row(row, confidence) for row in rows], COMMON_MEASURES)
    return estimates.sort(order, maintain_order=True)


def _estimate_row(row: Row, confidence: float) -> Row:
    """Add what all rows have in common; the confidence where there is an interval."""
    level = {"confidence": confidence} if row.get("ci_low") is not None else {}
    return {"subject": row["model"], "level": "model", **row, **level}


def _units(run_scores: pl.DataFrame) -> pl.DataFrame:
    """Average the scores of each draw (mirrored pair), and number the draws of each wording."""
    alone = pl.format("response {}", pl.int_range(pl.len()))
    cell = ("stereotype", "variation")
    draws = run_scores.group_by(*cell, unit=pl.coalesce("pair_id", alone), maintain_order=True)
    units = draws.agg(pl.col("score").mean(), pl.col("iteration").min())
    return units.sort("iteration", maintain_order=True).with_columns(
        draw=pl.int_range(pl.len()).over(cell)
    )


def _split_half(units: pl.DataFrame, confidence: float) -> Row:
    """Correlate the means of two halves of the draws, stepped up to the whole."""
    several = pl.col("draw").max() > 0
    # Odd and even draws; with one draw of each wording, every second wording.
    half = pl.when(several).then("draw").otherwise(pl.col("variation").rank("dense")) % 2
    means = units.group_by("stereotype", half=half, maintain_order=True).agg(pl.col("score").mean())
    halves = means.pivot("half", index="stereotype", values="score").drop_nulls().sort("stereotype")
    constants = {"measure": "split_half", "method": "spearman_brown", "n": halves.height}
    if halves.width < 3:
        return constants | {"note": "fewer than 2 draws"}
    row = pearson_row(halves["0"].to_numpy(), halves["1"].to_numpy(), _CONSTANT, confidence)
    for name in ("estimate", "ci_low", "ci_high"):
        if (r := row.get(name)) is not None:
            row[name] = 2 * r / (1 + r) if r > 0 else 0.0
    return row | constants


def _component_rows(units: pl.DataFrame, confidence: float) -> list[Row]:
    """Give the generalisability coefficients and the variance components."""
    cells = units.group_by("stereotype", "variation", maintain_order=True).agg(
        pl.col("score").mean(), variance=pl.col("score").var(), n=pl.len()
    )
    wordings = cells["variation"].n_unique()
    complete = cells.filter(pl.len().over("stereotype") == wordings).sort("stereotype", "variation")
    stereotypes = complete.height // wordings
    constants: Row = {"method": "mean_squares", "n": stereotypes}
    first = constants | {"measure": "generalisability"}
    if stereotypes < FEWEST:
        return [first | {"note": f"fewer than {FEWEST} stereotypes in all wordings"}]
    draws = _pool_draws(complete)
    squares = _mean_squares(complete["score"].to_numpy().reshape(-1, wordings), draws)
    if squares is None:
        return [first | {"note": "one wording and one draw of each stereotype"}]
    if math.isclose(squares.between, 0.0, abs_tol=1e-20):  # by rounding
        return [first | {"note": _CONSTANT}]
    rows = [first | squares.generalisability(confidence)]
    if wordings > 1:
        rows.append(constants | {"measure": "dependability", "estimate": squares.dependability()})
    for name, variance in squares.components(draws).items():
        row = {"measure": "variance_component", "component": name, "estimate": variance}
        rows.append(constants | row)
    return rows


class _Draws(NamedTuple):
    """The variance of draws within cells, its degrees of freedom, and the draws of a cell."""

    variance: float
    df: int
    per_cell: float  # harmonic mean


def _pool_draws(cells: pl.DataFrame) -> _Draws:
    """Pool the variance of draws over cells."""
    n = cells["n"].to_numpy().astype(float)
    df = int((n - 1).sum())
    squares = float((cells["variance"].fill_null(0.0).to_numpy() * (n - 1)).sum())
    return _Draws(squares / df if df else math.nan, df, len(n) / float((1 / n).sum()))


@dataclass(frozen=True)
class _MeanSquares:
    """Mean squares of the means of stereotypes by wordings."""

    stereotypes: int
    wordings: int
    between: float  # stereotypes
    between_wordings: float
    error: float  # interaction and draws; with one wording draws alone
    df: int  # of the error

    def generalisability(self, confidence: float) -> Row:
        """Give Eρ² with Feldt's interval: F (1 − ρ) / (1 − Eρ²) has an F distribution."""
        tail = (1 - confidence) / 2
        ratio = self.error / self.between
        high = 1 - ratio * float(fdtri(self.stereotypes - 1, self.df, tail))
        low = 1 - ratio * float(fdtri(self.stereotypes - 1, self.df, 1 - tail))
        return {
            "estimate": max(0.0, 1 - ratio),
            "ci_low": max(0.0, low),
            "ci_high": max(0.0, high),
            "df": float(self.df),
        }

    def dependability(self) -> float:
        """Give Φ, which counts the differences between wordings as error."""
        stereotypes = max(0.0, self.between - self.error)
        return stereotypes / (stereotypes + self._wordings() + self.error)

    def _wordings(self) -> float:
        """Give σ² of wordings, at least 0."""
        return max(0.0, (self.between_wordings - self.error) / self.stereotypes)

    def components(self, draws: _Draws) -> dict[str, float]:
        """Give σ² of each source that can be known."""
        parts = {"stereotypes": max(0.0, (self.between - self.error) / self.wordings)}
        if self.wordings > 1:
            draw_variance = draws.variance / draws.per_cell if draws.df else 0.0
            parts |= {"wordings": self._wordings()}
            parts |= {"stereotypes × wordings": max(0.0, self.error - draw_variance)}
        return parts | ({"draws": draws.variance} if draws.df else {})


def _mean_squares(means: Array, draws: _Draws) -> _MeanSquares | None:
    """Analyse means of stereotypes × wordings; None where nothing tells the error."""
    p, i = means.shape
    rows, columns = means.mean(axis=1), means.mean(axis=0)
    between = i * float(rows.var(ddof=1))
    if i == 1:
        error = draws.variance / draws.per_cell
        return _MeanSquares(p, i, between, 0.0, error, draws.df) if draws.df else None
    residual = means - rows[:, None] - columns + means.mean()
    df = (p - 1) * (i - 1)
    between_wordings = p * float(columns.var(ddof=1))
    return _MeanSquares(p, i, between, between_wordings, float((residual**2).sum()) / df, df)


def _facet_correlations(scored: pl.DataFrame, facet: str, confidence: float) -> Iterator[Row]:
    """Yield the correlation of the stereotypes' means between every two values of a facet."""
    keys = [name for name in _RUN if name != facet]
    if scored[facet].n_unique() < 2:
        return
    recorded = scored.drop_nulls((facet, "stereotype"))
    if recorded[facet].n_unique() < 2:
        return
    cells = recorded.group_by(*keys, facet, "stereotype", maintain_order=True)
    means = cells.agg(pl.col("score").mean()).sort(facet, "stereotype")
    for key, part in means.group_by(keys, maintain_order=True):
        values = part[facet].unique(maintain_order=True)
        # A row per stereotype and a column per value; nan where it was not asked.
        rows = part["stereotype"].rank("dense").to_numpy() - 1
        table = np.full((rows.max() + 1, len(values)), np.nan)
        table[rows, part[facet].rle_id().to_numpy()] = part["score"].to_numpy()
        for first, second in combinations(range(len(values)), 2):
            value_pairs = table[:, [first, second]]
            x, y = value_pairs[~np.isnan(value_pairs).any(axis=1)].T
            yield {
                **dict(zip(keys, key, strict=True)),
                **pearson_row(x, y, _CONSTANT, confidence),
                "measure": FACETS[facet],
                "n": len(x),
                "first": values[first],
                "second": values[second],
            }
