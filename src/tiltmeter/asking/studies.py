"""Which part of a table belongs to which study."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

import polars as pl

from tiltmeter.errors import InputError
from tiltmeter.stimuli import Study

__all__ = ["by_study"]


def by_study(
    piece: pl.DataFrame, studies: Mapping[str, Study]
) -> Iterator[tuple[Study, pl.DataFrame]]:
    """Yield the part of a table that belongs to each study; with one study, all of it.

    Raises
    ------
    InputError
        If a row names another study.
    """
    if len(studies) == 1 or piece.is_empty():
        yield next(iter(studies.values())), piece
        return
    for (name,), part in piece.group_by("study", maintain_order=True):
        if name not in studies:
            raise InputError(f"responses: study {name!r} is none of {', '.join(studies)}")
        yield studies[str(name)], part
