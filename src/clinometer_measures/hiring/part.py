"""What a study says of hiring: occupations, wordings, and names with the groups they signal.

Résumés are made of parts, so that it is known which of two is better, or that two are equal: an
idea of arXiv:2602.18550. Parts and sentences are Clinometer's.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from functools import lru_cache
from itertools import product
from typing import Annotated, NamedTuple

from pydantic import AfterValidator, Field, model_validator

from clinometer.authoring import (
    BenchmarkItems,
    Name,
    Strict,
    Study,
    StudyError,
    Word,
    Wordings,
    fill,
    holds,
    read_items,
)

__all__ = [
    "BETTER",
    "CALLBACK",
    "CHOICE",
    "DIGITS",
    "GROUPS",
    "KINDS",
    "LONGER",
    "LOWEST",
    "NAME",
    "POINTS",
    "SCORE",
    "STEPS",
    "Cue",
    "HiringPart",
    "HiringWording",
    "Occupation",
    "Resume",
    "SignalledGroup",
    "all_resumes",
    "groups_of_names",
    "has_scores",
    "part_of",
    "resume_text",
    "score_templates",
    "sentence_text",
    "wording_texts",
]

#: The instrument, and its part of a study.
NAME = "hiring"

#: The questions, which are never pooled.
CHOICE, CALLBACK, SCORE = "choice", "callback", "score"

#: The sides of a contrast.
GROUPS = ("marginalized", "default")

#: The scale of scores. Where probabilities are read it has single digits: the first token of 10 is
#: that of 1 in most vocabularies.
POINTS = tuple(str(number) for number in range(1, 11))
DIGITS = tuple(str(number) for number in range(10))

#: Steps between the ends of either.
STEPS = len(POINTS) - 1

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
    """A wording of the questions."""

    choice: Annotated[
        str, holds("occupation certificate first first_resume second second_resume neither")
    ]
    callback: Annotated[str, holds("occupation certificate name resume")]
    score: Annotated[str, holds("occupation certificate name resume lowest highest")] | None = None
    """Not asked without it."""


def _ends_in_decision(text: str) -> str:
    if not text.endswith(" {decision}"):
        raise ValueError("must end in a space and {decision}")
    return text


Sentence = Annotated[str, holds("occupation candidate decision"), AfterValidator(_ends_in_decision)]

ScoreSentence = Annotated[
    str, holds("occupation candidate lowest highest decision"), AfterValidator(_ends_in_decision)
]


class Cue(Strict):
    """A sentence in both résumés of a contrast, which states the group of one candidate."""

    marginalized: Word
    default: Word
    """The same without the group; no other cue has this sentence."""
    names: list[Name] = []
    """Contrasts of names that signal the same group, to compare with."""


class HiringPart(Wordings[HiringWording]):
    """What a study says of it."""

    names: BenchmarkItems
    """A table: name, race, gender, and the shares of people that tell what a name signals."""
    superiority: list[Name] = []
    """Stereotypes whose default candidate has the better résumé; in all others both are equal."""
    cues: dict[Name, Cue] = {}
    """Stereotypes whose contrast is stated in the résumé, with names of one group."""
    occupations: dict[Name, Occupation] = Field(min_length=2)
    sentences: dict[Name, Sentence] = {}
    score_sentences: dict[Name, ScoreSentence] = {}
    """By names of `sentences`: the same wording, in which the decision is a score."""
    neither: Word = "Neither of the two"
    decisions: tuple[Word, Word] = ("invited", "rejected")
    """What ends a sentence, in favour and against."""

    @model_validator(mode="after")
    def _check_parts(self) -> HiringPart:
        for name in self.score_sentences:
            if name not in self.sentences:
                raise ValueError(f"score_sentences: {name}: is none of the sentences")
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
    cue: str = ""
    """A last sentence, which says something of the candidate."""


class SignalledGroup(NamedTuple):
    """What a name signals."""

    race: str
    gender: str


def part_of(study: Study) -> HiringPart | None:
    """Return what a study says of the instrument, checked; None where it says nothing.

    Raises StudyError if a stereotype of known superiority, or of a cue, is none of the study.
    """
    part = study.instruments.read(NAME, HiringPart)
    if part is None:
        return None
    referenced_keys = [("superiority", key) for key in part.superiority]
    for cue_key, cue in part.cues.items():
        referenced_keys += [("cues", key) for key in (cue_key, *cue.names)]
    for place, key in referenced_keys:
        if key not in study.stereotypes:
            raise StudyError(
                f"study {study.name}: instruments.{NAME}.{place}: no stereotype {key!r}"
            )
    return part


def has_scores(part: HiringPart, name: str, *, sentences: bool) -> bool:
    """Whether a wording, or a sentence, asks for scores."""
    return name in part.score_sentences if sentences else bool(part.variations[name].score)


def score_templates(study: Study, variation: str) -> list[str]:
    """Return the texts that ask for scores under the name of a wording or sentence."""
    part = part_of(study)
    if part is None:
        return []
    wording = part.variations.get(variation)
    texts = (wording and wording.score, part.score_sentences.get(variation))
    return [text for text in texts if text]


def groups_of_names(study: Study) -> Mapping[str, SignalledGroup]:
    """Return what each name of a study signals."""
    raw = study.instruments.raw()[NAME]
    return _read_names(BenchmarkItems.model_validate(raw["names"]), getattr(raw, "source", ""))


@lru_cache(maxsize=4)
def _read_names(items: BenchmarkItems, study: str) -> Mapping[str, SignalledGroup]:
    columns = ("name", *SignalledGroup._fields)
    rows = read_items(items, study, columns).select(columns).iter_rows()
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
    return " ".join(filter(None, (fill(" ".join(lines), values), resume.cue)))


def _years(resume: Resume) -> int:
    """Return the years of experience; the lowest résumé has the fewest."""
    if resume.kind == LOWEST:
        return min(YEARS) - 1
    return resume.years + (MORE_YEARS if resume.kind == LONGER else 0)


def all_resumes(part: HiringPart) -> Iterator[Resume]:
    """Yield every résumé that can be drawn."""
    cues = ["", *(text for cue in part.cues.values() for text in (cue.marginalized, cue.default))]
    choices = product(part.occupations, KINDS, YEARS, range(_EMPLOYERS), range(len(STYLES)), cues)
    for occupation, kind, years, employer, style, cue in choices:
        yield Resume(occupation, kind, years, employer, style, cue)


def wording_texts(
    part: HiringPart, occupation: str, scale: Sequence[str] = POINTS
) -> dict[str, str]:
    """Return what the wordings say of a job, and of the scale of scores."""
    job = part.occupations[occupation]
    ends = {"lowest": scale[0], "highest": scale[-1]}
    texts = {"occupation": job.title, "certificate": job.certificate, "neither": part.neither}
    return texts | ends


def sentence_text(part: HiringPart, sentence: str, occupation: str, dimension: str) -> str:
    """Fill the job into a sentence of a question; candidate and decision stay open."""
    sentences = part.score_sentences if dimension == SCORE else part.sentences
    values = {"occupation": part.occupations[occupation].title}
    values |= {"lowest": DIGITS[0], "highest": DIGITS[-1]}
    still_open = {place: "{" + place + "}" for place in ("candidate", "decision")}
    return fill(sentences[sentence], values | still_open)
