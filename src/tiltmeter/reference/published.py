"""The printed result tables of the papers.

Reference: Bai, Wang, Sucholutsky & Griffiths 2025, PNAS 122(8), e2416228122, SI Appendix,
Tables S5 (pilot), S6 (replication), S7 and S8 (rewordings), S9 (synonyms).

Word association scores of eight models, range −1…1, neutral 0, positive = stereotype-consistent.
Values are as printed. They score an unreadable or refused answer as 0, where Tiltmeter scores it
as missing; their intervals treat answers as independent.
"""

from __future__ import annotations

from importlib.resources import files

import polars as pl

from tiltmeter.errors import InputError, unknown

__all__ = ["load_published"]

_FILES = {"bai2025": "published.csv"}
_NUMBERS = {"mean": pl.Float64(), "ci_low": pl.Float64(), "ci_high": pl.Float64()}


def load_published(study: str) -> pl.DataFrame:
    """Read the published word association scores of a study.

    Parameters
    ----------
    study
        The name of the study: ``"bai2025"``.

    Returns
    -------
    polars.DataFrame
        One row per printed value: ``table, variation, stereotype`` (the printed label),
        ``category, level`` (cell, category, model, overall), ``model, mean, ci_low, ci_high``
        (null where the source prints none), ``missing``, ``note`` (what is doubtful about
        the value; else null), ``raw`` and ``model_in_source`` (as printed).

    Raises
    ------
    InputError
        If no published values are held for the study.

    Examples
    --------
    >>> load_published("bai2025").height
    918
    """
    if study not in _FILES:
        raise InputError(unknown("study with published values", study, _FILES))
    text = (files("tiltmeter.reference") / _FILES[study]).read_bytes()
    frame = pl.read_csv(text, infer_schema=False)
    return frame.with_columns(
        *[pl.col(name).cast(kind) for name, kind in _NUMBERS.items()],
        pl.col("missing") == "1",
    )
