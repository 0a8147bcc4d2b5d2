"""``clinometer share``: results in the formats of others."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import partial
from pathlib import Path
from typing import Any

import click

from clinometer.cli.options import FILE, FOLDER, command
from clinometer.cli.output import echo, remark
from clinometer.errors import InputError

#: Format → the options it takes, and whether it needs them.
FORMATS = {
    "avid": {"out": True},
    "every-eval-ever": {"out": True},
    "hub": {"out": True, "dataset": True, "source": False},
    "ll144": {"out": True, "source": False, "period": False, "unknown": False, "auditor": False},
    "mlflow": {"experiment": False},
    "model-card": {"out": True},
    "opentelemetry": {"out": True},
}


@command("share")
@click.argument("results", type=FILE)
@click.option(
    "--format", "form", type=click.Choice(list(FORMATS)), required=True, help="The format."
)
@click.option("--out", type=FOLDER, help="Folder for the files; not of mlflow.")
@click.option(
    "--dataset", metavar="OWNER/NAME", help="The benchmark that the results are of (hub)."
)
@click.option(
    "--source",
    metavar="TEXT",
    help="Address where the evidence is published (hub); where counts come from (ll144).",
)
@click.option(
    "--period", metavar="FROM/TO", help="Dates of the counts, 2026-01-01/2026-06-30 (ll144)."
)
@click.option(
    "--unknown",
    type=int,
    metavar="N",
    help="People of an unknown category who are in no row of the table (ll144).",
)
@click.option("--auditor", metavar="TEXT", help="Who answers for the audit (ll144).")
@click.option(
    "--experiment", metavar="NAME", help="The runs' experiment (mlflow).  [default: clinometer]"
)
def share_command(
    results: Path,
    form: str,
    **options: Any,
) -> None:
    """Write the means of each model in RESULTS in another format; nothing is sent but to MLflow.

    avid: a report of each model for the AI Vulnerability Database. every-eval-ever: a record of
    each model, of schema 0.3.0; in a checkout of the collection, where it belongs. hub: files
    for the repository of each model on the Hugging Face hub, and of the benchmark. mlflow: a run
    of each model, by MLflow's own client and settings (MLFLOW_TRACKING_URI). model-card: of each
    model, bias.md in the fields of NVIDIA's Model Card++ and the hub's model-index.
    opentelemetry: an evaluation event a mean. ll144: the tables of New York City's Local Law 144
    with intervals and tests, as CSV, JSON and a page, of a run whose instrument selects
    candidates, or of a table with columns race, sex and n, n_selected (or score). What was found
    is printed first.
    """
    for name, value in options.items():
        if value is not None and name not in FORMATS[form]:
            raise InputError(f"--{name}: not for --format {form}")
        if value is None and FORMATS[form].get(name):
            raise InputError(f"--{name}: needed for --format {form}")
    if form != "ll144" and not results.is_dir():
        raise InputError(f"{results}: not a results directory")
    for line in _WRITERS[form](results, options):
        echo(line)


def _log_runs(results: Path, options: Mapping[str, Any]) -> list[str]:
    """Log to MLflow; return a line a run."""
    from clinometer.sharing import log_mlflow

    experiment = options["experiment"] or "clinometer"
    return [f"experiment {experiment}, run {run}" for run in log_mlflow(results, experiment)]


def _write_records(results: Path, options: Mapping[str, Any]) -> list[str]:
    """Write records of Every Eval Ever; return their paths."""
    from clinometer.sharing import write_every_eval_ever
    from clinometer.sharing.every_eval_ever import SCHEMA_VERSION

    remark(f"every-eval-ever: records of schema {SCHEMA_VERSION}")
    return [str(path) for path in write_every_eval_ever(results, options["out"])]


def _write_hub_files(results: Path, options: Mapping[str, Any]) -> list[str]:
    """Write files for the hub; return their paths."""
    from clinometer.sharing import write_hub

    paths = write_hub(results, options["out"], options["dataset"], options["source"])
    return [str(path) for path in paths]


def _write_means(results: Path, options: Mapping[str, Any], name: str) -> list[str]:
    """Write by the function of this name of `sharing`; return the paths."""
    from clinometer import sharing

    if name in _REMARKS:
        remark(_REMARKS[name])
    return [str(path) for path in getattr(sharing, name)(results, options["out"])]


def _write_law_tables(results: Path, options: Mapping[str, Any]) -> Iterator[str]:
    """Write the tables of Local Law 144; say what was understood before, and what they are not."""
    from clinometer.sharing.counts import read_counts
    from clinometer.sharing.law_lines import describe
    from clinometer.sharing.ll144 import law_rates, not_evidence, write_tables

    n_unknown = options["unknown"] or 0
    counts = read_counts(results, options["period"], options["source"], n_unknown)
    counts = counts._replace(auditor=options["auditor"] or "")
    rates = law_rates(counts)
    yield from describe(rates, counts)
    yield from map(str, write_tables(rates, counts, options["out"]))
    yield from not_evidence(counts)


#: What is said of files that a person has to complete.
_REMARKS = {
    "write_avid": "avid: who made and who runs a model begins with FILL IN",
    "write_model_card": "model-card: what only its maker knows begins with FILL IN",
}

#: Format → what writes it.
_WRITERS: dict[str, Callable[[Path, Mapping[str, Any]], Iterable[str]]] = {
    "avid": partial(_write_means, name="write_avid"),
    "every-eval-ever": _write_records,
    "hub": _write_hub_files,
    "ll144": _write_law_tables,
    "mlflow": _log_runs,
    "model-card": partial(_write_means, name="write_model_card"),
    "opentelemetry": partial(_write_means, name="write_events"),
}
