"""The sections of a comparison: the differences, what changed, and the answers behind it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import polars as pl

from clinometer.numbers import bracketed, interval, number, signed
from clinometer.pieces.drawing.charts import Axis
from clinometer.pieces.drawing.figures import Figure, mark_row
from clinometer.pieces.drawing.intervals import forest
from clinometer.pieces.facts import Facts
from clinometer.pieces.paragraphs import Paragraphs
from clinometer.pieces.prose import category_title, verdict
from clinometer.pieces.sections import Exchange, Quote, Section
from clinometer.pieces.tables import ROW, VERDICT, TableColumn, TableSpec, head
from clinometer.reference import load_published
from clinometer.results import CONDITIONS
from clinometer.results.verdicts import BETTER, TURNED, WORSE

#: Characters of a prompt or answer that are shown.
LONGEST = 1500

#: Width of the labels and of what is drawn on the first screen, in pixels: half a page.
_LABELS, _WIDTH = 110, 400


def difference_sections(
    estimates: pl.DataFrame,
    differences: pl.DataFrame,
    details: Mapping[str, pl.DataFrame],
    facts: Facts,
) -> tuple[Section, ...]:
    """Make the sections in the order of the page; one without data is left out."""
    by_itself = estimates.filter(pl.col("factor").is_null())
    in_order = (
        _difference_section(differences, facts),
        _change_section(differences, by_itself),
        _family_section(estimates),
        _answer_section(details["answer_pairs"]),
        _published_section(differences),
    )
    return tuple(filter(None, in_order))


def _measure_name(row: Mapping[str, Any]) -> str:
    """Name the instrument, study, dimension and mode of a row."""
    names = (row[name] for name in ("instrument", "study", "dimension", "mode"))
    return ", ".join(name for name in names if name)


def candidate_name(row: Mapping[str, Any]) -> str:
    """Name the candidate of a row; empty where it has none."""
    return row["candidate"] or ""


def target_name(row: Mapping[str, Any]) -> str:
    """Name what a row is about: a stereotype, a category, or all."""
    if row["stereotype"]:
        return str(row["stereotype"]).replace("_", " ")
    return category_title(row["category"]) if row["category"] else "All"


def _difference_section(differences: pl.DataFrame, facts: Facts) -> Section | None:
    """Show the differences of the model and of each category, with the margin."""
    rows = differences.filter(
        pl.col("level").is_in(["model", "category"]), pl.col("control").is_null()
    )
    if rows.is_empty():
        return None
    figures = [
        difference_figure(part, measure, facts, place)
        for place, (measure, part) in enumerate(split_by_instrument(rows), 1)
    ]
    return Section(
        key="differences",
        title="Differences",
        text=Paragraphs("differences"),
        figures=tuple(figures),
        tables=(("Table of differences", _DIFFERENCES.render(rows)),),
        open=True,
    )


def split_by_instrument(rows: pl.DataFrame) -> list[tuple[str, pl.DataFrame]]:
    """Return the rows of each instrument, study, mode and dimension, with its name."""
    keys = ["instrument", "study", "mode", "dimension"]
    parts = rows.group_by(keys, maintain_order=True)
    return [(_measure_name(part.row(0, named=True)), part) for _, part in parts]


def difference_figure(
    rows: pl.DataFrame,
    measure: str,
    facts: Facts,
    place: int,
    names: Mapping[str, str] | None = None,
) -> Figure:
    """Draw differences; with `names`, those of several instruments in a narrow figure."""
    axis = _axis(rows, facts.number("margin"))
    order = pl.col("level").replace_strict({"model": 0, "category": 1}, return_dtype=pl.Int64)
    dots = []
    for row in rows.sort(order, maintain_order=True).iter_rows(named=True):
        # Stereotypes are named by their keys: a comparison has no plan with labels.
        dot = mark_row({**row, "label": target_name(row)}, row["candidate"])
        dot |= {"inner_low": row["pointwise_low"], "inner_high": row["pointwise_high"]}
        dots.append({**dot, "block": (names or {}).get(_measure_name(row), "")})
    caption = (
        f"Differences in {measure}: dot, mean; thin line, interval of all rows together, by which "
        "worse, turned and better are told; broad line, interval of each row alone; band, margin."
    )
    sentences = []
    for row in rows.filter(level="model").iter_rows(named=True):
        value = bracketed(row["estimate"], row["ci_low"], row["ci_high"])
        sentences.append(f"{target_name(row)}, {row['candidate']}: {value}.")
    if names:
        drawing = forest(dots, axis, labels=_LABELS, width=_WIDTH)
    else:
        drawing = forest(dots, axis)
    return Figure(f"difference-{place}", caption, " ".join(sentences), drawing)


def _axis(rows: pl.DataFrame, margin: float | None) -> Axis:
    """Make an axis around 0 that holds the differences, and the margin at half its length."""
    ends = rows.select(pl.max_horizontal(pl.col("estimate", "ci_low", "ci_high").abs())).max()
    span = max(float(ends.item() or 0.0), 2.0 * (margin or 0.0))
    reach = next(end for end in (0.1, 0.2, 0.3, 0.5, 1.0, 2.0) if span <= end or end == 2.0)
    return Axis("Candidate − baseline", -reach, reach, 0.0, margin)


_CANDIDATE = TableColumn("Candidate", ROW, candidate_name, "text", same="in caption")
_MEASURE = TableColumn("Measured with", ROW, _measure_name, "text", same="in caption")
_DIFFERENCE = (
    TableColumn("Difference", "estimate", signed),
    TableColumn("95% interval, of all", "ci_low ci_high", interval),
    "pointwise",
)
_DIFFERENCES = TableSpec(
    "Difference of the means, candidate − baseline.",
    (
        TableColumn("About", ROW, target_name, "head"),
        _CANDIDATE,
        _MEASURE,
        TableColumn("Baseline", "baseline_estimate", number),
        TableColumn("Candidate's", "candidate_estimate", number),
        *_DIFFERENCE,
        "p_bonferroni",
        VERDICT,
    ),
)
_CHANGES = TableSpec(
    "{which}",
    (
        TableColumn("Stereotype", ROW, target_name, "head"),
        _CANDIDATE,
        _MEASURE,
        TableColumn("Baseline by itself", "baseline_verdict", verdict, "text"),
        TableColumn("Candidate by itself", "candidate_verdict", verdict, "text"),
        *_DIFFERENCE,
        VERDICT,
    ),
)
_CHANGED = "Stereotypes that are worse, turned or better, or whose own verdict is another."


def _change_section(differences: pl.DataFrame, by_itself: pl.DataFrame) -> Section | None:
    """Show each stereotype with the verdict of each run by itself, those that changed first.

    `by_itself`: the estimates of the runs, each by itself.
    """
    stereotypes = differences.filter(level="stereotype")
    if stereotypes.is_empty():
        return None
    rows = _add_verdicts(stereotypes, by_itself)
    differs = pl.col("verdict").is_in([WORSE, TURNED, BETTER])
    flips = pl.col("baseline_verdict").ne_missing(pl.col("candidate_verdict"))
    # What is true sorts last, so both are turned around.
    rows = rows.sort(~differs, ~flips, pl.col("estimate") * -1.0, maintain_order=True)
    tables = [("Every stereotype", _CHANGES.render(rows, which="Differences per stereotype."))]
    changes = rows.filter(differs | flips)
    if not changes.is_empty():
        tables.insert(0, ("", _CHANGES.render(changes, which=_CHANGED)))
    text = Paragraphs("changed")
    return Section("changed", "What changed", text=text, tables=tuple(tables), open=True)


def _add_verdicts(rows: pl.DataFrame, by_itself: pl.DataFrame) -> pl.DataFrame:
    """Add to differences the verdict of each of both runs by itself."""
    keys = ["study", "instrument", "mode", *CONDITIONS, "word_list", "scoring", "dimension"]
    keys += ["level", "category", "stereotype"]
    for side in ("baseline", "candidate"):
        verdicts = by_itself.select(
            *keys, pl.col("model").alias(side), pl.col("verdict").alias(f"{side}_verdict")
        )
        rows = rows.join(verdicts, on=[*keys, side], how="left", nulls_equal=True)
    return rows


def _subject(row: Mapping[str, Any]) -> str:
    """Name what an estimate is about: each family has columns of its own for that."""
    names = ("stereotype", "identity", "targets", "words", "dimension", "first", "second")
    return ", ".join(dict.fromkeys(str(row[name]) for name in names if row[name]))


_FAMILY_DIFFERENCES = TableSpec(
    "The 40 with the smallest p, unadjusted.",
    (
        TableColumn("Measure", "measure", lambda name: name.replace("_", " "), "head"),
        TableColumn("About", ROW, _subject, "text"),
        "layer",
        _CANDIDATE,
        TableColumn("Difference", "estimate", signed),
        TableColumn("95% interval", "ci_low ci_high", interval),
        "p",
    ),
)


def _family_section(estimates: pl.DataFrame) -> Section | None:
    """List differences of networks and hidden states, the largest first."""
    rows = estimates.filter(matched_by="estimate").drop_nulls("p").sort("p", maintain_order=True)
    if rows.is_empty():
        return None

    table = _FAMILY_DIFFERENCES.render(rows.head(40))
    text = (
        f"{rows.height:,} estimates that both have. The runs are taken as independent, which is "
        "conservative where they share words; p is not adjusted.",
    )
    return Section("others", "Networks and hidden states", text=text, tables=(("Table", table),))


def _answer_section(pairs: pl.DataFrame) -> Section | None:
    """Show answers to the same trial, of stereotypes that changed."""
    if pairs.is_empty():
        return None
    groups = pairs.group_by("candidate", "stereotype", "instrument", maintain_order=True)
    examples = []
    for (candidate, stereotype, instrument), part in groups:
        exchanges = tuple(map(_exchange, part.iter_rows(named=True)))
        examples.append((f"{stereotype} ({instrument}), {candidate}", exchanges))
    return Section(
        key="answers",
        title="Answers behind the changes",
        text=("Of each stereotype that changed, the trials whose answers moved most.",),
        examples=tuple(examples),
    )


def _exchange(row: Mapping[str, Any]) -> Exchange:
    def quote(label: str, text: str | None) -> Quote:
        """Quote a text, cut."""
        return Quote.from_text(label, (text or "")[:LONGEST])

    quotes = (
        quote("Prompt", row["prompt"]),
        quote(f"{row['baseline']}: {number(row['baseline_score'])}", row["baseline_response"]),
        quote(f"{row['candidate']}: {number(row['candidate_score'])}", row["candidate_response"]),
    )
    words = " / ".join(row[name] for name in ("marginalized", "default") if row[name])
    return Exchange(f"{row['variation']}, {words}, {row['trial_id']}", quotes)


_PUBLISHED = TableSpec(
    "Word association, mean over all stereotypes.",
    (
        head("name", "Model"),
        TableColumn("Source", "whose"),
        TableColumn("Mean score", "mean", number),
    ),
)


def _published_section(differences: pl.DataFrame) -> Section | None:
    """Set the means of both runs beside those of the papers' models."""
    rows = differences.filter(
        level="model", study="bai2025", instrument="word_association", intervention="none"
    )
    if rows.is_empty():
        return None
    source = load_published("bai2025").filter(table="S6", level="model")
    published = source.select(name="model", mean="mean", whose=pl.lit("Bai et al. (2025)"))
    # Every row has the same baseline; its mean stands once.
    baseline = rows.head(1).select(
        name="baseline", mean="baseline_estimate", whose=pl.lit("baseline")
    )
    candidates = rows.select(name="candidate", mean="candidate_estimate", whose=pl.lit("candidate"))
    means = pl.concat([baseline, candidates, published])
    table = _PUBLISHED.render(means.sort("mean", descending=True))
    text = (
        "Means of eight models as published (replication, SI Table S6), from free text in spring "
        "2024: context, not a yardstick.",
    )
    return Section("published", "Beside the papers' models", text=text, tables=(("", table),))
