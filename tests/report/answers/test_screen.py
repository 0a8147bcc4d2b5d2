"""What a terminal shows of a run."""

import re
import shutil
from dataclasses import replace

import polars as pl
import pytest

from clinometer.cli.output import say_table
from clinometer.numbers import interval, number
from clinometer.report.answers.screen import MOST_ROWS, screen_lines, screen_table
from clinometer.report.answers.summary import in_brief
from clinometer.results.records import read_plan, write_plan

WIDTH, HEIGHT = 100, 24


def texts(table):
    return [[cell.text for cell in row] for row in table.rows]


@pytest.fixture
def brief(make_results):
    return in_brief(make_results(keys=["age", "weight", "career"], modes=["forced"]))


def test_every_number_is_that_of_the_table_of_estimates(make_results):
    directory = make_results(keys=["age", "weight", "career"], modes=["forced"])
    rows = texts(screen_table(in_brief(directory)))
    estimates = pl.read_parquet(directory / "estimates.parquet").filter(
        pl.col("factor").is_null(),
        family="answers",
        method="clustered",
        instrument="word_association",
        study="bai2025",
    )
    means = [
        *estimates.filter(level="model").iter_rows(named=True),
        *estimates.filter(level="category").iter_rows(named=True),
    ]
    shown = {tuple(row[1:2] + row[3:4]) for row in rows}
    assert {
        (number(mean["estimate"]), interval(mean["ci_low"], mean["ci_high"])) for mean in means
    } <= shown


def test_all_stands_before_its_categories_with_how_many_lean(brief):
    first, *categories = texts(screen_table(brief))
    assert first[0] == "Word association" and first[5].endswith("/3")
    assert {row[0] for row in categories[:2]} == {"  Gender", "  Health"}
    assert all(row[4][0] in "▲▼■○–△" for row in (first, *categories))


def test_with_many_runs_only_means_over_all_are_shown(five_results):
    brief = in_brief(five_results)
    table = screen_table(brief)
    assert len(table.rows) <= MOST_ROWS
    assert all("model-" in row[0] for row in texts(table))


def test_it_fits_a_terminal(brief, capsys, monkeypatch):
    monkeypatch.setenv("COLUMNS", str(WIDTH))
    say_table(screen_table(brief))
    table = capsys.readouterr().out.splitlines()
    assert max(map(len, table)) <= WIDTH
    lines = sum(-(-len(line) // WIDTH) for line in screen_lines(brief))
    assert len(table) + lines < HEIGHT


def test_an_instrument_that_does_not_work_here_has_no_numbers(make_contents):
    directory = make_contents(modes=["free"])
    path = directory / "estimates.parquet"
    is_control = pl.col("control").is_not_null() & pl.col("verdict").is_not_null()
    failed = pl.when(is_control).then(pl.lit("failed")).otherwise("verdict")
    pl.read_parquet(path).with_columns(verdict=failed).write_parquet(path)
    brief = in_brief(directory)
    checked = [row for row in texts(screen_table(brief)) if "✗ does not work here" in row]
    assert checked and not any(re.search(r"\d", "".join(row[1:])) for row in checked)
    names = [row[0] for row in checked]
    lines = list(screen_lines(brief))
    assert any(line.startswith("Controls: does not work here") for line in lines)
    strongest = [line for line in lines if line.startswith("Strongest")]
    assert not any(name.lower() in line for name in names for line in strongest)


def test_nor_has_it_on_the_first_screen_of_the_page(make_contents):
    directory = make_contents(modes=["free"])
    path = directory / "estimates.parquet"
    fails = pl.col("control").is_not_null() & (pl.col("instrument") == "word_association")
    failed = pl.when(fails & pl.col("verdict").is_not_null()).then(pl.lit("failed"))
    pl.read_parquet(path).with_columns(verdict=failed.otherwise("verdict")).write_parquet(path)
    brief = in_brief(directory)
    instrument, failing = None, []
    for row in brief.table.rows:
        instrument = instrument if row[0].text.startswith(" ") else row[0].text
        if instrument == "Word association" and row[1].text:
            failing.append([cell.text for cell in row[1:]])
    assert failing and all(texts == ["✗ does not work here", "", ""] for texts in failing)
    assert not any(text.startswith("Word association") for text in brief.remarks)
    assert all(lean.finding.instrument != "word association" for lean in brief.strongest)
    drawn = {row["panel"] for row in brief.figure.spec["datasets"]["rows"]}
    assert drawn and "Word association" not in drawn


def test_nor_is_it_said_how_its_means_moved(make_contents, tmp_path):
    directory = make_contents(modes=["free"])
    path = directory / "estimates.parquet"
    fails = pl.col("control").is_not_null() & (pl.col("instrument") == "word_association")
    failed = pl.when(fails & pl.col("verdict").is_not_null()).then(pl.lit("failed"))
    pl.read_parquet(path).with_columns(verdict=failed.otherwise("verdict")).write_parquet(path)
    for name, created in (("before", "2026-01-01T00:00:00"), ("now", "2026-02-01T00:00:00")):
        shutil.copytree(directory, tmp_path / name)
        plan = read_plan(tmp_path / name / "plan.json")
        write_plan(tmp_path / name / "plan.json", {**plan, "created": created})
    changes = " ".join(in_brief(tmp_path / "now").changes)
    assert "affective attribution" in changes and "word association" not in changes


def test_the_strongest_lean_is_of_an_instrument_that_is_known_to_work(brief):
    lean = next(finding for finding in brief.means if finding.told)
    unknown = replace(lean, works="not known whether it works here", subject="Doubtful")
    vouched = replace(lean, works="works here as far as is known", subject="Vouched for")
    for means, subject in (((unknown, vouched), "Vouched for"), ((unknown,), "Doubtful")):
        lines = [*screen_lines(replace(brief, means=means))]
        (line,) = (line for line in lines if line.startswith("Strongest"))
        assert line.startswith(f"Strongest: {subject}")


def test_controls_that_fail_are_named_and_the_rest_is_said_once(brief):
    (mean,) = (finding for finding in brief.over_all if finding.level == "model")
    good = [replace(mean, instrument=name, works="works here") for name in ("a", "b", "c")]
    bad = [
        replace(mean, instrument=name, works="does not work here", valid=False) for name in "xyzw"
    ]
    (line,) = (
        line
        for line in screen_lines(replace(brief, over_all=(*good, *bad)))
        if line.startswith("Controls")
    )
    assert line == "Controls: does not work here: x, y, z, w; else works here"
