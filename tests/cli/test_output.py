"""What commands print."""

from __future__ import annotations

import re
import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from clinometer.cli import output
from clinometer.cli.output import LINE, counting_bar, progress_bar, remark
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
