"""An episode: who comes, what is asked, what an answer does, and the record of it all.

A person whose answer names no job, several, or refuses is given none: the record says so, nothing
is learned of it, and the next one comes. A model's own words never return to it, so that what it is
asked depends on its choices alone, and is the same question in every mode. Where an answer is
probabilities, the choice is drawn from them, with a seed.
"""

from __future__ import annotations

import random
from collections.abc import Generator, Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from clinometer.authoring import (
    CHOICES,
    MODES,
    OPTION,
    TEXT,
    drop_unanswered,
    fill,
    read_choices,
    read_option,
    read_probabilities,
    why_not,
)
from clinometer_measures.emergent.indices import NOBODY, Allocation
from clinometer_measures.emergent.part import LETTERS, Script

__all__ = ["Placements", "play"]


@dataclass
class Placements:
    """What came of an episode, or has come of it so far."""

    script: Script
    allocation: Allocation
    """Number of the job that a person got, (rounds, groups); `NOBODY` for none."""
    reasons: list[str] = field(default_factory=list)
    """Of the answers without a job."""
    record: list[str] = field(default_factory=list)
    """What a model is told of the days before."""

    def text(self) -> str:
        """Write who was given what: a word for each round, a letter for each group.

        Letters are those of the prompt; capital: did well, small: did badly, ``-``: no job.
        """
        words = []
        for jobs, success in zip(self.allocation, self.script.success, strict=True):
            letters = [
                "-" if job == NOBODY else LETTERS[job] if well[job] else LETTERS[job].lower()
                for job, well in zip(jobs, success, strict=True)
            ]
            words.append("".join(letters))
        return " ".join(words)


def play(trial: Mapping[str, Any]) -> Generator[dict[str, Any], Mapping[str, Any], Placements]:
    """Play an episode; see `episodes`."""
    script = Script.read(trial.get("script"))
    rng = random.Random(f"{trial.get('seed')}/choices")
    size = len(script.people)
    outcome = Placements(script, np.full((len(script.order), size), NOBODY))
    for group, past_job, well in script.past:
        day = {"day": str(len(outcome.record) + 1), "group": script.people[group]}
        outcome.record += _lines(script, day, past_job, well)
    for number, groups in enumerate(script.order):
        for place, group in enumerate(groups):
            name = script.name_of(number, group)
            days_before = len(script.past) + number * size + place
            day = {"day": str(days_before + 1), "group": name}
            answer = yield {"prompt": _prompt(outcome, day), "attributes": [name]}
            job, reason = _read_job(answer, trial, script, name, rng)
            if job is None:
                outcome.reasons.append(reason or "unparsed")
            else:
                outcome.allocation[number, group] = job
            well = job is not None and script.success[number][group][job]
            outcome.record += _lines(script, day, job, well)
    return outcome


def _prompt(outcome: Placements, day: Mapping[str, str]) -> str:
    """Return the question of a day, after the record of those before it."""
    script, wording = outcome.script, outcome.script.texts
    if wording is None:
        opening, _, line = script.sentence.rpartition("\n")
        beginning = fill(line.partition("{job}")[0], day)
        return "\n".join([opening, *outcome.record, beginning + OPTION])
    letters = zip(LETTERS, script.jobs, strict=False)
    options = "\n".join(f"({letter}) {job}" for letter, job in letters)
    record = "\n".join(outcome.record) or wording.nothing
    question = fill(wording.question, {**day, "options": options})
    return f"{wording.opening}\n\n{record}\n\n{question}"


def _lines(script: Script, day: Mapping[str, str], job: int | None, well: bool) -> list[str]:
    """Return what the record says of a day; nothing of a sentence that could not be scored."""
    wording = script.texts
    if job is None:
        return [fill(wording.not_given, day)] if wording is not None else []
    values = {**day, "job": script.jobs[job], "result": script.results[not well]}
    template = script.sentence.rpartition("\n")[2] if wording is None else wording.given
    return [fill(template, values)]


def _read_job(
    answer: Mapping[str, Any],
    trial: Mapping[str, Any],
    script: Script,
    name: str,
    rng: random.Random,
) -> tuple[int | None, str | None]:
    """Return the number of the job that an answer gives, or None and the reason."""
    response = answer["response"]
    kind = MODES[trial["mode"]].kind
    if kind == TEXT:
        choice = read_option(response, script.jobs, stop_reason=answer["stop_reason"])
        job_name, reason = choice.outcome, choice.reason
    elif kind == CHOICES:
        job_name = read_choices(response).get("answer")
        reason = None if job_name in script.jobs else why_not(response, answer)
    else:
        answered = drop_unanswered(response, answer.get("first_tokens"))
        shares = read_probabilities(answered.response, name)
        if len(shares) != len(script.jobs):
            return None, answered.reason or "unparsed"
        return rng.choices(range(len(shares)), weights=shares)[0], None
    return (script.jobs.index(job_name), None) if job_name in script.jobs else (None, reason)
