"""What commands print."""

from __future__ import annotations

import re
import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from clinometer.cli import output
from clinometer.cli.output import LINE, counting_bar, progress_bar, remark, say_table
from clinometer.numbers import number
from clinometer.pieces.tables import TableColumn, TableSpec
from waiting import until


@given(st.text(max_size=400))
def test_a_remark_is_one_line_a_terminal_can_show(text: str) -> None:
    with pytest.MonkeyPatch.context() as patch:
        lines: list[str] = []
        patch.setattr(output.click, "echo", lambda line, **_: lines.append(line))
        remark(text)
    (line,) = lines
    assert len(line) <= LINE
    assert not {"Cc", "Cs", "Zl", "Zp"} & {*map(unicodedata.category, line)}


def test_of_a_long_remark_both_ends_are_shown(capsys) -> None:
    remark(f"{'x' * 90}.csv: {'word ' * 500}; did you mean this?")
    line = capsys.readouterr().err.removesuffix("\n")
    assert len(line) == LINE and " … " in line
    assert line.startswith("clinometer: xxx") and line.endswith("; did you mean this?")


def test_off_a_terminal_progress_is_a_line_now_and_then(monkeypatch, capsys) -> None:
    remarks = []
    monkeypatch.setattr(output, "remark", remarks.append)
    monkeypatch.setattr(output, "LINE_EVERY_S", 0.05)
    with progress_bar(1200) as advance:
        for n in (100, 200, 300, 400):
            advance("m", {"trials": 100})
            until(lambda n=n: remarks and remarks[-1].startswith(f"asking: {n} of 1,200"))
        advance("m", {"error": "busy"})
        count = len(remarks)
        until(lambda: len(remarks) > count)
        remaining = re.compile(r"asking: 400 of 1,200, about \d+ min left")
        until(lambda: remaining.fullmatch(remarks[-1]))
    remarks.clear()
    with counting_bar("rewiring", 0), counting_bar("drawing", 1):
        until(lambda: len(remarks) > 2)
    assert all(line.startswith("drawing: 0 of 1") for line in remarks)


def test_off_a_terminal_there_is_no_line_for_each_answer(monkeypatch, capsys) -> None:
    monkeypatch.setattr(output, "LINE_EVERY_S", 3600)
    with progress_bar(1200) as advance:
        for _ in range(400):
            advance("m", {"trials": 1})
    assert capsys.readouterr().err == ""


MEANS = TableSpec("Means", (TableColumn("Group", "group"), TableColumn("Mean", "mean", number)))


def test_a_table_has_numbers_to_the_right_and_no_spaces_at_the_end(capsys) -> None:
    say_table(MEANS.render([{"group": "old", "mean": -0.25}, {"group": "a b", "mean": 12.5}]))
    assert capsys.readouterr().out.splitlines() == [
        "Means",
        "Group   Mean",
        "old    −0.25",
        "a b    12.50",
    ]


def test_off_a_terminal_no_cell_of_a_table_is_cut_or_folded(capsys) -> None:
    say_table(MEANS.render([{"group": "x" * 300, "mean": 0.0}]))
    assert capsys.readouterr().out.splitlines()[2] == "x" * 300 + "  0.00"


def test_where_lines_are_folded_no_cell_of_a_table_is_cut(monkeypatch, capsys) -> None:
    monkeypatch.setenv("COLUMNS", "12")
    say_table(MEANS.render([{"group": "two words", "mean": -0.25}, {"group": "x" * 30, "mean": 1}]))
    printed = capsys.readouterr().out
    assert "x" * 30 in printed and "−0.25" in printed and "two words" in printed.replace("\n", " ")


def test_a_table_has_no_text_that_a_terminal_would_act_on(capsys) -> None:
    say_table(MEANS.render([{"group": "\x1b[31m[red]a\u202e", "mean": 0.0}]))
    line = capsys.readouterr().out.splitlines()[2]
    assert "[red]a" in line and "\x1b" not in line and "\u202e" not in line
