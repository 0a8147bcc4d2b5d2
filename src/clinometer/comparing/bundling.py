"""Evidence: one archive from which every number of a run can be recomputed (`verifying`).

What it holds
    Plan, studies, policy, every answer as it was journalled or recorded, every prompt as it was
    sent (``prompts.jsonl``), what is known of the models, the tables, an audit card (as JSON and as
    a page), deviations from the plan, and a manifest: the SHA-256 and the size of every file, and
    the hash of the manifest itself in ``SHA256``. Bundling the same run twice gives the same bytes:
    names are sorted, times are fixed, nothing is compressed. The page of the report is not in it:
    it is made of the tables.
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
from clinometer.asking.sent import sent_messages
from clinometer.comparing.card import NO_STATEMENT, STATEMENTS, audit_card
from clinometer.comparing.signing import check_key, sign
from clinometer.errors import InputError
from clinometer.results import RESPONSES
from clinometer.results.bundles import (
    BUNDLE_PATTERNS,
    ENDING,
    LOGS,
    MANIFEST,
    PROMPTS,
    SEAL,
    UNLISTED,
    file_hash,
    seal_line,
    write_archive,
)
from clinometer.results.contents import refuse_secrets
from clinometer.results.places import anywhere
from clinometer.results.records import read_plan
from clinometer.results.subjects import simulated
from clinometer.results.tables import pieces, scan_table
from clinometer.texts import write_text

__all__ = [
    "CARD",
    "CARD_PAGE",
    "DEVIATIONS",
    "bundle",
    "deviations",
    "follow_from",
    "read_statements",
    "write_prompts",
]

CARD = "card.json"
CARD_PAGE = "card.html"
DEVIATIONS = "deviations.json"


@anywhere(directory=True, out=False)
def bundle(
    directory: str | Path,
    out: str | Path,
    card: Mapping[str, str] | None = None,
    *,
    key: str | Path | None = None,
    logs: bool = False,
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
    logs
        Whether inspect's logs are bundled, too. No number needs them. They hold what was sent to
        servers and what came back, errors and settings included: look at them before.

    Returns
    -------
    pathlib.Path
        The archive.

    Raises
    ------
    InputError
        If the directory has no estimates, a file holds a key or a password, the archive cannot be
        written, or ssh-keygen cannot sign.
    PlanError
        If a plan is malformed, or a study file was changed.
    """
    path = Path(directory)
    target = Path(out)
    if target.suffix != ENDING:
        raise InputError(f"{target}: ending {target.suffix!r}; a bundle ends in {ENDING}")
    if not (path / "estimates.parquet").is_file():
        raise InputError(f"{path}: no estimates; finish the run first")
    if key is not None:
        check_key(Path(key), path)
    is_planned = (path / "plan.json").is_file()
    departures = deviations(path) if is_planned else []
    texts = _evidence_texts(path, card or {}, departures)
    with tempfile.TemporaryDirectory() as folder:
        evidence = Path(folder)
        for name, text in texts.items():
            write_text(evidence / name, text)
        if is_planned:
            write_prompts(path, evidence / PROMPTS)
        patterns = (*BUNDLE_PATTERNS, LOGS) if logs else BUNDLE_PATTERNS
        files = {name: path / name for name in _bundled_names(path, patterns)}
        # What is made here goes before files of the same name in the directory.
        files |= {file.name: file for file in evidence.iterdir()}
        write_text(evidence / MANIFEST, _manifest_text(path, files))
        write_text(evidence / SEAL, seal_line(evidence / MANIFEST))
        if key is not None:
            sign(evidence / SEAL, Path(key))
        # Again, for the manifest, its seal and the signature.
        files |= {file.name: file for file in evidence.iterdir()}
        refuse_secrets(files)
        part = target.with_name(f"{target.name}.part")
        try:
            target.parent.mkdir(parents=True, exist_ok=True)
            write_archive(part, files)
            part.replace(target)
        except OSError as error:
            raise InputError(f"{target}: {error.strerror}") from None
    return target


def _manifest_text(path: Path, files: Mapping[str, Path]) -> str:
    """Return what the manifest says of a directory and of the files that are bundled."""
    entries = {}
    for name in sorted(files.keys() - UNLISTED):
        file = files[name]
        entries[name] = {"sha256": file_hash(file), "bytes": file.stat().st_size}
    is_planned = (path / "plan.json").is_file()
    manifest = {
        "format": "clinometer bundle 1",
        "clinometer": __version__,
        "simulated": simulated(_models(path)),
        "plan": file_hash(files["plan.json"]) if is_planned else None,
        "files": entries,
    }
    return _json(manifest)


def follow_from(directory: Path, files: Mapping[str, Path]) -> dict[str, str]:
    """Make departures, audit card and manifest of an unpacked bundle anew.

    Returns their texts by name. What the auditor stated is taken as it stands in the card.
    """
    texts = {MANIFEST: _manifest_text(directory, files)}
    departures = deviations(directory) if "plan.json" in files else []
    return texts | _evidence_texts(directory, read_statements(directory / CARD), departures)


def read_statements(card: Path) -> dict[str, str]:
    """Return what the auditor stated in an audit card; nothing if it is none."""
    try:
        content = json.loads(card.read_bytes())
        statements = {name: str(content[name]) for name in STATEMENTS}
    except (OSError, ValueError, KeyError, TypeError, RecursionError):
        return {}
    return {name: text for name, text in statements.items() if text != NO_STATEMENT}


def _evidence_texts(
    directory: Path, statements: Mapping[str, str], departures: Sequence[Mapping[str, Any]]
) -> dict[str, str]:
    """Return departures, audit card and its page, by the names of their files."""
    from clinometer.report.card import card_page  # imports what draws

    card = audit_card(directory, statements, departures)
    return {DEVIATIONS: _json(departures), CARD: _json(card), CARD_PAGE: card_page(card)}


def _bundled_names(path: Path, patterns: Sequence[str]) -> list[str]:
    """Return the files that are bundled, sorted."""
    files = {file for pattern in patterns for file in path.glob(pattern) if file.is_file()}
    return sorted(file.relative_to(path).as_posix() for file in files if not file.is_symlink())


def write_prompts(directory: Path, out: Path) -> None:
    """Write every prompt as it was sent, a line per call; nothing where the answers were recorded.

    Raises PlanError if the directory holds no plan.
    """
    if read_plan(directory / "plan.json").get("recorded") is not None:
        return
    with out.open("w", encoding="utf-8") as file:
        for piece in pieces(directory / "responses.parquet"):
            for model in piece["model"].unique(maintain_order=True):
                for row in sent_messages(piece, directory, model):
                    file.write(json.dumps(row, ensure_ascii=False) + "\n")


#: What tells whether a trial was answered.
_ANSWER_COLUMNS = ("model", "trial_id", "error")


def deviations(directory: str | Path) -> list[dict[str, Any]]:
    """Say where a run departed from its plan: trials without an answer, or with an error.

    A row per model, instrument, mode and kind. Raises as `bundle`.
    """
    path = Path(directory)
    plan = load_plan(path)
    if read_plan(path / "plan.json").get("recorded") is not None:
        return []
    answered = scan_table(path / "responses.parquet", RESPONSES).select(_ANSWER_COLUMNS).collect()
    columns = ("trial_id", "instrument", "mode")
    trials = pl.concat(piece.select(columns) for piece in plan.pieces())
    rows = []
    for model in plan.models:
        answers = answered.filter(model=model)
        missing = trials.join(answers, on="trial_id", how="anti")
        failed = trials.join(
            answers.drop_nulls("error").select("trial_id"), on="trial_id", how="semi"
        )
        for kind, trials_of_kind in (("no answer", missing), ("error", failed)):
            for (instrument, mode), part in trials_of_kind.group_by(
                "instrument", "mode", maintain_order=True
            ):
                where = {"model": model, "instrument": instrument, "mode": mode}
                rows.append({**where, "kind": kind, "trials": part.height})
    return rows


def _models(directory: Path) -> list[str]:
    """Return the models that a directory has estimates of."""
    names = pl.read_parquet(directory / "estimates.parquet", columns=["model"])["model"]
    return sorted(set(names.drop_nulls()))


def _json(value: object) -> str:
    return json.dumps(value, indent=1, ensure_ascii=False, sort_keys=True) + "\n"
