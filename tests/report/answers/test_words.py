"""What each word contributes, in a table."""

import polars as pl
import pytest

from clinometer.numbers import interval, number
from clinometer.report.answers.reading import read_results
from clinometer.report.answers.words import MOST_ITEMS, MOST_WORDS, word_section


@pytest.fixture
def contribution_table():
    """Give the table of contributions of results."""

    def make(directory):
        instrument = read_results(directory).instruments[0]
        return pl.read_parquet(directory / "items.parquet"), word_section(instrument).tables[0][1]

    return make


def test_a_row_says_what_a_word_contributes_and_the_mean_without_it(
    contribution_table, make_results
):
    items, table = contribution_table(make_results(keys=["age"]))
    titles = [cell.text for cell in table.columns]
    assert len(table.rows) == len(items) == 8 and "items.parquet" not in table.caption
    row = items.row(by_predicate=pl.col("attribute") == "null", named=True)
    cells = next(
        word_row for word_row in table.rows if word_row[titles.index("Word or task")].text == "null"
    )
    assert cells[titles.index("Contribution")].text == number(row["contribution"], 3)
    assert cells[titles.index("Interval")].text == interval(row["ci_low"], row["ci_high"], 3)
    assert cells[titles.index("Mean without it")].text == number(row["score_without"], 3)


def test_of_many_words_those_that_contribute_most_are_shown(contribution_table, results):
    items, table = contribution_table(results)
    assert len(items) > MOST_ITEMS and "items.parquet" in table.caption
    cells = items.select("mode", "stereotype").n_unique()
    assert len(table.rows) == MOST_WORDS * cells
    titles = [cell.text for cell in table.columns]
    age_rows = items.filter(stereotype="age", mode="free")
    largest = age_rows.sort(pl.col("contribution").abs())["attribute"][-1]
    names = ("Stereotype", "Mode", "Word or task")
    assert ["Age", "free", largest] in [
        [row[titles.index(name)].text for name in names] for row in table.rows
    ]
