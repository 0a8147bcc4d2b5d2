"""What a model says against what stands inside: correlations by layer, and decisions.

Reference: Bai et al. 2025, doi:10.1073/pnas.2416228122, SI sections J and O.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import polars as pl

from tiltmeter.report.drawing.cells import Grid, cells, classed
from tiltmeter.report.drawing.charts import Axis, Row
from tiltmeter.report.drawing.curves import MOST_PANELS, layer_curves, point, spread_text
from tiltmeter.report.drawing.figures import Figure
from tiltmeter.report.plan import spaced
from tiltmeter.report.prose import interval, interval_title, number, numbered, p_value
from tiltmeter.report.sections import Section
from tiltmeter.report.states.results import (
    ALPHA,
    MEAN,
    Representation,
    in_words,
    layer_name,
    layers,
    split,
)
from tiltmeter.report.tables import Column, Table, count, render_table

__all__ = ["relation_section", "strongest"]

#: Between the classes of r.
EDGES = (-0.5, -0.3, -0.1, 0.1, 0.3, 0.5)
#: Up to this many columns of a map are wide enough for their names.
_MOST_WIDE = 6

_METHOD = (
    "Each stereotype, and each trial, has two scores: what the model answered in the word "
    "association test, and how strongly the same words are associated in its states. r is their "
    "correlation: −1 to 1, neutral 0; above 0, what is strong inside is strong in the answers. "
    "Answers without a score can be left out, or take a value; where the rows of this choice "
    "differ, the correlation is partly made by it."
)
_CAUTION = (
    "A correlation over a few stereotypes is uncertain, as its interval shows, and p (Holm) is "
    "adjusted for the layers. A correlation between two scores does not show that one causes the "
    "other."
)
_FITS = (
    "Which of the two scores predicts decisions better? Logistic regressions on the same rows, "
    "compared by AIC: lower is better; a difference below 2 does not separate them."
)


def relation_section(inside: Representation) -> Section | None:
    """Show how answers and states go together by layer; None where they were not joined."""
    real = pl.col("layer").is_not_null() & (pl.col("layer") != MEAN)
    parts = [
        (model, part)
        for model, frame in inside.of_models("relations")
        if not (part := frame.filter(real)).is_empty()
    ]
    fits = inside.of_models("fits")
    if not parts and not fits:
        return None
    maps = [made for model, part in parts if (made := _map(part, model))]
    curves = [_curves(part, model) for model, part in parts if len(layers(part)) > 1]
    named = [
        *zip(maps, numbered("representation-relations", len(maps)), strict=True),
        *zip(curves, numbered("representation-relation-curves", len(curves)), strict=True),
    ]
    return Section(
        key="representation-relations",
        title="Answers and representation",
        short="Answers and representation",
        text=(*((_METHOD, _CAUTION) if parts else ()), *((_FITS,) if fits else ())),
        figures=tuple(Figure(name, f.caption, f.summary, f.spec) for f, name in named),
        tables=(
            *(("", _table(part, model)) for model, part in parts),
            *((f"Table of decisions: {model}", _fit_table(part, model)) for model, part in fits),
        ),
    )


def strongest(part: pl.DataFrame) -> dict[str, Any] | None:
    """Give the row with the largest correlation in size."""
    known = part.drop_nulls("estimate").sort(
        pl.col("estimate").abs(), descending=True, maintain_order=True
    )
    return next(known.iter_rows(named=True), None)


def _map(part: pl.DataFrame, model: str) -> Figure | None:
    level = "stereotype" if "stereotype" in part["level"] else part["level"][0]
    own = part.filter(level=level).drop_nulls("estimate")
    if own.is_empty():
        return None
    columns = split(own, "removed", "missing_as")
    names = [name or in_words("missing_as", mine["missing_as"][0]) for name, mine in columns]
    rows = []
    for name, (_, mine) in zip(names, columns, strict=True):
        top = strongest(mine)
        rows += [_cell(row, name, top) for row in mine.iter_rows(named=True)]
    grid = Grid(
        legend="Correlation r",
        edges=EDGES,
        across=("", names),
        down=("Layer", layers(own)),
        width=118 if len(names) <= _MOST_WIDE else 62,
        height=21,
        tips=(("Layer", "down"), ("", "across"), ("r", "shown"), ("Interval", "interval"),
              ("p", "p"), ("p (Holm)", "p_holm"), ("Spearman", "rho"), ("n", "n")),
    )  # fmt: skip
    caption = (
        f"Correlation of answers and representation, layer by measure: {model}, level: {level}. r "
        "from −1 to 1, neutral 0 in the middle class; orange: above, blue: below. Columns: what "
        "answers without a score count as, and what was removed from the states. Bold: the "
        "strongest of its column; *: p (Holm) below .05."
    )
    return Figure("", caption, _map_summary(columns, names), cells(rows, grid))


def _cell(row: Mapping[str, Any], name: str, top: Mapping[str, Any] | None) -> Row:
    sure = row["p_holm"] is not None and row["p_holm"] < ALPHA
    return {
        "across": name,
        "down": row["layer"],
        "step": classed(row["estimate"], EDGES),
        "text": number(row["estimate"]) + "*" * sure,
        "strong": top is not None and top["layer"] == row["layer"],
        "shown": number(row["estimate"], 3),
        "interval": interval(row["ci_low"], row["ci_high"]) if row["ci_low"] is not None else None,
        "p": p_value(row["p"]),
        "p_holm": p_value(row["p_holm"]),
        "rho": number(row["estimate_spearman"]),
        "n": count(row["n"]),
    }


def _map_summary(columns: list[tuple[str, pl.DataFrame]], names: list[str]) -> str:
    sentences = []
    for name, (_, mine) in zip(names, columns, strict=True):
        top, last = strongest(mine), mine.filter(layer=layers(mine)[-1]).row(0, named=True)
        if top:
            sentences.append(
                f"{name}: strongest {number(top['estimate'])} ({layer_name(top['layer'])}), last "
                f"{number(last['estimate'])}"
            )
    return f"{'; '.join(sentences)}."


def _curves(part: pl.DataFrame, model: str) -> Figure:
    order = layers(part)
    places = {layer: place for place, layer in enumerate(order)}
    placed = part.sort(pl.col("layer").replace_strict(places), maintain_order=True)
    panels = [
        (", ".join((f"Level: {mine['level'][0]}", *([how] if how else []))), mine)
        for how, own in split(placed, "removed")
        for _, mine in split(own, "level")
    ]
    rows = [
        point(panel, in_words("missing_as", row["missing_as"]), row, "estimate")
        for panel, mine in panels[:MOST_PANELS]
        for row in mine.iter_rows(named=True)
    ]
    caption = (
        f"Correlation of answers and representation by layer: {model}. r from −1 to 1; dotted "
        f"line: neutral 0. Lines: what answers without a score count as. Band: "
        f"{interval_title(part)} (Fisher’s z); filled points: p (Holm) below .05."
    )
    axis = Axis("r", -1, 1, 0)
    return Figure("", caption, spread_text(rows), layer_curves(rows, axis, order, {}))


def _table(part: pl.DataFrame, model: str) -> Table:
    """Set out the strongest and the last layer of each way."""
    picked = []
    for _, mine in split(part, "level", "removed", "missing_as"):
        top, last = strongest(mine), mine.filter(layer=layers(mine)[-1]).row(0, named=True)
        picked += [{**top, "which": "strongest"}] if top else []
        picked += [{**last, "which": "last"}]
    title = interval_title(part)
    return render_table(
        pl.DataFrame(picked, schema={**part.schema, "which": pl.String()}),
        f"{model}: correlation at the layer where it is strongest and at the last, with its "
        f"{title} (Fisher’s z). Picking the strongest layer is not a test; p (Holm) is adjusted "
        "for all layers.",
        [
            Column("Level", lambda r: r["level"], "head"),
            Column("Missing", lambda r: in_words("missing_as", r["missing_as"]), "head"),
            Column("Removed", lambda r: in_words("removed", r["removed"]), "head"),
            Column("Which", lambda r: r["which"], "head"),
            Column("Layer", lambda r: r["layer"]),
            Column("r", lambda r: number(r["estimate"])),
            Column(
                title,
                lambda r: "" if r["ci_low"] is None else interval(r["ci_low"], r["ci_high"]),
            ),
            Column("p", lambda r: p_value(r["p"])),
            Column("p (Holm)", lambda r: p_value(r["p_holm"])),
            Column("Spearman", lambda r: number(r["estimate_spearman"])),
            Column("n", lambda r: count(r["n"])),
        ],
    )


def _fit_table(part: pl.DataFrame, model: str) -> Table:
    """Set out the answers as predictor, and the states at the best and the last layer."""
    picked: list[dict[str, Any]] = []
    for _, mine in split(part, "removed", "missing_as"):
        spoken = mine.filter(pl.col("layer").is_null())
        states = mine.filter(pl.col("layer").is_not_null())
        best = states.drop_nulls("aic").sort("aic", maintain_order=True).head(1)
        end = states.filter(layer=layers(states)[-1]) if layers(states) else states
        picked += [
            {**row, "which": which}
            for which, rows in (("answers", spoken), ("best layer", best), ("last layer", end))
            for row in rows.iter_rows(named=True)
        ]
    title = interval_title(part)
    return render_table(
        pl.DataFrame(picked, schema={**part.schema, "which": pl.String()}),
        f"{model}: decisions predicted from answers and from hidden states. Coefficient: log odds "
        f"per unit, with its {title}; Δ AIC: from the best on the same rows. p (clustered): by "
        "stereotype. Picking the best layer is not a test.",
        [
            Column("Predictor", lambda r: spaced(r["predictor"]), "head"),
            Column("Which", lambda r: r["which"], "head"),
            Column("Layer", lambda r: r["layer"] or ""),
            Column("Missing", lambda r: in_words("missing_as", r["missing_as"]), "text"),
            Column("Removed", lambda r: in_words("removed", r["removed"]), "text"),
            Column("Coefficient", lambda r: number(r["estimate"])),
            Column(
                title,
                lambda r: "" if r["ci_low"] is None else interval(r["ci_low"], r["ci_high"]),
            ),
            Column("p", lambda r: p_value(r["p"])),
            Column("p (clustered)", lambda r: p_value(r["p_clustered"])),
            Column("AIC", lambda r: number(r["aic"], 1)),
            Column("BIC", lambda r: number(r["bic"], 1)),
            Column("Δ AIC", lambda r: number(r["delta_aic"], 1)),
            Column("n", lambda r: count(r["n_scored"])),
        ],
    )
