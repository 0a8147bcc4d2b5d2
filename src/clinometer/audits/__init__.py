"""Audits: ask models, and make every table of a results directory from its plan and answers."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    import polars as pl

__all__ = ["SIZES", "Tables"]

#: Sizes of an audit; `sizes` of each instrument says what is asked.
SIZES = ("quick", "standard", "paper")


class Tables(NamedTuple):
    """The estimates of a family, and its detail tables by name in `all_tables`."""

    estimates: pl.DataFrame
    details: dict[str, pl.DataFrame]
