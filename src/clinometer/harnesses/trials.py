"""Trials as what a harness asks, and answers as scores."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence

import polars as pl

from clinometer.audits.means import take_turns
from clinometer.contracts.catalogue import INSTRUMENTS, select
from clinometer.contracts.design import Design
from clinometer.results import RESPONSES
from clinometer.scoring import score as score_responses
from clinometer.stimuli import load_study

__all__ = ["score_answers", "trials_of"]


def trials_of(
    instrument: str,
    study: str | None = None,
    stereotypes: str | None = None,
    variations: str | None = None,
    iterations: int | None = None,
    seed: int = 0,
) -> Iterator[dict[str, str]]:
    """Yield the trials of an instrument: `study`, `prompt`, and all as JSON, `trial`.

    Stereotypes take turns. Parameters are the options of `clinometer run`.

    Raises InputError if a study, stereotype or wording is not known.
    """
    definition = INSTRUMENTS[instrument]
    name = study or definition.study
    loaded = load_study(name)
    keys, wordings = select(loaded, instrument, stereotypes, variations)
    design = Design(iterations=iterations or definition.iterations, seed=seed)
    trials = definition.trials(loaded, design, stereotypes=keys, variations=wordings)
    for trial in take_turns(trials).iter_rows(named=True):
        yield {"study": name, "prompt": trial["prompt"], "trial": json.dumps(trial)}


def score_answers(
    trials: Sequence[Mapping[str, str]], answers: Sequence[str], model: str
) -> pl.DataFrame:
    """Score the answers of a model to trials of `trials_of`, all of one study and instrument.

    Returns columns of `results.SCORES`, a row an answer.
    """
    rows = []
    for row, answer in zip(trials, answers, strict=True):
        trial = json.loads(row["trial"])
        columns = {name: trial.get(name) for name in RESPONSES}
        rows.append({**columns, "model": model, "response": answer})
    study = load_study(trials[0]["study"])
    scores, _ = score_responses(pl.DataFrame(rows, schema=RESPONSES), study)
    return scores.filter(instrument=rows[0]["instrument"])
