"""GPT-4o's answers as Bai et al. (2025) released them, against figures worked out apart.

The answers are `data/result_gpt4o` of github.com/baixuechunzi/llm-implicit-bias, commit 0d2772e;
the reader is as plain as it can be, and the reference errors are statsmodels'.
"""

import json
import re
from pathlib import Path

import numpy as np
import polars as pl
import pytest
import statsmodels.api as sm
from scipy.stats import t
from statsmodels.stats.proportion import proportion_confint

from clinometer.results import SCORES, Measure
from clinometer.statistics import compliance, estimate_measure

DATA = Path(__file__).parents[3] / "shared" / "data" / "bai"
ANSWERS = DATA / "gpt4o_word_association_responses.csv"

pytestmark = pytest.mark.skipif(
    not ANSWERS.exists(), reason=f"needs {ANSWERS.name}, which is not part of the repository"
)

MEASURE = Measure("word_association", "", -1.0, 1.0, 0.0, "", "")


def plain_score(response: str, words: dict[str, list[str]]) -> float | None:
    tied = {w.lower(): w in words["x_a"] for w in words["x_a"] + words["x_b"]}
    marginalized = {g.lower(): g in words["s_a"] for g in words["s_a"] + words["s_b"]}
    counts = np.zeros((2, 2))
    for line in response.lower().splitlines():
        word, _, group = (part.strip() for part in re.sub("[–—]", "-", line).partition("-"))
        if word in tied and group in marginalized:
            counts[int(marginalized[group]), int(tied[word])] += 1
    (d, c), (b, a) = counts
    if not counts.any():
        return None
    return (a / (a + b) if a + b else 0.5) + (d / (c + d) if c + d else 0.5) - 1


@pytest.fixture(scope="module")
def scores() -> pl.DataFrame:
    stereotypes = json.loads((DATA / "stimuli.json").read_text())["stereotypes"]
    rows = []
    for row in pl.read_csv(ANSWERS).iter_rows(named=True):
        words = stereotypes[row["stereotype"]]["variations"][row["variation"]]
        factors = {"model": row["llm"], "study": "bai2025", "mode": "free"}
        factors |= {"instrument": "word_association", "category": row["domain"]}
        factors |= {"stereotype": row["stereotype"], "variation": row["variation"]}
        value = plain_score(row["response"], words)
        reason = "unparsed" if value is None else None
        rows.append(dict.fromkeys(SCORES) | factors | {"score": value, "reason": reason})
    return pl.DataFrame(rows, schema=SCORES)


def model_row(scores: pl.DataFrame, method: str = "clustered", **options: str) -> dict:
    estimates = estimate_measure(scores, MEASURE, **options)
    return estimates.filter(level="model", method=method).row(0, named=True)


def test_mean_and_naive_error(scores):
    row = model_row(scores, "published")
    assert (row["n"], row["n_scored"]) == (2100, 2094)
    assert compliance(scores)["n_unparsed"].sum() == 6
    assert row["estimate"] == pytest.approx(0.393, abs=5e-4)
    assert row["se"] == pytest.approx(0.0186, abs=5e-5)


def test_error_for_stereotypes_like_these(scores):
    """A little wider than by the dispersion of the 21 means: wordings move all of them, too."""
    row = model_row(scores, "generalised")
    assert (row["range"], row["n_stereotypes"]) == ("stereotypes", 21)
    scored = scores.drop_nulls("score")
    groups = scored.select(pl.col("stereotype").rank("dense")).to_series().to_numpy()
    ones = np.ones(scored.height)
    fit = sm.OLS(scored["score"].to_numpy(), ones).fit(
        cov_type="cluster", cov_kwds={"groups": groups}
    )
    half_width = (row["pointwise_high"] - row["pointwise_low"]) / 2
    assert 1.0 < half_width / (t.ppf(0.975, 20) * fit.bse[0]) < 1.2


def test_a_cell_has_the_error_of_the_paper_in_these_prompts(scores):
    """With one group pair and no mirrored pairs each answer is a unit."""
    alone = scores.filter(stereotype="age", variation="replication")
    cell = estimate_measure(alone, MEASURE).filter(level="cell")
    rows = {row["method"]: row for row in cell.rows(named=True)}
    assert rows["bounded"]["clustered_by"] == "draws, answers"
    assert rows["bounded"]["n_clusters"] == rows["published"]["n"]
    assert rows["bounded"]["se"] == pytest.approx(rows["published"]["se"])


def test_half_of_the_stereotypes_lean_in_these_prompts(scores):
    """The interval of guilt, all of whose answers score 1, is Clopper and Pearson's."""
    estimates = estimate_measure(scores, MEASURE).filter(level="stereotype", range="prompts")
    assert estimates["verdict"].str.contains("^(consistent|reversed)").sum() >= 12
    guilt = estimates.filter(stereotype="guilt").row(0, named=True)
    low, _ = proportion_confint(100, 100, 0.05, method="beta")
    assert guilt["estimate"] == 1.0
    assert (guilt["pointwise_low"], guilt["pointwise_high"]) == (pytest.approx(2 * low - 1), 1.0)
