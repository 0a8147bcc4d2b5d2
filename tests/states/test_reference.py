"""Schuster et al. 2024 on MiniLM: names against the numbers of the released code, and directions.

The reference is the released code's `projection` of names for sentence-transformers'
all-MiniLM-L6-v2 with the released dictionary and contexts; the accuracy without context is that of
the 2,563 additional words, by the mean over layers and the cut at zero.
"""

from __future__ import annotations

import json
from pathlib import Path

import polars as pl
import pytest

from tiltmeter.models.readers.states import Reader, States
from tiltmeter.results.schemas import CONTEXTS
from tiltmeter.states.contexts import alone, in_templates
from tiltmeter.states.dictionary import Dictionary, read_dictionary
from tiltmeter.states.directions import predict_directions, read_extended
from tiltmeter.states.profiles import ProfileSetting, measure_profile
from tiltmeter.states.storing import read_states
from tiltmeter.states.words import read_words

Read = dict[str, States]


@pytest.fixture(scope="session")
def released(shared_data: Path) -> Dictionary:
    return read_dictionary(shared_data / "schuster" / "stereotype_dimensions_dictionary.csv")


@pytest.fixture(scope="session")
def read(minilm: Reader, released: Dictionary, shared_data: Path) -> Read:
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
    return {name: read_states(minilm, frame) for name, frame in contexts.items()}


def test_every_difference_of_names_is_the_published_one(
    read: Read, released: Dictionary, shared_data: Path
) -> None:
    of = {"model": "minilm", "contexts": "generated", "removed": 0}
    setting = ProfileSetting(draws=200)
    words = read_words("names")
    found = measure_profile(
        read["generated"], released, read["names"], words, of=of, setting=setting
    )
    path = shared_data / "schuster" / "minilm_names_projection_reference.csv"
    theirs = pl.read_csv(path).with_columns(
        layer=pl.col("Model").str.extract(r"-L(\d+)$").fill_null("mean"), dimension="Dimension"
    )
    published = found.estimates.filter(method="published")
    both = theirs.join(published, on=["layer", "dimension"], validate="1:1")
    assert both.height == 8 * 9
    assert (both["diff"] - both["estimate"]).abs().max() < 1e-4
    assert (both["p"] / both["diff_pvalue"] - 1).abs().max() < 1e-3
    assert published["note"].null_count() == published.height
    means = found.estimates.filter(measure="profile_mean", group="Female Names")
    both = theirs.join(means, on=["layer", "dimension"], validate="1:1")
    assert (both["Female Names_mean"] - both["estimate"]).abs().max() < 1e-4


def test_directions_without_context(read: Read, released: Dictionary, shared_data: Path) -> None:
    of = {"model": "minilm", "contexts": "none", "removed": 0}
    extended = read_extended(shared_data / "nicolas" / "full_dictionary.csv")
    found = predict_directions(read["none"], released, read["further"], extended, of=of)
    rows = found.estimates.filter(layer="mean", dimension="all", cut="zero", method="wilson")
    (row,) = rows.iter_rows(named=True)
    assert row["estimate"] == pytest.approx(0.6719, abs=0.001)
    assert row["neutral"] == pytest.approx(1329 / 2563)
