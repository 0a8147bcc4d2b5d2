"""Sections on the estimates: verdicts and controls, each stereotype, order, wordings, all."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import polars as pl

from tiltmeter.report import tables
from tiltmeter.report.drawing import figures
from tiltmeter.report.plan import Plan
from tiltmeter.report.prose import interval, number, verdict_kind
from tiltmeter.report.sections import Section
from tiltmeter.results import Measure

__all__ = ["estimate_section", "failed_control", "order_section", "stereotype_section",
           "verdict_section", "warnings", "wording_section"]  # fmt: skip

#: What a control is for, by its kind.
_CONTROLS = {
    "positive": "In {study} the association is known to be there; without a positive mean the "
    "instrument does not work on the model in that mode.",
    "negative": "In {study} there is none to be found; a mean apart from neutral is the "
    "instrument's own error.",
}


def failed_control(row: Mapping[str, Any], expected: str, plan: Plan) -> str:
    """Say that a control failed; empty where it did not.

    `row`: the estimate of a control.
    `expected`: ``"positive"``: an association is known to be there; ``"negative"``: known not to
        be.
    """
    kind = verdict_kind(row["verdict"])
    works = {"positive": kind == "consistent", "negative": kind not in ("consistent", "reversed")}
    if works.get(expected, True):
        return ""
    value = f"{number(row['estimate'])} ({plan.interval} {interval(row['ci_low'], row['ci_high'])})"
    means = (
        "a known association does not show, so that no result of this mode can be relied on, "
        "least of all the absence of a bias."
        if expected == "positive"
        else "an association shows where there can be none; results of its size mean nothing."
    )
    label = plan.of(row["study"]).label(row["stereotype"])
    return f"The {expected} control fails ({label}: {value}): {means}"


def warnings(checks: pl.DataFrame, plan: Plan) -> dict[tuple[str, str], str]:
    """Say of each model and mode which controls it fails.

    `checks`: the estimates of the controls, one row each.
    `plan`: which control expects what.
    Result: model and mode → plain text; only those that fail one. A control has no dimension, and
        speaks of all dimensions of its mode: look it up by ``control_mode``.
    """
    expected = dict(plan.pairs("controls"))
    failed: dict[tuple[str, str], list[str]] = {}
    for row in checks.iter_rows(named=True):
        if text := failed_control(row, expected.get(row["study"], ""), plan):
            failed.setdefault((row["model"], row["control_mode"]), []).append(text)
    return {key: " ".join(texts) for key, texts in failed.items()}


def _control_table(checks: pl.DataFrame, plan: Plan) -> tables.Table | None:
    """Set out the estimates of the controls; None where there are none.

    `checks`: the estimates of the controls, one row each.
    `plan`: what each control is for, and labels by study.
    """
    if checks.is_empty():
        return None
    caption = "Controls: stimuli whose answer is known beforehand. " + " ".join(
        _CONTROLS[kind].format(study=study)
        for study, kind in plan.pairs("controls")
        if kind in _CONTROLS and study in checks["study"]
    )
    return tables.estimate_table(checks, plan, caption)


_READING = (
    "p (Holm) is adjusted for the number of stereotypes. p (TOST) belongs to the equivalence test, "
    "adjusted likewise.{exact} d is Cohen’s d against neutral. Worst case: every missing answer at "
    "either end of the scale; “–” where none is missing."
)
_EXACT = " Where all clusters agree exactly, p is an exact bound and there is no t."


def verdict_section(
    by_level: Mapping[str, pl.DataFrame], checks: pl.DataFrame, plan: Plan, measure: Measure
) -> Section:
    """Show the verdict per category and over all, and the controls.

    `by_level`: estimates of one study and instrument, by their level.
    `checks`: the estimates of the controls, one row each.
    """
    groups, whole, over = (by_level[level] for level in ("category", "model", "overall"))
    several = whole["model"].drop_nulls().n_unique() > 1
    shown = pl.concat([groups, whole, *([over] if several else [])])
    verdicts = tables.category_table(shown, plan, "Verdict per category and over all stereotypes.")
    controls = _control_table(checks, plan)
    return Section(
        key="verdicts",
        title="Verdicts per category",
        short="Verdicts",
        figures=tuple(figures.category_figures(pl.concat([groups, whole]), plan, measure)),
        tables=(("", verdicts), *([("", controls)] if controls else [])),
    )


def estimate_section(each: pl.DataFrame, plan: Plan) -> Section:
    """Set out the estimates per stereotype in full, and the papers' t test for contrast."""
    clustered = tables.estimate_table(
        each, plan, "Estimates per stereotype; intervals and p values are clustered."
    )
    naive = tables.naive_table(
        each, plan, "The papers’ t test, which takes every answer for independent (naive)."
    )
    return Section(
        key="tables",
        title="All estimates",
        short="All estimates",
        text=(_READING.format(exact=_EXACT if "unanimous" in each["test"] else ""),),
        tables=(("", clustered), ("For contrast: the naive t test of the papers", naive)),
    )


def stereotype_section(each: pl.DataFrame, plan: Plan, measure: Measure, sides: str) -> Section:
    """Show the mean of each stereotype.

    `each`: estimates per stereotype of one study and instrument.
    `sides`: what the sides of neutral mean, in a sentence.
    """
    return Section(
        key="stereotypes",
        title="Each stereotype",
        short="Stereotypes",
        text=(
            f"{sides} An interval that crosses the line does not tell the two apart. Its width "
            "covers other wordings and group words of the same kind, not other languages or other "
            "stereotypes.",
        ),
        figures=tuple(figures.stereotype_figures(each, plan, measure)),
    )


def order_section(each: pl.DataFrame, plan: Plan, measure: Measure) -> Section | None:
    """Show the order effect of each stereotype; None where no group was named first."""
    known = each.filter(pl.col("order_effect").is_not_null() | pl.col("first_share").is_not_null())
    if known.is_empty():
        return None
    caption = (
        "Order effect, and share given to the group named first (neutral .50), per stereotype."
    )
    return Section(
        key="order",
        title="Order of the groups",
        short="Order of the groups",
        text=(
            "Models may favour whichever group is named first. That habit is not bias against a "
            "group, and it is reported on its own.",
        ),
        figures=tuple(figures.order_figures(known, plan, measure)),
        tables=(("Table of order effects", tables.order_table(known, plan, caption)),),
    )


def wording_section(cells: pl.DataFrame, plan: Plan, measure: Measure) -> Section | None:
    """Show the mean of each stereotype and wording; None where there is one wording."""
    if cells["variation"].n_unique() < 2:
        return None
    return Section(
        key="variations",
        title="Spread over wordings",
        short="Wordings",
        text=(
            "The same question asked in other words. Where the dots of a stereotype lie far "
            "apart, the result depends on the wording.",
        ),
        figures=tuple(figures.variation_figures(cells, plan, measure)),
    )
