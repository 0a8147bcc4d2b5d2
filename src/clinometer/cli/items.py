"""``clinometer items``: the items of benchmarks, and how they come here."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import click

from clinometer.cli.options import command
from clinometer.cli.output import echo

if TYPE_CHECKING:
    from clinometer.stimuli import BenchmarkItems, ReleasedFile, Study


@command("items")
@click.argument("study", required=False, metavar="[STUDY|FILE]")
@click.option(
    "--from",
    "folder",
    type=click.Path(exists=True, file_okay=False, path_type=Path),
    help="Folder of the released files, if they were downloaded in another way.",
)
def items_command(study: str | None, folder: Path | None) -> None:
    """List the tables of items that studies name, or bring those of STUDY.

    Items whose licence asks to share alike do not come with Clinometer. They are made of the
    released files, downloaded at one commit, and checked by the hash in the study. Of bbq the
    released files of five categories are brought, which are generated without them.
    """
    from clinometer.stimuli import find_items, load_study, shipped_studies

    if study is not None:
        _bring_tables(load_study(study), folder)
        return
    for name in shipped_studies():
        study_content = load_study(name)
        for _, items, source in _item_tables(study_content):
            missing = f"not here: clinometer items {name} brings it from {items.source}"
            place = find_items(items, source) or missing
            echo(f"{items.file}: study {name}; {items.licence}; {place}")
        for released, source in _released_files(study_content):
            missing = f"not here: clinometer items {name} brings it from {released.address}"
            echo(f"{released.file}: study {name}; {find_items(released, source) or missing}")


def _bring_tables(study: Study, folder: Path | None) -> None:
    """Make the tables that a study names and that are not here; say how many items each has."""
    from clinometer.contracts.catalogue import INSTRUMENTS
    from clinometer.errors import StudyError
    from clinometer.stimuli import (
        bring_items,
        bring_released,
        find_items,
        read_items,
        read_released,
    )

    parts = list(_item_tables(study))
    if not parts:
        raise StudyError(f"study {study.name!r} names no items")
    for instrument, items, source in parts:
        make = INSTRUMENTS[instrument].make_items
        # Tables that are shipped, or here already, are only counted.
        if make is not None and items.made_of and find_items(items, source) is None:
            path = bring_items(items, make, folder)
            echo(f"{path}: made of {items.source}; licence {items.licence}")
        count = read_items(items, source).height
        echo(f"{items.file}: {count:,} items, as the study names them")
    for released, source in _released_files(study):
        if read_released(released, source) is None:  # one that is here is checked
            bring_released(released, folder)
        echo(f"{released.file}: {find_items(released, source) or f'not in {folder}'}")


def _released_files(study: Study) -> Iterator[tuple[ReleasedFile, str]]:
    """Yield the released files that may be brought, and the path of the study file."""
    from clinometer.stimuli import ReleasedFile

    for raw in study.instruments.raw().values():
        for file in raw.get("released", ()):
            yield ReleasedFile.model_validate(file), getattr(raw, "source", "")


def _item_tables(study: Study) -> Iterator[tuple[str, BenchmarkItems, str]]:
    """Yield instrument, items and path of the study file, for each part that names items."""
    from clinometer.contracts.catalogue import INSTRUMENTS
    from clinometer.stimuli import BenchmarkItems

    for name, raw in study.instruments.raw().items():
        if name in INSTRUMENTS and isinstance(raw.get("items"), dict):
            list(INSTRUMENTS[name].wordings(study))  # checks the part, with file and line
            yield name, BenchmarkItems.model_validate(raw["items"]), getattr(raw, "source", "")
