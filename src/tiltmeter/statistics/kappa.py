"""How well a reader agrees with labels: agreement, kappa and the whole table of confusion.

Reference
    Cohen (1960), Educational and Psychological Measurement 20(1), 37–46: kappa; Fleiss, Cohen &
    Everitt (1969), Psychological Bulletin 72(5), 323–327: its asymptotic standard error;
    Wilson (1927), J. American Statistical Association 22(158), 209–212: interval of a share.

Measures
    Agreement, 0…1, and kappa, agreement beyond what the two margins give by chance: 1 is
    perfect, 0 is chance, below 0 worse. Both over the rows that have a label and were read; the
    share of labelled rows that were read is the coverage.

Deviations from the source
    Where both always say the same one value, kappa is 0/0 and null. Where they agree throughout,
    or one of them never varies, its error is estimated as 0, which is not believed: error and
    interval are null. Rows are taken for independent.
"""

from __future__ import annotations

import polars as pl
from scipy.special import ndtri

from tiltmeter.errors import InputError
from tiltmeter.results import Schema

__all__ = ["AGREEMENTS", "agreement"]

#: A variance below this is due to rounding.
_ROUNDING = 1e-12

#: One row per group. Of a pair of digits the first is the reader's, the second the label's.
AGREEMENTS: Schema = {
    "group": pl.String(),  # "all", or a value of `by`
    "n": pl.Int64(),  # rows with a label
    "n_read": pl.Int64(),  # of n
    "coverage": pl.Float64(),  # n_read / n
    "agreement": pl.Float64(),  # of n_read
    "confidence": pl.Float64(),  # of both intervals
    "agreement_low": pl.Float64(),  # Wilson
    "agreement_high": pl.Float64(),
    "kappa": pl.Float64(),  # Cohen; neutral 0
    "kappa_se": pl.Float64(),  # Fleiss, Cohen & Everitt
    "kappa_low": pl.Float64(),
    "kappa_high": pl.Float64(),
    "n_11": pl.Int64(),
    "n_10": pl.Int64(),
    "n_01": pl.Int64(),
    "n_00": pl.Int64(),
    "n_missing_1": pl.Int64(),  # labelled 1, not read
    "n_missing_0": pl.Int64(),  # labelled 0, not read
    "n_unlabelled": pl.Int64(),  # rows without a label; in none of the above
    "n_unlabelled_read": pl.Int64(),  # of these
}


def agreement(
    frame: pl.DataFrame,
    read: str = "score",
    label: str = "label",
    *,
    by: str | None = None,
    confidence: float = 0.95,
) -> pl.DataFrame:
    """Compare what was read with labels, a row for each group.

    Parameters
    ----------
    frame
        A row per answer.
    read
        Column of 1, 0 or null: what the reader, or judge, made of it.
    label
        Column of 1, 0 or null: what it is compared with.
    by
        Column of groups, each compared on its own beside ``"all"``.
    confidence
        Of the intervals, 0…1.

    Returns
    -------
    polars.DataFrame
        Columns of `AGREEMENTS`. No number is null, never nan.

    Raises
    ------
    InputError
        If a column is missing, a value is not 1, 0 or null, a group is null or called ``"all"``,
        or `confidence` means nothing.

    Examples
    --------
    >>> import polars as pl
    >>> frame = pl.DataFrame({"score": [1, 1, 0, 0, None], "label": [1, 1, 1, 0, 0]})
    >>> agreement(frame).select("n", "n_read", "agreement", pl.col("kappa").round(2)).row(0)
    (5, 4, 0.75, 0.5)
    """
    if not 0 < confidence < 1:
        raise InputError(f"confidence {confidence}: must lie between 0 and 1, as 0.95")
    columns = [read, label, *([] if by is None else [by])]
    missing = [column for column in columns if column not in frame.columns]
    if missing:
        raise InputError(f"missing column {', '.join(missing)}; has {', '.join(frame.columns)}")
    answers = frame.select(
        read=_binary(frame[read]), label=_binary(frame[label]), group=_groups(frame, by)
    )
    counts = answers.select(pl.lit("all").alias("group"), *_counts())
    if by is not None:
        groups = answers.group_by("group").agg(*_counts()).sort("group")
        counts = pl.concat([counts, groups])
    z = float(ndtri(0.5 + confidence / 2.0))
    rows = _shares(counts, z).with_columns(pl.lit(confidence).alias("confidence"))
    return _kappa(rows, z).select(pl.col(c).cast(t) for c, t in AGREEMENTS.items())


def _binary(values: pl.Series) -> pl.Series:
    if not (values.dtype.is_numeric() or values.dtype in (pl.Boolean, pl.Null)):
        raise InputError(f"{values.name}: needs 1, 0 and null, has {values.dtype}")
    numbers = values.cast(pl.Float64)
    wrong = numbers.drop_nulls().filter(~numbers.drop_nulls().is_in([0.0, 1.0]))
    if len(wrong):
        raise InputError(f"{values.name}: {wrong[0]} is not allowed; 1, 0 and null are")
    return numbers


def _groups(frame: pl.DataFrame, by: str | None) -> pl.Series:
    if by is None:
        return pl.repeat("all", frame.height, eager=True)
    groups = frame[by].cast(pl.String)
    if groups.null_count() or (groups == "all").any():
        raise InputError(f"{by}: each row needs a group, and none may be called 'all'")
    return groups


def _counts() -> list[pl.Expr]:
    read, label = pl.col("read"), pl.col("label")
    cells = {f"n_{r}{s}": (read == r) & (label == s) for r in (1, 0) for s in (1, 0)}
    cells |= {f"n_missing_{s}": read.is_null() & (label == s) for s in (1, 0)}
    cells["n_unlabelled"] = label.is_null()
    cells["n_unlabelled_read"] = label.is_null() & read.is_not_null()
    return [cell.sum().cast(pl.Int64).alias(name) for name, cell in cells.items()]


def _shares(counts: pl.DataFrame, z: float) -> pl.DataFrame:
    """Add coverage, and agreement with its interval."""
    n_read, n = pl.col("n_read"), pl.col("n")
    share = pl.col("agreement")
    centre = share + z**2 / (2 * n_read)
    half = z * (share * (1 - share) / n_read + z**2 / (4 * n_read**2)).sqrt()
    scale = 1 + z**2 / n_read
    return (
        counts.with_columns(n_read=pl.sum_horizontal("n_11", "n_10", "n_01", "n_00"))
        .with_columns(n=n_read + pl.col("n_missing_1") + pl.col("n_missing_0"))
        .with_columns(
            coverage=pl.when(n > 0).then(n_read / n),
            agreement=pl.when(n_read > 0).then((pl.col("n_11") + pl.col("n_00")) / n_read),
        )
        .with_columns(
            agreement_low=((centre - half) / scale).clip(0.0, 1.0),
            agreement_high=((centre + half) / scale).clip(0.0, 1.0),
        )
    )


def _kappa(rows: pl.DataFrame, z: float) -> pl.DataFrame:
    """Add kappa with its error and interval; eq. 13 of Fleiss, Cohen & Everitt (1969)."""
    share = {cell: pl.col(f"n_{cell}") / pl.col("n_read") for cell in ("11", "10", "01", "00")}
    read, label = share["11"] + share["10"], share["11"] + share["01"]
    chance = read * label + (1 - read) * (1 - label)
    observed = pl.col("agreement")
    kappa = pl.when(chance < 1).then((observed - chance) / (1 - chance))
    left = 1 - pl.col("kappa")
    alike = share["11"] * (1 - (read + label) * left) ** 2
    alike += share["00"] * (1 - (2 - read - label) * left) ** 2
    unlike = share["10"] * (label + 1 - read) ** 2 + share["01"] * (read + 1 - label) ** 2
    variance = alike + unlike * left**2 - (pl.col("kappa") - chance * left) ** 2
    se = variance.sqrt() / ((1 - chance) * pl.col("n_read").sqrt())
    return (
        rows.with_columns(kappa=kappa)
        .with_columns(kappa_se=pl.when(variance > _ROUNDING).then(se))
        .with_columns(
            kappa_low=(pl.col("kappa") - z * pl.col("kappa_se")).clip(-1.0, 1.0),
            kappa_high=(pl.col("kappa") + z * pl.col("kappa_se")).clip(-1.0, 1.0),
        )
    )
