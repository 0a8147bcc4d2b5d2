"""Families of measures beside the answers to trials: association networks, hidden states.

A family is a folder here with everything of its own: what it asks and reads, its tables and their
columns, its part of the report, its commands. Its module ``family`` ends in a `Family` object named
``FAMILY``, which is all that the other rooms know of it. Families are found by looking: at the
folders of this package, and at the entry points ``clinometer.families`` of installed packages, each
of which names such an object.

This module imports nothing but `errors`, so that ``clinometer --help`` is fast; for the same
reason the functions of a `Family` import what they need when they are called.
"""

from __future__ import annotations

import importlib
import pkgutil
import warnings
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from importlib.metadata import entry_points
from pathlib import Path
from types import ModuleType
from typing import TYPE_CHECKING

from clinometer.errors import ClinometerWarning, InputError, one_line

if TYPE_CHECKING:
    from clinometer.asking.plan import Plan
    from clinometer.asking.shards import RequestPlan
    from clinometer.models.opening import Connection
    from clinometer.pieces.sections import ReportPart
    from clinometer.results.schemas import Table
    from clinometer.stimuli.study import FamilyStudy

__all__ = ["ENTRY_POINTS", "Family", "families"]

#: The group of entry points by which other packages add families.
ENTRY_POINTS = "clinometer.families"


def __getattr__(name: str) -> ModuleType:
    """Import a family's folder when it is first used, as ``clinometer.families.networks``."""
    if name in _folders():
        return importlib.import_module(f"{__name__}.{name}")
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def _folders() -> list[str]:
    return sorted(module.name for module in pkgutil.iter_modules(__path__))


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
    load_plan: Callable[[Path], RequestPlan | None] = lambda directory: None
    """Reads the plan of a directory in which this family asks models; None if there is none."""
    next_step: str = ""
    """The command that goes on where such a plan is answered; ``{directory}`` is replaced."""
    measurable: Callable[[Plan], Sequence[str]] = lambda plan: ()
    """The models of an audit's plan that it can measure beside their answers."""
    measure: Callable[[Plan, Path, Connection], None] = lambda plan, directory, connection: None
    """Measures these models, reached as they were asked, and writes the tables into the audit's
    directory."""


@cache
def families() -> Mapping[str, Family]:
    """Return all families by name: those of this package first, in alphabetical order.

    One of another package that cannot be imported, is no `Family`, or has a name that exists is
    left out, with a warning that names the entry point and its package.
    """
    by_name: dict[str, Family] = {}
    shipped = [importlib.import_module(f"{__name__}.{name}.family").FAMILY for name in _folders()]
    for family in shipped:
        by_name[family.name] = family
    for point in entry_points(group=ENTRY_POINTS):
        package = point.dist.name if point.dist else "an unknown package"
        try:
            family = point.load()
            if not isinstance(family, Family):
                raise InputError(f"{point.value} is no Family")
            if family.name in by_name:
                raise InputError(f"{family.name!r} already exists; rename it")
        except Exception as error:  # a package of others raises what it likes
            warnings.warn(
                f"family {point.name!r} of {package} is left out: {one_line(error)}",
                ClinometerWarning,
                stacklevel=2,
            )
        else:
            by_name[family.name] = family
    return by_name
