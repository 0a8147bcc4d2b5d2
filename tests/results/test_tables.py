from __future__ import annotations

import csv
from pathlib import Path

import polars as pl
import pytest

from tiltmeter.errors import InputError
from tiltmeter.results.columns import columns
from tiltmeter.results.tables import pieces, read_table, scan_table, write_table

WORDS = pl.DataFrame({"word": ["null", "nan", "None", "true", "007", ""], "iteration": range(6)})


@pytest.mark.parametrize("ending", ["csv", "parquet"])
def test_words_stay_words(tmp_path: Path, ending: str) -> None:
    write_table(WORDS, tmp_path / f"t.{ending}")
    assert read_table(tmp_path / f"t.{ending}").equals(WORDS)


@pytest.mark.parametrize("ending", ["csv", "parquet"])
def test_a_long_table_is_read_piece_by_piece(tmp_path: Path, ending: str) -> None:
    write_table(WORDS, tmp_path / f"t.{ending}")
    assert [piece.height for piece in pieces(tmp_path / f"t.{ending}", rows=4)] == [4, 2]


def test_an_answer_of_several_lines_is_one_field(tmp_path: Path) -> None:
    (tmp_path / "t.csv").write_text('word,response\na,"x - y\nz - ""q"""\n')
    assert read_table(tmp_path / "t.csv")["response"].to_list() == ['x - y\nz - "q"']


@pytest.mark.parametrize(
    ("text", "says"),
    [
        (b"a,b\n1,2\n3\n", r"t.csv:3: 1 fields where the header has 2"),
        (b'a,b\n1,"2\n', r"t.csv:2: malformed CSV"),
        (b"", r"t.csv:1: no header"),
        (b"a,a\n1,2\n", r"t.csv:1: column a stands twice"),
        (b"a,b\n\xff,2\n", r"not UTF-8"),
        (b"iteration\nten\n", r"iteration 'ten': expected a whole number"),
    ],
)
def test_malformed_csv_names_file_and_line(tmp_path: Path, text: bytes, says: str) -> None:
    (tmp_path / "t.csv").write_bytes(text)
    with pytest.raises(InputError, match=says):
        read_table(tmp_path / "t.csv")


def test_other_bad_tables(tmp_path: Path) -> None:
    (tmp_path / "t.parquet").write_bytes(b"not parquet")
    for path, says in [
        (tmp_path / "t.parquet", "not a parquet table"),
        (tmp_path / "t.xlsx", "ending '.xlsx'; allowed are"),
        (tmp_path / "none.csv", "no such file"),
    ]:
        with pytest.raises(InputError, match=says):
            read_table(path)


def test_a_failed_write_leaves_the_old_table(tmp_path: Path) -> None:
    write_table(WORDS, tmp_path / "t.csv")
    (tmp_path / "folder.csv").mkdir()
    with pytest.raises(InputError, match="nothing was replaced"):
        write_table(WORDS, tmp_path / "folder.csv")
    assert sorted(p.name for p in tmp_path.iterdir()) == ["folder.csv", "t.csv"]


def test_a_parquet_table_may_lack_columns_that_came_later(tmp_path: Path) -> None:
    schema = columns("model", "control")
    pl.DataFrame({"model": ["m"]}).write_parquet(tmp_path / "t.parquet")
    assert scan_table(tmp_path / "t.parquet", schema).collect().rows() == [("m", None)]


FORMULAS = ["=1+1", "+cmd|' /C calc'!A0", "-2+3", "@SUM(A1)", "\t=1", "'=1", "''-x"]
PLAIN = ["-0.5", "+1e-3", "a=b", "'a'", "", "- ", "null"]


def test_no_formula_is_written_to_csv_and_texts_come_back(tmp_path: Path) -> None:
    texts = FORMULAS + PLAIN
    frame = pl.DataFrame({"response": texts, "list": [[one, "b"] for one in texts]})
    write_table(frame, tmp_path / "t.csv")
    with (tmp_path / "t.csv").open(encoding="utf-8", newline="") as file:
        cells = [cell for row in csv.reader(file) for cell in row]
    begun = [cell for cell in cells if cell and cell[0] in "=+-@\t\r" and cell not in PLAIN[:2]]
    assert not begun
    assert read_table(tmp_path / "t.csv")["response"].to_list() == texts
