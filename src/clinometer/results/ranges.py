"""What the interval of a row generalises over, and which rows decide."""

from __future__ import annotations

from typing import Literal

import polars as pl

from clinometer.results.verdicts import INCONCLUSIVE, SINGLE_CLUSTER, print_mean_verdict

Range = Literal["prompts", "other_prompts", "stereotypes"]

#: Range → as it is printed.
RANGES: dict[Range, str] = {
    "prompts": "in these prompts",
    "other_prompts": "in other prompts",
    "stereotypes": "for other stereotypes",
}

#: Method of the rows of these prompts → columns that stand beside those of other prompts, as
#: `join_methods` puts them there: ``ci_low_bounded`` and so on.
IN_PROMPTS = {"bounded": ("ci_low", "ci_high", "verdict")}

#: In `conditional_on`, what had one level only → what of other prompts is open.
_OPEN = {
    "one wording": "other wordings",
    "one order": "the other order",
    "one version": "other versions",
    "one marginalized word": "other words",
    "one default word": "other words",
    "unrecorded group words": "other words",
}


#: In `conditional_on`, that words alone on their side are taken to vary as arbitrary ones do.
AS_ARBITRARY = "words as arbitrary ones"


def rows_of_range(estimates: pl.DataFrame, range_name: Range) -> pl.DataFrame:
    """Return the rows of one range; `estimates` have columns of `results.ESTIMATES`."""
    return estimates.filter(range=range_name)


def range_text(range_name: Range, conditional_on: str | None) -> str:
    """Print a range, with what of it is open where a source of variation had one level only."""
    facets = _open_facets(conditional_on)
    if range_name == "prompts" or not facets:
        return RANGES[range_name]
    return f"{RANGES[range_name]} (open: {', '.join(facets)})"


def lean_text(
    in_prompts: str | None,
    in_general: str | None,
    conditional_on: str | None = None,
    *,
    directed: bool = True,
) -> str:
    """Say of a mean whether it leans in these prompts, and in others.

    What holds of both is said without more.

    >>> lean_text("consistent", "inconclusive")
    'leans as the stereotype says in these prompts; in others open'
    >>> lean_text("consistent", "consistent")
    'leans as the stereotype says'

    Parameters
    ----------
    in_prompts, in_general
        The verdicts of both ranges; `in_prompts` is None in tables that lack this range.
    conditional_on
        What the interval of other prompts holds fixed.
    directed
        See `Measure`.
    """
    prompts_text = print_mean_verdict(in_prompts, directed=directed)
    general_text = print_mean_verdict(in_general, directed=directed)
    has_reason = ": " in general_text
    if in_prompts is None or (prompts_text == general_text and has_reason):
        return general_text
    facets = _open_facets(conditional_on)
    notes = [f"{', '.join(facets)} open"] if facets else []
    if AS_ARBITRARY in (conditional_on or "").split(", "):
        notes.append(AS_ARBITRARY)
    note = f" ({'; '.join(notes)})" if notes else ""
    if prompts_text == general_text:
        return f"{prompts_text}{note}"
    if in_general in (INCONCLUSIVE, SINGLE_CLUSTER):  # a single wording and word tell of no other
        return f"{prompts_text} in these prompts; in others open"
    return f"{prompts_text} in these prompts; in others {general_text}{note}"


def has_open_words(conditional_on: str | None) -> bool:
    """Return whether an interval for other prompts leaves other group words open.

    Such a lean may be that of the one word that named a group, and not of the group: no headline
    counts it.
    """
    return "other words" in _open_facets(conditional_on)


def is_open_in_words(conditional_on: pl.Expr) -> pl.Expr:
    """Return what `has_open_words` does, of a column."""
    levels = [level for level, facet in _OPEN.items() if facet == "other words"]
    return conditional_on.str.contains_any(levels).fill_null(False)


def _open_facets(conditional_on: str | None) -> list[str]:
    """Return what of other prompts is open."""
    levels = (conditional_on or "").split(", ")
    return list(dict.fromkeys(_OPEN[level] for level in levels if level in _OPEN))
