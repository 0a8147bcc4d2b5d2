"""Neutral templates and no context, and the way back from a row of states to its term."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from clinometer.errors import InputError
from clinometer_measures.states.contexts import TEMPLATES, alone, in_templates, rows_of, term_of
from clinometer_measures.states.readers.states import HiddenStates

#: As words files give them: those refuse half a character, which no table can hold.
KEYS = st.text(st.characters(codec="utf-8", exclude_characters="|"), min_size=1, max_size=12)


def states(*keys: str) -> HiddenStates:
    counts = np.ones(len(keys), dtype=np.int64)
    return HiddenStates(keys, ("0",), np.zeros((len(keys), 1, 2), dtype=np.float32), counts)


def test_the_templates_of_the_source() -> None:
    contexts = in_templates(["Mary"])
    assert contexts["context"].to_list() == [
        "this is Mary",
        "that is Mary",
        "there is Mary",
        "the person is Mary",
        "here is Mary",
        "Mary is here",
        "Mary is there",
    ]
    assert contexts["key"].to_list() == [f"Mary|{number}" for number in range(1, 8)]
    assert set(contexts["term"]) == {"Mary"}


@pytest.mark.parametrize(
    ("term", "first"),
    [
        ("mother", "this is the mother"),
        ("female", "this is the female"),
        ("she", "this is she"),
        ("They", "this is They"),
        ("James", "this is James"),
        ("a nonbinary person", "this is a nonbinary person"),
        ("another", "this is the another"),
    ],
)
def test_the_article_goes_by_the_term(term: str, first: str) -> None:
    assert in_templates([term])["context"][0] == first


def test_the_article_may_be_stated() -> None:
    assert in_templates(["Frau"], article="die")["context"][5] == "die Frau is here"
    assert in_templates(["mother"], article="")["context"][0] == "this is mother"


def test_a_template_that_holds_the_term_already_is_left_out() -> None:
    assert in_templates(["person"])["context"].to_list() == [
        template.format("the person") for template in TEMPLATES if "person" not in template
    ]
    contexts = in_templates(["here"])
    assert contexts["key"].to_list() == ["here|1", "here|2", "here|3", "here|4", "here|7"]


def test_templates_that_begin_with_the_term_may_be_left_out() -> None:
    contexts = in_templates(["mother"], leading=False)
    assert contexts["key"].to_list() == [f"mother|{number}" for number in range(1, 6)]


def test_senses_are_averaged_over_templates() -> None:
    contexts = in_templates({"warm|warm.a.01": "warm"}, apart=False)
    assert set(contexts["key"]) == {"warm|warm.a.01"}
    assert contexts.height == 7


def test_none_is_the_term_itself() -> None:
    senses = {"warm|warm.a.01": "warm", "warm|warm.a.02": "warm"}
    assert alone(senses).rows() == [(key, "warm", "warm") for key in senses]


@given(KEYS)
def test_the_way_back(term: str) -> None:
    assert {term_of(key) for key in in_templates([term])["key"]} <= {term}
    assert term_of(alone([term])["key"][0]) == term


def test_rows_are_found_whether_apart_or_not() -> None:
    rows, places = rows_of(states("Mary|1", "he", "Ann|1", "Mary|2"), ["he", "Mary"])
    assert list(zip(rows.tolist(), places.tolist(), strict=True)) == [(0, 1), (1, 0), (3, 1)]


def test_a_term_without_state_is_named() -> None:
    with pytest.raises(InputError, match="no states of 2 terms: 'Eve', 'Bob'"):
        rows_of(states("Mary|1"), ["Mary", "Eve", "Bob"])
