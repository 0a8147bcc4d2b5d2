"""Evidence: one archive from which every number of a run can be recomputed, and its verification.

What it holds
    Plan, studies, policy, every answer as it was journalled or recorded, every prompt, the tables,
    the report, an audit card, deviations from the plan, and a manifest: the SHA-256 and the size of
    every file, and the hash of the manifest itself in ``SHA256``. Bundling the same run twice gives
    the same bytes: names are sorted, times are fixed, nothing is compressed.

Verification
    Every file is compared with the manifest. Then tables are recomputed from plan and answers, and
    each is compared with the one in the bundle, value by value; what differs is named.

Reference
    Mitchell et al. (2019), FAT*, 220–229: model cards, after which the audit card is made.
"""

from __future__ import annotations

import hashlib
import json
import tempfile
import zipfile
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from typing import Any

import polars as pl

from tiltmeter import __version__
from tiltmeter.asking.plan import load_plan
from tiltmeter.audits.tabulating import tabulate
from tiltmeter.errors import InputError, TiltmeterError
from tiltmeter.results.directory import TABLES
from tiltmeter.results.records import read_plan
from tiltmeter.results.tables import read_table

__all__ = ["MANIFEST", "Verified", "bundle", "deviations", "verify"]

MANIFEST, SEAL, CARD, DEVIATIONS = "manifest.json", "SHA256", "card.json", "deviations.json"

#: What is bundled, as patterns of paths in a results directory.
HELD = (
    *("plan.json", "policy.yaml", "report.html", "studies/*.yaml", "answers/*/*.jsonl"),
    *("judge/*/*/*.jsonl", "judge/*.json", "logs/*.eval"),
    *("*.parquet", "networks.json", "states.json"),
)

#: The date of every file in the archive: the first that zip knows.
_DATE = (1980, 1, 1, 0, 0, 0)

#: Largest file that is read from a bundle, and all together, in bytes.
_LARGEST, _ALL = 4 << 30, 16 << 30

#: Numbers that differ by less than this share are equal: sums in another order.
_ROUNDING = 1e-9


def bundle(directory: str | Path, out: str | Path, card: Mapping[str, str] | None = None) -> Path:
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

    Returns
    -------
    pathlib.Path
        The archive.

    Raises
    ------
    InputError
        If the directory has no plan or no estimates, or the archive cannot be written.
    PlanError
        If the plan is malformed, or a study file was changed.
    """
    path, target = Path(directory), Path(out)
    if target.suffix != ".zip":
        raise InputError(f"{target}: ending {target.suffix!r}; a bundle ends in .zip")
    if not (path / "estimates.parquet").is_file():
        raise InputError(f"{path}: no estimates; finish the run first")
    load_plan(path)  # as it was made, studies too
    files = {name: (path / name).read_bytes() for name in _names(path)}
    departures = deviations(path)
    made = {
        CARD: _json(_card(read_plan(path / "plan.json"), card or {}, departures)),
        DEVIATIONS: _json(departures),
    }
    files |= {name: text.encode() for name, text in made.items()}
    listed = {
        "format": "tiltmeter bundle 1",
        "tiltmeter": __version__,
        "plan": _hash(files["plan.json"]),
        "files": {
            name: {"sha256": _hash(data), "bytes": len(data)}
            for name, data in sorted(files.items())
        },
    }
    manifest = _json(listed).encode()
    files |= {MANIFEST: manifest, SEAL: f"{_hash(manifest)}  {MANIFEST}\n".encode()}
    part = target.with_name(f"{target.name}.part")
    try:
        target.parent.mkdir(parents=True, exist_ok=True)
        _write(part, files)
        part.replace(target)
    except OSError as error:
        raise InputError(f"{target}: {error.strerror}") from None
    return target


def _names(path: Path) -> list[str]:
    """Return the files that are bundled, sorted."""
    found = {one for pattern in HELD for one in path.glob(pattern) if one.is_file()}
    return sorted(one.relative_to(path).as_posix() for one in found if not one.is_symlink())


def _write(target: Path, files: Mapping[str, bytes]) -> None:
    """Write an archive whose bytes follow from the files alone."""
    with zipfile.ZipFile(target, "w", zipfile.ZIP_STORED) as archive:
        for name, data in sorted(files.items()):
            entry = zipfile.ZipInfo(name, _DATE)
            entry.create_system, entry.external_attr = 3, 0o644 << 16
            archive.writestr(entry, data)


def deviations(directory: str | Path) -> list[dict[str, Any]]:
    """Say where a run departed from its plan: trials without an answer, or with an error.

    A row per model, instrument, mode and kind. Raises as `bundle`.
    """
    path = Path(directory)
    plan = load_plan(path)
    if read_plan(path / "plan.json").get("recorded") is not None:
        return []
    answered = read_table(path / "responses.parquet")
    trials = plan.trials().select("trial_id", "instrument", "mode")
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
    plan: Mapping[str, Any], given: Mapping[str, str], departures: Sequence[Mapping[str, Any]]
) -> dict[str, Any]:
    """Return the audit card: who, scope, access, method, limits, expiry."""
    known = ("auditor", "scope", "access", "expires")
    if wrong := [name for name in given if name not in known]:
        raise InputError(f"card {wrong[0]!r}; known: {', '.join(known)}")
    return {
        "auditor": given.get("auditor", "not stated"),
        "models": plan.get("models", []),
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


@dataclass(frozen=True)
class Verified:
    """What was found out about a bundle."""

    seal: str  # SHA-256 of its manifest
    files: int
    tables: tuple[str, ...]  # that were recomputed
    problems: tuple[str, ...]  # empty: it is what it says

    @property
    def holds(self) -> bool:
        """Whether every file and every number is as stated."""
        return not self.problems


def verify(archive: str | Path) -> Verified:
    """Check every byte of a bundle, and recompute its tables; nothing is asked.

    Parameters
    ----------
    archive
        A bundle.

    Returns
    -------
    Verified
        What differs is named in `problems`.

    Raises
    ------
    InputError
        If the file is missing, or no bundle at all.
    """
    path = Path(archive)
    try:
        data = path.read_bytes()
    except OSError as error:
        raise InputError(f"{path}: {error.strerror}") from None
    files = _read(path)
    problems = [*_altered(files), *_repacked(data, files)]
    seal = _hash(files.get(MANIFEST, b""))
    if problems:
        return Verified(seal, len(files), (), tuple(problems))
    tables, differ = _recomputed(files)
    return Verified(seal, len(files), tables, tuple(differ))


def _read(path: Path) -> dict[str, bytes]:
    """Read the files of an archive that is not trusted."""
    try:
        with zipfile.ZipFile(path) as archive:
            entries = archive.infolist()
            if max((e.file_size for e in entries), default=0) > _LARGEST:
                raise InputError(f"{path}: a file in it is larger than {_LARGEST:,} bytes")
            if sum(e.file_size for e in entries) > _ALL:
                raise InputError(f"{path}: larger than {_ALL:,} bytes")
            for entry in entries:
                if entry.compress_type != zipfile.ZIP_STORED or not _is_plain(entry.filename):
                    raise InputError(f"{path}: {entry.filename!r} is not as a bundle has it")
            return {entry.filename: archive.read(entry) for entry in entries}
    except (zipfile.BadZipFile, ValueError, NotImplementedError, EOFError, OSError) as error:
        raise InputError(f"{path}: not a bundle, or damaged: {error}") from None


def _is_plain(name: str) -> bool:
    """Whether a name stays inside the directory it is unpacked to."""
    path = PurePosixPath(name)
    return not path.is_absolute() and ".." not in path.parts and "\\" not in name and bool(name)


def _altered(files: Mapping[str, bytes]) -> Iterator[str]:
    """Yield what differs from the manifest."""
    missing = [name for name in (MANIFEST, SEAL) if name not in files]
    if missing:
        yield f"{missing[0]}: missing"
        return
    stated = files[SEAL].decode("utf-8", "replace")
    if stated != f"{_hash(files[MANIFEST])}  {MANIFEST}\n":
        yield f"{MANIFEST}: not the one that {SEAL} names"
        return
    try:
        listed = json.loads(files[MANIFEST])["files"]
        known = {name: one["sha256"] for name, one in listed.items()}
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError):
        yield f"{MANIFEST}: malformed"
        return
    for name in sorted({*known, *files} - {MANIFEST, SEAL}):
        if name not in files:
            yield f"{name}: missing"
        elif name not in known:
            yield f"{name}: not in the manifest"
        elif _hash(files[name]) != known[name]:
            yield f"{name}: changed"


def _repacked(data: bytes, files: Mapping[str, bytes]) -> Iterator[str]:
    """Yield a difference in the archive around its files."""
    with tempfile.TemporaryDirectory() as folder:
        again = Path(folder) / "again.zip"
        _write(again, files)
        if again.read_bytes() != data:
            yield "the archive itself: bytes around the files were changed"


def _recomputed(files: Mapping[str, bytes]) -> tuple[tuple[str, ...], list[str]]:
    """Recompute the tables of answers; return their names and what differs."""
    with tempfile.TemporaryDirectory() as folder:
        root, stated = Path(folder) / "again", Path(folder) / "stated"
        for name, data in files.items():
            for place in (root, stated):
                (place / name).parent.mkdir(parents=True, exist_ok=True)
                (place / name).write_bytes(data)
        try:
            tabulate(root)
        except (TiltmeterError, pl.exceptions.PolarsError) as error:
            return (), [f"the tables cannot be recomputed: {error}"]
        kinds = {"estimates", *(name for name, one in TABLES.items() if one.family == "answers")}
        names = [n for n in TABLES if n in kinds and f"{n}.parquet" in files]
        new = [n for n in TABLES if n in kinds and (root / f"{n}.parquet").is_file()]
        problems = [f"{name}.parquet: recomputing gives it, the bundle lacks it"
                    for name in new if name not in names]  # fmt: skip
        for name in names:
            both = [place / f"{name}.parquet" for place in (stated, root)]
            if not both[1].is_file():
                problems.append(f"{name}.parquet: recomputing does not give it")
                continue
            problems += _differences(name, *(read_table(one) for one in both))
        return tuple(names), problems


def _differences(name: str, stated: pl.DataFrame, again: pl.DataFrame) -> Iterator[str]:
    """Yield the first value that differs in each column of a table."""
    if stated.shape != again.shape or stated.columns != again.columns:
        yield f"{name}.parquet: {stated.shape} stated, {again.shape} recomputed"
        return
    for column in stated.columns:
        ours, theirs = again[column], stated[column]
        differ = ours.ne_missing(theirs)
        if ours.dtype.is_float():
            near = (ours - theirs).abs() <= _ROUNDING * (ours.abs() + theirs.abs() + 1.0)
            differ &= ~near.fill_null(False)
        if differ.any():
            row = differ.arg_max() or 0
            yield (
                f"{name}.parquet: {column} differs in {differ.sum()} rows; row {row}: "
                f"{theirs[row]!r} stated, {ours[row]!r} recomputed"
            )


def _hash(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()


def _json(value: object) -> str:
    return json.dumps(value, indent=1, ensure_ascii=False, sort_keys=True) + "\n"
