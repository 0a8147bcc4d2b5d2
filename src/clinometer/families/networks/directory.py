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
from clinometer.families.networks.bias import measure_bias, vary_setting
from clinometer.families.networks.controls import absent_words, check_priming, compare_with_rewired
from clinometer.families.networks.family import FAMILY
from clinometer.families.networks.lexicons import Lexicons, read_emotions, read_valence
from clinometer.families.networks.loading import read_network
from clinometer.families.networks.network import Network
from clinometer.families.networks.path_lengths import measure_paths
from clinometer.families.networks.setting import Setting
from clinometer.families.networks.spreading import Spreading
from clinometer.families.networks.streams import stream_tables
from clinometer.families.networks.structure import describe, overlap
from clinometer.families.networks.study import NetworkStudy
from clinometer.families.networks.tables import ABSENCES
from clinometer.texts import write_text

__all__ = ["Comparison", "measure_again", "write_networks"]

#: Recorded fields of the setting and of its spreading.
SETTING = ("norm", "missing", "confidence", "draws", "seed", "placebos", "rewirings")
SPREADING = ("retention", "time_steps", "decay", "suppress", "weighted", "start", "spreadr_loops")


@dataclass(frozen=True)
class Comparison:
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
    comparison: Comparison, directory: Path, on_progress: Callable[[], None] = lambda: None
) -> dict[str, pl.DataFrame]:
    """Describe networks, measure their bias and differences, and write the tables to `directory`.

    `on_progress` is called after each rewired network. Returns the tables with rows by name; raises
    as `read_network`, the readers of lexicons and `measure_bias`.
    """
    networks = [
        read_network(path, name=name, directed=comparison.directed)
        for name, path in comparison.networks
    ]
    valence, emotions = map(comparison.lexicons.get, ("valence", "emotions"))
    lexicons = Lexicons(
        valence=None if valence is None else read_valence(valence),
        emotions=None if emotions is None else read_emotions(emotions),
    )
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
        files = [(one["of"], one["file"], one["sha256"]) for one in facts["files"]]
        spreading = Spreading(**{name: facts["setting"][name] for name in SPREADING})
        setting = Setting(spreading, **{name: facts["setting"][name] for name in SETTING})
        count, streams = len(facts["networks"]), [(a, b) for a, b in facts["streams"]]
        directed = bool(facts["directed"])
    except (OSError, ValueError, KeyError, TypeError, AttributeError, RecursionError) as error:
        raise InputError(
            f"{directory / FAMILY.record}: malformed: {type(error).__name__}"
        ) from None
    here = {_sha256(path): path for path in sorted(inputs.rglob("*")) if path.is_file()}
    for name, file, content in files:
        if content not in here:
            raise InputError(f"{inputs}: no file has the content of {file}, the input {name!r}")
    found = [(name, here[content]) for name, _, content in files]
    networks, lexicons = found[:count], dict(found[count:])
    comparison = Comparison(study, setting, networks, lexicons, streams, directed)
    write_networks(comparison, directory)


def _measure(
    networks: Sequence[Network],
    lexicons: Lexicons,
    comparison: Comparison,
    on_progress: Callable[[], None],
) -> tuple[pl.DataFrame, dict[str, pl.DataFrame]]:
    """Return the estimates, and the detail tables by name."""
    study, setting = comparison.study, comparison.setting
    measured = measure_bias(networks, study, lexicons=lexicons, setting=setting)
    nodes, edges = stream_tables(networks, comparison.streams, lexicons.valence)
    paths = [measure_paths(network, study, setting=setting) for network in networks]
    estimates = [measured.estimates, *(of.estimates for of in paths)]
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
        "network_paths": pl.concat(of.lengths for of in paths),
        "network_absences": pl.concat([measured.absences, absences]),
        "network_stream_nodes": nodes,
        "network_stream_edges": edges,
    }


def _facts(networks: Sequence[Network], comparison: Comparison) -> dict[str, Any]:
    """Record the inputs and settings for reproduction; paths without their folders."""
    study, setting = comparison.study, comparison.setting
    asked = study.model_dump_json(include={"name", "identities"})
    named = [(one.name, path) for one, (_, path) in zip(networks, comparison.networks, strict=True)]
    return {
        "clinometer": clinometer.__version__,
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
            "content": study.model_dump(mode="json"),
        },
        "networks": [network.name for network in networks],
        "files": [
            {"of": of, "file": path.name, "sha256": _sha256(path)}
            for of, path in [*named, *comparison.lexicons.items()]
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
