"""Tables as their columns declare them."""

import polars as pl

from clinometer.pieces.tables import FROM, VERDICT, TableColumn, render_table

ROWS = pl.DataFrame(
    {"model": ["a", "b"], "mode": ["free", "free"], "n": [1, 2], "note": [None, None],
     "verdict": ["consistent", "odd"]}
)  # fmt: skip
COLUMNS = (
    TableColumn("Place", lambda r: "here", "head"),
    *FROM,
    VERDICT,
    TableColumn("n", lambda r: str(r["n"])),
    TableColumn("Note", lambda r: r["note"] or "", "text"),
)


def test_cells_are_set_as_their_column_declares():
    table = render_table(ROWS, "What.", COLUMNS)
    assert [cell.text for cell in table.columns] == ["Place", "Model", "Verdict", "n"]
    assert [cell.style for cell in table.columns] == ["", "", "", "num"]
    first, second = table.rows
    assert [cell.head for cell in first] == [True, False, False, False]
    assert [cell.style for cell in first] == ["", "", "verdict consistent", "num"]
    assert [cell.style for cell in second] == ["", "", "verdict", "num"]


def test_what_is_the_same_throughout_is_left_to_the_caption():
    assert render_table(ROWS, "What.", COLUMNS).caption == "What. Mode: free."
    assert render_table(ROWS[:1], "What.", COLUMNS).caption == "What. Model: a, Mode: free."
    assert render_table(ROWS[:0], "What.", COLUMNS).caption == "What."
