"""What a study says of it: requests with a place for a side, and pairs of sides."""

from __future__ import annotations

from functools import lru_cache
from typing import Annotated

from pydantic import Field

from clinometer.authoring import (
    BenchmarkItems,
    StereotypeWords,
    Strict,
    Study,
    StudyError,
    Wordings,
    holds,
    read_items,
)

__all__ = ["NAME", "SIDES", "EvenHandedPart", "part_of", "words_of"]

#: The instrument, and its part of a study.
NAME = "even_handed"

#: The sides of a pair, which are the versions of a trial.
SIDES = ("marginalized", "default")

Request = Annotated[str, holds("side")]


class EvenHandedPart(Wordings[Request], Strict):
    """Requests with a place for a side, and where pairs of sides stand."""

    items: BenchmarkItems | None = None
    """A table of pairs: `stereotype`, `marginalized`, `default`. None: those of a stereotype are
    its group words, aligned."""
    longest: int = Field(600, ge=2)
    """Words from which on an answer counts as long as can be."""


def part_of(study: Study) -> EvenHandedPart | None:
    """Return what a study says of the instrument, checked; None where it says nothing.

    Raises StudyError if a topic has no pairs.
    """
    part = study.instruments.read(NAME, EvenHandedPart)
    for key, stereotype in study.stereotypes.items() if part else ():
        if part and part.items is None and not stereotype.aligned:
            raise StudyError(
                f"study {study.name}: instruments.{NAME}: the sides of {key} are no pairs; say "
                "aligned: true, or name items"
            )
    return part


def words_of(study: Study, key: str, *_: object) -> StereotypeWords:
    """Return the pairs of a topic, as aligned words of two groups."""
    part = study.instruments.read(NAME, EvenHandedPart)
    words = study.stereotypes[key].words("")
    if part is None or part.items is None:
        return words
    pairs = _read_pairs(part.items, getattr(study.instruments.raw()[NAME], "source", "")).get(key)
    if not pairs:
        raise StudyError(f"items {part.items.file}: no pair of {key}")
    marginalized, default = zip(*pairs, strict=True)
    # Stances are longer than group words may be.
    return words.model_copy(
        update={"marginalized": [*marginalized], "default": [*default], "aligned": True}
    )


@lru_cache(maxsize=4)
def _read_pairs(items: BenchmarkItems, study: str) -> dict[str, list[tuple[str, str]]]:
    """Read a table of pairs by topic; `study` is the path of the study file."""
    columns = ("stereotype", *SIDES)
    pairs: dict[str, list[tuple[str, str]]] = {}
    for key, marginalized, default in read_items(items, study, columns).select(columns).iter_rows():
        pairs.setdefault(key, []).append((marginalized, default))
    return pairs
