"""Items of BBQ: questions about two persons with three options, and how answers match them.

The format is that of Parrish et al. (2022), github.com/nyu-mll/BBQ, as one table; `COLUMNS` are
needed. The matching of recorded answers follows ``BBQ_calculate_bias_score.R``.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import lru_cache
from typing import Any, NamedTuple

import polars as pl

from clinometer.authoring import BenchmarkItems, StudyError, read_items

__all__ = ["AMBIGUOUS", "CONTEXTS", "LETTERS", "PLACES", "Item", "read_bbq"]

AMBIGUOUS = "ambiguous"

#: Conditions as released → kinds of context.
CONTEXTS = {"ambig": AMBIGUOUS, "disambig": "disambiguated"}

#: Letters of the options, in the order of the prompt.
LETTERS = ("A", "B", "C")

#: Numbers of the options, as the release writes them.
PLACES = ("0", "1", "2")
_GROUPS = tuple(f"ans{place}_group" for place in PLACES)
_ALLOWED = {
    "polarity": ("neg", "nonneg"),
    "condition": tuple(CONTEXTS),
    "label": PLACES,
    "target_loc": PLACES,
}
COLUMNS = (
    "example_id",
    "question_index",
    "category",
    "context",
    "question",
    *(f"ans{place}{suffix}" for place in PLACES for suffix in ("", "_text", "_group")),
    *_ALLOWED,
)


class Item(NamedTuple):
    """One question; options are numbered as released."""

    name: str
    """Category and example id."""
    category: str
    template: str
    polarity: str
    context_kind: str
    """Ambiguous or disambiguated."""
    context: str
    question: str
    options: tuple[str, str, str]
    descriptions: tuple[str, str, str]
    """Short descriptions of the options, for the published matching."""
    label: int
    """The right option."""
    target: int
    """The option that the stereotype suggests."""
    unknown: int

    @property
    def opposite(self) -> int:
        """The person who is not the target."""
        # Options are 0, 1 and 2, whose sum is 3.
        return 3 - self.target - self.unknown

    @property
    def marginalized(self) -> int:
        """The person of the stereotyped group: the target of a negative question."""
        return self.target if self.polarity == "neg" else self.opposite

    @property
    def default(self) -> int:
        """The other of the two persons."""
        return 3 - self.marginalized - self.unknown

    def role(self, option: int) -> str:
        """Return what an option is: ``target``, ``other`` or ``unknown``."""
        return {self.target: "target", self.unknown: "unknown"}.get(option, "other")

    def find(self, option: object) -> int | None:
        """Return the number of an option by its text."""
        return self.options.index(option) if option in self.options else None

    def published_match(self, answer: str) -> int | None:
        """Return the option that an answer matches, as published.

        It is the option with the same text, but for case and a final full stop; else the one whose
        description begins with two words that stand in the answer.
        """
        plain = _plain(answer)
        for number, option in enumerate(self.options):
            if plain == _plain(option):
                return number
        for number, text in enumerate(self.descriptions):
            first_words = text.lower().split()[:2]
            if len(first_words) == 2 and " ".join(first_words) in plain:
                return number
        return None


def _plain(text: str) -> str:
    """Return a text as the released script compares it, slips of its own included."""
    plain = text.strip().lower().replace("}", "").replace("o'brien", "obrien")
    return plain.removesuffix(".").replace("pantsuit", "pantsu").strip()


@lru_cache(maxsize=4)
def read_bbq(items: BenchmarkItems, study: str) -> Mapping[str, Item]:
    """Read a table of items, by category and example id; `study` is the path of the study file.

    Items without a target are left out, as published. Raises StudyError if a column is missing or a
    value is not allowed.
    """
    table = read_items(items, study, COLUMNS).filter(pl.col("target_loc") != "")
    questions = [_make_item(row, items.file) for row in table.iter_rows(named=True)]
    return {item.name: item for item in questions}


def _make_item(row: Mapping[str, Any], file: str) -> Item:
    """Make an item of a row; raise StudyError for what is not allowed."""
    name = f"{row['category']} {row['example_id']}"
    for column, allowed in _ALLOWED.items():
        if row[column] not in allowed:
            raise StudyError(
                f"items {file}: {name}: {column} {row[column]!r}; allowed are {', '.join(allowed)}"
            )
    unknown = [number for number, group in enumerate(_GROUPS) if row[group] == "unknown"]
    if len(unknown) != 1 or int(row["target_loc"]) in unknown:
        raise StudyError(
            f"items {file}: {name}: {', '.join(_GROUPS)}; expected unknown once, and not for the "
            "target"
        )
    options = tuple(row[f"ans{place}"] for place in PLACES)
    if len(set(options)) < 3:
        raise StudyError(f"items {file}: {name}: two options read {options[0]!r}; expected three")
    return Item(
        name=name,
        category=row["category"],
        template=row["question_index"],
        polarity=row["polarity"],
        context_kind=CONTEXTS[row["condition"]],
        context=row["context"],
        question=row["question"],
        options=options,
        descriptions=tuple(row[f"ans{place}_text"] for place in PLACES),
        label=int(row["label"]),
        target=int(row["target_loc"]),
        unknown=unknown[0],
    )
