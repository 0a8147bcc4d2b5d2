"""The group of commands, and the error output of failed commands."""

from __future__ import annotations

import importlib
import logging
import signal
import tempfile
import traceback
import warnings
from collections.abc import Mapping, Sequence
from typing import Any

import click

from clinometer import __version__
from clinometer.cli import HELP, commands
from clinometer.cli.output import echo, exit_code, remark
from clinometer.errors import ClinometerError, ClinometerWarning, ExitCode, one_line, unknown
from clinometer.secrets import keep_environment, redacted


class LateGroup(click.Group):
    """A group that imports a command's module when the command is called.

    `commands`: command → its module, which names it ``COMMAND_command``, and one line of help.
    """

    def __init__(self, commands: Mapping[str, tuple[str, str]], **attributes: Any) -> None:
        super().__init__(**attributes)
        self._commands = commands

    def list_commands(self, ctx: click.Context) -> list[str]:
        """List the commands in the order of use."""
        return list(self._commands)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """Import a command; an unknown one is an error that suggests others."""
        if cmd_name not in self._commands:
            ctx.fail(unknown("command", cmd_name, self._commands))
        module = importlib.import_module(self._commands[cmd_name][0])
        command: click.Command = getattr(module, f"{cmd_name}_command")
        return command

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write the help of all commands without importing any."""
        with formatter.section("Commands"):
            formatter.write_dl([(name, text) for name, (_, text) in self._commands.items()])


_group = click.version_option(__version__, prog_name="clinometer")(
    LateGroup(
        commands(),
        help=HELP,
        add_help_option=False,
        context_settings={"show_default": True},
    )
)


def run_group() -> int:
    """Run the command that was named, and return the exit code.

    It is that of an error, or the command's; see `ExitCode`.
    """
    keep_environment()
    logger = logging.getLogger("clinometer")
    logger.handlers = [_RemarkHandler()]
    logger.propagate = False
    logger.setLevel(logging.WARNING)  # inspect sets the level of the loggers above
    try:
        with warnings.catch_warnings():
            warnings.showwarning = _warn
            # Python would say the same of a second file only once.
            warnings.simplefilter("always", ClinometerWarning)
            # Not standalone: click would print errors and exit by its own rules.
            _group(prog_name="clinometer", standalone_mode=False)
    except click.exceptions.Exit as stop:
        return stop.exit_code
    except (KeyboardInterrupt, click.Abort):
        signal.signal(signal.SIGINT, signal.SIG_IGN)  # what is left takes a moment
        remark("stopped; repeat the command to continue")
        return ExitCode.STOPPED
    except Exception as error:
        for line in _error_lines(error):
            remark(line)
        return exit_code(error)
    return ExitCode.DONE


def _error_lines(error: Exception) -> Sequence[str]:
    """Say what went wrong; where it is unexpected, in one line with a file of details."""
    match error:
        case click.ClickException():
            return [error.format_message()]
        case ClinometerError():
            return str(error).splitlines()
        case OSError():
            path = f"{error.filename}: " if error.filename else ""
            return [f"{path}{error.strerror or error}"]
    # The traceback goes to a file: for a report, and without keys.
    with tempfile.NamedTemporaryFile(
        "w", encoding="utf-8", prefix="clinometer-", suffix=".txt", delete=False
    ) as file:
        file.write(redacted("".join(traceback.format_exception(error))))
    name = type(error).__name__
    return [f"unexpected, please report it: {name}: {one_line(error)}; details: {file.name}"]


class _RemarkHandler(logging.Handler):
    """Print what is logged while models are asked, in one line."""

    def emit(self, record: logging.LogRecord) -> None:
        """Print one record."""
        remark(record.getMessage())


def _warn(message: Warning | str, category: type[Warning], *place: Any, **options: Any) -> None:
    """Print a warning of Clinometer in one line; those of other libraries keep file and line."""
    if issubclass(category, ClinometerWarning):
        remark(f"warning: {message}")
    else:
        filename, line = place[:2]
        echo(warnings.formatwarning(message, category, filename, line), err=True, nl=False)
