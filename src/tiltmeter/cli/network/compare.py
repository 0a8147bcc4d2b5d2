"""``tiltmeter network compare``: compare networks and write a report."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from tiltmeter.cli.network.options import bias_options, build_setting, named_paths, read_lexicons

__all__ = ["command"]

#: The four streams of the paper's figures 8 and 9.
STREAMS = (
    *("feminine:compassionate", "feminine:forceful"),
    *("masculine:forceful", "masculine:compassionate"),
)


@click.command("compare")
@click.argument("networks", nargs=-1, required=True, metavar="NET…")
@click.option(
    "--out",
    required=True,
    type=click.Path(path_type=Path, file_okay=False),
    help="Results directory for tables and report.html. In the directory of an audit the networks "
    "become a part of its report.",
)
@click.option(
    "--stream",
    "streams",
    multiple=True,
    metavar="SOURCE:TARGET",
    help="Shortest paths to show; may be repeated.  [default: for abramski2025 four of the paper]",
)
@bias_options(rewirings=99)
def command(networks: tuple[str, ...], out: Path, streams: tuple[str, ...], **options: Any) -> None:
    """Compare each NET, a table of edges given as FILE or NAME=FILE.

    Networks of people are compared like those of models. Valence and emotions are measured if
    their lexicon is given.
    """
    from tiltmeter.audits.networks import Comparison, write_networks
    from tiltmeter.cli.network.options import open_networks
    from tiltmeter.cli.options import counting_bar
    from tiltmeter.report import write_report
    from tiltmeter.stimuli import load_network_study

    study = load_network_study(options["study"])
    read = open_networks(networks, directed=options["directed"])
    shown = streams or (STREAMS if study.name == "abramski2025" else ())
    paths = [path for _, path in named_paths(networks)]
    files = {one.name: path for one, path in zip(read, paths, strict=True)}
    files |= {name: options[name] for name in ("valence", "emotions") if options[name]}
    comparison = Comparison(
        study=study,
        lexicons=read_lexicons(options),
        setting=build_setting(options),
        streams=[_pair(text) for text in shown],
        files=files,
    )
    with counting_bar("rewiring", comparison.setting.rewirings * len(read)) as advance:
        tables = write_networks(read, comparison, out, on_progress=advance)
    click.echo(f"{len(tables)} tables: {out}")
    click.echo(f"report: {write_report(out)}")


def _pair(text: str) -> tuple[str, str]:
    from tiltmeter.errors import InputError

    source, colon, target = (part.strip() for part in text.partition(":"))
    if not colon or not source or not target:
        raise InputError(f"stream {text!r}: expected SOURCE:TARGET, as in feminine:forceful")
    return source, target
