"""Direction prediction on hand-made states."""

from __future__ import annotations

import re
from pathlib import Path

import numpy as np
import polars as pl
import pytest
from scipy import stats

from clinometer.errors import ClinometerWarning, InputError
from clinometer.results import ESTIMATES
from clinometer_measures.states.dictionary import SENSES, Dictionary
from clinometer_measures.states.directions import predict_directions, read_extended
from clinometer_measures.states.readers.states import HiddenStates
from clinometer_measures.states.tables import DIRECTION_TERMS

ORIGIN = {"model": "mine", "contexts": "none", "removed": 0}
SIGNS = {"Sociability": 0, "Morality": 1, "Ability": 2, "Agency": 3}
DICTIONARY = Dictionary(
    "mine",
    pl.DataFrame(
        [
            (
                f"{dimension} {direction}",
                f"{dimension} {direction}",
                None,
                None,
                dimension,
                direction,
                [],
            )
            for dimension in SIGNS
            for direction in ("high", "low")
        ],
        schema=dict(SENSES),
        orient="row",
    ),
)


def states(values: dict[str, list[float]]) -> HiddenStates:
    """Make states of one layer."""
    array = np.array(list(values.values()), dtype=np.float32)[:, None]
    return HiddenStates(tuple(values), ("0",), array, np.ones(len(values), dtype=np.int64))


POLES = states(
    {
        f"{dimension} {direction}": [float(direction == "high" and place == n) for n in range(4)]
        for dimension, place in SIGNS.items()
        for direction in ("high", "low")
    }
)
#: Coordinates on sociability, morality, ability, agency.
TERMS = {
    "jovial": [2.0, 0, 0, 0],
    "chatty": [1.0, 0, 0, 0],
    "sullen": [0.5, 0, 0, 0],
    "saintly": [0, 1.0, 0, 0],
    "wicked": [3, -1.0, 0, 0],
    "clever": [0, 0, -0.5, 0],
}
EXTENDED = pl.DataFrame(
    [
        ("jovial", "Sociability", "high"),
        ("chatty", "Sociability", "high"),
        ("sullen", "Sociability", "low"),
        ("saintly", "Morality", "high"),
        ("wicked", "Morality", "low"),
        ("wicked", "Sociability", "low"),
        ("clever", "Ability", "high"),
    ],
    schema=["term", "dimension", "direction"],
    orient="row",
)


def predicted(space: str, dimension: str, cut: str, terms: HiddenStates | None = None) -> dict:
    """Give the row of accuracy, with the balanced one and the number of high terms."""
    directions = predict_directions(POLES, DICTIONARY, terms or states(TERMS), EXTENDED, of=ORIGIN)
    assert dict(directions.estimates.schema) == ESTIMATES
    assert dict(directions.terms.schema) == DIRECTION_TERMS
    key = {"space": space, "dimension": dimension}
    rows = directions.estimates.filter(**key, cut=cut, layer="mean")
    accuracy, balanced = rows.iter_rows(named=True)
    counted = directions.terms.filter(**key).row(0, named=True)
    assert counted["n"] == accuracy["n"] == balanced["n"]
    return {**accuracy, "balanced": balanced["estimate"], "n_high": counted["n_high"]}


def test_the_sign_predicts() -> None:
    row = predicted("fine", "Sociability", "zero")
    # all four lie above zero; two of them are high
    assert (row["estimate"], row["balanced"], row["neutral"]) == (0.5, 0.5, 0.5)
    assert (row["n"], row["n_high"]) == (4, 2)


def test_the_centred_cut_is_the_mean_of_the_terms() -> None:
    # 2, 1, .5 and 3 have the mean 1.625: jovial is right, chatty wrong, sullen right, wicked wrong
    assert predicted("fine", "Sociability", "centred")["estimate"] == 0.5
    assert predicted("fine", "Morality", "centred")["estimate"] == 1.0


def test_all_takes_each_word_on_its_own_dimension() -> None:
    row = predicted("fine", "all", "zero")
    # jovial, chatty, saintly, wicked (morality); a word in two dimensions has two rows
    assert (row["estimate"], row["n"]) == (4 / 7, 7)
    assert row["balanced"] == pytest.approx((3 / 4 + 1 / 3) / 2)
    assert row["neutral"] == 4 / 7


def test_broad_dimensions_take_the_words_of_their_parts() -> None:
    warmth = predicted("broad", "Warmth", "zero")
    # warmth is (½, ½, 0, 0): wicked (3, −1) is at 2 and wrong, twice; sullen is wrong as well
    assert (warmth["estimate"], warmth["n"]) == (3 / 6, 6)
    assert predicted("broad", "Competence", "zero")["n"] == 1


def test_one_direction_has_no_balanced_accuracy() -> None:
    row = predicted("fine", "Ability", "zero")
    assert (row["estimate"], row["balanced"], row["neutral"]) == (0.0, None, 1.0)


def test_the_interval_is_scipys_wilson() -> None:
    row = predicted("fine", "all", "zero")
    theirs = stats.binomtest(4, 7).proportion_ci(0.95, method="wilson")
    assert (row["ci_low"], row["ci_high"]) == pytest.approx((theirs.low, theirs.high))
    assert row["confidence"] == 0.95


def test_contexts_of_a_term_are_averaged_by_their_number() -> None:
    separate = {
        f"{term}|{n}": [v * n for v in value] for term, value in TERMS.items() for n in (1, 3)
    }
    row = predicted("fine", "Sociability", "centred", states(separate))
    assert row == predicted("fine", "Sociability", "centred")


def test_words_that_cannot_be_predicted_are_left_out_and_counted() -> None:
    more = pl.concat([EXTENDED, pl.DataFrame([("rich", "Status", "high"), ("moody", "Morality",
        "low")], schema=EXTENDED.schema, orient="row")])  # fmt: skip
    message = "2 of 9 words left out .* 1 of dimensions that mine does not have, 1 without a state"
    with pytest.warns(ClinometerWarning, match=message):
        directions = predict_directions(POLES, DICTIONARY, states(TERMS), more, of=ORIGIN)
    assert directions.terms.filter(dimension="all")["n"].to_list() == [7]


def test_nothing_to_predict_is_refused() -> None:
    none = EXTENDED.with_columns(dimension=pl.lit("Status"))
    with pytest.raises(InputError, match="none of 7 words has a state and a dimension of Soc"):
        predict_directions(POLES, DICTIONARY, states(TERMS), none, of=ORIGIN)
    with pytest.raises(InputError, match="confidence 1"):
        predict_directions(POLES, DICTIONARY, states(TERMS), EXTENDED, of=ORIGIN, confidence=1)


def test_the_subset_of_the_paper(shared_data: Path) -> None:
    path = shared_data / "nicolas" / "full_dictionary.csv"
    extended = read_extended(path)
    assert extended.height == 2563  # PROVENANCE: within 16 of the paper's table 1
    counts = extended.group_by("dimension", "direction").len()
    assert counts.filter(pl.col("dimension") == "Religion").sort("direction")["len"].to_list() == [
        145,
        6,
    ]
    assert read_extended(path, subset="all").height == 6620
    assert read_extended(path, subset="all")["term"].is_duplicated().any()


def test_a_file_of_ones_own_needs_three_columns(tmp_path: Path) -> None:
    path = tmp_path / "mine.csv"
    path.write_text("term,dimension,direction\nnull,Status,-1\nnull,Morality,High\n")
    assert read_extended(path).rows() == [("null", "Status", "low"), ("null", "Morality", "high")]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("term,direction\nx,high\n", "missing column dimension"),
        ("term,dimension,direction\nx,A,high\ny,A,up\n", ":3: direction 'up'; allowed are high"),
        ("term,dimension,direction\n,A,high\n", ":2: term is empty; some text is needed"),
        ("term,dimension,direction\nx,A,high\nx,A,low\n", "'x' is both high and low in 'A'"),
        ("term,dimension,direction\n", "no row is left of 0"),
    ],
)
def test_what_is_wrong_is_said(text: str, message: str, tmp_path: Path) -> None:
    path = tmp_path / "mine.csv"
    path.write_text(text, encoding="utf-8")
    with pytest.raises(InputError, match=re.escape(message)):
        read_extended(path)


def test_the_papers_subset_needs_its_columns(tmp_path: Path) -> None:
    path = tmp_path / "mine.csv"
    path.write_text("term,dimension,direction\nx,A,high\n", encoding="utf-8")
    with pytest.raises(InputError, match="subset paper: missing column in_seed, primary"):
        read_extended(path, subset="paper")
    with pytest.raises(InputError, match="subset 'most'; allowed|subset 'most': allowed"):
        read_extended(path, subset="most")


@pytest.mark.slow
def test_directions_without_context(
    cached_states: dict[str, HiddenStates], released: Dictionary, shared_data: Path
) -> None:
    """The accuracy of the released code on 2,563 words: mean over layers, cut at zero."""
    origin = {"model": "minilm", "contexts": "none", "removed": 0}
    extended = read_extended(shared_data / "nicolas" / "full_dictionary.csv")
    directions = predict_directions(
        cached_states["none"], released, cached_states["further"], extended, of=origin
    )
    rows = directions.estimates.filter(layer="mean", dimension="all", cut="zero", method="wilson")
    (row,) = rows.iter_rows(named=True)
    assert row["estimate"] == pytest.approx(0.6719, abs=0.001)
    assert row["neutral"] == pytest.approx(1329 / 2563)
