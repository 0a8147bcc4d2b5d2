"""The page: in how many framings a lean holds, marks of a test, what it depends on, what next."""

from __future__ import annotations

import math
from collections.abc import Mapping
from functools import partial
from typing import Any

import polars as pl

from clinometer.pieces import (
    FROM,
    STEREOTYPE,
    Figure,
    InstrumentResults,
    PlanFacts,
    Section,
    TableColumn,
    TableSpec,
    around,
    bracketed,
    capital,
    count,
    few_sentences,
    forest,
    head,
    interval,
    number,
    p_value,
    per_mode,
    percent,
    percent_interval,
)
from clinometer_measures.framings.analysis import ALL_MARKS, DETAILS, EFFECT
from clinometer_measures.framings.next_questions import NARROWER

__all__ = [
    "effect_section",
    "framing_section",
    "holding_section",
    "next_section",
    "variance_section",
]

#: Sources of variance that a sentence names, and the least share of one.
MOST_SOURCES, LEAST_SHARE = 3, 0.01

_MARKS = "all marks of a test"

_HOLDS = (
    "A framing is clear where its answers tell on which side of 0 its mean is, with at most 5% "
    "false among the clear ones (Benjamini and Hochberg); few answers make few framings clear. How "
    "many framings of this kind are on the side of the mean does not depend on that: it follows "
    "from their spread, the noise taken off, if their means are normally distributed. A new "
    "framing combines levels of this kind in another way; other forms, other marks and other "
    "languages are not known. Words are those asked.",
)
_EFFECTS = (
    "Difference of the mean score, the other factors balanced; neutral 0, positive: larger under "
    "the second level. Scores are signed: where a lean is reversed, one that shrinks has a "
    "positive effect. Intervals hold for all effects at once, for these stereotypes and words, and "
    "allow for what combinations of levels do.",
    "An effect of the marks of a test shows that the texts matter, not that the model knows what "
    "they are; and no effect of these marks excludes others.",
)
_DEPENDS = (
    "Standard deviations are of what each source does to scores. Stereotypes and the levels of "
    "factors are fixed; framing is what combinations of levels do beyond that, and × what differs "
    "between stereotypes. The noise of one draw of words (what a word does in one framing, and "
    "chance) is taken off, and is in no share. A source whose interval reaches 0 is not shown to "
    "matter.",
)
_NEXT = (
    f"Each interval, and what multiplies its width by {NARROWER:g} for the fewest tokens: more "
    "draws of words in the same framings (a larger --iterations), or a larger fraction, which has "
    "other framings and is asked anew (“framings” in a copy of the study). Then the tokens until "
    "it would exclude 0, if the estimate stays; that is a price, and no reason to stop there. "
    "Tokens are reckoned from the length of the texts.",
)


def _detail(results: InstrumentResults, name: str) -> pl.DataFrame:
    """Return the rows of a table that are no control's."""
    return results.tables.details[name].filter(pl.col("control").is_null())


def _run(row: Mapping[str, Any]) -> str:
    return f"{row['model']}, mode {row['mode']}"


def _mean(row: Mapping[str, Any]) -> str:
    return bracketed(row["framing_mean"], row["framing_low"], row["framing_high"])


def _on_its_side(low: float, high: float) -> str:
    """Write the share of framings on the side of the mean; nothing is told below a half."""
    return "not told" if low < 0.5 else percent_interval(low, high)


def holding_section(results: InstrumentResults) -> Section | None:
    """Say in how many framings the mean holds."""
    rows = _detail(results, "framing_holding")
    if rows.is_empty():
        return None
    mean_rows = rows.filter(pl.col("stereotype").is_null())
    sentences = [_holding_sentence(row) for row in mean_rows.iter_rows(named=True)]
    controls = results.tables.details["framing_holding"].drop_nulls("control")
    tables = [("", _HOLDING.render(rows))]
    if not controls.is_empty():
        tables.append(("The controls in the same framings", _HOLDING.render(controls)))
    return Section(
        key="holding",
        title="In how many framings does it hold?",
        short="Framings it holds in",
        text=(*few_sentences(sentences), *_HOLDS),
        tables=tuple(tables),
        open=True,
        place="before",
    )


def _holding_sentence(row: Mapping[str, Any]) -> str:
    n = row["n_framings"]
    return (
        f"{_run(row)}: the mean of all stereotypes over {n} framings is {_mean(row)}. It is "
        f"clearly above 0 in {row['n_positive']} of them, clearly below in {row['n_negative']}. "
        f"In one more framing it is expected from {interval(row['new_low'], row['new_high'])}."
    )


_HOLDING = TableSpec(
    "Mean score over framings, with its 95% interval over framings; −1 to 1, neutral 0. Framings "
    "on its side: 95% interval. Spread: standard deviation of framings, without noise. One more "
    "framing: 95% prediction of its mean.",
    (
        STEREOTYPE,
        *FROM,
        TableColumn(
            "Mean over framings", "framing_mean framing_low framing_high", bracketed, missing=""
        ),
        TableColumn("Clearly above 0", "n_positive n_framings", "{} of {}".format),
        TableColumn("Clearly below", "n_negative n_framings", "{} of {}".format),
        TableColumn("Framings on its side", "side_share_low side_share_high", _on_its_side),
        "framing_sd",
        TableColumn("One more framing", "new_low new_high", interval),
    ),
    DETAILS["framing_holding"].own,
)


def _effects(results: InstrumentResults) -> pl.DataFrame:
    """Return the effects, each with what it compares."""
    rows = results.tables.rows.filter(
        pl.col("measure") == EFFECT.name, pl.col("control").is_null(), study=results.study
    )
    is_all = pl.col("factor") == ALL_MARKS[0]
    compared = pl.format("{} rather than {}", "candidate", "baseline")
    return rows.with_columns(
        factor_title=pl.when(is_all).then(pl.lit(_MARKS)).otherwise("factor"),
        label=pl.when(is_all).then(pl.lit(capital(_MARKS))).otherwise(
            pl.format("{}: {}", pl.col("factor").str.to_titlecase(), "candidate")
        ),
        compared=pl.when(is_all).then(pl.lit("with all rather than none")).otherwise(compared),
    )  # fmt: skip


def effect_section(results: InstrumentResults) -> Section | None:
    """Set out what marks of a test, and other factors, change."""
    rows = _effects(results)
    if rows.is_empty():
        return None
    mark_rows = rows.filter(factor=ALL_MARKS[0])
    sentences = [_mark_sentence(row) for row in mark_rows.iter_rows(named=True)]
    return Section(
        key="effects",
        title="Does it change where a test shows, or with other factors?",
        short="Marks of a test",
        text=(*few_sentences(sentences), *_EFFECTS),
        figures=_effect_figures(rows, results.plan),
        tables=(("Table of effects", _EFFECT_TABLE.render(rows)),),
        open=True,
        place="before",
    )


def _mark_sentence(row: Mapping[str, Any]) -> str:
    change = bracketed(row["estimate"], row["ci_low"], row["ci_high"])
    if row["ci_low"] <= 0 <= row["ci_high"]:
        text = "no change is shown"
    else:
        text = "the mean score is " + ("higher" if row["estimate"] > 0 else "lower")
    return f"{_run(row)}: with all marks of a test at once {text}: {change}."


def _effect_figures(rows: pl.DataFrame, plan: PlanFacts) -> tuple[Figure, ...]:
    labelled = rows.with_columns(category=pl.lit(None, pl.String))
    limits = labelled.select(mean="estimate", low="ci_low", high="ci_high")
    axis = around("Difference of the mean score", limits.iter_rows(named=True), 0.1)
    caption = (
        "Effect of each level against the first of its factor, on the mean score of all "
        f"stereotypes; neutral 0. Dot: estimate; line: {plan.interval}, for all effects at once."
    )
    tips = (("Level", "label"), ("Model", "model"), ("Mode", "mode"), ("Effect", "shown"),
            ("Interval", "interval"), ("p (adjusted)", "p_adjusted"))  # fmt: skip
    return per_mode("framing-effects", caption, labelled, partial(forest, axis=axis, tips=tips))


_EFFECT_TABLE = TableSpec(
    "Effects on the mean score of all stereotypes, with 95% intervals; neutral 0.",
    (
        TableColumn("Factor", "factor_title", capital, "head"),
        head("compared", "Level"),
        *FROM,
        TableColumn("Effect", "estimate", number),
        TableColumn("Interval, all at once", "ci_low ci_high", interval),
        TableColumn("Alone", "pointwise_low pointwise_high", interval),
        TableColumn("p (adjusted)", "p_bonferroni", p_value),
    ),
)


def variance_section(results: InstrumentResults) -> Section | None:
    """Say which sources the variance comes from."""
    rows = _detail(results, "framing_variance")
    if rows.is_empty():
        return None
    runs = rows.partition_by("model", "mode", maintain_order=True)
    sentences = [_variance_sentence(run) for run in runs]
    return Section(
        key="sources",
        title="What does it depend on?",
        short="Sources of variance",
        text=(*few_sentences(sentences), *_DEPENDS),
        tables=(("", _SOURCES.render(rows)),),
        place="before",
    )


def _shares(low: float | None, high: float | None) -> str:
    return "" if low is None else percent_interval(low, high)


_SOURCES = TableSpec(
    "Standard deviation of scores by source, and its share of all variance but the noise.",
    (
        TableColumn("Source", "variance_source", capital, "head"),
        *FROM,
        TableColumn(
            "Standard deviation", "source_variance", lambda variance: number(math.sqrt(variance))
        ),
        TableColumn(
            "95% interval",
            "source_low source_high",
            lambda low, high: interval(math.sqrt(low), math.sqrt(high)),
        ),
        TableColumn("Share of variance", "source_share", percent, missing=""),
        TableColumn("95% interval", "source_share_low source_share_high", _shares),
    ),
)


def _variance_sentence(rows: pl.DataFrame) -> str:
    """Name the sources with the largest shares."""
    clear_sources = rows.filter(pl.col("source_low") > 0, pl.col("source_share") >= LEAST_SHARE)
    largest = clear_sources.sort("source_share", descending=True).head(MOST_SOURCES)
    source_texts = [
        f"{row['variance_source']} ({percent(row['source_share'])}; "
        f"{_shares(row['source_share_low'], row['source_share_high'])})"
        for row in largest.iter_rows(named=True)
    ]
    run_label = _run(rows.row(0, named=True))
    if not source_texts:
        return f"{run_label}: no source is shown to matter beside the noise."
    return f"{run_label}: most of the variance comes from {', '.join(source_texts)}."


def next_section(results: InstrumentResults) -> Section | None:
    """Say what to ask next, with its price."""
    rows = _detail(results, "framing_next")
    if rows.is_empty():
        return None
    runs = rows.partition_by("model", "mode", maintain_order=True)
    sentences = [_next_sentence(run) for run in runs]
    return Section(
        key="next",
        title="What to ask next",
        text=(*few_sentences(sentences), *_NEXT),
        tables=(("", _NEXT_QUESTIONS.render(rows)),),
        place="before",
    )


def _thousands(tokens: float | None) -> str:
    """Write a number of tokens in thousands."""
    return "" if tokens is None else f"{tokens / 1000:,.0f} k"


def _ask_text(asked: str | None, count: int | None) -> str:
    """Write what to ask."""
    if asked is None:
        return "too much"
    text = f"{count} {asked}"
    return text.replace("draws", "draw") if count == 1 else text


def _plus_minus(estimate: float, half_width: float) -> str:
    return f"{number(estimate)} ± {number(half_width)}"


def _tokens_to_decide(estimate: float, half_width: float, tokens: float | None) -> str:
    if abs(estimate) >= half_width:
        return "excludes it"
    return _thousands(tokens) or "too many"


_NEXT_QUESTIONS = TableSpec(
    f"What multiplies the width of each interval by {NARROWER:g} for the fewest tokens.",
    (
        TableColumn("Interval of", "next_target", capital, "head"),
        *FROM,
        TableColumn("Estimate", "estimate half_width_now", _plus_minus),
        TableColumn("Ask", "next_ask n_next", _ask_text, "text"),
        TableColumn("Tokens", "tokens_more", _thousands),
        TableColumn(
            "Tokens until it excludes 0",
            "estimate half_width_now tokens_to_decide",
            _tokens_to_decide,
        ),
    ),
)


def _next_sentence(rows: pl.DataFrame) -> str:
    """Say which open question is the cheapest to decide."""
    run_label = _run(rows.row(0, named=True))
    priced = rows.drop_nulls("tokens_to_decide")
    if priced.is_empty():
        return (
            f"{run_label}: no open question can be decided for less than a hundred times as much."
        )
    first = priced.row(0, named=True)
    return (
        f"{run_label}: of the intervals that contain 0, that of the {first['next_target']} "
        f"({_plus_minus(first['estimate'], first['half_width_now'])}) is the cheapest to "
        f"decide, for about {_thousands(first['tokens_to_decide'])} tokens."
    )


def framing_section(results: InstrumentResults) -> Section | None:
    """Set out the mean of every framing."""
    rows = _detail(results, "framing_scores")
    if rows.is_empty():
        return None
    by_framing = rows.group_by("model", "mode", "variation", "framing", maintain_order=True).agg(
        mean=pl.col("framing_mean").mean(),
        lowest=pl.col("framing_mean").min(),
        highest=pl.col("framing_mean").max(),
        n_scored=pl.col("n_scored").sum(),
        tokens=pl.col("tokens").first(),
    )
    factors = ", ".join(level.partition(": ")[0] for level in rows["framing"][0].split(", "))
    ordered = by_framing.sort("model", "mode", "mean", descending=[False, False, True])
    return Section(
        key="framings",
        title="Every framing",
        tables=(("Table of framings", _FRAMINGS.render(ordered, factors=factors)),),
        place="before",
    )


def _levels(framing: str) -> str:
    """Write the levels of a framing, without their factors."""
    return ", ".join(level.partition(": ")[2] for level in framing.split(", "))


_FRAMINGS = TableSpec(
    "Mean score of all stereotypes in each framing, and of the lowest and the highest. What the "
    "words shown do is taken out, so that a mean of few answers may lie beyond the scale. Levels "
    "in the order: {factors}.",
    (
        TableColumn("Framing", "framing", _levels, "head"),
        TableColumn("Variation", "variation"),
        *FROM,
        TableColumn("Mean", "mean", number),
        TableColumn("Stereotypes from, to", "lowest highest", interval),
        TableColumn("Answers", "n_scored", count),
        TableColumn("Tokens", "tokens", "{:.0f}".format),
    ),
)
