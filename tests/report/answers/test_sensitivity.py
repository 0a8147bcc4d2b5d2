"""What a page says of the leans that its answers would have shown."""

import re

import polars as pl
import pytest

from clinometer.report.answers.reading import read_results
from clinometer.report.answers.sensitivity import sensitivity

LEAN = r"in ([\d,]+) trials, of the mean over all (\S+) or more, of a single stereotype (\S+) or"


def sentence(directory):
    return sensitivity(read_results(directory).instruments[0])


def numbers(directory):
    ((trials, pooled, single),) = re.findall(LEAN, sentence(directory))
    return int(trials.replace(",", "")), float(pooled), float(single)


@pytest.fixture
def directory(make_results):
    return make_results(keys=["age", "weight"], modes=["forced"], models=["m"])


def change(directory, **columns):
    path = directory / "estimates.parquet"
    pl.read_parquet(path).with_columns(**columns).write_parquet(path)


def test_it_follows_from_the_trials_and_errors_of_the_run(directory):
    trials, pooled, single = numbers(directory)
    means = pl.read_parquet(directory / "estimates.parquet").filter(
        pl.col("factor").is_null(), level="model", method="clustered"
    )
    assert trials == means["n"].sum() and 0 < pooled < single <= 1
    # Half of t is twice the error.
    change(directory, statistic=pl.col("statistic") / 2)
    _, larger, _ = numbers(directory)
    assert larger > 1.5 * pooled


def test_where_no_lean_on_the_scale_is_found_it_says_none(directory):
    change(directory, statistic=pl.col("statistic") / 1e6)
    assert "of the mean over all none, of a single stereotype none" in sentence(directory)


def test_of_many_runs_the_ends_are_named(five_results):
    endings = re.findall(r"of the mean over all (none|[\d.]+)", sentence(five_results))
    effects = [float("inf") if ending == "none" else float(ending) for ending in endings]
    assert len(effects) == 2 and effects == sorted(effects)


def test_the_page_says_it_beside_the_measure(page):
    measured = page[page.index('id="measured"') :]
    assert "Leans that are found with probability 0.8" in measured[: measured.index('id="limits"')]
