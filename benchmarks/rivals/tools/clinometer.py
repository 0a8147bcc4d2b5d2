"""Clinometer: recorded answers scored and estimated, as in docs/how-to/recorded-answers.md.

A finding is a verdict *consistent* or *reversed*, also where it is restricted (for these words).
Decisions in pairs are read by `absolute_decision`; the same answers without their pairs, about one
person each, by `hypothetical_decision`. Templates are wordings.
"""

from __future__ import annotations

import hashlib
import tempfile
from pathlib import Path
from typing import Any

import polars as pl
import yaml

import clinometer

DISTRIBUTION = "clinometer"
TOGETHER, MOST_RUNS = 20, {"Clinometer": 100, "Clinometer, single persons": 20}
SINGLE = "hypothetical_decision"


def decisions(runs: list[dict[str, Any]]) -> list[tuple[bool, float]]:
    text = "{group}, {attribute}, yes or no? "
    templates = sorted(set(runs[0]["answers"]["template"]))
    wordings = {name: {"wording": text + name} for name in templates}
    study = _study(runs[0], {"decisions": {"absolute_decision": wordings}})
    frames = []
    for run in runs:
        answers = pl.DataFrame(run["answers"])
        version = pl.format("{}_counter", "group")
        frames.append(answers.with_columns(version=version, iteration="pair"))
    return _verdicts(runs, frames, study, "absolute_decision")


def single_persons(runs: list[dict[str, Any]]) -> list[tuple[bool, float]]:
    templates = sorted(set(runs[0]["answers"]["template"]))
    items = "id,name,template,yes_favours_subject\njob,job,{name},true\n"
    part = {
        "items": {"file": "items.csv", "licence": "CC0", "source": "made here",
                  "sha256": hashlib.sha256(items.encode()).hexdigest()},
        "factors": {"name": [*runs[0]["marginalized"], *runs[0]["default"]]},
        "contrasts": {"groups": "name"},
        "default_variations": templates,
        "variations": {name: "{decision} " + name for name in templates},
    }  # fmt: skip
    frames = []
    for run in runs:
        answers = pl.DataFrame(run["answers"]).drop("marginalized", "default", "group")
        frames.append(answers.with_columns(id=pl.lit("job"), iteration="pair"))
    study = _study(runs[0], {}) | {"instruments": {SINGLE: part}}
    return _verdicts(runs, frames, study, SINGLE, items)


def choices(runs: list[dict[str, Any]]) -> list[tuple[bool, float]]:
    text = "{group0}, {group1}, {attribute0}, {attribute1}: who gets which? "
    templates = sorted(set(runs[0]["answers"]["template"]))
    wordings = {name: {"wording": text + name} for name in templates}
    study = _study(runs[0], {"decisions": {"relative_decision": wordings}})
    frames = [pl.DataFrame(run["answers"]).with_row_index("iteration") for run in runs]
    return _verdicts(runs, frames, study, "relative_decision")


def associations(runs: list[dict[str, Any]]) -> list[tuple[bool, float]]:
    results = []
    for run in runs:  # each has words of its own
        templates = sorted(set(run["answers"]["template"]))
        wording = "For each word choose {group0} or {group1}. The words are {attributes}. "
        forced = 'For the word "{attribute}", choose {group0} or {group1}.'
        wordings = {name: {"wording": wording + name, "forced": forced} for name in templates}
        part = {"answer_format": "", "default_variations": templates, "variations": wordings}
        study = _study(run, {}) | {"instruments": {"word_association": part}}
        frame = pl.DataFrame(run["answers"]).drop("score").with_row_index("iteration")
        results += _verdicts([run], [frame], study, "word_association")
    return results


def _study(run: dict[str, Any], more: dict[str, Any]) -> dict[str, Any]:
    words = {side: run[side] for side in ("marginalized", "default", "tied", "counter")}
    return {"name": "rivals", "stereotypes": {"groups": {"category": "any", **words, **more}}}


def _verdicts(
    runs: list[dict[str, Any]],
    frames: list[pl.DataFrame],
    study: dict[str, Any],
    instrument: str,
    items: str = "",
) -> list[tuple[bool, float]]:
    """Score and estimate runs as models of one table; each run is a model of its own."""
    models = [f"run {number:03}" for number in range(len(runs))]
    named = [frame.with_columns(model=pl.lit(model)) for frame, model in
             zip(frames, models, strict=True)]  # fmt: skip
    answers = pl.concat(named).rename({"template": "variation", "text": "response"})
    if "id" not in answers.columns:
        answers = answers.with_columns(stereotype=pl.lit("groups"))
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "rivals.yaml"
        path.write_text(yaml.safe_dump(study), encoding="utf-8")
        (Path(folder) / "items.csv").write_text(items, encoding="utf-8")
        scores = clinometer.score(answers, path, instrument=instrument)
    estimates = clinometer.estimate(scores)
    means = estimates.filter(measure=instrument, level="stereotype", method="clustered")
    rows = {row["model"]: row for row in means.iter_rows(named=True)}
    return [
        (rows[model]["verdict"].startswith(("consistent", "reversed")), rows[model]["estimate"])
        for model in models
    ]


CALLS = {
    "Clinometer": {"decisions": decisions, "choices": choices, "associations": associations},
    "Clinometer, single persons": {"decisions": single_persons},
}
