"""What a run found, in brief: the same sentences for a page, a terminal and machines.

`summary` finds what is said here, `earlier` what changed.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

from clinometer.pieces.drawing.figures import Figure
from clinometer.pieces.prose import LEANS
from clinometer.pieces.sections import Answered, Quote, Summary
from clinometer.pieces.tables import ReportTable
from clinometer.results import CONDITIONS

__all__ = ["FACTORS", "MOST_NAMES", "STRONGEST", "InBrief", "Lean"]

#: Leans that are shown with an answer, and stereotypes that a sentence names.
STRONGEST, MOST_NAMES = 3, 6

#: The factors of a mean, and the columns of estimates that hold them.
FACTORS = {
    **{name: name for name in ("model", "study", "instrument", *CONDITIONS, "dimension")},
    **{"mode": "plain_mode", "word_list": "word_list", "stereotype": "stereotype"},
}


@dataclass(frozen=True)
class Lean:
    """The mean of a stereotype, and an answer with a score near it."""

    # Names of fields are keys of the JSON that commands print: see `InBrief.content`.
    about: Mapping[str, str | None]  # model, study, mode and so on
    instrument: str  # its name
    stereotype: str  # its label
    verdict: str  # in other prompts, as headlines count: see `prose.headline_kind`
    mean: float
    low: float | None  # of the interval in other prompts
    high: float | None
    low_in_prompts: float | None
    high_in_prompts: float | None
    lean: str  # whether it leans in these prompts and in others, in words
    shown: str  # the mean with its intervals
    strength: float  # share of the way from neutral to the end of the scale; positive: consistent
    of: str = ""  # model and mode, where there are several
    prompt: str = ""
    answer: str = ""

    @property
    def differs(self) -> bool:
        """Whether the mean differs from neutral in other prompts: what is told of the model."""
        return self.verdict in LEANS

    def __str__(self) -> str:
        """Say what leans, and how much."""
        dimension = self.about["dimension"] or ""
        parts = (
            self.instrument,
            "" if dimension.lower() in self.of.lower() else dimension,
            self.of,
        )
        where = ", ".join(filter(None, parts))
        return f"{self.stereotype} ({where}): {self.shown}: {self.lean}"


@dataclass(frozen=True)
class InBrief:
    """What a run found, in the order in which a reader asks."""

    title: str
    simulated: str
    incomplete: tuple[str, ...]
    elsewhere: tuple[str, ...]  # which answers were not asked with the key of the plan
    validity: tuple[str, ...]
    leans: tuple[str, ...]
    certainty: str
    strongest: tuple[Lean, ...]
    means: tuple[Lean, ...]  # of all stereotypes, the strongest first, without answers
    changes: tuple[str, ...]
    limits: str
    next: tuple[str, ...]
    figure: Figure | None = None
    table: ReportTable | None = None

    def lines(self) -> list[str]:
        """Return the same for a terminal: a line for each answer to a question.

        What is incomplete is left out: commands say it on standard error.
        """
        strongest = ("Strongest", tuple(map(str, self.strongest)))
        answers = (
            ("Simulated", (self.simulated,)),
            ("From elsewhere", self.elsewhere),
            *self._findings(),
            *self._certainty(),
            strongest,
            *self._consequences(),
        )
        return [f"{name}: {' '.join(sentences)}" for name, sentences in _full_stops(answers)]

    def _findings(self) -> tuple[Answered, ...]:
        return ("Instruments", self.validity), ("Leans", self.leans)

    def _certainty(self) -> tuple[Answered, ...]:
        return (("Certainty", (self.certainty,)),)

    def _consequences(self) -> tuple[Answered, ...]:
        return ("Since then", self.changes), ("Not shown", (self.limits,)), ("Next", self.next)

    def page(self) -> Summary:
        """Return the same for the head of a page."""
        return Summary(
            title=self.title,
            findings=_full_stops(
                (
                    ("Incomplete", self.incomplete),
                    ("From elsewhere", self.elsewhere),
                    *self._findings(),
                )
            ),
            certainty=_full_stops(self._certainty()),
            consequences=_full_stops(self._consequences()),
            strongest=tuple(map(_quotes, self.strongest)),
            figure=self.figure,
            table=self.table,
        )

    def content(self) -> dict[str, Any]:
        """Return the same for machines."""
        fields = {
            name: value for name, value in vars(self).items() if name not in ("figure", "table")
        }
        for name in ("strongest", "means"):
            fields[name] = [asdict(lean) for lean in fields[name]]
        return fields


def _quotes(lean: Lean) -> tuple[str, Quote, Quote]:
    """Return a lean with its prompt and answer."""
    return (
        str(lean),
        Quote.from_text("Asked", lean.prompt),
        Quote.from_text("Answered", lean.answer),
    )


def _full_stops(answers: Sequence[Answered]) -> tuple[Answered, ...]:
    """End each sentence in a full stop; a question without an answer is left out."""
    return tuple(
        (name, tuple(map(_full_stop, sentences))) for name, sentences in answers if any(sentences)
    )


def _full_stop(sentence: str) -> str:
    return sentence if sentence.endswith((".", "”")) else f"{sentence}."
