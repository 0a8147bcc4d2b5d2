import re
from dataclasses import replace

import polars as pl

from clinometer.pieces.plan import PlanFacts
from clinometer.report.answers.findings import answer
from clinometer.results import Measure
from clinometer.results.records import read_plan, write_plan

MEASURE = Measure("score", "Score", -1, 1, 0, "positive: consistent", "")


def lean(name, verdict, p, low=-0.2):
    return {"about": name, "verdict": verdict, "lean": "leans", "p_placebo": p,
            "placebo_low_placebo": low, "placebo_high_placebo": 0.2, "estimate": 0.3,
            "ci_low": 0.2, "ci_high": 0.4, "compliance": 1.0,
            "conditional_on": "attribute words", "spread": "2 stereotypes"}  # fmt: skip


def test_the_brief_names_means_that_random_splits_reach():
    rows = [
        lean("age", "consistent", 0.2),
        lean("sex", "consistent, within margin", 0.05),
        lean("art", "reversed", 0.06),
        lean("few", "consistent", None),
        lean("unnamed", "consistent", None, None),
        lean("open", "inconclusive", 0.9),
    ]
    text = answer(PlanFacts(), MEASURE, lean("", "consistent", 0.004), rows)
    assert (
        "Means that lean beside those of random splits of their group words: 1 "
        "beyond them (p (placebo) at most .05); 2 no larger (age, art); 2 not tested (group "
        "words too few to split, or not all known)."
    ) in text
    assert "Random splits of the group words: −0.20 to 0.20, p .004." in text
    unplaced = answer(PlanFacts(), MEASURE, lean("", "consistent", None), rows[4:5])
    assert "andom splits" not in unplaced


def test_the_brief_counts_means_by_their_side_of_neutral():
    codes = ["consistent", "consistent, within margin", "reversed", "equivalent", None]
    rows = [lean("", code, None, None) for code in codes]
    plan = PlanFacts(margin=0.1)
    assert answer(plan, MEASURE, None, rows) == (
        "In other prompts 2 of 5 stereotypes lean as the stereotype says. (1 of them by less than "
        "the margin of ±0.1.) The others: 1 leans against the stereotype, 1 without a lean found, "
        "1 without a verdict. (No lean: within ±0.1.)"
    )
    undirected = answer(plan, replace(MEASURE, directed=False), None, rows)
    assert "2 of 5 stereotypes lie above neutral" in undirected
    assert "The others: 1 lies below neutral, 1 without" in undirected


def test_tables_of_a_measure_without_a_direction_name_the_side_of_neutral(make_results, write_page):
    directory = make_results(keys=["age", "weight"])
    plan = read_plan(directory / "plan.json")
    rows = [{**row, "directed": False} for row in plan["instruments"]]
    write_plan(directory / "plan.json", {**plan, "instruments": rows})
    page = write_page(directory)
    assert re.search("<td[^>]*>▲ lies above", page) and re.search("<dt[^>]*>▲ lies", page)
    assert "▲ leans" not in page


def test_means_stand_beside_random_splits(make_results, write_page):
    directory = make_results(keys=["age", "weight"])
    path = directory / "estimates.parquet"
    placebo = (pl.col("method") == "placebo") & (pl.col("stereotype") == "age")
    split_values = {"p": 0.031, "placebo_low": -0.23, "placebo_high": 0.24}
    filled = (pl.when(placebo).then(v).otherwise(c).alias(c) for c, v in split_values.items())
    pl.read_parquet(path).with_columns(filled).write_parquet(path)
    page = write_page(directory)
    assert "Random splits assign" in page
    assert "−0.23 to 0.24, p .031" in page
    assert "grey bar: 95% interval of random splits" in page
