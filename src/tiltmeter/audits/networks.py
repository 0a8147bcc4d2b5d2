"""Networks in a results directory: their tables, and a record of the inputs."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from itertools import combinations
from pathlib import Path
from typing import Any

import polars as pl

import tiltmeter
from tiltmeter.networks.bias import measure_bias, vary_setting
from tiltmeter.networks.controls import absent_words, check_priming, compare_with_rewired
from tiltmeter.networks.lexicons import Lexicons
from tiltmeter.networks.network import Network
from tiltmeter.networks.setting import FAMILY, Setting
from tiltmeter.networks.streams import stream_tables
from tiltmeter.networks.structure import describe, overlap
from tiltmeter.results.directory import write_results
from tiltmeter.results.schemas import ABSENCES
from tiltmeter.stimuli import NetworkStudy
from tiltmeter.texts import write_text

__all__ = ["FACTS", "Comparison", "write_networks"]

#: The file that records what was compared.
FACTS = "networks.json"

#: Recorded fields of the setting and of its spreading.
SETTING = ("norm", "missing", "confidence", "draws", "seed", "placebos", "rewirings")
SPREADING = ("retention", "time_steps", "decay", "suppress", "weighted")


@dataclass(frozen=True)
class Comparison:
    """The comparison to make: a study, and how its bias is measured."""

    study: NetworkStudy
    lexicons: Lexicons
    """An approach without its lexicon is left out."""
    setting: Setting
    streams: Sequence[tuple[str, str]]
    """Pairs of words whose shortest paths are shown."""
    files: Mapping[str, Path]
    """Paths for the record, by name of the network or lexicon."""


def write_networks(
    networks: Sequence[Network],
    comparison: Comparison,
    directory: Path,
    on_progress: Callable[[], None] = lambda: None,
) -> dict[str, pl.DataFrame]:
    """Describe networks, measure their bias and differences, and write the tables to `directory`.

    Networks have distinct names; `on_progress` is called after each rewired network. Returns the
    tables with rows by name; raises as `measure_bias`.
    """
    estimates, details = _measure(networks, comparison, on_progress)
    write_results(directory, FAMILY, estimates, details)
    facts = json.dumps(_facts(networks, comparison), indent=2, ensure_ascii=False)
    write_text(directory / FACTS, facts + "\n")
    tables = {"estimates": estimates, **details}
    return {name: table for name, table in tables.items() if not table.is_empty()}


def _measure(
    networks: Sequence[Network], comparison: Comparison, on_progress: Callable[[], None]
) -> tuple[pl.DataFrame, dict[str, pl.DataFrame]]:
    """Return the estimates, and the detail tables by name."""
    study, lexicons, setting = comparison.study, comparison.lexicons, comparison.setting
    measured = measure_bias(networks, study, lexicons=lexicons, setting=setting)
    nodes, edges = stream_tables(networks, comparison.streams, lexicons.valence)
    estimates = [measured.estimates]
    for network in networks:
        how: dict[str, Any] = {"lexicons": lexicons, "setting": setting.within(network)}
        if setting.rewirings:
            estimates.append(compare_with_rewired(network, study, **how, on_progress=on_progress))
        estimates.append(vary_setting(network, study, **how))
        estimates.append(check_priming(network, how["setting"].spreading))
    unprimed = [{"network": one.name, "absent": absent_words(one)} for one in networks]
    absences = pl.DataFrame([row for row in unprimed if row["absent"]], schema=ABSENCES)
    overlaps = [overlap(a, b) for a, b in combinations(networks, 2)]
    return pl.concat(estimates), {
        "networks": pl.concat(map(describe, networks)),
        **({"network_overlaps": pl.concat(overlaps)} if overlaps else {}),
        "network_activations": measured.activations,
        "network_absences": pl.concat([measured.absences, absences]),
        "network_stream_nodes": nodes,
        "network_stream_edges": edges,
    }


def _facts(networks: Sequence[Network], comparison: Comparison) -> dict[str, Any]:
    """Record the inputs and settings for reproduction; paths without their folders."""
    study, setting = comparison.study, comparison.setting
    asked = study.model_dump_json(include={"name", "identities"})
    return {
        "tiltmeter": tiltmeter.__version__,
        "created": datetime.now(UTC).isoformat(timespec="seconds"),
        "study": {
            "name": study.name,
            "hash": hashlib.sha256(asked.encode()).hexdigest()[:12],
            "title": study.title,
            "citation": study.citation.text.strip(),
            "bibtex": study.citation.bibtex.strip(),
            "notes": study.deviations,
            "identities": {
                key: {"label": one.label or key, "approach": one.approach}
                for key, one in study.identities.items()
            },
        },
        "networks": [network.name for network in networks],
        "files": [
            {"of": of, "file": path.name, "sha256": _sha256(path)}
            for of, path in comparison.files.items()
        ],
        "setting": {
            **{name: getattr(setting.spreading, name) for name in SPREADING},
            **{name: getattr(setting, name) for name in SETTING},
        },
    }


def _sha256(path: Path) -> str | None:
    if not path.is_file():
        return None
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()
