"""The tables of a results directory: each stands there once, as ``<name>.parquet``.

``estimates.parquet`` is the one result of every family; the other tables are the details behind
it. ``responses.parquet`` and ``scores.parquet`` hold the answers themselves.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

import polars as pl

from tiltmeter.errors import InputError, unknown
from tiltmeter.results import schemas
from tiltmeter.results.columns import LATER, Schema, check
from tiltmeter.results.estimates import ESTIMATES
from tiltmeter.results.records import read_plan
from tiltmeter.results.tables import read_table, write_table

__all__ = [
    "TABLES",
    "Results",
    "Table",
    "read_detail",
    "read_estimates",
    "read_results",
    "write_results",
]


class Table(NamedTuple):
    """A table that is written, by the name of its file."""

    family: str
    schema: Schema
    meaning: str


_A, _N, _S = "answers", "networks", "states"

#: Every table of a results directory.
TABLES: dict[str, Table] = {
    "estimates": Table("", ESTIMATES, "a row per subject, measure, level, factors and method"),
    "responses": Table(_A, schemas.RESPONSES, "a row per model and trial: prompt and answer"),
    "scores": Table(_A, schemas.SCORES, "a row per response and number it has"),
    "words": Table(_A, schemas.WORDS, "a row per attribute word and pair of group words"),
    "compliance": Table(_A, schemas.COMPLIANCE, "a row per wording, group pair, order, version"),
    "orders": Table(_A, schemas.ORDERS, "a row per level: what the order of the groups does"),
    "matches": Table(_A, schemas.MATCHES, "a row per level and comparison: matched trials"),
    "fits": Table(_A, schemas.FITS, "a row per regression: the fit behind a coefficient"),
    "chained": Table(_A, schemas.CHAINED, "a row per chained answer with both scores"),
    "yes_shares": Table(_A, schemas.YES_SHARES, "a row per stereotype and version"),
    "attributions": Table(_A, schemas.ATTRIBUTIONS, "a row per level and group thought of"),
    "networks": Table(_N, schemas.NETWORKS, "a row per network: its size and structure"),
    "network_overlaps": Table(_N, schemas.OVERLAPS, "a row per pair of networks, nodes or edges"),
    "network_activations": Table(_N, schemas.ACTIVATIONS, "a row per prime and target"),
    "network_absences": Table(_N, schemas.ABSENCES, "a row per identity and set: absent words"),
    "network_stream_nodes": Table(_N, schemas.STREAM_NODES, "a row per word on a shortest path"),
    "network_stream_edges": Table(_N, schemas.STREAM_EDGES, "a row per edge of such a path"),
    "state_terms": Table(_S, schemas.PROFILE_TERMS, "a row per layer, dimension and word"),
    "state_directions": Table(_S, schemas.DIRECTION_TERMS, "a row per dimension: terms predicted"),
    "state_tests": Table(_S, schemas.ASSOCIATION_TESTS, "a row per test and layer: its words"),
    "state_fits": Table(_S, schemas.FITS, "a row per regression: the fit behind a coefficient"),
}


@dataclass(frozen=True, repr=False)
class Results:
    """A results directory: its plan, the one result and the details behind it.

    Parameters
    ----------
    directory
        Where it lies.
    plan
        Content of ``plan.json``; empty where nothing was asked.
    estimates
        Columns of `ESTIMATES`.
    """

    directory: Path
    plan: Mapping[str, Any]
    estimates: pl.DataFrame

    def table(self, name: str) -> pl.DataFrame:
        """Read a table of the directory by its name in `TABLES`; an absent one is empty.

        Raises
        ------
        InputError
            If there is no table of that name, or it is malformed.
        """
        if name not in TABLES:
            raise InputError(unknown("table", name, TABLES))
        return self.estimates if name == "estimates" else read_detail(self.directory, name)

    def __repr__(self) -> str:
        """Name the directory and say what is in it."""
        subjects = self.estimates["subject"].drop_nulls().unique(maintain_order=True).to_list()
        shown = ", ".join(subjects[:3]) + (", …" if len(subjects) > 3 else "")
        return f"Results({str(self.directory)!r}: {self.estimates.height:,} estimates of {shown})"


def read_results(directory: str | Path) -> Results:
    """Read a results directory.

    Parameters
    ----------
    directory
        What `audit` or ``tiltmeter audit`` has written.

    Returns
    -------
    Results

    Raises
    ------
    InputError
        If there is no table of estimates, or it is malformed.
    PlanError
        If the plan is malformed, or was written in another layout.

    Examples
    --------
    >>> read_results("results/tiltmeter-smollm2-quick").estimates  # doctest: +SKIP
    """
    path = Path(directory)
    plan = path / "plan.json"
    return Results(path, read_plan(plan) if plan.is_file() else {}, read_estimates(path))


def write_results(
    directory: Path, family: str, estimates: pl.DataFrame, details: Mapping[str, pl.DataFrame]
) -> None:
    """Write the tables of one family; those of the others stay as they are.

    `estimates`, columns of `ESTIMATES`, take the place of the family's earlier ones. `details` are
    tables by their names in `TABLES`; a table of the family that is absent or empty is removed.

    Raises InputError if a detail is no table of the family or malformed, a table cannot be
    written, or the estimates of the other families are of another version.
    """
    tables = [name for name, table in TABLES.items() if table.family == family]
    tables = [name for name in tables if name not in ("responses", "scores")]
    for name in details:
        if name not in tables:
            raise InputError(unknown(f"table of {family}", name, tables))
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
    """Read the one result of a directory.

    Raises InputError if there is none, or it is malformed, as a table of an earlier version is.
    """
    return _read(directory / "estimates.parquet", ESTIMATES)


def read_detail(directory: Path, name: str) -> pl.DataFrame:
    """Read a detail table; one that is absent is empty.

    Raises InputError if it is malformed.
    """
    path, schema = directory / f"{name}.parquet", TABLES[name].schema
    return _read(path, schema) if path.is_file() else pl.DataFrame(schema=schema)


def _read(path: Path, schema: Schema) -> pl.DataFrame:
    """Read a small table; what is no finite number is null."""
    if not path.is_file():
        raise InputError(f"{path}: not found; give a directory that a run has written")
    frame = read_table(path)
    if lacking := [name for name in schema if name not in frame.columns and name not in LATER]:
        raise InputError(
            f"{path}: no column {', '.join(lacking[:3])}{', …' if lacking[3:] else ''}; another "
            "version wrote it: measure again in another directory, or read it with that version"
        )
    numbers = pl.selectors.float()
    finite = pl.when(numbers.is_finite()).then(numbers).name.keep()
    return check(frame, schema, str(path)).with_columns(finite)
