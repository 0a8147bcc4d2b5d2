"""The released dictionary of Schuster et al. 2024, and what all-MiniLM-L6-v2 holds of its words."""

from __future__ import annotations

import json
import pickle
from collections.abc import Callable
from pathlib import Path

import polars as pl
import pytest

from clinometer_measures.states.contexts import alone, in_templates
from clinometer_measures.states.dictionary import Dictionary, read_dictionary
from clinometer_measures.states.directions import read_extended
from clinometer_measures.states.readers.states import HiddenStates, Reader
from clinometer_measures.states.storing import read_states
from clinometer_measures.states.tables import CONTEXTS
from clinometer_measures.states.words import read_words


@pytest.fixture(scope="session")
def released(shared_data: Path) -> Dictionary:
    return read_dictionary(shared_data / "schuster" / "stereotype_dimensions_dictionary.csv")


@pytest.fixture(scope="session")
def cached_states(
    request: pytest.FixtureRequest,
    made_once: Callable[..., Path],
    released: Dictionary,
    shared_data: Path,
) -> dict[str, HiddenStates]:
    """States of the poles in released contexts and in none, of names and of further words."""
    lines = (shared_data / "schuster" / "generated_examples.txt").read_text(encoding="utf-8")
    senses = [json.loads(line) for line in lines.splitlines()]
    generated = [
        (f"{sense['term']}|{sense['synset']}", sense["term"], example)
        for sense in senses
        for example in sense["examples"][:5]
    ]
    extended = read_extended(shared_data / "nicolas" / "full_dictionary.csv")
    contexts = {
        "generated": pl.DataFrame(generated, schema=CONTEXTS, orient="row"),
        "names": in_templates(read_words("names").all),
        "none": alone(released.terms),
        "further": alone(extended["term"]),
    }

    def fill(folder: Path) -> None:
        minilm: Reader = request.getfixturevalue("minilm")
        states = {name: read_states(minilm, frame) for name, frame in contexts.items()}
        (folder / "states.pickle").write_bytes(pickle.dumps(states))

    states: dict[str, HiddenStates] = pickle.loads(
        (made_once("states", fill) / "states.pickle").read_bytes()
    )
    return states
