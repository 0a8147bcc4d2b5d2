"""The tables of a results directory: one file ``<name>.parquet`` each.

``estimates.parquet`` has the estimates of every family; the other tables have the details.
``responses.parquet`` and ``scores.parquet`` have the answers and their scores.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import polars as pl

from clinometer.errors import InputError, unknown
from clinometer.families import families
from clinometer.results import schemas
from clinometer.results.columns import Schema, check, may_lack
from clinometer.results.estimates import ESTIMATES
from clinometer.results.locks import writing
from clinometer.results.places import anywhere
from clinometer.results.records import read_plan
from clinometer.results.schemas import Table
from clinometer.results.tables import read_table, write_table

__all__ = [
    "TABLES",
    "Results",
    "read_detail",
    "read_estimates",
    "read_results",
    "write_results",
]


_A, _C = "answers", "comparison"

#: Every table of a results directory, those of all families included.
TABLES: dict[str, Table] = {
    "estimates": Table("", ESTIMATES, "a row per subject, measure, level, factors and method"),
    "responses": Table(_A, schemas.RESPONSES, "a row per model and trial: prompt and answer"),
    "progress": Table(_A, schemas.PROGRESS, "a row per model: how much of the plan has an answer"),
    "scores": Table(_A, schemas.SCORES, "a row per response and score"),
    "words": Table(_A, schemas.WORDS, "a row per attribute word and pair of group words"),
    "items": Table(_A, schemas.ITEMS, "a row per stereotype and attribute word: its contribution"),
    "compliance": Table(_A, schemas.COMPLIANCE, "a row per wording, group pair, order, version"),
    "orders": Table(_A, schemas.ORDERS, "a row per level: effect of the order of the groups"),
    "matches": Table(_A, schemas.MATCHES, "a row per level and comparison: matched trials"),
    "fits": Table(_A, schemas.FITS, "a row per regression: the fit behind a coefficient"),
    "chained": Table(_A, schemas.CHAINED, "a row per chained answer with both scores"),
    "yes_shares": Table(_A, schemas.YES_SHARES, "a row per stereotype and version"),
    "attributions": Table(_A, schemas.ATTRIBUTIONS, "a row per level and group of the attribution"),
    **{name: table for family in families().values() for name, table in family.tables().items()},
    "compared": Table(_C, schemas.MATCHES, "a row per level and difference: matched trials"),
    "answer_pairs": Table(_C, schemas.ANSWER_PAIRS, "a row per trial: answers behind a change"),
}


@dataclass(frozen=True, repr=False)
class Results:
    """A results directory: its plan, estimates and detail tables.

    Parameters
    ----------
    directory
        Its path.
    plan
        Content of ``plan.json``; empty if no model was asked.
    estimates
        Columns of `ESTIMATES`.
    """

    directory: Path
    plan: Mapping[str, Any]
    estimates: pl.DataFrame

    def table(self, name: str) -> pl.DataFrame:
        """Read a table of the directory by its name in `TABLES`; an absent table is empty.

        Raises
        ------
        InputError
            If there is no table of that name, or it is malformed.
        """
        if name not in TABLES:
            raise InputError(unknown("table", name, TABLES))
        return self.estimates if name == "estimates" else read_detail(self.directory, name)

    def __repr__(self) -> str:
        """Return the path and a summary of the content."""
        subjects = self.estimates["subject"].drop_nulls().unique(maintain_order=True).to_list()
        shown = ", ".join(subjects[:3]) + (", …" if len(subjects) > 3 else "")
        return f"Results({str(self.directory)!r}: {self.estimates.height:,} estimates of {shown})"


@anywhere(directory=True)
def read_results(directory: str | Path) -> Results:
    """Read a results directory.

    Parameters
    ----------
    directory
        A directory that `audit` or ``clinometer audit`` has written.

    Returns
    -------
    Results

    Raises
    ------
    InputError
        If there is no table of estimates, or it is malformed.
    PlanError
        If the plan is malformed or has another layout.

    Examples
    --------
    >>> read_results("results/clinometer-smollm2-quick").estimates  # doctest: +SKIP
    """
    path = Path(directory)
    plan = path / "plan.json"
    return Results(path, read_plan(plan) if plan.is_file() else {}, read_estimates(path))


def write_results(
    directory: Path, family: str, estimates: pl.DataFrame, details: Mapping[str, pl.DataFrame]
) -> None:
    """Write the tables of one family; tables of other families stay.

    `estimates`, columns of `ESTIMATES`, replace the family's earlier estimates. `details` are
    tables by their names in `TABLES`; a table of the family that is absent or empty is removed.

    Raises InputError if a detail is not a table of the family or is malformed, a table cannot be
    written, or another version wrote the estimates of the other families.
    """
    tables = [name for name, table in TABLES.items() if table.family == family]
    tables = [name for name in tables if name not in ("responses", "scores")]
    for name in details:
        if name not in tables:
            raise InputError(unknown(f"table of {family}", name, tables))
    with writing(directory):
        _write(directory, family, estimates, details, tables)


def _write(
    directory: Path,
    family: str,
    estimates: pl.DataFrame,
    details: Mapping[str, pl.DataFrame],
    tables: Sequence[str],
) -> None:
    """Write the estimates, which other families share, and the tables of one."""
    path = directory / "estimates.parquet"
    others = pl.DataFrame(schema=ESTIMATES)
    if path.is_file():
        others = read_estimates(directory).filter(pl.col("family") != family)
    write_table(pl.concat([estimates, others]), path)
    for name in tables:
        schema = TABLES[name].schema
        frame = check(details.get(name, pl.DataFrame(schema=schema)), schema, name)
        path = directory / f"{name}.parquet"
        if frame.is_empty():
            path.unlink(missing_ok=True)
        else:
            write_table(frame, path)


def read_estimates(directory: Path) -> pl.DataFrame:
    """Read the estimates of a directory.

    Raises InputError if the table is missing, malformed or from an earlier version.
    """
    return _read(directory / "estimates.parquet", ESTIMATES)


def read_detail(directory: Path, name: str) -> pl.DataFrame:
    """Read a detail table; an absent table is empty.

    Raises InputError if the table is malformed.
    """
    path, schema = directory / f"{name}.parquet", TABLES[name].schema
    return _read(path, schema) if path.is_file() else pl.DataFrame(schema=schema)


def _read(path: Path, schema: Schema) -> pl.DataFrame:
    """Read a small table; numbers that are not finite become null."""
    if not path.is_file():
        raise InputError(f"{path}: not found; give a directory that a run has written")
    frame = read_table(path)
    if lacking := [name for name in schema if name not in frame.columns and not may_lack(name)]:
        raise InputError(
            f"{path}: no column {', '.join(lacking[:3])}{', …' if lacking[3:] else ''}; another "
            "version wrote it: measure again in another directory, or read it with that version"
        )
    numbers = pl.selectors.float()
    finite = pl.when(numbers.is_finite()).then(numbers).name.keep()
    return check(frame, schema, str(path)).with_columns(finite)
