"""``clinometer profile`` and ``clinometer weat``."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import polars as pl
import pytest

from clinometer.results import ESTIMATES

Run = Callable[..., tuple[int, str, str]]

WORDS = {"Women": ["Ann", "Eve", "Amy"], "Men": ["Bob", "Tom", "Jim"]}


@pytest.fixture
def run_with_reader(
    run: Run, fake_reader: Callable[..., Any], monkeypatch: pytest.MonkeyPatch
) -> Run:
    """Call the command line with readers that need no model."""

    def opened(models: Any, options: Any) -> list[Any]:
        return [fake_reader(model) for model in models]

    monkeypatch.setattr("clinometer_measures.states.cli.measuring.open_readers", opened)
    Path("w.json").write_text(json.dumps(WORDS))
    return run


def test_the_table_has_estimates_of_groups_and_of_their_difference(run_with_reader: Run) -> None:
    code, out, _ = run_with_reader(
        "profile", "m", "--words", "w.json", "--draws", "20", "--out", "P.csv"
    )
    estimates = pl.read_csv("P.csv", infer_schema_length=None)
    assert (code, out) == (0, f"{estimates.height} rows: P.csv\n")
    assert estimates.columns == list(ESTIMATES)
    assert set(estimates["layer"].cast(str)) == {"0", "1", "2", "mean"}
    keys = ["layer", "space", "dimension"]
    means = estimates.filter(measure="profile_mean").pivot("group", index=keys, values="estimate")
    published = estimates.filter(measure="profile_difference", method="published")
    matched = published.join(means, on=keys, validate="1:1")
    assert matched.height == 36 and set(matched["subject"]) == {"m"}
    difference = matched["Women"] - matched["Men"]
    assert difference.to_list() == pytest.approx(matched["estimate"].to_list())


def test_a_folder_gets_all_tables_and_a_report_that_can_be_made_anew(run_with_reader: Run) -> None:
    code, out, err = run_with_reader(
        "profile", "m", "--words", "w.json", "--draws", "20", "--out", "r"
    )
    assert (code, err) == (0, "")
    *findings, tables, report = out.splitlines()
    assert (tables, report) == ("3 tables: r", "report: r/report.html")
    assert findings and all(line.startswith(("Profile of", "Accuracy of")) for line in findings)
    page = Path("r/report.html").read_text(encoding="utf-8")
    assert "Women" in page and "Warmth" in page
    assert run_with_reader("report", "r")[0] == 0


def test_further_words_are_predicted(run_with_reader: Run) -> None:
    Path("x.csv").write_text(
        "term,dimension,direction\njolly,Sociability,high\nmean,Morality,low\ncold,Sociability,low\n"
    )
    command = ("profile", "m", "--words", "w.json", "--extended", "x.csv", "--out", "r")
    assert run_with_reader(*command)[0] == 0
    accuracy = pl.read_parquet("r/estimates.parquet").filter(measure="direction_accuracy")
    assert set(accuracy["cut"]) == {"zero", "centred"} and accuracy["n"].max() == 3
    assert pl.read_parquet("r/state_directions.parquet")["n"].max() == 3


def test_kinds_of_contexts_stand_side_by_side(run_with_reader: Run) -> None:
    Path("x.csv").write_text(
        "term,dimension,direction\njolly,Sociability,high\nmean,Morality,low\n"
    )
    command = ("profile", "m", "--words", "w.json", "--extended", "x.csv", "--contexts", "none",
          "--contexts", "templates")  # fmt: skip
    inside = ("--extended-contexts", "none", "--extended-contexts", "templates")
    assert run_with_reader(*command, *inside, "--out", "r")[0] == 0
    estimates = pl.read_parquet("r/estimates.parquet")
    for measure in ("profile_difference", "direction_accuracy"):
        assert set(estimates.filter(measure=measure)["contexts"]) == {"none", "templates"}
    page = Path("r/report.html").read_text(encoding="utf-8")
    assert "Words per context" in page and "in templates" in page
    code, _, err = run_with_reader(*command, *inside[:2], "--out", "P.csv")
    assert code == 2 and "extended-contexts: 1 for 2 kinds of contexts" in err
    code, _, err = run_with_reader(*command, "--contexts", "none", "--out", "P.csv")
    assert code == 2 and "contexts: two of the kind 'none'" in err


def test_word_vectors_are_measured_as_by_hand(run: Run) -> None:
    """Two dimensions and axes at right angles: a coordinate is a product with the axis."""
    vectors = {
        "nice": (4, 1, 0), "mean": (0, 1, 0), "able": (1, 3, 0), "dull": (1, 1, 0),
        "Ann": (2, 0, 5), "Eve": (3, 1, 1), "Bob": (0, 1, 2), "Tom": (1, 2, 1), "jolly": (2, 0, 0),
        "grim": (-1, 0, 0),
    }  # fmt: skip
    lines = [f"{word} {' '.join(map(str, numbers))}" for word, numbers in vectors.items()]
    Path("tiny.vec").write_text("\n".join([f"{len(lines)} 3", *lines]) + "\n")
    Path("d.csv").write_text(
        "term,dimension,direction\nnice,Warmth,high\nmean,Warmth,low\n"
        "able,Competence,high\ndull,Competence,low\n"
    )
    Path("x.csv").write_text("term,dimension,direction\njolly,Warmth,high\ngrim,Warmth,low\n")
    Path("w.json").write_text(json.dumps({"f": ["Ann", "Eve"], "m": ["Bob", "Tom"]}))
    code, _, err = run(
        "profile", "tiny.vec", "--words", "w.json", "--dictionary", "d.csv", "--extended", "x.csv",
        "--placebos", "0", "--out", "P.csv",
    )  # fmt: skip
    assert (code, err) == (0, "")
    estimates = pl.read_csv("P.csv", infer_schema_length=None).filter(layer="0", space="broad")
    raw = estimates.filter(measure="profile_raw").select("dimension", "group", "estimate").rows()
    # warm − cold is (4, 0, 0), able − dull (0, 2, 0): coordinates are x / 4 and y / 2
    assert raw == [
        ("Warmth", "f", 2.5 / 4), ("Warmth", "m", 0.5 / 4),
        ("Competence", "f", 0.5 / 2), ("Competence", "m", 1.5 / 2),
    ]  # fmt: skip
    accuracy = estimates.filter(measure="direction_accuracy", dimension="Warmth", cut="zero")
    assert accuracy["estimate"].to_list() == [1.0] and set(estimates["subject"]) == {"tiny.vec"}


def test_tests_are_written_and_removed_components_are_a_factor(run_with_reader: Run) -> None:
    code, out, _ = run_with_reader(
        "weat", "m", "--draws", "20", "--removed", "0,2", "--out", "W.csv"
    )
    estimates = pl.read_csv("W.csv", infer_schema_length=None)
    assert (code, out) == (0, f"{estimates.height} rows: W.csv\n")
    tested = estimates.filter(alternative="greater")
    assert tested.height == 10 * 3 * 2 and set(tested["removed"]) == {0, 2}


def test_words_are_read_in_the_prompt_of_the_association(run_with_reader: Run) -> None:
    for kind in ("prompt", "none"):
        command = ("weat", "m", "--tests", "bai2025", "--contexts", kind, "--draws", "0")
        assert run_with_reader(*command, "--placebos", "0", "--out", f"{kind}.csv")[0] == 0
    prompted, alone = (
        pl.read_csv(f"{kind}.csv", infer_schema_length=None).filter(alternative="greater")
        for kind in ("prompt", "none")
    )
    assert prompted.height == 21 * 3 and set(prompted["contexts"]) == {"prompt"}
    assert set(prompted["measure"]) == {"seat"} and set(alone["measure"]) == {"weat"}
    assert (prompted["estimate"] - alone["estimate"]).abs().min() > 0


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("profile", "m", "--words", "nams"), "unknown words 'nams'"),
        (("profile", "m", "--removed", "-1"), "removed '-1': expected whole numbers"),
        (("profile", "m", "--contexts", "no.jsonl"), "contexts 'no.jsonl': no such file"),
        (("profile", "m", "--contexts", "prompt"), "are none, templates, dictionary or a file"),
        (("weat", "m", "--contexts", "dictionary"), "are none, templates, prompt or a file"),
        (("profile", "m", "--dictionary", "no.csv"), "no.csv: no such file"),
        (("weat", "m", "--tests", "bai2026"), "unknown tests 'bai2026'"),
        (("weat", "m", "--method", "ceat", "--tests", "caliskan2017"), "ceat needs several"),
    ],
)
def test_what_is_wrong_is_said_in_one_line(
    run_with_reader: Run, arguments: tuple[str, ...], message: str
) -> None:
    code, _, err = run_with_reader(*arguments)
    assert code == 2 and message in err and "Traceback" not in err
    assert len(err.splitlines()) == 1


def test_a_model_that_is_not_there(run: Run) -> None:
    code, _, err = run("profile", "./nowhere", "--out", "P.csv")
    assert code == 2 and "nowhere" in err and len(err.splitlines()) == 1
