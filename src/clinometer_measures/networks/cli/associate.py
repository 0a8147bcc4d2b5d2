"""``clinometer network associate``: ask models for free associations."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from clinometer.cli.options import (
    FOLDER,
    FROM_ELSEWHERE,
    MODEL,
    build_budget,
    build_connection,
    command,
    sampling_options,
)
from clinometer.cli.output import echo, progress_bar, remark, say_cost, say_unfinished
from clinometer.cli.sharding import say_shards
from clinometer.numbers import number, percent

if TYPE_CHECKING:
    from clinometer_measures.networks.associating import Associated
    from clinometer_measures.networks.association_plan import AssociationPlan

__all__ = ["associate_command"]

#: The longest answer, in tokens: of an answer in a chat, of a line to be continued.
ANSWER_TOKENS = {False: 32, True: 16}


@command("associate")
@click.argument("models", nargs=-1, required=True, type=MODEL, metavar="MODEL…")
@click.option(
    "--cues",
    required=True,
    metavar="FILE|A,B",
    help="A .txt file with one cue per line; a .csv or .parquet table with a column cue or word; a "
    "network (src, tgt), whose words are used; or cues with commas. Clinometer ships none; the "
    "paper used those of smallworldofwords.org.",
)
@click.option(
    "--out",
    required=True,
    type=FOLDER,
    help="Directory for the answers; an unfinished run is continued.",
)
@click.option("--repetitions", default=100, help="Answers per cue.")
@click.option(
    "--choices", type=int, help="Answers per call, if the provider can give several.  [default: 20]"
)
@click.option(
    "--shards",
    type=click.IntRange(1),
    help="Ask nothing: write the requests as this many files for each model, for any engine to "
    "answer; clinometer collect reads the answers.",
)
@click.option(
    "--continuation",
    is_flag=True,
    help="Let the model continue a list of examples, for models without a chat format "
    "(clinometer/smollm2 is always asked this way).",
)
@FROM_ELSEWHERE
@sampling_options(
    tokens=None,
    longest="Longest answer, in tokens.  [default: 32; with --continuation 16]",
    seed="Seed of the sampling of local models.",
)
def associate_command(models: tuple[str, ...], **options: Any) -> None:
    """Ask MODEL… repeatedly for three associates of each cue.

    The wording is that of Abramski et al. (2025), "The LLM World of Words". The same command
    continues a run that was stopped; nothing is asked twice. More repetitions extend it.
    """
    from clinometer.asking.claim import claim
    from clinometer.audits.sharding import shard_plan
    from clinometer_measures.networks.associating import associate, most_choices, open_associating
    from clinometer_measures.networks.association_plan import cost_of_associations
    from clinometer_measures.networks.cues import read_cues

    cues = read_cues(options["cues"])
    plan = _plan(models, cues.words, options)
    budget = build_budget(options)
    directory = options["out"]
    several = {name: most_choices(name, options["choices"]) for name in plan.models}
    if options["shards"] is None:
        opened = open_associating(plan, build_connection(options))
        claim(directory, plan, from_elsewhere=options["from_elsewhere"])
    total = len(cues.words) * plan.repetitions * len(plan.models)
    models_text = f" × {len(plan.models)} models" if len(plan.models) > 1 else ""
    echo(f"{cues} × {plan.repetitions:,} repetitions{models_text}: {total:,} answers")
    if options["choices"] != 1 and plan.repetitions > 1:
        for name, most in several.items():
            if most == 1:
                remark(f"{name} gives one answer a call")
    choices = min(max(several.values()), plan.repetitions)
    # Also with one answer a call: a provider may turn out to give no more.
    for per_call in dict.fromkeys((choices, 1)):
        counted = f"answers, {per_call} a call" if choices > 1 else "answers"
        costs = []
        for name in plan.models:
            costs.append(cost_of_associations(plan, name, per_call, options["prices"]))
        say_cost(costs, counted, batches=True)
    if options["shards"] is not None:
        files = shard_plan(plan, directory, options["shards"], choices=options["choices"])
        say_shards(files, f"clinometer collect {directory}")
        return
    with progress_bar(total) as advance:
        outcomes = associate(
            plan, opened, directory, budget, choices=options["choices"], on_progress=advance
        )
    _report(outcomes, directory)


def _plan(
    models: tuple[str, ...], cues: tuple[str, ...], options: dict[str, Any]
) -> AssociationPlan:
    from clinometer.models.opening import Generation
    from clinometer.models.providers import find_provider
    from clinometer_measures.networks.association_plan import AssociationPlan

    names = tuple(dict.fromkeys(models))
    continuation = options["continuation"]
    tokens = options["answer_tokens"]
    if tokens is None:
        tokens = ANSWER_TOKENS[continuation or all(find_provider(name).embedded for name in names)]
    generation = Generation(options["temperature"], options["top_p"], tokens)
    repetitions, seed = options["repetitions"], options["seed"]
    return AssociationPlan(names, cues, repetitions, continuation, generation, seed)


def _report(outcomes: list[Associated], directory: Path) -> None:
    """Print the outcome of each model and its next command; exit as `run` does."""
    from clinometer.results.records import slug

    for outcome in outcomes:
        echo(_summary(outcome, directory / "answers" / slug(outcome.model)))
        if outcome.failure is not None:
            remark(f"left out: {outcome.failure}")
    for outcome in outcomes:
        folder = directory
        name = "network.csv"
        if len(outcomes) > 1:
            folder = directory / "answers" / slug(outcome.model)
            name = f"{slug(outcome.model)}.csv"
        if outcome.complete:
            echo(f"next: clinometer network build {folder} --out {name}")
    if not all(outcome.complete for outcome in outcomes):
        stopped = {outcome.stopped_by for outcome in outcomes if outcome.stopped_by}
        why = "interrupted" if "interrupted" in stopped else ", ".join(sorted(stopped))
        errors = [outcome.last_error for outcome in outcomes if outcome.last_error]
        sys.exit(say_unfinished(why or None, errors[-1] if errors else None))


def _summary(outcome: Associated, folder: Path) -> str:
    calls = ""
    if outcome.choices is not None:
        calls = f" in {outcome.calls:,} calls of up to {outcome.choices}"
    failed = f", {outcome.errors:,} calls failed" if outcome.errors else ""
    readable = "none readable"
    if outcome.readable:
        readable = (
            f"{percent(outcome.readable / outcome.answered, 1)} readable, "
            f"{number(outcome.associates / outcome.answered)} associates an answer"
        )
    return (
        f"{outcome.model}: {outcome.answered:,} of {outcome.expected:,} answers{calls}{failed}; "
        f"{readable}: {folder}"
    )
