"""The command line. A command is imported when it is called, so that ``--help`` is fast."""

import sys
import warnings
from collections.abc import Mapping
from functools import cache

from clinometer.errors import ClinometerWarning
from clinometer.families import families

__all__ = ["command_groups", "commands", "main"]

#: What the help calls a group of commands → command → the module of this room that holds it, and
#: one line of help.
_COMMANDS = {
    "Start here": {
        "demo": (
            "demo",
            "Score answers of GPT-4o that are shipped, and open their report: seconds.",
        ),
        "audit": ("auditing", "Measure the bias of a model and write a report."),
        "twins": (
            "twins",
            "Ask a prompt of your own system of people who differ in one thing.",
        ),
        "check": ("checking", "Say what a model can do and what an audit costs, in a call a mode."),
        "init": ("starting", "Begin a profile, a policy and a workflow for a system of yours."),
    },
    "Measure": {
        "run": ("auditing", "Ask models chosen trials; write responses, scores and estimates."),
        "score": ("score", "Score recorded answers from a table or inspect logs."),
        "estimate": ("estimating", "Compute estimates, intervals and tests from scores."),
        "contrast": (
            "estimating",
            "Estimate differences over matched trials: interventions, models, modes.",
        ),
        "regress": ("estimating", "Regress decisions on associations and other scores."),
        "agreement": ("estimating", "Compare readings of decisions with human labels."),
        "report": ("auditing", "Recompute the tables and the report of a results directory."),
    },
    "Decide": {
        "compare": ("comparing", "Say whether a model or version is worse than another."),
        "gate": ("gating", "Judge a run by a policy: pass, fail or inconclusive, as an exit code."),
        "show": ("showing", "Show the answers behind a number, and the numbers of an answer."),
        "view": ("viewing", "Show results in the browser, live while a run goes on."),
    },
    "Hand on": {
        "bundle": ("evidence", "Write results as one archive that anyone can recompute."),
        "verify": ("evidence", "Check such an archive: every byte, and every number."),
        "dossier": ("dossier", "Write what an auditor files of a run, and a public summary."),
        "share": (
            "sharing",
            "Write results in the formats of others: MLflow, model hubs, collections.",
        ),
        "cite": ("studies", "Print the references to cite."),
    },
    "Plan, and ask in parts": {
        "power": ("planning", "Predict what a run can tell, and how to spend calls best."),
        "cost": ("auditing", "Estimate the calls, tokens and dollars of a run."),
        "plan": ("sharding", "Write the requests of an audit as files that any engine answers."),
        "answer": ("sharding", "Answer such files with any model, here or as tasks of an array."),
        "submit": ("sharding", "Ask such files as batches, at half price; wait, and collect."),
        "collect": ("sharding", "Read the answers to such files; write what is left."),
        "merge": ("sharding", "Put runs of one plan, asked on several machines, together."),
        "simulate": (
            "simulating",
            "Serve a simulated model, whose leans are known, on this machine.",
        ),
    },
    "Studies": {
        "list": ("studies", "List instruments, studies, stereotypes and wordings."),
        "validate": ("studies", "Check a study file; errors name file, line and field."),
        "draft": ("draft", "Ask a model to propose stimuli that a person reviews."),
        "items": ("items", "List the items of benchmarks; bring those that cannot be shipped."),
        "published": ("studies", "Print the values that the papers publish."),
    },
}

#: The group of the commands of families.
_OF_FAMILIES = "Networks and hidden states"


@cache
def command_groups() -> Mapping[str, Mapping[str, tuple[str, str]]]:
    """Return the groups of commands, in the order of use; a command has a module, and its help."""
    groups = {
        title: {name: (f"{__name__}.{module}", text) for name, (module, text) in group.items()}
        for title, group in _COMMANDS.items()
    }
    groups[_OF_FAMILIES] = {}
    for family in families().values():
        groups[_OF_FAMILIES].update(family.commands)
    return groups


@cache
def commands() -> Mapping[str, tuple[str, str]]:
    """Return command → its module and a line of help, of all groups."""
    groups = command_groups().values()
    return {name: place for group in groups for name, place in group.items()}


HELP = """Usage: clinometer COMMAND [OPTIONS]

  Measure the implicit bias of language models.

    clinometer demo                         2,100 released answers of GPT-4o: nothing is asked
    clinometer audit clinometer/smollm2     the embedded model: no key, no network
    clinometer audit openai/gpt-4o-mini     any model that inspect supports
    clinometer audit simulated/leaning      no model: answers with planted leans

{commands}
  clinometer COMMAND --help shows the options; clinometer --version the version.
"""


def main() -> None:
    """Run the command line; an error in the input is one line and exit code 2."""
    with warnings.catch_warnings(record=True) as plugin_notes:  # packages of others that are broken
        warnings.simplefilter("ignore")  # what is another library's is nobody's business here
        warnings.simplefilter("always", ClinometerWarning)
        groups = command_groups()
    for warning in plugin_notes:
        sys.stderr.write(f"clinometer: {warning.message}\n")
    # Here and not in the group: click alone takes longer to load than this help to print.
    if sys.argv[1:] in ([], ["-h"], ["--help"]):
        text = "\n".join(_group_text(title, group) for title, group in groups.items() if group)
        sys.stdout.write(HELP.format(commands=text))
        return
    from clinometer.cli.group import run_group

    sys.exit(run_group())


def _group_text(title: str, group: Mapping[str, tuple[str, str]]) -> str:
    """Write the help of a group of commands."""
    lines = "".join(f"  {name:10}{text}\n" for name, (_, text) in group.items())
    return f"{title}:\n{lines}"
