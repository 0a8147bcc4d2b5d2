"""Recorded answers as a results directory: scores, estimates and the report of an audit.

Answers that were recorded elsewhere are copied into the directory with a plan that says where they
came from, so that everything after them is as if Clinometer had asked.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import polars as pl

from clinometer.asking.claim import Claimant, claim
from clinometer.asking.plan import Plan, Selection
from clinometer.audits.tabulating import response_pieces, tabulate_scores
from clinometer.directory.results import Results, read_results
from clinometer.errors import InputError, shortened
from clinometer.instruments.catalogue import INSTRUMENTS, select
from clinometer.results import RESPONSES, SCORES, check
from clinometer.results.locks import writing
from clinometer.results.places import anywhere
from clinometer.results.records import text_hash
from clinometer.results.tables import as_frame, write_table
from clinometer.scoring import score
from clinometer.scoring.recorded import renamed
from clinometer.stimuli import Study, load_study

__all__ = ["Recording", "audit_recorded", "read_recorded"]


@dataclass(frozen=True)
class Recording:
    """What a table of recorded answers leaves open.

    Parameters
    ----------
    study, instrument
        What was asked, where the table does not say.
    model
        Who answered, where the table does not say.
    columns
        Name of a column here → its name in the table.
    """

    study: str | Path = "bai2025"
    instrument: str = next(iter(INSTRUMENTS))
    model: str | None = None
    columns: Mapping[str, str] = field(default_factory=dict)


def read_recorded(responses: object, how: Recording, study: Study) -> pl.DataFrame:
    """Read recorded answers, with our names of columns and a `trial_id` each.

    Raises InputError if the table is malformed or empty, or lacks a stated column.
    """
    if isinstance(responses, str | Path):
        pieces = [*response_pieces(Path(responses)), pl.DataFrame()]
        given = pl.concat(pieces, how="diagonal_relaxed")
    else:
        given = as_frame(responses, "responses")
    if given.is_empty():
        raise InputError(f"{_called(responses)}: no answers")
    stated = _stated(given, how.columns)
    if how.instrument in INSTRUMENTS and "instrument" not in stated.columns:
        stated = INSTRUMENTS[how.instrument].recorded.expand(stated, study)
    table = renamed(stated, how.instrument, study)
    if how.model is not None and "model" not in table.columns:
        table = table.with_columns(model=pl.lit(how.model))
    number = pl.int_range(pl.len()).cast(pl.String).str.zfill(7)
    return table.with_columns(trial_id=pl.format("recorded.{}", number))


def _called(responses: object) -> str:
    """Name where answers come from."""
    return Path(responses).name if isinstance(responses, str | Path) else "responses"


def _stated(table: pl.DataFrame, columns: Mapping[str, str]) -> pl.DataFrame:
    """Give columns the names that were stated, in place of those that have them."""
    for ours, theirs in columns.items():
        if theirs not in table.columns:
            has = shortened(table.columns, 40)
            raise InputError(f"column {ours}={theirs}: no such column; has {has}")
    table = table.drop([c for c in columns if c in table.columns and c not in columns.values()])
    return table.rename({theirs: ours for ours, theirs in columns.items()})


@dataclass(frozen=True)
class _Recorded(Claimant):
    """The plan of recorded answers: what they are answers to, and their hash."""

    plan: Plan
    source: str
    answers: str  # hash

    def file(self, out: Path) -> Path:
        return self.plan.file(out)

    def identity(self) -> dict[str, Any]:
        return {**self.plan.identity(), "recorded": {"file": self.source, "answers": self.answers}}

    def describe(self) -> dict[str, Any]:
        return self.plan.describe()

    def attachments(self) -> dict[str, str]:
        return self.plan.attachments()


@anywhere(responses=False, directory=True)
def audit_recorded(
    responses: object,
    directory: str | Path,
    recording: Recording | None = None,
    command: str = "cm.audit_recorded(…)",
) -> Results:
    """Score recorded answers, and write the tables of an audit of them; no model is asked.

    Parameters
    ----------
    responses
        A ``.csv`` or ``.parquet`` table, an inspect log or a folder of logs; or a frame.
    directory
        Results directory; the same call again remakes its tables.
    recording
        What the table leaves open.
    command
        The command line, for the record.

    Returns
    -------
    Results

    Raises
    ------
    InputError, StudyError
        As of `score`; if a column is missing, or nothing could be scored.
    PlanError
        If the directory holds something else, or other answers.

    Examples
    --------
    >>> audit_recorded("answers.csv", "results/recorded")  # doctest: +SKIP
    """
    how, out = recording or Recording(), Path(directory)
    study = load_study(how.study)
    select(study, how.instrument)
    table = read_recorded(responses, how, study)
    answers = _hash(table.drop("trial_id"))
    scored, words = score(table, study, instrument=how.instrument, keep=True)
    plan = _plan_of(scored, study, how)
    claim(out, _Recorded(plan, _called(responses), answers), command)
    with writing(out):
        write_table(_responses(scored), out / "responses.parquet")
        scores = check(scored, SCORES, "scores")
        write_table(scores, out / "scores.parquet")
        tabulate_scores(out, plan, words)
        return read_results(out)


def _hash(table: pl.DataFrame) -> str:
    """Return the hash of all columns that can be an answer or a name: not those of lists."""
    texts = table.select(~pl.selectors.nested()).with_columns(pl.col(pl.Binary).bin.encode("hex"))
    return text_hash(texts.select(pl.all().cast(pl.String)).write_csv())


def _plan_of(scored: pl.DataFrame, study: Study, how: Recording) -> Plan:
    """Describe what the answers are answers to."""

    def values(name: str) -> list[str]:
        return scored[name].drop_nulls().unique(maintain_order=True).to_list()

    known = INSTRUMENTS[how.instrument].variations(study)
    wordings = [name for name in values("variation") if name in known] or list(known)[:1]
    most = scored.group_by("model", "stereotype", "variation").len()["len"].max()
    modes = [mode for mode in values("mode") if mode in INSTRUMENTS[how.instrument].modes]
    return Plan(
        [Selection(study, values("stereotype"), wordings, instrument=how.instrument)],
        values("model"),
        modes=modes or list(INSTRUMENTS[how.instrument].modes)[:1],
        iterations=int(str(most)),
        order="random",
    )


def _responses(scored: pl.DataFrame) -> pl.DataFrame:
    """Return the answers, a row each."""
    if "response" not in scored.columns:
        scored = scored.with_columns(response=pl.col("decision"))
    scored = scored.unique(["model", "trial_id"], keep="first", maintain_order=True)
    absent = (pl.lit(None).alias(name) for name in RESPONSES if name not in scored.columns)
    whole = scored.with_columns(absent).with_columns(
        attributes=pl.lit(None, pl.List(pl.String)), options=pl.lit(None, pl.List(pl.String))
    )
    return check(whole, RESPONSES, "responses")
