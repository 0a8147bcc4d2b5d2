"""``clinometer bundle`` and ``verify``: evidence that another person can recompute."""

from __future__ import annotations

import sys
from pathlib import Path

import click

from clinometer.cli.options import FILE, FOLDER, OUT, command
from clinometer.cli.output import echo, remark

__all__ = ["bundle_command", "verify_command"]


@command("bundle")
@click.argument("results", type=FOLDER)
@click.option("--out", required=True, type=OUT, help="Archive, ending in .zip.")
@click.option("--auditor", help="Who made the audit, for the audit card.")
@click.option("--scope", help="What the audit is to decide.")
@click.option("--access", help="How the model was reached: API, weights, product.")
@click.option("--expires", help="Date after which the audit says nothing of the model.")
def bundle_command(results: Path, out: Path, **card: str | None) -> None:
    """Write RESULTS as one archive from which every number can be recomputed.

    The same results give the same bytes. clinometer verify checks it.
    """
    from clinometer.comparing.bundling import bundle
    from clinometer.comparing.verifying import verify

    bundle(results, out, {name: text for name, text in card.items() if text is not None})
    found = verify(out)
    echo(f"{found.files} files, {out.stat().st_size:,} bytes: {out}")
    echo(f"seal {found.seal}")
    for problem in found.problems:
        remark(problem)
    sys.exit(0 if found.holds else 1)


@command("verify")
@click.argument("archive", type=FILE)
@click.option("--states", is_flag=True,
              help="Also read hidden states again, with the models on this machine.")  # fmt: skip
@click.option("--inputs", type=FOLDER, metavar="DIR",
              help="Also measure networks again: a folder with their inputs.")  # fmt: skip
def verify_command(archive: Path, states: bool, inputs: Path | None) -> None:
    """Check every byte of ARCHIVE and recompute its tables; nothing is asked.

    Exit code 0: everything is as stated; 1: something differs, and is named.
    """
    from clinometer.comparing.verifying import verify

    found = verify(archive, states=states, inputs=inputs)
    for problem in found.problems:
        echo(problem)
    if found.holds:
        tables = ", ".join(found.tables) or "none"
        echo(f"holds: {found.files} files unchanged; recomputed: {tables}")
        if found.unchecked:
            kept = ", ".join(found.unchecked)
            echo(f"unchanged, but not recomputed (see --states, --inputs): {kept}")
    echo(f"seal {found.seal}")
    sys.exit(0 if found.holds else 1)
