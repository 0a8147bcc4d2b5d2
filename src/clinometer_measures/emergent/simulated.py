"""What a simulated model gives: it recognises a prompt, and chooses a job.

With probability √L it gives a group the job that it has in mind for it, another one for every
group; else any job at random. Two persons of one group then have the same job by L more often than
two of different groups, so that L is the expected score. No lean below 0 can be planted.
"""

from __future__ import annotations

import math
import random
from collections.abc import Iterator, Mapping, Sequence

from clinometer.authoring import (
    LIKELIHOODS,
    LOGITS,
    TEXT,
    ChosenOption,
    PlantedLean,
    RecognisedPrompt,
    Recogniser,
    SimulatedAnswer,
    Study,
    unfill,
)
from clinometer_measures.emergent.part import (
    LETTERS,
    NAME,
    SEPARATOR,
    EmergentPart,
    groups_in,
    part_of,
)

__all__ = ["recogniser", "simulate"]


def recogniser(study: Study) -> Recogniser:
    """Find the person who comes, and all groups and jobs."""
    part = part_of(study)

    def recognise(prompt: str) -> RecognisedPrompt | None:
        """Return the question of a prompt; None if it is of something else."""
        for name, values in _matches(part, prompt.strip()) if part else ():
            jobs = values["jobs"].split(SEPARATOR)
            for key, stereotype_jobs in part.jobs.items() if part else ():
                if {*jobs} != {*stereotype_jobs}:
                    continue
                sides = _sides(study, key)
                people = values["groups"].split(SEPARATOR)
                if all(group in sides for group in (values["group"], *people)):
                    return RecognisedPrompt(
                        study,
                        NAME,
                        key,
                        name,
                        TEXT,
                        words=((values["group"], sides[values["group"]]),),
                        columns={"people": people, "jobs": jobs},
                    )
        return None

    return recognise


def _matches(part: EmergentPart, prompt: str) -> Iterator[tuple[str, dict[str, str]]]:
    """Yield the wordings that a prompt may be of, with what stands in their places."""
    for name, wording in part.variations.items():
        template = f"{wording.opening}\n\n{{record}}\n\n{wording.question}"
        if (values := unfill(template, prompt)) is not None:
            yield name, values
    lines = prompt.split("\n")
    for name, sentence in part.sentences.items():
        opening, _, line = sentence.rpartition("\n")
        beginning = line.partition(" {job}")[0]
        # Between the two stands the record, which has the same lines as the last.
        opening_values = unfill(opening, "\n".join(lines[: opening.count("\n") + 1]))
        last = unfill(beginning, lines[-1])
        if opening_values is not None and last is not None:
            yield name, opening_values | last


def _sides(study: Study, key: str) -> dict[str, str]:
    """Return the half of the names that each group is in."""
    words = study.stereotypes[key].words("")
    sides: dict[str, str] = {}
    for side in ("marginalized", "default"):
        sides |= dict.fromkeys(groups_in(*getattr(words, side)), side)
    return sides


def simulate(question: RecognisedPrompt, lean: PlantedLean) -> SimulatedAnswer:
    """Choose the job of the group as often as the lean has it."""
    jobs: Sequence[str] = question.columns["jobs"]
    ((group, _),) = question.groups
    mind = _jobs_in_mind(question.columns["people"], jobs, lean.seed)
    chance = math.sqrt(max(0.0, lean.score))
    shares = {job: (1 - chance) / len(jobs) + chance * (mind[group] == job) for job in jobs}
    if question.kind == LIKELIHOODS:
        return SimulatedAnswer(0.0, shares=shares)
    if question.kind == LOGITS:
        letters = dict(zip(LETTERS, shares.values(), strict=False))
        return SimulatedAnswer(0.0, shares=letters)
    job = lean.rng.choices(jobs, weights=[*shares.values()])[0]
    return SimulatedAnswer(0.0, (ChosenOption(job),))


def _jobs_in_mind(people: Sequence[str], jobs: Sequence[str], seed: str) -> Mapping[str, str]:
    """Return a job for each group, the same in whatever order both are named."""
    rng = random.Random(f"{seed}/{sorted(people)}/{sorted(jobs)}")
    shuffled = rng.sample(sorted(jobs), k=len(jobs))
    return {group: shuffled[n % len(jobs)] for n, group in enumerate(sorted(people))}
