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
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import polars as pl

from clinometer.audits.tabulating import tabulate
from clinometer.comparing.bundling import CARD, CARD_PAGE, DEVIATIONS, follow_from, write_prompts
from clinometer.comparing.signing import UNSIGNED, Signature, check_signature
from clinometer.directory.results import all_tables
from clinometer.errors import ClinometerError, InputError, one_line
from clinometer.families import Family, families
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
from clinometer.results.evidence import run_notes
from clinometer.results.places import anywhere
from clinometer.results.tables import read_table, scan_table

__all__ = ["Verified", "verify"]

#: Numbers of answers that differ by less than this share are equal: sums in another order.
_ROUNDING = 1e-9


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
    notes: tuple[str, ...] = ()  # what was not made with the key of this machine's user

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
    models: bool = False,
    inputs: str | Path | None = None,
    signer: str | Path | None = None,
) -> Verified:
    """Check every byte of a bundle, and recompute its tables; nothing is asked.

    Parameters
    ----------
    archive
        A bundle.
    models
        Also measure again what takes the models, such as their hidden states, where they can be
        opened here.
    inputs
        Folder with files that are not in the archive, such as the edge lists and lexicons of
        networks, under any name, to measure again what takes them.
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
        has_answers = (bundled / "plan.json").is_file()
        measured = _measurable(bundled, models, inputs)
        again = _Again(bundled, Path(folder) / "again", has_answers, measured)
        tables, differ = again.compare(None if inputs is None else Path(inputs))
        notes = tuple(note.text for note in run_notes(bundled).values())
    # What was recomputed, or fixes what else is there.
    checked = {MANIFEST, SEAL, SIGNATURE, *(f"{name}.parquet" for name in tables)}
    if has_answers:
        checked |= {PROMPTS, DEVIATIONS, CARD, CARD_PAGE}
        checked |= {name for name in files if is_one_of(name, EVIDENCE)}
    by_hash = tuple(sorted(files.keys() - checked))
    return Verified(seal, count, (), tables, tuple(differ), by_hash, signature, notes)


def _measurable(bundled: Path, models: bool, inputs: str | Path | None) -> list[Family]:
    """Return the families in a bundle that can be measured again here."""
    return [
        family
        for family in families().values()
        if (inputs is not None if family.needs_inputs else models)
        and (bundled / family.record).is_file()
    ]


@dataclass(frozen=True)
class _Again:
    """What is recomputed of a bundle, and where."""

    bundled: Path
    directory: Path
    has_answers: bool
    measured: Sequence[Family]

    def compare(self, inputs: Path | None) -> tuple[tuple[str, ...], list[str]]:
        """Recompute prompts and tables; return the tables' names and what differs."""
        bundled, recomputed = self.bundled, self.directory
        kinds = {family.name for family in self.measured}
        kinds |= {"answers"} if self.has_answers else set()
        names = [name for name, table in all_tables().items() if table.family in kinds]
        shutil.copytree(bundled, recomputed)
        for name in names:
            if name != "responses":  # these are read
                (recomputed / f"{name}.parquet").unlink(missing_ok=True)
        try:
            self._recompute()
        except (ClinometerError, pl.exceptions.PolarsError) as error:
            why = one_line(error)
            for folder in (recomputed, bundled):
                why = why.replace(f"{folder}{os.sep}", "")
            return (), [f"the tables cannot be recomputed: {why}"]
        for family in self.measured:
            if family.needs_inputs:  # an input that is not there is an error of the caller
                family.measure_again(recomputed, inputs)
        problems = [*_changed_texts(bundled, recomputed)] if self.has_answers else []
        for name in ("estimates", *names):
            file = f"{name}.parquet"
            problems += _compare_tables(name, bundled / file, recomputed / file)
        tables = ("estimates", *names) if kinds else ()
        return tuple(name for name in tables if (bundled / f"{name}.parquet").is_file()), problems

    def _recompute(self) -> None:
        """Recompute what follows from the bundle and the models."""
        recomputed = self.directory
        if self.has_answers:
            tabulate(recomputed, _scoring_rules(self.bundled))
            (recomputed / PROMPTS).unlink(missing_ok=True)
            write_prompts(recomputed, recomputed / PROMPTS)
        for family in self.measured:
            if not family.needs_inputs:
                family.measure_again(recomputed, None)


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
        rounding = {family.name: family.rounding for family in families().values()}
        for family, share in {"answers": _ROUNDING, **rounding}.items():
            row_families = (
                pl.col("family")
                if name == "estimates"
                else pl.repeat(all_tables()[name].family, pl.len())
            )
            rows = row_families == family
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
