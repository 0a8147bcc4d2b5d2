"""What decisions follow from: logistic regression of a binary decision on a score.

Reference
    Bai, Wang, Sucholutsky & Griffiths (2025), PNAS 122(8), SI section K, tables 15 and 16, and
    figure 4: logistic regression, by maximum likelihood, of the decision a prompt led to on the
    score of the same prompt, and predictors compared by AIC and BIC. Akaike weights: Burnham &
    Anderson (2002), Model Selection and Multimodel Inference, 2nd ed., section 2.9. Within and
    between parts: Neuhaus & Kalbfleisch (1998), Biometrics 54(2), 638–645.

Measures
    The change in the log odds of a decision of 1 for one unit of the predictor; neutral 0. A row
    for each component of the predictor and each method:

    ==========  ============================================================================
    total       the predictor as it is: a mixture of the two others
    within      its deviation from the mean of its cluster: whether, in the same cluster, a prompt
                with a higher score leads to other decisions
    between     the mean of its cluster: whether clusters with higher scores lead to others
    ==========  ============================================================================

    ==========  ============================================================================
    published   total; the paper's: each prompt is taken for independent of the others
    clustered   total, and within with between: averaged over clusters; error CR2 with
                Satterthwaite's t (`logit`)
    mixed       within with between: in a typical cluster. Intercept and coefficient of the within
                part vary between clusters (`random_effects`); the same error
    ==========  ============================================================================

    Both errors hold where the slope differs from cluster to cluster, and with few clusters.

    AIC and BIC of each predictor's model, of the intercept alone and, if asked for, of all
    predictors together: lower is better, and 0 the best of the group by `delta_aic`.

Deviations from the source
    The paper reports only `published`, whose error is too small where prompts share a
    stereotype. Where the predictor separates the outcomes no maximum exists, and no number is
    given; statsmodels reports a huge one. AIC and BIC compare only models of the
    same rows, so a row that lacks any of the predictors is left out of all. With clusters the
    models of total predictors are compared with a random intercept as well.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
import polars as pl
from scipy.special import chdtrc

from clinometer.errors import InputError
from clinometer.papers.samples import NOT_CONVERGED, Fit, Sample, fit, obstacle, samples
from clinometer.results import ESTIMATES, as_estimates
from clinometer.results.estimates import COMMON_MEASURES
from clinometer.results.schemas import FITS
from clinometer.statistics.clustered import check_confidence

#: A part of a predictor that varies by less than this share of its size is constant but for
#: rounding.
_CONSTANT = 1e-12

#: Log odds whose odds are no longer a number.
_LARGEST = 700.0


class Regression(NamedTuple):
    """Coefficients, and the fits behind them, row by row."""

    estimates: pl.DataFrame
    fits: pl.DataFrame

    @staticmethod
    def from_rows(rows: Sequence[Mapping[str, Any]]) -> Regression:
        """Split rows into estimates and fits."""
        frame = pl.DataFrame(rows, schema={**ESTIMATES, **FITS})
        frame = frame.with_columns(pl.selectors.float().fill_nan(None), measure=pl.lit("log_odds"))
        estimates = as_estimates(frame.select(list(ESTIMATES)), COMMON_MEASURES)
        return Regression(estimates, frame.select(list(FITS)))


def regress(
    frame: pl.DataFrame,
    predictor: str,
    *,
    response_variable: str = "decision",
    clusters: str | None = None,
    by: str | None = None,
    confidence: float = 0.95,
) -> Regression:
    """Regress a binary outcome on a predictor, a row for each part, method and component.

    Parameters
    ----------
    frame
        A row per prompt.
    predictor
        Column of numbers, in any unit; null where there is none.
    response_variable
        Column of 1, 0 or null.
    clusters
        Column that tells which rows are not independent, as the stereotype. Without it there is
        only the method ``published`` of the component ``total``.
    by
        Column whose values part the rows, each part fitted on its own beside ``"all"``.
    confidence
        Of the intervals, 0…1.

    Returns
    -------
    Regression
        `estimates`, columns of `results.ESTIMATES`: the change in log odds for one unit of the
        predictor; and `fits`, columns of `results.FITS`, in the same order. No number is null,
        never nan; `note` says why.

    Raises
    ------
    InputError
        If a column is missing or not numeric, a number is not finite, an outcome is not 0 or 1,
        a cluster or group is null, or a parameter means nothing.

    Examples
    --------
    >>> import polars as pl
    >>> frame = pl.DataFrame({
    ...     "score": [-1.0, -0.5, -0.5, 0, 0, 0.5, 0.5, 0.5, 1, 1],
    ...     "decision": [0, 0, 1, 0, 1, 0, 1, 1, 1, 1],
    ... })
    >>> estimates = regress(frame, "score").estimates
    >>> estimates.select("n", pl.col("estimate", "se", "p").round(3)).row(0)
    (10, 1.994, 1.366, 0.144)
    """
    check_confidence(confidence)
    constants: dict[str, Any] = {"predictor": predictor, "response_variable": response_variable}
    constants |= {"confidence": confidence, "clustered_by": clusters}
    rows: list[dict[str, Any]] = []
    for sample in samples(frame, [predictor], response_variable, clusters, by):
        n_clusters = clusters and sample.n_clusters
        sample_columns = {**constants, **sample.counts(), "n_clusters": n_clusters}
        for row in _regression_rows(sample, predictor, clusters is not None, confidence):
            rows.append(sample_columns | row)
    return Regression.from_rows(rows)


def _regression_rows(
    sample: Sample, predictor: str, clustered: bool, confidence: float
) -> Iterator[dict[str, Any]]:
    """Give a row for each method and component."""
    for method in ("published", "clustered") if clustered else ("published",):
        fitted = fit(sample, sample.x, method)
        constants = {"method": method, "component": "total", "formula": f"1 + {predictor}"}
        likelihood = _likelihood_columns(sample, fitted, method)
        yield {**constants, **likelihood, **_coefficient_row(fitted, 1, confidence)}
    for method in ("clustered", "mixed") if clustered else ():
        formula = f"1 + within {predictor} + between {predictor}"
        for component, row in _component_rows(sample, method, confidence).items():
            yield {"method": method, "component": component, "formula": formula} | row


def _component_rows(sample: Sample, method: str, confidence: float) -> dict[str, dict[str, Any]]:
    """Fit the within and the between part together; a part that does not vary has a note."""
    if note := obstacle(sample, sample.x):
        return dict.fromkeys(("within", "between"), {"note": note})
    parts = sample.components()
    rows = {name: {"note": f"predictor does not vary {name} clusters"} for name in parts}
    least = _CONSTANT * np.abs(sample.x).max()
    varied = [name for name, x in parts.items() if np.ptp(x) > least]
    x = np.column_stack([parts[name] for name in varied])
    fitted = fit(sample, x, method, slopes=[0] if "within" in varied else [])
    likelihood = _likelihood_columns(sample, fitted, method)
    for position, name in enumerate(varied, start=1):
        rows[name] = likelihood | _coefficient_row(fitted, position, confidence)
    if sample.n_clusters == 2:  # an intercept and a slope fit two clusters exactly
        rows["between"] = {"note": "fewer than 3 clusters"}
    return rows


def _coefficient_row(fitted: Fit, position: int, confidence: float) -> dict[str, Any]:
    """Return the numbers of one coefficient, or the note why there are none."""
    slope = fitted.coefficient(position, confidence)
    if "note" in slope:
        return slope | {"converged": False if fitted.note == NOT_CONVERGED else None}
    odds = math.exp(slope["estimate"]) if abs(slope["estimate"]) < _LARGEST else None
    row = {
        **slope,
        "intercept": fitted.coefficients[0],
        "intercept_se": fitted.se[0],
        "covariance": fitted.covariance[0, position],
        "odds_ratio": odds,
        "converged": True,
    }
    if fitted.sds is not None:
        # Not strict: without a within part there is no random slope.
        row |= dict(zip(("cluster_sd", "slope_sd"), fitted.sds, strict=False))
    return row


def _likelihood_columns(sample: Sample, fitted: Fit, method: str) -> dict[str, float | None]:
    """Return what follows from the likelihood; tests and criteria only where it is the model's."""
    if fitted.note is not None:
        return {}
    null = fit(sample, sample.x[:, :0], "mixed" if method == "mixed" else "published")
    columns: dict[str, float | None] = {"log_likelihood": fitted.log_likelihood}
    if null.note is None:
        columns["ll_null"] = null.log_likelihood
        columns["pseudo_r2"] = 1.0 - fitted.log_likelihood / null.log_likelihood
    if method != "clustered":
        columns |= fitted.criteria(len(sample.y))
    if method == "published":
        ratio = max(2.0 * (fitted.log_likelihood - null.log_likelihood), 0.0)
        columns["llr_p"] = float(chdtrc(1.0, ratio))
    return columns


def compare_predictors(
    frame: pl.DataFrame,
    predictors: Sequence[str],
    *,
    response_variable: str = "decision",
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
    response_variable
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
    for sample in samples(frame, predictors, response_variable, clusters, by):
        for method in ("published", "mixed") if clusters else ("published",):
            constants = {"response_variable": response_variable, "method": method}
            constants |= {**sample.counts(), "component": "total"}
            for indices in models:
                for row in _model_rows(sample, predictors, indices, method):
                    rows.append(constants | row)
    estimates, fits = Regression.from_rows(rows)
    return Regression(estimates, _add_weights(fits))


def _model_rows(
    sample: Sample, predictors: Sequence[str], indices: tuple[int, ...], method: str
) -> list[dict[str, Any]]:
    """Return the rows of one model of a comparison: one per predictor in it."""
    names = [predictors[i] for i in indices]
    x = sample.x[:, list(indices)]
    fitted = fit(sample, x, method)
    constants: dict[str, Any] = {"formula": " + ".join(["1", *names]), "note": fitted.note}
    if fitted.note is not None:
        return [constants | {"predictor": name} for name in names] or [constants]
    constants |= {"log_likelihood": fitted.log_likelihood, "n_parameters": fitted.n_parameters}
    constants |= fitted.criteria(len(sample.y))
    if not indices:
        return [constants]
    rows = []
    for i, name in enumerate(names, start=1):
        slope = fitted.coefficient(i, 0.95)
        tested = {key: slope.get(key) for key in ("estimate", "se", "p", "note")}
        per_sd = fitted.coefficients[i] * x[:, i - 1].std(ddof=1)
        rows.append({**constants, **tested, "predictor": name, "coefficient_per_sd": per_sd})
    return rows


def _add_weights(rows: pl.DataFrame) -> pl.DataFrame:
    """Add what compares the models of one group and method."""
    group = ["part", "method"]
    deltas = [(pl.col(c) - pl.col(c).min().over(group)).alias(f"delta_{c}") for c in ("aic", "bic")]
    weight = (-0.5 * pl.col("delta_aic")).exp()
    # One row of each model: the joint model has a row per predictor.
    first = pl.int_range(pl.len()).over([*group, "formula"]) == 0
    null = pl.col("log_likelihood").filter(formula="1").first().over(group)
    return rows.with_columns(*deltas).with_columns(
        pseudo_r2=1.0 - pl.col("log_likelihood") / null,
        akaike_weight=weight / weight.filter(first).sum().over(group),
    )
