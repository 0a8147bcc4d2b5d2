"""Tables of a results directory as a reader meets them: with names, in the order of the plan.

Every text of a results directory is untrusted: it is shown with its invisible characters visible,
and cut.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from typing import Any

import polars as pl

from clinometer.pieces.plan import PlanFacts
from clinometer.pieces.prose import category_title
from clinometer.results import join_methods
from clinometer.results.ranges import IN_PROMPTS

#: What a row may be about, and by which it is labelled.
_LABELLED = ("study", "category", "stereotype", "dimension")


#: What is said of these prompts and of other stereotypes, by the papers' test and by random splits,
#: beside what is said of other prompts.
_METHOD_COLUMNS = {
    "bounded": (*IN_PROMPTS["bounded"], "se"),
    "published": ("se", "statistic", "df", "p"),
    "generalised": ("ci_low", "ci_high"),
    "placebo": ("p", "placebo_low", "placebo_high"),
}


def clustered(rows: pl.DataFrame) -> pl.DataFrame:
    """Set other methods beside the clustered one; the change of compliance is left out."""
    scored = rows.filter(pl.col("measure") != "compliance")
    return join_methods(scored, "clustered", _METHOD_COLUMNS)


def name_and_sort_rows(
    frame: pl.DataFrame, factors: Sequence[str], plan: PlanFacts
) -> pl.DataFrame:
    """Name each row as `name_rows` does, and sort those of each study as the plan lists them."""
    labelled = name_rows(frame, factors, plan)
    if labelled.is_empty():  # as most tables of details are
        return labelled
    if "study" not in labelled.columns:
        return in_order(labelled, plan)
    ordered = [labelled.clear()]
    for (study,), part in labelled.group_by("study", maintain_order=True):
        ordered.append(in_order(part, plan.for_study(str(study)) if study else plan))
    return pl.concat(ordered)


def name_rows(frame: pl.DataFrame, factors: Sequence[str], plan: PlanFacts) -> pl.DataFrame:
    """Add what a reader calls each row: its subject, its dimension and its mode.

    `factors`: those whose values are named with the mode.
    """
    labelled = _label_rows(frame, plan)
    if "mode" not in frame.columns:
        return labelled
    columns = [name for name in factors if name in frame.columns]
    # "none" is the value of a trial without the factor: nothing is named then.
    values = [pl.when(pl.col(name) != "none").then(name) for name in columns]
    return labelled.with_columns(
        mode_name("mode", "dimension_label", *values),
        mode_name("mode", *values).alias("control_mode"),
        plain_mode="mode",
    )


def _label_rows(frame: pl.DataFrame, plan: PlanFacts) -> pl.DataFrame:
    """Add ``about`` and ``dimension_label``, each by the labels of the study of a row."""
    columns = [name for name in _LABELLED if name in frame.columns]
    if not columns or frame.is_empty():
        return frame.with_columns(about=pl.lit("All"), dimension_label=pl.lit(None, pl.String))
    subjects = frame.select(columns).unique()
    names: dict[str, list[str | None]] = {"about": [], "dimension_label": []}
    for row in subjects.iter_rows(named=True):
        study_plan = plan.for_study(row["study"]) if row.get("study") else plan
        key = row.get("dimension")
        names["about"].append(_subject_label(row, study_plan))
        names["dimension_label"].append(study_plan.dimensions[key] if key else None)
    labels = pl.DataFrame(names, schema=dict.fromkeys(names, pl.String))
    return add_columns(frame, pl.concat([subjects, labels], how="horizontal"), *columns)


def _subject_label(row: Mapping[str, Any], plan: PlanFacts) -> str:
    """Name what a row is about: one stereotype, those of a category, or all."""
    if row.get("stereotype"):
        return plan.labels[row["stereotype"]]
    return f"{category_title(row['category'])}, all" if row.get("category") else "All"


def mode_name(*names: str | pl.Expr) -> pl.Expr:
    """Name a mode by the mode and the factors beside it; null adds nothing."""
    return pl.concat_str(names, separator=", ", ignore_nulls=True).alias("mode")


def rank(name: str, order: Sequence[str]) -> int:
    """Return the place of a name in an order, to sort by; what is not in it comes last."""
    return order.index(name) if name in order else len(order)


def place(column: str | pl.Expr, order: Iterable[str]) -> pl.Expr:
    """Return the place of each value in an order, to sort by; what is not in it comes last."""
    # The first of a name that stands twice has its place.
    places = {name: place for place, name in enumerate(dict.fromkeys(order))}
    values = pl.col(column) if isinstance(column, str) else column
    return values.replace_strict(places, default=len(places), return_dtype=pl.Int64)


def in_order(frame: pl.DataFrame, plan: PlanFacts) -> pl.DataFrame:
    """Sort as the plan lists categories, stereotypes, models, modes and dimensions."""
    orders: dict[str, Iterable[str]] = {
        "category": (item.category for item in plan.stereotypes.values()),
        "stereotype": plan.stereotypes,
        "model": plan.models,
        "plain_mode": plan.modes,
        "dimension": plan.dimensions,
        "intervention": [name for name, _ in plan.interventions],
    }
    places = [place(name, order) for name, order in orders.items() if name in frame.columns]
    return frame.sort(places, maintain_order=True)


def add_columns(rows: pl.DataFrame, further: pl.DataFrame, *keys: str) -> pl.DataFrame:
    """Add columns of a further table to the rows of the same keys, in the order of `rows`.

    `keys`: by default the columns that both have. Null matches null.
    """
    on = keys or [name for name in further.columns if name in rows.columns]
    return rows.join(further, on=on, how="left", nulls_equal=True, maintain_order="left")


def with_shown_texts(
    frame: pl.DataFrame, show: Callable[[str, str], str], nullable: Collection[str]
) -> pl.DataFrame:
    """Replace every text by the one that is shown.

    `show`: column and text → the text shown.
    `nullable`: columns in which null says something; it becomes the empty text in the others.
    """
    columns = []
    for name in (name for name, kind in frame.schema.items() if kind == pl.String):
        texts = frame[name] if name in nullable else frame[name].fill_null("")
        # Once for each text, not for each row: most texts stand in many rows.
        replacements = {text: show(name, text) for text in texts.unique().drop_nulls()}
        columns.append(texts.replace_strict(replacements, default=None, return_dtype=pl.String))
    return frame.with_columns(columns)
