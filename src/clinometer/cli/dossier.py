"""``clinometer dossier``: what an auditor files of a run, and a summary for the public."""

from __future__ import annotations

from pathlib import Path

import click

from clinometer.cli.options import FILE, FOLDER, command
from clinometer.cli.output import echo


@command("dossier")
@click.argument("results", type=FILE)
@click.option("--profile", required=True, type=FILE, help="Bias profile; see clinometer init.")
@click.option("--out", required=True, type=FOLDER, help="Folder for the dossier.")
@click.option("--policy", type=FILE, help="Policy, where the run declared none.")
@click.option("--baseline", type=FILE, help="What rules of changes are counted from.")
@click.option("--signer", type=FILE, metavar="FILE",
              help="Who has to have signed the bundle, as for clinometer verify.")  # fmt: skip
def dossier_command(
    results: Path,
    profile: Path,
    out: Path,
    policy: Path | None,
    baseline: Path | None,
    signer: Path | None,
) -> None:
    """Write what an auditor files of RESULTS: HTML, JSON, and a summary for the public.

    RESULTS are a results directory, or a bundle of one; it is verified first. A field of the
    profile that is missing, empty, past or not about this run is named, and nothing is written.
    """
    from clinometer.dossier.writing import write_dossier

    files = write_dossier(results, profile, out, policy=policy, baseline=baseline, signer=signer)
    content = files.content
    echo(f"gate: {content['policy']['outcome']}; {content['policy']['declaration']}")
    for checklist in (*content["completeness"], *content["clauses"]):
        echo(f"{checklist['title']}: {checklist['answered']} of {checklist['applicable']} answered")
    for path in files.paths:
        echo(str(path))
    echo(content["claims"])
