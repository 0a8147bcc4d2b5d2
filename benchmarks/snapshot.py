"""Whether a change of the code left every draw, score, table and page as it was.

How
    ``python -m benchmarks.snapshot results/snapshot.json`` does the same work as ever, without a
    model: audits of simulated models with every instrument in every mode, comparisons of them, the
    demo of recorded answers, the codebook. It keeps a hash of each column of each table, and of
    each page without times, and names what differs from the file, where it exists; else it writes
    it. Numbers are rounded to 9 digits, as those of libraries differ between processors.
"""

from __future__ import annotations

import hashlib
import json
import re
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

import polars as pl
from polars import selectors as cs

from clinometer.contracts.catalogue import INSTRUMENTS
from clinometer.directory.codebook import codebook
from clinometer.stimuli import load_study

MODELS = ("simulated/leaning", "simulated/refusing")
COMPARED = ("word_association", "relative_decision")
#: Of a study, the first.
STEREOTYPES = 3
DIGITS = 9
#: Instruments whose items users bring.
_LACKING = {"bold"}
#: Columns of when an answer came, and how long it took.
_TIMES = ("at", "seconds", "asked_at", "created")
#: What pages say of when and where they were made.
_TIME = re.compile(
    r"\d{4}-\d\d-\d\d[T ]\d\d:\d\d(:\d\d(\.\d+)?)?(\+00:00|Z)?( UTC)?|\d{4}-\d\d-\d\d"
)


def main(path: Path) -> int:
    """Take a snapshot, and compare it with the one of a file or write it there."""
    found = dict(snapshot())
    if not path.exists():
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(json.dumps(found, indent=1), encoding="utf-8")
        print(f"{path}: {len(found)} hashes")
        return 0
    before = json.loads(path.read_text(encoding="utf-8"))
    differing = [name for name in {**before, **found} if before.get(name) != found.get(name)]
    for name in differing:
        print(name)
    print(f"{len(differing)} of {len(found)} differ from {path}")
    return int(bool(differing))


def snapshot() -> Iterator[tuple[str, str]]:
    """Yield the name and the hash of each column and page."""
    with tempfile.TemporaryDirectory() as folder:
        place = Path(folder)
        for name in (name for name in INSTRUMENTS if name not in _LACKING):
            for model in MODELS:
                asked = place / name / model.partition("/")[2]
                yield from _said(f"{name}, {model}", [*_audit(model, name), str(asked)], place)
                yield from _directory(asked, place)
        for name in COMPARED:
            compared = [str(path) for path in sorted((place / name).iterdir())]
            yield from _said(f"compare {name}", ["compare", *compared], place)
        yield from _said("demo", ["demo", "--no-open", "--out", str(place / "demo")], place)
        yield from _directory(place / "demo", place)
    yield "codebook", _hash(codebook())


def _audit(model: str, name: str) -> list[str]:
    """Return the command that asks some stereotypes of an instrument in every mode."""
    asked = INSTRUMENTS[name]
    study = load_study(asked.study)
    first = list(study.stereotypes)[:STEREOTYPES]
    return [
        *("audit", model, "--study", asked.study, "--instrument", name, "--controls"),
        *("--stereotypes", ",".join(first), "--iterations", "2"),
        *(f"--mode={mode}" for mode in asked.modes),
        *("--no-profile", "--out"),
    ]


def _said(name: str, command: list[str], place: Path) -> Iterator[tuple[str, str]]:
    """Run a command, and yield its exit code and what it says on its standard output."""
    done = subprocess.run(
        [sys.executable, "-m", "clinometer", *command], stdout=subprocess.PIPE, text=True
    )
    said = _without_times(done.stdout, place)
    yield f"{name}: said", f"{done.returncode} {_hash(said)}"


def _directory(directory: Path, place: Path) -> Iterator[tuple[str, str]]:
    for path in sorted(directory.rglob("*")):
        name = str(path.relative_to(place))
        if path.suffix == ".parquet":
            table = pl.read_parquet(path)
            for column in table.select(cs.exclude(_TIMES)):
                yield f"{name}: {column.name}", _hash(_column_text(column))
        elif path.suffix == ".html":
            yield name, _hash(_without_times(path.read_text(encoding="utf-8"), place))


def _column_text(column: pl.Series) -> str:
    """Return a column as text, its numbers rounded."""
    if column.dtype.is_float():
        column = column.round_sig_figs(DIGITS)
    return "\n".join(map(str, column.to_list()))


def _without_times(text: str, place: Path) -> str:
    return _TIME.sub("", text.replace(str(place), ""))


def _hash(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()[:16]


if __name__ == "__main__":
    sys.exit(main(Path(sys.argv[1])))
