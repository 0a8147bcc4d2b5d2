"""The command line. A command is imported when it is called, so that ``--help`` is fast."""

import sys
import warnings
from collections.abc import Mapping
from functools import cache

from clinometer.errors import ClinometerWarning
from clinometer.families import families

__all__ = ["commands", "main"]

#: Command → the module of this room that holds it, and one line of help.
_COMMANDS = {
    "demo": ("demo", "Score answers of GPT-4o that are shipped, and open their report: seconds."),
    "audit": ("auditing", "Measure the bias of a model and write a report. Start here."),
    "check": ("checking", "Say what a model can do and what an audit costs, in a call a mode."),
    "run": ("auditing", "Ask models chosen trials; write responses, scores and estimates."),
    "score": ("score", "Score recorded answers from a table or inspect logs."),
    "estimate": ("estimating", "Compute estimates, intervals and tests from scores."),
    "contrast": (
        "estimating",
        "Estimate differences over matched trials: interventions, models, modes.",
    ),
    "compare": ("comparing", "Say whether a model or version is worse than another."),
    "gate": ("gating", "Judge a run by a policy: pass, fail or inconclusive, as an exit code."),
    "show": ("showing", "Show the answers behind a number, and the numbers of an answer."),
    "view": ("viewing", "Show results in the browser, live while a run goes on."),
    "bundle": ("evidence", "Write results as one archive that anyone can recompute."),
    "verify": ("evidence", "Check such an archive: every byte, and every number."),
    "init": ("starting", "Begin a profile, a policy and a workflow for a system of yours."),
    "dossier": ("dossier", "Write what an auditor files of a run, and a public summary."),
    "share": (
        "sharing",
        "Write results in the formats of others: MLflow, model hubs, collections.",
    ),
    "agreement": ("estimating", "Compare readings of decisions with human labels."),
    "regress": ("estimating", "Regress decisions on associations and other scores."),
    "report": ("auditing", "Recompute the tables and the report of a results directory."),
    "plan": ("sharding", "Write the requests of an audit as files that any engine answers."),
    "answer": ("sharding", "Answer such files with any model, here or as tasks of an array."),
    "submit": ("sharding", "Ask such files as batches, at half price; wait, and collect."),
    "collect": ("sharding", "Read the answers to such files; write what is left."),
    "merge": ("sharding", "Put runs of one plan, asked on several machines, together."),
    "cost": ("auditing", "Estimate the calls, tokens and dollars of a run."),
    "power": ("planning", "Predict what a run can tell, and how to spend calls best."),
    "simulate": ("simulating", "Serve a simulated model, whose leans are known, on this machine."),
    "list": ("studies", "List instruments, studies, stereotypes and wordings."),
    "items": ("items", "List the items of benchmarks; bring those that cannot be shipped."),
    "draft": ("draft", "Ask a model to propose stimuli that a person reviews."),
    "validate": ("studies", "Check a study file; errors name file, line and field."),
    "published": ("studies", "Print the values that the papers publish."),
    "cite": ("studies", "Print the references to cite."),
}


@cache
def commands() -> Mapping[str, tuple[str, str]]:
    """Return command → its module and a line of help, in the order of use; families come last."""
    places = {}
    for name, (module, text) in _COMMANDS.items():
        places[name] = (f"{__name__}.{module}", text)
    for family in families().values():
        places.update(family.commands)
    return places


HELP = """Usage: clinometer COMMAND [OPTIONS]

  Measure the implicit bias of language models.

    clinometer demo                         2,100 released answers of GPT-4o: nothing is asked
    clinometer audit clinometer/smollm2     the embedded model: no key, no network
    clinometer audit openai/gpt-4o-mini     any model that inspect supports
    clinometer audit simulated/leaning      no model: answers with planted leans

Commands:
{commands}

  clinometer COMMAND --help shows the options; clinometer --version the version.
"""


def main() -> None:
    """Run the command line; an error in the input is one line and exit code 2."""
    with warnings.catch_warnings(record=True) as plugin_notes:  # packages of others that are broken
        warnings.simplefilter("ignore")  # what is another library's is nobody's business here
        warnings.simplefilter("always", ClinometerWarning)
        places = commands()
    for warning in plugin_notes:
        sys.stderr.write(f"clinometer: {warning.message}\n")
    # Here and not in the group: click alone takes longer to load than this help to print.
    if sys.argv[1:] in ([], ["-h"], ["--help"]):
        lines = "\n".join(f"  {name:10}{text}" for name, (_, text) in places.items())
        sys.stdout.write(HELP.format(commands=lines))
        return
    from clinometer.cli.group import run_group

    sys.exit(run_group())
