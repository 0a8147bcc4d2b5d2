import polars as pl

from clinometer.report.answers.findings import answer
from clinometer.report.plan import PlanFacts
from clinometer.results import Measure


def lean(name, verdict, p, low=-0.2):
    return {"about": name, "verdict": verdict, "lean": "leans", "p_placebo": p,
            "placebo_low_placebo": low, "placebo_high_placebo": 0.2, "estimate": 0.3,
            "ci_low": 0.2, "ci_high": 0.4, "compliance": 1.0}  # fmt: skip


def test_the_brief_names_means_that_random_splits_reach():
    measure = Measure("score", "Score", -1, 1, 0, "positive: consistent", "")
    rows = [
        lean("age", "consistent", 0.2),
        lean("sex", "consistent, within margin", 0.05),
        lean("art", "reversed", 0.06),
        lean("few", "consistent", None),
        lean("unnamed", "consistent", None, None),
        lean("open", "inconclusive", 0.9),
    ]
    text = answer(PlanFacts(), measure, lean("", "consistent", 0.004), rows)
    assert (
        "Consistent and reversed means beside those of random splits of their group words: 1 "
        "beyond them (p (placebo) at most .05); 2 no larger (age, art); 2 not tested (group "
        "words too few to split, or not all known)."
    ) in text
    assert "random splits of the group words −0.20 to 0.20, p .004)" in text
    unplaced = answer(PlanFacts(), measure, lean("", "consistent", None), rows[4:5])
    assert "random splits" not in unplaced


def test_means_stand_beside_random_splits(make_results, page_of):
    directory = make_results(keys=["age", "weight"])
    path = directory / "estimates.parquet"
    placebo = (pl.col("method") == "placebo") & (pl.col("stereotype") == "age")
    known = {"p": 0.031, "placebo_low": -0.23, "placebo_high": 0.24}
    filled = (pl.when(placebo).then(v).otherwise(c).alias(c) for c, v in known.items())
    pl.read_parquet(path).with_columns(filled).write_parquet(path)
    page = page_of(directory)
    assert "Random splits assign" in page
    assert "−0.23 to 0.24, p .031" in page
    assert "grey bar: 95% interval of random splits" in page
