"""The study of stereotype content: words, wordings and draws; its lists beside people's words."""

from __future__ import annotations

import csv
import re
from pathlib import Path

import polars as pl
import pytest

from clinometer.contracts.catalogue import INSTRUMENTS
from clinometer.contracts.design import Design
from clinometer.modes import MODES
from clinometer.stimuli import load_study, word_key
from clinometer.words.wordnet import lemmas

STUDY, SOURCE = load_study("clinometer2026_content"), load_study("clinometer2026")
ASSOCIATION = INSTRUMENTS["word_association"]
PAIR = ["marginalized", "default"]


def trials(mode: str) -> pl.DataFrame:
    names = ASSOCIATION.variations_in(mode, STUDY, tuple(ASSOCIATION.variations(STUDY)))
    return ASSOCIATION.trials(STUDY, Design(mode, 2), variations=list(names))


def test_ten_contrasts_have_twelve_groups_a_side_and_sixteen_attributes_a_pole() -> None:
    assert len(STUDY.stereotypes) == 10
    for stereotype in STUDY.stereotypes.values():
        assert (len(stereotype.marginalized), len(stereotype.default)) == (12, 12)
    poles = [words for d in STUDY.dimensions.values() for words in (d.tied, d.counter)]
    assert [len(words) for words in poles] == [16] * 6
    assert len({word_key(word) for words in poles for word in words}) == 96


def test_attributes_are_adjectives() -> None:
    words = {word for d in STUDY.dimensions.values() for word in (*d.tied, *d.counter)}
    # WordNet has "unwelcome" alone.
    assert {word for word in words if "a" not in lemmas().get(word, "")} == {"unwelcoming"}


def test_no_attribute_is_in_the_name_of_a_group() -> None:
    attributes = {word for d in STUDY.dimensions.values() for word in (*d.tied, *d.counter)}
    for stereotype in STUDY.stereotypes.values():
        groups = " ".join([*stereotype.marginalized, *stereotype.default]).casefold().split()
        assert attributes.isdisjoint(groups)


def test_groups_and_wordings_are_those_of_the_study_that_they_are_taken_from() -> None:
    assert STUDY.instruments.word_association == SOURCE.instruments.word_association
    for key, stereotype in STUDY.stereotypes.items():
        source = SOURCE.stereotypes["career" if key == "women" else key]
        for field in (*PAIR, "aligned"):
            assert getattr(stereotype, field) == getattr(source, field)
        assert not stereotype.tied


def test_every_wording_shows_another_pair_and_every_word_once_or_twice() -> None:
    for (key,), group_trials in trials("free").filter(dimension="morality").group_by("stereotype"):
        assert group_trials.height == 32 and set(
            group_trials["variation"].value_counts()["count"]
        ) == {2}, key
        pairs = group_trials.unique("pair_id")
        for side in PAIR:
            assert set(pairs[side].value_counts()["count"]) == {1, 2}, key
        orders = group_trials.group_by("variation").agg(pl.col("order").n_unique())["order"]
        assert set(orders) == {2}, key


def test_the_dimensions_show_the_same_pairs() -> None:
    pair_rows = trials("free").select("stereotype", "variation", "iteration", *PAIR, "dimension")
    by_dimension = [pair_rows.filter(dimension=name).drop("dimension") for name in STUDY.dimensions]
    assert all(frame.equals(by_dimension[0]) for frame in by_dimension)


@pytest.mark.parametrize("mode", MODES)
def test_prompts_of_all_modes_are_whole(mode: str) -> None:
    mode_trials, part = trials(mode), STUDY.instruments.word_association
    sentences = MODES[mode].sentences
    assert set(mode_trials["variation"]) == set(part.sentences if sentences else part.variations)
    # One word at a time is put in when it is asked, and so is the group that a sentence names.
    places = {"free": set(), "structured": set(), "forced": {"{attribute}"}}
    for row in mode_trials.iter_rows(named=True):
        unfilled = set(re.findall(r"\{\w*\}", row["prompt"]))
        assert unfilled == places.get(mode, {"{attribute}", "{option}"})
        assert "  " not in row["prompt"]
        groups = [row[side] in row["prompt"] for side in PAIR]
        assert groups == ([False] * 2 if sentences else [True] * 2)


#: The dimensions as the extended dictionary of stereotype content names them.
NORMS = {"competence": "Ability", "sociability": "Sociability", "morality": "Morality"}


@pytest.mark.parametrize("name", STUDY.dimensions)
def test_people_use_the_words_on_the_dimension_and_at_the_pole_meant(
    name: str, shared_data: Path
) -> None:
    """The check that the head of the study speaks of (Nicolas, Bai & Fiske 2021)."""
    meanings: dict[str, set[tuple[str, str]]] = {}
    path = shared_data / "nicolas" / "full_dictionary.csv"
    with path.open(newline="", encoding="utf-8") as file:
        for row in csv.DictReader(file):
            meanings.setdefault(row["term"], set()).add((row["dimension"], row["direction"]))
    poles = {"low": STUDY.dimensions[name].tied, "high": STUDY.dimensions[name].counter}
    words = [(word, pole) for pole, words in poles.items() for word in words]
    listed = [(word, pole) for word, pole in words if word in meanings]
    meant = [word for word, pole in listed if (NORMS[name], pole) in meanings[word]]
    assert len(listed) > 0.9 * len(words) and len(meant) > 0.95 * len(listed)
    opposite = {"low": "high", "high": "low"}
    assert not [word for word, pole in listed if (NORMS[name], opposite[pole]) in meanings[word]]
