"""``clinometer demo``: a report of released answers, before anything is asked."""

from __future__ import annotations

import sys
from pathlib import Path

import click

from clinometer.cli.auditing import say_findings
from clinometer.cli.options import FOLDER, build_recording, command
from clinometer.cli.output import echo

DIRECTORY = Path("results/demo")


@command("demo")
@click.option("--out", type=FOLDER, default=DIRECTORY, show_default=True, help="Folder of results.")
@click.option(
    "--open/--no-open",
    "opens",
    default=None,
    help="Open the report in a browser.  [default: in a terminal]",
)
def demo_command(out: Path, opens: bool | None) -> None:
    """Score 2,100 answers of GPT-4o, and write and open their report; nothing is asked.

    The answers were released by Bai et al. (2025) and are shipped: 21 stereotypes, two wordings. No
    model, key or network is needed, and all that works on results of your own works on these.
    """
    from clinometer.audits.recording import audit_recorded
    from clinometer.reference import released_answers
    from clinometer.report import write_report

    answers = released_answers()
    audit_recorded(answers, out, build_recording("bai2025", None, None, ()), "clinometer demo")
    page = write_report(out)
    echo("Released answers of GPT-4o (Bai et al. 2025); nothing was asked.")
    say_findings(out, page, as_json=False)
    if opens is None:
        opens = sys.stdout.isatty()  # else a script, which has no use of a browser
    if opens:
        import webbrowser

        webbrowser.open(page.resolve().as_uri())
