"""Networks in a results directory: their tables, and a record from which they can be made again."""

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

import clinometer
from clinometer.directory.results import write_results
from clinometer.errors import InputError
from clinometer.texts import write_text
from clinometer_measures.networks.bias import measure_bias, vary_setting
from clinometer_measures.networks.controls import absent_words, check_priming, compare_with_rewired
from clinometer_measures.networks.family import FAMILY
from clinometer_measures.networks.lexicons import Lexicons
from clinometer_measures.networks.loading import read_network
from clinometer_measures.networks.network import Network
from clinometer_measures.networks.path_lengths import measure_paths
from clinometer_measures.networks.setting import Setting
from clinometer_measures.networks.spreading import Spreading
from clinometer_measures.networks.streams import stream_tables
from clinometer_measures.networks.structure import describe, overlap
from clinometer_measures.networks.study import NetworkStudy
from clinometer_measures.networks.tables import ABSENCES

__all__ = ["NetworkComparison", "measure_again", "write_networks"]

#: Recorded fields of the setting and of its spreading.
SETTING = ("norm", "missing", "confidence", "draws", "seed", "placebos", "rewirings")
SPREADING = ("retention", "time_steps", "decay", "suppress", "weighted", "start", "spreadr_loops")


@dataclass(frozen=True)
class NetworkComparison:
    """The comparison to make: a study, how its bias is measured, and the files it is read from."""

    study: NetworkStudy
    setting: Setting
    networks: Sequence[tuple[str | None, Path]]
    """Name and edge list of each network; None: the name that the file gives."""
    lexicons: Mapping[str, Path]
    """``valence`` and ``emotions``; an approach without its lexicon is left out."""
    streams: Sequence[tuple[str, str]] = ()
    """Pairs of words whose shortest paths are shown."""
    directed: bool = False


def write_networks(
    comparison: NetworkComparison, directory: Path, on_progress: Callable[[], None] = lambda: None
) -> dict[str, pl.DataFrame]:
    """Describe networks, measure their bias and differences, and write the tables to `directory`.

    `on_progress` is called after each rewired network. Returns the tables with rows by name; raises
    as `read_network`, the readers of lexicons and `measure_bias`.
    """
    networks = []
    for name, path in comparison.networks:
        networks.append(read_network(path, name=name, directed=comparison.directed))
    lexicons = Lexicons.read(**comparison.lexicons)
    estimates, details = _measure(networks, lexicons, comparison, on_progress)
    write_results(directory, FAMILY.name, estimates, details)
    facts = json.dumps(_facts(networks, comparison), indent=2, ensure_ascii=False)
    write_text(directory / FAMILY.record, facts + "\n")
    tables = {"estimates": estimates, **details}
    return {name: table for name, table in tables.items() if not table.is_empty()}


def measure_again(directory: Path, inputs: Path) -> None:
    """Make the tables of networks in a directory anew, as its record says.

    `inputs` is a folder with the edge lists and lexicons, known by their hashes. Raises InputError
    if one is not there, or the record is malformed; else as `write_networks`.
    """
    try:
        facts = json.loads((directory / FAMILY.record).read_bytes())
        study = NetworkStudy.model_validate(facts["study"]["content"])
        files = [(entry["of"], entry["file"], entry["sha256"]) for entry in facts["files"]]
        spreading = Spreading(**{name: facts["setting"][name] for name in SPREADING})
        setting = Setting(spreading, **{name: facts["setting"][name] for name in SETTING})
        count = len(facts["networks"])
        streams = [(source, target) for source, target in facts["streams"]]
        directed = bool(facts["directed"])
    # All that a malformed JSON value raises where another type is expected.
    except (OSError, ValueError, KeyError, TypeError, AttributeError, RecursionError) as error:
        raise InputError(
            f"{directory / FAMILY.record}: malformed: {type(error).__name__}"
        ) from None
    paths_by_hash = {_sha256(path): path for path in sorted(inputs.rglob("*")) if path.is_file()}
    name_paths = []
    for name, file, sha256 in files:
        if sha256 not in paths_by_hash:
            raise InputError(f"{inputs}: no file has the content of {file}, the input {name!r}")
        name_paths.append((name, paths_by_hash[sha256]))
    # The record lists the networks first, then the lexicons.
    networks = name_paths[:count]
    lexicons = dict(name_paths[count:])
    comparison = NetworkComparison(study, setting, networks, lexicons, streams, directed)
    write_networks(comparison, directory)


def _measure(
    networks: Sequence[Network],
    lexicons: Lexicons,
    comparison: NetworkComparison,
    on_progress: Callable[[], None],
) -> tuple[pl.DataFrame, dict[str, pl.DataFrame]]:
    """Return the estimates, and the detail tables by name."""
    study, setting = comparison.study, comparison.setting
    bias = measure_bias(networks, study, lexicons=lexicons, setting=setting)
    nodes, edges = stream_tables(networks, comparison.streams, lexicons.valence)
    paths = [measure_paths(network, study, setting=setting) for network in networks]
    estimates = [bias.estimates, *(lengths.estimates for lengths in paths)]
    for network in networks:
        # Steps and start once for each network: its diameter is the slow part of them.
        full = setting.within(network)
        options: dict[str, Any] = {"lexicons": lexicons, "setting": full}
        if setting.rewirings:
            rewired = compare_with_rewired(network, study, **options, on_progress=on_progress)
            estimates.append(rewired)
        estimates.append(vary_setting(network, study, **options))
        estimates.append(check_priming(network, full.spreading))
    overlaps = [overlap(a, b) for a, b in combinations(networks, 2)]
    return pl.concat(estimates), {
        "networks": pl.concat(map(describe, networks)),
        # A single network has no overlap, and so no table of them.
        **({"network_overlaps": pl.concat(overlaps)} if overlaps else {}),
        "network_activations": bias.activations,
        "network_paths": pl.concat(table.lengths for table in paths),
        "network_absences": pl.concat([bias.absences, _priming_absences(networks)]),
        "network_stream_nodes": nodes,
        "network_stream_edges": edges,
    }


def _priming_absences(networks: Sequence[Network]) -> pl.DataFrame:
    """List the words of the priming check that a network lacks; rows of ABSENCES."""
    rows = []
    for network in networks:
        absent = absent_words(network)
        if absent:
            rows.append({"network": network.name, "absent": absent})
    return pl.DataFrame(rows, schema=ABSENCES)


def _facts(networks: Sequence[Network], comparison: NetworkComparison) -> dict[str, Any]:
    """Record the inputs and settings for reproduction; paths without their folders."""
    study, setting = comparison.study, comparison.setting
    identity_text = study.model_dump_json(include={"name", "identities"})
    # Names as read: of a network without one, that of its file.
    paths = [path for _, path in comparison.networks]
    inputs = [*zip((network.name for network in networks), paths, strict=True)]
    inputs += comparison.lexicons.items()
    identities = {}
    for key, identity in study.identities.items():
        identities[key] = {"label": identity.label or key, "approach": identity.approach}
    return {
        "clinometer": clinometer.__version__,
        "created": datetime.now(UTC).isoformat(timespec="seconds"),
        "study": {
            "name": study.name,
            "hash": hashlib.sha256(identity_text.encode()).hexdigest()[:12],
            "title": study.title,
            "citation": study.citation.text.strip(),
            "bibtex": study.citation.bibtex.strip(),
            "notes": study.deviations,
            "identities": identities,
            "content": study.model_dump(mode="json"),
        },
        "networks": [network.name for network in networks],
        "files": [
            {"of": name, "file": path.name, "sha256": _sha256(path)} for name, path in inputs
        ],
        "streams": [list(pair) for pair in comparison.streams],
        "directed": comparison.directed,
        "setting": {
            **{name: getattr(setting.spreading, name) for name in SPREADING},
            **{name: getattr(setting, name) for name in SETTING},
        },
    }


def _sha256(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()
