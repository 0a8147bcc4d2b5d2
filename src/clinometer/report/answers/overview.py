"""The first figure of a page: what leans, in these prompts and in others, on one scale."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

import polars as pl

from clinometer.pieces.drawing.charts import Axis, Row, labels_width
from clinometer.pieces.drawing.figures import Figure, mark_row
from clinometer.pieces.drawing.intervals import forest
from clinometer.pieces.findings import ALL
from clinometer.pieces.prose import OPEN_WORDS, capital, category_title, cut, headline_kind
from clinometer.pieces.views import InstrumentResults

#: Instruments whose stereotypes are drawn side by side, and rows of a drawing; with more, means.
MOST_PANELS, MOST_ROWS = 3, 45

#: Characters of the label of a mark.
_MARK_LABEL = 40

#: Least width of the labels, and that of the figure with its labels, in pixels: half a page, where
#: letters keep their size.
_LABELS, _WIDTH = 110, 510

#: Height of a row of a stereotype, in pixels: all are to be seen at once.
_STEP = 15

#: Room between two panels, in pixels.
_SPACING = 18

#: Marks a stereotype of which other words are open.
_OPEN = "△"

_LINES = "Thick line: interval in these prompts; thin line: in other prompts."

#: What stands at the ends and the neutral value of the scale, in lines, and what it means.
_DIRECTED = ("always|against", "as often|as not", "always as|it says")
_DIRECTED_TEXT = "from always against the stereotype to always as it says"
_UNDIRECTED = ("least", "neutral", "most")
_UNDIRECTED_TEXT = "as shares of the way from neutral to the ends of the scale"


def overview_figure(instruments: Mapping[str, InstrumentResults]) -> Figure | None:
    """Draw what leans as shares of the way from neutral to the end of the scale.

    Of one model and mode each stereotype is a row, and each instrument that works a column; of
    several, or of more than fit a page, the means of categories or over all are drawn.

    Parameters
    ----------
    instruments
        Name in running text → results, in the order of the table beside the figure.

    Returns
    -------
    Figure or None
        None where no instrument works, or nothing was estimated.
    """
    several_runs = any(results.several_runs for results in instruments.values())
    if not several_runs and (figure := _stereotype_figure(instruments)):
        return figure
    return _mean_figure(instruments, several_runs=several_runs)


def _stereotype_figure(instruments: Mapping[str, InstrumentResults]) -> Figure | None:
    """Draw each stereotype below the mean of its category; None where there are too many."""
    frames = {
        capital(name): pl.concat(
            [results.by_model, results.levels["category"], results.headline], how="diagonal"
        ).drop_nulls("share")
        for name, results in instruments.items()
        if results.works_somewhere and not results.by_stereotype["explicit"].any()
    }
    frames = {name: frame for name, frame in frames.items() if frame.height}
    if not 0 < len(frames) <= MOST_PANELS:
        return None
    order = _in_order(pl.concat(frames.values(), how="diagonal"))
    if len(order) > MOST_ROWS or any(
        frame.select(_KEYS).is_duplicated().any() for frame in frames.values()
    ):
        return None
    rows = []
    for name, frame in frames.items():
        marks = {tuple(row[key] for key in _KEYS): row for row in frame.iter_rows(named=True)}
        rows += [_stereotype_mark(marks[key], name) for key in order if key in marks]
    caption = (
        f"Each stereotype, below the mean of its category, {_scale_text(instruments)}. {_LINES}"
    )
    if any(row["label"].endswith(_OPEN) for row in rows):
        caption += f" {_OPEN}: with the words asked, as with one word for a group; others may not."
    labels = labels_width(rows, _LABELS)
    width = (_WIDTH - labels - _SPACING * (len(frames) - 1)) // len(frames)
    return Figure(
        "summary",
        caption,
        _in_words(rows),
        forest(rows, _axis(instruments), labels=labels, width=width, step=_STEP),
    )


_KEYS = ("category", "stereotype")


def _in_order(marks: pl.DataFrame) -> list[tuple[str | None, ...]]:
    """Return category and stereotype of each row: means first, then by how far they lean."""
    categories = marks["category"].unique(maintain_order=True).to_list()
    rows = marks.group_by(_KEYS, maintain_order=True).agg(pl.col("share").mean())

    def place(row: tuple[str | None, str | None, float]) -> tuple[int, bool, float]:
        """Sort by category, the mean of it first, then by share."""
        category, stereotype, share = row
        return categories.index(category), stereotype is not None, -share

    return [row[:-1] for row in sorted(rows.rows(), key=place)]


def _stereotype_mark(row: Row, panel: str) -> Row:
    """Return the mark of a stereotype, or of the mean of a category or of all."""
    title = category_title(row["category"]) if row["category"] else ALL
    label = row["about"] if row["stereotype"] else "mean"
    if row["stereotype"] and headline_kind(row) == OPEN_WORDS:
        label = f"{label} {_OPEN}"
    return {**_on_scale(row), "label": cut(label, _MARK_LABEL), "block": title, "panel": panel}


def _mean_figure(
    instruments: Mapping[str, InstrumentResults], *, several_runs: bool
) -> Figure | None:
    """Draw the means of categories or, of several runs, over all stereotypes."""
    label_rows = _run_labels if several_runs else _category_labels
    rows = [
        {**_on_scale(row), "label": cut(label, _MARK_LABEL), "block": capital(name)}
        for name, results in instruments.items()
        for row, label in label_rows(results)
        if results.works((row["model"], row["control_mode"]))
    ]
    if not rows:
        return None
    labels = labels_width(rows, _LABELS)
    return Figure(
        "summary",
        f"Means, {_scale_text(instruments)}. {_LINES}",
        _in_words(rows),
        forest(rows, _axis(instruments), labels=labels, width=_WIDTH - labels),
    )


def _axis(instruments: Mapping[str, InstrumentResults]) -> Axis:
    """Make the axis that all instruments share, with its ends in words."""
    ends = _DIRECTED if _directed(instruments) else _UNDIRECTED
    return Axis("", -1.0, 1.0, 0.0, labels=dict(zip((-1.0, 0.0, 1.0), ends, strict=True)))


def _scale_text(instruments: Mapping[str, InstrumentResults]) -> str:
    return _DIRECTED_TEXT if _directed(instruments) else _UNDIRECTED_TEXT


def _directed(instruments: Mapping[str, InstrumentResults]) -> bool:
    return any(results.measure.directed for results in instruments.values())


def _in_words(rows: list[Row]) -> str:
    """Say the drawn means."""
    has_panels = len({row["panel"] for row in rows}) > 1
    places = [*(["panel"] if has_panels else []), "block", "label"]
    return "; ".join(f"{', '.join(row[name] for name in places)}: {row['shown']}" for row in rows)


def _category_labels(results: InstrumentResults) -> Iterator[tuple[Row, str]]:
    """Yield the mean over all of one instrument, and that of each category, with its label."""
    frame = pl.concat([results.by_model, results.levels["category"]])
    for row in frame.drop_nulls("estimate").iter_rows(named=True):
        yield row, category_title(row["category"]) if row["category"] else "All"


def _run_labels(results: InstrumentResults) -> Iterator[tuple[Row, str]]:
    """Yield the mean over all stereotypes of each model and mode of one instrument."""
    models = results.short_names
    several_modes = results.by_model["mode"].n_unique() > 1
    for row in results.by_model.drop_nulls("estimate").iter_rows(named=True):
        model = models[row["model"] or ""] if len(models) > 1 else ""
        mode = row["mode"] if several_modes else ""
        yield row, " · ".join(filter(None, (model, mode)))


def _on_scale(row: Row) -> Row:
    """Return what a chart needs of a mean, on the scale that all instruments share."""
    drawn = {
        "mean": row["share"],
        **{end: row[f"share_{end}"] for end in ("low", "high")},
        **{f"inner_{end}": row[f"share_{end}_bounded"] for end in ("low", "high")},
    }
    # What has no share is left out.
    names = ("bound_low", "bound_high", "bounds", "placebo_low", "placebo_high", "placebo")
    left_out = dict.fromkeys(names)
    return {**mark_row(row, "all"), **drawn, **left_out}
