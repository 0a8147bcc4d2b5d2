"""Where studies lie: the core's, those beside measures of Clinometer, and the user's.

A package brings studies by an entry point in the group ``clinometer.studies``, whose value is the
package that holds the ``.yaml`` files, as ``clinometer_measures.hiring.studies`` does. The items
and norms of such a study lie beside it.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from functools import cache
from importlib import resources
from importlib.metadata import EntryPoint
from importlib.util import find_spec
from pathlib import Path

from clinometer.errors import StudyError
from clinometer.families import is_shipped, plug_ins

#: The environment variable with the folders of the user's studies.
STUDIES = "CLINOMETER_STUDIES"
#: The group of entry points by which packages bring studies.
ENTRY_POINTS = "clinometer.studies"


@cache
def shipped_folders() -> tuple[Path, ...]:
    """Return the folders of the studies that come with Clinometer, the core's first."""
    folders = [Path(str(resources.files("clinometer.stimuli"))) / "studies"]
    for point in filter(is_shipped, plug_ins(ENTRY_POINTS)):
        folders += _package_folders(point)
    return tuple(folders)


@cache
def shipped_studies() -> Mapping[str, Path]:
    """Return the studies that come with Clinometer by name, in alphabetical order."""
    paths = [path for folder in shipped_folders() for path in folder.glob("*.yaml")]
    return {path.stem: path for path in sorted(paths, key=lambda path: path.stem)}


def user_studies() -> dict[str, Path]:
    """Return the user's studies by name, with their files.

    They are the ``.yaml`` files of the folders in the environment variable `STUDIES`, separated as
    in ``PATH``, and of the packages that other installed packages name in the group of entry points
    ``clinometer.studies``. The first of a name stays; a shipped study goes before them all.

    Raises
    ------
    StudyError
        If there is no such folder.
    """
    folders_text = os.environ.get(STUDIES, "")
    folders = [Path(folder) for folder in folders_text.split(os.pathsep) if folder]
    for folder in folders:
        if not folder.is_dir():
            raise StudyError(f"{STUDIES}: {folder}: no such folder")
    for point in plug_ins(ENTRY_POINTS):
        if not is_shipped(point):
            folders += _package_folders(point)
    studies: dict[str, Path] = {}
    for folder in folders:
        for path in sorted(folder.glob("*.yaml")):
            studies.setdefault(path.stem, path)
    return {name: path for name, path in studies.items() if name not in shipped_studies()}


def _package_folders(point: EntryPoint) -> list[Path]:
    """Return the folders of a package of studies; StudyError if there is none.

    Nothing is imported: a package that holds a measure, too, takes long.
    """
    root, *names = point.value.split(".")
    spec = find_spec(root)
    places = spec.submodule_search_locations if spec else None
    folders = [Path(place, *names) for place in places or ()]
    folders = [folder for folder in folders if folder.is_dir()]
    if not folders:
        raise StudyError(f"studies {point.name!r}: no package {point.value!r}")
    return folders
