"""Which scores belong to one cluster, and what an interval is therefore conditional on.

Scores that share a wording and group words rise and fall together. Each level has a ladder of
clusters, widest first; the first that leaves at least two clusters is used:

=============  =====================================================================
cell           group pair, mirrored pair
stereotype     variation × group pair, mirrored pair
above          stereotype × variation, variation × group pair, mirrored pair
=============  =====================================================================

A *group pair* is one marginalized with one default group word. A mirrored pair shares all of
these, so its two trials never part. A response without a pair is a cluster of its own.
"""

from __future__ import annotations

from collections.abc import Sequence

import polars as pl

__all__ = ["assign_clusters"]

_COLUMNS = {
    "stereotype": ("stereotype",),
    "stereotype × variation": ("stereotype", "variation"),
    "variation × group pair": ("variation", "group_pair"),
    "group pair": ("group_pair",),
    "mirrored pair": ("unit",),
}

_ABOVE = ("stereotype × variation", "variation × group pair", "mirrored pair")
_LADDERS = {
    "cell": ("group pair", "mirrored pair"),
    "stereotype": ("variation × group pair", "mirrored pair"),
}


def assign_clusters(
    units: pl.DataFrame, level: str, keys: Sequence[str], *, by_stereotype: bool = False
) -> pl.DataFrame:
    """Give every unit its cluster, and say how.

    Parameters
    ----------
    units
        From `summarise`, only those with a score.
    level
        One of `frames.LEVELS`.
    keys
        The columns that tell the groups of this level apart.
    by_stereotype
        Above the stereotype, start the ladder with whole stereotypes.

    Returns
    -------
    polars.DataFrame
        `units` with the columns `cluster`, `clustered_by` and `conditional_on`.
    """
    ladder = _LADDERS.get(level, ("stereotype", *_ABOVE) if by_stereotype else _ABOVE)
    units = units.with_columns(group_pair=_joined("marginalized", "default"))
    rungs = [_joined(*_COLUMNS[rung]) for rung in ladder]
    last = len(ladder) - 1
    rung = pl.coalesce(
        *(pl.when(_distinct(ids, keys) > 1).then(i) for i, ids in enumerate(rungs)), pl.lit(last)
    )
    units = units.with_columns(rung=rung)
    return units.with_columns(
        cluster=pl.coalesce(*(pl.when(rung=i).then(ids) for i, ids in enumerate(rungs))),
        clustered_by=_names(ladder, keys),
        conditional_on=_conditional_on(level, keys),
    ).drop("rung", "group_pair")


def _joined(*columns: str) -> pl.Expr:
    return pl.concat_str([pl.col(c).fill_null("") for c in columns], separator="\0")


def _distinct(values: pl.Expr, keys: Sequence[str]) -> pl.Expr:
    return values.n_unique().over(keys)


def _unrecorded(column: str, keys: Sequence[str]) -> pl.Expr:
    return pl.col(column).is_null().all().over(keys)


def _names(ladder: Sequence[str], keys: Sequence[str]) -> pl.Expr:
    """Return the name of the rung, less what was not recorded."""
    name = pl.col("rung").replace_strict(dict(enumerate(ladder)), return_dtype=pl.String)
    unpaired = (name == "mirrored pair") & _unrecorded("pair_id", keys)
    wordless = (name == "variation × group pair") & _unrecorded("marginalized", keys)
    return (
        pl.when(unpaired)
        .then(pl.lit("response"))
        .when(wordless)
        .then(pl.lit("variation"))
        .otherwise(name)
    )


def _conditional_on(level: str, keys: Sequence[str]) -> pl.Expr:
    """Name what does not vary in the group; the interval says nothing beyond it."""
    above = level not in _LADDERS
    wordless = _unrecorded("marginalized", keys)
    fixed = {
        "these models": pl.lit(level == "overall"),
        "one stereotype": _distinct(pl.col("stereotype"), keys).eq(1) & above,
        "one wording": _distinct(pl.col("variation"), keys).eq(1),
        "one group pair": _distinct(pl.col("group_pair"), keys).eq(1) & ~wordless,
        "unrecorded group words": wordless,
    }
    named = pl.concat_list(
        pl.when(is_fixed).then(pl.lit(name)) for name, is_fixed in fixed.items()
    ).list.drop_nulls()
    return pl.when(named.list.len() > 0).then(named.list.join(" and "))
