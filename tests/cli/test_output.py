"""What commands print."""

from __future__ import annotations

import time
import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from clinometer.cli import output
from clinometer.cli.output import LINE, counting_bar, progress_bar, remark


@given(st.text(max_size=400))
def test_a_remark_is_one_line_a_terminal_can_show(text: str) -> None:
    with pytest.MonkeyPatch.context() as patch:
        said: list[str] = []
        patch.setattr(output.click, "echo", lambda line, **_: said.append(line))
        remark(text)
    (line,) = said
    assert len(line) <= LINE
    assert not {"Cc", "Cs", "Zl", "Zp"} & {*map(unicodedata.category, line)}


def test_of_a_long_remark_both_ends_are_shown(capsys) -> None:
    remark(f"{'x' * 90}.csv: {'word ' * 500}; did you mean this?")
    line = capsys.readouterr().err.removesuffix("\n")
    assert len(line) == LINE and " … " in line
    assert line.startswith("clinometer: xxx") and line.endswith("; did you mean this?")


def test_off_a_terminal_progress_is_a_line_now_and_then(monkeypatch, capsys) -> None:
    monkeypatch.setattr(output, "EVERY_S", 0.05)
    with progress_bar(1200) as advance:
        for _ in range(4):
            advance("m", {"trials": 100})
            time.sleep(0.06)
        advance("m", {"error": "busy"})
    with counting_bar("rewiring", 0):
        time.sleep(0.1)
    lines = capsys.readouterr().err.splitlines()
    assert 2 <= len(lines) <= 5
    assert lines[-1] in [
        f"clinometer: asking: {n} of 1,200, about 1 min left" for n in (200, 300, 400)
    ]
