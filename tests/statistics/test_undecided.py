"""How many trials would decide an open mean."""

from __future__ import annotations

from typing import Any

import numpy as np
import polars as pl
import pytest

from clinometer.audits.tabulating import estimate_means
from clinometer.results import SCORES, join_methods
from clinometer.results.verdicts import INCONCLUSIVE
from clinometer.statistics.clustered import ClusteredMean
from clinometer.statistics.estimates import Inference
from clinometer.statistics.undecided import trials_to_decide

MARGIN = 0.1


def open_mean(mean: float = 0.03, se: float = 0.1, **columns: Any) -> dict[str, Any]:
    """A row of a mean of 40 trials without ends of the scale: its interval is Student's."""
    row = ClusteredMean(40, 40, mean, se, 1e9).row(0.95)
    scale = {"range": "other_prompts", "range_low": None, "range_high": None, "neutral": 0.0}
    row |= {"estimate": mean, "n": 40, "n_scored": 40, "n_tests": 1.0, "tost_margin": MARGIN}
    return {**row, **scale, "bound_low": None, "bound_high": None, **columns}


@pytest.mark.parametrize(
    ("mean", "clears", "room"),
    [(0.03, True, MARGIN - 0.03), (0.03, False, 0.03), (0.08, True, 0.08)],
)
def test_the_interval_then_excludes_neutral_or_lies_within_the_margin(mean, clears, room):
    trials = trials_to_decide(open_mean(mean), 0.1, clears=clears)
    assert trials == pytest.approx(40 * (1.96 * 0.1 / room) ** 2, abs=2)


def test_what_stays_of_the_error_takes_more_trials_or_no_number_is_enough():
    numbers = [trials_to_decide(open_mean(), falling) for falling in (0.1, 0.0995, 0.08)]
    assert numbers[0] < numbers[1] and numbers[2] is None


def test_what_missing_answers_could_be_keeps_a_mean_from_being_cleared():
    missing = open_mean(bound_low=0.02, bound_high=0.06)
    assert trials_to_decide(missing, 0.1) > trials_to_decide(open_mean(), 0.1)


def scores_of(world: np.random.Generator, k: int, rng: np.random.Generator) -> pl.DataFrame:
    """Answers to 8 stereotypes in 4 wordings of .03 and with 6 words of .03, `k` draws each."""
    stereotypes, wordings, words = (
        world.normal(mean, sd, (8, size))
        for mean, sd, size in ((0.1, 0.1, 1), (0, 0.03, 4), (0, 0.03, 6))
    )
    rows = []
    for s, w, i in np.ndindex(8, 4, k):
        word = int(rng.integers(6))
        lean = stereotypes[s, 0] + wordings[s, w] + words[s, word]
        for order in ("marginalized_first", "default_first"):
            pair = f"s{s}.v{w}.{i}"
            rows.append(
                {"stereotype": f"s{s}", "category": f"c{s % 4}", "variation": f"v{w}",
                 "iteration": i, "pair_id": pair, "trial_id": f"{pair}.{order}", "order": order,
                 "marginalized": f"m{word}", "default": f"d{word}", "model": "m", "study": "x",
                 "instrument": "word_association", "mode": "free", "intervention": "none",
                 "word_list": "plain", "scoring": "exact",
                 "score": float(np.clip(lean + rng.normal(0, 0.3), -1, 1))}
            )  # fmt: skip
    frame = pl.DataFrame(rows)
    absent = [pl.lit(None).alias(name) for name in SCORES if name not in frame.columns]
    return frame.with_columns(absent).select(
        pl.col(name).cast(kind) for name, kind in SCORES.items()
    )


def means_of(scores: pl.DataFrame) -> pl.DataFrame:
    """The means over all and of categories in other prompts, with their errors in these."""
    rows = estimate_means(scores, Inference(MARGIN)).filter(
        pl.col("level").is_in(["model", "category"])
    )
    return join_methods(rows.filter(pl.col("factor").is_null()), "clustered", {"bounded": ("se",)})


def test_a_run_of_that_size_decides_in_half_of_simulated_cases_or_more():
    decided = []
    for seed in range(8):
        rng = np.random.default_rng(seed)
        for row in means_of(scores_of(np.random.default_rng(99 + seed), 2, rng)).iter_rows(
            named=True
        ):
            if row["verdict"] != INCONCLUSIVE:
                continue
            trials = trials_to_decide(row, row["se_bounded"])
            if trials is None or trials > 20 * row["n"]:
                continue
            k = round(2 * trials / row["n"])
            larger = means_of(scores_of(np.random.default_rng(99 + seed), k, rng))
            same = larger.filter(pl.col("category").eq_missing(pl.lit(row["category"], pl.String)))
            decided.append(same["verdict"].item() != INCONCLUSIVE)
    assert len(decided) > 10 and np.mean(decided) >= 0.5
