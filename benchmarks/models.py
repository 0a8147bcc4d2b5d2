"""Models that others made, asked the wide study and the replication in every mode.

Question
    Which controls are found on a model that had no part in the making of the tool, what leans
    there, and do its modes agree?
Peer
    None.
How
    ``python -m benchmarks.models MODEL …`` audits models at size quick, with controls, each study
    and mode in a folder of its own under ``results/models``; it goes on where it was stopped, and
    `--study`, `--mode`, `--instrument` and `--stereotypes` (commas between) ask a part. A mode that
    a model lacks is left out. A folder, ``hf/FOLDER``, writes and chooses in the engine of the
    embedded model, many answers at a time; a base model has no form of a conversation, and so
    `likelihood` alone. Then ``python -m benchmarks models`` sets out all that is there. `make
    models` puts weights in place.
"""

from __future__ import annotations

import argparse
import sys
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

import polars as pl

import clinometer as cm
from benchmarks.measuring import REPOSITORY, NotRun, Result, Value
from benchmarks.modes import agreements
from clinometer.audits.running import Asking
from clinometer.audits.sizes import PlanOptions
from clinometer.directory.results import Results, read_results
from clinometer.errors import ModelError, PlanError
from clinometer.models.opening import Connection
from clinometer.results.controls import KINDS, controls_of
from clinometer.results.ranges import rows_of_range
from clinometer.results.verdicts import CONSISTENT, REVERSED, verdict_kind

RUNS = REPOSITORY / "results" / "models"
STUDIES = ("clinometer2026", "bai2025")
MODES = ("free", "structured", "forced", "likelihood")
LONGEST_ANSWER_S = 3600
INSTRUMENTS = ("word_association", "relative_decision")
#: What the rows of an audit differ in.
ASKED = ("study", "instrument", "mode")
COLUMNS = (
    *("model, study", "instrument, mode", "answers", "scored", "refused", "first-named"),
    *("mean in these prompts", "in other prompts", "lean", "positive controls", "placebos"),
)


def main(arguments: list[str]) -> None:
    """Ask the models that are named."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.models")
    parser.add_argument("models", nargs="+", metavar="MODEL", help="as an audit names it")
    for name, known in (("study", STUDIES), ("mode", MODES), ("instrument", INSTRUMENTS)):
        parser.add_argument(f"--{name}", action="append", choices=known)
    parser.add_argument("--stereotypes", help="comma-separated; all if none are named")
    chosen = parser.parse_args(arguments)
    for model in chosen.models:
        for study in chosen.study or STUDIES:
            for mode in chosen.mode or MODES:
                try:
                    instruments = chosen.instrument or INSTRUMENTS
                    ask(model, study, mode, instruments, chosen.stereotypes)
                except (ModelError, PlanError) as reason:
                    print(f"{model}, {study}, {mode}: {reason}", file=sys.stderr)


def ask(
    model: str, study: str, mode: str, instruments: Sequence[str], stereotypes: str | None
) -> None:
    """Audit a model, or go on with its audit; `stereotypes` as in `PlanOptions`."""
    directory = RUNS / model.replace("/", "-") / study / mode
    arguments = {}
    folder = model.removeprefix("hf/")
    if Path(folder).is_dir() and mode != "likelihood":
        model, arguments = "clinometer/smollm2", {"weights": folder}
    cm.audit(
        model,
        directory=directory,
        options=PlanOptions((study,), instruments, stereotypes, modes=(mode,), controls=True),
        asking=Asking(connection=Connection(timeout_s=LONGEST_ANSWER_S, model_args=arguments)),
        profile=False,
    )


def run() -> Result:
    """Set out what there is of every model."""
    folders = sorted(path.parent for path in RUNS.glob("*/*/*/estimates.parquet"))
    if not folders:
        raise NotRun(f"no audits in {RUNS.relative_to(REPOSITORY)}; see benchmarks/models.py")
    runs = {folder: read_results(folder) for folder in folders}
    rows = [row for folder, results in runs.items() for row in _rows(_model(folder), results)]
    return Result(
        "Models that others made, size quick",
        COLUMNS,
        rows,
        notes=[
            "means and outcomes are those of the page of each audit; lean: stereotypes in other "
            "prompts; first-named: how often the group named first was given what was asked",
            *_agreement_notes(runs),
        ],
    )


def _model(folder: Path) -> str:
    return folder.parts[-3]


def _rows(model: str, results: Results) -> Iterator[list[Value]]:
    """Yield a row per study, instrument and mode of one audit."""
    estimates = results.estimates.filter(
        pl.col("factor").is_null(), pl.col("measure") == pl.col("instrument")
    )
    means = estimates.filter(pl.col("control").is_null(), level="model")
    for key, rows in means.group_by(ASKED, maintain_order=True):
        alike = dict(zip(ASKED, key, strict=True))
        study, instrument, mode = key
        asked = results.table("scores").filter(pl.col("control").is_null(), **alike)
        yield [
            f"{model}, {study}",
            f"{instrument} {mode}".replace("_", " "),
            *_answers(asked),
            *(_interval(rows_of_range(rows, name)) for name in ("prompts", "other_prompts")),
            _leans(estimates.filter(**alike)),
            *_controls(estimates, rows),
        ]


def _answers(asked: pl.DataFrame) -> Iterator[Value]:
    """Yield how many answers there are, and what shares are scored and refused.

    The last is how often the group that is named first was given what was asked.
    """
    yield asked.height
    yield asked.drop_nulls("score").height / asked.height
    yield asked.filter(reason="refused").height / asked.height
    yield asked.select(pl.col("first_share").mean()).item()


def _interval(rows: pl.DataFrame) -> str | None:
    """Print a mean with its interval."""
    if rows.is_empty():
        return None
    row = rows.row(0, named=True)
    return f"{row['estimate']:.2f} [{row['ci_low']:.2f}, {row['ci_high']:.2f}]"


def _leans(estimates: pl.DataFrame) -> str:
    """Count the stereotypes that lean in other prompts, of those asked."""
    stereotypes = rows_of_range(estimates, "other_prompts").filter(
        pl.col("control").is_null(), level="stereotype"
    )
    leans = verdict_kind(pl.col("verdict")).is_in([CONSISTENT, REVERSED])
    return f"{stereotypes.filter(leans).height} of {stereotypes.height}"


def _controls(estimates: pl.DataFrame, means: pl.DataFrame) -> Iterator[str]:
    """Yield the outcomes of the controls of each kind, with how many have it."""
    outcomes: dict[str, Counter[str]] = {kind: Counter() for kind in KINDS}
    for control in controls_of(estimates, means):
        outcomes[control.kind][control.outcome] += 1
    for counts in outcomes.values():
        yield ", ".join(f"{number} {outcome}" for outcome, number in counts.items())


def _agreement_notes(runs: Mapping[Path, Results]) -> Iterator[str]:
    """Yield how far two modes of a model agree over the stereotypes of a study."""
    by_study: dict[str, list[pl.DataFrame]] = {}
    for folder, results in runs.items():
        for (study,), rows in results.estimates.group_by("study", maintain_order=True):
            by_study.setdefault(f"{_model(folder)}, {study}", []).append(rows)
    for name, estimates in by_study.items():
        of_stereotypes = pl.concat(estimates).filter(pl.col("control").is_null())
        for (first, second), agreement in agreements(of_stereotypes).items():
            if first.instrument == second.instrument:
                r = f"{agreement.r:.2f} [{agreement.r_low:.2f}, {agreement.r_high:.2f}]"
                yield f"{name}: {first} and {second.mode}: r {r} over {agreement.n} stereotypes"


if __name__ == "__main__":
    main(sys.argv[1:])
