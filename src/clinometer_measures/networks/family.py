"""Association networks, as the other rooms know them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from clinometer.families import Family

if TYPE_CHECKING:
    from clinometer.asking.shards import RequestPlan
    from clinometer.pieces.sections import ReportPart
    from clinometer.results.schemas import Table
    from clinometer_measures.networks.study import NetworkStudy

__all__ = ["FAMILY"]


def _tables() -> Mapping[str, Table]:
    from clinometer_measures.networks.tables import TABLES

    return TABLES


def _part(directory: Path) -> ReportPart | None:
    from clinometer_measures.networks.report.part import network_part

    return network_part(directory)


def _findings(directory: Path) -> Sequence[tuple[str, str, str]]:
    from clinometer_measures.networks.report.part import findings
    from clinometer_measures.networks.report.results import read_networks

    networks = read_networks(directory)
    return [] if networks is None else findings(networks)


def _measure_again(directory: Path, inputs: Path | None) -> None:
    from clinometer_measures.networks.directory import measure_again

    assert inputs is not None  # as `needs_inputs` says
    measure_again(directory, inputs)


def _listing() -> Mapping[str, Mapping[str, str]]:
    from clinometer_measures.networks.study import load_network_study, shipped_network_studies

    descriptions = {}
    for name in shipped_network_studies():
        study = load_network_study(name)
        descriptions[study.name] = ", ".join(study.identities)
    return {"studies of networks": descriptions}


def _open_study(study: str | Path) -> NetworkStudy | None:
    from clinometer_measures.networks.study import open_network_study

    return open_network_study(study)


def _shipped_studies() -> Sequence[str]:
    from clinometer_measures.networks.study import shipped_network_studies

    return shipped_network_studies()


def _load_plan(directory: Path) -> RequestPlan | None:
    from clinometer_measures.networks.association_plan import PLAN, load_associations

    return load_associations(directory) if (directory / PLAN).is_file() else None


FAMILY = Family(
    name="networks",
    title="Association networks",
    record="networks.json",
    record_meaning="which networks were measured, and how",
    tables=_tables,
    part=_part,
    findings=_findings,
    measure_again=_measure_again,
    needs_inputs=True,
    commands={
        "network": (
            "clinometer_measures.networks.cli",
            "Build association networks and measure bias in them.",
        )
    },
    listing=_listing,
    open_study=_open_study,
    shipped_studies=_shipped_studies,
    load_plan=_load_plan,
    next_step="clinometer network build {directory} --out network.csv",
)
