"""``clinometer simulate``: a simulated model as a server on this machine."""

from __future__ import annotations

from contextlib import suppress

import click

from clinometer.cli.options import command
from clinometer.cli.output import echo


@command("simulate")
@click.argument("model", metavar="MODEL")
@click.option("--port", default=0, type=click.IntRange(0, 65535), help="0: any that is free.")
@click.option("--study", "studies", multiple=True,
              help="A study file whose prompts it is to know, besides the studies that come with "
                   "Clinometer; may be repeated.")  # fmt: skip
def simulate_command(model: str, port: int, studies: tuple[str, ...]) -> None:
    """Serve a simulated MODEL on this machine, for other clients and tools.

    MODEL is neutral, leaning, refusing, or a file FILE.yaml that says what is planted. The server
    has OpenAI's chat completions, and needs no key. No model is asked. Ctrl-C ends it.
    """
    from clinometer.viewing.simulated_server import serve_simulated

    with suppress(KeyboardInterrupt):

        def say_ready(name: str, address: str) -> None:
            """Print the address once the server answers there."""
            echo(f"{name}: {address}\nCtrl-C ends it")

        serve_simulated(model, port, say_ready, studies)
