"""Recorded answers as a results directory: scores, estimates and the report of an audit.

Answers that were recorded elsewhere are copied into the directory with a plan that says where they
came from, so that everything after them is as if Clinometer had asked.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any

import polars as pl

from clinometer.asking.claim import Claimant, claim
from clinometer.asking.plan import Plan, Selection
from clinometer.audits.tabulating import response_pieces, tabulate_scores
from clinometer.contracts.catalogue import INSTRUMENTS, select
from clinometer.contracts.catalogue import instrument as find_instrument
from clinometer.directory.results import Results, read_results
from clinometer.errors import InputError, NoAnswerError, shortened
from clinometer.results import RESPONSES, SCORES, check
from clinometer.results.faults import PLACE
from clinometer.results.locks import writing
from clinometer.results.places import anywhere
from clinometer.results.records import text_hash
from clinometer.results.tables import as_frame, write_table
from clinometer.scoring import score
from clinometer.scoring.conditions import find_conditions, with_conditions
from clinometer.scoring.recorded import rename_columns, used_columns
from clinometer.stimuli import Study, load_study


@dataclass(frozen=True)
class Recording:
    """What a table of recorded answers leaves open.

    Parameters
    ----------
    study, instrument
        What was asked, where the table does not say. A study of None is that of the instrument.
    model
        Who answered, where the table does not say.
    columns
        Name of a column here → its name in the table.
    conditions
        Columns by whose values means are taken; ``("none",)``: by none. Empty: those that
        `scoring.conditions` finds, which a warning names.
    """

    study: str | Path | None = None
    instrument: str = next(iter(INSTRUMENTS))
    model: str | None = None
    columns: Mapping[str, str] = field(default_factory=dict)
    conditions: Sequence[str] = ()

    def load_study(self) -> Study:
        """Load the study; raises InputError if there is no such instrument, or StudyError."""
        return load_study(self.study or find_instrument(self.instrument).study)


def read_recorded(responses: object, recording: Recording, study: Study) -> pl.DataFrame:
    """Read recorded answers, with our names of columns and a `trial_id` each.

    Raises InputError if the table is malformed or empty, or lacks a stated column.
    """
    if isinstance(responses, str | Path):
        # The empty frame: `concat` takes no empty list.
        pieces = [*response_pieces(Path(responses)), pl.DataFrame()]
        table = pl.concat(pieces, how="diagonal_relaxed")
    else:
        table = as_frame(responses, "responses")
    if table.is_empty():
        raise InputError(f"{_source_name(responses)}: no answers")
    table = _rename_columns(table, recording.columns)
    if recording.instrument in INSTRUMENTS and "instrument" not in table.columns:
        table = INSTRUMENTS[recording.instrument].recorded.expand(table, study)
    table = rename_columns(table, recording.instrument, study)
    if recording.model is not None and "model" not in table.columns:
        table = table.with_columns(model=pl.lit(recording.model))
    conditions = find_conditions([table], recording.conditions, partial(used_columns, study=study))
    table = with_conditions(table, conditions)
    # Zeros in front, so that trials sort as they were recorded.
    number = pl.int_range(pl.len()).cast(pl.String).str.zfill(7)
    return table.with_columns(trial_id=pl.format("recorded.{}", number))


def _source_name(responses: object) -> str:
    """Name where answers come from."""
    return Path(responses).name if isinstance(responses, str | Path) else "responses"


def _rename_columns(table: pl.DataFrame, columns: Mapping[str, str]) -> pl.DataFrame:
    """Give columns our names (keys of `columns`), in place of those that have them."""
    for ours, theirs in columns.items():
        if theirs not in table.columns:
            names = shortened(table.columns, 40)
            raise InputError(f"column {ours}={theirs}: no such column; has {names}")
    # Not dropped: a column whose name is ours and that is renamed itself, as in an exchange.
    replaced = [name for name in columns if name in table.columns and name not in columns.values()]
    return table.drop(replaced).rename({theirs: ours for ours, theirs in columns.items()})


@dataclass(frozen=True)
class _RecordedPlan(Claimant):
    """The plan of recorded answers: what they are answers to, and their hash."""

    plan: Plan
    source: str
    answers_hash: str

    def file(self, out: Path) -> Path:
        """Return the path of the plan."""
        return self.plan.file(out)

    def identity(self) -> dict[str, Any]:
        """Return what tells the plan from others: also which answers were recorded."""
        recorded = {"file": self.source, "answers": self.answers_hash}
        return {**self.plan.identity(), "recorded": recorded}

    def describe(self) -> dict[str, Any]:
        """Return what else the file of the plan says."""
        return self.plan.describe()

    def attachments(self) -> dict[str, str]:
        """Return the files that stand beside the plan, by name."""
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
    recording = recording or Recording()
    out = Path(directory)
    study = recording.load_study()
    select(study, recording.instrument)  # refuses a study that the instrument cannot ask
    table = read_recorded(responses, recording, study)
    answers_hash = _hash(table.drop("trial_id", PLACE, strict=False))
    scores, words = score(table, study, instrument=recording.instrument, keep=True)
    if scores["reason"].eq_missing("error").all():
        raise NoAnswerError(f"{_source_name(responses)}: no row has an answer; nothing was written")
    plan = _describe_plan(scores, study, recording)
    described = _RecordedPlan(plan, _source_name(responses), answers_hash)
    # Nothing was asked, wherever the plan was written: the answers are those that are given.
    claim(out, described, command, from_elsewhere=True)
    with writing(out):
        write_table(_responses(scores), out / "responses.parquet")
        write_table(check(scores, SCORES, "scores"), out / "scores.parquet")
        tabulate_scores(out, plan, words)
        return read_results(out)


def _hash(table: pl.DataFrame) -> str:
    """Return the hash of all columns that can be an answer or a name: not those of lists."""
    texts = table.select(~pl.selectors.nested()).with_columns(pl.col(pl.Binary).bin.encode("hex"))
    return text_hash(texts.select(pl.all().cast(pl.String)).write_csv())


def _describe_plan(scores: pl.DataFrame, study: Study, recording: Recording) -> Plan:
    """Describe what the answers are answers to."""

    def values(name: str) -> list[str]:
        """Return the values of a column, in the order in which they come."""
        return scores[name].drop_nulls().unique(maintain_order=True).to_list()

    instrument = INSTRUMENTS[recording.instrument]
    study_wordings = instrument.variations(study)
    # Others call their wordings and modes as they like; a plan has only names that it knows.
    wordings = [name for name in values("variation") if name in study_wordings]
    modes = [mode for mode in values("mode") if mode in instrument.modes]
    iterations = scores.group_by("model", "stereotype", "variation").len()["len"].max()
    selection = Selection(
        study,
        values("stereotype"),
        wordings or list(study_wordings)[:1],
        instrument=recording.instrument,
    )
    return Plan(
        [selection],
        values("model"),
        modes=modes or list(instrument.modes)[:1],
        iterations=int(str(iterations)),  # for mypy: a maximum may be of any type
        interventions=dict.fromkeys(values("intervention")),
        order="random",
    )


def _responses(scores: pl.DataFrame) -> pl.DataFrame:
    """Return the answers, a row each; of one answer there may be several scores."""
    if "response" not in scores.columns:
        scores = scores.with_columns(response=pl.col("decision"))
    answers = scores.unique(["model", "trial_id"], keep="first", maintain_order=True)
    absent = (pl.lit(None).alias(name) for name in RESPONSES if name not in answers.columns)
    # Lists too: a table of others may have such columns with another meaning.
    answers = answers.with_columns(absent).with_columns(
        attributes=pl.lit(None, pl.List(pl.String)), options=pl.lit(None, pl.List(pl.String))
    )
    return check(answers, RESPONSES, "responses")
