"""``tiltmeter cite``: references to cite."""

from __future__ import annotations

import click

__all__ = ["command"]


@click.command("cite")
@click.argument("study", default="bai2025")
@click.option("--bibtex", is_flag=True, help="Print a BibTeX entry.")
def command(study: str, bibtex: bool) -> None:
    """Print the references to cite for STUDY (default: bai2025) and Tiltmeter."""
    from tiltmeter import __version__
    from tiltmeter.stimuli import open_study

    citation = open_study(study).citation
    click.echo((citation.bibtex if bibtex and citation.bibtex else citation.text).strip())
    click.echo(f"Tiltmeter {__version__} (2026). https://pypi.org/project/tiltmeter")
