"""The demonstration: released answers, scored without a model, a key or torch."""

from __future__ import annotations

import gzip
import subprocess
import sys
import webbrowser
from collections.abc import Callable
from pathlib import Path

import polars as pl
import pytest

from clinometer.reference import released_answers

Run = Callable[..., tuple[int, str, str]]

RELEASED = Path(__file__).parents[3] / "shared/data/bai/gpt4o_word_association_responses.csv"


@pytest.fixture
def opened(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """What is opened in a browser."""
    addresses: list[str] = []
    monkeypatch.setattr(webbrowser, "open", addresses.append)
    return addresses


def test_released_answers_lean_and_are_behind_the_numbers(run: Run, opened: list[str]) -> None:
    code, out, err = run("demo")
    assert (code, err, opened) == (0, "", [])  # standard output is no terminal
    assert "in these prompts; 0.26 to 0.51 in other prompts]" in out and out.endswith(
        "report: results/demo/report.html\n"
    )
    assert pl.read_parquet("results/demo/scores.parquet")["score"].count() == 2095
    code, out, _ = run("show", "results/demo", "disability")
    assert code == 0 and "bai2025" in out and "disabled" in out
    again = pl.read_parquet("results/demo/estimates.parquet")
    assert run("demo")[0] == 0
    assert pl.read_parquet("results/demo/estimates.parquet").equals(again)


def test_the_report_is_opened_where_asked(run: Run, opened: list[str], tmp_path: Path) -> None:
    assert run("demo", "--out", "here", "--open")[0] == 0
    assert opened == [(tmp_path / "here/report.html").as_uri()]


def test_results_of_another_run_are_left_alone(run: Run) -> None:
    arguments = ("simulated/neutral", "--study", "bai2025", "--stereotypes", "age", "--out", "mine")
    assert run("run", *arguments)[0] == 0
    before = {path: path.read_bytes() for path in Path("mine").glob("*.parquet")}
    code, out, err = run("demo", "--out", "mine")
    assert (code, out) == (2, "") and "mine holds another plan" in err
    assert before and all(path.read_bytes() == content for path, content in before.items())


def test_neither_torch_nor_a_client_nor_statsmodels_is_needed(tmp_path: Path) -> None:
    code = (
        "import sys; sys.argv = ['clinometer', 'demo']\n"
        "from clinometer.cli.group import run_group\n"
        "assert run_group() == 0\n"
        "assert not {'torch', 'transformers', 'openai', 'statsmodels'} & sys.modules.keys()\n"
    )
    subprocess.run([sys.executable, "-c", code], cwd=tmp_path, check=True, capture_output=True)


def test_the_answers_are_those_released() -> None:
    if not RELEASED.is_file():
        pytest.skip("needs shared/data beside the checkout")
    assert gzip.decompress(released_answers().read_bytes()) == RELEASED.read_bytes()
