"""The group of commands, and what a user sees when one of them fails."""

from __future__ import annotations

import importlib

import click

from tiltmeter import __version__
from tiltmeter.cli import COMMANDS, HELP
from tiltmeter.errors import TiltmeterError, unknown

__all__ = ["run_group"]


class _LateGroup(click.Group):
    """A group that imports a command's module when the command is called."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        return list(COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        if cmd_name not in COMMANDS:
            ctx.fail(unknown("command", cmd_name, COMMANDS))
        command: click.Command = importlib.import_module(f"tiltmeter.cli.{cmd_name}").command
        return command


@click.group(cls=_LateGroup, help=HELP, add_help_option=False)
@click.version_option(__version__, prog_name="tiltmeter")
def _group() -> None:
    pass


def run_group() -> int:
    """Run the command that was named.

    Returns
    -------
    int
        The exit code: 2 for an error a user can mend, 130 when stopped, else the command's.
    """
    try:
        _group(prog_name="tiltmeter", standalone_mode=False)
    except click.exceptions.Exit as stop:
        return stop.exit_code
    except click.ClickException as error:
        return _fail(error.format_message())
    except TiltmeterError as error:
        return _fail(*str(error).splitlines())
    except OSError as error:
        where = f"{error.filename}: " if error.filename else ""
        return _fail(f"{where}{error.strerror or error}")
    except (KeyboardInterrupt, click.Abort):
        _fail("stopped; repeat the command to continue")
        return 130
    return 0


def _fail(*lines: str) -> int:
    for line in lines:
        click.echo(f"tiltmeter: {line}", err=True)
    return 2
