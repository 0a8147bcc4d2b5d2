"""The demonstration: released answers, scored without a model, a key or torch."""

from __future__ import annotations

import gzip
import re
import shutil
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


#: What a shell starts; then which of the heavy packages were imported.
DEMO = """
import sys, webbrowser
from clinometer.cli.group import run_group
sys.argv = ["clinometer", "demo"]
webbrowser.open = lambda address: print("opened", address, file=sys.stderr)
assert run_group() == 0
imported = {"torch", "transformers", "openai", "statsmodels"} & sys.modules.keys()
print("imported:", *imported, sep="", file=sys.stderr)
"""


@pytest.fixture(scope="module")
def demonstrated(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, str, str]:
    """The folder of a demonstration in a process of its own, its output and its errors."""
    folder = tmp_path_factory.mktemp("demonstrated")
    ended = subprocess.run(
        [sys.executable, "-c", DEMO], cwd=folder, check=True, capture_output=True, text=True
    )
    return folder, ended.stdout, ended.stderr


def test_released_answers_lean_and_are_behind_the_numbers(
    run: Run, demonstrated: tuple[Path, str, str], monkeypatch: pytest.MonkeyPatch
) -> None:
    folder, out, err = demonstrated
    assert err.startswith("imported:")  # nothing is opened: standard output is no terminal
    monkeypatch.chdir(folder)
    assert re.search(r"0\.39 .* 0\.26 to 0\.51  ▲ leans", out)
    assert out.endswith("report: results/demo/report.html\n")
    assert pl.read_parquet("results/demo/scores.parquet")["score"].count() == 2095
    code, out, _ = run("show", "results/demo", "disability")
    assert code == 0 and "(word association)" in out and "disabled" in out


def test_a_second_time_gives_the_same_and_is_opened_where_asked(
    run: Run, demonstrated: tuple[Path, str, str], opened: list[str], tmp_path: Path
) -> None:
    shutil.copytree(demonstrated[0] / "results/demo", "here")
    code, _, err = run("demo", "--out", "here", "--open")
    assert (code, err) == (0, "")
    assert opened == [(tmp_path / "here/report.html").as_uri()]
    before, after = (
        pl.read_parquet(folder / "estimates.parquet")
        for folder in (demonstrated[0] / "results/demo", Path("here"))
    )
    assert after.equals(before)


def test_results_of_another_run_are_left_alone(run: Run) -> None:
    arguments = ("simulated/neutral", "--stereotypes", "age", "--variations", "replication")
    assert run("run", *arguments, "--iterations", "2", "--out", "mine")[0] == 0
    before = {path: path.read_bytes() for path in Path("mine").glob("*.parquet")}
    code, out, err = run("demo", "--out", "mine")
    assert (code, out) == (2, "") and "mine holds another plan" in err
    assert before and all(path.read_bytes() == content for path, content in before.items())


def test_neither_torch_nor_a_client_nor_statsmodels_is_needed(
    demonstrated: tuple[Path, str, str],
) -> None:
    assert demonstrated[2].splitlines()[-1] == "imported:"


def test_the_answers_are_those_released() -> None:
    if not RELEASED.is_file():
        pytest.skip("needs shared/data beside the checkout")
    assert gzip.decompress(released_answers().read_bytes()) == RELEASED.read_bytes()
