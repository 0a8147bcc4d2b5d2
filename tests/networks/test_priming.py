"""The priming check against the published values."""

from __future__ import annotations

import csv
from pathlib import Path

import pytest

from tiltmeter.networks import Network
from tiltmeter.networks.priming import absent_words, check_priming, triplets


def test_haiku_is_primed_as_published(haiku: Network, shared_data: Path) -> None:
    correlation, effect = check_priming(haiku).iter_rows(named=True)
    tests = shared_data / "lwow" / "tests"
    with (tests / "corrLDT.csv").open(newline="") as file:
        r, p = (float(line["Haiku"]) for line in csv.DictReader(file))
    with (tests / "wilcoxonLDT.csv").open(newline="") as file:
        published_p, published = (float(line["Haiku"]) for line in csv.DictReader(file))
    assert correlation["n"] == effect["n"] == 50 and absent_words(haiku) == []
    assert correlation["measure"] == "priming_correlation"
    assert correlation["estimate"] == pytest.approx(r, abs=1e-10)
    assert correlation["p"] == pytest.approx(p, rel=1e-6)
    assert effect["measure"] == "priming_effect"
    assert effect["estimate"] == pytest.approx(published, abs=1e-10)
    assert effect["p"] == pytest.approx(published_p, rel=1e-6)


def test_the_triplets_are_the_published_ones(shared_data: Path) -> None:
    with (shared_data / "lwow" / "LDT_50_triplets.csv").open(newline="") as file:
        rows = [tuple(row) for row in csv.reader(file)][1:]
    ours = [
        (t.target, t.related, t.unrelated, str(t.related_rt), str(t.unrelated_rt))
        for t in triplets()
    ]
    assert ours == rows


def test_a_network_without_the_words_has_no_number(little: Network) -> None:
    found = check_priming(little)
    assert found.select("n", "estimate").rows() == [(0, None), (0, None)]
    assert found["note"].str.contains("fewer than three triplets").all()
    assert "britain" in absent_words(little)
