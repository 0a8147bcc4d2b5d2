"""What audits of the embedded model find: the means that README and the page on audits show.

Question
    What does an audit of SmolLM2 find, in the tool's own words and in those of the papers?
Peer
    None; controls are asked along.
How
    The audits that `docs/how-to/audit.md` names, at size quick. A row per study and instrument,
    control, category and stereotype, in other prompts, with its verdict.
"""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from pathlib import Path

import polars as pl

import clinometer as cm
from benchmarks.measuring import NotRun, Result, Value
from clinometer.audits.sizes import PlanOptions
from clinometer.directory.results import Results, read_results
from clinometer.errors import ModelError
from clinometer.results.ranges import rows_of_range

MODEL = "clinometer/smollm2"
#: Options as they are typed → the options.
AUDITS = {
    "": PlanOptions(),
    "--study bai2025 --controls": PlanOptions(("bai2025",), controls=True),
}
LEVELS = ("model", "category", "stereotype")
COLUMNS = ("audit", "study", "instrument, mode", "control", "level", "of what", "mean", "verdict")


def run() -> Result:
    with tempfile.TemporaryDirectory() as folder:
        try:
            audits = {
                name: read_results(
                    cm.audit(MODEL, directory=Path(folder) / str(number), options=options,
                             profile=False)
                )
                for number, (name, options) in enumerate(AUDITS.items())
            }  # fmt: skip
        except ModelError as reason:
            raise NotRun(str(reason)) from reason
        return measured(audits)


def measured(audits: dict[str, Results]) -> Result:
    """Set out what audits found, by the options that were typed."""
    return Result(
        "Audits of the embedded model, size quick",
        COLUMNS,
        [row for name, results in audits.items() for row in rows(name, results.estimates)],
        notes=["means and intervals in other prompts; control: null where people are meant"],
    )


def rows(name: str, estimates: pl.DataFrame) -> Iterator[list[Value]]:
    """Yield a row per mean of an audit."""
    means = rows_of_range(
        estimates.filter(
            pl.col("factor").is_null(),
            pl.col("measure") == pl.col("instrument"),
            pl.col("level").is_in(LEVELS),
        ),
        "other_prompts",
    )
    for row in means.iter_rows(named=True):
        mean = f"{row['estimate']:.3f}"
        if row["ci_low"] is not None:
            mean += f" [{row['ci_low']:.3f}, {row['ci_high']:.3f}]"
        yield [
            *(name, row["study"], f"{row['instrument']} {row['mode']}".replace("_", " ")),
            *(row["control"], row["level"], row["stereotype"] or row["category"] or "all"),
            *(mean, row["verdict"]),
        ]
