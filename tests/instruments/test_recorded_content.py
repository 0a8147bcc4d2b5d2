"""Recorded answers to MIST: its names of columns, groups and dimensions, and what is left out."""

from __future__ import annotations

import random
from pathlib import Path
from typing import Any

import polars as pl
import pytest

from clinometer.contracts.catalogue import INSTRUMENTS
from clinometer.contracts.design import Design
from clinometer.errors import InputError, StudyError
from clinometer.results.tables import read_table, write_table
from clinometer.scoring import score
from clinometer.stimuli import load_study

MIST = load_study("mist2025")


def answered(share: float = 0.7) -> pl.DataFrame:
    """A run whose model gives the counter words to the default group in `share` of the words."""
    trials = INSTRUMENTS["word_association"].trials(MIST, Design(iterations=4))
    rng = random.Random(3)
    texts = []
    for row in trials.iter_rows(named=True):
        counter = MIST.dimensions[row["dimension"]].counter
        sides = (row["default"], row["marginalized"])
        pairs = [(w, sides[(w in counter) != (rng.random() < share)]) for w in row["attributes"]]
        texts.append(", ".join(f"({word}, {group})" for word, group in pairs))
    return trials.with_columns(
        model=pl.lit("m"), response=pl.Series(texts), stop_reason=pl.lit("stop"),
        error=pl.lit(None, pl.String),
    )  # fmt: skip


@pytest.fixture(scope="module")
def run() -> pl.DataFrame:
    return answered()


def as_published(run: pl.DataFrame, *dropped: str) -> pl.DataFrame:
    """The run as someone else might have recorded it."""
    label = {key: s.label.upper() for key, s in MIST.stereotypes.items()}
    return run.select(
        pl.col("model").alias("llm"),
        pl.col("stereotype").replace(label).alias("pairing"),
        pl.col("dimension").str.to_titlecase(),
        pl.col("variation").alias("template"),
        pl.col("iteration"),
        pl.col("default").alias("s_a"),
        pl.col("marginalized").alias("s_b"),
        "response",
    ).drop(dropped)


def numbers(frame: pl.DataFrame) -> list[Any]:
    scores, _ = score(frame, MIST)
    return scores.select("stereotype", "dimension", "marginalized", "default", "score").rows()


def test_the_groups_of_the_paper_are_default_and_marginalized(run: pl.DataFrame) -> None:
    assert numbers(as_published(run)) == numbers(run)


def test_a_wording_may_be_spelled_otherwise_or_left_out(run: pl.DataFrame) -> None:
    spaced = as_published(run).with_columns(pl.col("template").str.replace("template", "Template "))
    scores, _ = score(spaced, MIST)
    assert scores["variation"].to_list() == run["variation"].to_list()
    assert numbers(as_published(run, "template")) == numbers(run)
    assert set(score(as_published(run, "template"), MIST)[0]["variation"]) == {"recorded"}


def test_a_dimension_that_is_not_named_is_told_by_its_words(run: pl.DataFrame) -> None:
    assert numbers(as_published(run, "dimension")) == numbers(run)


def test_group_words_that_are_not_named_are_told_by_the_answer(run: pl.DataFrame) -> None:
    """An answer that used one group only has the score of ½ + ½ all the same."""
    rows = numbers(as_published(run, "s_a", "s_b"))
    assert [row[-1] for row in rows] == [row[-1] for row in numbers(run)]


def test_ten_of_the_listed_words_are_all_that_were_asked(run: pl.DataFrame) -> None:
    scores, _ = score(as_published(run), MIST)
    assert scores["coverage"].unique().to_list() == [1.0]
    half = as_published(run).with_columns(pl.col("response").str.split("), ").list.head(5))
    cut = half.with_columns(pl.col("response").list.join("), "))
    assert set(score(cut, MIST)[0]["reason"]) == {"low_coverage"}


def test_a_word_that_was_not_shown_is_not_counted(run: pl.DataFrame) -> None:
    row = run.filter(stereotype="age", dimension="competence").head(1)
    more = row.with_columns(response=pl.col("response") + ", (Astute, Old), (Inept, Old)")
    absent = {"Astute", "Inept"} - set(row["attributes"][0])
    assert absent and numbers(more) == numbers(row)


def test_a_run_scored_from_its_csv_table_gives_the_same(run: pl.DataFrame, tmp_path: Path) -> None:
    write_table(run, tmp_path / "r.csv")
    assert numbers(read_table(tmp_path / "r.csv")) == numbers(run)


def test_unknown_names_are_refused_with_near_ones(run: pl.DataFrame) -> None:
    table = as_published(run)
    with pytest.raises(StudyError, match="unknown dimension 'Warmth'"):
        score(table.with_columns(dimension=pl.lit("Warmth")), MIST)
    with pytest.raises(StudyError, match="unknown stereotype 'Afrikan'.*african"):
        score(table.with_columns(pairing=pl.lit("Afrikan")), MIST)


@pytest.mark.parametrize(
    ("column", "values"),
    [
        ("group", ("S_a", "S_b")),
        ("version", ("default", "marginalized")),
        ("s_e", ("Ethan", "Kwame")),
        ("group", ("advantaged", "disadvantaged")),
    ],
)
def test_the_group_of_an_attribution_has_many_names(column: str, values: tuple[str, str]) -> None:
    table = pl.DataFrame(
        {"model": "m", "pairing": "African", "s_n": "Sheet", column: values,
         "response": ["Sheet: Comedy", "Sheet: Tragedy"]}
    )  # fmt: skip
    scores, _ = score(table, MIST, instrument="affective_attribution")
    assert scores.select("version", "score", "outcome", "object").rows() == [
        ("default", 1.0, "comedy", "Sheet"),
        ("marginalized", 1.0, "tragedy", "Sheet"),
    ]


def test_an_attribution_needs_to_say_of_whom() -> None:
    table = pl.DataFrame({"model": "m", "stereotype": "african", "response": "Comedy"})
    with pytest.raises(InputError, match="missing column version"):
        score(table, MIST, instrument="affective_attribution")
    with pytest.raises(InputError, match="group 'Hiroshi' of african; allowed are default"):
        score(table.with_columns(s_e=pl.lit("Hiroshi")), MIST, instrument="affective_attribution")
