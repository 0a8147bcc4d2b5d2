"""Abramski, Rossetti & Stella 2025 (arXiv:2510.24488): values as released, and as printed."""

from __future__ import annotations

import hashlib
import re
from importlib.resources import files
from pathlib import Path

import polars as pl
import pytest
from scipy import stats

from clinometer.directory.results import all_tables
from clinometer.errors import InputError
from clinometer.reference import load_published

NAMES = ["Humans", "Mistral", "Llama3", "Haiku"]
TABLES = {
    "networks": "networks",
    "network_overlaps": "overlaps",
    "network_priming": "priming",
    "network_effects": "effects",
    "network_correlations": "correlations",
}


def released(path: Path) -> dict[str, dict[str, float]]:
    """Give row → column → value of a released table."""
    frame = pl.read_csv(path)
    return {row.pop(""): row for row in frame.iter_rows(named=True)}


def test_networks_are_those_of_table_1() -> None:
    # Table 1 as printed: nodes, edges, density, average degree.
    rows = load_published("abramski2025", "networks").drop("table", "note").rows(named=True)
    printed = [
        (row["network"], row["nodes"], row["edges"], row["printed_density"], row["printed_degree"])
        for row in rows
    ]
    assert printed == [
        ("Humans", 24308, 317344, "0.0011", "26"),
        ("Mistral", 20339, 199103, "0.001", "20"),
        ("Llama3", 38987, 546866, "0.0007", "28"),
        ("Haiku", 15596, 64599, "0.0005", "8"),
    ]
    for row in rows:
        assert row["average_degree"] == pytest.approx(2 * row["edges"] / row["nodes"])
        assert f"{row['density']:.4f}" == f"{float(row['printed_density']):.4f}"


@pytest.mark.parametrize(("targets", "letter"), [("female", "F"), ("male", "M")])
def test_effects_are_those_released(shared_data: Path, targets: str, letter: str) -> None:
    source = released(shared_data / "lwow" / "tests" / f"wilxoconGender{letter}.csv")
    ours = load_published("abramski2025", "network_effects").filter(targets=targets)
    assert dict(ours.select("network", "effect").iter_rows()) == source["effect"]
    assert dict(ours.select("network", "p").iter_rows()) == source["p"]


def test_p_follows_from_the_effect_and_its_direction() -> None:
    # z = effect × √n; one-sided, female targets greater, male targets less.
    for row in load_published("abramski2025", "network_effects").iter_rows(named=True):
        z = row["effect"] * row["n"] ** 0.5
        tail = stats.norm.sf(z) if row["targets"] == "female" else stats.norm.cdf(z)
        assert row["p"] == pytest.approx(tail, rel=1e-6)
        assert row["stereotype"] == abs(row["effect"])


def test_priming_is_that_released(shared_data: Path) -> None:
    folder = shared_data / "lwow" / "tests"
    published = load_published("abramski2025", "network_priming")
    assert published["network"].to_list() == NAMES
    for file, names in (("corrLDT", {"r": "spearman", "p": "p"}),
                        ("wilcoxonLDT", {"effect": "effect", "p": "effect_p"})):  # fmt: skip
        source = released(folder / f"{file}.csv")
        for row, column in names.items():
            assert dict(published.select("network", column).iter_rows()) == source[row]


def test_correlations_are_those_released(shared_data: Path) -> None:
    published = load_published("abramski2025", "network_correlations")
    for targets, letter in (("female", "F"), ("male", "M")):
        source = released(shared_data / "lwow" / "tests" / f"corrModels{letter}.csv")
        correlations = published.filter(targets=targets)
        assert dict(correlations.select("network", "correlation").iter_rows()) == source["r"]


def test_correlations_are_spearmans_over_250_pairs() -> None:
    # Without ties ρ is a whole number over n (n² − 1) / 6; all but that of tied Haiku are.
    unit = 250 * (250**2 - 1) / 6
    published = load_published("abramski2025", "network_correlations").filter(
        pl.col("network") == "Mistral"
    )
    assert all(
        value * unit == pytest.approx(round(value * unit), abs=1e-4)
        for value in published["correlation"]
    )


def test_shares_of_nodes_fit_table_1() -> None:
    size = dict(load_published("abramski2025", "networks").select("network", "nodes").iter_rows())
    shares = load_published("abramski2025", "network_overlaps").filter(of="nodes")
    for row in shares.iter_rows(named=True):
        first, second = size[row["network_a"]], size[row["network_b"]]
        shared = first * (1 - row["only_a"])
        assert shared == pytest.approx(second * (1 - row["only_b"]))
        assert row["shared"] == pytest.approx(shared / (first + second - shared))


@pytest.mark.parametrize("table", [name for name in TABLES if name in all_tables()])
def test_columns_are_named_as_those_measured(table: str) -> None:
    unmeasured = {"table", "note", "printed_density", "printed_degree"}
    schema = all_tables()[table].schema
    assert set(load_published("abramski2025", table).columns) - unmeasured <= set(schema)


@pytest.mark.parametrize("kind", TABLES.values())
def test_the_file_is_the_one_in_the_index(kind: str) -> None:
    folder = files("clinometer.reference")
    index = (folder / "README.md").read_text(encoding="utf-8")
    hash_match = re.search(rf"`published_abramski_{kind}\.csv`.*?`([0-9a-f]{{64}})`", index)
    assert hash_match
    content = (folder / f"published_abramski_{kind}.csv").read_bytes()
    assert hashlib.sha256(content).hexdigest() == hash_match[1]


def test_a_table_that_is_not_held_is_named() -> None:
    with pytest.raises(InputError, match="network_correlations"):
        load_published("abramski2025", "word_association")
