"""Sections on each stereotype: its mean, the order of the groups, the wordings."""

from __future__ import annotations

import polars as pl

from tiltmeter.report import tables
from tiltmeter.report.drawing import figures
from tiltmeter.report.plan import Plan
from tiltmeter.report.sections import Section
from tiltmeter.results import Measure

__all__ = ["order_section", "stereotype_section", "wording_section"]


def stereotype_section(each: pl.DataFrame, plan: Plan, measure: Measure, sides: str) -> Section:
    """Show the mean of each stereotype.

    Parameters
    ----------
    each
        Estimates per stereotype of one study and instrument.
    plan
        For labels and the margin.
    measure
        What the numbers mean.
    sides
        What the sides of neutral mean, in a sentence.

    Returns
    -------
    Section
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
