"""``tiltmeter validate``: check a study file."""

from __future__ import annotations

from pathlib import Path

import click

__all__ = ["command"]


@click.command("validate")
@click.argument("file", type=click.Path(path_type=Path))
def command(file: Path) -> None:
    """Check a study FILE; every error names file, line and field."""
    from tiltmeter.errors import StudyError
    from tiltmeter.stimuli import load_study, study_hash

    if file.suffix not in (".yaml", ".yml"):
        raise StudyError(f"{file}: a study file ends in .yaml or .yml")
    study = load_study(file)
    stereotypes = len(study.stereotypes)
    click.echo(f"{file}: valid; study {study.name}, {stereotypes} stereotypes, {study_hash(study)}")
