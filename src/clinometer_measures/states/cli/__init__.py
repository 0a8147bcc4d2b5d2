"""``clinometer profile``: stereotype dimensions in hidden states, and contexts to read words in."""

from __future__ import annotations

import click

from clinometer.cli.group import LateGroup

__all__ = ["profile_command"]

#: Command → the module that holds it, and one line of help.
COMMANDS = {
    "contexts": (
        f"{__name__}.contexts",
        "Make contexts for a dictionary, with a model or from your own texts.",
    ),
    "measure": (
        f"{__name__}.measuring",
        "Measure profiles in MODEL…; the word measure may be left out.",
    ),
}


class _Profile(LateGroup):
    """Read ``profile MODEL…`` as ``profile measure MODEL…``."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Insert ``measure`` before an argument that is not a command."""
        if args and args[0] not in (*COMMANDS, "--help"):
            args = ["measure", *args]
        return super().parse_args(ctx, args)


profile_command = _Profile(
    COMMANDS,
    name="profile",
    help="Measure stereotype dimensions in hidden states (Schuster et al. 2024). Short form: "
    "clinometer profile MODEL…",
)
