"""What a results directory holds about hidden states, its texts fit to be shown.

A measure that is absent leaves its section out.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import polars as pl

from clinometer.directory.results import read_family
from clinometer.numbers import interval, p_value
from clinometer.pieces.facts import Facts, read_facts
from clinometer.pieces.frames import add_columns, place, with_shown_texts
from clinometer.pieces.prose import cut, display_names
from clinometer.pieces.tables import TableColumn
from clinometer.results import join_methods
from clinometer.texts import visible
from clinometer_measures.states.family import FAMILY

__all__ = [
    "INTERVAL",
    "IS_SINGLE_LAYER",
    "PLACEBOS",
    "READING",
    "READING_COLUMNS",
    "States",
    "by_layer",
    "first_reading",
    "in_words",
    "keep_summary_layer",
    "last_layer",
    "layer_name",
    "layers",
    "pair_label",
    "placebo_ends",
    "read_states",
    "split",
]

#: The layer of rows over all layers.
MEAN = "mean"
#: Rows of one layer.
IS_SINGLE_LAYER = pl.col("layer") != MEAN
#: What tells apart the ways in which a model is read.
READING = ("contexts", "removed")

#: Characters shown of a word, and of a model's name in drawings and tables.
_LONGEST = 60
#: Characters shown of a note.
_LONGEST_NOTE = 400
#: Null there says something: a word of no group, what a model says and not one of its layers, a
#: test of one group.
_MAY_BE_NULL = ("group", "layer", "note", "second")
#: Where high and low terms are told apart.
CUTS = {"zero": "cut at zero", "centred": "cut at the terms’ mean"}
_CONTEXTS = {"none": "no contexts", "templates": "in templates", "prompt": "in the prompt"}
_MISSING = {
    "left_out": "missing left out",
    "zero": "missing as zero",
    "lowest": "missing as lowest",
    "highest": "missing as highest",
}

#: What stands in the rows of every measure of profiles.
_KEYS = ("model", *READING)
_COORDINATE = (*_KEYS, "words", "layer", "space", "dimension")
_INTERVAL = ("ci_low", "ci_high", "confidence")
#: Columns of the method ``placebo``, and what of them stands beside an estimate.
_PLACED = ("p", "p_holm", "placebo_mean", "placebo_low", "placebo_high")
_PLACEBOS = {
    **{name: pl.col(f"{name}_placebo") for name in _PLACED if name.startswith("placebo")},
    "p_placebo": pl.col("p_placebo"),
    "p_claim": pl.max_horizontal("p_holm", "p_holm_placebo"),
}
_SIZES = ("n_first", "n_second", "n_toward", "n_against")


@dataclass(frozen=True)
class States:
    """Estimates of hidden states, fit to be shown.

    `facts`: ``states.json``; empty where there is none.
    `names`: the models, in the order they were given.
    `tables`: ``profiles``, ``differences``, ``terms``, ``directions``, ``associations``,
        ``relations`` and ``fits``: a row per estimate, what its methods say side by side, texts fit
        to be shown. `p_claim` is the p that a claim rests on: of p (Holm) and that of the placebos
        the larger; of an association 1 where the effect is no larger than the mean of its placebos.
    `contexts`: what contexts are like (``state_contexts``), for all models.
    """

    facts: Facts
    names: tuple[str, ...]
    tables: Mapping[str, pl.DataFrame]
    contexts: pl.DataFrame

    def by_model(
        self, table: str, *columns: str, where: pl.Expr | None = None
    ) -> list[pl.DataFrame]:
        """Part the rows of a table by model, in the order of `names`, and by other columns.

        `where`: which rows; all where it is not given.
        """
        frame = self.tables[table] if where is None else self.tables[table].filter(where)
        parts = []
        for name in self.names:
            rows = frame.filter(model=name)
            parts += rows.partition_by("model", *columns, maintain_order=True)
        return parts


def read_states(directory: str | Path) -> States | None:
    """Read the estimates of hidden states in a results directory; None where there are none.

    `directory`: may hold ``estimates.parquet``, the details behind it, and ``states.json``.
    Raises InputError if a table or ``states.json`` is malformed.
    """
    path = Path(directory)
    family_tables = read_family(path, "states")
    if family_tables is None:
        return None
    estimates, details = family_tables
    facts = read_facts(path / FAMILY.record)
    frames = _frames(estimates, details)
    # First in the order of the record, then those that only the tables have.
    models = [model.text("name") for model in facts.parts("models")]
    words: list[str] = []
    for frame in frames.values():
        models += _texts(frame, "model")
        for column, kind in frame.schema.items():
            if kind == pl.String and column not in ("model", "note"):
                words += _texts(frame, column)
    # Texts that are shown as they stand come first, so that none of them is renamed.
    texts = sorted([*models, *words], key=lambda text: " ".join(visible(text).split()) != text)
    labels = display_names(texts, "unnamed", _LONGEST)
    tables = {name: _with_labels(frame, labels) for name, frame in frames.items()}
    in_tables = set().union(*(frame["model"] for frame in tables.values()))
    names = dict.fromkeys(labels[model] for model in models)
    contexts = with_shown_texts(
        details["state_contexts"], lambda _, text: cut(visible(text), _LONGEST), ()
    )
    return States(facts, tuple(name for name in names if name in in_tables), tables, contexts)


def _texts(frame: pl.DataFrame, column: str) -> list[str]:
    """List the texts of a column, each once; null is an empty text."""
    return frame[column].fill_null("").unique(maintain_order=True).to_list()


def _with_labels(frame: pl.DataFrame, labels: Mapping[str, str]) -> pl.DataFrame:
    """Replace the texts of a table by those that are shown; `labels` has all but the notes."""

    def label(column: str, text: str) -> str:
        """Give the text that is shown in place of one."""
        return cut(visible(text), _LONGEST_NOTE) if column == "note" else labels[text]

    return with_shown_texts(frame, label, _MAY_BE_NULL)


def _frames(
    estimates: pl.DataFrame, details: Mapping[str, pl.DataFrame]
) -> dict[str, pl.DataFrame]:
    """Set what the methods of an estimate say side by side."""
    profiles = estimates.filter(measure="profile_mean", method="student").select(
        *_COORDINATE, "group", "estimate", *_INTERVAL, "sd", "n"
    )
    differences = estimates.filter(measure="profile_difference")
    directions = estimates.filter(instrument="direction")
    tests = estimates.filter(instrument="association_test")
    relations = estimates.filter(instrument="relation")
    return {
        "profiles": profiles,
        "differences": _differences(differences, profiles),
        "terms": details["state_terms"],
        "directions": _directions(directions, details["state_directions"]),
        "associations": _tests(tests, details["state_tests"]),
        **_relations(relations, details["state_fits"]),
    }


def _differences(rows: pl.DataFrame, profiles: pl.DataFrame) -> pl.DataFrame:
    """Give differences of groups: the published test, with the others' columns beside it."""
    methods = {"welch": _INTERVAL, "permutation": ["p"], "placebo": _PLACED}
    rows = join_methods(rows, "published", methods)
    for side in ("first", "second"):
        # The size of a group stands in the row of its mean.
        group = pl.col("group").alias(side)
        size = pl.col("n").alias(f"n_{side}")
        rows = add_columns(rows, profiles.select(*_COORDINATE, group, size))
    return rows.select(
        *(*_COORDINATE, "first", "second", "estimate"),
        *(pl.col(f"{name}_welch").alias(name) for name in _INTERVAL),
        *("statistic", "df", "p", "p_holm", "p_bh", "p_permutation", "effect_size"),
        *("n_first", "n_second", "note"),
        **_PLACEBOS,
    )


def _directions(rows: pl.DataFrame, terms: pl.DataFrame) -> pl.DataFrame:
    """Give accuracies, with the balanced ones and the number of terms beside them."""
    keys = (*_KEYS, "layer", "space", "dimension", "cut")
    balanced = rows.filter(measure="direction_balanced_accuracy")
    rows = add_columns(
        rows.filter(measure="direction_accuracy"),
        balanced.select(*keys, estimate_balanced="estimate"),
    )
    return add_columns(rows, terms.drop("n")).select(
        *(*keys, "estimate", *_INTERVAL, "estimate_balanced", "neutral", "n", "n_high")
    )


def _tests(rows: pl.DataFrame, sizes: pl.DataFrame) -> pl.DataFrame:
    """Give tests, under names that tell the dimensions of a stereotype apart."""
    sides = {"greater": "tested", "two-sided": "two_sided"}
    side = pl.col("alternative").replace_strict(sides, default=None, return_dtype=pl.String)
    # Placebos are two-sided too, but a method of their own; bootstrap rows have no alternative.
    method = pl.when(method="placebo").then("method").otherwise(pl.coalesce(side, "method"))
    methods = {"two_sided": ["p"], "bootstrap": _INTERVAL, "placebo": _PLACED}
    rows = join_methods(rows.with_columns(method=method), "tested", methods)
    # The rank of a placebo is two-sided, a claim is not: an effect below them claims nothing.
    below_placebos = pl.col("estimate") <= pl.col("placebo_mean_placebo")
    p_claim = pl.when(below_placebos).then(1.0).otherwise(_PLACEBOS["p_claim"])
    return add_columns(rows, sizes.drop("between_variance")).select(
        *(*_KEYS, "study", "measure", "layer", "first", "second", "toward", "against", "estimate"),
        *(pl.coalesce(name, f"{name}_bootstrap") for name in _INTERVAL),
        *("p", "p_two_sided", "p_holm", *_SIZES, "note"),
        stereotype=pl.concat_str("stereotype", "dimension", separator=".", ignore_nulls=True),
        exact=pl.col("test") == "exact",
        **{**_PLACEBOS, "p_claim": p_claim},
    )


def _relations(rows: pl.DataFrame, fits: pl.DataFrame) -> dict[str, pl.DataFrame]:
    """Give correlations, with Spearman's beside them, and regressions with their criteria."""
    keys = ("model", "removed", "layer", "missing_as")
    ranks = rows.filter(measure="rank_correlation")
    spearman = ranks.select(*keys, "level", estimate_spearman="estimate")
    regressions = join_methods(rows.filter(measure="log_odds"), "published", {"clustered": ["p"]})
    criteria = fits.select(*keys, "predictor", "aic", "bic", "delta_aic")
    return {
        "relations": add_columns(rows.filter(measure="correlation"), spearman).select(
            *(*keys, "level", "estimate", *_INTERVAL, "p", "p_holm", "estimate_spearman", "n")
        ),
        "fits": add_columns(regressions, criteria).select(
            *(*keys, "predictor", "estimate", *_INTERVAL, "p", "p_clustered"),
            *("aic", "bic", "delta_aic", "n_scored"),
        ),
    }


def split(frame: pl.DataFrame, *columns: str) -> list[tuple[str, pl.DataFrame]]:
    """Split rows by columns.

    Result: each part, and in words what sets it apart from the others; empty where there is one.
    """
    varied = {column for column in columns if frame[column].n_unique() > 1}
    parts = []
    for key, part in frame.group_by(columns, maintain_order=True):
        texts = []
        for column, value in zip(columns, key, strict=True):
            if column in varied:
                texts.append(in_words(column, value))
        parts.append((", ".join(texts), part))
    return parts


def in_words(column: str, value: Any) -> str:
    """Say the value of a column in words."""
    if column == "removed":
        noun = "component" if value == 1 else "components"
        return f"{value} {noun} removed" if value else "nothing removed"
    if column == "cut":
        return CUTS.get(value, str(value))
    if column == "contexts":
        return _CONTEXTS.get(value, f"{value} contexts")
    if column == "measure":
        return str(value).upper()
    if column == "missing_as":
        return _MISSING.get(value, str(value))
    return "" if value is None else str(value)


def first_reading(frame: pl.DataFrame) -> pl.DataFrame:
    """Keep one way of reading a model: the first contexts, the fewest components removed."""
    removed = pl.col("removed").fill_null(0)
    return frame.filter(removed == removed.min()).filter(
        pl.col("contexts") == pl.col("contexts").first()
    )


def layers(frame: pl.DataFrame) -> list[str]:
    """Give the layers, those that are numbers first and by size; the mean is none."""
    names = set(frame["layer"].drop_nulls()) - {MEAN}
    # By length, then as text: numbers without leading zeros are then in their order. The digits of
    # other scripts count as text.
    return sorted(
        names, key=lambda name: (not (name.isascii() and name.isdigit()), len(name), name)
    )


def by_layer(frame: pl.DataFrame) -> pl.DataFrame:
    """Sort rows of single layers by layer."""
    return frame.sort(place("layer", layers(frame)), maintain_order=True)


def keep_summary_layer(frame: pl.DataFrame) -> pl.DataFrame:
    """Keep the means over layers; where there are none, the last layer."""
    mean = frame.filter(layer=MEAN)
    return last_layer(frame) if mean.is_empty() else mean


def last_layer(frame: pl.DataFrame) -> pl.DataFrame:
    """Keep the last layer; without layers no row."""
    return frame.filter(layer=layers(frame)[-1]) if layers(frame) else frame.clear()


def layer_name(layer: str) -> str:
    """Say which layer rows are of."""
    return "mean over layers" if layer == MEAN else f"layer {layer}"


def pair_label(row: Mapping[str, Any]) -> str:
    """Name the groups that are compared."""
    # A test of one group has no second.
    return " − ".join(filter(None, (row["first"], row["second"])))


def placebo_ends(row: Mapping[str, Any]) -> str:
    """Write the interval of the placebos."""
    return interval(row["placebo_low"], row["placebo_high"])


#: The contexts and the number of removed components, where these vary.
READING_COLUMNS = (
    TableColumn("Contexts", "contexts", same="left out"),
    TableColumn("Removed", "removed", same="left out"),
)


def _if_placed(p: float | None, low: float | None, high: float | None) -> str:
    return "" if p is None else interval(low, high)


#: The columns of the placebos, where there are any.
PLACEBOS = (
    TableColumn(
        "Placebos, {interval}", "p_placebo placebo_low placebo_high", _if_placed, needs="p_placebo"
    ),
    TableColumn("p (placebo)", "p_placebo", p_value, needs="p_placebo"),
)
#: Intervals that not every row has.
INTERVAL = TableColumn("{interval}", "ci_low ci_high", interval, missing="")
