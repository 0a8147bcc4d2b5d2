"""The command line. A command is imported when it is called, so ``--help`` stays instant."""

import sys

__all__ = ["main"]

#: Command (its module has the same name) → one line of help.
COMMANDS = {
    "audit": "Measure a model and write a report: the main job.",
    "run": "Ask models the trials of a plan and score the answers.",
    "score": "Score recorded answers, from a table or from inspect logs.",
    "estimate": "Turn scores into estimates with intervals and tests.",
    "contrast": "Compare the same trials asked in two ways, such as with an intervention.",
    "agreement": "Hold readings against labels given by hand: kappa, confusion, disagreements.",
    "regress": "Regress decisions on associations and other scores.",
    "profile": "Stereotype dimensions inside a model, layer by layer.",
    "weat": "Association tests inside a model, layer by layer.",
    "network": "Association networks: build, activate, measure bias, show paths.",
    "report": "Make the tables and the report of a results directory anew.",
    "cost": "Say what a run would cost before it is run.",
    "list": "List instruments, studies, stereotypes and variations.",
    "draft": "Ask a model for new synonyms or decisions; a person accepts them.",
    "validate": "Check a study file; errors name file, line and field.",
    "cite": "Print how to cite a study and Tiltmeter.",
}

HELP = """Usage: tiltmeter COMMAND [OPTIONS]

  Measure the implicit bias of language models.

    tiltmeter audit tiltmeter/smollm2     the embedded model: no key, no network
    tiltmeter audit openai/gpt-4o-mini    any model that inspect can name

Commands:
{commands}

  tiltmeter COMMAND --help says more; tiltmeter --version says which this is.
"""


def main() -> None:
    """Run the command line; errors a user can mend are one line each and exit code 2."""
    if sys.argv[1:] in ([], ["-h"], ["--help"]):
        lines = "\n".join(f"  {name:10}{text}" for name, text in COMMANDS.items())
        sys.stdout.write(HELP.format(commands=lines))
        return
    from tiltmeter.cli.group import run_group

    sys.exit(run_group())
