"""Verification of a bundle, in four questions.

Is it unchanged?
    Every file is compared with the manifest, and the archive with one made anew of its files.
Does each number follow from the answers?
    Prompts, tables, departures from the plan and the audit card are made anew from plan and
    answers, and compared with those in the bundle, value by value; what differs is named. Hidden
    states are read again if that is asked for, and networks measured again if their inputs are at
    hand, which are not in the archive.
What is not checked?
    Files that follow from nothing in the archive, and were not made anew, are named.
Who signed it?
    See `signing`. A signature by nobody known is said to be one; only a known signer vouches.
"""

from __future__ import annotations

import filecmp
import os
import shutil
import tempfile
from collections.abc import Collection, Iterator
from dataclasses import dataclass
from pathlib import Path

import polars as pl

from clinometer.asking.plan import load_plan
from clinometer.audits.networks import FACTS as NETWORKS
from clinometer.audits.networks import measure_again
from clinometer.audits.state_directory import FACTS as STATES
from clinometer.audits.state_directory import audit_states
from clinometer.audits.tabulating import tabulate
from clinometer.comparing.bundling import CARD, CARD_PAGE, DEVIATIONS, follow_from, write_prompts
from clinometer.comparing.signing import UNSIGNED, Signature, check_signature
from clinometer.errors import ClinometerError, InputError, one_line
from clinometer.results import SCORES
from clinometer.results.bundles import (
    EVIDENCE,
    MANIFEST,
    PROMPTS,
    SEAL,
    SIGNATURE,
    alterations,
    file_hash,
    is_one_of,
    unpack,
)
from clinometer.results.directory import TABLES
from clinometer.results.places import anywhere
from clinometer.results.tables import read_table, scan_table

__all__ = ["Verified", "verify"]

#: Numbers that differ by less than this share are equal: sums in another order.
_ROUNDING = 1e-9

#: The same of hidden states, which another processor computes a little differently.
_READING = 1e-4


@dataclass(frozen=True)
class Verified:
    """What was found out about a bundle."""

    seal: str  # SHA-256 of its manifest
    files: int
    changed: tuple[str, ...] = ()  # files that are not those of the manifest
    tables: tuple[str, ...] = ()  # that were recomputed
    differing: tuple[str, ...] = ()  # what does not follow from the answers
    unchecked: tuple[str, ...] = ()  # files known by their hash only
    signature: Signature = UNSIGNED

    @property
    def problems(self) -> tuple[str, ...]:
        """Return what is not as stated."""
        of_signature = (self.signature.problem,) if self.signature.problem else ()
        return (*self.changed, *of_signature, *self.differing)

    @property
    def follows(self) -> bool | None:
        """Whether each number follows from the answers; None where none was recomputed."""
        return not self.differing if self.tables or self.differing else None

    @property
    def holds(self) -> bool:
        """Whether nothing was changed, a signature fits, and what was recomputed is as stated."""
        return not self.problems and self.follows is True


@anywhere(archive=False)
def verify(
    archive: str | Path,
    *,
    states: bool = False,
    inputs: str | Path | None = None,
    signer: str | Path | None = None,
) -> Verified:
    """Check every byte of a bundle, and recompute its tables; nothing is asked.

    Parameters
    ----------
    archive
        A bundle.
    states
        Also read the hidden states of an audit's models again, where they can be opened here.
    inputs
        Folder with the edge lists and lexicons of networks, under any name, to measure them again.
    signer
        Who has to have signed it: a file of allowed signers, or a public key; see `signing`.

    Returns
    -------
    Verified
        What differs is named in `problems`.

    Raises
    ------
    InputError
        If the file is missing, or no bundle at all, an input is not in the folder, `signer` holds
        no public key, or a signature cannot be checked as ssh-keygen is missing.
    """
    path = Path(archive)
    with tempfile.TemporaryDirectory() as folder:
        bundled = Path(folder) / "stated"
        files = unpack(path, bundled)
        problems = alterations(path, files)
        seal = file_hash(files[MANIFEST]) if MANIFEST in files else ""
        count = len(files.keys() - {SIGNATURE})
        if problems:
            unchecked = Signature("unchecked") if SIGNATURE in files else UNSIGNED
            return Verified(seal, count, changed=tuple(problems), signature=unchecked)
        who = None if signer is None else Path(signer)
        signature = check_signature(bundled / SIGNATURE, files[SEAL], who)
        families = _families(bundled, states, inputs)
        tables, differ = _recompute(bundled, Path(folder) / "again", families, inputs)
    # What was recomputed, or fixes what else is there.
    checked = {MANIFEST, SEAL, SIGNATURE, *(f"{name}.parquet" for name in tables)}
    if "answers" in families:
        checked |= {PROMPTS, DEVIATIONS, CARD, CARD_PAGE}
        checked |= {name for name in files if is_one_of(name, EVIDENCE)}
    by_hash = tuple(sorted(files.keys() - checked))
    return Verified(seal, count, (), tables, tuple(differ), by_hash, signature)


def _families(bundled: Path, states: bool, inputs: str | Path | None) -> tuple[str, ...]:
    """Return the families of tables that can be recomputed."""
    possible = {
        "answers": (bundled / "plan.json").is_file(),
        "states": states and (bundled / STATES).is_file(),
        "networks": inputs is not None and (bundled / NETWORKS).is_file(),
    }
    return tuple(family for family, is_possible in possible.items() if is_possible)


def _recompute(
    bundled: Path, recomputed: Path, families: Collection[str], inputs: str | Path | None
) -> tuple[tuple[str, ...], list[str]]:
    """Recompute prompts and tables; return the tables' names and what differs."""
    names = [name for name, table in TABLES.items() if table.family in families]
    shutil.copytree(bundled, recomputed)
    for name in names:
        if name != "responses":  # these are read
            (recomputed / f"{name}.parquet").unlink(missing_ok=True)
    try:
        if "answers" in families:
            tabulate(recomputed, _scoring_rules(bundled))
            (recomputed / PROMPTS).unlink(missing_ok=True)
            write_prompts(recomputed, recomputed / PROMPTS)
        if "states" in families:
            (recomputed / STATES).unlink()
            audit_states(load_plan(recomputed), recomputed)
    except (ClinometerError, pl.exceptions.PolarsError) as error:
        why = one_line(error).replace(f"{recomputed}{os.sep}", "").replace(f"{bundled}{os.sep}", "")
        return (), [f"the tables cannot be recomputed: {why}"]
    if "networks" in families and inputs is not None:
        measure_again(recomputed, Path(inputs))
    problems = [*_changed_texts(bundled, recomputed)] if "answers" in families else []
    for name in ("estimates", *names):
        problems += _compare_tables(
            name, bundled / f"{name}.parquet", recomputed / f"{name}.parquet"
        )
    tables = ("estimates", *names) if families else ()
    return tuple(name for name in tables if (bundled / f"{name}.parquet").is_file()), problems


def _changed_texts(bundled: Path, recomputed: Path) -> Iterator[str]:
    """Yield which of prompts, departures and card are not as recomputed.

    The card follows from the tables, which are compared by themselves.
    """
    if not _same_bytes(bundled / PROMPTS, recomputed / PROMPTS):
        yield f"{PROMPTS}: recomputing gives other prompts"
    for name, text in follow_from(bundled, bundled / CARD).items():
        if not (bundled / name).is_file() or (bundled / name).read_bytes() != text.encode():
            yield f"{name}: recomputing gives another"


def _scoring_rules(bundled: Path) -> str:
    """Return by which rules the answers were scored."""
    scores = scan_table(bundled / "scores.parquet", SCORES).select("scoring")
    return next(iter(scores.first().collect()["scoring"]), None) or "exact"


def _compare_tables(name: str, bundled: Path, recomputed: Path) -> Iterator[str]:
    """Yield what differs between a table as stated and as recomputed."""
    if recomputed.is_file() and not bundled.is_file():
        yield f"{name}.parquet: recomputing gives it, the bundle lacks it"
    elif bundled.is_file() and not recomputed.is_file():
        yield f"{name}.parquet: recomputing does not give it"
    elif bundled.is_file():
        try:
            old = read_table(bundled)
            new = read_table(recomputed)
        except InputError as error:
            yield str(error).replace(f"{bundled.parent}{os.sep}", "")
            return
        for family in ("answers", "networks", "states"):
            families = (
                pl.col("family")
                if name == "estimates"
                else pl.repeat(TABLES[name].family, pl.len())
            )
            share = _READING if family == "states" else _ROUNDING
            rows = families == family
            yield from _differences(name, old.filter(rows), new.filter(rows), share)


def _same_bytes(first: Path, second: Path) -> bool:
    """Whether two files are equal, or both absent."""
    if first.is_file() != second.is_file():
        return False
    return not first.is_file() or filecmp.cmp(first, second, shallow=False)


def _differences(
    name: str, bundled: pl.DataFrame, recomputed: pl.DataFrame, share: float
) -> Iterator[str]:
    """Yield the first value that differs in each column of a table."""
    if bundled.shape != recomputed.shape or bundled.columns != recomputed.columns:
        yield f"{name}.parquet: {bundled.shape} stated, {recomputed.shape} recomputed"
        return
    for column in bundled.columns:
        ours = recomputed[column]
        theirs = bundled[column]
        if ours.dtype != theirs.dtype:
            yield f"{name}.parquet: {column} holds {theirs.dtype} stated, {ours.dtype} recomputed"
            continue
        differ = ours.ne_missing(theirs)
        if ours.dtype.is_float():
            near = (ours - theirs).abs() <= share * (ours.abs() + theirs.abs() + 1.0)
            finite = ours.is_finite() & theirs.is_finite()
            differ &= ~(near & finite).fill_null(False)
        if differ.any():
            row = differ.arg_max() or 0
            yield (
                f"{name}.parquet: {column} differs in {differ.sum()} rows; row {row}: "
                f"{one_line(repr(theirs[row]))} stated, {one_line(repr(ours[row]))} recomputed"
            )
