"""``clinometer items``: the items of benchmarks, and how they come here."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import click

from clinometer.cli.options import command
from clinometer.cli.output import echo

if TYPE_CHECKING:
    from clinometer.stimuli import BenchmarkItems, Study


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
    released files, downloaded at one commit, and checked by the hash in the study.
    """
    from clinometer.stimuli import find_items, load_study, shipped_studies

    if study is not None:
        _bring_tables(load_study(study), folder)
        return
    for name in shipped_studies():
        for _, items, source in _item_tables(load_study(name)):
            missing = f"not here: clinometer items {name} brings it from {items.source}"
            place = find_items(items, source) or missing
            echo(f"{items.file}: study {name}; {items.licence}; {place}")


def _bring_tables(study: Study, folder: Path | None) -> None:
    """Make the tables that a study names and that are not here; say how many items each has."""
    from clinometer.contracts.catalogue import INSTRUMENTS
    from clinometer.errors import StudyError
    from clinometer.stimuli import bring_items, find_items, read_items

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


def _item_tables(study: Study) -> Iterator[tuple[str, BenchmarkItems, str]]:
    """Yield instrument, items and path of the study file, for each part that names items."""
    from clinometer.contracts.catalogue import INSTRUMENTS
    from clinometer.stimuli import BenchmarkItems

    for name, raw in study.instruments.raw().items():
        if name in INSTRUMENTS and isinstance(raw.get("items"), dict):
            list(INSTRUMENTS[name].wordings(study))  # checks the part, with file and line
            yield name, BenchmarkItems.model_validate(raw["items"]), getattr(raw, "source", "")
