"""What a results directory holds about hidden states, read with suspicion.

Every text in it is untrusted: names and words are shown with their invisible characters visible
and cut to a length that a page can hold. A measure that is absent leaves its section out.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import polars as pl

from tiltmeter.report.plan import Plan, read_facts
from tiltmeter.report.prose import cut, shown_names, visible
from tiltmeter.report.tables import Column, Render
from tiltmeter.results import beside
from tiltmeter.results.directory import TABLES, read_detail, read_estimates

__all__ = ["ALPHA", "FACTS", "MEAN", "Representation", "at_one_layer", "first_reading",
           "layer_name", "layers", "pairs", "reading_columns", "read_representation", "in_words",
           "split"]  # fmt: skip

#: The file that says what was read, beside the tables.
FACTS = "states.json"
#: The layer of rows over all layers.
MEAN = "mean"
#: Above this, p does not show anything.
ALPHA = 0.05

#: Characters shown of a word, and of a model's name in drawings and tables.
_LONGEST = 60
_UNNAMED = "unnamed"
#: Null there says something: a word of no group, what a model says and not one of its layers, a
#: test of one group.
_MAY_BE_NULL = ("group", "layer", "note", "second")
_CONTEXTS = {"none": "no contexts", "templates": "in templates"}
_MISSING = {
    "left_out": "missing left out",
    "zero": "missing as zero",
    "lowest": "missing as lowest",
    "highest": "missing as highest",
}


#: What stands in the rows of every measure of profiles.
_OF = ("model", "contexts", "removed")
_AT = (*_OF, "words", "layer", "space", "dimension")
_INTERVAL = ("ci_low", "ci_high", "confidence")
_SIZES = ("n_first", "n_second", "n_toward", "n_against")


@dataclass(frozen=True)
class Representation:
    """Estimates of hidden states, fit to be shown.

    `directory`: where they stand.
    `facts`: ``states.json``; empty where there is none.
    `names`: the models, in the order they were given.
    `tables`: ``profiles``, ``differences``, ``terms``, ``directions``, ``associations``,
        ``relations`` and ``fits``: a row per estimate, what its methods say side by side, texts fit
        to be shown.
    """

    directory: Path
    facts: Plan
    names: tuple[str, ...]
    tables: Mapping[str, pl.DataFrame]

    def of_models(self, table: str) -> list[tuple[str, pl.DataFrame]]:
        """Give the rows of each model, in their order."""
        frame = self.tables[table]
        return [
            (name, part) for name in self.names if not (part := frame.filter(model=name)).is_empty()
        ]


def read_representation(directory: str | Path) -> Representation | None:
    """Read the estimates of hidden states in a results directory.

    `directory`: may hold ``estimates.parquet``, the details behind it, and ``states.json``.
    Raises InputError if a table or ``states.json`` is malformed.
    None where there are no such estimates.
    """
    path = Path(directory)
    if not (path / "estimates.parquet").is_file():
        return None
    own = read_estimates(path).filter(family="states")
    if own.is_empty():
        return None
    facts = read_facts(path / FACTS)
    details = {n: read_detail(path, n) for n, table in TABLES.items() if table.family == "states"}
    frames = _frames(own, details)
    models = [one.text("name") for one in facts.parts("models")]
    models += [m for frame in frames.values() for m in _texts(frame, "model")]
    shown = shown_names(_plain_first([*models, *_words(frames.values())]), _UNNAMED, _LONGEST)
    tables = {name: _shown(frame, shown) for name, frame in frames.items()}
    known = set().union(*(frame["model"] for frame in tables.values()))
    return Representation(
        directory=path,
        facts=facts,
        names=tuple(name for name in dict.fromkeys(shown[m] for m in models) if name in known),
        tables=tables,
    )


def _frames(own: pl.DataFrame, details: Mapping[str, pl.DataFrame]) -> dict[str, pl.DataFrame]:
    """Set what the methods of an estimate say side by side."""
    profiles = own.filter(measure="profile_mean", method="student").select(
        *_AT, "group", "estimate", *_INTERVAL, "sd", "n"
    )
    return {
        "profiles": profiles,
        "differences": _differences(own.filter(measure="profile_difference"), profiles),
        "terms": details["state_terms"],
        "directions": _directions(own.filter(instrument="direction"), details["state_directions"]),
        "associations": _tests(own.filter(instrument="association_test"), details["state_tests"]),
        **_relations(own.filter(instrument="relation"), details["state_fits"]),
    }


def _differences(rows: pl.DataFrame, profiles: pl.DataFrame) -> pl.DataFrame:
    rows = beside(rows, "published", {"welch": _INTERVAL, "permutation": ["p"]})
    for side in ("first", "second"):
        sizes = profiles.select(*_AT, pl.col("group").alias(side), pl.col("n").alias(f"n_{side}"))
        rows = _joined(rows, sizes)
    return rows.select(
        *(*_AT, "first", "second", "estimate"),
        *(pl.col(f"{name}_welch").alias(name) for name in _INTERVAL),
        *("statistic", "df", "p", "p_holm", "p_bh", "p_permutation", "effect_size"),
        *("n_first", "n_second", "note"),
    )


def _directions(rows: pl.DataFrame, terms: pl.DataFrame) -> pl.DataFrame:
    balanced = pl.when(measure="direction_balanced_accuracy").then(pl.lit("balanced"))
    rows = rows.with_columns(
        measure=pl.lit("direction_accuracy"), method=balanced.otherwise("method")
    )
    rows = beside(rows, "wilson", {"balanced": ["estimate"]})
    return _joined(rows, terms.drop("n")).select(
        *(*_OF, "layer", "space", "dimension", "cut", "estimate", *_INTERVAL),
        *("estimate_balanced", "neutral", "n", "n_high"),
    )


def _tests(rows: pl.DataFrame, sizes: pl.DataFrame) -> pl.DataFrame:
    """Give tests, under names that tell the dimensions of a stereotype apart."""
    tested = pl.when(alternative="greater").then(pl.lit("tested"))
    method = tested.when(alternative="two-sided").then(pl.lit("two_sided")).otherwise("method")
    others = {"two_sided": ["p"], "bootstrap": _INTERVAL}
    rows = beside(rows.with_columns(method=method), "tested", others)
    return _joined(rows, sizes.drop("between_variance")).select(
        *(*_OF, "study", "measure", "layer", "first", "second", "toward", "against", "estimate"),
        *(pl.coalesce(name, f"{name}_bootstrap") for name in _INTERVAL),
        *("p", "p_two_sided", "p_holm", *_SIZES, "note"),
        stereotype=pl.concat_str("stereotype", "dimension", separator=".", ignore_nulls=True),
        exact=pl.col("test") == "exact",
    )


def _relations(rows: pl.DataFrame, fits: pl.DataFrame) -> dict[str, pl.DataFrame]:
    spearman = pl.when(measure="rank_correlation").then(pl.lit("spearman"))
    correlations = rows.filter(pl.col("measure") != "log_odds")
    correlations = correlations.with_columns(
        measure=pl.lit("correlation"), method=spearman.otherwise("method")
    )
    keys = ("model", "removed", "layer", "missing_as")
    regressions = beside(rows.filter(measure="log_odds"), "published", {"clustered": ["p"]})
    criteria = fits.select(*keys, "predictor", "aic", "bic", "delta_aic")
    return {
        "relations": beside(correlations, "fisher", {"spearman": ["estimate"]}).select(
            *(*keys, "level", "estimate", *_INTERVAL, "p", "p_holm", "estimate_spearman", "n")
        ),
        "fits": _joined(regressions, criteria).select(
            *(*keys, "predictor", "estimate", *_INTERVAL, "p", "p_clustered"),
            *("aic", "bic", "delta_aic", "n_scored"),
        ),
    }


def _joined(rows: pl.DataFrame, details: pl.DataFrame) -> pl.DataFrame:
    """Add details to the rows, by the columns that both have."""
    on = [name for name in details.columns if name in rows.columns]
    return rows.join(details, on=on, how="left", nulls_equal=True, maintain_order="left")


def split(frame: pl.DataFrame, *columns: str) -> list[tuple[str, pl.DataFrame]]:
    """Split rows by columns.

    `frame`: rows of one of the tables.
    `columns`: what sets the parts apart.
    Result: each part, and in words what sets it apart from the others; empty where there is one.
    """
    varied = [column for column in columns if frame[column].n_unique() > 1]
    return [
        (", ".join(in_words(c, v) for c, v in zip(columns, key, strict=True) if c in varied), part)
        for key, part in frame.group_by(columns, maintain_order=True)
    ]


def in_words(column: str, value: Any) -> str:
    """Say the value of a column in words."""
    if column == "removed":
        number = value or 0
        noun = "component" if number == 1 else "components"
        return f"{number} {noun} removed" if number else "nothing removed"
    if column == "contexts":
        return _CONTEXTS.get(value, f"{value} contexts")
    if column == "measure":
        return str(value).upper()
    if column == "missing_as":
        return _MISSING.get(value, str(value))
    return "" if value is None else str(value)


def first_reading(frame: pl.DataFrame) -> pl.DataFrame:
    """Keep one way of reading a model: the first contexts, the fewest components removed."""
    least = frame.filter(pl.col("removed").fill_null(0) == pl.col("removed").fill_null(0).min())
    return least.filter(pl.col("contexts") == pl.col("contexts").first())


def layers(frame: pl.DataFrame) -> list[str]:
    """Give the layers, those that are numbers first and by size; the mean is none."""
    names = set(frame["layer"].drop_nulls()) - {MEAN}
    return sorted(names, key=lambda one: (not _is_number(one), len(one), one))


def at_one_layer(frame: pl.DataFrame) -> pl.DataFrame:
    """Keep the means over layers; where there are none, the last layer."""
    mean = frame.filter(layer=MEAN)
    if not mean.is_empty():
        return mean
    return frame.filter(layer=layers(frame)[-1]) if layers(frame) else frame.clear()


def layer_name(layer: str) -> str:
    """Say which layer rows are of."""
    return "mean over layers" if layer == MEAN else f"layer {layer}"


def pairs(row: Mapping[str, Any]) -> str:
    """Name the groups that are compared."""
    return " − ".join(filter(None, (row["first"], row["second"])))


def _is_number(text: str) -> bool:
    return text.isascii() and text.isdigit()


def _texts(frame: pl.DataFrame, column: str) -> list[str]:
    return frame[column].fill_null("").unique(maintain_order=True).to_list()


def _words(frames: Iterable[pl.DataFrame]) -> Iterator[str]:
    """Give every text that rows are told apart by."""
    for frame in frames:
        for column, kind in frame.schema.items():
            if kind == pl.String and column not in ("model", "note"):
                yield from _texts(frame, column)


def _plain_first(texts: Iterable[str]) -> list[str]:
    """Sort texts that are shown as they stand to the front, so that none of them is renamed."""
    return sorted(texts, key=lambda text: " ".join(visible(text).split()) != text)


def _shown(frame: pl.DataFrame, names: Mapping[str, str]) -> pl.DataFrame:
    """Make texts fit to be shown; one that rows are grouped by is never null."""
    changed = []
    for column in (name for name, kind in frame.schema.items() if kind == pl.String):
        texts = frame[column]
        if column == "note":
            each = {text: cut(visible(text), 400) for text in texts.unique().drop_nulls()}
        else:
            texts = texts if column in _MAY_BE_NULL else texts.fill_null("")
            each = {text: names[text] for text in texts.unique().drop_nulls()}
        changed.append(texts.replace_strict(each, default=None, return_dtype=pl.String))
    return frame.with_columns(changed)


def reading_columns(frame: pl.DataFrame) -> list[Column]:
    """Give columns for the contexts and the number of removed components, where these vary."""

    def cell(key: str) -> Render:
        return lambda r: "" if r[key] is None else str(r[key])

    titles = {"Contexts": "contexts", "Removed": "removed"}
    return [
        Column(title, cell(key), "text")
        for title, key in titles.items()
        if frame[key].n_unique() > 1
    ]
