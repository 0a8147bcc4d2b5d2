"""Prompt against representation: what a model says beside what stands in its states.

Reference
    Bai, Wang, Sucholutsky & Griffiths (2025), PNAS 122(8), e2416228122, SI sections J and O: the
    word association score of a prompt and the WEAT effect of the same words, layer by layer, and
    which of them decisions follow from.

Measures
    `relate` gives two tables. Correlations: Pearson's r with Fisher's interval and Spearman's ρ,
    −1…1, neutral 0, for each layer; over trials (prompts), and over the means of stereotypes.
    Trials of a stereotype are alike, so that a trial's p is too small. Fits: logistic regressions
    of decisions on the prompt's score and on the effect of each layer, all on the same rows, by
    AIC and BIC; lower is better.

Missing answers are a factor, because results turn on them: ``left_out``; ``zero``, no bias, as the
    released analysis counts a refusal; ``lowest`` (−1) and ``highest`` (1), the bounds. A mean
    effect of a stereotype is over the same trials as its mean score.

Deviations from the source
    The paper drops unusable answers for some numbers and does not say how for others. Decisions
    are read by rules, not by hand. p is also given by stereotype clusters (`p_clustered`).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
import polars as pl
from scipy import stats
from scipy.special import ndtr, ndtri, stdtr

from tiltmeter.errors import InputError
from tiltmeter.results.states import FITS, RELATIONS
from tiltmeter.results.tables import need_columns
from tiltmeter.statistics.effects import holm
from tiltmeter.statistics.samples import Sample, fit, samples

__all__ = ["MISSING", "relate"]

#: What an answer without a score counts as; null: nothing.
MISSING: dict[str, float | None] = {"left_out": None, "zero": 0.0, "lowest": -1.0, "highest": 1.0}

#: Fewer points are not correlated: Fisher's interval needs 4.
_FEWEST = 4

_KEYS = ["model", "stereotype", "trial"]


def relate(
    scores: pl.DataFrame,
    associations: pl.DataFrame,
    *,
    missing: Sequence[str] = tuple(MISSING),
    confidence: float = 0.95,
) -> tuple[pl.DataFrame, pl.DataFrame]:
    """Relate scores of answers to effects in the states of the same words.

    Parameters
    ----------
    scores
        A row per answer: `model`, `stereotype`, `trial`, `score` (null where there is none) and,
        for fits, `decision` (1, 0 or null).
    associations
        A row per layer: `stereotype` (or `test`), `layer`, `effect`, `removed` (else 0); with
        `trial`, effects of the words of each trial, else one for all trials of a stereotype. With
        scores of several models also `model`.
    missing
        Ways with missing answers, of MISSING.
    confidence
        Of the intervals.

    Returns
    -------
    relations : polars.DataFrame
        Columns of RELATIONS. Without `trial` in `associations` only over stereotypes. r is null
        where one of the two does not vary, or there are fewer than 4 points.
    fits : polars.DataFrame
        Columns of FITS; empty without decisions. Numbers are null where there is no fit, as where
        a predictor does not vary.

    Raises
    ------
    InputError
        If a column is missing, a row stands twice, a way is not known, or nothing can be joined.

    Examples
    --------
    >>> scores = pl.DataFrame({"model": "m", "stereotype": list("abcd"), "trial": 1,
    ...                        "score": [0.1, 0.4, 0.3, 0.9]})
    >>> effects = pl.DataFrame({"stereotype": list("abcd"), "layer": "3",
    ...                         "effect": [0.0, 1.0, 0.5, 1.5]})
    >>> relations, _ = relate(scores, effects, missing=["left_out"])
    >>> relations.select("layer", "level", pl.col("r").round(3), "rho", "n").rows()
    [('3', 'stereotype', 0.948, 1.0, 4)]
    """
    if not 0 < confidence < 1:
        raise InputError(f"confidence {confidence}: must lie between 0 and 1, as 0.95")
    for way in missing:
        if way not in MISSING:
            raise InputError(f"missing {way!r}: allowed are {', '.join(MISSING)}")
    said, inside = _scores(scores), _effects(associations, scores)
    relations: list[dict[str, Any]] = []
    fits: list[pl.DataFrame] = []
    for way in missing:
        filled = _fill(said, way)
        joined = inside.join(filled, on=[k for k in _KEYS if k in inside.columns], how="inner")
        if joined.is_empty() and way != "left_out":
            raise InputError("scores and associations: no stereotype and trial is in both")
        relations += _relations(joined, way, confidence, "trial" in inside.columns)
        if said["decision"].is_not_null().any():
            fits.append(_fits(joined, way, confidence))
    return (
        _adjust(pl.DataFrame(relations, schema=RELATIONS)),
        pl.concat([pl.DataFrame(schema=FITS), *fits]),
    )


def _scores(scores: pl.DataFrame) -> pl.DataFrame:
    need_columns(scores, [*_KEYS, "score"], "scores")
    _check_once(scores, _KEYS, "scores")
    if "decision" not in scores.columns:
        scores = scores.with_columns(decision=pl.lit(None, pl.Float64))
    numbers = pl.col("score", "decision").cast(pl.Float64)
    return scores.select(pl.col(_KEYS).cast(pl.String), numbers)


def _effects(associations: pl.DataFrame, scores: pl.DataFrame) -> pl.DataFrame:
    if "stereotype" not in associations.columns and "test" in associations.columns:
        associations = associations.rename({"test": "stereotype"})
    several = scores["model"].n_unique() > 1
    need_columns(
        associations, ["stereotype", "layer", "effect", *["model"] * several], "associations"
    )
    if "removed" not in associations.columns:
        associations = associations.with_columns(removed=pl.lit(0))
    named = ["stereotype", *(k for k in ("trial",) if k in associations.columns), "layer"]
    keys = [*["model"] * several, *named]
    _check_once(associations, [*keys, "removed"], "associations")
    return associations.select(
        pl.col(keys).cast(pl.String),
        pl.col("removed").cast(pl.Int64),
        pl.col("effect").cast(pl.Float64),
    )


def _check_once(frame: pl.DataFrame, keys: Sequence[str], name: str) -> None:
    twice = frame.filter(frame.select(keys).is_duplicated())
    if not twice.is_empty():
        row = ", ".join(str(value) for value in twice.select(keys).row(0))
        raise InputError(f"{name}: several rows of {row}; expected one for each {', '.join(keys)}")


def _fill(said: pl.DataFrame, way: str) -> pl.DataFrame:
    value = MISSING[way]
    if value is None:
        return said.filter(pl.col("score").is_not_null())
    return said.with_columns(pl.col("score").fill_null(value))


def _relations(
    joined: pl.DataFrame, way: str, confidence: float, by_trial: bool
) -> Iterator[dict[str, Any]]:
    """Correlate at each layer and level."""
    keys = ["model", "removed", "layer"]
    known = joined.filter(pl.col("effect").is_not_null())
    means = known.group_by([*keys, "stereotype"], maintain_order=True).agg(
        pl.col("score", "effect").mean()
    )
    levels = ({"trial": known} if by_trial else {}) | {"stereotype": means}
    for level, points in levels.items():
        for key, part in points.group_by(keys, maintain_order=True):
            stated = dict(zip(keys, key, strict=True)) | {"missing": way, "level": level}
            yield (
                stated | {"confidence": confidence, "n": part.height} | _correlate(part, confidence)
            )


def _correlate(part: pl.DataFrame, confidence: float) -> dict[str, float]:
    x, y = part["score"].to_numpy(), part["effect"].to_numpy()
    if len(x) < _FEWEST or np.ptp(x) == 0 or np.ptp(y) == 0:
        return {}
    found = stats.pearsonr(x, y)
    low, high = found.confidence_interval(confidence)
    return {
        "r": float(found.statistic),
        "ci_low": float(low),
        "ci_high": float(high),
        "p": float(found.pvalue),
        "rho": float(stats.spearmanr(x, y).statistic),
    }


def _adjust(rows: pl.DataFrame) -> pl.DataFrame:
    """Add p_holm over the layers of what else is the same."""
    family = ["model", "removed", "missing", "level"]
    parts = []
    for part in rows.partition_by(family, maintain_order=True):
        adjusted = np.full(part.height, np.nan)
        tested = part["p"].is_not_null().to_numpy()
        adjusted[tested] = holm(part["p"].drop_nulls().to_numpy())
        parts.append(part.with_columns(p_holm=pl.Series(adjusted, nan_to_null=True)))
    return pl.concat(parts) if parts else rows


def _fits(joined: pl.DataFrame, way: str, confidence: float) -> pl.DataFrame:
    """Fit every predictor of decisions to the rows that have them all."""
    known = joined.drop_nulls(["decision", "effect"])
    parts = []
    for (model,), part in known.group_by(["model"], maintain_order=True):
        places = part.select("removed", "layer").unique(maintain_order=True).rows()
        wide = part.pivot(
            on=["removed", "layer"], index=[*_KEYS, "score", "decision"], values="effect"
        )
        columns = [c for c in wide.columns if c not in (*_KEYS, "score", "decision")]
        sample = next(samples(wide, ["score", *columns], "decision", "stereotype", None))
        rows = []
        for at, place in enumerate([(None, None), *places]):
            stated = {"model": model, "removed": place[0], "layer": place[1], "missing": way}
            stated["predictor"] = "representation" if at else "word_association"
            stated |= {"confidence": confidence, "n": len(sample.y)}
            rows.append(stated | _fit(sample, at, confidence))
        parts.append(pl.DataFrame(rows, schema=FITS))
    best = pl.col("aic") - pl.col("aic").min().over("model")
    return pl.concat([pl.DataFrame(schema=FITS), *parts]).with_columns(delta_aic=best)


def _fit(sample: Sample, at: int, confidence: float) -> dict[str, float | None]:
    x = sample.x[:, [at]]
    found = fit(sample, x, "published")
    if found.note is not None:
        return {}
    coefficient, se = float(found.coefficients[1]), float(found.se[1])
    half = float(ndtri(0.5 + confidence / 2)) * se
    clustered = fit(sample, x, "clustered")
    p_clustered = None
    if clustered.note is None and clustered.df is not None:
        t = coefficient / float(clustered.se[1])
        p_clustered = 2 * float(stdtr(float(clustered.df[1]), -abs(t)))
    return {
        "coefficient": coefficient,
        "ci_low": coefficient - half,
        "ci_high": coefficient + half,
        "p": 2 * float(ndtr(-abs(coefficient / se))),
        "p_clustered": p_clustered,
        **found.criteria(len(sample.y)),
    }
