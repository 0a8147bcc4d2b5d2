"""The levels of estimates and of differences: groups, their clusters, a row for each method.

Clusters
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

from tiltmeter.results import columns
from tiltmeter.statistics.clustered import naive_t

__all__ = ["KEYS", "by_method", "cluster_sums", "cohen_d", "published_tests"]

#: The columns that tell the groups of a level apart, beside what is never pooled.
KEYS = {
    "cell": ("model", "category", "stereotype", "variation"),
    "stereotype": ("model", "category", "stereotype"),
    "category": ("model", "category"),
    "model": ("model",),
    "overall": (),
}

_COLUMNS = {
    "stereotype": ("stereotype",),
    "stereotype × variation": ("stereotype", "variation"),
    "variation × group pair": ("variation", "marginalized", "default"),
    "group pair": ("marginalized", "default"),
    "mirrored pair": ("unit",),
}

_ABOVE = ("stereotype × variation", "variation × group pair", "mirrored pair")
_LADDERS = {
    "cell": ("group pair", "mirrored pair"),
    "stereotype": ("variation × group pair", "mirrored pair"),
}


def cluster_sums(
    units: pl.DataFrame,
    level: str,
    keys: Sequence[str],
    *,
    by_stereotype: bool = False,
    **sums: pl.Expr,
) -> pl.DataFrame:
    """Give the clusters of each group, and sums over each cluster.

    Parameters
    ----------
    units
        With a score each: `stereotype`, `variation`, `marginalized`, `default`, `pair_id` and
        `unit` (see `summarise`).
    level
        One of `results.LEVELS`.
    keys
        Columns that tell the groups of the level apart.
    by_stereotype
        Begin the ladder above the stereotype with whole stereotypes.
    **sums
        Name → what to aggregate over the units of a cluster.

    Returns
    -------
    polars.DataFrame
        A row per group: `keys`, `clustered_by`, `conditional_on`, and a list for each sum, with a
        number per cluster.
    """
    ladder = _LADDERS.get(level, ("stereotype", *_ABOVE) if by_stereotype else _ABOVE)
    rungs = [_joined(*_COLUMNS[name]) for name in ladder]
    several = (pl.when(_distinct(ids, keys) > 1).then(i) for i, ids in enumerate(rungs))
    clusters = (
        units.with_columns(rung=pl.coalesce(*several, pl.lit(len(ladder) - 1)))
        .with_columns(
            cluster=pl.coalesce(*(pl.when(rung=i).then(ids) for i, ids in enumerate(rungs))),
            clustered_by=_rung_name(ladder, keys),
            conditional_on=_conditional_on(level, keys),
        )
        .group_by(*keys, "clustered_by", "conditional_on", "cluster")
        .agg(**sums)
        .sort("cluster")
    )
    stated = [*keys, "clustered_by", "conditional_on"]
    return clusters.group_by(stated, maintain_order=True).agg(*sums)


def _joined(*names: str) -> pl.Expr:
    return pl.concat_str([pl.col(c).fill_null("") for c in names], separator="\0")


def _distinct(values: pl.Expr, keys: Sequence[str]) -> pl.Expr:
    return values.n_unique().over(keys)


def _unrecorded(column: str, keys: Sequence[str]) -> pl.Expr:
    return pl.col(column).is_null().all().over(keys)


def _rung_name(ladder: Sequence[str], keys: Sequence[str]) -> pl.Expr:
    """Name the rung, less what was not recorded."""
    name = pl.col("rung").replace_strict(dict(enumerate(ladder)), return_dtype=pl.String)
    unpaired = (name == "mirrored pair") & _unrecorded("pair_id", keys)
    wordless = (name == "variation × group pair") & _unrecorded("marginalized", keys)
    shorter = pl.when(unpaired).then(pl.lit("response")).when(wordless).then(pl.lit("variation"))
    return shorter.otherwise(name)


def _conditional_on(level: str, keys: Sequence[str]) -> pl.Expr:
    """Name what does not vary in the group; the interval says nothing beyond it."""
    above = level not in _LADDERS
    wordless = _unrecorded("marginalized", keys)
    one_pair = _distinct(_joined("marginalized", "default"), keys) == 1
    fixed = {
        "these models": pl.lit(level == "overall"),
        "one stereotype": (_distinct(pl.col("stereotype"), keys) == 1) & above,
        "one wording": _distinct(pl.col("variation"), keys) == 1,
        "one group pair": one_pair & ~wordless,
        "unrecorded group words": wordless,
    }
    named = pl.concat_list(
        pl.when(is_fixed).then(pl.lit(name)) for name, is_fixed in fixed.items()
    ).list.drop_nulls()
    return pl.when(named.list.len() > 0).then(named.list.join(" and "))


def cohen_d(neutral: float = 0.0) -> pl.Expr:
    """Give Cohen's d, (estimate − neutral) / sd; null where there is no spread."""
    return pl.when(pl.col("sd") > 0).then((pl.col("estimate") - neutral) / pl.col("sd"))


def published_tests(
    groups: pl.DataFrame, stated: Sequence[str], neutral: float = 0.0
) -> pl.DataFrame:
    """Give the rows of method ``published``: the columns `stated` and the t test as published."""
    numbers = groups.select("estimate", "sd", "n_scored").rows()
    tests = [naive_t(mean, sd, n, neutral=neutral) for mean, sd, n in numbers]
    schema = columns("test", "se", "df", "statistic", "p")
    tested = groups.select(stated).hstack(pl.DataFrame(tests, schema=schema))
    return tested.with_columns(method=pl.lit("published"))


def by_method(*tables: pl.DataFrame) -> pl.DataFrame:
    """Put the rows of several methods about one estimate, which share a `row`, together."""
    rows = pl.concat(tables, how="diagonal").sort("row", maintain_order=True)
    return rows.drop("row")
