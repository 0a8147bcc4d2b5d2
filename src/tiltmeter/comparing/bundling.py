"""Evidence: one archive from which every number of a run can be recomputed, and its verification.

What it holds
    Plan, studies, policy, every answer as it was journalled or recorded, every prompt as it was
    sent (``prompts.jsonl``), what is known of the models, the tables, the report, an audit card,
    deviations from the plan, and a manifest: the SHA-256 and the size of every file, and the hash
    of the manifest itself in ``SHA256``. Bundling the same run twice gives the same bytes: names
    are sorted, times are fixed, nothing is compressed.

Verification
    Every file is compared with the manifest. Then prompts and tables are recomputed from
    plan and answers, and each is compared with the one in the bundle, value by value; what differs
    is named. Tables of networks and hidden states are known by their hash only.

Reference
    Mitchell et al. (2019), FAT*, 220–229: model cards, after which the audit card is made.
"""

from __future__ import annotations

import filecmp
import hashlib
import json
import shutil
import tempfile
import zipfile
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from typing import Any

import polars as pl

from tiltmeter import __version__
from tiltmeter.asking.plan import load_plan
from tiltmeter.asking.sent import sent
from tiltmeter.audits.tabulating import tabulate
from tiltmeter.errors import InputError, TiltmeterError
from tiltmeter.results import SCORES
from tiltmeter.results.directory import TABLES
from tiltmeter.results.records import journals, read_plan
from tiltmeter.results.tables import pieces, read_table, scan_table
from tiltmeter.texts import write_text

__all__ = ["MANIFEST", "Verified", "bundle", "deviations", "verify"]

MANIFEST, SEAL, CARD, DEVIATIONS = "manifest.json", "SHA256", "card.json", "deviations.json"
PROMPTS = "prompts.jsonl"

#: What is bundled, as patterns of paths in a results directory.
HELD = (
    *("plan.json", "policy.yaml", "report.html", "studies/*.yaml", "answers/*/*.jsonl"),
    *("answers/*/model.json", "judge/*/*/*.jsonl", "judge/*.json", "logs/*.eval"),
    *("*.parquet", "networks.json", "states.json"),
)

#: The date of every file in the archive: the first that zip knows.
_DATE = (1980, 1, 1, 0, 0, 0)

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
    departures = deviations(path)
    card_text = _json(_card(path, card or {}, departures))
    with tempfile.TemporaryDirectory() as folder:
        made = Path(folder)
        write_text(made / CARD, card_text)
        write_text(made / DEVIATIONS, _json(departures))
        _write_prompts(path, made / PROMPTS)
        files = {name: path / name for name in _names(path)}
        files |= {one.name: one for one in made.iterdir()}
        listed = {
            "format": "tiltmeter bundle 1",
            "tiltmeter": __version__,
            "plan": _hash(files["plan.json"]),
            "files": {
                name: {"sha256": _hash(file), "bytes": file.stat().st_size}
                for name, file in sorted(files.items())
            },
        }
        write_text(made / MANIFEST, _json(listed))
        write_text(made / SEAL, _seal(made / MANIFEST))
        files |= {name: made / name for name in (MANIFEST, SEAL)}
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


def _write(target: Path, files: Mapping[str, Path]) -> None:
    """Write an archive whose bytes follow from the files alone."""
    with zipfile.ZipFile(target, "w", zipfile.ZIP_STORED) as archive:
        for name, file in sorted(files.items()):
            entry = zipfile.ZipInfo(name, _DATE)
            entry.create_system, entry.external_attr = 3, 0o644 << 16
            entry.file_size = file.stat().st_size
            with file.open("rb") as source, archive.open(entry, "w") as held:
                shutil.copyfileobj(source, held)


def _write_prompts(directory: Path, out: Path) -> None:
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
    directory: Path, given: Mapping[str, str], departures: Sequence[Mapping[str, Any]]
) -> dict[str, Any]:
    """Return the audit card: who, scope, access, method, limits, expiry."""
    plan = read_plan(directory / "plan.json")
    known = ("auditor", "scope", "access", "expires")
    if wrong := [name for name in given if name not in known]:
        raise InputError(f"card {wrong[0]!r}; known: {', '.join(known)}")
    return {
        "auditor": given.get("auditor", "not stated"),
        "models": plan.get("models", []),
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


@dataclass(frozen=True)
class Verified:
    """What was found out about a bundle."""

    seal: str  # SHA-256 of its manifest
    files: int
    tables: tuple[str, ...]  # that were recomputed
    unchecked: tuple[str, ...]  # tables known by their hash only: the model would be needed
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
    with tempfile.TemporaryDirectory() as folder:
        stated, again = Path(folder) / "stated", Path(folder) / "again.zip"
        files = _unpack(path, stated)
        problems = [*_altered(files)]
        _write(again, files)
        if not problems and not filecmp.cmp(path, again, shallow=False):
            problems.append("the archive itself: bytes around the files were changed")
        again.unlink()
        seal = _hash(files[MANIFEST]) if MANIFEST in files else ""
        if problems:
            return Verified(seal, len(files), (), (), tuple(problems))
        tables, differ = _recomputed(stated, Path(folder) / "again")
    kept = [name for name in TABLES if f"{name}.parquet" in files and name not in tables]
    return Verified(seal, len(files), tables, tuple(kept), tuple(differ))


def _unpack(path: Path, folder: Path) -> dict[str, Path]:
    """Unpack an archive that is not trusted; return its files by name."""
    files = {}
    try:
        with zipfile.ZipFile(path) as archive:
            entries = archive.infolist()
            if sum(entry.file_size for entry in entries) > path.stat().st_size:
                raise InputError(f"{path}: not a bundle: files in it overlap")
            for entry in entries:
                if entry.compress_type != zipfile.ZIP_STORED or not _is_plain(entry.filename):
                    raise InputError(f"{path}: {entry.filename!r} is not as a bundle has it")
                place = folder / entry.filename
                place.parent.mkdir(parents=True, exist_ok=True)
                with archive.open(entry) as held, place.open("xb") as out:
                    shutil.copyfileobj(held, out)
                files[entry.filename] = place
    except FileNotFoundError:
        raise InputError(f"{path}: no such file") from None
    except (zipfile.BadZipFile, ValueError, NotImplementedError, EOFError, OSError) as error:
        raise InputError(f"{path}: not a bundle, or damaged: {error}") from None
    return files


def _is_plain(name: str) -> bool:
    """Whether a name stays inside the directory it is unpacked to."""
    path = PurePosixPath(name)
    return (
        not path.is_absolute()
        and ".." not in path.parts
        and "\\" not in name
        and name[-1:] not in ("", "/")
    )


def _altered(files: Mapping[str, Path]) -> Iterator[str]:
    """Yield what differs from the manifest."""
    missing = [name for name in (MANIFEST, SEAL) if name not in files]
    if missing:
        yield f"{missing[0]}: missing"
        return
    if files[SEAL].read_bytes() != _seal(files[MANIFEST]).encode():
        yield f"{MANIFEST}: not the one that {SEAL} names"
        return
    try:
        listed = json.loads(files[MANIFEST].read_bytes())["files"]
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


def _recomputed(stated: Path, again: Path) -> tuple[tuple[str, ...], list[str]]:
    """Recompute prompts and the tables of answers; return the tables' names and what differs."""
    shutil.copytree(stated, again)
    names = ["estimates", *(name for name, one in TABLES.items() if one.family == "answers")]
    for name in names:
        if name not in ("estimates", "responses"):  # these are read, too
            (again / f"{name}.parquet").unlink(missing_ok=True)
    problems = []
    try:
        scoring = scan_table(stated / "scores.parquet", SCORES).select("scoring").first().collect()
        tabulate(again, next(iter(scoring["scoring"]), None) or "exact")
        (again / PROMPTS).unlink(missing_ok=True)
        _write_prompts(again, again / PROMPTS)
    except (TiltmeterError, pl.exceptions.PolarsError) as error:
        return (), [f"the tables cannot be recomputed: {error}"]
    if not _same(stated / PROMPTS, again / PROMPTS):
        problems.append(f"{PROMPTS}: recomputing gives other prompts")
    held = [name for name in names if (stated / f"{name}.parquet").is_file()]
    for name in names:
        old, new = (place / f"{name}.parquet" for place in (stated, again))
        if new.is_file() and not old.is_file():
            problems.append(f"{name}.parquet: recomputing gives it, the bundle lacks it")
        elif old.is_file() and not new.is_file():
            problems.append(f"{name}.parquet: recomputing does not give it")
        elif old.is_file():
            problems += _differences(name, read_table(old), read_table(new))
    return tuple(held), problems


def _same(one: Path, other: Path) -> bool:
    """Whether two files are equal, or both absent."""
    if one.is_file() != other.is_file():
        return False
    return not one.is_file() or filecmp.cmp(one, other, shallow=False)


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


def _hash(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def _seal(manifest: Path) -> str:
    return f"{_hash(manifest)}  {MANIFEST}\n"


def _json(value: object) -> str:
    return json.dumps(value, indent=1, ensure_ascii=False, sort_keys=True) + "\n"
