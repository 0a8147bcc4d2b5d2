"""The page: in how many framings a lean holds, marks of a test, what it depends on, what next."""

from __future__ import annotations

import math
from collections.abc import Mapping
from functools import partial
from typing import Any

import polars as pl

from clinometer.pieces import (
    FROM,
    Figure,
    InstrumentResults,
    PlanFacts,
    ReportTable,
    Section,
    TableColumn,
    around,
    bracketed,
    capital,
    count,
    forest,
    interval,
    number,
    p_value,
    per_mode,
    percent,
    render_table,
)
from clinometer_measures.framings.analysis import ALL_MARKS, EFFECT
from clinometer_measures.framings.next_questions import NARROWER

__all__ = [
    "effect_section",
    "framing_section",
    "holding_section",
    "next_section",
    "variance_section",
]

#: Above this many models and modes there are no sentences.
MOST_SENTENCES = 4

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
    """Return the rows of a table that are no control's, with the mode as readers see it."""
    return results.tables.details[name].filter(pl.col("control").is_null())


def _run(row: Mapping[str, Any]) -> str:
    return f"{row['model']}, mode {row['mode']}"


def _mean(row: Mapping[str, Any]) -> str:
    if row["framing_mean"] is None:
        return ""
    return bracketed(row["framing_mean"], row["framing_low"], row["framing_high"])


def _on_its_side(row: Mapping[str, Any]) -> str:
    """Write the share of framings on the side of the mean; nothing is told below a half."""
    low, high = row["side_share_low"], row["side_share_high"]
    return "not told" if low < 0.5 else f"{percent(low)} to {percent(high)}"


def holding_section(results: InstrumentResults) -> Section | None:
    """Say in how many framings the mean holds."""
    framing_holding = results.tables.details["framing_holding"]
    rows = framing_holding.filter(pl.col("control").is_null())
    if rows.is_empty():
        return None
    mean_rows = rows.filter(pl.col("stereotype").is_null())
    sentences = [_holding_sentence(row) for row in mean_rows.iter_rows(named=True)]
    controls = framing_holding.filter(pl.col("control").is_not_null())
    tables = [("", _holding_table(rows))]
    if not controls.is_empty():
        tables.append(("The controls in the same framings", _holding_table(controls)))
    return Section(
        key="holding",
        title="In how many framings does it hold?",
        short="Framings it holds in",
        text=(*(sentences if len(sentences) <= MOST_SENTENCES else ()), *_HOLDS),
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


def _holding_table(rows: pl.DataFrame) -> ReportTable:
    columns = [
        TableColumn("Stereotype", lambda r: r["about"], "head"),
        *FROM,
        TableColumn("Mean over framings", _mean),
        TableColumn("Clearly above 0", lambda r: f"{r['n_positive']} of {r['n_framings']}"),
        TableColumn("Clearly below", lambda r: f"{r['n_negative']} of {r['n_framings']}"),
        TableColumn("Framings on its side", _on_its_side),
        TableColumn("Spread", lambda r: number(r["framing_sd"])),
        TableColumn("One more framing", lambda r: interval(r["new_low"], r["new_high"])),
    ]
    caption = (
        "Mean score over framings, with its 95% interval over framings; −1 to 1, neutral 0. "
        "Framings on its side: 95% interval. Spread: standard deviation of framings, without "
        "noise. One more framing: 95% prediction of its mean."
    )
    return render_table(rows, caption, columns)


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
        text=(*(sentences if len(sentences) <= MOST_SENTENCES else ()), *_EFFECTS),
        figures=_effect_figures(rows, results.plan),
        tables=(("Table of effects", _effect_table(rows)),),
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


def _effect_table(rows: pl.DataFrame) -> ReportTable:
    columns = [
        TableColumn("Factor", lambda r: capital(r["factor_title"]), "head"),
        TableColumn("Level", lambda r: r["compared"], "head"),
        *FROM,
        TableColumn("Effect", lambda r: number(r["estimate"])),
        TableColumn("Interval, all at once", lambda r: interval(r["ci_low"], r["ci_high"])),
        TableColumn("Alone", lambda r: interval(r["pointwise_low"], r["pointwise_high"])),
        TableColumn("p (adjusted)", lambda r: p_value(r["p_bonferroni"])),
    ]
    caption = "Effects on the mean score of all stereotypes, with 95% intervals; neutral 0."
    return render_table(rows, caption, columns)


def variance_section(results: InstrumentResults) -> Section | None:
    """Say which sources the variance comes from."""
    rows = _detail(results, "framing_variance")
    if rows.is_empty():
        return None
    runs = rows.partition_by("model", "mode", maintain_order=True)
    sentences = [_variance_sentence(run) for run in runs]
    columns = [
        TableColumn("Source", lambda r: capital(r["variance_source"]), "head"),
        *FROM,
        TableColumn("Standard deviation", lambda r: number(math.sqrt(r["source_variance"]))),
        TableColumn("95% interval", _deviations),
        TableColumn("Share of variance", _share),
        TableColumn("95% interval", _share_ends),
    ]
    caption = "Standard deviation of scores by source, and its share of all variance but the noise."
    return Section(
        key="sources",
        title="What does it depend on?",
        short="Sources of variance",
        text=(*(sentences if len(sentences) <= MOST_SENTENCES else ()), *_DEPENDS),
        tables=(("", render_table(rows, caption, columns)),),
        place="before",
    )


def _deviations(row: Mapping[str, Any]) -> str:
    return interval(math.sqrt(row["source_low"]), math.sqrt(row["source_high"]))


def _share(row: Mapping[str, Any]) -> str:
    return "" if row["source_share"] is None else percent(row["source_share"])


def _share_ends(row: Mapping[str, Any]) -> str:
    low, high = row["source_share_low"], row["source_share_high"]
    return "" if low is None else f"{percent(low)} to {percent(high)}"


def _variance_sentence(rows: pl.DataFrame) -> str:
    """Name the sources with the largest shares."""
    clear_sources = rows.filter(pl.col("source_low") > 0, pl.col("source_share") >= LEAST_SHARE)
    largest = clear_sources.sort("source_share", descending=True).head(MOST_SOURCES)
    source_texts = [
        f"{row['variance_source']} ({percent(row['source_share'])}; {_share_ends(row)})"
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

    def ask(row: Mapping[str, Any]) -> str:
        """Write what to ask."""
        if row["next_ask"] is None:
            return "too much"
        text = f"{row['n_next']} {row['next_ask']}"
        return text.replace("draws", "draw") if row["n_next"] == 1 else text

    columns = [
        TableColumn("Interval of", lambda r: capital(r["next_target"]), "head"),
        *FROM,
        TableColumn(
            "Estimate", lambda r: f"{number(r['estimate'])} ± {number(r['half_width_now'])}"
        ),
        TableColumn("Ask", ask, "text"),
        TableColumn("Tokens", lambda r: _thousands(r["tokens_more"])),
        TableColumn("Tokens until it excludes 0", _tokens_to_decide),
    ]
    caption = f"What multiplies the width of each interval by {NARROWER:g} for the fewest tokens."
    return Section(
        key="next",
        title="What to ask next",
        text=(*(sentences if len(sentences) <= MOST_SENTENCES else ()), *_NEXT),
        tables=(("", render_table(rows, caption, columns)),),
        place="before",
    )


def _thousands(tokens: float | None) -> str:
    """Write a number of tokens in thousands."""
    return "" if tokens is None else f"{tokens / 1000:,.0f} k"


def _tokens_to_decide(row: Mapping[str, Any]) -> str:
    if abs(row["estimate"]) >= row["half_width_now"]:
        return "excludes it"
    return _thousands(row["tokens_to_decide"]) or "too many"


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
        f"({number(first['estimate'])} ± {number(first['half_width_now'])}) is the cheapest to "
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
    columns = [
        TableColumn("Framing", _levels, "head"),
        TableColumn("Variation", lambda r: r["variation"], "text"),
        *FROM,
        TableColumn("Mean", lambda r: number(r["mean"])),
        TableColumn("Stereotypes from, to", lambda r: interval(r["lowest"], r["highest"])),
        TableColumn("Answers", lambda r: count(r["n_scored"])),
        TableColumn("Tokens", lambda r: f"{r['tokens']:.0f}"),
    ]
    factors = ", ".join(level.partition(": ")[0] for level in rows["framing"][0].split(", "))
    caption = (
        "Mean score of all stereotypes in each framing, and of the lowest and the highest. What "
        "the words shown do is taken out, so that a mean of few answers may lie beyond the scale. "
        f"Levels in the order: {factors}."
    )
    ordered = by_framing.sort("model", "mode", "mean", descending=[False, False, True])
    return Section(
        key="framings",
        title="Every framing",
        tables=(("Table of framings", render_table(ordered, caption, columns)),),
        place="before",
    )


def _levels(row: Mapping[str, Any]) -> str:
    """Write the levels of a framing, without their factors."""
    return ", ".join(level.partition(": ")[2] for level in row["framing"].split(", "))
