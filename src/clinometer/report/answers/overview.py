"""What each instrument shows of each category, in one table of marks and one figure."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterator, Mapping, Sequence

import polars as pl

from clinometer.pieces.drawing.charts import Axis, Row, labels_width
from clinometer.pieces.drawing.figures import Figure, mark_row
from clinometer.pieces.drawing.intervals import forest
from clinometer.pieces.prose import (
    OPEN_WORDS,
    capital,
    category_title,
    cut,
    headline_kind,
    short_names,
)
from clinometer.pieces.tables import ReportTable, TableCell
from clinometer.pieces.validity import Run, Validity, is_run
from clinometer.pieces.views import InstrumentResults

__all__ = ["in_lines", "overview", "overview_figure"]

#: What is marked of a mean near neutral whose stereotypes lean.
_MIXED = "mixed"

#: Kind of a verdict → its mark, in words that need no explanation.
_MARKS = {
    "consistent": "▲ leans",
    "reversed": "▼ against",
    "equivalent": "■ no lean found",
    "inconclusive": "○ unclear",
    "no verdict": "– no verdict",
    OPEN_WORDS: "△ words open",
    _MIXED: "◆ mixed",
}

#: The same of measures without a direction.
_UNDIRECTED_MARKS = _MARKS | {"consistent": "▲ above", "reversed": "▼ below"}

#: What the controls say → mark and style.
_CONTROLS = {
    "valid": ("✓ passed", "equivalent"),
    "valid in part": ("◐ in part", ""),
    "not valid": ("✗ failed", "consistent"),
    "partly tested": ("◐ in part", ""),
    "not known": ("○ not known", ""),
    "not tested": ("○ not asked", ""),
}

_CAPTION = (
    "Means by category, in other prompts. ▲ {}; ■ no lean found; ○ unclear: too few answers to "
    "tell. Neutral: {}."
)

#: Marks that are explained where they occur.
_EXPLAINED = {
    "△": "△ leans with the words asked, as with one word for a group; others may not.",
    "◆": "◆ near neutral, while stereotypes in it lean.",
}

_CONTROLS_ROW, _INVALID = "Controls", "✗ does not work here"
_INVALID_CELL = TableCell(_INVALID, "verdict")

#: Characters of the name of a row, and of the label of a mark.
_NAME, _MARK_LABEL = 32, 40

#: Least width of the labels, and that of the figure with its labels, in pixels: half a page, where
#: letters keep their size.
_LABELS, _WIDTH = 110, 510


def overview(instruments: Mapping[str, InstrumentResults]) -> ReportTable:
    """Set out the means of all and of each category, an instrument a column, controls on top.

    Of several models or modes each has a row, with the mean of all.
    `instruments`: name → results.
    """
    all_runs = [run for results in instruments.values() for run in results.validities]
    runs = list(dict.fromkeys(all_runs))
    if len(runs) > 1:
        head, rows = "Model", [*_run_rows(instruments.values(), runs)]
    else:
        head, rows = "Category", [*_category_rows(instruments.values())]
    directed = any(results.measure.directed for results in instruments.values())
    direction = (
        "leans as the stereotype says, ▼ against it" if directed else "above neutral, ▼ below"
    )
    caption = _CAPTION.format(direction, _neutral_text(instruments))
    marks = {cell.text[:1] for row in rows for cell in row[1:]}
    caption += "".join(f" {text}" for mark, text in _EXPLAINED.items() if mark in marks)
    if any(results.by_model["dimension"].drop_nulls().len() for results in instruments.values()):
        caption += " Of several dimensions: how many."
    heads = tuple(map(TableCell, (head, *map(capital, instruments))))
    return ReportTable(caption, heads, tuple(rows))


def _neutral_text(instruments: Mapping[str, InstrumentResults]) -> str:
    """State the neutral value; where instruments differ in it, that of each."""
    values = {name: f"{r.measure.neutral or 0.0:g}" for name, r in instruments.items()}
    if len(set(values.values())) == 1:
        return next(iter(values.values()))
    return ", ".join(f"{name} {value}" for name, value in values.items())


def in_lines(instruments: Mapping[str, InstrumentResults], most: int = 3) -> tuple[str, ...]:
    """Say the same of the means of all, a line an instrument or, of several runs, a run.

    `most`: lines; of more, the last says how many are left out.
    """
    rows = overview(instruments).rows
    names = list(map(capital, instruments))
    if rows[0][0].text == _CONTROLS_ROW:
        lines = _instrument_lines(names, *rows[:2])
    else:
        lines = [_run_line(names, row) for row in rows]
    rest = len(lines) - most
    return (*lines[:most], *([f"and {rest} more"] if rest > 0 else []))


def _instrument_lines(
    names: Sequence[str], controls: Sequence[TableCell], means: Sequence[TableCell]
) -> list[str]:
    """Say the mean of each instrument, or that it is not valid; of rows whose heads come first."""
    failed = _CONTROLS["not valid"][0]
    lines = []
    for name, control, mean in zip(names, controls[1:], means[1:], strict=True):
        text = _INVALID if control.text == failed else mean.text
        if text:
            lines.append(f"{name}: {text}")
    return lines


def _run_line(names: Sequence[str], row: Sequence[TableCell]) -> str:
    """Say the mean of each instrument of one run, whose name heads the row."""
    cells = zip(names, row[1:], strict=True)
    means = [f"{name} {cell.text}" for name, cell in cells if cell.text]
    return f"{row[0].text}: {'; '.join(means)}"


def _run_rows(
    instruments: Collection[InstrumentResults], runs: Sequence[Run]
) -> Iterator[tuple[TableCell, ...]]:
    """Make a row for each model and mode."""
    names = short_names(list(dict.fromkeys(model or "" for model, _ in runs)))
    several_modes = len({mode for _, mode in runs}) > 1
    for run in runs:
        model, mode = run
        name = " · ".join(filter(None, (names[model or ""], mode if several_modes else "")))
        cells = [_run_cell(results, run) for results in instruments]
        yield (TableCell(cut(name, _NAME), head=True), *cells)


def _category_rows(instruments: Collection[InstrumentResults]) -> Iterator[tuple[TableCell, ...]]:
    """Make a row of controls, one of the means of all, and one for each category."""
    controls = (_control_cell(results.validities) for results in instruments)
    yield (TableCell(_CONTROLS_ROW, head=True), *controls)
    means = (
        _mean_cell(results.by_model) if results.works_somewhere else _INVALID_CELL
        for results in instruments
    )
    yield (TableCell("All", head=True), *means)
    frames = [
        results.levels["category"] if results.works_somewhere else results.by_model.clear()
        for results in instruments
    ]
    for category in dict.fromkeys(key for frame in frames for key in frame["category"]):
        is_category = pl.col("category").eq_missing(category)
        cells = (_mean_cell(frame.filter(is_category)) for frame in frames)
        yield (TableCell(cut(category_title(category), _NAME), head=True), *cells)


def _run_cell(results: InstrumentResults, run: Run) -> TableCell:
    """Mark the mean of all of one model and mode, or that the instrument is not valid there."""
    validity = results.validities.get(run)
    if validity is None:
        return TableCell("")
    if not results.works(run):
        return _INVALID_CELL
    return _mean_cell(results.by_model.filter(is_run(run)))


def _control_cell(validities: Mapping[Run, Validity]) -> TableCell:
    """Say what the controls of the only run say; empty where the instrument was not asked."""
    (validity,) = validities.values() or [None]
    if validity is None:
        return TableCell("")
    text, style = _CONTROLS[validity.verdict]
    return TableCell(text, f"verdict {style}".strip())


def _mean_cell(rows: pl.DataFrame) -> TableCell:
    """Mark one mean, with its number; of several dimensions, say how many have each mark."""
    means = rows.drop_nulls("estimate")
    kinds = [_MIXED if row["mixed"] else headline_kind(row) for row in means.iter_rows(named=True)]
    if not kinds:
        return TableCell("")
    marks = _MARKS if means["directed"].all() else _UNDIRECTED_MARKS
    style = f"verdict {kinds[0]}" if len({*kinds}) == 1 else "verdict"
    if not kinds[1:]:
        return TableCell(f"{marks.get(kinds[0], kinds[0])} {means['shown'][0]}", style)
    counts = (f"{marks.get(kind, kind)[0]} {n}" for kind, n in Counter(kinds).items())
    return TableCell(" ".join(counts), style)


def overview_figure(instruments: Mapping[str, InstrumentResults]) -> Figure | None:
    """Draw all means on one scale: of categories or, of several runs, over all stereotypes."""
    several_runs = any(results.several_runs for results in instruments.values())
    label_rows = _run_labels if several_runs else _category_labels
    rows = [
        _mark(row, label, name)
        for name, results in instruments.items()
        for row, label in label_rows(results)
        if results.works((row["model"], row["control_mode"]))
    ]
    if not rows:
        return None
    title = "share of the scale from neutral"
    if any(results.measure.directed for results in instruments.values()):
        title += "; right: as the stereotype says"
    labels = labels_width(rows, _LABELS)
    summary = "; ".join(f"{row['block']}, {row['label']}: {row['shown']}" for row in rows)
    return Figure(
        "summary",
        "Means as shares of the way from neutral to the end of the scale. Thick line: interval in "
        "these prompts; thin line: in other prompts.",
        summary,
        forest(rows, Axis(title, -1.0, 1.0, 0.0), labels=labels, width=_WIDTH - labels),
    )


def _category_labels(results: InstrumentResults) -> Iterator[tuple[Row, str]]:
    """Yield the mean of each category of one instrument, and that of all, with its label."""
    frame = pl.concat([results.levels["category"], results.by_model])
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


def _mark(row: Row, label: str, name: str) -> Row:
    """Return what a chart needs of a mean, on the scale that all instruments share."""
    ends = ("low", "high", "low_bounded", "high_bounded")
    on_scale = {"estimate": row["share"], **{f"ci_{end}": row[f"share_{end}"] for end in ends}}
    # The worst case is left out: it is not expressed as a share.
    mark = mark_row({**row, **on_scale, "bound_low": None, "bound_high": None}, "all")
    return {**mark, "label": cut(label, _MARK_LABEL), "block": capital(name)}
