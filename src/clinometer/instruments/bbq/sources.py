"""Where the items of each category are had: brought, shipped or generated."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import lru_cache
from pathlib import Path

from clinometer.authoring import (
    BenchmarkItems,
    ReleasedFile,
    Study,
    StudyError,
    Wordings,
    find_items,
    read_released,
)
from clinometer.instruments.bbq.generation import Generated, generate_items
from clinometer.instruments.bbq.items import Item, read_bbq
from clinometer.instruments.bbq.released import read_release
from clinometer.instruments.bbq.templates import read_templates

__all__ = ["NAME", "BbqPart", "BbqItems", "items_of"]

#: The instrument, and its part of a study.
NAME = "bbq"


class BbqPart(Wordings[str]):
    """What a study says of it: where its items are had, and wordings with places for one."""

    items: BenchmarkItems
    """Items as one table."""
    categories: dict[str, str]
    """Stereotype → category of its items."""
    generated: Generated | None = None
    """Of what categories are generated that the table does not have."""
    released: tuple[ReleasedFile, ...] = ()
    """Files of categories, named after them: where one was brought, nothing is generated."""


class BbqItems(Mapping[str, Item]):
    """Items by name. Those of a category are read, or generated, when they are first needed."""

    def __init__(self, part: BbqPart, study: str) -> None:
        """Take what a study says, and the path of its file."""
        self._part, self._study = part, study

    def __getitem__(self, name: str) -> Item:
        """Return an item by name, also a generated one whose released file was brought since."""
        category, _, number = name.rpartition(" ")
        released = {} if number.startswith("g") else self._released(category)
        return (released or self._generated(category))[name]

    def __iter__(self) -> Iterator[str]:
        """Yield the names of all items."""
        for category in self.categories():
            yield from self.in_category(category)

    def __len__(self) -> int:
        """Count the items."""
        return sum(len(self.in_category(category)) for category in self.categories())

    def categories(self) -> list[str]:
        """Return the categories that there are items of."""
        generated = self._part.generated
        templates = read_templates(generated.templates, self._study) if generated else ()
        return list(dict.fromkeys((*self._table(), *templates)))

    def in_category(self, category: str) -> Mapping[str, Item]:
        """Return the items of a category by name; none if it is not known."""
        return self._released(category) or self._generated(category)

    def is_generated(self, category: str) -> bool:
        """Return whether the items of a category are made of templates."""
        return not self._released(category) and category in self.categories()

    def _table(self) -> Mapping[str, Mapping[str, Item]]:
        return _categories_of_table(self._part.items, self._study)

    def _released(self, category: str) -> Mapping[str, Item]:
        """Return the items of the table, or of a file that was brought; none without either."""
        generated = self._part.generated
        for released in self._part.released:
            if generated is not None and released.file == f"{category}.jsonl":
                path = find_items(released, self._study)
                return _read_brought(released, generated, path, self._study) if path else {}
        return self._table().get(category, {})

    def _generated(self, category: str) -> Mapping[str, Item]:
        generated = self._part.generated
        return {} if generated is None else _generate(generated, category, self._study)


def items_of(study: Study) -> BbqItems:
    """Return the items of a study by name; raise StudyError if it has no such part."""
    part = study.instruments.read(NAME, BbqPart)
    if part is None:
        raise StudyError(f"study {study.name!r} has no items of {NAME}")
    return BbqItems(part, getattr(study.instruments.raw()[NAME], "source", ""))


@lru_cache(maxsize=4)
def _categories_of_table(items: BenchmarkItems, study: str) -> Mapping[str, Mapping[str, Item]]:
    """Return the items of a table by category."""
    categories: dict[str, dict[str, Item]] = {}
    for name, item in read_bbq(items, study).items():
        categories.setdefault(item.category, {})[name] = item
    return categories


@lru_cache(maxsize=16)
def _generate(generated: Generated, category: str, study: str) -> Mapping[str, Item]:
    """Return the items of a category that are made of templates."""
    return {item.name: item for item in generate_items(generated, category, study)}


@lru_cache(maxsize=16)
def _read_brought(
    released: ReleasedFile, generated: Generated, path: Path, study: str
) -> Mapping[str, Item]:
    """Return the items of a released file that stands at a path."""
    content = read_released(released, study) or b""
    templates = read_templates(generated.templates, study)[path.stem]
    return {item.name: item for item in read_release(content, templates)}
