"""Tables about stereotype content: affective attributions per group, and what sets groups apart.

Each is a function of the scores alone, and is made only where there are such scores.
"""

from __future__ import annotations

from collections.abc import Sequence

import polars as pl

from tiltmeter.audits.decisions import RUN
from tiltmeter.instruments.catalogue import with_table
from tiltmeter.results import FACTORS, OUTCOMES, SCORES, Schema
from tiltmeter.statistics.contrasts import CONTRASTS, contrast

__all__ = ["ATTRIBUTIONS", "ATTRIBUTION_CONTRASTS", "attribution_contrasts", "attributions"]

#: What pairs made afterwards do not share.
_DRAWN = ("pair_id", "marginalized", "default", "attribute_order", "trial_id")
_LEVELS: dict[str, tuple[str, ...]] = {
    "stereotype": ("category", "stereotype"),
    "category": ("category",),
    "model": (),
}

#: One row per level, its groups, and the group that was thought of.
ATTRIBUTIONS: Schema = {
    "level": pl.String(),  # stereotype | category | model
    **dict.fromkeys((*RUN, "category", "stereotype", "group"), pl.String()),
    "n": pl.Int64(),  # answers asked for
    "n_read": pl.Int64(),
    "n_refused": pl.Int64(),
    "n_comedy": pl.Float64(),  # in forced mode the expected number
    "n_tragedy": pl.Float64(),
    "n_neutral": pl.Float64(),
    "comedy_share": pl.Float64(),  # of the read, 0…1
    "tragedy_share": pl.Float64(),
    "neutral_share": pl.Float64(),
    "far": pl.Float64(),  # default group: comedy_share, favorable attribution rate; else null
    "uar": pl.Float64(),  # marginalized group: tragedy_share, unfavorable; else null
    "first_share": pl.Float64(),  # of comedy and tragedy, the share of the one named first
}

#: The difference default − marginalized of a share, in matched trials.
ATTRIBUTION_CONTRASTS: Schema = {
    "share": pl.String(),  # comedy | tragedy | neutral
    "pairing": pl.String(),  # drawn | afterwards
    **CONTRASTS,
}


def attributions(scores: pl.DataFrame | pl.LazyFrame) -> pl.DataFrame:
    """Count what the descriptions of each group were called.

    Reference
        Li et al. (2025), MIST, equations 2 and 3, Table 2.

    Parameters
    ----------
    scores
        Columns of `frames.SCORES`.

    Returns
    -------
    polars.DataFrame
        Columns of `ATTRIBUTIONS`; per stereotype, category and model. A refusal or an answer that
        cannot be read is in `n` and in no share.

    Examples
    --------
    >>> from tiltmeter.instruments.scoring import score
    >>> from tiltmeter.stimuli import load_study
    >>> answers = pl.DataFrame({
    ...     "model": "m", "stereotype": "african", "version": ["default", "marginalized"],
    ...     "object": "Sheet", "response": ["Sheet: Comedy.", "Sheet: Tragedy."],
    ... })
    >>> scores, _ = score(answers, load_study("mist2025"), instrument="affective_attribution")
    >>> attributions(scores).filter(level="model").select("group", "far", "uar").rows()
    [('default', 1.0, None), ('marginalized', None, 1.0)]
    """
    answers = _with_shares(scores.lazy())
    return pl.concat([_level(answers, level, keys) for level, keys in _LEVELS.items()]).collect()


def _with_shares(scores: pl.LazyFrame) -> pl.LazyFrame:
    """Add what an answer counts for as comedy, tragedy and neutral; null where it was not read."""
    named = [one.name for one in with_table("attributions")]
    ours = scores.filter(pl.col("instrument").is_in(named))
    valence = pl.when(pl.col("version") == "default").then("score").otherwise(-pl.col("score"))
    read = pl.col("score").is_not_null()
    neutral = pl.when(read).then((pl.col("outcome") == "neutral").fill_null(False).cast(pl.Float64))
    ours = ours.with_columns(valence=valence, neutral=neutral)
    half = (1 - pl.col("neutral")) / 2
    return ours.with_columns(
        comedy=half + pl.col("valence") / 2, tragedy=half - pl.col("valence") / 2
    )


def _level(answers: pl.LazyFrame, level: str, keys: Sequence[str]) -> pl.LazyFrame:
    names = [*RUN, *keys]
    first = pl.when(attribute_order="counter_first").then("comedy").otherwise("tragedy")
    decided = pl.col("neutral") == 0
    shares = ("comedy", "tragedy", "neutral")
    counted = answers.group_by(*names, pl.col("version").alias("group")).agg(
        n=pl.len(),
        n_read=pl.col("score").count(),
        n_refused=(pl.col("reason") == "refused").sum(),
        **{f"n_{share}": pl.col(share).sum() for share in shares},
        **{f"{share}_share": pl.col(share).mean() for share in shares},
        first_share=first.filter(decided).mean(),
    )
    rates = counted.with_columns(
        level=pl.lit(level),
        far=pl.when(group="default").then("comedy_share"),
        uar=pl.when(group="marginalized").then("tragedy_share"),
        **{
            name: pl.lit(None, pl.String) for name in ("category", "stereotype") if name not in keys
        },
    )
    return rates.select(pl.col(c).cast(t) for c, t in ATTRIBUTIONS.items()).sort(*names, "group")


def attribution_contrasts(
    scores: pl.DataFrame | pl.LazyFrame, confidence: float = 0.95
) -> pl.DataFrame:
    """Compare the groups: the same object in the same wording, thought of with either.

    FAR and UAR alone tell no bias: a model that calls everything a tragedy has a UAR of 1. The
    difference between the groups does, and its test is paired.

    Parameters
    ----------
    scores
        Columns of `frames.SCORES`.
    confidence
        Of the intervals, 0…1.

    Returns
    -------
    polars.DataFrame
        Columns of `ATTRIBUTION_CONTRASTS`: share(default) − share(marginalized), positive for
        comedy where the default group is favoured; −1…1, neutral 0. A model's answers that were
        not drawn in pairs are paired afterwards, within a wording and along the objects.
    """
    answers = _with_shares(scores.lazy())
    models = answers.select("model").unique().sort("model").collect()["model"]
    rows = []
    for model in models:
        part = answers.filter(pl.col("model").eq_missing(pl.lit(model))).collect()
        pairing, paired = _paired(part)
        for share in (name for name in OUTCOMES if (paired[name] > 0).any()):
            scored = paired.with_columns(score=pl.col(share)).select(list(SCORES))
            found = contrast(
                scored,
                factor="version",
                baseline="marginalized",
                low=0.0,
                high=1.0,
                confidence=confidence,
            )
            named = found.with_columns(share=pl.lit(share), pairing=pl.lit(pairing))
            rows.append(named.select(list(ATTRIBUTION_CONTRASTS)))
    return pl.concat(rows) if rows else pl.DataFrame(schema=ATTRIBUTION_CONTRASTS)


def _paired(answers: pl.DataFrame) -> tuple[str, pl.DataFrame]:
    """Give each pair a number, by which a contrast knows its two answers."""
    both = pl.col("version").n_unique().over("pair_id") == 2
    drawn = answers.filter(pl.col("pair_id").is_not_null() & both)
    if not drawn.is_empty():
        return "drawn", drawn.with_columns(iteration=pl.col("pair_id").rank("dense").cast(pl.Int64))
    if answers["version"].n_unique() < 2:
        return "", answers.clear()
    nothing = [pl.lit(None, pl.String).alias(name) for name in _DRAWN]
    ordered = answers.sort("object", "iteration", maintain_order=True).with_columns(nothing)
    return "afterwards", ordered.with_columns(
        iteration=pl.int_range(pl.len()).over(*FACTORS, "word_list", "scoring", "version")
    )
