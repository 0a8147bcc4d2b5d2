from __future__ import annotations

from pathlib import Path

import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from clinometer.errors import InputError
from clinometer.results.shares import PIECE, as_shares, read_shares
from clinometer.results.tables import read_table, write_table

HOSTILE = {'"},"share":[0]': 1.0, "a\\b\n\x1f,;": 0.0, "<script>": 0.25, "نص | 语": 1 / 3}
texts = st.dictionaries(st.text(st.characters(exclude_categories=["Cs"])), st.floats(0, 1))


@given(texts)
def test_any_text_comes_back_as_it_was(shares: dict[str, float]) -> None:
    sets = ["tied"] * len(shares)
    shares_table = read_shares(
        pl.DataFrame({"shares": [as_shares(shares, sets)]}, {"shares": pl.String})
    )
    assert dict(shares_table.select("attribute", "share").rows()) == shares
    assert shares_table["set"].to_list() == sets


@pytest.mark.parametrize("ending", [".csv", ".parquet"])
def test_shares_pass_a_file(tmp_path: Path, ending: str) -> None:
    text = as_shares(HOSTILE, ["tied", "counter", "extra", "tied"])
    path = tmp_path / f"scores{ending}"
    write_table(pl.DataFrame({"trial_id": ["t"], "shares": [text]}), path)
    assert dict(read_shares(read_table(path)).select("attribute", "share").rows()) == HOSTILE


def test_rows_keep_their_columns_over_pieces_and_gaps() -> None:
    texts = [as_shares({f"w{i}": 1.0, "w": 0.0}, ["tied", "counter"]) for i in range(PIECE + 1)]
    frame = pl.DataFrame({"shares": [*texts, None]}).with_row_index("row")
    shares_table = read_shares(frame).filter(set="tied")
    assert shares_table.select("row", "attribute").rows() == [
        (i, f"w{i}") for i in range(PIECE + 1)
    ]


def test_no_response_has_words() -> None:
    shares_table = read_shares(
        pl.DataFrame({"n": [1], "shares": [None]}, {"n": None, "shares": pl.String})
    )
    assert shares_table.is_empty() and shares_table.columns == ["n", "attribute", "set", "share"]


@pytest.mark.parametrize(
    "text",
    [
        "{",
        "[1]",
        "{}",
        "null",
        '{"attribute":["a"],"set":["tied"],"share":[1,0]}',
        '{"attribute":["a"],"set":["tied"],"share":["x"]}',
        '{"attribute":["a"],"set":["tied"]}',
    ],
)
def test_text_of_another_kind_is_refused_in_one_line(text: str) -> None:
    with pytest.raises(InputError, match="scores: shares") as error:
        read_shares(pl.DataFrame({"shares": [text]}))
    assert "\n" not in str(error.value)
