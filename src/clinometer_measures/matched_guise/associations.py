"""Which words go with a dialect: by word, in the paper's unit, and along ratings by people.

Reference
    Hofmann et al. (2024), Nature 633, 147–154: strength of a stereotype, favourability, prestige.
    Crossed sources of variation: Cameron, Gelbach & Miller (2011), J. Business & Economic
    Statistics 29, 238–249: variances clustered by each factor, less those by two.

Measures
    `guise_strength` (`likelihood` alone): mean over answers of d / ln 10, d as in the instrument:
    how much more the dialect raises the tied words than the counter words, in powers of ten. Of the
    stereotype of 1933 it is the paper's stereotype strength.

    `guise_slope_NAME`: with x the rating of the counter word less that of the tied one, and y the
    score, Σxy / Σx². It goes through 0, because either word might have been called tied: both x and
    y would then change their signs. In scores per point of the rating; positive: the lower a word
    is rated, the more it goes with the dialect.

    Intervals are over texts, wordings, tied and counter words, all at random.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray

from clinometer.authoring import (
    CONDITIONS,
    Meaning,
    Measure,
    Schema,
    Study,
    Table,
    Tables,
    as_estimates,
    columns,
    typed_columns,
)
from clinometer.statistics.crossed_factors import CONFIDENCE, crossed_slope, factor_levels
from clinometer_measures.matched_guise.part import NAME, SPEAKER_WORDINGS, part_of

__all__ = ["DETAILS", "MEASURES", "analyse_associations"]

Array = NDArray[np.float64]

_SOURCE = "Hofmann et al. (2024)"

MEASURES = {
    measure.name: measure
    for measure in (
        Measure(
            "guise_strength", "Strength of the association, in powers of ten",
            -math.inf, math.inf, 0.0, "positive: the tied words go with the dialect", _SOURCE,
            consistent=None,
        ),
        Measure(
            "guise_slope_favourability", "Slope on favourability", -math.inf, math.inf, 0.0,
            "positive: unfavourable traits go with the dialect", _SOURCE, consistent=None,
        ),
        Measure(
            "guise_slope_prestige", "Slope on occupational prestige", -math.inf, math.inf, 0.0,
            "positive: occupations of low prestige go with the dialect", _SOURCE, consistent=None,
        ),
    )
}  # fmt: skip

_COLUMNS = {
    **typed_columns(
        pl.String(),
        guise_word=Meaning("a trait, an occupation or a verdict", "Word"),
        rated_on="the rating by people that the word has; null: none",
    ),
    **typed_columns(
        pl.Float64(),
        word_rating=Meaning("the word's rating by people; higher is more favourable", "Rating"),
        word_lean="mean score of the word against its partners, −1 to 1; positive: it goes with "
        "the dialect",
        word_low="low end of the 95% interval of `word_lean`, over texts and wordings; null: fewer "
        "than 3 of either",
        word_high="high end of the 95% interval of `word_lean`",
    ),
}

_RUN = ("model", "study", "instrument", "mode", *CONDITIONS, "word_list", "scoring", "control")

_WORDS: Schema = columns(
    *(*_RUN, "category", "stereotype", "guise_word", "rated_on", "word_rating", "word_lean"),
    *("word_low", "word_high", "n_scored"),
    own=_COLUMNS,
)

DETAILS = {
    "guise_words": Table(
        "answers",
        _WORDS,
        "a row per stereotype and word of matched guises: how far it goes with the dialect",
        _COLUMNS,
    )
}


def analyse_associations(scores: pl.LazyFrame, study: Study) -> Tables:
    """Set out the words of one model and study, with slopes on ratings by people.

    `scores`: columns of `results.SCORES`. Table: `guise_words`. Wordings that state who speaks are
    left out.
    """
    part = part_of(study)
    answers = scores.filter(
        pl.col("instrument") == NAME, ~pl.col("variation").is_in(SPEAKER_WORDINGS)
    ).collect().drop_nulls("score")  # fmt: skip
    tables = [pl.DataFrame(schema=_WORDS)]
    rows: list[dict[str, Any]] = []
    ratings = part.ratings if part else {}
    for keys, run in answers.group_by(_RUN, maintain_order=True):
        run_keys = dict(zip(_RUN, keys, strict=True))
        rows += _estimates(run, ratings, run_keys)
        tables.append(pl.DataFrame([*_words(run, ratings, run_keys)], schema=_WORDS))
    return Tables(as_estimates(rows, MEASURES), {"guise_words": pl.concat(tables)})


def _estimates(
    run: pl.DataFrame, ratings: Mapping[str, Mapping[str, float]], run_keys: Mapping[str, Any]
) -> Iterator[dict[str, Any]]:
    """Yield the strength of each stereotype, and the slope on each rating."""
    if run["mode"][0] == "likelihood":
        for (key,), answers in run.group_by("stereotype", maintain_order=True):
            strength = answers["logit"].to_numpy() / math.log(10)
            labels = {"stereotype": key, "category": answers["category"][0]}
            fitted = _row("guise_strength", np.ones(len(strength)), strength, answers)
            yield {**run_keys, "level": "stereotype", **labels, **fitted}
    for name, rating in ratings.items():
        # A stereotype of which a word is not rated has no part in the slope.
        rated = run.with_columns(
            x=pl.col("counter").replace_strict(rating, default=None, return_dtype=pl.Float64)
            - pl.col("tied").replace_strict(rating, default=None, return_dtype=pl.Float64)
        ).drop_nulls("x")
        x, y = rated["x"].to_numpy(), rated["score"].to_numpy()
        if x.any():
            yield {**run_keys, "level": "model", **_row(f"guise_slope_{name}", x, y, rated)}


def _row(measure: str, x: Array, y: Array, answers: pl.DataFrame) -> dict[str, Any]:
    """Return the columns of an estimate; one without an interval where a factor has few levels."""
    # A pair of texts is one text, whichever of the two is asked.
    factors = ["marginalized", "variation", "tied", "counter"]
    fitted = crossed_slope(x, y, factor_levels(answers, factors))
    return {
        "measure": measure,
        "method": "crossed",
        "subject": answers["model"][0],
        "n": len(x),
        "n_scored": len(x),
        "confidence": CONFIDENCE,
        **fitted,
    }


def _words(
    run: pl.DataFrame, ratings: Mapping[str, Mapping[str, float]], run_keys: Mapping[str, Any]
) -> Iterator[dict[str, Any]]:
    """Yield the row of every word: the mean of its scores, turned round for the counter word."""
    shared_columns = ["category", "stereotype", "marginalized", "variation"]
    sides = [
        run.select(*shared_columns, word=role, lean=pl.col("score") * sign)
        for role, sign in (("tied", 1.0), ("counter", -1.0))
    ]
    keys = ("category", "stereotype", "word")
    for (category, key, word), answers in pl.concat(sides).group_by(keys, maintain_order=True):
        lean = answers["lean"].to_numpy()
        fitted = crossed_slope(
            np.ones(len(lean)), lean, factor_levels(answers, ["marginalized", "variation"])
        )
        rating_name = next((name for name, rating in ratings.items() if word in rating), None)
        yield {
            **run_keys,
            "category": category,
            "stereotype": key,
            "guise_word": word,
            "rated_on": rating_name,
            "word_rating": ratings[rating_name][str(word)] if rating_name else None,
            "word_lean": fitted["estimate"],
            "word_low": fitted["ci_low"],
            "word_high": fitted["ci_high"],
            "n_scored": len(lean),
        }
