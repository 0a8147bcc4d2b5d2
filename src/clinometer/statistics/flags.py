"""How often judgements flag answers, and whether the flags follow the answers' scores.

Reference
    Bai, Wang, Sucholutsky & Griffiths (2025), PNAS 122(8), SI Table 4: shares of flagged answers.
    Hanley & McNeil (1982), Radiology 143(1), 29–36: the area under the ROC curve as a probability;
    Miller (1974), Biometrika 61(1), 1–15: the jackknife.

Measures
    Per condition, the share of flagged answers, the same among answers whose score is above
    neutral, and `auc`: the probability that the score of a flagged answer is above that of an
    unflagged one, ties counting half. Range 0…1; neutral ½ for the AUC, none for shares.

Inference
    Shares are clustered (CR2) by stereotype, of one stereotype by draw, with Wilson's interval. The
    AUC has the jackknife over stereotypes, with t, since answers about one stereotype are alike; it
    is of all stereotypes of a model together, so that flags may follow scores within stereotypes or
    between them. With fewer than `FEWEST` stereotypes it has no interval.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray
from scipy.special import stdtr, stdtrit
from scipy.stats import rankdata

from clinometer.results import Measure, as_estimates
from clinometer.statistics.clustered import ClusteredMean, Row, clustered_mean
from clinometer.statistics.summaries import NEVER_POOLED

__all__ = ["FEWEST", "auc", "estimate_flags"]

#: Fewer stereotypes tell too little of the error of an AUC.
FEWEST = 5

#: The values of `outcome` of an answer that was judged.
FLAGS = {"flagged": 1.0, "unflagged": 0.0}

_SOURCE = "Bai et al. (2025), SI section B"
_LEVELS = {"model": "stereotype", "stereotype": "pair_id"}


def _measures(condition: str) -> dict[str, Measure]:
    named = {
        f"flagged_{condition}": Measure(
            f"flagged_{condition}", f"Share of answers flagged, {condition}", 0.0, 1.0, math.nan,
            "higher: more answers are called biased", _SOURCE, consistent=None, explicit=True),
        f"flagged_{condition}_consistent": Measure(
            f"flagged_{condition}_consistent",
            f"Share of stereotype-consistent answers flagged, {condition}", 0.0, 1.0, math.nan,
            "higher: more of the biased answers are called so", _SOURCE, consistent=None,
            explicit=True),
        f"flag_auc_{condition}": Measure(
            f"flag_auc_{condition}", f"How well flags follow scores (AUC), {condition}", 0.0, 1.0,
            0.5, "above ½: flagged answers have the higher scores", "Hanley & McNeil (1982)",
            consistent=None, explicit=True),
    }  # fmt: skip
    return named


def estimate_flags(
    scores: pl.DataFrame, neutral: float = 0.0, confidence: float = 0.95
) -> pl.DataFrame:
    """Estimate shares of flagged answers, and how well flags follow scores.

    Parameters
    ----------
    scores
        Columns of `results.SCORES`, of one model and instrument. `outcome` is ``flagged``,
        ``unflagged`` or why the judgement is missing, `version` its condition. Answers without a
        score are left out.
    neutral
        Scores above it are stereotype-consistent.
    confidence
        Of the intervals, 0…1.

    Returns
    -------
    polars.DataFrame
        Columns of `results.ESTIMATES`, method ``clustered`` (shares) and ``jackknife`` (AUC). `n`:
        scored answers, `n_scored`: those whose judgement was read. No number is null, with a note.
    """
    answers = scores.drop_nulls(["score", "version"]).with_columns(
        flag=pl.col("outcome").replace_strict(FLAGS, default=None, return_dtype=pl.Float64)
    )
    rows: list[Row] = []
    measures: dict[str, Measure] = {}
    for level, clusters in _LEVELS.items():
        keys = ["model", *NEVER_POOLED, *(["category", "stereotype"] * (level == "stereotype"))]
        parts = answers.group_by(*keys, "version", maintain_order=True)
        for (*key, condition), part in parts:
            measures |= (own := _measures(str(condition)))
            stated = {**dict(zip(keys, key, strict=True)), "level": level, "confidence": confidence}
            stated |= {"subject": stated["model"], "clustered_by": clusters}
            found = _rows(part, clusters, neutral, confidence, level == "model")
            rows += [
                {**stated, "measure": name, **row} for name, row in zip(own, found, strict=False)
            ]
    return as_estimates(rows, measures)


def _rows(
    answers: pl.DataFrame, clusters: str, neutral: float, confidence: float, whole: bool
) -> Iterator[Row]:
    """Give the two shares and, of a model, the AUC."""
    for part in (answers, answers.filter(pl.col("score") > neutral)):
        judged = part.drop_nulls("flag")
        share = _share(judged["flag"], judged[clusters])
        tested = share.row(confidence)
        own = {name: tested[name] for name in ("se", "df", "ci_low", "ci_high", "n_clusters")}
        stated: Row = {"method": "clustered", "n": part.height, "n_scored": judged.height}
        note = None if judged.height else "no judgement could be read"
        yield {**stated, "estimate": share.mean, **own, "note": note}
    if whole:
        judged = answers.drop_nulls("flag")
        stated = {"method": "jackknife", "n": answers.height, "n_scored": judged.height}
        yield {**stated, **_jackknife(judged, clusters, confidence)}


def _share(flags: pl.Series, clusters: pl.Series) -> ClusteredMean:
    """Return a share, whose interval is Wilson's so that it stays between 0 and 1."""
    found = clustered_mean(flags, clusters.to_list(), bounds=(0.0, 1.0))
    if found.mean is None or not 0 < found.mean < 1 or found.unanimous:
        return found
    return replace(found, bounds=(0.0, 1.0), scale=found.mean * (1 - found.mean))


def _jackknife(judged: pl.DataFrame, clusters: str, confidence: float) -> Row:
    score, flag = judged["score"].to_numpy(), judged["flag"].to_numpy() > 0
    whole = auc(score, flag)
    if whole is None:
        return {"note": "all answers are flagged, or none is"}
    of = judged[clusters].to_numpy()
    without = [auc(score[of != one], flag[of != one]) for one in np.unique(of)]
    known = np.array([one for one in without if one is not None])
    if len(known) < max(FEWEST, len(without)):
        note = f"fewer than {FEWEST} stereotypes, or flags in one alone"
        return {"estimate": whole, "n_clusters": len(without), "note": note}
    df = len(known) - 1
    se = float(np.sqrt(df / len(known) * np.sum((known - known.mean()) ** 2)))
    half = float(stdtrit(df, 0.5 + confidence / 2)) * se
    row: Row = {"estimate": whole, "se": se, "df": df, "n_clusters": len(known)}
    row |= {"ci_low": max(0.0, whole - half), "ci_high": min(1.0, whole + half)}
    if se > 0:
        t = (whole - 0.5) / se
        row |= {"test": "t", "statistic": t, "p": 2.0 * float(stdtr(df, -abs(t)))}
    return row


def auc(score: NDArray[Any], flag: NDArray[np.bool_]) -> float | None:
    """Return the probability that a flagged score is above an unflagged one, ties counting half.

    Null where all are flagged, or none is.

    Examples
    --------
    >>> auc(np.array([0.1, 0.4, 0.4, 0.9]), np.array([False, False, True, True]))
    0.875
    """
    flagged = int(flag.sum())
    if flagged in (0, len(flag)):
        return None
    above = rankdata(score)[flag].sum() - flagged * (flagged + 1) / 2
    return float(above / (flagged * (len(flag) - flagged)))
