"""How well a reader agrees with labels: agreement, kappa and the whole table of confusion.

Reference
    Cohen (1960), Educational and Psychological Measurement 20(1), 37–46: kappa; Fleiss, Cohen &
    Everitt (1969), Psychological Bulletin 72(5), 323–327: its asymptotic standard error; both as in
    statsmodels. Shares have Wilson's interval (`intervals.wilson`).

Measures
    `read_share`, 0…1, of the rows with a label. Over those of them that were read, `agreement`,
    0…1, and `kappa`, agreement beyond what the two margins give by chance: 1 is perfect, 0 is
    chance, below 0 worse.

Deviations from the source
    Where both always say the same one value, kappa is 0/0 and null. Where they agree throughout,
    or one of them never varies, its error is estimated as 0, which is not believed: error and
    interval are null. Rows are taken for independent.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
import polars as pl

from clinometer.papers.corrected import corrected_mean
from clinometer.papers.library import require_statsmodels
from clinometer.papers.samples import binary, part_labels
from clinometer.results import Schema, as_estimates, columns
from clinometer.results.estimates import COMMON_MEASURES
from clinometer.results.tables import need_columns
from clinometer.statistics.clustered import check_confidence, row_by_row
from clinometer.statistics.intervals import interval_around, wilson

#: A variance below this is due to rounding.
_ROUNDING = 1e-12

_CELLS = ("n_11", "n_10", "n_01", "n_00")

#: One row per part. Of a pair of digits the first is the reader's, the second the label's.
CONFUSION: Schema = {
    **columns("part", "n", "n_read"),  # n: rows with a label
    **dict.fromkeys(_CELLS, pl.Int64()),
    **dict.fromkeys(("n_missing_1", "n_missing_0"), pl.Int64()),  # labelled 1 or 0, not read
    **dict.fromkeys(("n_unlabelled", "n_unlabelled_read"), pl.Int64()),  # in none of the above
}


_KAPPA_COLUMNS = columns(
    *("part", "n", "n_scored", "method", "estimate", "se", "ci_low", "ci_high")
)


class Agreement(NamedTuple):
    """Estimates, and the table of confusion behind them."""

    estimates: pl.DataFrame
    confusion: pl.DataFrame


def agreement(
    frame: pl.DataFrame,
    read: str = "score",
    label: str = "label",
    *,
    by: str | None = None,
    cluster: str | None = None,
    confidence: float = 0.95,
) -> Agreement:
    """Compare what was read with labels, over all rows and in each part.

    Parameters
    ----------
    frame
        A row per answer.
    read
        Column of 1, 0 or null: what the reader, or judge, made of it.
    label
        Column of 1, 0 or null: what it is compared with.
    by
        Column whose values part the rows, each part compared on its own beside ``"all"``.
    cluster
        Column whose values answers are alike in, for the corrected mean; None: in nothing.
    confidence
        Of the intervals, 0…1.

    Returns
    -------
    Agreement
        `estimates`, columns of `results.ESTIMATES`: per part the `read_share`, `agreement` and
        `kappa`, and where answers without a label were read the `corrected_mean`, see `corrected`;
        and `confusion`, columns of `CONFUSION`. No number is null, never nan.

    Raises
    ------
    InputError
        If a column is missing, a value is not 1, 0 or null, a group is null or called ``"all"``,
        or `confidence` means nothing; or statsmodels is not installed.

    Examples
    --------
    >>> import polars as pl
    >>> frame = pl.DataFrame({"score": [1, 1, 0, 0, None], "label": [1, 1, 1, 0, 0]})
    >>> estimates = agreement(frame).estimates
    >>> estimates.select("measure", "n_scored", pl.col("estimate").round(2)).rows()
    [('read_share', 5, 0.8), ('agreement', 4, 0.75), ('kappa', 4, 0.5)]
    """
    require_statsmodels("agreement")
    check_confidence(confidence)
    need_columns(frame, [read, label, *(c for c in (by, cluster) if c is not None)], "answers")
    answers = pl.DataFrame({"read": binary(frame[read]), "label": binary(frame[label])})
    counts = answers.select(pl.lit("all").alias("part"), *_counts())
    if by is not None:
        part = part_labels(frame[by]).cast(pl.String)
        parts = answers.group_by(part.alias("part")).agg(*_counts()).sort("part")
        counts = pl.concat([counts, parts])
    n_scored = pl.sum_horizontal(_CELLS)
    n = n_scored + pl.col("n_missing_1") + pl.col("n_missing_0")
    confusion = counts.with_columns(n_read=n_scored, n=n)
    n_alike = pl.col("n_11") + pl.col("n_00")
    measured = {
        "read_share": _share(confusion, pl.col("n_read"), "n", confidence),
        "agreement": _share(confusion, n_alike, "n_read", confidence),
        "kappa": _kappa(confusion, confidence),
    }
    if confusion["n_unlabelled_read"][0] and confusion["n_read"][0]:
        # Without clusters each answer is one of its own.
        clusters = pl.int_range(frame.height, eager=True)
        if cluster:
            clusters = frame[cluster].cast(pl.String)
        table = answers.with_columns(cluster=clusters, part=pl.lit("all"))
        tables = [table]
        if by is not None:
            tables.append(table.with_columns(part=part_labels(frame[by]).cast(pl.String)))
        measured["corrected_mean"] = _corrected(tables, confidence)
    rows = row_by_row(
        table.with_row_index("row").with_columns(measure=pl.lit(name))
        for name, table in measured.items()
    )
    estimates = as_estimates(rows.with_columns(confidence=confidence), COMMON_MEASURES)
    return Agreement(estimates, confusion.select(list(CONFUSION)))


def _counts() -> list[pl.Expr]:
    reading, label = pl.col("read"), pl.col("label")
    cells = {f"n_{r}{s}": (reading == r) & (label == s) for r in (1, 0) for s in (1, 0)}
    cells |= {f"n_missing_{s}": reading.is_null() & (label == s) for s in (1, 0)}
    cells["n_unlabelled"] = label.is_null()
    cells["n_unlabelled_read"] = label.is_null() & reading.is_not_null()
    return [cell.sum().cast(pl.Int64).alias(name) for name, cell in cells.items()]


def _share(confusion: pl.DataFrame, count: pl.Expr, total: str, confidence: float) -> pl.DataFrame:
    """Give a share of the column `total` with Wilson's interval."""
    shares = confusion.select(
        *("part", "n", pl.lit("wilson").alias("method"), pl.col(total).alias("n_scored")),
        pl.when(pl.col(total) > 0).then(count / pl.col(total)).alias("estimate"),
    )
    low, high = wilson(pl.col("estimate"), pl.col("n_scored"), confidence)
    return shares.with_columns(ci_low=low, ci_high=high)


def _corrected(answers: Sequence[pl.DataFrame], confidence: float) -> pl.DataFrame:
    """Give the corrected mean of each part."""
    rows = []
    for table in answers:
        for (part,), rows_of_part in table.group_by("part", maintain_order=True):
            readings = rows_of_part["read"].cast(pl.Float64).to_numpy()
            labels = rows_of_part["label"].cast(pl.Float64).to_numpy()
            clusters = rows_of_part["cluster"].to_numpy()
            corrected = corrected_mean(readings, labels, clusters, confidence=confidence)
            rows.append(
                {
                    "part": part,
                    "n": rows_of_part.height,
                    "n_scored": rows_of_part["read"].count(),
                    "method": "prediction_powered",
                    "estimate": corrected.mean,
                    "se": corrected.se,
                    "df": corrected.df,
                    "ci_low": corrected.low,
                    "ci_high": corrected.high,
                }
            )
    return pl.DataFrame(rows, infer_schema_length=None)


def _kappa(confusion: pl.DataFrame, confidence: float) -> pl.DataFrame:
    """Give kappa of each part, with its error and interval."""
    from statsmodels.stats.inter_rater import cohens_kappa

    rows = []
    for part, n, n_scored, *cells in confusion.select("part", "n", "n_read", *_CELLS).iter_rows():
        row = {"part": part, "n": n, "n_scored": n_scored, "method": "fleiss"}
        table = np.array(cells).reshape(2, 2)
        # Where reader and labels always have the same one value, kappa is 0/0.
        if np.count_nonzero(table.sum(axis=0) + table.sum(axis=1)) == 2:
            with np.errstate(invalid="ignore"):  # its test is 0/0 where one of them never varies
                fit = cohens_kappa(table)
            row["estimate"] = fit.kappa
            if fit.var_kappa > _ROUNDING / n_scored:
                low, high = interval_around(fit.kappa, fit.std_kappa, confidence)
                row |= {"se": fit.std_kappa, "ci_low": max(-1.0, low), "ci_high": min(1.0, high)}
        rows.append(row)
    return pl.DataFrame(rows, schema=_KAPPA_COLUMNS)
