"""``clinometer share``: each format takes its own options."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest

Run = Callable[..., tuple[int, str, str]]


def test_means_of_a_run_are_written_in_another_format(run: Run) -> None:
    assert run("demo", "--no-open")[0] == 0
    code, out, _ = run("share", "results/demo", "--format", "every-eval-ever", "--out", "records")
    assert code == 0
    assert Path(out.strip()).parent == Path("records")
    assert json.loads(Path(out.strip()).read_text("utf-8"))["model_info"]["id"] == "gpt4o"
    code, _, err = run(
        *("share", "results/demo", "--format", "hub", "--out", "hub", "--dataset", "lab/bias")
    )
    assert code == 2 and "recorded answers without their questions" in err
    assert not Path("hub").exists()


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--format", "hub", "--out", "x"], "--dataset: needed for --format hub"),
        (["--format", "every-eval-ever"], "--out: needed for --format every-eval-ever"),
        (["--format", "mlflow", "--out", "x"], "--out: not for --format mlflow"),
        (["--format", "every-eval-ever", "--out", "x", "--source", "y"], "--source: not for"),
    ],
)
def test_an_option_that_a_format_lacks_or_needs_is_named(
    run: Run, options: list[str], message: str
) -> None:
    Path("results").mkdir()
    code, _, err = run("share", "results", *options)
    assert code == 2 and message in err and len(err.splitlines()) == 1
