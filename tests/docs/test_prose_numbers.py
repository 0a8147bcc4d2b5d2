"""Figures in prose: each has a source, which is looked up.

A figure is a decimal or a percentage in a sentence or a table. It has to stand, rounded as it is
shown and whatever its sign,

- in a block of the same page that a test runs,
- in the results of a benchmark: of one that the passage names (`python -m benchmarks NAME`), else
  its section; a row of a table whose first cell names rows of the result has to agree with these,
- in a file of this repository, or in a publication, that `SOURCES` names, or
- among the constants of the source.

Whole numbers, and what stands in code, are not looked at.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path
from typing import Any

import pytest
from tests.docs.figure_sources import RESTS_ON, SOURCES
from tests.docs.pages import ROOT, Passage, blocks, passages
from tests.docs.test_examples import EXAMPLES

from clinometer.pieces.prose import ALPHA
from clinometer.statistics.estimates import Inference

BENCHMARKS = "docs/method/benchmarks.md"
PAGES = [
    "README.md",
    "docs/method/validity.md",
    BENCHMARKS,
    *(
        path.relative_to(ROOT).as_posix()
        for folder in ("tutorials", "how-to")
        for path in sorted((ROOT / "docs" / folder).glob("*.md"))
    ),
]
#: Pages of which tests run every block.
RUN_WHOLE = ("docs/tutorials/", "docs/how-to/r.md")
_DEFAULTS = Inference()
#: Level and confidence, the margin of a lean, the floor of compliance, and what they leave.
CONSTANTS = [
    number
    for constant in (ALPHA, _DEFAULTS.margin, _DEFAULTS.compliance_floor)
    for number in (constant, 1 - constant)
]
FIGURE = re.compile(r"(?<![\w.,/])(\d{0,3}(?:,\d{3})*\.\d+(?!\.\d|\w)|\d+(?=%))(%?)")
NUMBER = re.compile(r"(\d+(?:,\d{3})*(?:\.\d+)?|\.\d+)(?:e(-?\d{1,2})\b)?(%?)")


@dataclass(frozen=True)
class Figure:
    """A decimal or a percentage, as it is shown."""

    text: str
    value: float
    places: int

    def is_among(self, numbers: Iterable[float]) -> bool:
        """Whether one of the numbers is this figure after rounding."""
        half = 0.5 * 10**-self.places + 1e-9  # a half may be rounded either way
        return any(abs(number - self.value) <= half for number in numbers)


def figures_in(text: str) -> list[Figure]:
    figures = []
    for number, sign in FIGURE.findall(text):
        digits = number.replace(",", "")
        places = len(digits.partition(".")[2])
        value = float(digits)
        if sign:  # a share, as benchmarks have it
            value, places = value / 100, places + 2
        figures.append(Figure(number + sign, value, places))
    return figures


def groups_in(text: str) -> Iterator[list[Figure]]:
    """Yield the figures of a text, an estimate together with the interval in brackets after it."""
    for part in re.findall(r"\S+ \[[^\]]*\]|\S+", text):
        if figures := figures_in(part):
            yield figures


def stand(figures: list[Figure], rows: list[list[float]]) -> bool:
    """Whether a row of a source, such as a block or a row of a result, has all of a group."""
    return any(all(figure.is_among(row) for figure in figures) for row in rows)


def numbers_in(source: Any) -> Iterator[float]:
    """Yield the numbers of a text, or of cells, without their signs."""
    if isinstance(source, str):
        for digits, power, sign in NUMBER.findall(source):
            number = float(digits.replace(",", "")) * 10.0 ** int(power or 0)
            yield number / 100 if sign else number
    elif isinstance(source, (int, float)):
        yield abs(source)
    elif source is not None:
        for part in source:
            yield from numbers_in(part)


@cache
def results() -> dict[str, Any]:
    text = (ROOT / "benchmarks" / "results.json").read_text(encoding="utf-8")
    loaded: dict[str, Any] = json.loads(text)
    return loaded


def words(text: str) -> list[str]:
    return re.findall(r"[^\W_]+", text.lower())


def matching_rows(labels: Sequence[str], rows: list[list[Any]]) -> list[list[Any]]:
    """Return the rows that labels name: the first one by a first cell, else all by their words."""
    exact = [row for row in rows if labels and words(str(row[0])) == words(labels[0])]
    texts = [" ".join(cell for cell in row if isinstance(cell, str)) for row in rows]
    for label_words in (words(" ".join(labels)), words("".join(labels[:1]))):
        alike = [
            row for row, text in zip(rows, texts, strict=True)
            if label_words and {*label_words} <= {*words(text)}
        ]  # fmt: skip
        if exact or alike:
            return exact or alike
    return []


def rows_of_benchmarks(names: Iterable[str], labels: Sequence[str]) -> list[list[float]]:
    """Return the numbers of results, by row; of a labelled row, those of the rows that it names."""
    rows = []
    for name in names:
        result = results()[name]
        sources = matching_rows(labels, result["rows"]) or [
            *result["rows"],
            *result["notes"],
            *result["claims"],
        ]
        rows += [[*numbers_in(source)] for source in sources]
    return rows


def passage_benchmarks(page: str, passage: Passage) -> set[str]:
    """Return the benchmarks that a passage names; by their names alone on the page of them."""
    names = {re.sub(r"^python -m benchmarks[ .]", "", code) for code in passage.code}
    if page != BENCHMARKS:
        names -= {*passage.code}
    return names & {*results()}


def executed(page: str) -> list[str]:
    """Return the blocks of a page that a test runs."""
    texts = [block.text for block in blocks(ROOT / page)]
    if page.startswith(RUN_WHOLE):
        return texts
    begins = tuple(f"$ {example.begins}" for example in EXAMPLES if example.page == page)
    return [text for text in texts if begins and text.startswith(begins)]


def passages_with_sources(page: str) -> Iterator[tuple[Passage, list[list[float]]]]:
    """Yield the passages of a page, each with the rows in which its figures are looked up."""
    fixed = [CONSTANTS, *([*numbers_in(block)] for block in executed(page))]
    read = list(passages(ROOT / page))
    by_heading: dict[int, set[str]] = {}
    for passage in read:
        for heading in passage.headings:
            by_heading.setdefault(heading, set()).update(passage_benchmarks(page, passage))
    for passage in read:
        declared_for = [
            names
            for begins, names in RESTS_ON.get(page, {}).items()
            if passage.text.startswith(begins)
        ]
        scope = passage_benchmarks(page, passage).union(*declared_for)
        # The first heading is that of the page: a benchmark named there says nothing of sections.
        sections = [by_heading[heading] for heading in passage.headings[:0:-1]]
        names = next((names for names in (scope, *sections) if names), set())
        yield passage, [*fixed, *rows_of_benchmarks(sorted(names), passage.labels)]


def unsourced(page: str) -> Iterator[tuple[Passage, Figure]]:
    """Yield the figures that stand neither in a block, nor in a benchmark, nor in the source."""
    for passage, rows in passages_with_sources(page):
        for figures in groups_in(passage.text):
            if not stand(figures, rows):
                yield from ((passage, figure) for figure in figures)


def declared(page: str) -> dict[str, list[Figure]]:
    """Return the figures of a page that a source is declared for, by source."""
    return {source: figures_in(text) for source, text in SOURCES.get(page, {}).items()}


@pytest.mark.parametrize("page", PAGES)
def test_figures_in_prose_have_a_source(page: str) -> None:
    sourced = {figure.text.lstrip("0") for figures in declared(page).values() for figure in figures}
    missing = [
        f"{page}:{passage.line}: {figure.text} in: {passage.text[:80]}"
        for passage, figure in unsourced(page)
        if figure.text.lstrip("0") not in sourced
    ]
    assert not missing, "\n".join(missing)


def test_most_wrong_figures_are_noticed() -> None:
    """Where many numbers are looked through, a wrong figure is among them by chance at times."""
    noticed = [
        not stand([replace(figure, value=abs(figure.value - 0.03)), *interval], rows)
        for page in PAGES
        for passage, rows in passages_with_sources(page)
        for figure, *interval in groups_in(passage.text)
        if figure.places == 2
    ]
    assert len(noticed) > 1000 and sum(noticed) > 0.5 * len(noticed)


def test_a_figure_is_what_is_shown_after_rounding() -> None:
    (figure,) = figures_in("a mean of −.07 in 1.5B, v1.2.3 and Python3.12")
    assert figure == Figure(".07", 0.07, 2)
    assert figure.is_among(numbers_in(["none", None, "-0.0699 [0, 1]"]))
    assert not figure.is_among(numbers_in([0.0649, "0.0751"]))


def test_a_percentage_is_a_share() -> None:
    assert figures_in("in 46% of cases, $1,000.50") == [
        Figure("46%", 0.46, 2),
        Figure("1,000.50", 1000.5, 2),
    ]
    assert [*numbers_in("99.29%, 1e-2")] == pytest.approx([0.9929, 0.01])


def test_a_row_is_looked_up_in_the_rows_that_it_names() -> None:
    rows = [["names differ", 0.1], ["names differ, skewed", 0.2], ["nothing", 0.3]]
    assert matching_rows(["names differ"], rows) == rows[:1]
    assert matching_rows(["skewed", "names"], rows) == rows[1:2]
    assert matching_rows(["all stereotypes"], rows) == []


def test_an_estimate_is_looked_up_with_its_interval() -> None:
    (group,) = groups_in("leans by .4 [.1, .7] here")
    assert [figure.text for figure in group] == [".4", ".1", ".7"]
    assert stand(group, [[0.4, 0.1, 0.7]]) and not stand(group, [[0.4, 0.1], [0.7]])


def test_passages_are_paragraphs_and_rows(tmp_path: Path) -> None:
    page = tmp_path / "page.md"
    page.write_text(
        "# Title\n\nSee `x`, .5.\n\n## Part\n\n| a | b |\n|---|---|\n| c | *.2* |\n\n"
        "```console\n$ run\n.9\n```\n",
        encoding="utf-8",
    )
    read = [(passage.text, passage.labels, len(passage.headings)) for passage in passages(page)]
    assert read == [
        ("Title", (), 1),
        ("See `, .5.", (), 1),
        ("Part", (), 2),
        ("a | b", ("a", "b"), 2),
        ("c | .2", ("c",), 2),
    ]
    assert [block.language for block in blocks(page)] == ["console"]


@pytest.mark.parametrize("page", SOURCES)
def test_a_declared_source_is_needed(page: str) -> None:
    """A figure that has another source by now leaves the list; so does one that is gone."""
    needed = {figure.text.lstrip("0") for _, figure in unsourced(page)}
    listed = {figure.text.lstrip("0") for figures in declared(page).values() for figure in figures}
    assert listed - needed == set()


@pytest.mark.parametrize("page", SOURCES)
def test_a_declared_file_has_the_figures(page: str) -> None:
    for source, figures in declared(page).items():
        path = ROOT / source.partition(" ")[0]
        if path.is_file():
            numbers = list(numbers_in(path.read_text(encoding="utf-8")))
            assert [figure for figure in figures if not figure.is_among(numbers)] == [], source
