"""How answers were asked for, in one name: the mode, and beside it what no table pools over.

A table that is read gets three columns: ``mode``, the name a reader sees ("forced, Competence,
egalitarian"); ``control_mode``, the same without the dimension, as controls have none; and
``plain_mode``, the mode alone.
"""

from __future__ import annotations

from collections.abc import Sequence

import polars as pl

from tiltmeter.report.plan import Plan

__all__ = ["beside", "named", "unnamed"]

#: Factors named beside the mode where there are several of one.
_BESIDE = ("intervention", "word_list", "scoring")


def beside(estimates: pl.DataFrame) -> list[str]:
    """Give the factors to name beside the mode: those with several values.

    `estimates`: columns of ESTIMATES.
    """
    return [name for name in _BESIDE if estimates[name].drop_nulls().n_unique() > 1]


def named(frame: pl.DataFrame, apart: Sequence[str], plan: Plan) -> pl.DataFrame:
    """Name beside the mode what sets rows apart, and the dimension where there is one.

    `frame`: a table with ``mode``.
    `apart`: what `beside` gave; columns that are absent are left out.
    Result: with ``mode``, ``control_mode`` and ``plain_mode`` as above.
    """
    factors = [
        pl.when(pl.col(name) != "none").then(name) for name in apart if name in frame.columns
    ]
    dimension = pl.lit(None, pl.String)
    if "dimension" in frame.columns:
        frame, dimension = _labelled(frame, plan), pl.col("dimension_label")
    return frame.with_columns(
        _joined("mode", dimension, *factors),
        _joined("mode", *factors).alias("control_mode"),
        plain_mode="mode",
    ).drop("dimension_label", strict=False)


def unnamed(frame: pl.DataFrame) -> pl.DataFrame:
    """Give a table as it was read, with the mode alone."""
    if "plain_mode" not in frame.columns:
        return frame
    return frame.with_columns(mode="plain_mode").drop("plain_mode", "control_mode")


def _joined(*names: str | pl.Expr) -> pl.Expr:
    return pl.concat_str(names, separator=", ", ignore_nulls=True).alias("mode")


def _labelled(frame: pl.DataFrame, plan: Plan) -> pl.DataFrame:
    pairs = frame.select("study", "dimension").unique().drop_nulls("dimension")
    labels = [plan.of(study).dimension(key) for study, key in pairs.iter_rows()]
    known = pairs.with_columns(pl.Series("dimension_label", labels, pl.String))
    return frame.join(
        known, on=["study", "dimension"], how="left", nulls_equal=True, maintain_order="left"
    )
