"""What is compared: the runs of a results directory or bundle, scores, or recorded answers."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path
from typing import Any

import polars as pl

from clinometer.asking.plan import read_stage
from clinometer.audits.looking import looks_of
from clinometer.audits.recording import Recording, read_recorded
from clinometer.audits.tabulating import estimate_means
from clinometer.comparing.findings import MeanKey, findings_by_mean, mean_key
from clinometer.contracts.design import Design
from clinometer.directory.results import Results, read_detail, read_results
from clinometer.errors import InputError, unknown
from clinometer.pieces.findings import Finding
from clinometer.results import ESTIMATES, SCORES, check
from clinometer.results.bundles import is_bundle, unpacked
from clinometer.results.evidence import Note, notes_of_model, run_notes
from clinometer.results.places import anywhere
from clinometer.results.progress import doubts
from clinometer.results.tables import as_frame, pieces, scan_table
from clinometer.scoring import Scores, score
from clinometer.statistics.estimates import Inference
from clinometer.statistics.looks import Looks

__all__ = ["ComparedRun", "choose", "choose_run", "estimate_run_means", "read_runs"]


#: All that is known of trials and their answers, but for the model's name. In a small table, or of
#: few values, scores alone may be equal in two models.
_TRIAL_COLUMNS = [name for name in SCORES if name != "model"]


@dataclass(frozen=True)
class ComparedRun:
    """The scores of one model from one source, and its estimates of networks and states."""

    model: str
    source: str
    scores: pl.DataFrame = field(default_factory=lambda: pl.DataFrame(schema=SCORES))
    estimates: pl.DataFrame = field(default_factory=lambda: pl.DataFrame(schema=ESTIMATES))
    directory: Path | None = None
    """The results directory, or the bundle of one."""
    policy: str | None = None
    """SHA-256 of the policy that was declared with its plan."""
    label: str = ""
    doubts: Sequence[str] = ()
    """What keeps it from being cleared: trials without an answer, several served models."""
    notes: Sequence[Note] = ()
    """What of its plan and answers was not made here, as far as the user's key tells."""
    looks: Looks = field(default_factory=Looks)
    """When its results were looked at, if it ended where they were decided."""

    def is_like(self, other: ComparedRun) -> bool:
        """Whether both have the same trials, and all that was read of each answer is the same."""
        if self.scores.is_empty():
            return False
        ours, theirs = (
            run.scores.select(_TRIAL_COLUMNS).sort(_TRIAL_COLUMNS) for run in (self, other)
        )
        return ours.equals(theirs)

    def finding(self, row: Mapping[str, Any]) -> Finding | None:
        """Return what is told of the mean of the run that a row, or a change, is about.

        None where that is not known: of scores and recorded answers, and of controls.
        """
        if self.directory is None:
            return None
        return self._findings.get(mean_key({**row, "model": self.model}))

    @cached_property
    def _findings(self) -> Mapping[MeanKey, Finding]:
        """The findings of its directory, read when the first is asked for."""
        assert self.directory is not None
        with unpacked(self.directory) as directory:
            return findings_by_mean(directory)


@anywhere(source=True)
def read_runs(source: object, recording: Recording | None = None) -> list[ComparedRun]:
    """Read the runs of a source, one for each model or network.

    Parameters
    ----------
    source
        A `ComparedRun`; a results directory, what `read_results` gives of one, or a bundle; a
        table of scores, or its path; recorded answers, a ``.csv`` or ``.parquet`` with a column
        `response`, an inspect log or a folder of logs.
    recording
        What recorded answers leave open.

    Raises
    ------
    InputError
        If the source is missing or malformed, has no scores and no estimates, or is a bundle that
        was changed.
    """
    if isinstance(source, ComparedRun):
        return [source]
    if isinstance(source, Scores):
        return _split_scores(source.scores, "scores")
    if isinstance(source, str | Path) and is_bundle(Path(source)):
        return _read_bundle(Path(source))
    if isinstance(source, str | Path) and _is_directory(Path(source)):
        source = read_results(source)
    if isinstance(source, Results):
        return _split_results(source)
    if isinstance(source, str | Path):
        path = Path(source)
        return _split_scores(_read_scores(path, recording or Recording()), str(path))
    return _split_scores(check(as_frame(source, "scores"), SCORES, "scores"), "scores")


def _is_directory(path: Path) -> bool:
    """Whether a path is a results directory, and not a folder of logs."""
    return path.is_dir() and not any(path.glob("*.eval"))


def _read_bundle(bundle: Path) -> list[ComparedRun]:
    with unpacked(bundle) as directory:
        runs = _split_results(read_results(directory))
    return [replace(run, source=str(bundle), directory=bundle) for run in runs]


def _split_results(results: Results) -> list[ComparedRun]:
    directory = results.directory
    estimates = results.estimates.filter(pl.col("family") != "answers")
    path = directory / "scores.parquet"
    runs = {}
    if path.is_file():
        scores = scan_table(path, SCORES).select(list(SCORES)).collect()
        runs = {run.model: run for run in _split_scores(scores, str(directory))}
    for subject in estimates["subject"].drop_nulls().unique(maintain_order=True):
        run = runs.get(subject, ComparedRun(subject, str(directory)))
        runs[subject] = replace(run, estimates=estimates.filter(subject=subject))
    if not runs:
        raise InputError(f"{directory}: no scores and no estimates; finish the run first")
    reasons = doubts(read_detail(directory, "progress"))
    policy = results.plan.get("policy")
    looks = looks_of(*read_stage(results.plan))
    notes = run_notes(directory)
    complete = []
    for run in runs.values():
        run_doubts = tuple(reasons.get(run.model, {}).values())
        full_run = replace(run, directory=directory, policy=policy, doubts=run_doubts, looks=looks)
        complete.append(replace(full_run, notes=notes_of_model(run.model, notes)))
    return complete


def _split_scores(scores: pl.DataFrame, source: str) -> list[ComparedRun]:
    """Split a table of scores by model."""
    if scores.is_empty():
        raise InputError(f"{source}: no scores")
    if scores["model"].null_count():
        raise InputError(f"{source}: {scores['model'].null_count()} scores without a model")
    models = scores["model"].unique(maintain_order=True)
    # A table that does not say how words were listed had them listed as usual.
    scores = scores.with_columns(pl.col("word_list").fill_null(Design().word_list))
    scores = scores.filter(~pl.col("unnamed").fill_null(False))
    return [ComparedRun(model, source, scores.filter(model=model)) for model in models]


def _read_scores(path: Path, recording: Recording) -> pl.DataFrame:
    """Read a table of scores, or score recorded answers."""
    if not path.exists():
        raise InputError(f"{path}: no such file or directory")
    if path.is_file() and path.suffix != ".eval" and "score" in next(pieces(path, 1)).columns:
        return scan_table(path, SCORES).select(list(SCORES)).collect()
    study = recording.load_study()
    scores, _ = score(read_recorded(path, recording, study), study, instrument=recording.instrument)
    return scores


def choose(
    sources: Sequence[Sequence[ComparedRun]], model: str | None = None
) -> tuple[ComparedRun, list[ComparedRun]]:
    """Choose the baseline and the candidates, and give each a label of its own.

    The baseline is the run of the first source or, of several, that of `model`; every other run is
    a candidate. Raises InputError if the baseline is not clear or there is no candidate.
    """
    baseline = choose_run(sources[0], model, "--baseline-model")
    candidates = [run for run in sources[0] if run is not baseline]
    candidates += [run for source in sources[1:] for run in source]
    if not candidates:
        raise InputError(
            f"{baseline.source}: {baseline.model} alone; name a candidate to compare with"
        )
    labelled_baseline, *labelled_candidates = _label_runs([baseline, *candidates])
    return labelled_baseline, labelled_candidates


def choose_run(runs: Sequence[ComparedRun], model: str | None, option: str) -> ComparedRun:
    """Return the run of `model`, or the only one; InputError, naming `option`, if not clear."""
    names = [run.model for run in runs]
    if model is None and len(runs) > 1:
        raise InputError(
            f"{runs[0].source}: {len(runs)} models; name one with {option}: {', '.join(names)}"
        )
    if model is not None and model not in names:
        raise InputError(f"{runs[0].source}: {unknown('model', model, names)}")
    return runs[0 if model is None else names.index(model)]


def estimate_run_means(run: ComparedRun, inference: Inference) -> pl.DataFrame:
    """Return the means of a run's scores by itself, judged."""
    if run.scores.is_empty():
        return pl.DataFrame(schema=ESTIMATES)
    return estimate_means(run.scores, replace(inference, looks=run.looks))


def _label_runs(runs: Sequence[ComparedRun]) -> Iterator[ComparedRun]:
    """Name each run by its model or, where several have it, with its source or a number."""
    # From the shortest label to one that is always its own.
    schemes = [
        [run.model for run in runs],
        [f"{run.model} ({Path(run.source).name})" for run in runs],
        [f"{run.model} ({run.source})" for run in runs],
        [f"{run.model} ({run.source}, {number})" for number, run in enumerate(runs, 1)],
    ]
    for place, run in enumerate(runs):
        labels = (scheme[place] for scheme in schemes if scheme.count(scheme[place]) == 1)
        yield replace(run, label=next(labels))
