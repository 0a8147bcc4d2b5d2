"""Differences of runs whose trials differ: by hand, and in simulation."""

import numpy as np
import polars as pl
import pytest

from clinometer.errors import InputError
from clinometer.results import SCORES, Measure
from clinometer.statistics.means import differences
from clinometer.statistics.summaries import summarise
from clinometer.statistics.unpaired import contrast_unpaired

MEASURE = Measure("word_association", "", -1.0, 1.0, 0.0, "", "")


def run(model, rng, *, shift=0.0, effects=None):
    """Draw a run; `effects` are those of 8 stereotypes × 3 wordings, which all runs share."""
    effects = np.zeros((8, 3)) if effects is None else effects
    rows = [
        {"stereotype": f"s{s}", "variation": f"v{w}", "pair_id": f"{model}.{s}.{w}.{k}",
         "marginalized": f"m{rng.integers(4)}", "iteration": k,
         "score": effects[s, w] + shift + rng.normal(0, 0.1)}
        for s, w, k in np.ndindex(8, 3, 4)
    ]  # fmt: skip
    labels = {"model": model, "study": "x", "instrument": "word_association", "mode": "free"}
    labels |= {"category": "c", "default": "d", "order": "default_first", "intervention": "none"}
    frame = pl.DataFrame(rows).with_columns(pl.lit(v).alias(name) for name, v in labels.items())
    frame = frame.with_columns(pl.lit(None).alias(c) for c in SCORES if c not in frame.columns)
    return frame.select(pl.col(name).cast(kind) for name, kind in SCORES.items())


def pick_rows(frame, level="model", method="clustered"):
    rows = contrast_unpaired(frame, MEASURE, baseline="a", margin=0.1).estimates
    return rows.filter(level=level, method=method, measure="word_association")


def test_each_stereotype_counts_once_however_often_it_was_asked():
    rng = np.random.default_rng(1)
    ours, theirs = run("a", rng), run("b", rng, shift=0.2)
    theirs = theirs.filter((pl.col("stereotype") != "s0") | (pl.col("iteration") == 0))
    row = pick_rows(pl.concat([ours, theirs])).row(0, named=True)
    means = [scores.group_by("stereotype").agg(pl.col("score").mean()) for scores in (ours, theirs)]
    before, after = (scores["score"].mean() for scores in means)
    assert row["estimate"] == pytest.approx(after - before)
    assert row["n_stereotypes"] == 8
    assert row["estimate"] == pytest.approx(row["candidate_estimate"] - row["baseline_estimate"])
    assert row["matched_by"] == "stereotype"


def test_a_stereotype_that_one_run_lacks_is_left_out():
    rng = np.random.default_rng(2)
    ours, theirs = run("a", rng), run("b", rng).filter(pl.col("stereotype") != "s7")
    assert pick_rows(pl.concat([ours, theirs]), "stereotype")["stereotype"].sort().to_list() == [
        f"s{k}" for k in range(7)
    ]


def test_effects_that_both_runs_share_do_not_widen_the_interval_in_these_prompts():
    rng = np.random.default_rng(3)
    effects = rng.uniform(-0.4, 0.4, (8, 3))
    pairs = [run(m, rng) for m in "ab"], [run(m, rng, effects=effects) for m in "ab"]
    plain, shared = (pick_rows(pl.concat(runs), method="bounded")["se"].item() for runs in pairs)
    assert shared < 1.5 * plain  # if they were independent: about .09 to .01


def test_two_runs_of_one_model_differ_as_often_as_the_level_says():
    rng, p = np.random.default_rng(4), []
    for _ in range(60):
        effects = rng.normal(0, 0.1, (8, 3))
        runs = [run(m, rng, effects=effects) for m in "ab"]
        units = (summarise(frame.with_columns(model=pl.lit(None, pl.String))) for frame in runs)
        changes = differences(*units, (-1.0, 1.0))
        p += [mean.other_prompts.p() for (level, *_), mean in changes.items() if level == "model"]
    assert len(p) == 60 and p[-1] == pytest.approx(pick_rows(pl.concat(runs))["p"].item())
    assert np.mean(np.array(p) < 0.05) <= 0.12  # 5%; 60 runs have a standard error of 2.8 points


def test_worst_cases_are_those_of_the_missing_scores():
    rng = np.random.default_rng(5)
    ours, theirs = run("a", rng), run("b", rng)
    missing = pl.col("iteration") == 0
    theirs = theirs.with_columns(
        score=pl.when(~missing).then("score"), reason=pl.when(missing).then(pl.lit("refused"))
    )
    frame = pl.concat([ours, theirs])
    row = pick_rows(frame).row(0, named=True)
    lowest = theirs["score"].fill_null(-1.0).mean() - ours["score"].mean()
    assert row["bound_low"] == pytest.approx(lowest)
    rows = contrast_unpaired(frame, MEASURE, baseline="a").estimates
    change = rows.filter(level="model", measure="compliance").row(0, named=True)
    assert change["estimate"] == pytest.approx(-0.25)


@pytest.mark.parametrize(("baseline", "message"), [("c", "unknown model 'c'"), ("a", "throughout")])
def test_a_baseline_and_a_candidate_are_needed(baseline, message):
    frame = run("a", np.random.default_rng(6))
    with pytest.raises(InputError, match=message):
        contrast_unpaired(frame, MEASURE, baseline=baseline)
