"""``tiltmeter validate``: check a study file."""

from __future__ import annotations

from pathlib import Path

import click

__all__ = ["command"]


@click.command("validate")
@click.argument("file", type=click.Path(path_type=Path))
def command(file: Path) -> None:
    """Check FILE, a study of answers or of networks; errors name file, line and field."""
    from tiltmeter.errors import StudyError
    from tiltmeter.instruments.catalogue import check_parts
    from tiltmeter.stimuli import NetworkStudy, open_study, study_hash

    if file.suffix not in (".yaml", ".yml"):
        raise StudyError(f"{file}: a study file ends in .yaml or .yml")
    study = open_study(file)
    if isinstance(study, NetworkStudy):
        identities = ", ".join(study.identities)
        click.echo(f"{file}: valid; study of networks {study.name}: {identities}")
        return
    check_parts(study)
    stereotypes = len(study.stereotypes)
    click.echo(f"{file}: valid; study {study.name}, {stereotypes} stereotypes, {study_hash(study)}")
