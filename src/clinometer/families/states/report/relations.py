"""What a model says against what stands inside: correlations by layer, and decisions.

Reference: Bai et al. 2025, doi:10.1073/pnas.2416228122, SI sections J and O.
"""

from __future__ import annotations

from functools import partial
from typing import Any

import polars as pl

from clinometer.families.states.report.curves import layer_figure
from clinometer.families.states.report.results import (
    ONE_LAYER,
    States,
    by_layer,
    in_words,
    interval_column,
    layer_name,
    layers,
    split,
)
from clinometer.report.drawing.cells import Grid, cells, map_cell
from clinometer.report.drawing.charts import Axis, Row
from clinometer.report.drawing.figures import Figure
from clinometer.report.plan import spaced
from clinometer.report.prose import bracketed, interval_title, number, p_value
from clinometer.report.sections import Section, named
from clinometer.report.tables import Column, Table, alike, count, render_table

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
    parts, fits = states.of("relations", where=ONE_LAYER), states.of("fits")
    if not parts and not fits:
        return None
    maps = [figure for part in parts if (figure := _map(part))]
    curves = [_curves(part) for part in parts if len(layers(part)) > 1]
    key, title = "representation-relations", "Answers and hidden states"
    figures = (*named(key, maps), *named("representation-relation-curves", curves))
    tables = [("", _table(part)) for part in parts]
    tables += [(f"Table of decisions: {part['model'][0]}", _fit_table(part)) for part in fits]
    text = ((_METHOD, _CAUTION) if parts else ()) + ((_FITS,) if fits else ())
    return Section(key, title, text, figures, tuple(tables))


def _strongest(part: pl.DataFrame) -> dict[str, Any] | None:
    """Give the row with the largest correlation in size; None where there is none."""
    known = part.drop_nulls("estimate")
    by = pl.col("estimate").abs()
    return next(known.sort(by, descending=True, maintain_order=True).iter_rows(named=True), None)


def _at_the_end(part: pl.DataFrame) -> dict[str, Any]:
    return part.filter(layer=layers(part)[-1]).row(0, named=True)


def _map(part: pl.DataFrame) -> Figure | None:
    level = "stereotype" if "stereotype" in part["level"] else part["level"][0]
    own = part.filter(level=level).drop_nulls("estimate")
    if own.is_empty():
        return None
    columns = {
        name or in_words("missing_as", mine["missing_as"][0]): mine
        for name, mine in split(own, "removed", "missing_as")
    }
    rows = [row for name, mine in columns.items() for row in _cells(name, mine)]
    grid = Grid(
        legend="Correlation r",
        edges=EDGES,
        across=("", list(columns)),
        down=("Layer", layers(own)),
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
    ends = "; ".join(_ends(name, mine) for name, mine in columns.items())
    return Figure("", caption, f"{ends}.", cells(rows, grid))


def _ends(name: str, part: pl.DataFrame) -> str:
    top, last = _strongest(part) or {}, _at_the_end(part)
    return (
        f"{name}: strongest {number(top['estimate'])} ({layer_name(top['layer'])}), last "
        f"{number(last['estimate'])}"
    )


def _cells(name: str, part: pl.DataFrame) -> list[Row]:
    top = _strongest(part) or {}
    return [
        map_cell(
            row,
            EDGES,
            (name, row["layer"]),
            number(row["estimate"]),
            strong=row["layer"] == top["layer"],
            shown=number(row["estimate"], 3),
            rho=number(row["estimate_spearman"]),
            n=count(row["n"]),
        )
        for row in part.iter_rows(named=True)
    ]


def _curves(part: pl.DataFrame) -> Figure:
    panels = [
        ((f"Level: {mine['level'][0]}", reading), mine)
        for reading, own in split(by_layer(part), "removed")
        for _, mine in split(own, "level")
    ]
    caption = (
        f"Correlation of answers and hidden states by layer: {part['model'][0]}. r: −1 to 1; "
        "dotted line: neutral 0. Lines: how answers without a score are counted. Band: "
        f"{interval_title(part)} (Fisher’s z); filled points: p (Holm) below .05."
    )
    axis = Axis("r", -1, 1, 0)
    return layer_figure(
        panels, lambda r: in_words("missing_as", r["missing_as"]), lambda _: axis, caption
    )


def _table(part: pl.DataFrame) -> Table:
    """Set out the strongest and the last layer of each way."""
    picked = []
    for _, mine in split(part, "level", "removed", "missing_as"):
        top = _strongest(mine)
        picked += [{**top, "which": "strongest"}] if top else []
        picked += [{**_at_the_end(mine), "which": "last"}]
    return render_table(
        picked,
        f"{part['model'][0]}: correlation at the layer where it is strongest and at the last, with "
        f"its {interval_title(part)} (Fisher’s z). Selecting the strongest layer is not a test; p "
        "(Holm) is adjusted for all layers.",
        [
            Column("Level", lambda r: r["level"], "head"),
            Column("Missing", lambda r: in_words("missing_as", r["missing_as"]), "head"),
            Column("Removed", lambda r: in_words("removed", r["removed"]), "head"),
            Column("Which", lambda r: r["which"], "head"),
            Column("Layer", lambda r: r["layer"]),
            Column("r", lambda r: number(r["estimate"])),
            interval_column(part),
            *alike(p_value, {"p": "p", "p (Holm)": "p_holm"}),
            Column("Spearman", lambda r: number(r["estimate_spearman"])),
            Column("n", lambda r: count(r["n"])),
        ],
    )


def _fit_table(part: pl.DataFrame) -> Table:
    """Set out the answers as predictor, and the states at the best and the last layer."""
    picked: list[dict[str, Any]] = []
    for _, mine in split(part, "removed", "missing_as"):
        spoken, states = mine.filter(pl.col("layer").is_null()), mine.drop_nulls("layer")
        best = states.drop_nulls("aic").sort("aic", maintain_order=True).head(1)
        end = states.filter(layer=layers(states)[-1]) if layers(states) else states
        picked += [
            {**row, "which": which}
            for which, rows in (("answers", spoken), ("best layer", best), ("last layer", end))
            for row in rows.iter_rows(named=True)
        ]
    return render_table(
        picked,
        f"{part['model'][0]}: decisions predicted from answers and from hidden states. "
        f"Coefficient: log odds per unit, with its {interval_title(part)}; Δ AIC: difference from "
        "the best model on the same rows. p (clustered): by stereotype. Selecting the best layer "
        "is not a test.",
        [
            Column("Predictor", lambda r: spaced(r["predictor"]), "head"),
            Column("Which", lambda r: r["which"], "head"),
            Column("Layer", lambda r: r["layer"] or ""),
            Column("Missing", lambda r: in_words("missing_as", r["missing_as"]), "text"),
            Column("Removed", lambda r: in_words("removed", r["removed"]), "text"),
            Column("Coefficient", lambda r: number(r["estimate"])),
            interval_column(part),
            *alike(p_value, {"p": "p", "p (clustered)": "p_clustered"}),
            *alike(partial(number, digits=1), {"AIC": "aic", "BIC": "bic", "Δ AIC": "delta_aic"}),
            Column("n", lambda r: count(r["n_scored"])),
        ],
    )


def relation_finding(part: pl.DataFrame) -> str:
    """Say where answers and states agree most, and how much missing answers matter."""
    known = part.filter(ONE_LAYER)
    level = "stereotype" if "stereotype" in known["level"] else "trial"
    fewest = pl.col("removed") == pl.col("removed").min()
    own = known.filter(fewest, level=level).drop_nulls("estimate")
    if own.is_empty():
        return ""
    _, first = split(own, "missing_as")[0]
    top, last = _strongest(first), _at_the_end(first)
    if top is None:
        return ""
    at = layer_name(top["layer"])
    text = (
        f"The correlation of answers and hidden states is strongest at {at} (r "
        f"{bracketed(top['estimate'], top['ci_low'], top['ci_high'])}; p (Holm) "
        f"{p_value(top['p_holm'])}; {in_words('missing_as', top['missing_as'])})"
    )
    if top["layer"] != last["layer"]:
        text += f"; at the last layer, {last['layer']}, r is {number(last['estimate'])}"
    same = own.filter(layer=top["layer"])
    if same.height == 1:
        return f"{text}."
    values = ", ".join(
        f"{in_words('missing_as', name)} {number(value)}"
        for name, value in same.select("missing_as", "estimate").iter_rows()
    )
    return f"{text}. At {at} r depends on how missing answers are counted: {values}."
