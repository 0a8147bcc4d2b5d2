"""Where a term stands in a context.

The first occurrence counts, whatever its case, as a word of its own: not inside another word
("art" in "party") and not in a hyphenated one ("religious" in "non-religious"); a possessive is
an occurrence ("the woman's"). Words of a longer term may be set apart by any white space.
Scripts that do not set words apart are not segmented: a term must stand between spaces or
punctuation.
"""

from __future__ import annotations

import functools
import re

import polars as pl

from tiltmeter.errors import InputError
from tiltmeter.results.states import CONTEXTS
from tiltmeter.results.tables import need_columns

__all__ = ["find_terms", "locate"]

#: Hyphen-minus, hyphen, non-breaking hyphen: they make one word of two.
HYPHENS = "-\u2010\u2011"

#: Letters, digits, and marks that are written over the letter before them.
LETTER = r"[\w\u0300-\u036f]"


def locate(term: str, context: str) -> tuple[int, int]:
    """Find a term in a context.

    Parameters
    ----------
    term
        One or several words.
    context
        The text.

    Returns
    -------
    tuple of int
        The characters of `context` at which the first occurrence begins, and ends (exclusive).

    Raises
    ------
    InputError
        If the term does not stand in the context.

    Examples
    --------
    >>> locate("art", "The party was about Art.")
    (20, 23)
    """
    found = _pattern(term).search(context)
    if found is None:
        raise InputError(
            f"term {term!r} does not stand in {context!r} as a word of its own; correct either"
        )
    return found.span()


def find_terms(contexts: pl.DataFrame) -> list[tuple[int, int]]:
    """Find the term of every row.

    Parameters
    ----------
    contexts
        Columns CONTEXTS.

    Returns
    -------
    list of tuple of int
        As of `locate`.

    Raises
    ------
    InputError
        If there are no rows, a column or field is missing, or a term is not found; the row is
        named, from 1 on.
    """
    need_columns(contexts, list(CONTEXTS), "contexts")
    if contexts.is_empty():
        raise InputError("contexts: no rows; expected a key, a term and a context in each")
    spans = []
    rows = contexts.select(list(CONTEXTS)).rows()
    for number, (key, term, context) in enumerate(rows, start=1):
        if not (key and term and term.strip() and context):
            raise InputError(f"contexts, row {number}: key, term or context is empty")
        try:
            spans.append(locate(term, context))
        except InputError as error:
            raise InputError(f"contexts, row {number}: {error}") from None
    return spans


@functools.lru_cache(maxsize=4096)
def _pattern(term: str) -> re.Pattern[str]:
    words = r"\s+".join(map(re.escape, term.split()))
    return re.compile(
        rf"(?<!\w)(?<!\w[{HYPHENS}]){words}(?!{LETTER})(?![{HYPHENS}]\w)", re.IGNORECASE
    )
