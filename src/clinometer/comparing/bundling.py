"""Evidence: one archive from which every number of a run can be recomputed (`verifying`).

What it holds
    Plan, studies, policy, every answer as it was journalled or recorded, every prompt as it was
    sent (``prompts.jsonl``), what is known of the models, the tables, the report, an audit card,
    deviations from the plan, and a manifest: the SHA-256 and the size of every file, and the hash
    of the manifest itself in ``SHA256``. Bundling the same run twice gives the same bytes: names
    are sorted, times are fixed, nothing is compressed.

Reference
    Mitchell et al. (2019), FAT*, 220–229: model cards, after which the audit card is made.
"""

from __future__ import annotations

import json
import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import polars as pl

from clinometer import __version__
from clinometer.asking.plan import load_plan
from clinometer.asking.sent import sent
from clinometer.comparing.signing import check_key, sign
from clinometer.errors import InputError
from clinometer.results import RESPONSES
from clinometer.results.bundles import (
    ENDING,
    HELD,
    MANIFEST,
    PROMPTS,
    SEAL,
    file_hash,
    seal_line,
    write_archive,
)
from clinometer.results.places import anywhere
from clinometer.results.records import journals, read_plan
from clinometer.results.subjects import simulated
from clinometer.results.tables import pieces, scan_table
from clinometer.texts import write_text

__all__ = ["CARD", "DEVIATIONS", "bundle", "deviations", "follow_from", "write_prompts"]

CARD, DEVIATIONS = "card.json", "deviations.json"

#: What the audit card has of the auditor.
STATED = ("auditor", "scope", "access", "expires")


@anywhere(directory=True, out=False)
def bundle(
    directory: str | Path,
    out: str | Path,
    card: Mapping[str, str] | None = None,
    *,
    key: str | Path | None = None,
) -> Path:
    """Write a results directory as one archive.

    Parameters
    ----------
    directory
        A finished results directory.
    out
        The archive, ending in ``.zip``.
    card
        What only the auditor knows of the audit card: ``auditor``, ``scope``, ``access``,
        ``expires``.
    key
        A private key of OpenSSH to sign with; see `signing`.

    Returns
    -------
    pathlib.Path
        The archive.

    Raises
    ------
    InputError
        If the directory has no estimates, the archive cannot be written, or ssh-keygen cannot sign.
    PlanError
        If a plan is malformed, or a study file was changed.
    """
    path, target = Path(directory), Path(out)
    if target.suffix != ENDING:
        raise InputError(f"{target}: ending {target.suffix!r}; a bundle ends in {ENDING}")
    if not (path / "estimates.parquet").is_file():
        raise InputError(f"{path}: no estimates; finish the run first")
    if key is not None:
        check_key(Path(key), path)
    asked = (path / "plan.json").is_file()
    departures = deviations(path) if asked else []
    card_text = _json(_card(path, card or {}, departures))
    with tempfile.TemporaryDirectory() as folder:
        made = Path(folder)
        write_text(made / CARD, card_text)
        write_text(made / DEVIATIONS, _json(departures))
        if asked:
            write_prompts(path, made / PROMPTS)
        files = {name: path / name for name in _names(path)}
        files |= {one.name: one for one in made.iterdir()}
        listed = {
            "format": "clinometer bundle 1",
            "clinometer": __version__,
            "simulated": simulated(_models(path)),
            "plan": file_hash(files["plan.json"]) if asked else None,
            "files": {
                name: {"sha256": file_hash(file), "bytes": file.stat().st_size}
                for name, file in sorted(files.items())
            },
        }
        write_text(made / MANIFEST, _json(listed))
        write_text(made / SEAL, seal_line(made / MANIFEST))
        if key is not None:
            sign(made / SEAL, Path(key))
        files |= {one.name: one for one in made.iterdir()}
        part = target.with_name(f"{target.name}.part")
        try:
            target.parent.mkdir(parents=True, exist_ok=True)
            write_archive(part, files)
            part.replace(target)
        except OSError as error:
            raise InputError(f"{target}: {error.strerror}") from None
    return target


def follow_from(directory: Path, card: Path) -> dict[str, str]:
    """Make departures and audit card of a directory anew, with what the auditor stated in `card`.

    Returns their texts by name. What the auditor stated is taken as it stands.
    """
    try:
        content = json.loads(card.read_bytes())
        given = {name: str(content[name]) for name in STATED}
    except (OSError, ValueError, KeyError, TypeError, RecursionError):
        given = {}
    departures = deviations(directory)
    return {DEVIATIONS: _json(departures), CARD: _json(_card(directory, given, departures))}


def _names(path: Path) -> list[str]:
    """Return the files that are bundled, sorted."""
    found = {one for pattern in HELD for one in path.glob(pattern) if one.is_file()}
    return sorted(one.relative_to(path).as_posix() for one in found if not one.is_symlink())


def write_prompts(directory: Path, out: Path) -> None:
    """Write every prompt as it was sent, a line per call; nothing where the answers were recorded.

    Raises PlanError if the directory holds no plan.
    """
    if read_plan(directory / "plan.json").get("recorded") is not None:
        return
    with out.open("w", encoding="utf-8") as file:
        for piece in pieces(directory / "responses.parquet"):
            for model in piece["model"].unique(maintain_order=True):
                for row in sent(piece, directory, model):
                    file.write(json.dumps(row, ensure_ascii=False) + "\n")


#: What tells whether a trial was answered.
_TOLD = ("model", "trial_id", "error")


def deviations(directory: str | Path) -> list[dict[str, Any]]:
    """Say where a run departed from its plan: trials without an answer, or with an error.

    A row per model, instrument, mode and kind. Raises as `bundle`.
    """
    path = Path(directory)
    plan = load_plan(path)
    if read_plan(path / "plan.json").get("recorded") is not None:
        return []
    answered = scan_table(path / "responses.parquet", RESPONSES).select(_TOLD).collect()
    named = ("trial_id", "instrument", "mode")
    trials = pl.concat(piece.select(named) for piece in plan.pieces())
    found = []
    for model in plan.models:
        own = answered.filter(model=model)
        missing = trials.join(own, on="trial_id", how="anti")
        failed = trials.join(own.drop_nulls("error").select("trial_id"), on="trial_id", how="semi")
        for kind, rows in (("no answer", missing), ("error", failed)):
            for (instrument, mode), part in rows.group_by(
                "instrument", "mode", maintain_order=True
            ):
                where = {"model": model, "instrument": instrument, "mode": mode}
                found.append({**where, "kind": kind, "trials": part.height})
    return found


def _card(
    directory: Path, given: Mapping[str, str], departures: Sequence[Mapping[str, Any]]
) -> dict[str, Any]:
    """Return the audit card: who, scope, access, method, limits, expiry."""
    file = directory / "plan.json"
    plan = read_plan(file) if file.is_file() else {}
    if wrong := [name for name in given if name not in STATED]:
        raise InputError(f"card {wrong[0]!r}; known: {', '.join(STATED)}")
    return {
        "auditor": given.get("auditor", "not stated"),
        "models": plan.get("models", []),
        "simulated": simulated(plan.get("models", [])),
        "answered": _answered(directory),
        "created": plan.get("created", ""),
        "scope": given.get("scope", "not stated"),
        "access": given.get("access", "not stated"),
        "method": {
            "studies": {
                name: one.get("title", "") for name, one in plan.get("sources", {}).items()
            },
            "modes": plan.get("modes", []),
            "iterations": plan.get("iterations"),
            "seed": plan.get("seed"),
            "generation": plan.get("generation", {}),
            "versions": plan.get("versions", {}),
            "policy": plan.get("policy"),
            "recorded": plan.get("recorded"),
        },
        "deviations": len(departures),
        "limits": [
            "Results are about the stimuli, models and dates named here, and no other use.",
            "A low score does not certify a model; decisions in use must be measured themselves.",
            "The archive shows that numbers follow from the answers in it. That a model gave these "
            "answers rests on who made the archive.",
        ],
        "expires": given.get("expires", "not stated"),
    }


def _models(directory: Path) -> list[str]:
    """Return the models that a directory has estimates of."""
    names = pl.read_parquet(directory / "estimates.parquet", columns=["model"])["model"]
    return sorted(set(names.drop_nulls()))


def _answered(directory: Path) -> dict[str, Any]:
    """Say of each model when it answered, and under which names its provider served it."""
    found = {}
    for journal in journals(directory):
        dates, served = set(), set()
        for line in journal:
            dates |= {str(line["at"])} if line.get("at") else set()
            served |= {str(line["served"])} if line.get("served") else set()
        found[journal.model] = {
            "first": min(dates, default=None),
            "last": max(dates, default=None),
            "served_as": sorted(served),
            "identities": [
                {name: one[name] for name in ("weights", "dtype") if name in one}
                for one in journal.identities()
            ],
        }
    return found


def _json(value: object) -> str:
    return json.dumps(value, indent=1, ensure_ascii=False, sort_keys=True) + "\n"
