"""A report is a tree of parts; a part has sections, a section sentences, figures and tables."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal, NamedTuple

import polars as pl

from clinometer.pieces.drawing.figures import Figure
from clinometer.pieces.paragraphs import Paragraphs
from clinometer.pieces.tables import ReportTable, TableColumn, TableSpec, head

#: Above this many findings they stand in a table.
MOST_SENTENCES = 6

#: Above this many models and modes a section has no sentence for each.
FEW_SENTENCES = 4

#: A reader's question, and sentences that answer it.
Answered = tuple[str, tuple[str, ...]]


@dataclass(frozen=True)
class Piece:
    """A stretch of an answer: ``text``, ``mark``, or a ``gap`` that says how much is left out."""

    kind: str
    text: str


@dataclass(frozen=True)
class Quote:
    """A text under a label; an excerpt stands apart from the text it was taken from."""

    label: str
    pieces: tuple[Piece, ...]
    excerpt: bool = False
    markdown: bool = False  # whether it is shown as its Markdown means it

    @classmethod
    def from_text(
        cls, label: str, text: str, *, excerpt: bool = False, markdown: bool = False
    ) -> Quote:
        """Quote a text in one piece; without any piece where it is empty."""
        return cls(label, (Piece("text", text),) if text else (), excerpt, markdown)


@dataclass(frozen=True)
class Exchange:
    """What a model was asked, what it answered, and what was made of it."""

    about: str
    quotes: tuple[Quote, ...]
    readings: tuple[str, ...] = ()
    note: str = ""


@dataclass(frozen=True)
class Section:
    """One section, folded unless `open`; in it tables without a summary stand open."""

    key: str
    title: str
    text: tuple[str, ...] | Paragraphs = ()
    figures: tuple[Figure, ...] = ()
    tables: tuple[tuple[str, ReportTable], ...] = ()
    notes: tuple[str, tuple[str, ...] | Paragraphs] = ("", ())  # what they are, and each
    examples: tuple[tuple[str, tuple[Exchange, ...]], ...] = ()  # summary, and what unfolds
    short: str = ""  # for the contents; where empty, the title
    open: bool = False  # whether it is read without unfolding it
    # First of all, before or after the figure of each stereotype, or last.
    place: Literal["first", "before", "after", "last"] = "after"

    def numbered(self, place: int, *, figures: bool) -> Section:
        """End the key in a number, to tell parts apart; with `figures` their names too."""
        key = f"{self.key}-{place}"
        if not figures:
            return replace(self, key=key)
        renamed = tuple(replace(f, name=f"{f.name}-{place}") for f in self.figures)
        return replace(self, key=key, figures=renamed)


class Term(NamedTuple):
    """A term and its explanation; the style is a class of the style sheet."""

    name: str
    text: str
    style: str = ""


class Statement(NamedTuple):
    """A sentence on a subject, after a warning where there is one."""

    subject: str
    text: str
    warning: str = ""


class Source(NamedTuple):
    """A work to cite."""

    citation: str
    bibtex: str = ""


@dataclass(frozen=True)
class Passage:
    """Text under a heading: paragraphs, terms, a quotation, and points."""

    title: str
    text: tuple[str, ...] | Paragraphs = ()
    terms: tuple[Term, ...] = ()
    quote: Quote | None = None
    points: tuple[str, ...] = ()


@dataclass(frozen=True)
class Summary:
    """What a reader asks first: a row per question, with its answers."""

    title: str
    findings: tuple[Answered, ...]
    certainty: tuple[Answered, ...]
    consequences: tuple[Answered, ...]
    strongest: tuple[tuple[str, Quote, Quote], ...]  # what leans, prompt, answer
    figure: Figure | None = None
    table: ReportTable | None = None
    decisions: tuple[str, ...] = ()  # stand above all


@dataclass(frozen=True)
class ReportPart:
    """A branch of the report: a family of measures, or one measure of it."""

    key: str
    title: str  # of its heading
    headline: str = ""  # the title of a report that begins with this part
    version: str = ""  # of Clinometer, which made the results
    created: str = ""
    names: tuple[str, ...] = ()  # who was measured
    facts: tuple[Term, ...] = ()  # the same and more, for the head of the page
    measured: tuple[Passage, ...] = ()  # how, and each measure with its scale and source
    note: str = ""  # a line below its heading
    findings: tuple[Statement, ...] = ()  # warnings first
    table: ReportTable | None = None  # of the findings, where there are many
    summary: Summary | None = None  # what stands above them
    sections: tuple[Section, ...] = ()  # in the order of the page, after those of its branches
    limits: tuple[str, ...] | Paragraphs = ()  # what the numbers cannot show
    notes: tuple[Passage, ...] = ()  # notes and defects, each kind under its heading
    sources: tuple[Source, ...] = ()  # what to cite
    setting: tuple[Term, ...] = ()  # what it takes to reproduce it
    parts: tuple[ReportPart, ...] = ()  # its branches

    def leaves(self) -> Iterator[ReportPart]:
        """Yield the parts without branches."""
        if not self.parts:
            yield self
        for part in self.parts:
            yield from part.leaves()

    def figures(self) -> Iterator[Figure]:
        """Yield every figure, in the order of the page."""
        if self.summary and self.summary.figure:
            yield self.summary.figure
        for part in self.parts:
            yield from part.figures()
        for section in self.sections:
            yield from section.figures


def findings_or_table(
    rows: Sequence[tuple[str, str, str]], heads: tuple[str, str], caption: str, nothing: str
) -> dict[str, Any]:
    """Set out findings as a part has them: as sentences, or in a table where there are many.

    `rows`: what each is about, who was measured, and the sentence.
    `heads`: the titles of the first two in a table.
    `caption`: of the table.
    `nothing`: what is said where there are none.
    Result: ``findings`` and ``table`` of a `ReportPart`.
    """
    if len(rows) <= MOST_SENTENCES:
        findings = tuple(Statement(f"{subject}, {who}", text) for subject, who, text in rows)
        return {"findings": findings or (Statement("", nothing),), "table": None}
    frame = pl.DataFrame(rows, schema=["subject", "who", "text"], orient="row")
    columns = (head("subject", heads[0]), head("who", heads[1]), TableColumn("Finding", "text"))
    return {"findings": (), "table": TableSpec("{caption}", columns).render(frame, caption=caption)}


def version_terms(version: str, created: str) -> tuple[Term, ...]:
    """Return the version that made the results, and when, as far as they are known."""
    terms = (("Clinometer", version), ("Created", created))
    return tuple(Term(name, text, "code") for name, text in terms if text)


def name_figures(name: str, figures: Iterable[Figure | None]) -> tuple[Figure, ...]:
    """Name figures, with a number where there are several; None holds the place of one."""
    slots = list(figures)
    renamed = []
    for position, figure in enumerate(slots, 1):
        if figure:
            renamed.append(replace(figure, name=f"{name}-{position}" if slots[1:] else name))
    return tuple(renamed)


def few_sentences(sentences: Sequence[str]) -> tuple[str, ...]:
    """Give sentences, one for each model and mode; of many models none: a table has them."""
    return tuple(sentences) if len(sentences) <= FEW_SENTENCES else ()


def truncation_note(most: int, count: int, what: str) -> str:
    """State that only the first few are drawn; empty where all are."""
    return f" Only the first {most} of {count} {what} are drawn." if count > most else ""
