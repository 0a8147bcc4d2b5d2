"""What each instrument shows of each category, in one table of marks."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from typing import Any

import polars as pl

from clinometer.report.answers.results import InstrumentResults
from clinometer.report.answers.validity import Judged, judged
from clinometer.report.prose import capital, category_title, cut, number, short_names, verdict_kind
from clinometer.report.tables import ReportTable, TableCell

__all__ = ["in_lines", "overview"]

#: Kind of a verdict → its mark, in words that need no explanation.
_MARKS = {
    "consistent": "▲ leans",
    "reversed": "▼ against",
    "equivalent": "■ near neutral",
    "inconclusive": "○ open",
    "no verdict": "– no verdict",
}

#: What the controls say → mark and style.
_CONTROLS = {
    "valid": ("✓ passed", "equivalent"),
    "not valid": ("✗ failed", "consistent"),
    "partly tested": ("○ not known", ""),
    "not tested": ("○ not asked", ""),
}

_CAPTION = (
    "Means by category. ▲ leans as the stereotype says, ▼ against it; ■ near neutral; ○ open: too "
    "few answers to tell which. Neutral: {}."
)

_CONTROLS_ROW, _INVALID = "Controls", "✗ not valid"

#: Characters of the name of a row.
_NAME = 32


def overview(each: Mapping[str, InstrumentResults]) -> ReportTable:
    """Set out the means of all and of each category, an instrument a column, controls on top.

    Of several models or modes each has a row, with the mean of all. `each`: name → what was asked.
    """
    found = {name: judged(asked) for name, asked in each.items()}
    rows = [*_rows(each, found)]
    neutral = {f"{asked.measure.neutral or 0.0:g}" for asked in each.values()}
    if len(neutral) > 1:
        by = (f"{name} {asked.measure.neutral or 0.0:g}" for name, asked in each.items())
        neutral = {", ".join(by)}
    first = "Category" if rows[0][0].text == _CONTROLS_ROW else "Model"
    caption = _CAPTION.format(*neutral)
    if any(asked.whole["dimension"].drop_nulls().len() for asked in each.values()):
        caption += " Of several dimensions: how many."
    return ReportTable(caption, tuple(map(TableCell, (first, *map(capital, each)))), tuple(rows))


def in_lines(each: Mapping[str, InstrumentResults], most: int = 3) -> tuple[str, ...]:
    """Say the same of the means of all, a line an instrument or, of several runs, a run.

    `most`: lines; of more, the last says how many are left out.
    """
    head, *rows = overview(each).rows
    names = list(map(capital, each))
    if head[0].text == _CONTROLS_ROW:
        failed = _CONTROLS["not valid"][0]
        cells = (
            _INVALID if control.text == failed else mark.text
            for control, mark in zip(head[1:], rows[0][1:], strict=True)
        )
        lines = [f"{name}: {text}" for name, text in zip(names, cells, strict=True) if text]
    else:
        lines = [
            f"{run[0].text}: "
            + "; ".join(f"{n} {c.text}" for n, c in zip(names, run[1:], strict=True) if c.text)
            for run in (head, *rows)
        ]
    left = len(lines) - most
    return (*lines[:most], *([f"and {left} more"] if left > 0 else []))


def _rows(
    each: Mapping[str, InstrumentResults], found: Mapping[str, Mapping[Any, Judged]]
) -> Iterator[tuple[TableCell, ...]]:
    runs = list(dict.fromkeys(run for one in found.values() for run in one))
    if len(runs) > 1:
        names = short_names(list(dict.fromkeys(model or "" for model, _ in runs)))
        several = len({mode for _, mode in runs}) > 1
        for model, mode in runs:
            name = " · ".join(filter(None, (names[model or ""], mode if several else "")))
            cells = (_of_run(each[one], found[one].get((model, mode)), model, mode) for one in each)
            yield (TableCell(cut(name, _NAME), head=True), *cells)
        return
    yield (TableCell(_CONTROLS_ROW, head=True), *(_control(found[name]) for name in each))
    yield (TableCell("All", head=True), *(_mark(asked.whole) for asked in each.values()))
    levels = [asked.levels["category"] for asked in each.values()]
    for category in dict.fromkeys(key for frame in levels for key in frame["category"]):
        cells = (_mark(frame.filter(pl.col("category").eq_missing(category))) for frame in levels)
        yield (TableCell(cut(category_title(category), _NAME), head=True), *cells)


def _of_run(
    asked: InstrumentResults, found: Judged | None, model: str | None, mode: str
) -> TableCell:
    """Mark the mean of all of one model and mode, or that the instrument is not valid there."""
    if found is None:
        return TableCell("")
    if found.verdict == "not valid":
        return TableCell(_INVALID, "verdict")
    same = pl.col("model").eq_missing(pl.lit(model)), pl.col("control_mode") == mode
    return _mark(asked.whole.filter(*same))


def _control(found: Mapping[Any, Judged]) -> TableCell:
    (one,) = found.values() or [None]
    if one is None:
        return TableCell("")
    text, style = _CONTROLS[one.verdict]
    return TableCell(text, f"verdict {style}".strip())


def _mark(rows: pl.DataFrame) -> TableCell:
    """Mark one mean, with its number; of several dimensions, say how many have each mark."""
    found = rows.drop_nulls("estimate")
    kinds = [verdict_kind(verdict) for verdict in found["verdict"]]
    if not kinds:
        return TableCell("")
    style = f"verdict {kinds[0]}" if len({*kinds}) == 1 else "verdict"
    if not kinds[1:]:
        return TableCell(f"{_MARKS.get(kinds[0], kinds[0])} {number(found['estimate'][0])}", style)
    counted = (f"{_MARKS.get(kind, kind)[0]} {n}" for kind, n in Counter(kinds).items())
    return TableCell(" ".join(counted), style)
