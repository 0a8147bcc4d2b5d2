"""Properties of contexts, by hand and as the paper describes its own."""

from __future__ import annotations

from pathlib import Path

import polars as pl
import pytest

from clinometer.errors import InputError
from clinometer_measures.states.context_properties import describe_contexts
from clinometer_measures.states.contexts import in_templates, place_terms
from clinometer_measures.states.dictionary import Dictionary
from clinometer_measures.states.tables import CONTEXTS


def counts_of_property(frame: pl.DataFrame, name: str) -> list[tuple[int, int]]:
    return frame.filter(property=name).select("value", "n").rows()


def test_contexts_words_and_places_are_counted() -> None:
    rows = [
        ("warm", "warm", "a warm,  friendly welcome"),
        ("warm", "warm", "Warm!"),
        ("cold", "cold", "it was so very cold"),
    ]
    frame = pl.DataFrame(rows, schema=CONTEXTS, orient="row")
    properties = describe_contexts(frame, "corpus", "poles", 3)
    assert counts_of_property(properties, "contexts per term") == [(0, 1), (1, 1), (2, 1)]
    assert counts_of_property(properties, "words") == [(1, 1), (4, 1), (5, 1)]
    assert counts_of_property(properties, "position") == [(1, 1), (2, 1), (5, 1)]
    assert properties.select("contexts", "role").unique().rows() == [("corpus", "poles")]


def test_contexts_that_stand_apart_are_of_one_term() -> None:
    properties = describe_contexts(in_templates(["Mary"]), "templates", "held-out", 1)
    assert counts_of_property(properties, "contexts per term") == [(7, 1)]
    assert counts_of_property(properties, "position") == [(1, 2), (3, 4), (4, 1)]


def test_the_released_contexts_are_as_long_as_the_paper_says(
    released: Dictionary, shared_data: Path
) -> None:
    """Section 3.2: at most five each; dictionary examples are the shortest, generated ones 20."""
    means, most = {}, {}
    for contexts in ("dictionary", str(shared_data / "schuster" / "generated_examples.txt")):
        placed = place_terms(released, contexts)
        n = released.senses["key"].n_unique()
        properties = describe_contexts(placed.frame, placed.kind, "poles", n)
        words = properties.filter(property="words")
        means[placed.kind] = (words["value"] * words["n"]).sum() / words["n"].sum()
        most[placed.kind] = properties.filter(property="contexts per term")["value"].max()
    assert round(means["generated"]) == 20 and means["dictionary"] < 10
    assert most == {"generated": 5, "dictionary": 5}


def test_a_term_that_does_not_stand_in_its_context_is_named() -> None:
    frame = pl.DataFrame([("warm", "warm", "cold")], schema=CONTEXTS, orient="row")
    with pytest.raises(InputError, match="row 1"):
        describe_contexts(frame, "corpus", "poles", 1)
