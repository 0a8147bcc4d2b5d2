"""The tables of a results directory: one file ``<name>.parquet`` each.

``estimates.parquet`` has the estimates of every family; the other tables have the details.
``responses.parquet`` and ``scores.parquet`` have the answers and their scores.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from html import escape
from pathlib import Path
from typing import Any

import polars as pl

from clinometer.contracts.catalogue import INSTRUMENTS
from clinometer.errors import InputError, unknown
from clinometer.families import families
from clinometer.results import schemas
from clinometer.results.columns import Schema, check, may_lack
from clinometer.results.estimates import ESTIMATES
from clinometer.results.locks import writing
from clinometer.results.parquet import read_parquet, scan_parquet
from clinometer.results.places import anywhere
from clinometer.results.records import read_plan
from clinometer.results.schemas import Table
from clinometer.results.tables import write_table

# Short, so that a table of `_CORE` stays on one line.
_A = "answers"
_C = "comparison"

#: The tables of answers and comparisons that there are whatever was measured.
_CORE = {
    "estimates": Table("", ESTIMATES, "a row per subject, measure, level, factors and method"),
    "responses": Table(_A, schemas.RESPONSES, "a row per model and trial: prompt and answer"),
    "progress": Table(_A, schemas.PROGRESS, "a row per model: how much of the plan has an answer"),
    "scores": Table(_A, schemas.SCORES, "a row per response and score"),
    "words": Table(_A, schemas.WORDS, "a row per attribute word and pair of group words"),
    "items": Table(_A, schemas.ITEMS, "a row per stereotype and attribute word: its contribution"),
    "compliance": Table(_A, schemas.COMPLIANCE, "a row per wording, group pair, order, version"),
    "orders": Table(_A, schemas.ORDERS, "a row per level: effect of the order of the groups"),
    "failures": Table(_A, schemas.FAILURES, "a row per analysis that failed: what is missing, why"),
    "matches": Table(_A, schemas.MATCHES, "a row per level and comparison: matched trials"),
    "compared": Table(_C, schemas.MATCHES, "a row per level and difference: matched trials"),
    "answer_pairs": Table(_C, schemas.ANSWER_PAIRS, "a row per trial: answers behind a change"),
}


def all_tables() -> dict[str, Table]:
    """Return every table of a results directory, those of instruments and families included.

    Raises InputError if an instrument or a family of another package names a table that exists.
    """
    tables = dict(_CORE)
    owners: list[tuple[str, Mapping[str, Table]]] = []
    for name, instrument in INSTRUMENTS.items():
        owners.append((f"instrument {name!r}", instrument.details))
    for name, family in families().items():
        owners.append((f"family {name!r}", family.tables()))
    for owner, owner_tables in owners:
        for name, table in owner_tables.items():
            if tables.get(name, table) is not table:  # several may fill one that the core has
                raise InputError(f"{owner}: table {name!r} already exists; rename it")
            tables[name] = table
    return tables


#: Columns of the means that a notebook shows, where there are values.
_IN_A_NOTEBOOK = (
    *("subject", "study", "instrument", "mode", "dimension", "category", "control", "range"),
    *("estimate", "ci_low", "ci_high", "n", "verdict"),
)


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
        """Read a table of the directory by its name in `all_tables`; an absent table is empty.

        Raises
        ------
        InputError
            If there is no table of that name, or it is malformed.
        """
        tables = all_tables()
        if name not in tables:
            raise InputError(unknown("table", name, tables))
        return self.estimates if name == "estimates" else read_detail(self.directory, name)

    def __repr__(self) -> str:
        """Return the path and a summary of the content."""
        subjects = self.estimates["subject"].drop_nulls().unique(maintain_order=True).to_list()
        names = ", ".join(subjects[:3]) + (", …" if len(subjects) > 3 else "")
        return f"Results({str(self.directory)!r}: {self.estimates.height:,} estimates of {names})"

    def _repr_html_(self) -> str:
        """Return the means over all stereotypes and of categories, for a notebook."""
        means = self.estimates.filter(
            pl.col("level").is_in(["model", "category"]),
            pl.col("verdict").is_not_null() & pl.col("factor").is_null(),
        )
        columns = [name for name in _IN_A_NOTEBOOK if means[name].count()]
        with pl.Config(tbl_rows=-1, tbl_hide_column_data_types=True, tbl_hide_dataframe_shape=True):
            return f"<p>{escape(repr(self))}</p>{means.select(columns)._repr_html_()}"


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
    tables by their names in `all_tables`; a table of the family that is absent or empty is removed.

    Raises InputError if a detail is not a table of the family or is malformed, a table cannot be
    written, or another version wrote the estimates of the other families.
    """
    schemas_of_family = _details_of(family)
    for name in details:
        if name not in schemas_of_family:
            raise InputError(unknown(f"table of {family}", name, schemas_of_family))
    with writing(directory):
        _write(directory, family, estimates, details, schemas_of_family)


def _details_of(family: str) -> dict[str, Schema]:
    """Return the schemas of the detail tables of a family, by name."""
    # Responses and scores are large, are written before there are estimates, and stay.
    by_name = {name: table for name, table in all_tables().items() if table.family == family}
    return {n: table.schema for n, table in by_name.items() if n not in ("responses", "scores")}


def _write(
    directory: Path,
    family: str,
    estimates: pl.DataFrame,
    details: Mapping[str, pl.DataFrame],
    schemas_of_family: Mapping[str, Schema],
) -> None:
    """Write the estimates, which other families share, and the tables of one."""
    path = directory / "estimates.parquet"
    foreign_estimates = pl.DataFrame(schema=ESTIMATES)
    if path.is_file():
        foreign_estimates = read_estimates(directory).filter(pl.col("family") != family)
    write_table(pl.concat([estimates, foreign_estimates]), path)
    for name, schema in schemas_of_family.items():
        frame = check(details.get(name, pl.DataFrame(schema=schema)), schema, name)
        path = directory / f"{name}.parquet"
        if frame.is_empty():
            # A table of an earlier run would contradict the new estimates.
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
    path = directory / f"{name}.parquet"
    schema = all_tables()[name].schema
    return _read(path, schema) if path.is_file() else pl.DataFrame(schema=schema)


def read_family(
    directory: Path, family: str
) -> tuple[pl.DataFrame, dict[str, pl.DataFrame]] | None:
    """Read the estimates of a family and, by name, its detail tables; None where there are none.

    Raises InputError if a table is malformed.
    """
    details = read_details(directory, family)
    estimates = pl.DataFrame(schema=ESTIMATES)
    if (directory / "estimates.parquet").is_file():
        estimates = read_estimates(directory).filter(family=family)
    # An empty detail table is a result of its own: that nothing of the kind was there.
    has_details = any((directory / f"{name}.parquet").is_file() for name in details)
    if estimates.is_empty() and not has_details:
        return None
    return estimates, details


def read_details(directory: Path, family: str) -> dict[str, pl.DataFrame]:
    """Read the detail tables of a family but for responses and scores; an absent one is empty.

    Raises InputError if one is malformed.
    """
    return {name: read_detail(directory, name) for name in _details_of(family)}


def scan_answers(directory: Path) -> tuple[pl.LazyFrame | None, ...]:
    """Scan responses and scores, which may be large; None for each that there is none of.

    Raises InputError if one is malformed.
    """
    paths = {name: directory / f"{name}.parquet" for name in ("responses", "scores")}
    return tuple(
        scan_parquet(path, _CORE[name].schema) if path.is_file() else None
        for name, path in paths.items()
    )


def _read(path: Path, schema: Schema) -> pl.DataFrame:
    """Read a small table; numbers that are not finite become null."""
    if not path.is_file():
        raise InputError(f"{path}: not found; give a directory that a run has written")
    frame = read_parquet(path)
    if lacking := [name for name in schema if name not in frame.columns and not may_lack(name)]:
        raise InputError(
            f"{path}: no column {', '.join(lacking[:3])}{', …' if lacking[3:] else ''}; another "
            "version wrote it: measure again in another directory, or read it with that version"
        )
    numbers = pl.selectors.float()
    finite = pl.when(numbers.is_finite()).then(numbers).name.keep()
    return check(frame, schema, str(path)).with_columns(finite)
