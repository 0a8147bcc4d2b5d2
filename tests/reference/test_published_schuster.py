"""Published accuracies of Schuster et al. 2024."""

from __future__ import annotations

from pathlib import Path

import polars as pl

from clinometer.reference import load_published


def test_accuracies_are_those_of_table_2(shared_data: Path) -> None:
    ours = load_published("schuster2024", "directions")
    source = pl.read_csv(shared_data / "published" / "schuster_accuracy.csv")
    assert ours.select("model", "dimension", "accuracy").equals(
        source.select("model", "dimension", "accuracy")
    )
    assert ours.height == 12 * 9 and ours["accuracy"].is_between(0, 1).all()
    # Printed in Table 2: GPT-Neo misses religion, which its text explains by the cut.
    assert ours.filter(model="GPT-Neo-125M", dimension="Religion")["accuracy"].item() == 0.05
