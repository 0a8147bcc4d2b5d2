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
from scipy.special import stdtr
from scipy.stats import rankdata

from clinometer.authoring import Measure, as_estimates
from clinometer.statistics.clustered import ClusteredMean, Row, clustered_mean
from clinometer.statistics.intervals import interval_around
from clinometer.statistics.summaries import NEVER_POOLED

__all__ = ["FEWEST", "auc", "estimate_flags"]

#: Fewer stereotypes tell too little of the error of an AUC.
FEWEST = 5

#: The values of `outcome` of an answer that was judged.
FLAGS = {"flagged": 1.0, "unflagged": 0.0}

_SOURCE = "Bai et al. (2025), SI section B"
_LEVELS = {"model": "stereotype", "stereotype": "pair_id"}


def _measures(condition: str) -> dict[str, Measure]:
    """Return what the numbers of a condition mean, in the order of `_flag_rows`."""
    return {
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
        keys = ["model", *NEVER_POOLED]
        if level == "stereotype":
            keys += ["category", "stereotype"]
        tables = answers.group_by(*keys, "version", maintain_order=True)
        for (*key, condition), table in tables:
            condition_measures = _measures(str(condition))
            measures |= condition_measures
            row_keys: Row = {**dict(zip(keys, key, strict=True)), "level": level}
            row_keys |= {"confidence": confidence, "subject": row_keys["model"]}
            row_keys["clustered_by"] = clusters
            flag_rows = _flag_rows(table, clusters, neutral, confidence, level == "model")
            # Not strict: a stereotype has no AUC, the last of the measures.
            for name, row in zip(condition_measures, flag_rows, strict=False):
                rows.append({**row_keys, "measure": name, **row})
    return as_estimates(rows, measures)


def _flag_rows(
    answers: pl.DataFrame, clusters: str, neutral: float, confidence: float, with_auc: bool
) -> Iterator[Row]:
    """Give the two shares and, of a model, the AUC."""
    for part in (answers, answers.filter(pl.col("score") > neutral)):
        judged = part.drop_nulls("flag")
        share = _share(judged["flag"], judged[clusters])
        row = share.row(confidence)
        # Without the test: a share has no neutral value to be tested against.
        interval = {name: row[name] for name in ("se", "df", "ci_low", "ci_high", "n_clusters")}
        counts: Row = {"method": "clustered", "n": part.height, "n_scored": judged.height}
        note = None if judged.height else "no judgement could be read"
        yield {**counts, "estimate": share.mean, **interval, "note": note}
    if with_auc:
        judged = answers.drop_nulls("flag")
        counts = {"method": "jackknife", "n": answers.height, "n_scored": judged.height}
        yield {**counts, **_jackknife(judged, clusters, confidence)}


def _share(flags: pl.Series, clusters: pl.Series) -> ClusteredMean:
    """Return a share, whose interval is Wilson's so that it stays between 0 and 1."""
    share = clustered_mean(flags, clusters.to_list(), bounds=(0.0, 1.0))
    if share.mean is None or not 0 < share.mean < 1 or share.unanimous:
        return share
    return replace(share, bounds=(0.0, 1.0), scale=share.mean * (1 - share.mean))


def _jackknife(judged: pl.DataFrame, clusters: str, confidence: float) -> Row:
    """Return the AUC with its error and test over leaving out each cluster in turn."""
    score = judged["score"].to_numpy()
    flag = judged["flag"].to_numpy() > 0
    estimate = auc(score, flag)
    if estimate is None:
        return {"note": "all answers are flagged, or none is"}
    labels = judged[clusters].to_numpy()
    without = [auc(score[labels != label], flag[labels != label]) for label in np.unique(labels)]
    estimates = np.array([area for area in without if area is not None])
    if len(estimates) < max(FEWEST, len(without)):
        note = f"fewer than {FEWEST} stereotypes, or flags in one alone"
        return {"estimate": estimate, "n_clusters": len(without), "note": note}
    df = len(estimates) - 1
    se = float(np.sqrt(df / len(estimates) * np.sum((estimates - estimates.mean()) ** 2)))
    low, high = interval_around(estimate, se, confidence, df)
    row: Row = {"estimate": estimate, "se": se, "df": df, "n_clusters": len(estimates)}
    row |= {"ci_low": max(0.0, low), "ci_high": min(1.0, high)}
    if se > 0:
        t = (estimate - 0.5) / se
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
    # Mann–Whitney's U, the pairs in which the flagged score is above, from the sum of its ranks.
    above = rankdata(score)[flag].sum() - flagged * (flagged + 1) / 2
    return float(above / (flagged * (len(flag) - flagged)))
