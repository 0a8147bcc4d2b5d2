"""Which score decisions follow from: predictors compared on the same rows.

Reference
    Bai, Wang, Sucholutsky & Griffiths (2025), PNAS 122(8), SI section K: predictors of the
    decision compared by the AIC and BIC of their logistic regressions. Akaike weights: Burnham &
    Anderson (2002), Model Selection and Multimodel Inference, 2nd ed., section 2.9.

Measures
    AIC and BIC of each predictor's model, of the intercept alone and, if asked for, of all
    predictors together; lower is better, and 0 the best of the group by `delta_aic`.

Deviations from the source
    AIC and BIC compare only models of the same rows, so a row that lacks any of the predictors
    is left out of all. With clusters the models are compared with a random intercept as well.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import polars as pl
from scipy.special import ndtr

from tiltmeter.errors import InputError
from tiltmeter.statistics.logistic import Regression
from tiltmeter.statistics.samples import Sample, fit, samples

__all__ = ["compare_predictors"]


def compare_predictors(
    frame: pl.DataFrame,
    predictors: Sequence[str],
    *,
    outcome: str = "decision",
    clusters: str | None = None,
    by: str | None = None,
    joint: bool = False,
) -> Regression:
    """Compare how well predictors account for a binary outcome, on the same rows.

    Parameters
    ----------
    frame
        A row per prompt.
    predictors
        Columns of numbers; only rows that have them all are used.
    outcome
        Column of 1, 0 or null.
    clusters
        Column of clusters; the models are then also compared with a random intercept (``mixed``).
    by
        Column whose values part the rows, each part compared on its own beside ``"all"``.
    joint
        Add the model of all predictors together.

    Returns
    -------
    Regression
        `estimates` and `fits`: a row for the intercept alone, one per predictor and, if asked
        for, one per predictor of the joint model, which share its fit. `n_scored` is the same for
        every model of a part.

    Raises
    ------
    InputError
        As `regress`; or if a predictor is named twice.

    Examples
    --------
    >>> import polars as pl
    >>> frame = pl.DataFrame({
    ...     "score": [-1.0, -0.5, -0.5, 0, 0, 0.5, 0.5, 0.5, 1, 1],
    ...     "noise": [1, 2, 3, 2, 1, 1, 3, 2, 2, 1],
    ...     "decision": [0, 0, 1, 0, 1, 0, 1, 1, 1, 1],
    ... })
    >>> compared = compare_predictors(frame, ["score", "noise"]).fits
    >>> compared.select("formula", pl.col("aic", "akaike_weight").round(2)).rows()
    [('1', 15.46, 0.31), ('1 + score', 14.58, 0.48), ('1 + noise', 16.33, 0.2)]
    """
    if not predictors or len(set(predictors)) < len(predictors):
        raise InputError(f"predictors {list(predictors)}: name at least one, and each once")
    models: list[tuple[int, ...]] = [(), *((i,) for i in range(len(predictors)))]
    if joint and len(predictors) > 1:
        models.append(tuple(range(len(predictors))))
    rows: list[dict[str, Any]] = []
    for sample in samples(frame, predictors, outcome, clusters, by):
        for method in ("published", "mixed") if clusters else ("published",):
            stated = {"outcome": outcome, "method": method, **sample.counts()}
            compared = [
                row for chosen in models for row in _model(sample, predictors, chosen, method)
            ]
            rows += [stated | row for row in compared]
    found = Regression.of(rows)
    return Regression(found.estimates, _weigh(found.fits))


def _model(
    sample: Sample, predictors: Sequence[str], chosen: tuple[int, ...], method: str
) -> list[dict[str, Any]]:
    """Return the rows of one model of a comparison: one per predictor in it."""
    named = [predictors[i] for i in chosen]
    x = sample.x[:, list(chosen)]
    found = fit(sample, x, method)
    stated: dict[str, Any] = {"formula": " + ".join(["1", *named]), "note": found.note}
    if found.note is not None:
        return [stated | {"predictor": name} for name in named] or [stated]
    stated |= {"log_likelihood": found.log_likelihood, "n_parameters": found.n_parameters}
    stated |= found.criteria(len(sample.y))
    if not chosen:
        return [stated]
    z = found.coefficients / found.se
    return [
        stated
        | {
            "predictor": name,
            "estimate": found.coefficients[i],
            "se": found.se[i],
            "p": 2.0 * float(ndtr(-abs(z[i]))),
            "coefficient_per_sd": found.coefficients[i] * x[:, i - 1].std(ddof=1),
        }
        for i, name in enumerate(named, start=1)
    ]


def _weigh(rows: pl.DataFrame) -> pl.DataFrame:
    """Add what compares the models of one group and method."""
    among = ["part", "method"]
    deltas = [(pl.col(c) - pl.col(c).min().over(among)).alias(f"delta_{c}") for c in ("aic", "bic")]
    weight = (-0.5 * pl.col("delta_aic")).exp()
    first = pl.int_range(pl.len()).over([*among, "formula"]) == 0
    null = pl.col("log_likelihood").filter(formula="1").first().over(among)
    return rows.with_columns(*deltas).with_columns(
        pseudo_r2=1.0 - pl.col("log_likelihood") / null,
        akaike_weight=weight / weight.filter(first).sum().over(among),
    )
