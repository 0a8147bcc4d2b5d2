"""A comparison on disk: tables, facts, answers behind changes, and the page."""

import html
import json
import re
import shutil

import polars as pl
import pytest

from clinometer.comparing.comparison import compare
from clinometer.comparing.writing import write_comparison
from clinometer.directory.results import read_detail, read_estimates, write_results
from clinometer.errors import InputError, PlanError
from clinometer.numbers import signed
from clinometer.report import write_report
from clinometer.results import RESPONSES

HOSTILE = "<script>alert(1)</script>"


@pytest.fixture
def two_directories(make_run, made_once):
    """Two results directories whose stereotype s3 differs; one answer is hostile."""
    parent = made_once("two_directories", lambda folder: fill(folder, make_run))
    return parent / "old", parent / "new"


@pytest.fixture
def compared(two_directories, made_once, tmp_path):
    """Their comparison."""
    stored = made_once(
        "compared", lambda folder: write_comparison(compare(*two_directories), folder)
    )
    return shutil.copytree(stored, tmp_path / "compared")


def fill(parent, make_run):
    for name, shift, seed in (("old", 0.0, 0), ("new", 0.6, 1)):
        scores = make_run("m", shift, seed=seed, only=3)
        folder = parent / name
        folder.mkdir()
        write_results(folder, "answers", read_estimates_of(scores), {})
        scores.write_parquet(folder / "scores.parquet")
        answers = scores.with_columns(response=pl.format("{} says {}", pl.lit(name), "score"))
        answers = answers.with_columns(prompt=pl.lit(f"Pair the words. {HOSTILE}"))
        absent = [c for c in RESPONSES if c not in answers.columns]
        answers = answers.with_columns(pl.lit(None).alias(c) for c in absent)
        kinds = (pl.col(c).cast(kind) for c, kind in RESPONSES.items())
        answers.select(kinds).write_parquet(folder / "responses.parquet")


def read_estimates_of(scores):
    from clinometer.audits.tabulating import estimate

    return estimate(scores)


def test_answers_behind_a_change_are_those_that_moved_most(compared):
    pairs = read_detail(compared, "answer_pairs")
    assert pairs["stereotype"].unique().to_list() == ["s3"]
    assert pairs.height == 2
    moved = (pairs["candidate_score"] - pairs["baseline_score"]).to_list()
    assert moved == sorted(moved, reverse=True)
    assert pairs["baseline_response"].str.starts_with("old says").all()
    assert pairs["candidate_response"].str.starts_with("new says").all()


def test_the_page_says_the_verdict_and_lets_nothing_in(compared):
    page = write_report(compared).read_text(encoding="utf-8")
    facts = json.loads((compared / "comparison.json").read_text(encoding="utf-8"))
    assert facts["decisions"][0]["verdict"] in page
    assert "m (new) against m (old)" in page
    assert "new says" in page and "What changed" in page
    assert HOSTILE not in page


def test_the_estimates_have_the_differences_and_each_run_by_itself(compared):
    rows = read_estimates(compared)
    assert set(rows["family"]) == {"comparison"}
    pooled = rows.filter(factor="model", level="model")
    measures = pooled.filter(range="prompts")["measure"]
    assert measures.to_list() == ["word_association", "compliance"]
    assert pooled.filter(range="other_prompts")["measure"].to_list() == ["word_association"]
    assert set(rows.filter(pl.col("factor").is_null())["model"]) == {"m (old)", "m (new)"}


def test_writing_again_gives_the_same_tables_and_other_files_are_kept(two_directories, compared):
    again, first = compare(*two_directories), read_estimates(compared)
    assert read_estimates(write_comparison(again, compared)).equals(first)
    with pytest.raises(PlanError, match="not empty, and not a comparison"):
        write_comparison(again, two_directories[0])


def test_the_first_screen_has_the_decision_the_figure_and_what_changed(compared):
    page = html.unescape(write_report(compared).read_text(encoding="utf-8"))
    first = page[page.index("<main") : page.index('aria-label="Contents"')]
    facts = json.loads((compared / "comparison.json").read_text())
    (decision,) = facts["decisions"]
    decision_text = decision["text"].replace(" -> ", " → ")
    assert f'class="decided">{decision_text[0].upper()}{decision_text[1:]}.' in first
    assert first.index("decided") < first.index("<table") < first.index("<svg")
    rows = read_estimates(compared).filter(
        pl.col("level").is_in(["model", "category"]), factor="model", method="clustered"
    )
    for row in rows.drop_nulls("verdict").iter_rows(named=True):
        name = row["category"].capitalize() if row["category"] else "All"
        (cell,) = re.findall(rf'<th scope="row">{name}</th>\s*<td[^>]*>([^<]*)', first)
        assert cell.startswith(signed(row["estimate"]))
        assert cell.endswith(row["verdict"].replace("_", " "))
    changed = [text.replace(" -> ", " → ") for text in decision["changed"]]
    assert changed and changed[0] in first


def test_of_several_candidates_the_first_screen_has_a_row_each(make_run, tmp_path):
    comparison = compare(
        make_run("old"), make_run("new", 0.6, seed=1), make_run("other", 0.0, seed=2)
    )
    page = write_report(write_comparison(comparison, tmp_path / "c")).read_text(encoding="utf-8")
    first = page[page.index("<main") : page.index('aria-label="Contents"')]
    assert first.count('class="decided"') == 2
    assert [*re.findall(r'<th scope="row">(\w+)</th>', first)] == ["new", "other"]


def test_an_unfinished_comparison_has_no_page(compared):
    path = compared / "comparison.json"
    facts = json.loads(path.read_text(encoding="utf-8"))
    path.write_text(json.dumps({**facts, "complete": False}), encoding="utf-8")
    with pytest.raises(InputError, match="was not finished"):
        write_report(compared)


def test_what_missing_answers_leave_open_is_no_change(make_run, tmp_path):
    gone = pl.col("iteration") == 0
    runs = [
        make_run(name, seed=seed).with_columns(
            score=pl.when(~gone).then("score"), reason=pl.when(gone).then(pl.lit("refused"))
        )
        for name, seed in (("a", 0), ("b", 2))
    ]
    comparison = compare(*runs, margin=0.4)
    by_stereotype = comparison.estimates.filter(level="stereotype", method="clustered")
    assert set(by_stereotype["verdict"].drop_nulls()) == {"cannot_tell, missing answers"}
    page = write_report(write_comparison(comparison, tmp_path / "c")).read_text(encoding="utf-8")
    assert "Differences per stereotype." in page
    assert "Stereotypes that are worse or better" not in page
