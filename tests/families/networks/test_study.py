"""Studies of networks: the published one, and files with mistakes."""

from __future__ import annotations

import csv
from pathlib import Path

import pytest

from clinometer.errors import StudyError
from clinometer_measures.networks.study import (
    Stereotypes,
    load_network_study,
    parse_network_study,
    shipped_network_studies,
)

GENDER = """
name: mine
identities:
  gender:
    approach: stereotypes
    pairs: [{female: woman, male: man}, {female: girl, male: boy}]
    targets: {female: [kind], male: [leader]}
"""


def test_gender_is_the_released_list(shared_data: Path) -> None:
    gender = load_network_study("abramski2025").identities["gender"]
    assert isinstance(gender, Stereotypes)
    with (shared_data / "lwow" / "gender_targets.csv").open(newline="") as file:
        rows = list(csv.DictReader(file))
    assert gender.targets == {
        "female": [row["Female"] for row in rows],
        "male": [row["Male"] for row in rows],
    }
    with (shared_data / "lwow" / "gender_primes.csv").open(newline="") as file:
        assert set(gender.primes) == {row["genderWord"] for row in csv.DictReader(file)}


def test_every_shipped_study_loads_and_is_cited() -> None:
    for name in shipped_network_studies():
        study = load_network_study(name)
        assert study.name == name and study.citation.text and study.citation.bibtex


def test_primes_know_their_category() -> None:
    gender = parse_network_study(GENDER, "mine.yaml").identities["gender"]
    assert isinstance(gender, Stereotypes)
    assert gender.categories == ("female", "male")
    assert gender.primes == {"woman": "female", "man": "male", "girl": "female", "boy": "male"}


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("{female: girl, male: boy}", "{female: girl}", "every pair names the same two"),
        ("{female: girl, male: boy}", "{female: woman, male: boy}", "prime 'woman' stands twice"),
        ("{female: [kind], male: [leader]}", "{female: [kind]}", "give targets of female, male"),
        ("[leader]", "[kind]", "target 'kind' stands twice"),
        ("approach: stereotypes", "approach: feelings", "feelings"),
        ("name: mine", "name: My Study", "use lower-case letters"),
    ],
)
def test_mistakes_are_named_with_file_and_line(old: str, new: str, message: str) -> None:
    with pytest.raises(StudyError, match=r"mine\.yaml:\d+") as error:
        parse_network_study(GENDER.replace(old, new), "mine.yaml")
    assert message in str(error.value)


def test_an_unknown_name_suggests_a_known_one() -> None:
    with pytest.raises(StudyError, match="did you mean abramski2025"):
        load_network_study("abramsky2025")
