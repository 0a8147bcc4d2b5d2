"""What a results directory holds: every table made from its plan and its answers."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    import polars as pl

__all__ = ["SIZES", "Tables"]

#: Sizes of an audit; what each asks stands with the instruments.
SIZES = ("quick", "standard", "paper")


class Tables(NamedTuple):
    """The estimates of a family, and the details behind them, by name in `directory.TABLES`."""

    estimates: pl.DataFrame
    details: dict[str, pl.DataFrame]
