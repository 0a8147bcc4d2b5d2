"""``clinometer network build``, and ``stats`` of what it wrote."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import polars as pl
import pytest

Run = Callable[..., tuple[int, str, str]]

ANSWERS = """cue,R1,R2,R3
Dogs,the Cat,bone,qwrtz
Dogs,cats,bone,
cat,dog,Mouse,government
cat,dog,mice,government
sun,moon,,
sun,moon,,
"""


@pytest.fixture
def answers(tmp_path: Path) -> str:
    (tmp_path / "answers.csv").write_text(ANSWERS)
    return "answers.csv"


def edges(path: str = "net.csv") -> list[tuple[str, str, int]]:
    return pl.read_csv(path).rows()


def test_build_and_describe(run: Run, answers: str) -> None:
    code, out, err = run("network", "build", answers, "--out", "net.csv", "--name", "Me")
    assert (code, err) == (0, "")
    assert edges() == [("bone", "dog", 2), ("cat", "dog", 2), ("cat", "government", 2),
                       ("cat", "mouse", 2)]  # fmt: skip
    assert "no_loops" in out and out.endswith("Me: 5 nodes, 4 edges: net.csv\n")
    code, out, err = run("network", "stats", "Me=net.csv", "--out", "stats.csv")
    assert (code, err) == (0, "")
    row = pl.read_csv("stats.csv").row(0, named=True)
    assert (row["network"], row["nodes"], row["diameter"]) == ("Me", 5, 3)
    assert out.splitlines()[1].split()[:4] == ["Me", "no", "5", "4"]


def test_options_of_build(run: Run, answers: str) -> None:
    options = ["--steps", "lower_case,lemmas", "--no-wordnet", "--min-weight", "1", "--directed",
               "--no-component", "--responses", "R1", "--log", "steps.csv"]  # fmt: skip
    code, _, err = run("network", "build", answers, "--out", "net.csv", *options)
    assert (code, err) == (0, "")
    assert edges() == [("cat", "dog", 2), ("dog", "cat", 1), ("dog", "the cat", 1),
                       ("sun", "moon", 2)]  # fmt: skip
    steps = pl.read_csv("steps.csv")
    assert steps["step"].to_list() == ["associations", "lower_case", "lemmas", "empty", "summed",
                                       "no_loops", "min_weight"]  # fmt: skip
    assert steps["edges"][-1] == 4


def test_as_lwow_does(run: Run, answers: str, tmp_path: Path) -> None:
    (tmp_path / "spelling.csv").write_text("mouse,rat\n")
    options = ["--lwow-compatible", "--no-wordnet", "--spelling", "spelling.csv"]
    assert run("network", "build", answers, "--out", "net.csv", *options)[0] == 0
    assert ("cat", "governmant", 2) in edges()
    assert "rat" not in {word for *words, _ in edges() for word in words}  # once only, of two


def test_without_cleaning(run: Run, answers: str) -> None:
    options = ["--no-cleaning", "--no-component"]
    code, out, _ = run("network", "build", answers, "--out", "net.csv", *options)
    assert code == 0 and "lemmas" not in out
    assert ("Dogs", "bone", 2) in edges() and ("moon", "sun", 2) in edges()
    code, _, err = run("network", "build", answers, "--out", "n.csv", "--no-cleaning",
                       "--lwow-compatible")  # fmt: skip
    assert (code, err.count("\n")) == (2, 1)
    assert "--lwow-compatible" in err


def test_what_was_left_out_is_said(run: Run, tmp_path: Path) -> None:
    line = '{"cue": "cat", "repetition": %d, "responses": ["dog"]}\n'
    (tmp_path / "0.jsonl").write_text(line % 0 + line % 1 + line % 1 + '{"cue": "ca')
    code, out, _ = run("network", "build", ".", "--out", "net.csv")
    assert code == 0
    assert out.startswith("left out when read: 1 malformed, 1 repeated\n")
    assert edges() == [("cat", "dog", 2)]


@pytest.mark.parametrize(
    ("text", "message"),
    [("cue,answer\na,b\n", "columns cue, answer"),
     ("cue,response,count\na,b,0\n", "count '0'"),
     ("cue,response,count\na,b,-1\n", "count '-1'"),
     ("cue,response,count\na,b\n", "bad.csv:2: 2 fields"),
     ("cue,response,count\ncat,cat,2\n", "step 'no_echo' left no pairs"),
     ("cue,response,count\ncat,dog,1\n", "step 'min_weight' left no edge"),
     (None, "bad.csv: no such file")],
)  # fmt: skip
def test_bad_associations_get_one_line(
    run: Run, tmp_path: Path, text: str | None, message: str
) -> None:
    if text is not None:
        (tmp_path / "bad.csv").write_text(text)
    code, _, err = run("network", "build", "bad.csv", "--out", "net.csv")
    assert (code, err.count("\n")) == (2, 1)
    assert message in err
    assert not (tmp_path / "net.csv").exists()
