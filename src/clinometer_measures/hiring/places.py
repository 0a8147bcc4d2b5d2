"""Who comes out on top by scores: the tails of all, and ranks among candidates with one résumé.

Measures
    Tails: the top tenth of a run are the tenth of its candidates with the highest scores, the
    bottom tenth those with the lowest. A group has .1 of its candidates in either if groups do not
    differ.

    Ranks: all candidates who were shown with the same résumé, in the same wording, are a field. One
    of each group is taken at random and they are ranked by their scores: how often is that of a
    group first, and how often in the upper half? The probability is computed, not drawn. Of k
    groups that do not differ each is first in 1/k, and in the upper half in (k/2 rounded down)/k.
    A field without a score of some group is left out.

    Equal scores share the places that are left, so that there are as many as are meant.

Intervals
    95%, over names, occupations and answers, as those of rates: on a logarithmic scale, by draws of
    counts. The share of all groups together is fixed.

Deviations
    Models are not asked to rank a list: it would have to be asked in all orders of its candidates,
    24 of four, or the order would be measured.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray

from clinometer.authoring import Meaning, typed_columns
from clinometer_measures.hiring.grouping import GROUPINGS, counts_by_group, is_small
from clinometer_measures.hiring.rates import share_intervals

__all__ = ["PLACE_COLUMNS", "place_rows", "rank_parts", "tail_parts"]

Array = NDArray[np.float64]

#: The part of the candidates that is in either tail.
TAIL = 0.1

PLACE_COLUMNS = {
    **typed_columns(
        pl.String(),
        place="top tenth or bottom tenth of all scores; first or upper half of one candidate of "
        "each group with the same résumé",
    ),
    **typed_columns(
        pl.Float64(),
        n_in_place="candidates of the group in the place; those of equal scores share it",
        place_share=Meaning("n_in_place / n", "Share", digits=3),
        expected_share=Meaning(
            "place_share without a difference between groups", "Expected", digits=3
        ),
        place_low="low end of the 95% interval of place_share",
        place_high="high end of this interval",
    ),
}

#: What candidates of a field have in common.
_FIELD = ("variation", "pair_number")


def place_rows(run: pl.DataFrame) -> Iterator[dict[str, Any]]:
    """Yield a row per place, grouping and group; `run`: candidates of one run with their `value`.

    Without any score there are none.
    """
    scored = run.filter(pl.col("value").is_not_null()).with_columns(
        # Pairs of all contrasts with the same number have the same résumé.
        pair_number=pl.col("pair_id").str.split(".").list.last(),
    )
    if scored.is_empty():
        return
    values = scored["value"].to_numpy()
    for place, sign in (("top tenth", 1.0), ("bottom tenth", -1.0)):
        parts = scored.with_columns(in_place=pl.Series(tail_parts(sign * values)))
        for grouping in _several(scored):
            yield from _rows(parts, grouping, place, TAIL)
    # Recorded answers may not say which of them were shown the same résumé.
    paired = scored.drop_nulls("pair_number")
    for grouping in _several(paired):
        yield from _rank_rows(paired, grouping)


def _several(candidates: pl.DataFrame) -> list[str]:
    """Return the groupings in which there is more than one group."""
    return [name for name, keys in GROUPINGS.items() if candidates.select(keys).n_unique() > 1]


def _rank_rows(scored: pl.DataFrame, grouping: str) -> Iterator[dict[str, Any]]:
    """Yield the rows of ranks in fields of one candidate of each group."""
    keys = GROUPINGS[grouping]
    k = scored.select(keys).n_unique()
    by_field = scored.group_by(_FIELD, maintain_order=True)
    fields = [_with_ranks(field, keys, k) for _, field in by_field]
    ranked = pl.concat(fields).drop_nulls("first")
    if ranked.is_empty():
        return
    yield from _rows(ranked.with_columns(in_place="first"), grouping, "first", 1 / k)
    if k > 3:  # of fewer the upper half is the first
        upper = ranked.with_columns(in_place="upper half")
        yield from _rows(upper, grouping, "upper half", (k // 2) / k)


def _rows(
    parts: pl.DataFrame, grouping: str, place: str, expected: float
) -> Iterator[dict[str, Any]]:
    """Yield the rows of one place; `parts` have the part of a place that each candidate has."""
    ((_, counted, counts),) = counts_by_group(parts, "in_place", [grouping])
    ends = share_intervals(counts)
    for row, (low, high) in zip(counted.iter_rows(named=True), ends, strict=True):
        share = row["n_selected"] / row["n"]
        yield {
            **{key: row[key] for key in GROUPINGS[grouping]},
            "grouped_by": grouping,
            "place": place,
            "n": row["n"],
            "n_in_place": row["n_selected"],
            "place_share": share,
            "expected_share": expected,
            "place_low": min(low, share),
            "place_high": max(high, share),
            "is_small": is_small(row["n"], row["n_selected"]),
        }


def tail_parts(values: Array) -> Array:
    """Return the part of each candidate that is among the highest tenth.

    Examples
    --------
    >>> tail_parts(np.array([9.0, 9.0, 8.0, *[1.0] * 7]))[:4]
    array([0.5, 0.5, 0. , 0. ])
    """
    places = TAIL * len(values)
    # Rounding may leave a whole number of places a little above it.
    threshold = np.sort(values)[::-1][int(np.ceil(places - 1e-9)) - 1]
    above, level = values > threshold, values == threshold
    parts: Array = above.astype(np.float64)
    parts[level] = (places - above.sum()) / level.sum()
    return parts


def _with_ranks(field: pl.DataFrame, keys: Sequence[str], k: int) -> pl.DataFrame:
    """Add the probability of each candidate of a field to be first, and in the upper half.

    Null where a group has no candidate.
    """
    values = field["value"].to_numpy()
    groups = field.select(pl.struct(keys).rank("dense"))[keys[0]].to_numpy() - 1
    if groups.max() + 1 < k:
        return field.with_columns(
            pl.lit(None, pl.Float64).alias(place) for place in ("first", "upper half")
        )
    ranks = {
        "first": rank_parts(values, groups, 1),
        "upper half": rank_parts(values, groups, k // 2),
    }
    return field.with_columns(**{place: pl.Series(parts) for place, parts in ranks.items()})


def rank_parts(values: Array, groups: NDArray[np.intp], places: int) -> Array:
    """Return how probable it is that each candidate is among the highest of one of each group.

    Parameters
    ----------
    values, groups
        The score and the group, from 0, of each candidate: (candidates,).
    places
        How many are the highest.

    Examples
    --------
    >>> rank_parts(np.array([5.0, 5.0, 4.0]), np.array([0, 1, 1]), 1)
    array([0.75, 0.5 , 0.  ])
    """
    parts = np.empty(len(values))
    members = [values[groups == group] for group in range(groups.max() + 1)]
    chances: dict[tuple[int, float], float] = {}
    for place, (value, group) in enumerate(zip(values, groups, strict=True)):
        key = (int(group), float(value))
        if key not in chances:
            rivals = [scores for rival, scores in enumerate(members) if rival != group]
            chances[key] = _chance(float(value), rivals, places)
        parts[place] = chances[key]
    return parts


def _chance(value: float, rivals: Sequence[Array], places: int) -> float:
    """Return the chance to be among the highest; equal scores share the places that are left."""
    k = len(rivals) + 1
    chances = np.zeros((k, k))  # how many are above, how many level
    chances[0, 0] = 1.0
    for scores in rivals:
        above, level = float((scores > value).mean()), float((scores == value).mean())
        moved = chances * (1 - above - level)
        moved[1:] += chances[:-1] * above
        moved[:, 1:] += chances[:, :-1] * level
        chances = moved
    n_above, n_level = np.indices(chances.shape)
    shares = np.clip((places - n_above) / (n_level + 1), 0.0, 1.0)
    return float((chances * shares).sum())
