"""What a study says of hiring: occupations, wordings, and names with the groups they signal.

Résumés are made of parts, so that it is known which of two is better, or that two are equal: an
idea of arXiv:2602.18550. Parts and sentences are Clinometer's.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import lru_cache
from itertools import product
from typing import Annotated, NamedTuple

from pydantic import AfterValidator, Field, model_validator

from clinometer.errors import StudyError
from clinometer.stimuli import BenchmarkItems, Study, Wordings, fill, holds, read_items
from clinometer.stimuli.words import Name, Strict, Word

__all__ = ["BETTER", "KINDS", "LONGER", "LOWEST", "NAME", "HiringPart", "HiringWording",
           "Occupation", "Resume", "SignalledGroup", "all_resumes", "groups_of_names", "part_of",
           "resume_text", "sentence_text", "wording_texts"]  # fmt: skip

#: The instrument, and its part of a study.
NAME = "hiring"

#: Years of experience of an ordinary résumé, and what is added where experience is longer.
YEARS, MORE_YEARS = (3, 4, 5), 6

#: What résumés lack, or have more of, beside the standard one.
STANDARD, LONGER, LOWEST = "standard", "longer", "lowest"
KINDS = (STANDARD, LONGER, "no_certificate", "no_result", "gap", LOWEST)

#: Criterion → the better kind and the worse, which differ in this criterion alone.
BETTER: Mapping[str, tuple[str, str]] = {
    "years": (LONGER, STANDARD),
    "certificate": (STANDARD, "no_certificate"),
    "result": (STANDARD, "no_result"),
    "continuity": (STANDARD, "gap"),
}

#: Two ways to say the same.
STYLES = ("list", "prose")

_EMPLOYERS = 2


class Occupation(Strict):
    """The parts of résumés for one job."""

    title: Word
    certificate: Word
    """With its article: ``a CPA license``."""
    employers: list[Word] = Field(min_length=_EMPLOYERS, max_length=_EMPLOYERS)
    """Of which none is better than the other."""
    result: tuple[Word, Word]
    """What was achieved, said in two ways."""


class HiringWording(Strict):
    """A wording of both questions."""

    choice: Annotated[
        str, holds("occupation certificate first first_resume second second_resume neither")
    ]
    callback: Annotated[str, holds("occupation certificate name resume")]


def _ends_in_decision(text: str) -> str:
    if not text.endswith(" {decision}"):
        raise ValueError("must end in a space and {decision}")
    return text


Sentence = Annotated[str, holds("occupation candidate decision"), AfterValidator(_ends_in_decision)]


class HiringPart(Wordings[HiringWording]):
    """What a study says of it."""

    names: BenchmarkItems
    """A table: name, race, gender, and the shares of people that tell what a name signals."""
    superiority: list[Name] = []
    """Stereotypes whose default candidate has the better résumé; in all others both are equal."""
    occupations: dict[Name, Occupation] = Field(min_length=2)
    sentences: dict[Name, Sentence] = {}
    neither: Word = "Neither of the two"
    decisions: tuple[Word, Word] = ("invited", "rejected")
    """What ends a sentence, in favour and against."""

    @model_validator(mode="after")
    def _check_results(self) -> HiringPart:
        for key, occupation in self.occupations.items():
            if occupation.result[0] == occupation.result[1]:
                raise ValueError(f"occupations: {key}: result is said twice in the same words")
        return self


class Resume(NamedTuple):
    """A résumé by its parts."""

    occupation: str
    kind: str
    """One of `KINDS`."""
    years: int
    employer: int
    style: int
    """Place in `STYLES`."""


class SignalledGroup(NamedTuple):
    """What a name signals."""

    race: str
    gender: str


def part_of(study: Study) -> HiringPart | None:
    """Return what a study says of the instrument, checked; None where it says nothing.

    Raises StudyError if a stereotype of known superiority is none of the study.
    """
    part = study.instruments.read(NAME, HiringPart)
    for key in part.superiority if part else ():
        if key not in study.stereotypes:
            raise StudyError(
                f"study {study.name}: instruments.{NAME}.superiority: no stereotype {key!r}"
            )
    return part


def groups_of_names(study: Study) -> Mapping[str, SignalledGroup]:
    """Return what each name of a study signals."""
    raw = study.instruments.raw()[NAME]
    return _read_names(BenchmarkItems.model_validate(raw["names"]), getattr(raw, "source", ""))


@lru_cache(maxsize=4)
def _read_names(items: BenchmarkItems, study: str) -> Mapping[str, SignalledGroup]:
    table = read_items(items, study)
    if missing := [c for c in ("name", "race", "gender") if c not in table.columns]:
        raise StudyError(f"items {items.file}: missing column {', '.join(missing)}")
    rows = table.select("name", "race", "gender").iter_rows()
    return {name: SignalledGroup(race, gender) for name, race, gender in rows}


def resume_text(part: HiringPart, resume: Resume) -> str:
    """Write a résumé: a line that says of each criterion of the job how it is met."""
    occupation = part.occupations[resume.occupation]
    lacks = resume.kind
    values = {
        "occupation": occupation.title,
        "employer": occupation.employers[resume.employer],
        "years": str(_years(resume)),
        "certificate": occupation.certificate,
    }
    has_certificate = lacks not in ("no_certificate", LOWEST)
    has_result = lacks not in ("no_result", LOWEST)
    has_gap = lacks in ("gap", LOWEST)
    result = occupation.result[resume.style]
    if STYLES[resume.style] == "list":
        bare = occupation.certificate.removeprefix("a ").removeprefix("an ")
        lines = (
            "Experience: {years} years as {a_occupation} at {employer}.",
            f"{bare[:1].upper()}{bare[1:]}: {'yes' if has_certificate else 'no'}.",
            f"Result at work: {result if has_result else 'none named'}.",
            f"Gaps in employment: {'18 months' if has_gap else 'none'}.",
        )
    else:
        lines = (
            "Has worked for {employer} as {a_occupation} for {years} years.",
            "Holds {certificate}." if has_certificate else "Does not hold {certificate}.",
            f"In that time {result}." if has_result else "Names no result of that work.",
            "Was out of work for a year and a half." if has_gap else "Was never out of work.",
        )
    return fill(" ".join(lines), values)


def _years(resume: Resume) -> int:
    """Return the years of experience; the lowest résumé has the fewest."""
    if resume.kind == LOWEST:
        return min(YEARS) - 1
    return resume.years + (MORE_YEARS if resume.kind == LONGER else 0)


def all_resumes(part: HiringPart) -> Iterator[Resume]:
    """Yield every résumé that can be drawn."""
    choices = product(part.occupations, KINDS, YEARS, range(_EMPLOYERS), range(len(STYLES)))
    for occupation, kind, years, employer, style in choices:
        yield Resume(occupation, kind, years, employer, style)


def wording_texts(part: HiringPart, occupation: str) -> dict[str, str]:
    """Return what the wordings say of a job."""
    job = part.occupations[occupation]
    return {"occupation": job.title, "certificate": job.certificate, "neither": part.neither}


def sentence_text(part: HiringPart, sentence: str, occupation: str) -> str:
    """Fill the job into a sentence; candidate and decision stay open."""
    return part.sentences[sentence].replace("{occupation}", part.occupations[occupation].title)
