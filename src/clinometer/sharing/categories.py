"""Categories of people in a table: the names of their columns, of who is unknown, and of sums.

``unknown.txt`` lists how applicant systems and published audits spell a category that nobody
stated. Sums are told by their names alone: `Total`, `Total, Female`, `All races`.
"""

from __future__ import annotations

import re
from functools import cache
from importlib.resources import files

import polars as pl

from clinometer.errors import InputError
from clinometer.results.faults import row_places

#: A category that nobody stated; it is counted, and sets no benchmark.
UNKNOWN = "unknown"

#: Column of categories → what the law calls it.
CATEGORIES = {"race": "race/ethnicity", "gender": "sex"}

#: Folded names of columns → names here.
_COLUMNS = {
    **dict.fromkeys(("race", "race ethnicity", "ethnicity race"), "race"),
    **dict.fromkeys(("gender", "sex"), "gender"),
}

#: What a category is of: `Race unknown`, `I decline to state my gender`, `All sexes`.
_ATTRIBUTES = frozenset("race races ethnicity ethnicities gender genders sex sexes".split())
_PEOPLE = frozenset(
    "applicant applicants candidate candidates employee employees individual individuals people"
    " person persons respondent respondents group groups category categories".split()
)
_CONNECTIVES = frozenset("and or of the my i d".split())

#: First or last words of the name of a sum, and first words of one of everybody.
_SUM = frozenset("total totals subtotal subtotals overall sum".split())
_EVERYBODY = frozenset("all any both every everyone everybody".split())

_SEPARATORS = re.compile(r"[/|,;()\[\]]| or | and ")
_NEGATED = re.compile(r"\b(do|does|did)n['’]?t\b")


def name_columns(table: pl.DataFrame, name: str) -> pl.DataFrame:
    """Give the columns of categories our names: `sex`, the law's word, becomes `gender`.

    Raises InputError, with `name` for the table, if two columns are for the same.
    """
    columns: dict[str, str] = {}
    for column in table.columns:
        ours = _COLUMNS.get(_fold(column))
        if ours is None:
            continue
        if ours in columns.values():
            doubles = [*(old for old, new in columns.items() if new == ours), column]
            raise InputError(f"{name}: columns {' and '.join(doubles)} are for the same; keep one")
        columns[column] = ours
    return table.rename(columns)


def name_categories(table: pl.DataFrame, name: str) -> pl.DataFrame:
    """Name categories that are not known `UNKNOWN`; spaces around the others are left out.

    Raises InputError, with `name` for the table, if a row is a sum of others.
    """
    for column, title in CATEGORIES.items():
        texts = table[column].cast(pl.String).fill_null("").str.strip_chars()
        categories = texts.unique(maintain_order=True).to_list()
        for category in filter(is_sum, categories):
            place = row_places(table).filter(texts == category)[0]
            raise InputError(
                f"{name}: {place}: {title} {category!r} is a sum of the others; give the rows of "
                "one table, or leave them out"
            )
        unknown = list(filter(is_unknown, categories))
        table = table.with_columns(texts.replace(unknown, [UNKNOWN] * len(unknown)).alias(column))
    return table


def is_unknown(category: str) -> bool:
    """Return whether a name says that the category is not known.

    Examples
    --------
    >>> [is_unknown(name) for name in ("Missing/Unknown", "N/A", "Other", "Two or More Races")]
    [True, True, False, False]
    """
    if _is_spelled_unknown(category):
        return True
    parts = _SEPARATORS.split(category)
    return len(parts) > 1 and all(_is_spelled_unknown(part) for part in parts if part.strip())


def _is_spelled_unknown(text: str) -> bool:
    words = _fold(text).split()
    fillers = _ATTRIBUTES | _PEOPLE | _CONNECTIVES
    rest = [word for word in words if word not in fillers]
    # A name of nothing but such words is not known to be unknown.
    return not words or " ".join(words) in _spellings() or " ".join(rest) in _spellings()


@cache
def _spellings() -> frozenset[str]:
    text = (files("clinometer.sharing") / "unknown.txt").read_text(encoding="utf-8")
    return frozenset(line for line in text.splitlines() if not line.startswith("#"))


def is_sum(category: str) -> bool:
    """Return whether a name is that of a sum of categories.

    Examples
    --------
    >>> [is_sum(name) for name in ("Total, Female", "All races", "All other races", "Alliance")]
    [True, True, False, False]
    """
    words = _fold(category).split()
    if not words:
        return False
    if not _SUM.isdisjoint((words[0], words[-1])):
        return True
    return words[0] in _EVERYBODY and set(words[1:]) <= _ATTRIBUTES | _PEOPLE | _CONNECTIVES


def _fold(text: str) -> str:
    """Fold case, spacing and punctuation."""
    return " ".join(re.split(r"[\W_]+", _NEGATED.sub(r"\1 not", text.casefold()))).strip()
