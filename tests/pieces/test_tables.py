"""Tables as their specifications declare them."""

import polars as pl
import pytest

from clinometer.numbers import number, out_of
from clinometer.pieces.tables import (
    FROM,
    ROW,
    STEREOTYPE,
    VERDICT,
    ReportTable,
    TableColumn,
    TableSpec,
    head,
)
from clinometer.results.columns import Meaning, typed_columns

ROWS = pl.DataFrame(
    {"model": ["a", "b"], "mode": ["free", "free"], "n": [1, 2], "note": [None, None],
     "verdict": ["consistent", "odd"], "estimate": [0.5, None], "ci_low": [-0.1, None],
     "ci_high": [0.75, None], "p": [0.0301, None]}
)  # fmt: skip
SPEC = TableSpec(
    "What.", (TableColumn("Place", ROW, lambda r: "here", "head"), *FROM, VERDICT, "n", "note")
)


def texts(table: ReportTable) -> list[list[str]]:
    return [[cell.text for cell in row] for row in (table.columns, *table.rows)]


def test_cells_are_set_as_their_column_declares():
    table = SPEC.render(ROWS)
    assert [cell.text for cell in table.columns] == ["Place", "Model", "Verdict", "n"]
    assert [cell.style for cell in table.columns] == ["", "", "", "num"]
    first, second = table.rows
    assert [cell.head for cell in first] == [True, False, False, False]
    assert [cell.style for cell in first] == ["", "", "verdict consistent", "num"]
    assert [cell.style for cell in second] == ["", "", "verdict", "num"]


def test_what_is_the_same_throughout_is_left_to_the_caption():
    assert SPEC.render(ROWS).caption == "What. Mode: free."
    assert SPEC.render(ROWS[:1]).caption == "What. Model: a, Mode: free."
    assert SPEC.render(ROWS[:0]).caption == "What."


def test_a_name_is_shown_as_its_column_and_its_interval_are_declared():
    table = TableSpec("", ("estimate", "interval", "p")).render(ROWS, interval="90% interval")
    assert texts(table) == [
        ["Mean", "90% interval", "p"],
        ["0.50", "−0.10 to 0.75", ".030"],
        ["n/a", "n/a", "n/a"],
    ]


def test_a_column_that_only_a_family_has_is_declared_beside():
    own = typed_columns(pl.Float64(), hops=Meaning("mean hops", digits=1))
    table = TableSpec("", ("hops",), own).render([{"hops": 2.25}])
    assert texts(table) == [["Hops"], ["2.2"]]


def test_a_name_that_is_declared_nowhere_is_an_error():
    with pytest.raises(KeyError, match="nothing"):
        TableSpec("", ("nothing",)).render(ROWS)


def test_a_table_may_write_and_call_a_column_otherwise():
    spec = TableSpec(
        "",
        (
            head("model", "Who"),
            TableColumn("Scored / n", "n n", out_of),
            TableColumn("Effect", "estimate", number, digits=1, missing=""),
        ),
    )
    assert texts(spec.render(ROWS)) == [
        ["Who", "Scored / n", "Effect"],
        ["a", "1 / 1", "0.5"],
        ["b", "2 / 2", ""],
    ]


def test_a_column_is_left_out_where_what_it_needs_is_missing():
    spec = TableSpec(
        "",
        (
            "n",
            TableColumn("Interval", "ci_low ci_high", number, needs="absent"),
            TableColumn("Note", "n", needs="note"),
            TableColumn("Mode", "mode", same="left out"),
        ),
    )
    assert texts(spec.render(ROWS)) == [["n"], ["1"], ["2"]]


def test_rows_beyond_the_most_still_decide_which_columns_there_are():
    spec = TableSpec("", ("n", TableColumn("Model", "model", same="left out")))
    assert texts(spec.render(ROWS, most=1)) == [["n", "Model"], ["1", "a"]]


def test_captions_and_titles_are_filled_in_and_data_in_braces_stays():
    spec = TableSpec("Of {who}.", (TableColumn("{who}, {{7*7}}", "n"), STEREOTYPE))
    table = spec.render([{"n": 1, "about": "{who}"}], who="{{7*7}}")
    assert table.caption == "Of {{7*7}}."
    assert texts(table) == [["{{7*7}}, {{7*7}}", "Stereotype"], ["1", "{who}"]]
