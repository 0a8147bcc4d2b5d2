"""Writes a dossier, whole or not at all."""

from __future__ import annotations

import json
import os
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import date
from pathlib import Path
from typing import Any

from clinometer.asking.policy import load_policy
from clinometer.comparing.bundling import bundle
from clinometer.comparing.gating import gate
from clinometer.comparing.verifying import Verified, verify
from clinometer.directory.results import read_detail
from clinometer.dossier.checklists import entry_names, statement_names
from clinometer.dossier.content import Evidence, dossier_content, measured_groups
from clinometer.dossier.pages import dossier_page, public_page
from clinometer.dossier.profile import load_profile
from clinometer.errors import InputError
from clinometer.results.bundles import is_bundle, unpacked
from clinometer.results.places import anywhere
from clinometer.results.progress import doubts
from clinometer.results.records import read_plan
from clinometer.results.verdicts import UNFINISHED
from clinometer.sharing import write_every_eval_ever
from clinometer.texts import read_text, write_text

#: The files of a dossier.
PAGE, DATA, PUBLIC = "dossier.html", "dossier.json", "public-summary.html"
RECORDS = "every-eval-ever"


@dataclass(frozen=True)
class DossierFiles:
    """What was written, and what of it says how complete it is."""

    paths: tuple[Path, ...]
    content: dict[str, Any]


@anywhere(results=True, out=True)
def write_dossier(  # noqa: PLR0913 - what a dossier is made of
    results: str | Path,
    profile: str | Path,
    out: str | Path,
    *,
    policy: str | Path | None = None,
    baseline: str | Path | None = None,
    signer: str | Path | None = None,
    today: date | None = None,
) -> DossierFiles:
    """Write the dossier of a run into a folder that is empty or not there.

    Parameters
    ----------
    results
        A results directory, or a bundle. Either is verified first: its numbers are made again.
    profile
        The bias profile, a YAML file.
    out
        The folder. A dossier that is there already is replaced as a whole.
    policy
        A policy, where the run declared none; the dossier says so.
    baseline
        What rules of changes are counted from.
    signer
        Who has to have signed a bundle, as of `verify`.
    today
        The day on which the dossier is made; by default this one.

    Raises
    ------
    InputError
        If a field of the profile is missing, empty, in the past, or not about this run; the run is
        unfinished, has no policy, or does not verify. Nothing is written then.
    PlanError
        If the plan is malformed.
    """
    folder, day = Path(out), today or date.today()
    _check_folder(folder)
    file = load_profile(profile)
    file.check_dates(day)
    file.check_keys(statement_names(), entry_names())
    source = Path(results)
    with unpacked(source) as directory:
        _check_finished(directory, source)
        file.check_model(read_plan(directory / "plan.json").get("models", []))
        file.check_groups(measured_groups(directory, file.profile.system.model))
        rules = _policy_file(directory, source, policy)
        file.check_limits(load_policy(rules))
        model = file.profile.system.model
        gated = gate(directory, rules, baseline, model=model)
        verified = _verify(source, None if signer is None else Path(signer))
        text = read_text(rules)
        evidence = Evidence(directory, file.profile, gated, text, verified, is_bundle(source))
        content = dossier_content(evidence, day)
        with _replaced(folder) as part:
            _write_files(part, directory, content)
    names = sorted(path.relative_to(folder) for path in folder.rglob("*") if path.is_file())
    return DossierFiles(tuple(folder / name for name in names), content)


def _write_files(folder: Path, directory: Path, content: dict[str, Any]) -> None:
    """Write every file."""
    write_text(folder / DATA, json.dumps(content, indent=1, ensure_ascii=False, default=str) + "\n")
    write_text(folder / PAGE, dossier_page(content))
    write_text(folder / PUBLIC, public_page(content))
    write_every_eval_ever(directory, folder / RECORDS, content["profile"]["system"]["model"])


def _check_folder(folder: Path) -> None:
    """Raise InputError if a folder holds anything but a dossier."""
    if not folder.exists():
        return
    if not folder.is_dir():
        raise InputError(f"--out {folder}: not a folder")
    names = {path.name for path in folder.iterdir()}
    if strangers := sorted(names - {PAGE, DATA, PUBLIC, RECORDS}):
        raise InputError(f"--out {folder}: holds {strangers[0]}; give a folder of its own")


@contextmanager
def _replaced(folder: Path) -> Iterator[Path]:
    """Fill a folder beside another one, and put it in its place when it is whole."""
    folder.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(prefix=".clinometer-", dir=folder.parent) as parent:
        part = Path(parent) / folder.name
        part.mkdir()
        yield part
        if folder.exists():
            os.rename(folder, Path(parent) / "replaced")
        shutil.move(part, folder)


def _check_finished(directory: Path, source: Path) -> None:
    """Raise InputError if a trial of the run was not asked yet, or nothing was estimated."""
    if not (directory / "estimates.parquet").is_file():
        raise InputError(f"{source}: no estimates; finish the run first")
    for reasons in doubts(read_detail(directory, "progress")).values():
        if UNFINISHED in reasons:
            raise InputError(f"{source}: {reasons[UNFINISHED]}; finish the run first")


def _policy_file(directory: Path, source: Path, policy: str | Path | None) -> Path:
    """Return the policy that was named, or else the one that was declared with the run."""
    if policy is not None:
        return Path(policy)
    declared = directory / "policy.yaml"
    if not declared.is_file():
        raise InputError(
            f"{source}: declared no policy before the run; give one with --policy, and the dossier "
            "says that it came after"
        )
    return declared


def _verify(source: Path, signer: Path | None) -> Verified:
    """Make the numbers of a bundle, or of one made of a directory, again.

    Raises InputError if anything differs, or nothing could be made again.
    """
    if is_bundle(source):
        verified = verify(source, signer=signer)
    elif signer is not None:
        raise InputError(f"{source}: a results directory has no signature; give a bundle of it")
    else:
        with tempfile.TemporaryDirectory(prefix="clinometer-") as folder:
            verified = verify(bundle(source, Path(folder) / "run.zip"))
    if not verified.holds:
        first = next(iter(verified.problems), verified.obstacle)
        raise InputError(f"{source}: does not verify: {first}")
    return verified
