"""Columns of conditions: which are taken, which are pooled, and what is no condition."""

from __future__ import annotations

import warnings
from typing import Any

import polars as pl
import pytest

from clinometer.errors import ClinometerWarning, InputError
from clinometer.scoring.conditions import find_conditions, with_conditions
from clinometer.scoring.recorded import used_columns


def answers(n: int = 10, **columns: Any) -> pl.DataFrame:
    """Answers of one cell, alternately of one kind and the other."""
    response = [f"answer {number}" for number in range(n)]
    return pl.DataFrame(
        {"model": "m", "stereotype": "power", "variation": "x", "response": response, **columns}
    )


def find_quietly(frame: pl.DataFrame, *columns: str) -> tuple[str, ...]:
    """Find conditions where nothing is to be said of pooled columns."""
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", "column .* means are taken of each", ClinometerWarning)
        return find_conditions([frame], columns)


def test_a_column_of_few_texts_is_a_condition_and_is_named() -> None:
    frame = answers(persona=["", "expert"] * 5)
    says = r"column persona has 2 values \(none 5, expert 5\): means are taken of each"
    with pytest.warns(ClinometerWarning, match=says):
        assert find_conditions([frame]) == ("persona",)
    assert with_conditions(frame, ("persona",))["intervention"].to_list() == ["none", "expert"] * 5


@pytest.mark.parametrize(
    "values",
    [
        ["none", "expert", "none", "none"] * 2 + ["none", "none"],  # too few of a value
        [1, 0] * 5,
        ["1.5", ""] * 5,
        ["yes", "no"] * 5,
        ["True", "False"] * 5,
    ],
)
def test_labels_and_numbers_are_pooled_and_named(values: list[Any]) -> None:
    with pytest.warns(ClinometerWarning, match="which are pooled; --condition c takes means"):
        assert find_conditions([answers(c=values)]) == ()


@pytest.mark.parametrize(
    "columns",
    [
        {"uid": [f"id{number}" for number in range(30)]},
        {"persona": "expert"},
        {"topic": ["power"] * 15 + ["guilt"] * 15, "stereotype": ["p"] * 15 + ["g"] * 15},
        {"raw": ["Julia", "Ben"] * 15, "response": ["I take Julia", "Ben, I think"] * 15},
        {"text": ["a b", "b  a"] * 15, "response": ["a b", "b a"] * 15},
        {"seed": ["a", "b"] * 15},
    ],
)
def test_what_is_no_condition_needs_no_word(columns: dict[str, Any]) -> None:
    assert find_quietly(answers(30, **columns)) == ()


def test_a_column_that_alone_tells_draws_apart_is_a_condition() -> None:
    frame = answers(4, run=[1, 1, 2, 2], iteration=[0, 1, 0, 1])
    assert find_quietly(frame) == ("run",)
    with pytest.warns(ClinometerWarning, match="which are pooled"):
        assert find_conditions([frame.drop("iteration")]) == ()


def test_the_rows_of_an_answer_are_no_conditions() -> None:
    frame = answers(30, word=["a", "b"] * 15, iteration=[n // 2 for n in range(30)])
    repeated = frame.with_columns(response=pl.lit("one"))
    with pytest.warns(ClinometerWarning, match="which are pooled"):
        assert find_conditions([repeated]) == ()
    assert find_quietly(frame) == ("word",)


def test_of_two_names_of_a_condition_the_first_is_taken() -> None:
    frame = answers(persona=["a", "b"] * 5, system=["You are a.", "You are b."] * 5)
    assert find_quietly(frame) == ("persona",)
    assert find_quietly(frame.drop("persona")) == ("system",)


def test_a_user_names_conditions_or_none() -> None:
    frame = answers(persona=["a", "b"] * 5, run=[1, 2, 3, 4, 5] * 2)
    assert find_quietly(frame, "run") == ("run",)
    assert find_quietly(frame, "none") == ()
    with pytest.raises(InputError, match="--condition: unknown column 'runs'; did you mean run"):
        find_conditions([frame], ["runs"])
    with pytest.raises(InputError, match="--condition stereotype: a column of Clinometer"):
        find_conditions([frame], ["stereotype"])


def test_several_conditions_are_named_by_column() -> None:
    frame = answers(4, a=["x", "x", "none", None], b=["1", "2", "1", "none"])
    names = with_conditions(frame, ("a", "b"))["intervention"].to_list()
    assert names == ["a=x, b=1", "a=x, b=2", "a=none, b=1", "none"]


def test_a_condition_stands_beside_the_interventions_of_a_table() -> None:
    frame = answers(4, intervention=["none", "kind"] * 2, persona=["none", "none", "x", "x"])
    names = with_conditions(frame, ("persona",))["intervention"].to_list()
    assert names == ["none", "intervention=kind, persona=none", "x", "intervention=kind, persona=x"]


def test_long_values_keep_their_difference() -> None:
    texts = ["You are an assistant who answers every question. " + end for end in ("A", "B")]
    names = with_conditions(answers(2, system=texts), ("system",))["intervention"]
    assert names.n_unique() == 2 and names.str.len_chars().max() < 50


def test_columns_are_found_over_all_chunks_of_a_table() -> None:
    frame = answers(8, persona=["a"] * 4 + ["b"] * 4)
    with pytest.warns(ClinometerWarning, match=r"\(a 8, b 8\)"):
        assert find_conditions([frame[:4], frame[4:], frame]) == ("persona",)
    many = answers(12, name=[str(n) + "x" for n in range(12)])
    assert find_quietly(pl.concat([many[:6], many[6:]])) == ()


@pytest.mark.parametrize(
    ("instrument", "column"),
    [
        ("reasoning_cost", "condition"),
        ("hypothetical_decision", "race"),
    ],
)
def test_what_an_instrument_is_asked_with_is_no_condition_of_its_answers(
    instrument: str, column: str
) -> None:
    """Of other instruments a column of this name is one."""
    values = ["compatible", "incompatible"] * 5
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", "column .* means are taken of each", ClinometerWarning)
        for name, conditions in ((instrument, ()), ("word_association", (column,))):
            frame = answers(instrument=name, **{column: values})
            assert find_conditions([frame], (), used_columns) == conditions
