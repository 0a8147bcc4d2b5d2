"""Hidden states, as the other rooms know them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from clinometer.families import Family

if TYPE_CHECKING:
    from clinometer.models.opening import Connection
    from clinometer.pieces.sections import ReportPart
    from clinometer.results.schemas import Table

__all__ = ["FAMILY"]


def _tables() -> Mapping[str, Table]:
    """Give the tables of this family."""
    from clinometer_measures.states.tables import TABLES

    return TABLES


def _part(directory: Path) -> ReportPart | None:
    """Make the part of the report of a results directory."""
    from clinometer_measures.states.report.part import state_part

    return state_part(directory)


def _findings(directory: Path) -> Sequence[tuple[str, str, str]]:
    """Say what a results directory shows: about what, of which model, and in words."""
    from clinometer_measures.states.report.part import findings
    from clinometer_measures.states.report.results import read_states

    states = read_states(directory)
    return [] if states is None else findings(states)


def _measure_again(directory: Path, inputs: Path | None) -> None:
    """Read the models of an audit anew; nothing of `inputs` is needed."""
    from clinometer_measures.states.directory import audit_states

    (directory / FAMILY.record).unlink()  # else they are taken for measured
    audit_states(directory)


def _listing() -> Mapping[str, Mapping[str, str]]:
    """Describe the shipped tests and sets of words for ``clinometer list``."""
    from clinometer_measures.states.word_tests import load_tests
    from clinometer_measures.states.words import SHIPPED, read_words

    tests = ", ".join(test.stereotype for test in load_tests("caliskan2017"))
    groups = {}
    for name in SHIPPED:
        sizes = [f"{group} ({len(words)})" for group, words in read_words(name).groups.items()]
        groups[name] = ", ".join(sizes)
    return {
        "association tests in hidden states (clinometer weat)": {"caliskan2017": tests},
        "groups of words for profiles (clinometer profile)": groups,
    }


def _measurable(models: Sequence[str]) -> Sequence[str]:
    """List the models whose states can be read."""
    from clinometer_measures.states.directory import readable_models

    return readable_models(models)


def _measure(directory: Path, connection: Connection) -> None:
    """Measure the states of the models of a directory's plan."""
    from clinometer_measures.states.directory import audit_states

    audit_states(directory, connection.model_args.get("model_path"))


FAMILY = Family(
    name="states",
    title="Hidden states",
    record="states.json",
    record_meaning="which models were read, and how",
    tables=_tables,
    part=_part,
    findings=_findings,
    measure_again=_measure_again,
    rounding=1e-4,
    commands={
        "profile": (
            "clinometer_measures.states.cli",
            "Place groups of words on stereotype dimensions in hidden states.",
        ),
        "weat": (
            "clinometer_measures.states.cli.measuring",
            "Run association tests (WEAT, SEAT, CEAT, …) in hidden states.",
        ),
    },
    listing=_listing,
    measurable=_measurable,
    measure=_measure,
)
