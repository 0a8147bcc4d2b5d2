"""``clinometer check``: what a model can do, in a call of each mode."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from clinometer.cli.options import FILE, MODEL, build_connection, command, connection_options
from clinometer.cli.output import echo, say_cost
from clinometer.errors import ExitCode

if TYPE_CHECKING:
    from clinometer.audits.checking import Check, Checked


@command("check")
@click.argument("model", type=MODEL, metavar="MODEL")
@click.option("--prices", type=FILE, help="YAML file of prices: 'model: [input, output]'.")
@connection_options
def check_command(model: str, prices: Path | None, **options: Any) -> None:
    """Make one call of MODEL in each mode, and say what works and what an audit takes.

    Says which modes work, under which name the model answers, whether tokens are stated, what a
    quick audit costs, and the command that makes it. Exit code 3 if nothing works.
    """
    from clinometer.audits.checking import check_model
    from clinometer.secrets import redacted

    options["max_retries"] = 1  # a server may be loading; what fails again is said at once
    address = options["base_url"]
    audit_options = f" --model-base-url {address}" if address else ""
    audit_options += "".join(f" -M {pair}" for pair in options["model_args"])
    checked = check_model(model, build_connection(options), prices, audit_options)
    for line in _lines(checked):
        echo(line)
    if checked.cost is not None:
        say_cost([checked.cost])
        echo(f"next: {redacted(checked.command)}")
    sys.exit(ExitCode.DONE if checked.mode else ExitCode.NOT_COMPLETE)


def _lines(checked: Checked) -> list[str]:
    from clinometer.secrets import redacted

    served = next((check.served for check in checked.checks if check.served), None)
    alias = f", answers as {served}" if served and not checked.model.endswith(served) else ""
    lines = [f"{checked.model}{alias}", *map(_line, checked.checks)]
    if checked.mode is None:
        # A hint may name an address of the environment, and with it a key.
        return [*lines, redacted(checked.hint)] if checked.hint else lines
    states_tokens = any(check.tokens for check in checked.checks)
    usage = "stated"
    if not states_tokens:
        usage = "not stated: limits of tokens and dollars are kept by estimate"
    return [*lines, f"tokens: {usage}"]


def _line(check: Check) -> str:
    """Say of a mode whether it works, and how."""
    if check.works:
        return f"  {check.mode:12}works, {check.seconds:.1f} s; {check.message}"
    return f"  {check.mode:12}no: {check.message}"
