"""Components of variance of two models, for planning where there is no pilot.

`components.csv` has columns of `clinometer.statistics.components`, with `source`, which says
whose answers they are estimated from, and `date`. How the files were made is in ``README.md``.
"""

from __future__ import annotations

from importlib.resources import files

import polars as pl

from clinometer.results import check
from clinometer.results.schemas import COMPONENTS


def load_components() -> pl.DataFrame:
    """Read the shipped components of variance.

    Returns
    -------
    polars.DataFrame
        Columns of `results.schemas.COMPONENTS`: a row per run and error source.

    Examples
    --------
    >>> shipped = load_components()
    >>> shipped["model"].unique().sort().to_list()
    ['clinometer/smollm2', 'gpt-4', 'gpt-4o']
    """
    return read_components((files("clinometer.reference") / "components.csv").read_bytes())


def read_components(content: bytes) -> pl.DataFrame:
    """Read components of variance from the content of a CSV file, with columns of `COMPONENTS`."""
    table = pl.read_csv(content, infer_schema=False).with_columns(
        pl.col(c).cast(t) for c, t in COMPONENTS.items() if t.is_numeric()
    )
    return check(table, COMPONENTS, "components.csv")
