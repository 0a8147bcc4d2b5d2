"""The tally over models: in how many of them groups differ, and on which side.

Reference: Schuster et al. 2024, arXiv:2411.16527, section 4.2, which counts its twelve models.
"""

from __future__ import annotations

import polars as pl

from clinometer.numbers import count
from clinometer.pieces.prose import ALPHA
from clinometer.pieces.sections import Section
from clinometer.pieces.tables import ROW, TableColumn, TableSpec, head
from clinometer.reference import load_published
from clinometer_measures.states.report.results import (
    States,
    first_reading,
    keep_summary_layer,
    pair_label,
)

__all__ = ["tally_section"]

_METHOD = (
    "For each dimension the models are counted in which a group is higher (p below .05), by "
    "Student’s t test as published, and by the rule of this report: p (Holm) of the t test and of "
    "the placebos. The models are not a random sample, and a count is not a test."
)
_WORDS = (
    "Single words are counted by whether they stand below, between or above the means of the "
    "groups. No test is made of a single word."
)
_KEYS = ("words", "space", "dimension", "first", "second")


def tally_section(states: States) -> Section | None:
    """Count models by what was found in each; None with fewer than two models."""
    differences = _first_readings(states, "differences")
    if differences.select("model").n_unique() < 2:
        return None
    tables = [("", _MODELS.render(_count_models(differences)))]
    words = _count_positions(states)
    if not words.is_empty():
        tables.append(("Table of single words", _POSITIONS.render(words)))
    published = _PUBLISHED.render(_published_counts(differences["words"]))
    if published.rows:
        tables.append(("Table of the published tally", published))
    text = (_METHOD, *([_WORDS] if not words.is_empty() else []))
    return Section("representation-tally", "Over models", text, (), tuple(tables))


def _first_readings(states: States, table: str) -> pl.DataFrame:
    """Keep the mean over layers and the first way of reading, of each model."""
    parts = [first_reading(keep_summary_layer(part)) for part in states.by_model(table)]
    # The empty table first: it gives the columns where there are no parts.
    return pl.concat([states.tables[table].clear(), *parts])


def _count_models(differences: pl.DataFrame) -> pl.DataFrame:
    """Count the models in which each group of a pair is higher."""
    above = pl.col("estimate") > 0
    below = pl.col("estimate") < 0
    published = pl.col("p") < ALPHA
    claimed = pl.col("p_claim") < ALPHA
    return differences.group_by(_KEYS, maintain_order=True).agg(
        models=pl.col("estimate").count(),
        first_p=(published & above).sum(),
        second_p=(published & below).sum(),
        first_claim=(claimed & above).sum(),
        second_claim=(claimed & below).sum(),
        higher=above.sum(),
    )


_MODELS = TableSpec(
    "Models in which the first or the second of two groups is higher, at the mean over layers. "
    "Higher: by any amount; p: as published; shown: by both tests, adjusted.",
    (
        head("words"),
        head("dimension"),
        TableColumn("Compared", ROW, pair_label, "head"),
        TableColumn("Models", "models", count),
        TableColumn("First higher", "higher", count),
        TableColumn("First, p", "first_p", count),
        TableColumn("Second, p", "second_p", count),
        TableColumn("First, shown", "first_claim", count),
        TableColumn("Second, shown", "second_claim", count),
    ),
)


def _count_positions(states: States) -> pl.DataFrame:
    """Count for each single word the models in which it is below, between and above groups."""
    words = _first_readings(states, "terms").filter(pl.col("group").is_null())
    means = _first_readings(states, "profiles")
    keys = ("model", "words", "space", "dimension")
    ends = means.group_by(keys).agg(
        least=pl.col("estimate").min(), greatest=pl.col("estimate").max()
    )
    value = pl.col("coordinate")
    below, above = value < pl.col("least"), value > pl.col("greatest")
    return (
        words.join(ends, on=keys, how="inner", maintain_order="left")
        .group_by("words", "term", "space", "dimension", maintain_order=True)
        .agg(
            models=value.count(),
            below=below.sum(),
            between=(~below & ~above).sum(),
            above=above.sum(),
        )
        .filter(pl.col("space") == pl.col("space").first())
    )


#: Where single words stand.
_POSITIONS = TableSpec(
    "Models in which a single word stands below the means of all groups, between them, or above "
    "them.",
    (
        head("term", "Word"),
        head("dimension"),
        TableColumn("Models", "models", count),
        TableColumn("Below", "below", count),
        TableColumn("Between", "between", count),
        TableColumn("Above", "above", count),
    ),
)


#: The counts of the paper.
_PUBLISHED = TableSpec(
    "Schuster et al. 2024, section 4.2: models in which a group is significantly higher (t test, p "
    "below .05, not adjusted).",
    (
        head("words"),
        head("dimension"),
        TableColumn("Higher", "higher"),
        TableColumn("Models", "n_models of_models", "{} of {}".format),
    ),
)


def _published_counts(words: pl.Series) -> pl.DataFrame:
    """Return the counts of the paper, of the words that were measured."""
    counts = load_published("schuster2024", "tally")
    return counts.filter(pl.col("words").is_in(words.unique().implode()))
