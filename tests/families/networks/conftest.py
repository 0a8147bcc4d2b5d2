"""Networks and lexicons that tests share."""

from __future__ import annotations

from pathlib import Path

import polars as pl
import pytest

from clinometer_measures.networks import Network
from clinometer_measures.networks.lexicons import Lexicons
from clinometer_measures.networks.loading import read_network
from clinometer_measures.networks.study import NetworkStudy, parse_network_study


@pytest.fixture(scope="session")
def haiku(shared_data: Path) -> Network:
    """The network of Claude 3 Haiku by Abramski et al. (2025)."""
    return read_network(shared_data / "lwow" / "FA_Haiku_edgelist.csv")


@pytest.fixture
def little() -> Network:
    """Thirty words around women and men, made up."""
    rows = [
        *[("woman", word, 9 - place) for place, word in enumerate(("kind", "warm", "mother"))],
        *[("man", word, 8 - place) for place, word in enumerate(("leader", "active", "father"))],
        *[("girl", "kind", 2), ("girl", "warm", 3), ("boy", "active", 4), ("boy", "leader", 2)],
        *[("woman", "man", 5), ("girl", "boy", 4), ("mother", "father", 6), ("kind", "warm", 3)],
        *[("leader", "active", 2), ("warm", "sun", 5), ("active", "sport", 7)],
        *[("democrat", "vote", 6), ("republican", "vote", 5), ("vote", "trust", 3)],
        *[("democrat", "hope", 4), ("republican", "fear", 3), ("vote", "leader", 2)],
    ]
    frame = pl.DataFrame(rows, schema=["src", "tgt", "wt"], orient="row")
    return Network.from_edges(frame, name="little")


@pytest.fixture
def lexicons() -> Lexicons:
    """Ratings of a few words, made up."""
    valence = {"kind": 0.9, "warm": 0.8, "leader": 0.6, "active": 0.7, "sport": 0.65, "sun": 0.95,
               "fear": 0.1, "hope": 0.9, "vote": 0.5, "trust": 0.85, "mother": 0.9,
               "father": 0.85}  # fmt: skip
    emotions = dict.fromkeys(
        ("anger", "anticipation", "disgust", "joy", "sadness", "surprise"), frozenset[str]()
    )
    more = {"fear": frozenset({"fear"}), "trust": frozenset({"hope"})}
    return Lexicons(valence, {**emotions, **more})


@pytest.fixture
def study_file() -> str:
    """Three identities, one of each approach, for the network `little`."""
    return """
name: little_study
identities:
  gender:
    approach: stereotypes
    pairs: [{female: woman, male: man}, {female: girl, male: boy}, {female: mother, male: father}]
    targets: {female: [kind, warm], male: [leader, active, bold]}
  party: {approach: emotions, primes: [democrat, republican]}
  family: {approach: valence, primes: [woman, man, girl]}
"""


@pytest.fixture
def study(study_file: str) -> NetworkStudy:
    return parse_network_study(study_file, "little.yaml")
