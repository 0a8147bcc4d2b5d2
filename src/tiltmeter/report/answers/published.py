"""Published values beside this run: context, not a yardstick."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import polars as pl

from tiltmeter.errors import InputError
from tiltmeter.reference import load_published
from tiltmeter.report.answers.attributions import GROUPS
from tiltmeter.report.drawing.charts import LABELS, Axis, Row
from tiltmeter.report.drawing.comparison import beside, model_table, published_table, ticked
from tiltmeter.report.drawing.figures import Figure, drawn, per_mode
from tiltmeter.report.drawing.intervals import range_text
from tiltmeter.report.plan import Plan
from tiltmeter.report.prose import interval, number, scale
from tiltmeter.report.sections import Section
from tiltmeter.report.tables import Column, Table, count, render_table
from tiltmeter.results import Measure

__all__ = ["published_section"]

_CONTEXT = (
    "Their numbers are context, not a yardstick: {apart} Differences from this run are therefore "
    "not effects of the model alone."
)


@dataclass(frozen=True)
class Source:
    """Where published values stand, and what sets them apart from these."""

    table: str  # in the file
    printed: str  # where the source prints it
    who: str  # tested what, when
    apart: str

    @property
    def intro(self) -> str:
        """Say whose numbers these are, and what they are not."""
        return f"{self.who} {_CONTEXT.format(apart=self.apart)}"


_BAI = "Bai et al. (2025) tested eight models in spring 2024."
_MIST = "Li et al. (2025) tested eight models."
_SOURCES = {
    ("bai2025", "word_association"): Source(
        "S6",
        "replication, SI Table S6",
        _BAI,
        "they come from free text at another time, score a refused or unreadable answer as 0, and "
        "their intervals treat answers as independent.",
    ),
    ("bai2025", "relative_decision"): Source(
        "S11",
        "replication, SI Table S11",
        _BAI,
        "they come from free text at another time, were coded by the authors and leave out "
        "refused answers, and their intervals treat answers as independent.",
    ),
    ("mist2025", "word_association"): Source(
        "1",
        "Table 1",
        _MIST,
        "they come from free text at another time, pool ten pairings of groups and three "
        "wordings, and rest on the answers that were valid, for some models a few in a hundred "
        "of the 1,500 asked per dimension; their tests treat answers as independent.",
    ),
    ("mist2025", "affective_attribution"): Source(
        "2",
        "Table 2",
        _MIST,
        "they come from free text at another time, name comedy first throughout, do not say how "
        "many answers they rest on, and have neither intervals nor a test of the difference "
        "between the groups.",
    ),
}

#: Up to this many rows the text says the range of each.
MOST_SENTENCES = 6
#: The shares of Table 2 of MIST, and which of the rates they are.
_SHARES = ("comedy_share", "tragedy_share", "neutral_share")
_RATES = {("comedy_share", "default"): " (FAR)", ("tragedy_share", "marginalized"): " (UAR)"}


@dataclass(frozen=True)
class _Match:
    """The rows of this run and the published ones, under the same labels."""

    ours: pl.DataFrame  # label, model, mode, category, stereotype, mean, …
    theirs: pl.DataFrame  # label, model, mean, note, …
    axis: Axis
    scale: str
    notes: tuple[str, ...]
    per_stereotype: bool = False
    labels: int = LABELS


def published_section(
    study: str,
    each: pl.DataFrame,
    whole: pl.DataFrame,
    attributions: pl.DataFrame,
    plan: Plan,
    measure: Measure,
) -> Section | None:
    """Set published values beside these, for a study and instrument that have any.

    `each` and `whole`: estimates per stereotype, and over all of them.
    `attributions`: rows of ATTRIBUTIONS of the study.
    None where nothing was published on what was asked here.
    """
    source = _SOURCES.get((study, measure.name))
    if source is None:
        return None
    try:
        theirs = load_published(study, measure.name).filter(table=source.table)
    except InputError:
        return None
    if "comedy_share" in theirs.columns:
        match = _shares(attributions.filter(level="model"), theirs)
    elif "dimension" in theirs.columns:
        match = _dimensions(whole, theirs, plan, measure)
    else:
        match = _stereotypes(each, theirs.filter(level="cell"), plan, measure)
    if match.ours.is_empty() or match.theirs.is_empty():
        return None
    return Section(
        key="published",
        title="Beside the published models",
        short="Published models",
        text=(source.intro,),
        figures=tuple(_figures(match, source, plan)),
        tables=_tables(match, source, plan),
        notes=("Doubtful in the source, shown as printed", match.notes),
    )


def _stereotypes(each: pl.DataFrame, theirs: pl.DataFrame, plan: Plan, measure: Measure) -> _Match:
    """Match the published means of stereotypes, which the source names by label."""
    ours = each.with_columns(label=pl.col("stereotype").map_elements(plan.label, pl.String))
    theirs = theirs.rename({"stereotype": "label"}).filter(
        pl.col("label").is_in(list(ours["label"]))
    )
    noted = theirs.drop_nulls("note").select("label", "model", "raw", "note")
    notes = (f"{label}, {who}: printed “{raw}”; {note}." for label, who, raw, note in noted.rows())
    return _Match(ours, theirs, Axis.of(measure), scale(measure), tuple(notes), per_stereotype=True)


def _dimensions(whole: pl.DataFrame, theirs: pl.DataFrame, plan: Plan, measure: Measure) -> _Match:
    """Match the published means over all stereotypes of each dimension."""
    label = pl.col("dimension").map_elements(plan.dimension, pl.String)
    ours = whole.drop_nulls("dimension").with_columns(label=label, mode="control_mode")
    theirs = theirs.filter(pl.col("dimension").is_in(list(ours["dimension"]))).with_columns(
        label=label
    )
    noted = theirs.drop_nulls("note").select("model", "label", "note")
    notes = tuple(f"{who}, {label}: {note}." for who, label, note in noted.rows())
    return _Match(ours, theirs, Axis.of(measure), scale(measure), notes)


def _shares(attributions: pl.DataFrame, theirs: pl.DataFrame) -> _Match:
    """Match the published shares of comedy, tragedy and neutral for either group."""
    ours = attributions.with_columns(n_scored="n_read")
    noted = theirs.drop_nulls("note").select("model", "group", "note")
    notes = tuple(f"{who}, {group} groups: {note}." for who, group, note in noted.rows())
    printed = _each_share(theirs.rename({"group": "version"})).rename({"estimate": "mean"})
    says = "Shares of the answers read, 0 to 1; there is no neutral value."
    axis = Axis("Share of the answers read", 0, 1, None)
    return _Match(_each_share(ours), printed, axis, says, notes, labels=LABELS + 35)


def _each_share(frame: pl.DataFrame) -> pl.DataFrame:
    """Give a row per share and group, labelled."""
    return pl.concat(
        frame.filter(version=group).with_columns(
            estimate=pl.col(share),
            label=pl.lit(
                f"{share.removesuffix('_share').capitalize()}, {group}"
                f"{_RATES.get((share, group), '')}"
            ),
        )
        for share in _SHARES
        for group in reversed(GROUPS)
    )


def _figures(match: _Match, source: Source, plan: Plan) -> list[Figure]:
    caption = (
        f"Ticks: the eight published models ({source.printed}). Diamonds: this run. {match.scale}"
    )
    theirs = [_tick(row) for row in match.theirs.iter_rows(named=True)]

    def draw(rows: list[Row], panels: list[str]) -> Row:
        return ticked(beside(rows, theirs, panels), match.axis, panels, match.labels)

    def summarise(rows: list[Row]) -> str:
        return f"{range_text(rows)} {_range(theirs)}"

    if match.per_stereotype:
        return per_mode("published", caption, match.ours, draw, plan, summarise)
    # There are but a few rows: all models of a mode share a column.
    rows = [drawn(row, plan, row["mode"]) for row in match.ours.iter_rows(named=True)]
    panels = list(dict.fromkeys(row["panel"] for row in rows))
    by_model = [{**row, "variation": row["model"]} for row in rows]
    return [Figure("published", caption, summarise(by_model), draw(rows, panels))]


def _range(theirs: Sequence[Row]) -> str:
    """Say from where to where the published means of each label reach, or of all of many."""
    means: dict[str, list[float]] = {}
    labels = {row["label"] for row in theirs}
    for row in theirs:
        if row["mean"] is not None:
            of = row["label"] if len(labels) <= MOST_SENTENCES else "all stereotypes"
            means.setdefault(of, []).append(row["mean"])
    ranges = [f"{of} {number(min(each))} to {number(max(each))}" for of, each in means.items()]
    return f"Published: {'; '.join(ranges)}."


def _tick(row: Mapping[str, Any]) -> Row:
    known = row.get("ci_low") is not None
    return {
        "label": row["label"],
        "who": row["model"],
        "mean": row["mean"],
        "shown": number(row["mean"], 3),
        "interval": interval(row["ci_low"], row["ci_high"], 3) if known else None,
        "answers": f"{row['n']} valid" if row.get("n") is not None else None,
        "note": row["note"],
    }


def _tables(match: _Match, source: Source, plan: Plan) -> tuple[tuple[str, Table], ...]:
    marks = "† doubtful in the source, see the notes; – not printed."
    columns = ("sd", "t", "p")
    if match.per_stereotype:
        asked = match.ours.select(pl.format("{}, {}", "model", "mode")).unique(maintain_order=True)
        caption = (
            f"Published means ({source.printed}) beside this run ({'; '.join(asked.to_series())}). "
            f"{marks}"
        )
        table = published_table(match.theirs, _texts(match.ours), "Stereotype", caption)
        return (("Table of published means", table),)
    caption = f"Published values ({source.printed}) beside this run. {marks}"
    tables = [("Table of published values", model_table(match.theirs, match.ours, caption))]
    if all(name in match.theirs.columns for name in columns):
        tables.append(("Published table in full", _printed(match.theirs, source)))
    return tuple(tables)


def _texts(ours: pl.DataFrame) -> dict[str, str]:
    """Give the means of each label as one text."""
    text = pl.col("estimate").map_elements(number, pl.String, skip_nulls=False)
    means = ours.select("label", text=text).group_by("label", maintain_order=True)
    return dict(means.agg(pl.col("text").str.join("; ")).iter_rows())


def _printed(theirs: pl.DataFrame, source: Source) -> Table:
    return render_table(
        theirs,
        f"{source.printed} as printed: n valid answers of 1,500, population SD, naive t test. "
        "† doubtful, see the notes.",
        [
            Column("Dimension", lambda r: r["label"], "head"),
            Column("Model", lambda r: r["model"] + "†" * bool(r["note"]), "head"),
            Column("n", lambda r: count(r["n"])),
            Column("Mean", lambda r: number(r["mean"], 3)),
            Column("SD", lambda r: number(r["sd"], 3)),
            Column("t", lambda r: number(r["t"], 3)),
            Column("p", lambda r: r["p"] or "–"),
        ],
    )
