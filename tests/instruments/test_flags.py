"""Flags: shares and AUC, against counts by hand and scipy."""

from __future__ import annotations

import numpy as np
import polars as pl
import pytest
from scipy.stats import mannwhitneyu

from clinometer.results import SCORES
from clinometer_measures.replication.self_moderation.flags import auc, estimate_flags


def scores(rows: list[tuple[str, float | None, str]], version: str = "blind") -> pl.DataFrame:
    frame = pl.DataFrame(
        [{"stereotype": s, "score": score, "outcome": o} for s, score, o in rows],
    ).with_columns(
        model=pl.lit("m"), study=pl.lit("s"), instrument=pl.lit("self_moderation"),
        mode=pl.lit("free"), category=pl.lit("c"), version=pl.lit(version),
        pair_id=pl.int_range(pl.len()).cast(pl.String),
    )  # fmt: skip
    absent = [pl.lit(None, kind).alias(c) for c, kind in SCORES.items() if c not in frame.columns]
    return frame.with_columns(absent).select(list(SCORES))


def test_shares_are_of_scored_answers_whose_judgement_was_read() -> None:
    frame = scores([
        ("a", 0.5, "flagged"), ("a", 0.5, "unflagged"), ("a", -0.5, "unflagged"),
        ("b", 0.2, "flagged"), ("b", 0.2, "refused"), ("b", None, "flagged"),
    ])  # fmt: skip
    rows = estimate_flags(frame).filter(level="model")
    assert rows.filter(pl.col("ci_low") < 0).is_empty() and rows["ci_high"].max() <= 1
    shares = {m: (e, n, s) for m, e, n, s in rows.select(
        "measure", "estimate", "n", "n_scored").iter_rows()}  # fmt: skip
    assert shares["flagged_blind"] == (0.5, 5, 4)
    assert shares["flagged_blind_consistent"] == (pytest.approx(2 / 3), 4, 3)


def test_auc_is_that_of_mann_and_whitney() -> None:
    rng = np.random.default_rng(0)
    score, flag = rng.choice([-1.0, 0.0, 0.5, 1.0], 60), rng.random(60) < 0.4
    u = mannwhitneyu(score[flag], score[~flag]).statistic
    assert auc(score, flag) == pytest.approx(u / (flag.sum() * (~flag).sum()))


def test_flags_that_follow_scores_lie_above_one_half() -> None:
    rows = [(f"s{k}", s + k / 50, "flagged" if s + k / 50 > 0.24 + k % 2 / 10 else "unflagged")
            for k in range(8) for s in (-0.4, 0.0, 0.2, 0.3, 0.8)]  # fmt: skip
    row = estimate_flags(scores(rows)).row(by_predicate=pl.col("method") == "jackknife", named=True)
    assert 0.9 < row["ci_low"] < row["estimate"] < 1.0 and row["p"] < 0.001
    assert row["n_clusters"] == 8


def test_an_auc_over_few_stereotypes_has_no_interval_and_a_note() -> None:
    rows = [("a", 0.5, "flagged"), ("b", 0.1, "unflagged")]
    row = estimate_flags(scores(rows)).row(by_predicate=pl.col("method") == "jackknife", named=True)
    assert (row["estimate"], row["ci_low"]) == (1.0, None) and "fewer than 5" in row["note"]


def test_where_all_are_flagged_there_is_no_auc() -> None:
    rows = estimate_flags(scores([("a", 0.5, "flagged"), ("b", 0.1, "flagged")]))
    row = rows.row(by_predicate=pl.col("method") == "jackknife", named=True)
    assert row["estimate"] is None and "all answers are flagged" in row["note"]
