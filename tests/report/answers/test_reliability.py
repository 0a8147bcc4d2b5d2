"""The section on reliability."""

import polars as pl
import pytest

from clinometer.numbers import bracketed, number
from clinometer.report.answers.reading import read_results
from clinometer.report.answers.reliability import reliability_section
from clinometer.statistics.reliability import FACETS


def cells(table):
    titles = [cell.text for cell in table.columns]
    return [dict(zip(titles, (cell.text for cell in row), strict=True)) for row in table.rows]


@pytest.fixture
def modes(results):
    return pl.read_parquet(results / "estimates.parquet"), read_results(results).instruments[0]


def test_coefficients_stand_in_a_row_per_mode(modes):
    estimates, instrument = modes
    table = reliability_section(instrument).tables[0][1]
    rows = {row["Mode"]: row for row in cells(table)}
    estimate = estimates.filter(mode="free", measure="generalisability").row(0, named=True)
    interval = bracketed(estimate["estimate"], estimate["ci_low"], estimate["ci_high"])
    assert rows["free"]["Generalisability"] == interval
    parts = [rows["free"][f"Variance: {part}"] for part in
             ("stereotypes", "wordings", "interaction", "draws")]  # fmt: skip
    assert sum(int(part.removesuffix("%")) for part in parts) == pytest.approx(100, abs=2)


def test_every_correlation_has_a_row(modes):
    estimates, instrument = modes
    table = reliability_section(instrument).tables[1][1]
    rows = [row for row in cells(table) if row["Between"] == "modes"]
    correlations = estimates.filter(measure="mode_correlation")["estimate"]
    assert [row["r"] for row in rows] == [
        number(correlation) for correlation in correlations
    ] and len(rows) == 3
    assert (
        len(table.rows) == estimates.filter(pl.col("measure").is_in(list(FACETS.values()))).height
    )


def test_instruments_are_compared_in_the_sections_of_both(all_results):
    decided = next(
        instrument
        for instrument in read_results(all_results).instruments
        if instrument.instrument == "relative_decision"
    )
    rows = [row for row in cells(reliability_section(decided).tables[1][1])
            if row["Between"] == "instruments"]  # fmt: skip
    assert rows and all("LLM Relative Decision Test" in (r["First"], r["Second"]) for r in rows)


def test_few_stereotypes_have_no_section(make_results):
    instrument = read_results(make_results(keys=["age"])).instruments[0]
    assert reliability_section(instrument) is None
