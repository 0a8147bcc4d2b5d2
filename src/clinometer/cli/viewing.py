"""``clinometer view``: a results directory in the browser, while a run goes on and after it."""

from __future__ import annotations

from contextlib import suppress
from pathlib import Path

import click

from clinometer.cli.options import FILE, command
from clinometer.cli.output import echo


@command("view")
@click.argument("directory", type=FILE, metavar="DIR")
@click.option("--port", default=0, type=click.IntRange(0, 65535), help="0: any that is free.")
@click.option("--open/--no-open", "opens", default=False, help="Open the address in a browser.")
def view_command(directory: Path, port: int, opens: bool) -> None:
    """Show DIR in the browser, live while a run goes on: findings, report, every answer.

    DIR is a results directory, a folder with several, or a bundle. Only this machine can reach the
    pages, and only by the address that is printed. Nothing is changed in DIR. Ctrl-C ends it.
    """
    from clinometer.viewing.serving import serve

    def say_ready(address: str) -> None:
        """Print the address once the server answers there."""
        echo(f"{directory}: {address}\nCtrl-C ends it")
        if opens:
            import webbrowser

            webbrowser.open(address)

    with suppress(KeyboardInterrupt):
        serve(directory, port, say_ready)
