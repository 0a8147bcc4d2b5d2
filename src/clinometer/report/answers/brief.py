"""What a run found, in brief: the same sentences for a page, a terminal and machines.

`summary` finds what is said here, `earlier` what changed.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any

from clinometer.pieces.drawing.figures import Figure
from clinometer.pieces.findings import Finding
from clinometer.pieces.prose import full_stop
from clinometer.pieces.sections import Answered, Quote, Summary
from clinometer.pieces.tables import ReportTable

__all__ = ["MOST_NAMES", "STRONGEST", "InBrief", "Strongest"]

#: Leans that are shown with an answer, and stereotypes that a sentence names.
STRONGEST, MOST_NAMES = 3, 6


@dataclass(frozen=True)
class Strongest:
    """A finding, with an answer whose score is near its mean; empty texts where there is none."""

    finding: Finding
    prompt: str = ""
    answer: str = ""


@dataclass(frozen=True)
class InBrief:
    """What a run found, in the order in which a reader asks."""

    title: str
    simulated: str
    incomplete: tuple[str, ...]
    elsewhere: tuple[str, ...]  # which answers were not asked with the key of the plan
    validity: tuple[str, ...]
    in_people: tuple[str, ...]  # how the groups of a category that leans fare, the largest first
    remarks: tuple[str, ...]  # of instruments, what their means do not show
    for_public: tuple[str, ...]  # what was found, in people where an instrument can say so
    certainty: str
    strongest: tuple[Strongest, ...]
    means: tuple[Finding, ...]  # of all stereotypes, the strongest first
    over_all: tuple[Finding, ...]  # the mean over all of each instrument, and of each category
    changes: tuple[str, ...]
    limits: str
    next: tuple[str, ...]
    figure: Figure | None = None
    table: ReportTable | None = None

    def lines(self) -> list[str]:
        """Return the same for a terminal: a line for each answer to a question.

        What is incomplete is left out: commands say it on standard error.
        """
        strongest = ("Strongest", tuple(str(lean.finding) for lean in self.strongest))
        answers = (
            ("Simulated", (self.simulated,)),
            ("From elsewhere", self.elsewhere),
            ("Instruments", self.validity),
            ("In people", self.in_people),
            ("Means", tuple(str(mean) for mean in self.over_all if mean.valid)),
            ("Beside the means", self.remarks),
            *self._certainty(),
            strongest,
            *self._consequences(),
        )
        return [f"{name}: {' '.join(sentences)}" for name, sentences in _full_stops(answers)]

    def _findings(self) -> tuple[Answered, ...]:
        return (
            ("Instruments", self.validity),
            ("In people", self.in_people),
            ("Beside the means", self.remarks),
        )

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
        for name in ("means", "over_all"):
            fields[name] = list(map(asdict, fields[name]))
        fields["strongest"] = [
            {**asdict(lean.finding), "prompt": lean.prompt, "answer": lean.answer}
            for lean in self.strongest
        ]
        return fields


def _quotes(lean: Strongest) -> tuple[str, Quote, Quote]:
    """Return a finding with its prompt and answer."""
    return (
        lean.finding.headline,
        Quote.from_text("Asked", lean.prompt),
        Quote.from_text("Answered", lean.answer),
    )


def _full_stops(answers: Sequence[Answered]) -> tuple[Answered, ...]:
    """End each sentence in a full stop; a question without an answer is left out."""
    return tuple(
        (name, tuple(map(full_stop, sentences))) for name, sentences in answers if any(sentences)
    )
