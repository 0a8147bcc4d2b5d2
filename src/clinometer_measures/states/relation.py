"""Prompt against representation: answers related to hidden states of the same words.

Reference
    Bai, Wang, Sucholutsky & Griffiths (2025), PNAS 122(8), e2416228122, SI sections J and O: the
    word association score of a prompt and the WEAT effect of the same words, layer by layer, and
    which of them decisions follow from.

Measures
    For each layer `correlation` (Pearson's, method ``fisher``) and `rank_correlation`
    (Spearman's, ``descriptive``) of scores and effects, −1…1, neutral 0; over trials (prompts), and
    over the means of stereotypes. Trials of a stereotype are alike, so that a trial's p is too
    small. And `log_odds`: logistic regressions of decisions on the prompt's score (`predictor`
    word_association) and on the effect of each layer (hidden_states), all on the same rows, with
    AIC and BIC; lower is better.

    The effect of a trial (`trial_effects`) takes its attributes for targets, and its two group
    words for what they are close to: the difference of the mean association of the tied and the
    counter attributes, in standard deviations over all (ddof 0). Range −2…2, neutral 0, positive
    stereotype-consistent. One prompt is no test, so there is no p.

Answers without a score are a factor, `missing_as`, because results turn on them: ``left_out``;
``zero``, no bias, as the released analysis counts a refusal; ``lowest`` (−1) and ``highest`` (1),
the bounds. A mean effect of a stereotype is over the same trials as its mean score.

Deviations from the source
    The paper drops unusable answers for some numbers and does not say how for others. Decisions
    are read by rules, not by hand. Method ``clustered`` of the regressions takes stereotypes for
    clusters.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np
import polars as pl
from numpy.typing import NDArray

from clinometer.errors import InputError
from clinometer.papers.samples import Sample, fit, samples
from clinometer.results import ESTIMATES, as_estimates
from clinometer.results.schemas import FITS
from clinometer.results.tables import need_columns
from clinometer.statistics.clustered import adjusted, check_confidence, holm
from clinometer.statistics.dimensions import correlate
from clinometer_measures.states.differential import difference
from clinometer_measures.states.measures import MEASURES
from clinometer_measures.states.readers.states import HiddenStates

__all__ = ["MISSING", "TRIAL_WORDS", "Related", "relate", "trial_effects"]

#: What an answer without a score counts as; null: nothing.
MISSING: dict[str, float | None] = {"left_out": None, "zero": 0.0, "lowest": -1.0, "highest": 1.0}

#: The words of a trial: the two groups it asks about, and the attributes of each side.
TRIAL_WORDS = {
    **dict.fromkeys(("stereotype", "trial", "marginalized", "default"), pl.String()),
    **dict.fromkeys(("tied", "counter"), pl.List(pl.String())),
}

_KEYS = ["model", "stereotype", "trial"]

Array = NDArray[np.float64]


class Related(NamedTuple):
    """Columns of `results.ESTIMATES`, and of FITS, the regressions behind them."""

    estimates: pl.DataFrame
    fits: pl.DataFrame


def relate(
    scores: pl.DataFrame,
    associations: pl.DataFrame,
    *,
    missing_as: Sequence[str] = tuple(MISSING),
    confidence: float = 0.95,
) -> Related:
    """Relate scores of answers to effects in the states of the same words.

    Parameters
    ----------
    scores
        A row per answer: `model`, `stereotype`, `trial`, `score` (null where there is none) and,
        for regressions, `decision` (1, 0 or null).
    associations
        A row per layer: `stereotype`, `layer`, `estimate`, `removed` (else 0); with `trial`,
        effects of the words of each trial, else one for all trials of a stereotype. With scores of
        several models also `model`.
    missing_as
        What answers without a score count as, of MISSING.
    confidence
        Of the intervals.

    Returns
    -------
    Related
        Without `trial` in `associations` correlations are only over stereotypes; without decisions
        there are no regressions. No number is null, and `note` says why.

    Raises
    ------
    InputError
        If a column is missing, a row stands twice, a value is not known, or nothing can be joined.

    Examples
    --------
    >>> scores = pl.DataFrame({"model": "m", "stereotype": list("abcd"), "trial": 1,
    ...                        "score": [0.1, 0.4, 0.3, 0.9]})
    >>> effects = pl.DataFrame({"stereotype": list("abcd"), "layer": "3",
    ...                         "estimate": [0.0, 1.0, 0.5, 1.5]})
    >>> estimates = relate(scores, effects, missing_as=["left_out"]).estimates
    >>> estimates.select("layer", "level", "measure", pl.col("estimate").round(3), "n").rows()
    [('3', 'stereotype', 'correlation', 0.948, 4), ('3', 'stereotype', 'rank_correlation', 1.0, 4)]
    """
    check_confidence(confidence)
    for treatment in missing_as:
        if treatment not in MISSING:
            raise InputError(f"missing_as {treatment!r}: allowed are {', '.join(MISSING)}")
    answers = _check_scores(scores)
    effects = _check_effects(associations, scores)
    keys = [key for key in _KEYS if key in effects.columns]
    correlations: list[dict[str, Any]] = []
    regressions: list[dict[str, Any]] = []
    for treatment in missing_as:
        filled_score = pl.col("score").fill_null(pl.lit(MISSING[treatment], pl.Float64))
        filled = answers.with_columns(filled_score).drop_nulls("score")
        pairs = effects.join(filled, on=keys, how="inner", maintain_order="left_right")
        # Where missing scores are left out, it may be that no answer has one.
        if pairs.is_empty() and treatment != "left_out":
            raise InputError("scores and associations: no stereotype and trial is in both")
        correlations += _correlations(pairs, treatment, confidence, "trial" in keys)
        if answers["decision"].is_not_null().any():
            regressions += _regressions(pairs, treatment, confidence)
    rows = pl.DataFrame([*correlations, *regressions], schema={**ESTIMATES, **FITS})
    # Of the p that there are only Pearson's is adjusted.
    when_pearson = pl.when(measure="correlation")
    p_holm = when_pearson.then(adjusted(holm, "model", "measure", "removed", "missing_as", "level"))
    estimates = rows.select(list(ESTIMATES)).with_columns(
        p_holm=p_holm,
        adjusted_over=when_pearson.then(pl.lit("layers")),
        alternative=pl.when(pl.col("p").is_not_null()).then(pl.lit("two-sided")),
    )
    fits = rows.filter(measure="log_odds", method="published").select(list(FITS))
    best = pl.col("aic").min().over("model", "missing_as")
    return Related(
        as_estimates(estimates, MEASURES, "states"),
        fits.with_columns(delta_aic=pl.col("aic") - best),
    )


def _check_scores(scores: pl.DataFrame) -> pl.DataFrame:
    """Check the table of scores: a row per answer, with a column of decisions."""
    need_columns(scores, [*_KEYS, "score"], "scores")
    _check_once(scores, _KEYS, "scores")
    if "decision" not in scores.columns:
        scores = scores.with_columns(decision=pl.lit(None, pl.Float64))
    numbers = pl.col("score", "decision").cast(pl.Float64)
    return scores.select(pl.col(_KEYS).cast(pl.String), numbers)


def _check_effects(associations: pl.DataFrame, scores: pl.DataFrame) -> pl.DataFrame:
    """Check the table of effects, a row per layer; `model` is needed if scores are of several."""
    model = ["model"] if scores["model"].n_unique() > 1 else []
    need_columns(associations, ["stereotype", "layer", "estimate", *model], "associations")
    if "removed" not in associations.columns:
        associations = associations.with_columns(removed=pl.lit(0))
    trial = ["trial"] if "trial" in associations.columns else []
    keys = [*model, "stereotype", *trial, "layer"]
    _check_once(associations, [*keys, "removed"], "associations")
    return associations.select(
        pl.col(keys).cast(pl.String),
        pl.col("removed").cast(pl.Int64),
        effect=pl.col("estimate").cast(pl.Float64),
    )


def _check_once(frame: pl.DataFrame, keys: Sequence[str], name: str) -> None:
    """Raise InputError if several rows have the same keys."""
    twice = frame.filter(frame.select(keys).is_duplicated())
    if not twice.is_empty():
        row = ", ".join(str(value) for value in twice.select(keys).row(0))
        raise InputError(f"{name}: several rows of {row}; expected one for each {', '.join(keys)}")


def _correlations(
    pairs: pl.DataFrame, treatment: str, confidence: float, by_trial: bool
) -> Iterator[dict[str, Any]]:
    """Correlate at each layer and level."""
    keys = ["model", "removed", "layer"]
    trials = pairs.filter(pl.col("effect").is_not_null())
    by_stereotype = trials.group_by([*keys, "stereotype"], maintain_order=True)
    means = by_stereotype.agg(pl.col("score", "effect").mean())
    levels = ({"trial": trials} if by_trial else {}) | {"stereotype": means}
    for level, points in levels.items():
        for key, part in points.group_by(keys, maintain_order=True):
            row = dict(zip(keys, key, strict=True)) | {"missing_as": treatment, "level": level}
            row |= {"subject": row["model"], "instrument": "relation", "n": part.height}
            scores = part["score"].to_numpy()
            effects = part["effect"].to_numpy()
            note = "scores or effects do not vary"
            for correlation in correlate(scores, effects, note, confidence):
                yield row | correlation


def _regressions(
    pairs: pl.DataFrame, treatment: str, confidence: float
) -> Iterator[dict[str, Any]]:
    """Fit every predictor of decisions to the rows that have them all."""
    complete = pairs.drop_nulls(["decision", "effect"])
    index = [*_KEYS, "score", "decision"]
    for (model,), part in complete.group_by(["model"], maintain_order=True):
        layers = part.select("removed", "layer").unique(maintain_order=True).rows()
        # A column of effects for each layer, so that all predictors have the same rows.
        wide = part.pivot(on=["removed", "layer"], index=index, values="effect")
        effects = [column for column in wide.columns if column not in index]
        sample = next(samples(wide, ["score", *effects], "decision", "stereotype", None))
        row = {"subject": model, "model": model, "instrument": "relation", "level": "trial"}
        row |= {"measure": "log_odds", "response_variable": "decision", "missing_as": treatment}
        row |= {"component": "total"}
        row |= {"confidence": confidence, **sample.counts()}
        # The first column of the sample is the score, which is of no layer.
        for column, (removed, layer) in enumerate([(None, None), *layers]):
            predictor = "hidden_states" if column else "word_association"
            row |= {"predictor": predictor, "formula": f"1 + {predictor}"}
            row |= {"removed": removed, "layer": layer}
            for coefficient in _fit_rows(sample, column, confidence):
                yield row | coefficient


def _fit_rows(sample: Sample, column: int, confidence: float) -> Iterator[dict[str, Any]]:
    """Give a row for each method; AIC and BIC are of the first."""
    x = sample.x[:, [column]]
    published = fit(sample, x, "published")
    criteria = {} if published.note else published.criteria(len(sample.y))
    yield {"method": "published", **published.coefficient(1, confidence), **criteria}
    clustered = {"clustered_by": "stereotype", "n_clusters": sample.n_clusters}
    # The estimate is that of the published fit: the methods differ in their errors alone.
    estimate = None if published.note else float(published.coefficients[1])
    robust = fit(sample, x, "clustered").coefficient(1, confidence)
    yield {"method": "clustered", **clustered, **robust, "estimate": estimate}


def trial_effects(states: HiddenStates, trials: pl.DataFrame, removed: int = 0) -> pl.DataFrame:
    """Give the WEAT effect of each trial's words at every layer.

    `trials` have columns TRIAL_WORDS; `removed`, for the record: components that were taken out of
    the states. Gives `stereotype`, `trial`, `layer`, `removed` and `estimate`, which is null where
    all attributes are equally close, or one side has none. Raises InputError if a column is
    missing, or a word has no state.
    """
    need_columns(trials, list(TRIAL_WORDS), "trials")
    # All words of a trial in one list: the two groups, then tied and counter attributes.
    all_words = pl.concat_list(list(TRIAL_WORDS)[2:])
    words_of_trials = trials.select(all_words, n_tied=pl.col("tied").list.len())
    position_by_word: dict[str, int] = {}
    word_positions: list[tuple[list[int], int]] = []
    for words, n_tied in words_of_trials.iter_rows():
        positions = [position_by_word.setdefault(word, len(position_by_word)) for word in words]
        word_positions.append((positions, n_tied))
    vectors = states.unit(position_by_word).swapaxes(0, 1)  # (layers, words, width)
    # All cosines once, (layers, words, words): trials share most of their words.
    cosines = np.stack([layer @ layer.T for layer in vectors])
    effects = [_trial_effect(cosines, positions, n_tied) for positions, n_tied in word_positions]
    names = trials.select(pl.col("stereotype", "trial").cast(pl.String), removed=removed)
    layers = pl.DataFrame({"layer": states.layers}).join(names, how="cross")
    # A row per trial becomes a row per layer, in the order of the cross join.
    values = np.array(effects).reshape(-1, len(states.layers)).T.ravel()
    estimate = pl.Series("estimate", values, nan_to_null=True)
    return layers.select("stereotype", "trial", "layer", "removed", estimate)


def _trial_effect(cosines: Array, positions: Sequence[int], n_tied: int) -> Array:
    """Compare the associations of tied and counter attributes with the two group words.

    `cosines` has shape (layers, words, words); the effect is nan where a side has no attribute.
    """
    first, second, *attributes = positions
    if not 0 < n_tied < len(attributes):
        return np.full(len(cosines), np.nan)
    associations = cosines[:, attributes, first] - cosines[:, attributes, second]
    # Contiguous: the order in which numpy sums, and so the last digit, depends on the layout.
    return difference(np.ascontiguousarray(associations), n_tied)
