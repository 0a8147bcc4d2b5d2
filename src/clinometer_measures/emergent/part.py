"""What a study says of emergent stereotypes: jobs, texts; and the script of an episode.

All texts stand in the study, so that a study in another language is a file. A script has all that
happens in an episode but the choices: who comes when, who would do well in which job, and texts. It
stands in the trial, so that an episode can be played again without the study.
"""

from __future__ import annotations

import random
from collections.abc import Sequence
from typing import Annotated, Any

from pydantic import AfterValidator, Field, ValidationError

from clinometer.authoring import (
    InputError,
    Name,
    Strict,
    Study,
    StudyError,
    Word,
    Wordings,
    WordList,
    fill,
    holds,
)

__all__ = [
    "LETTERS",
    "NAME",
    "SEPARATOR",
    "EmergentPart",
    "EmergentWording",
    "Script",
    "groups_in",
    "part_of",
    "write_script",
]

#: The instrument, and its part of a study.
NAME = "emergent"

#: Between the names of groups in one entry of a list of group words.
SEPARATOR = ", "

#: Labels of jobs, in the order of the prompt.
LETTERS = "ABCDEFGH"


class EmergentWording(Strict):
    """The texts of a question: `opening`, the record of earlier days, `question`."""

    opening: Annotated[str, holds("groups jobs days")]
    nothing: str
    """In place of a record, on the first day."""
    given: Annotated[str, holds("day group job result")]
    """A line of the record."""
    not_given: Annotated[str, holds("day group")]
    """The same of a person who was given no job."""
    question: Annotated[str, holds("day group options", "days")]


def _ends_in_job(text: str) -> str:
    line = text.rpartition("\n")[2]
    if "\n" not in text or " {job}" not in line or line.index("{job}") > line.index("{result}"):
        raise ValueError("needs an opening and, on a line of its own, {job} before {result}")
    return text


class EmergentPart(Wordings[EmergentWording]):
    """What a study says of it."""

    rounds: int = Field(8, ge=2, le=50)
    """In each, one person of every group comes."""
    success: float = Field(0.9, gt=0, lt=1)
    """Probability of doing well, in every job and for every group."""
    jobs: dict[Name, Annotated[WordList, Field(min_length=2, max_length=len(LETTERS))]]
    """Jobs by stereotype."""
    differing: list[Name] = []
    """Stereotypes where each group does well in a job of its own, and badly in the others; at the
    beginning the record has every group in every job once, so that this can be known."""
    shuffled: list[Name] = []
    """Stereotypes where names of groups are dealt out anew in each round, and say nothing."""
    results: tuple[Word, Word] = ("did well", "did badly")
    answer: str = "My choice is"
    """How an answer in letters begins."""
    sentences: dict[Name, Annotated[str, holds("groups jobs days day group job result"),
                                    AfterValidator(_ends_in_job)]] = {}  # fmt: skip
    """For the mode that asks sentences: an opening and, on the last line, a line of the record,
    which is left open at {job}."""


class DayTexts(Strict):
    """The texts of an `EmergentWording`, filled in but for what differs from day to day."""

    opening: str
    nothing: str
    given: str
    not_given: str
    question: str


class Script(Strict):
    """What happens in an episode, whatever is chosen."""

    people: list[str]
    """The groups by number."""
    jobs: list[str]
    """In the order of the prompt."""
    order: list[list[int]]
    """Who comes in each round: numbers of groups."""
    shown: list[list[int]] | None
    """Where names say nothing: number of the name that each group has in a round."""
    success: list[list[list[bool]]]
    """Whether a person would do well: round, group, job."""
    past: list[tuple[int, int, bool]] = []
    """What the record has at the beginning: group, job, and whether it went well."""
    chance: float
    """Probability of doing well where groups are alike."""
    texts: DayTexts | None
    """None: a sentence."""
    sentence: str = ""
    results: tuple[str, str]

    @classmethod
    def read(cls, text: str | None) -> Script:
        """Read the column `script`; raises InputError if it holds none."""
        try:
            return cls.model_validate_json(text or "")
        except ValidationError as error:
            why = error.errors()[0]["msg"]
            raise InputError(f"responses: script: {why}; keep the column as it is") from None

    @property
    def days(self) -> int:
        """The number of persons to be given a job, who come one a day."""
        return len(self.order) * len(self.people)

    def name_of(self, number: int, group: int) -> str:
        """Return the name under which a group comes in a round."""
        return self.people[group if self.shown is None else self.shown[number][group]]


def part_of(study: Study) -> EmergentPart | None:
    """Return what a study says of the instrument, checked; None where it says nothing.

    Raises StudyError if a stereotype has no jobs, or one that is named is none of the study.
    """
    part = study.instruments.read(NAME, EmergentPart)
    if part is None:
        return None
    where = f"study {study.name}: instruments.{NAME}"
    for field in ("jobs", "differing", "shuffled"):
        for key in getattr(part, field):
            if key not in study.stereotypes:
                raise StudyError(f"{where}.{field}: no stereotype {key!r}")
    for key in study.stereotypes:
        if key not in part.jobs:
            raise StudyError(f"{where}.jobs: stereotype {key} has no jobs")
    return part


def groups_in(*entries: str) -> list[str]:
    """Return the names of groups in entries of group words, such as ``Vemlo, Drunta``."""
    return [name for entry in entries for name in entry.split(SEPARATOR)]


def write_script(
    part: EmergentPart, key: str, variation: str, people: Sequence[str], rng: random.Random
) -> Script:
    """Draw what happens in an episode: the same for every order of `people`."""
    size = len(people)
    jobs = rng.sample(part.jobs[key], k=len(part.jobs[key]))
    order = [rng.sample(range(size), k=size) for _ in range(part.rounds)]
    name_numbers = [rng.sample(range(size), k=size) for _ in range(part.rounds)]
    skills = rng.sample(range(len(jobs)), k=len(jobs))
    luck = [[[rng.random() for _ in jobs] for _ in people] for _ in range(part.rounds)]
    success = [
        [
            [u < _chance(part, key, skills[group % len(jobs)] == job) for job, u in enumerate(us)]
            for group, us in enumerate(round_luck)
        ]
        for round_luck in luck
    ]
    past: list[tuple[int, int, bool]] = []
    if key in part.differing:
        tried = [(group, job) for group in range(size) for job in range(len(jobs))]
        past = [(g, job, skills[g % len(jobs)] == job) for g, job in rng.sample(tried, len(tried))]
    texts = {
        "groups": SEPARATOR.join(people),
        "jobs": SEPARATOR.join(jobs),
        "days": str(len(past) + part.rounds * size),
    }
    wording = part.variations.get(variation)
    return Script(
        people=list(people),
        jobs=jobs,
        order=order,
        shown=name_numbers if key in part.shuffled else None,
        success=success,
        past=past,
        chance=part.success,
        texts=None if wording is None else _filled(wording, texts),
        sentence="" if wording is not None else _fill_constants(part.sentences[variation], texts),
        results=part.results,
    )


def _chance(part: EmergentPart, key: str, is_skilled: bool) -> float:
    """Return how probable it is to do well."""
    if key in part.differing and not is_skilled:
        return 1 - part.success
    return part.success


#: What differs from day to day.
_OPEN = ("day", "group", "job", "result", "options")


def _fill_constants(text: str, texts: dict[str, Any]) -> str:
    return fill(text, {**{name: "{" + name + "}" for name in _OPEN}, **texts})


def _filled(wording: EmergentWording, texts: dict[str, Any]) -> DayTexts:
    """Fill in what is the same every day."""
    filled = {name: _fill_constants(text, texts) for name, text in dict(wording).items()}
    return DayTexts(**filled)
