"""Stereotype content: means, correlations and ranks of dimensions that are never pooled.

Reference: Li et al. 2025, MIST, arXiv:2506.14161, figure 4, Table 1, section 4.2. The paper's
ranks have no intervals. Its figure 3, a radar, shows means without intervals, and is not drawn.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

import polars as pl

from clinometer.numbers import count, interval, number, out_of
from clinometer.pieces.drawing.charts import Axis, Row
from clinometer.pieces.drawing.figures import Figure, mark_row
from clinometer.pieces.drawing.intervals import forest
from clinometer.pieces.paragraphs import Paragraphs
from clinometer.pieces.plan import PlanFacts
from clinometer.pieces.prose import WORST, endings, scale, short_names
from clinometer.pieces.sections import Section
from clinometer.pieces.tables import FROM, LEAN, MEAN, TableColumn, TableSpec, head
from clinometer.pieces.views import InstrumentResults
from clinometer.results import Measure

#: Above this many models and dimensions their verdicts are counted per dimension.
MOST_SENTENCES = 12


def content_section(results: InstrumentResults) -> Section | None:
    """Show the dimensions side by side; None where there are no dimensions."""
    plan, measure = results.plan, results.measure
    stereotypes = _without_dimension(results.by_stereotype.drop_nulls("dimension"))
    pooled = _without_dimension(results.by_model.drop_nulls("dimension"))
    correlations = _without_dimension(results.tables.correlations)
    ranks = _without_dimension(results.tables.ranks.drop_nulls("dimension"))
    if stereotypes.is_empty() or not results.dimensions:
        return None
    *first, last = results.dimensions
    names = f"{len(first) + 1} dimensions: {', '.join(first)} and" if first else "one dimension:"
    values = {
        "dimensions": f"{names} {last}",
        "several": bool(first),
        **_on_correlations(correlations),
    }
    tables = (
        ("", _MEANS.render(_with_population_deviation(pooled), interval=plan.interval)),
        (
            "Table of correlations between dimensions",
            _CORRELATIONS.render(_name_both(correlations, plan)),
        ),
        ("Table of ranks", _RANKS.render(ranks, interval=plan.interval)),
    )
    return Section(
        key="content",
        title="Stereotype content",
        text=Paragraphs("content", values),
        figures=(*_mean_figures(stereotypes, plan, measure), *_rank_figures(ranks, measure)),
        tables=tuple(table for table in tables if table[1].rows),
    )


def _without_dimension(frame: pl.DataFrame) -> pl.DataFrame:
    """Name the mode without the dimension: here dimensions stand beside each other."""
    return frame.with_columns(mode="control_mode")


def _split_by_mode(frame: pl.DataFrame) -> list[tuple[pl.DataFrame, str, str]]:
    """Return the rows of each mode; of several also what names it in a file and in a caption."""
    parts = frame.drop_nulls("mode").partition_by("mode", maintain_order=True)
    modes = [part["mode"][0] for part in parts]
    notes = [f" Mode: {mode}." if modes[1:] else "" for mode in modes]
    return list(zip(parts, endings(modes), notes, strict=True))


def _mean_figures(stereotypes: pl.DataFrame, plan: PlanFacts, measure: Measure) -> list[Figure]:
    """Draw the means with their intervals, a figure per mode."""
    short = short_names(list(stereotypes["model"].drop_nulls().unique(maintain_order=True)))
    figures = []
    for part, end, mode_note in _split_by_mode(stereotypes):
        rows = [_row(row, short) for row in part.iter_rows(named=True)]
        if all(row["mean"] is None for row in rows):
            continue
        figures.append(_interval_figure(rows, f"content{end}", mode_note, plan, measure))
    return figures


def _row(row: Mapping[str, Any], short: Mapping[str, str]) -> Row:
    dimension = row["dimension_label"]
    who = short.get(row["model"], row["model"] or "")
    return {**mark_row(row, dimension), "dimension": dimension, "who": who}


def _interval_figure(
    rows: Sequence[Row], name: str, mode_note: str, plan: PlanFacts, measure: Measure
) -> Figure:
    """Draw the same means with intervals: a column per dimension, a block per model."""
    several = len({row["who"] for row in rows}) > 1
    blocked = [{**row, "block": row["who"]} for row in rows] if several else list(rows)
    caption = (
        f"Mean of each stereotype with its {plan.interval}, a column per dimension.{mode_note} "
        "Dot: mean; thick line: in these prompts; thin line: in other prompts; grey line: "
        f"{WORST}; dotted line: neutral. "
        f"{scale(measure)}"
    )
    drawing = forest(blocked, Axis.for_measure(measure, plan.margin))
    return Figure(name, caption, _verdict_summary(blocked), drawing)


def _verdict_summary(rows: Sequence[Row]) -> str:
    """Count the verdicts of each model and dimension; of many models, of each dimension."""
    several = len({row["who"] for row in rows}) > 1
    few = several and len({(row["who"], row["panel"]) for row in rows}) <= MOST_SENTENCES
    verdicts: dict[str, Counter[str]] = {}
    for row in rows:
        subject = f"{row['who']}, {row['panel']}" if few else row["panel"]
        text = (row["verdict"] or "no verdict").split(" ", 1)[-1]  # without its sign
        verdicts.setdefault(subject, Counter())[text] += 1
    sentences = []
    for subject, counts in verdicts.items():
        parts = [f"{times} {text}" for text, times in counts.items()]
        sentences.append(f"{subject}: {', '.join(parts)}.")
    return " ".join(sentences)


_MEANS = TableSpec(
    "Means per dimension, with the standard deviation and the t test of Li et al. (2025, Table 1), "
    "which treat all answers as independent (naive), and the intervals and p of other prompts.",
    (
        head("dimension_label"),
        *FROM,
        LEAN,
        TableColumn("Scored / asked", "n_scored n", out_of),
        TableColumn("Mean", "estimate", number, digits=3),
        TableColumn("SD (population)", "sd", number, digits=3),
        "statistic_published",
        "p_published",
        *MEAN[1:],
        "p",
    ),
)


def _with_population_deviation(frame: pl.DataFrame) -> pl.DataFrame:
    """Divide by n, as the paper does; estimates divide by n − 1, which one answer does not have."""
    deviation = pl.col("sd") * (1 - 1 / pl.col("n_scored")).sqrt()
    return frame.with_columns(sd=pl.when(pl.col("n_scored") == 1).then(0.0).otherwise(deviation))


def _on_correlations(frame: pl.DataFrame) -> dict[str, str]:
    """Say whether correlations are known, and if not, why."""
    if frame.is_empty():
        return {"correlations": "none"}
    if frame["estimate"].is_null().all():
        reasons = "; ".join(frame["note"].drop_nulls().unique(maintain_order=True))
        return {"correlations": "not known", "reasons": reasons}
    return {"correlations": "known"}


def _unit(level: str) -> str:
    """Say what correlations of a level are over."""
    return "models" if level == "model" else "stereotypes of a model"


_CORRELATIONS = TableSpec(
    "Correlation of the means of two dimensions, over the stereotypes of each model and over "
    "models. Range −1 to 1; neutral 0. Interval: 95%, by Fisher’s z.",
    (
        head("dimensions", "Dimensions"),
        *FROM,
        TableColumn("Over", "level", _unit, "text"),
        TableColumn("Points", "n", count),
        TableColumn("Pearson", "estimate", number),
        TableColumn("Interval", "ci_low ci_high", interval),
        "p",
        TableColumn("Spearman", "spearman", number),
        "note",
    ),
)


def _name_both(frame: pl.DataFrame, plan: PlanFacts) -> list[dict[str, Any]]:
    """Name the dimensions of each row, in the order of the plan."""
    rows = []
    for row in frame.iter_rows(named=True):
        keys = [row["first"] or "", row["second"] or ""]
        planned = [key for key in plan.dimensions if key in keys]
        # The plan may leave one out.
        ordered = planned if planned[1:] else keys
        names = " and ".join(plan.dimensions[key] for key in ordered)
        rows.append({**row, "dimensions": names})
    return rows


_RANK_TIPS = (
    ("Model", "label"),
    ("Dimension", "panel"),
    ("Rank", "rank"),
    ("Ranks the intervals allow", "allowed"),
    ("Mean", "shown"),
    ("Interval", "interval"),
)


def _rank_figures(frame: pl.DataFrame, measure: Measure) -> list[Figure]:
    """Draw the ranks per dimension, for modes with two ranked models."""
    figures = []
    for part, end, mode_note in _split_by_mode(frame):
        ranked = part.drop_nulls("estimate")
        short = short_names(list(ranked["model"].unique(maintain_order=True)))
        if len(short) < 2:
            continue
        label = pl.col("model").replace_strict(short, return_dtype=pl.String)
        caption = (
            f"Rank of the models in each dimension.{mode_note} Rank 1 is the most "
            "stereotype-consistent. Dot: rank of the mean; line: best to worst rank that the "
            "intervals allow, where only models with disjoint intervals are ordered. Models whose "
            f"lines overlap are not distinguishable. {scale(measure)}"
        )
        labelled = ranked.with_columns(label=label)
        rows = [_rank_row(row) for row in labelled.iter_rows(named=True)]
        drawing = forest(rows, Axis("Rank", 0.5, len(short) + 0.5, None), tips=_RANK_TIPS)
        figures.append(Figure(f"ranks{end}", caption, _rank_summary(rows), drawing))
    return figures


def _rank_row(row: Mapping[str, Any]) -> Row:
    """Return what a chart needs of a rank: the rank stands as the mean, the mean as its text."""
    return {
        **mark_row(row, row["dimension_label"]),
        "rank": _rank_text(row["estimate"], row["n"]),
        "allowed": _rank_range(row["ci_low"], row["ci_high"]),
        "shown": number(row["mean"], 3),
        "interval": interval(row["mean_low"], row["mean_high"], 3),
    }


def _rank_summary(rows: Sequence[Row]) -> str:
    texts: dict[str, list[str]] = {row["panel"]: [] for row in rows}
    for row in sorted(rows, key=lambda row: (row["mean"], row["label"])):
        texts[row["panel"]].append(f"{row['mean']:g} {row['label']} ({row['allowed']})")
    return " ".join(f"{panel}: {', '.join(ranks)}." for panel, ranks in texts.items())


def _rank_text(rank: float | None, models: int | None) -> str:
    return "no rank" if rank is None else f"{rank:g} of {count(models)}"


def _rank_range(best: float | None, worst: float | None) -> str:
    return "n/a" if best is None or worst is None else f"{best:g} to {worst:g}"


_RANKS = TableSpec(
    "Ranks of the models per dimension. Rank 1 is the most stereotype-consistent; equal means "
    "share the better rank.",
    (
        head("dimension_label"),
        *FROM,
        TableColumn("Rank", "estimate n", _rank_text),
        TableColumn("Ranks the intervals allow", "ci_low ci_high", _rank_range),
        TableColumn("Mean", "mean", number, digits=3),
        TableColumn("{interval}", "mean_low mean_high", interval, digits=3),
    ),
)
