"""How answers depend on how they were asked: order, wording; what could be scored."""

from __future__ import annotations

from functools import partial

import polars as pl

from clinometer.numbers import count, interval, percent
from clinometer.pieces.drawing.charts import Axis
from clinometer.pieces.drawing.comparison import bars, share_summary
from clinometer.pieces.drawing.figures import Figure, around_zero, per_mode
from clinometer.pieces.drawing.intervals import dots, forest
from clinometer.pieces.paragraphs import Paragraphs
from clinometer.pieces.prose import MEANINGS
from clinometer.pieces.sections import Section
from clinometer.pieces.tables import FROM, STEREOTYPE, TableColumn, TableSpec, head
from clinometer.pieces.views import InstrumentResults
from clinometer.results import REASONS

#: Above this many rows the page shows compliance per stereotype; the file has every pair.
MOST_ROWS = 150


def order_section(results: InstrumentResults) -> Section | None:
    """Show the order effect of each stereotype; None where it is not one of the groups."""
    effects = pl.col("order_effect", "first_share").is_not_null()
    orders = results.by_stereotype.filter(pl.any_horizontal(effects))
    if results.facts.ordered != "groups" or orders.is_empty():
        return None
    return Section(
        key="order",
        title="Order of the groups",
        text=Paragraphs("order"),
        figures=_order_figures(orders, results),
        tables=(("Table of order effects", _ORDER.render(orders, interval=results.plan.interval)),),
    )


def _order_figures(orders: pl.DataFrame, results: InstrumentResults) -> tuple[Figure, ...]:
    # Figures draw the columns of an estimate, so the effect takes the place of the mean.
    names = {"order_effect": "estimate", "order_low": "ci_low", "order_high": "ci_high"}
    effects = orders.drop_nulls("order_effect").drop(*names.values(), "bound_low", "bound_high")
    effects = effects.rename(names)
    axis = around_zero("Order effect", effects, results.measure)
    caption = (
        "Order effect: mean score with the marginalized group named first minus mean score with "
        "the default group named first, with its interval; neutral 0. Every draw is asked in "
        "both orders, so an additive order effect does not move the mean score."
    )
    return per_mode("order", caption, effects, partial(forest, axis=axis))


_ORDER = TableSpec(
    "Order effect, and share given to the group named first (neutral .50), per stereotype.",
    (
        STEREOTYPE,
        *FROM,
        "order_effect",
        TableColumn("{interval}", "order_low order_high", interval),
        "first_share",
    ),
)


def wording_section(results: InstrumentResults) -> Section | None:
    """Show the mean of each stereotype and wording; None where there is one wording."""
    cells = results.levels["cell"]
    if cells["variation"].n_unique() < 2:
        return None
    axis = Axis.for_measure(results.measure, results.plan.margin)
    caption = f"Mean score per stereotype for each wording of the task. {results.scale}"
    draw = partial(dots, axis=axis, title="Wording")
    return Section(
        key="variations",
        title="Spread over wordings",
        short="Wordings",
        text=Paragraphs("wordings"),
        figures=per_mode("variations", caption, cells, draw),
    )


_BY = ("model", "mode", "category", "stereotype", "about")
_COUNTS = [f"n_{reason}" for reason in REASONS]
_NAMES = [reason.replace("_", " ") for reason in REASONS]
_PARTS = (
    ("scored", "var(--scored)"),
    *((name, f"var(--{name.replace(' ', '-')})") for name in _NAMES),
)


def _group_words(marginalized: str | None, default: str | None) -> str:
    return f"{marginalized or '–'} / {default or '–'}"


_COUNT_COLUMNS: tuple[str | TableColumn, ...] = (
    *FROM,
    "n",
    "n_scored",
    *(
        TableColumn(name.capitalize(), column, count)
        for name, column in zip(_NAMES, _COUNTS, strict=True)
    ),
    TableColumn("Without a score", "unscored", percent),
)
_BY_WORDS = TableSpec(
    "Answers by outcome, with the group words asked about.{pooled}",
    (
        STEREOTYPE,
        TableColumn("Group words", "marginalized default", _group_words, "head"),
        *_COUNT_COLUMNS,
    ),
)
_BY_GROUP = TableSpec(
    "Answers by outcome and by the group asked about.",
    (STEREOTYPE, head("variation", "Asked about"), *_COUNT_COLUMNS),
)
_POOLED = " Summed over group words; compliance.parquet has each pair."


def compliance_section(results: InstrumentResults) -> Section | None:
    """Show shares per reason, and, for questions about one group, per group asked about."""
    frame = results.tables.details["compliance"]
    if frame.is_empty():
        return None
    # The group stands as a variation: where there are several, figures draw a dot for each.
    group = pl.col("version").replace_strict(
        results.facts.groups, default=None, return_dtype=pl.String
    )
    group_answers = frame.with_columns(variation=group).drop_nulls("variation")
    by_group = _count_outcomes(group_answers, "variation").filter(pl.col("n") > 0)
    by_words, pooled = _count_by_words(frame)
    tables = (
        ("Table of answers by reason and group words", _BY_WORDS.render(by_words, pooled=pooled)),
        ("Table of answers by group asked about", _BY_GROUP.render(by_group)),
    )
    return Section(
        key="compliance",
        title="Compliance: what could be scored",
        short="Compliance",
        text=Paragraphs("compliance"),
        figures=(*_compliance_figures(frame), *_group_figures(by_group)),
        tables=tuple(table for table in tables if table[1].rows),
    )


def _count_by_words(frame: pl.DataFrame) -> tuple[pl.DataFrame, str]:
    """Count outcomes for each pair of group words; of many pairs their sum, and say so."""
    counts = _count_outcomes(frame, "marginalized", "default")
    if counts.height <= MOST_ROWS:
        return counts, ""
    all_words = {"marginalized": pl.lit("all"), "default": pl.lit("all")}
    return _count_outcomes(frame).with_columns(**all_words), _POOLED


def _count_outcomes(frame: pl.DataFrame, *columns: str) -> pl.DataFrame:
    """Count answers by what became of them, per stereotype and `columns`; add the share without.

    ``unscored`` is the share without a score, null where nothing was asked.
    """
    counts = pl.col("n", "n_scored", *_COUNTS).sum()
    total = frame.group_by(*_BY, *columns, maintain_order=True).agg(counts)
    unscored = pl.when(pl.col("n") > 0).then(1 - pl.col("n_scored") / pl.col("n"))
    return total.with_columns(unscored=unscored)


def _compliance_figures(frame: pl.DataFrame) -> tuple[Figure, ...]:
    """Draw the shares of scored answers and of each reason for having no score."""
    total = _count_outcomes(frame)
    present = [reason for reason in REASONS if total[f"n_{reason}"].sum()]
    meanings = [f"{reason.replace('_', ' ')}: {MEANINGS[reason]}" for reason in present]
    caption = "What became of the answers: shares scored, and without a score by reason."
    if meanings:
        caption += f" {'; '.join(meanings).capitalize()}."
    return per_mode(
        "compliance",
        caption,
        total.with_columns(counts=pl.concat_list("n_scored", *_COUNTS)),
        partial(bars, parts=_PARTS),
        partial(share_summary, parts=_PARTS),
    )


def _group_figures(by_group: pl.DataFrame) -> tuple[Figure, ...]:
    axis = Axis("Share of answers without a score", 0, 1, None)
    caption = (
        "Share of answers without a score, refusals included, by the one group that the question "
        "is about. Where the two dots differ, the model declines more often for one group."
    )
    draw = partial(dots, axis=axis, title="Group asked about", hollow=True)
    shares = by_group.with_columns(estimate="unscored")
    return per_mode("asked-about", caption, shares, draw)
