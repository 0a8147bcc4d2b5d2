from __future__ import annotations

import csv
import os
import subprocess
import sys
from pathlib import Path

import polars as pl
import pytest

from clinometer.errors import ClinometerWarning, InputError
from clinometer.results.columns import columns
from clinometer.results.faults import PLACE
from clinometer.results.tables import pieces, read_numbers, read_table, scan_table, write_table

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
        (b"a,b\n3\n", r"t.csv:2: 1 fields where line 1 has 2"),
        (b"a,b\n1,2\n3\n4\n", r"t.csv:3: 1 fields where line 1 has 2 \(2 of 3 rows are wrong\)"),
        (b'a,b\n1,2\n1,"2\n3,4\n', r"t.csv:3: malformed CSV: a quotation mark that is not"),
        (b"", r"t.csv:1: no header"),
        (b"a,a\n1,2\n", r"t.csv:1: column a stands twice"),
        (b"a,b\ncaf\xe9,2\n", r"not UTF-8 at byte 7; in Windows-1252 it reads 'a,b café,2'"),
        ("a,b\n1,2\n".encode("utf-16-le"), "UTF-16 without a byte order mark"),
        ("a,b\n1,2\n".encode("utf-16")[:-1], "broken UTF-16"),
        (b"iteration\nten\n", r"iteration 'ten': expected a whole number"),
    ],
)
def test_malformed_csv_names_file_and_line(tmp_path: Path, text: bytes, says: str) -> None:
    (tmp_path / "t.csv").write_bytes(text)
    with pytest.raises(InputError, match=says):
        read_table(tmp_path / "t.csv")


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("a,iteration\nx,1\ny\nz,3\n", "1 of 3 rows set aside: t.csv:3: 1 fields where line 1"),
        ("a,iteration\nx,1\ny,two\nz,3\n", "t.csv:3: iteration 'two': expected a whole number"),
        ('a,iteration\nx,1\n"y"y,2\nz,3\n', "t.csv:3: malformed CSV"),
        ("a,iteration\nx,1\n,\nz,3\n , ,\n", r"2 empty rows skipped \(t.csv:3, t.csv:5\)"),
    ],
)
def test_a_wrong_row_costs_itself_and_is_named(tmp_path: Path, text: str, says: str) -> None:
    (tmp_path / "t.csv").write_text(text)
    with pytest.warns(ClinometerWarning, match=says):
        table = read_table(tmp_path / "t.csv")
    assert table.rows() == [("x", 1), ("z", 3)]


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16", "utf-32"])
def test_encodings_with_a_mark_are_read(tmp_path: Path, encoding: str) -> None:
    (tmp_path / "t.csv").write_text("a,b\ncafé,2\n", encoding=encoding)
    assert read_table(tmp_path / "t.csv").rows() == [("café", "2")]


def test_commas_at_the_end_of_lines_add_no_field(tmp_path: Path) -> None:
    (tmp_path / "t.csv").write_text("a,b,,\n1,2,,\n3,4\n5,6,,,\n")
    with pytest.warns(ClinometerWarning, match="1 of 3 rows set aside: t.csv:3: 2 fields"):
        table = read_table(tmp_path / "t.csv")
    assert table.columns == ["a", "b", "column 3", "column 4"]
    assert table["a"].to_list() == ["1", "5"]


def test_a_field_of_several_lines_is_placed_where_it_begins(tmp_path: Path) -> None:
    (tmp_path / "t.csv").write_text('a,b\n1,"x\ny"\n\n3,"z"\n')
    table = read_table(tmp_path / "t.csv", placed=True)
    assert table[PLACE].to_list() == ["t.csv:2", "t.csv:5"]


def test_numbers_that_are_none_cost_their_rows(tmp_path: Path) -> None:
    (tmp_path / "t.csv").write_text("a,n\nx,1\ny,many\nz,\n")
    with pytest.warns(ClinometerWarning, match="t.csv:3: n 'many': expected a number or nothing"):
        table = read_numbers(tmp_path / "t.csv", ["n"])
    assert table.rows() == [("x", 1.0), ("z", None)]


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
    frame = pl.DataFrame({"response": texts, "list": [[text, "b"] for text in texts]})
    write_table(frame, tmp_path / "t.csv")
    with (tmp_path / "t.csv").open(encoding="utf-8", newline="") as file:
        cells = [cell for row in csv.reader(file) for cell in row]
    begun = [cell for cell in cells if cell and cell[0] in "=+-@\t\r" and cell not in PLAIN[:2]]
    assert not begun
    assert read_table(tmp_path / "t.csv")["response"].to_list() == texts


WRITE = """
import resource, sys
import polars as pl
from pathlib import Path
from clinometer.results.tables import write_table
frame = pl.DataFrame({"x": [str(n) for n in range(50_000)]})
resource.setrlimit(resource.RLIMIT_FSIZE, (4096, 4096))
try:
    write_table(frame, Path(sys.argv[1]))
except Exception as error:
    sys.exit(f"{type(error).__name__}: {error}")
"""


@pytest.mark.parametrize("ending", ["csv", "parquet"])
def test_a_table_that_does_not_fit_leaves_the_old_one(tmp_path: Path, ending: str) -> None:
    path = tmp_path / f"t.{ending}"
    write_table(WORDS, path)
    before = path.read_bytes()
    done = subprocess.run([sys.executable, "-c", WRITE, str(path)], capture_output=True, text=True)
    assert done.returncode == 1 and done.stderr.startswith(f"InputError: {path}: c"), done.stderr
    assert path.read_bytes() == before and [file.name for file in tmp_path.iterdir()] == [path.name]


def test_what_killed_processes_left_is_removed(tmp_path: Path) -> None:
    old, new = tmp_path / ".clinometer-old", tmp_path / ".clinometer-new"
    for folder in (old, new):
        folder.mkdir()
        (folder / "000000.parquet").touch()
    os.utime(old, (0, 0))
    write_table(WORDS, tmp_path / "t.csv")
    assert {file.name for file in tmp_path.iterdir()} == {"t.csv", ".clinometer-new"}


def test_a_long_field_is_read(tmp_path: Path) -> None:
    write_table(pl.DataFrame({"response": ["x" * 200_000]}), tmp_path / "t.csv")
    assert read_table(tmp_path / "t.csv")["response"].str.len_chars().to_list() == [200_000]


@pytest.mark.parametrize("mark", [";", "\t", "|"])
def test_another_separator_is_named(tmp_path: Path, mark: str) -> None:
    (tmp_path / "t.csv").write_text(f"a{mark}b\n1{mark}2\n")
    with pytest.raises(InputError, match="columns are separated by "):
        read_table(tmp_path / "t.csv")
