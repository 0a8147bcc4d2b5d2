"""How the page shows what a reasoning effort or a temperature changes."""

import re

import polars as pl
import pytest

from clinometer.audits.tabulating import estimate_scores
from clinometer.directory.results import write_results
from clinometer.pieces.plan import PlanFacts
from clinometer.report.answers.changes import change
from clinometer.results.records import read_plan, write_plan


def section(page, key):
    return re.split(rf'aria-labelledby="(?:\S+ )?{key}"', page)[1].split("</section>")[0]


@pytest.fixture
def conditioned(make_everything):
    """Write results of two instruments that differ by a factor in place of the system prompt."""

    def write(factor, low, high):
        directory = make_everything(keys=["age", "guilt"])
        path, two = directory / "scores.parquet", ["word_association", "relative_decision"]
        scores = pl.read_parquet(path).filter(pl.col("instrument").is_in(two))
        scores = scores.with_columns(
            pl.col("intervention").replace({"none": low, "egalitarian": high}).alias(factor)
        )
        scores.with_columns(intervention=pl.lit("none")).write_parquet(path)
        tables = estimate_scores(path)
        write_results(directory, "answers", tables.estimates, tables.details)
        return directory, tables.estimates

    return write


@pytest.mark.parametrize(
    ("factor", "low", "high", "key"),
    [("reasoning_effort", "low", "high", "efforts"), ("temperature", "0", "1.5", "temperatures")],
)
def test_each_factor_has_a_section_and_findings(conditioned, write_page, factor, low, high, key):
    directory, estimates = conditioned(factor, low, high)
    page = write_page(directory)
    text, name = section(page, f"{key}-1"), factor.replace("_", " ")
    assert f"Effect of the {name}" in text and f"{high} − {low}" in text and "the lowest" in text
    assert f'id="figure-{key}-1"' in text and "system prompt" not in text
    assert 'id="interventions-1"' not in page
    row = estimates.filter(
        factor=factor, level="model", method="clustered", measure="word_association"
    )
    sentence = f"At {name} {high}, compared with {low}, the mean is {-row['estimate'][0]:.2f} lower"
    assert sentence in page


def test_a_change_of_effort_is_said_in_words():
    row = {
        "factor": "reasoning_effort", "baseline": "low", "candidate": "high", "estimate": 0.1,
        "ci_low": -0.1, "ci_high": 0.3, "n_scored": 9, "verdict": "inconclusive",
        "compliance_change": 0.0, "compliance_low": 0.0, "compliance_high": 0.0,
    }  # fmt: skip
    assert change(row, PlanFacts()) == (
        "At reasoning effort high, compared with low, the mean is 0.10 higher (difference 0.10, "
        "95% interval −0.10 to 0.30; 9 matched trials), not distinguishable from chance; "
        "compliance changes by 0 points (95% interval 0 to 0)."
    )


def test_efforts_and_temperatures_stand_at_the_head(make_everything, write_page):
    directory = make_everything(keys=["age", "guilt"])
    plan = directory / "plan.json"
    conditions = {"efforts": [None, "high"], "temperatures": [0, 1.5]}
    write_plan(plan, read_plan(plan) | conditions)
    page = write_page(directory)
    assert re.search(r"Reasoning efforts</dt>\s*<dd[^>]*>high<", page)
    assert re.search(r"Temperatures</dt>\s*<dd[^>]*>0, 1.5<", page)
