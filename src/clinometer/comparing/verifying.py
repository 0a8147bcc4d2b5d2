"""Verification of a bundle, in four questions.

Is it unchanged?
    Every file is compared with the manifest, and the archive with one made anew of its files; one
    that was packed again is said to be.
Does each number follow from the answers?
    Prompts, tables, departures from the plan, the audit card and the manifest are made anew from
    plan and answers, and compared with those in the bundle, value by value; what differs is named.
    Hidden states are read again if that is asked for, and networks measured again if their inputs
    are at hand, which are not in the archive. Another version may rightly give other numbers: of a
    bundle that another one made, nothing is made anew.
What is as stored?
    Files that follow from nothing in the archive, and were not made anew, are named.
Who signed it?
    See `signing`. A signature by nobody known is said to be one; only a known signer vouches.
"""

from __future__ import annotations

import filecmp
import json
import os
import re
import shutil
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import polars as pl

from clinometer import __version__
from clinometer.audits.tabulating import tabulate
from clinometer.comparing.bundling import (
    CARD,
    CARD_PAGE,
    DEVIATIONS,
    follow_from,
    read_statements,
    write_prompts,
)
from clinometer.comparing.signing import UNSIGNED, Signature, check_signature
from clinometer.directory.results import all_tables
from clinometer.errors import ClinometerError, InputError, one_line
from clinometer.families import Family, families
from clinometer.results import SCORES
from clinometer.results.bundles import (
    BUNDLE_PATTERNS,
    EVIDENCE,
    LOGS,
    MANIFEST,
    PROMPTS,
    SEAL,
    SIGNATURE,
    UNLISTED,
    alterations,
    file_hash,
    is_one_of,
    read_manifest,
    unpack,
)
from clinometer.results.evidence import run_notes
from clinometer.results.places import anywhere
from clinometer.results.tables import read_table, scan_table

__all__ = ["Verified", "verify"]

#: Numbers of answers that differ by less than this share are equal: sums in another order.
_ROUNDING = 1e-9

_VERSION = re.compile(r"[0-9][0-9a-z.+]{0,30}")


@dataclass(frozen=True)
class Verified:
    """What was found out about a bundle."""

    seal: str  # SHA-256 of its manifest
    files: int
    changed: tuple[str, ...] = ()  # files that are not those of the manifest
    tables: tuple[str, ...] = ()  # that were recomputed
    differing: tuple[str, ...] = ()  # what does not follow from the answers
    as_stored: tuple[str, ...] = ()  # what was not recomputed
    signature: Signature = UNSIGNED
    packing: str = ""  # in what way it is not the archive that was published
    version: str = __version__  # of Clinometer, that made it
    notes: tuple[str, ...] = ()  # what was not made with the key of this machine's user

    @property
    def problems(self) -> tuple[str, ...]:
        """Return what is not as stated."""
        signature_problems = (self.signature.problem,) if self.signature.problem else ()
        return (*self.changed, *signature_problems, *self.differing)

    @property
    def follows(self) -> bool | None:
        """Whether each number follows from the answers; None where none was recomputed."""
        return not self.differing if self.tables or self.differing else None

    @property
    def obstacle(self) -> str:
        """Say why no number was recomputed; nothing where some were."""
        if self.version != __version__:
            return (
                f"made by Clinometer {self.version}, and this is {__version__}, whose numbers may "
                f"rightly differ; recompute it with: pip install clinometer=={self.version}"
            )
        return "nothing in it could be recomputed" if self.follows is None else ""

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
    who = None if signer is None else Path(signer)
    with tempfile.TemporaryDirectory() as folder:
        bundled = Path(folder) / "stated"
        bundle = unpack(Path(archive), bundled)
        files = bundle.files
        altered = tuple(alterations(files))
        seal = file_hash(files[MANIFEST]) if MANIFEST in files else ""
        unread = Verified(seal, len(files.keys() - {SIGNATURE}), altered)
        if altered:
            unchecked = Signature("unchecked") if SIGNATURE in files else UNSIGNED
            return replace(unread, signature=unchecked)
        signature = check_signature(bundled / SIGNATURE, files[SEAL], who)
        unread = replace(unread, signature=signature, packing=bundle.packing)
        version = _version(read_manifest(files))
        if version != __version__:
            stored = tuple(sorted(files.keys() - UNLISTED))
            return replace(unread, version=version, as_stored=stored)
        measured = _measurable(bundled, models, inputs)
        again = _Again(files, bundled, Path(folder) / "again", measured)
        tables, differing = again.compare(None if inputs is None else Path(inputs))
        stored = tuple(again.as_stored(tables))
        notes = tuple(note.text for note in run_notes(bundled).values())
    recomputed = replace(unread, tables=tables, differing=tuple(differing))
    return replace(recomputed, as_stored=stored, notes=notes)


def _version(manifest: Mapping[str, Any]) -> str:
    """Return the version that made a bundle; it is printed in a command, so it must be a number."""
    version = str(manifest.get("clinometer"))
    return version if _VERSION.fullmatch(version) else "(unknown version)"


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

    files: Mapping[str, Path]
    bundled: Path
    directory: Path
    measured: Sequence[Family]

    @property
    def has_answers(self) -> bool:
        """Whether there are answers that tables follow from."""
        return "plan.json" in self.files

    @property
    def kinds(self) -> set[str]:
        """Return the families whose rows are recomputed; the answers are one."""
        return {family.name for family in self.measured} | (
            {"answers"} if self.has_answers else set()
        )

    def compare(self, inputs: Path | None) -> tuple[tuple[str, ...], list[str]]:
        """Recompute prompts and tables; return the tables' names and what differs."""
        bundled, recomputed = self.bundled, self.directory
        names = [name for name, table in all_tables().items() if table.family in self.kinds]
        shutil.copytree(bundled, recomputed)
        for name in names:
            if name != "responses":  # these are read
                (recomputed / f"{name}.parquet").unlink(missing_ok=True)
        problems = [*_foreign_files(self.files)]
        try:
            self._recompute()
            problems += _changed_texts(self.files, bundled, recomputed)
        except (ClinometerError, pl.exceptions.PolarsError) as error:
            why = one_line(error)
            for folder in (recomputed, bundled):
                why = why.replace(f"{folder}{os.sep}", "")
            return (), [*problems, f"the tables cannot be recomputed: {why}"]
        for family in self.measured:
            if family.needs_inputs:  # an input that is not there is an error of the caller
                family.measure_again(recomputed, inputs)
        for name in ("estimates", *names):
            file = f"{name}.parquet"
            problems += _compare_tables(name, bundled / file, recomputed / file)
        tables = ("estimates", *names) if self.kinds else ()
        return tuple(name for name in tables if (bundled / f"{name}.parquet").is_file()), problems

    def as_stored(self, tables: Sequence[str]) -> Iterator[str]:
        """Yield what neither was recomputed nor is what others follow from."""
        checked = {*UNLISTED, DEVIATIONS, CARD, CARD_PAGE}
        checked |= {f"{name}.parquet" for name in tables}
        if self.has_answers:
            checked |= {PROMPTS}
            checked |= {name for name in self.files if is_one_of(name, EVIDENCE)}
        yield from sorted(self.files.keys() - checked)
        if "estimates" in tables:
            families_of_rows = read_table(self.directory / "estimates.parquet")["family"]
            for kind in sorted(set(families_of_rows) - self.kinds):
                yield f"estimates.parquet (rows of {kind})"
        if names := sorted(read_statements(self.bundled / CARD)):
            yield f"{CARD} (its {', '.join(names)})"

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


def _foreign_files(files: Mapping[str, Path]) -> Iterator[str]:
    """Yield which files no bundle of this version has, such as another page."""
    for name in sorted(files.keys() - UNLISTED):
        if not is_one_of(name, (*BUNDLE_PATTERNS, LOGS, PROMPTS)):
            yield f"{name}: no file of a bundle"


def _changed_texts(files: Mapping[str, Path], bundled: Path, recomputed: Path) -> Iterator[str]:
    """Yield which of prompts, departures, card and manifest are not as recomputed.

    Card and manifest follow from the tables, which are compared by themselves.
    """
    if not _same_bytes(bundled / PROMPTS, recomputed / PROMPTS):
        yield f"{PROMPTS}: recomputing gives other prompts"
    for name, text in follow_from(bundled, files).items():
        content = (bundled / name).read_bytes() if name in files else b""
        is_same = content == text.encode()
        if name == MANIFEST:  # its values: others may write its JSON in another way
            is_same = json.loads(content) == json.loads(text)
        if not is_same:
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
