"""``clinometer simulate``: a simulated model as a server on this machine."""

from __future__ import annotations

from contextlib import suppress

import click

from clinometer.cli.options import command
from clinometer.cli.output import echo


@command("simulate")
@click.argument("model", metavar="[MODEL]", required=False)
@click.option("--any", "anything", is_flag=True,
              help="Answer any prompt, of no study too; MODEL may be left out.")  # fmt: skip
@click.option("--plant", "plants", multiple=True, metavar="FIELD=VALUE",
              help="What is planted with --any, in place of what MODEL says, as names=0.4 or "
                   "effect.black_women=1.4; may be repeated.")  # fmt: skip
@click.option("--answers", type=click.Choice(["yes/no", "number", "text"]),
              help="The kind of answer with --any; else what the prompt asks for.")  # fmt: skip
@click.option("--port", default=0, type=click.IntRange(0, 65535), help="0: any that is free.")
@click.option("--study", "studies", multiple=True,
              help="A study file whose prompts, and people, it is to know, besides the studies "
                   "that come with Clinometer; may be repeated.")  # fmt: skip
def simulate_command(
    model: str | None,
    anything: bool,
    plants: tuple[str, ...],
    answers: str | None,
    port: int,
    studies: tuple[str, ...],
) -> None:
    """Serve a simulated MODEL on this machine, for other clients and tools.

    MODEL is neutral, leaning, refusing, any, or a file FILE.yaml that says what is planted. The
    server has OpenAI's chat completions, and needs no key. No model is asked. Ctrl-C ends it.
    """
    from clinometer.viewing.simulated_server import serve_simulated

    if not anything and (model is None or plants or answers):
        raise click.UsageError("name a MODEL, or --any; --plant and --answers need --any")
    fields = [*plants, f"answers={answers}"] if answers else [*plants]
    with suppress(KeyboardInterrupt):

        def say_ready(name: str, address: str) -> None:
            """Print the address once the server answers there."""
            echo(f"{name}: {address}\nCtrl-C ends it")

        planted = [field if field.startswith("seed=") else f"anything.{field}" for field in fields]
        serve_simulated(model or "any", port, say_ready, studies, planted)
