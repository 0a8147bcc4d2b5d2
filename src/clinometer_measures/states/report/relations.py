"""What a model says against what stands inside: correlations by layer, and decisions.

Reference: Bai et al. 2025, doi:10.1073/pnas.2416228122, SI sections J and O.
"""

from __future__ import annotations

from functools import partial
from typing import Any

import polars as pl

from clinometer.numbers import bracketed, count, number, p_value, plain_text
from clinometer.pieces.drawing.cells import Grid, cells, map_cell
from clinometer.pieces.drawing.charts import Axis, Row
from clinometer.pieces.drawing.figures import Figure
from clinometer.pieces.facts import spaced
from clinometer.pieces.prose import interval_title
from clinometer.pieces.sections import Section, name_figures
from clinometer.pieces.tables import ReportTable, TableColumn, TableSpec, head
from clinometer_measures.states.report.curves import layer_figure
from clinometer_measures.states.report.results import (
    INTERVAL,
    IS_SINGLE_LAYER,
    States,
    by_layer,
    in_words,
    last_layer,
    layer_name,
    layers,
    split,
)

__all__ = ["relation_finding", "relation_section"]

#: Between the classes of r.
EDGES = (-0.5, -0.3, -0.1, 0.1, 0.3, 0.5)
#: Up to this many columns of a map are wide enough for their names.
_MOST_WIDE = 6

_METHOD = (
    "Each stereotype, and each trial, has two scores: that of the model’s answers in the word "
    "association test, and the association of the same words in its hidden states. r is their "
    "correlation: −1 to 1, neutral 0; above 0, what is strongly associated in the states is so in "
    "the answers. Answers without a score are left out or take a value; if r differs between these "
    "choices, it partly depends on the choice."
)
_CAUTION = (
    "A correlation over a few stereotypes is uncertain, as its interval shows. p (Holm) is "
    "adjusted for the layers. A correlation does not show that one score causes the other."
)
_FITS = (
    "Which of the two scores predicts decisions better? Logistic regressions on the same rows, "
    "compared by AIC: lower is better; models that differ by less than 2 are not distinguishable."
)


def relation_section(states: States) -> Section | None:
    """Show how answers and states go together by layer; None where they were not joined."""
    parts = states.by_model("relations", where=IS_SINGLE_LAYER)
    fits = states.by_model("fits")
    if not parts and not fits:
        return None
    maps = [figure for part in parts if (figure := _map(part))]
    curves = [_curves(part) for part in parts if len(layers(part)) > 1]
    key, title = "representation-relations", "Answers and hidden states"
    figures = (*name_figures(key, maps), *name_figures("representation-relation-curves", curves))
    tables = [("", _table(part)) for part in parts]
    tables += [(f"Table of decisions: {part['model'][0]}", _fit_table(part)) for part in fits]
    text = ((_METHOD, _CAUTION) if parts else ()) + ((_FITS,) if fits else ())
    return Section(key, title, text, figures, tuple(tables))


def _strongest(part: pl.DataFrame) -> dict[str, Any] | None:
    """Give the row with the largest correlation in size; None where there is none."""
    size = pl.col("estimate").abs()
    # A stable sort: of equal correlations the lowest layer's.
    by_size = part.drop_nulls("estimate").sort(size, descending=True, maintain_order=True)
    return next(by_size.iter_rows(named=True), None)


def _last_layer(part: pl.DataFrame) -> dict[str, Any]:
    """Give the first row of the last layer."""
    return last_layer(part).row(0, named=True)


def _map(part: pl.DataFrame) -> Figure | None:
    """Draw correlations by layer, a column for each treatment of missing scores."""
    level = "stereotype" if "stereotype" in part["level"] else part["level"][0]
    correlations = part.filter(level=level).drop_nulls("estimate")
    if correlations.is_empty():
        return None
    columns: dict[str, pl.DataFrame] = {}
    for name, column in split(correlations, "removed", "missing_as"):
        # A single column is set apart by nothing, and still needs a name.
        columns[name or in_words("missing_as", column["missing_as"][0])] = column
    cell_rows: list[Row] = []
    for title, column in columns.items():
        cell_rows += _cells(title, column)
    grid = Grid(
        legend="Correlation r",
        edges=EDGES,
        across=("", list(columns)),
        down=("Layer", layers(correlations)),
        width=118 if len(columns) <= _MOST_WIDE else 62,
        height=21,
        tips=(("Layer", "down"), ("", "across"), ("r", "shown"), ("Interval", "interval"),
              ("p", "p"), ("p (Holm)", "p_holm"), ("Spearman", "rho"), ("n", "n")),
    )  # fmt: skip
    caption = (
        f"Correlation of answers and hidden states, layer by measure: {part['model'][0]}, level: "
        f"{level}. r: −1 to 1, neutral 0 (middle class); orange: above, blue: below. Columns: how "
        "answers without a score are counted, and components removed from the states. Bold: the "
        "strongest of its column; *: p (Holm) below .05."
    )
    texts = [_column_text(title, column) for title, column in columns.items()]
    return Figure("", caption, f"{'; '.join(texts)}.", cells(cell_rows, grid))


def _column_text(name: str, part: pl.DataFrame) -> str:
    """Say where the correlation of a column is strongest, and what it is at the last layer."""
    top = _strongest(part) or {}
    last = _last_layer(part)
    return (
        f"{name}: strongest {number(top['estimate'])} ({layer_name(top['layer'])}), last "
        f"{number(last['estimate'])}"
    )


def _cells(name: str, part: pl.DataFrame) -> list[Row]:
    """Give the cells of a column of the map, the strongest of them bold."""
    top = _strongest(part) or {}
    cell_rows = []
    for row in part.iter_rows(named=True):
        cell = map_cell(
            row,
            EDGES,
            (name, row["layer"]),
            number(row["estimate"]),
            strong=row["layer"] == top["layer"],
            shown=number(row["estimate"], 3),
            rho=number(row["estimate_spearman"]),
            n=count(row["n"]),
        )
        cell_rows.append(cell)
    return cell_rows


def _curves(part: pl.DataFrame) -> Figure:
    """Draw correlations by layer, a panel for each level, a line for each treatment."""
    panels = []
    for reading, reading_rows in split(by_layer(part), "removed"):
        for _, rows in split(reading_rows, "level"):
            panels.append(((f"Level: {rows['level'][0]}", reading), rows))
    caption = (
        f"Correlation of answers and hidden states by layer: {part['model'][0]}. r: −1 to 1; "
        "dotted line: neutral 0. Lines: how answers without a score are counted. Band: "
        f"{interval_title(part)} (Fisher’s z); filled points: p (Holm) below .05."
    )
    axis = Axis("r", -1, 1, 0)
    return layer_figure(
        panels, lambda r: in_words("missing_as", r["missing_as"]), lambda _: axis, caption
    )


_MISSING = partial(in_words, "missing_as")
_REMOVED = partial(in_words, "removed")
_CORRELATIONS = TableSpec(
    "{model}: correlation at the layer where it is strongest and at the last, with its {interval} "
    "(Fisher’s z). Selecting the strongest layer is not a test; p (Holm) is adjusted for all "
    "layers.",
    (
        head("level"),
        TableColumn("Missing", "missing_as", _MISSING, "head"),
        TableColumn("Removed", "removed", _REMOVED, "head"),
        head("which", "Which"),
        TableColumn("Layer", "layer", plain_text, "number"),
        TableColumn("r", "estimate", number),
        INTERVAL,
        "p",
        "p_holm",
        TableColumn("Spearman", "estimate_spearman", number),
        "n",
    ),
)


def _table(part: pl.DataFrame) -> ReportTable:
    """Set out the strongest and the last layer of each level, removal and treatment."""
    table_rows = []
    for _, correlations in split(part, "level", "removed", "missing_as"):
        top = _strongest(correlations)
        if top:
            table_rows.append({**top, "which": "strongest"})
        table_rows.append({**_last_layer(correlations), "which": "last"})
    return _CORRELATIONS.render(table_rows, interval=interval_title(part), model=part["model"][0])


_FIT_TABLE = TableSpec(
    "{model}: decisions predicted from answers and from hidden states. Coefficient: log odds per "
    "unit, with its {interval}; Δ AIC: difference from the best model on the same rows. p "
    "(clustered): by stereotype. Selecting the best layer is not a test.",
    (
        TableColumn("Predictor", "predictor", spaced, "head"),
        head("which", "Which"),
        TableColumn("Layer", "layer", plain_text, "number"),
        TableColumn("Missing", "missing_as", _MISSING, "text"),
        TableColumn("Removed", "removed", _REMOVED, "text"),
        TableColumn("Coefficient", "estimate", number),
        INTERVAL,
        "p",
        TableColumn("p (clustered)", "p_clustered", p_value),
        "aic",
        "bic",
        "delta_aic",
        TableColumn("n", "n_scored", count),
    ),
)


def _fit_table(part: pl.DataFrame) -> ReportTable:
    """Set out the answers as predictor, and the states at the best and the last layer."""
    table_rows: list[dict[str, Any]] = []
    for _, fits in split(part, "removed", "missing_as"):
        # The score of an answer is of no layer.
        answers = fits.filter(pl.col("layer").is_null())
        states = fits.drop_nulls("layer")
        best = states.drop_nulls("aic").sort("aic", maintain_order=True).head(1)
        last = last_layer(states)
        for which, rows in (("answers", answers), ("best layer", best), ("last layer", last)):
            table_rows += [{**row, "which": which} for row in rows.iter_rows(named=True)]
    return _FIT_TABLE.render(table_rows, interval=interval_title(part), model=part["model"][0])


def relation_finding(part: pl.DataFrame) -> str:
    """Say where answers and states agree most, and how much missing answers matter."""
    single_layers = part.filter(IS_SINGLE_LAYER)
    level = "stereotype" if "stereotype" in single_layers["level"] else "trial"
    fewest = pl.col("removed") == pl.col("removed").min()
    correlations = single_layers.filter(fewest, level=level).drop_nulls("estimate")
    if correlations.is_empty():
        return ""
    _, first = split(correlations, "missing_as")[0]
    top, last = _strongest(first), _last_layer(first)
    if top is None:
        return ""
    top_layer = layer_name(top["layer"])
    text = (
        f"The correlation of answers and hidden states is strongest at {top_layer} (r "
        f"{bracketed(top['estimate'], top['ci_low'], top['ci_high'])}; p (Holm) "
        f"{p_value(top['p_holm'])}; {in_words('missing_as', top['missing_as'])})"
    )
    if top["layer"] != last["layer"]:
        text += f"; at the last layer, {last['layer']}, r is {number(last['estimate'])}"
    # The same layer, with missing answers counted otherwise.
    treatments = correlations.filter(layer=top["layer"]).select("missing_as", "estimate")
    if treatments.height == 1:
        return f"{text}."
    values = [f"{in_words('missing_as', name)} {number(r)}" for name, r in treatments.iter_rows()]
    return (
        f"{text}. At {top_layer} r depends on how missing answers are counted: {', '.join(values)}."
    )
