"""What the families of the report have in common.

Every text of a results directory is untrusted: names and words are shown with their invisible
characters visible and cut to a length that a page can hold.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable
from dataclasses import replace
from pathlib import Path

import polars as pl

from tiltmeter.report.drawing.figures import Figure
from tiltmeter.report.prose import interval, number
from tiltmeter.results import ESTIMATES
from tiltmeter.results.directory import TABLES, read_detail, read_estimates

__all__ = ["ALPHA", "bracketed", "first_drawn", "joined", "named", "read_family",
           "with_shown_texts"]  # fmt: skip

#: A result with a larger p is not significant.
ALPHA = 0.05


def read_family(
    directory: Path, family: str
) -> tuple[pl.DataFrame, dict[str, pl.DataFrame]] | None:
    """Read the estimates of a family and, by name, its detail tables; None where there are none.

    Raises InputError if a table is malformed.
    """
    names = [name for name, table in TABLES.items() if table.family == family]
    details = {name: read_detail(directory, name) for name in names}
    estimates = pl.DataFrame(schema=ESTIMATES)
    if (directory / "estimates.parquet").is_file():
        estimates = read_estimates(directory).filter(family=family)
    if estimates.is_empty() and not any(
        (directory / f"{name}.parquet").is_file() for name in names
    ):
        return None
    return estimates, details


def joined(rows: pl.DataFrame, others: pl.DataFrame, *keys: str) -> pl.DataFrame:
    """Add what others say to the rows of the same keys, by default the columns that both have."""
    on = keys or [name for name in others.columns if name in rows.columns]
    return rows.join(others, on=on, how="left", nulls_equal=True, maintain_order="left")


def with_shown_texts(
    frame: pl.DataFrame, shown: Callable[[str, str], str], nullable: Collection[str]
) -> pl.DataFrame:
    """Replace every text by the one that is shown.

    `shown`: column and text → the text shown.
    `nullable`: columns in which null says something; it becomes the empty text in the others.
    """
    changed = []
    for column in (name for name, kind in frame.schema.items() if kind == pl.String):
        texts = frame[column] if column in nullable else frame[column].fill_null("")
        each = {text: shown(column, text) for text in texts.unique().drop_nulls()}
        changed.append(texts.replace_strict(each, default=None, return_dtype=pl.String))
    return frame.with_columns(changed)


def named(name: str, figures: Iterable[Figure | None]) -> tuple[Figure, ...]:
    """Name figures, with a number where there are several; None holds the place of one."""
    every = list(figures)
    names = (f"{name}-{place}" if every[1:] else name for place in range(1, len(every) + 1))
    return tuple(
        replace(figure, name=its) for figure, its in zip(every, names, strict=True) if figure
    )


def first_drawn(most: int, count: int, what: str) -> str:
    """State that only the first few are drawn; empty where all are."""
    return f" Only the first {most} of {count} {what} are drawn." if count > most else ""


def bracketed(value: float, low: float | None, high: float | None) -> str:
    """Write a number, with its interval in brackets where there is one."""
    known = low is not None and high is not None
    return f"{number(value)} [{interval(low, high)}]" if known else number(value)
