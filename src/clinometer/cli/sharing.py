"""``clinometer share``: results in the formats of others."""

from __future__ import annotations

from pathlib import Path

import click

from clinometer.cli.options import FOLDER, command
from clinometer.cli.output import echo
from clinometer.errors import InputError

__all__ = ["share_command"]

#: Format → the options it takes, and whether it needs them.
FORMATS = {
    "every-eval-ever": {"out": True},
    "hub": {"out": True, "dataset": True, "source": False},
    "mlflow": {"experiment": False},
}


@command("share")
@click.argument("results", type=FOLDER)
@click.option(
    "--format", "form", type=click.Choice(list(FORMATS)), required=True, help="The format."
)
@click.option("--out", type=FOLDER, help="Folder for the files (every-eval-ever, hub).")
@click.option(
    "--dataset", metavar="OWNER/NAME", help="The benchmark that the results are of (hub)."
)
@click.option("--source", metavar="URL", help="Where the evidence is published (hub).")
@click.option(
    "--experiment", metavar="NAME", help="The runs' experiment (mlflow).  [default: clinometer]"
)
def share_command(
    results: Path,
    form: str,
    out: Path | None,
    dataset: str | None,
    source: str | None,
    experiment: str | None,
) -> None:
    """Write the means of each model in RESULTS in another format; nothing is sent but to MLflow.

    every-eval-ever: a record of each model for collections of evaluations. hub: files for the
    repository of each model on the Hugging Face hub, and of the benchmark. mlflow: a run of each
    model, by MLflow's own client and settings (MLFLOW_TRACKING_URI).
    """
    options = {"out": out, "dataset": dataset, "source": source, "experiment": experiment}
    for name, value in options.items():
        if value is not None and name not in FORMATS[form]:
            raise InputError(f"--{name}: not for --format {form}")
        if value is None and FORMATS[form].get(name):
            raise InputError(f"--{name}: needed for --format {form}")
    if form == "mlflow":
        from clinometer.sharing import log_mlflow

        runs = log_mlflow(results, experiment or "clinometer")
        for run in runs:
            echo(f"experiment {experiment or 'clinometer'}, run {run}")
        return
    from clinometer.sharing import write_every_eval_ever, write_hub

    # For mypy: `FORMATS` has refused a call without them.
    assert out is not None
    if form == "hub":
        assert dataset is not None
        paths = write_hub(results, out, dataset, source)
    else:
        paths = write_every_eval_ever(results, out)
    for path in paths:
        echo(str(path))
