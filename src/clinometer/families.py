"""Families of measures beside the answers to trials: association networks, hidden states.

A family is a package with everything of its own: what it asks and reads, its tables and their
columns, its part of the report, its commands. Its module ``family`` ends in a `Family` object named
``FAMILY``, which is all that the rooms here know of it. Families are found at the entry points
``clinometer.families`` of installed packages, this one's among them (`clinometer_measures`).

This module imports nothing but `errors`, so that ``clinometer --help`` is fast; for the same
reason the functions of a `Family` import what they need when they are called.
"""

from __future__ import annotations

import importlib
import warnings
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from importlib.metadata import EntryPoint, entry_points
from pathlib import Path
from types import ModuleType
from typing import TYPE_CHECKING, Any, Protocol

from clinometer.errors import ClinometerWarning, InputError, one_line

if TYPE_CHECKING:
    from clinometer.models.opening import Connection
    from clinometer.pieces.sections import ReportPart
    from clinometer.results.schemas import Table
    from clinometer_measures import networks as networks
    from clinometer_measures import states as states

#: The group of entry points by which other packages add families.
ENTRY_POINTS = "clinometer.families"


def __getattr__(name: str) -> ModuleType:
    """Import the package of a family when it is first used, as ``clinometer.networks``."""
    for point in plug_ins(ENTRY_POINTS):
        if point.name == name:
            return importlib.import_module(point.module.rpartition(".")[0])
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def plug_ins(group: str) -> list[EntryPoint]:
    """Return the entry points of a group by name, those of Clinometer before those of others."""
    return sorted(entry_points(group=group), key=lambda point: (not is_shipped(point), point.name))


def is_shipped(point: EntryPoint) -> bool:
    """Whether an entry point is of Clinometer: another package cannot take the place of ours."""
    return point.dist is not None and point.dist.name == "clinometer"


class StudyCitation(Protocol):
    """How to cite a study."""

    @property
    def text(self) -> str:
        """As a line."""
        ...

    @property
    def bibtex(self) -> str:
        """As an entry; empty if there is none."""
        ...


class FamilyStudy(Protocol):
    """A study of another family, as ``clinometer list``, ``validate`` and ``cite`` show it."""

    name: str
    title: str

    @property
    def citation(self) -> StudyCitation:
        """How to cite it."""
        ...

    def summary(self) -> str:
        """Say what the study holds, in a line."""
        ...

    def lines(self) -> list[str]:
        """List what it asks about, by identity or stereotype."""
        ...


@dataclass(frozen=True)
class Family:
    """All that the other rooms know of a family."""

    name: str
    """Its value of the column `family`."""
    title: str
    """What it measures, as a heading."""
    record: str
    """The file of a results directory that says what was measured, and how."""
    record_meaning: str
    """What is in this file, in a line."""
    tables: Callable[[], Mapping[str, Table]]
    """Its tables by name, with the columns that only they have; rows of estimates are beside."""
    part: Callable[[Path], ReportPart | None]
    """Its part of the report of a results directory; None where it was not measured."""
    findings: Callable[[Path], Sequence[tuple[str, str, str]]]
    """What a directory shows: about what, of whom, and in words; the most important first."""
    measure_again: Callable[[Path, Path | None], None]
    """Makes the tables in a directory anew, as its record says; with a folder of `needs_inputs`."""
    needs_inputs: bool = False
    """Whether measuring again takes files that are not in a bundle; else it takes the models."""
    rounding: float = 1e-9
    """Share by which numbers differ that were computed on another machine."""
    commands: Mapping[str, tuple[str, str]] = field(default_factory=dict)
    """Command → the module that holds it, and one line of help."""
    listing: Callable[[], Mapping[str, Mapping[str, str]]] = dict
    """What ``clinometer list`` shows: heading → name → description."""
    open_study: Callable[[str | Path], FamilyStudy | None] = lambda study: None
    """Loads a study of this family by shipped name or path; None if it is of another kind."""
    shipped_studies: Callable[[], Sequence[str]] = tuple
    """The names of its studies that come with Clinometer."""
    load_plan: Callable[[Path], Any] = lambda directory: None
    """Reads the plan of a directory in which this family asks models, an
    `asking.shards.RequestPlan`; None if there is none."""
    next_step: str = ""
    """The command that goes on where such a plan is answered; ``{directory}`` is replaced."""
    measurable: Callable[[Sequence[str]], Sequence[str]] = lambda models: ()
    """Those of some models that it can measure beside their answers."""
    measure: Callable[[Path, Connection], None] = lambda directory, connection: None
    """Measures the models of the plan in an audit's directory, reached as they were asked, and
    writes the tables into it."""


def load_plug_ins(group: str, kind: str, add: Callable[[EntryPoint], None]) -> None:
    """Add what the entry points of a group name; one that fails is left out, with a warning.

    It must not stop a command that does not ask for it. `kind`: what they are, for the warning.
    """
    for point in plug_ins(group):
        package = point.dist.name if point.dist else "an unknown package"
        try:
            add(point)
        except Exception as error:  # a package of others raises what it likes
            warnings.warn(
                f"{kind} {point.name!r} of {package} is left out: {one_line(error)}",
                ClinometerWarning,
                stacklevel=2,
            )


@cache
def families() -> Mapping[str, Family]:
    """Return all families by name, in alphabetical order, those of Clinometer first.

    One that cannot be imported, is no `Family`, or has a name that exists is left out, with a
    warning that names the entry point and its package.
    """
    by_name: dict[str, Family] = {}

    def add(point: EntryPoint) -> None:
        """Add a family; raises InputError if it is none, or its name exists."""
        family = point.load()
        if not isinstance(family, Family):
            raise InputError(f"{point.value} is no Family")
        if family.name in by_name:
            raise InputError(f"{family.name!r} already exists; rename it")
        by_name[family.name] = family

    load_plug_ins(ENTRY_POINTS, "family", add)
    return by_name
