"""Plans cut into shards that any engine answers, and their answers as a results directory."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import chain, product
from pathlib import Path

from clinometer.asking.claim import claim
from clinometer.asking.plan import Plan, load_plan
from clinometer.asking.requests import settings_of
from clinometer.asking.shards import (
    Answers,
    Collected,
    RequestPlan,
    collect,
    has_shards,
    read_setting,
    write_setting,
    write_shards,
)
from clinometer.audits.sizes import PlanOptions, sized_plan
from clinometer.audits.tabulating import tabulate
from clinometer.errors import InputError, PlanError, as_names
from clinometer.families import families
from clinometer.models.providers import check_model_name, find_provider
from clinometer.modes.mode import seeded
from clinometer.modes.needs import refuse_unable
from clinometer.results.locks import only_process
from clinometer.results.places import anywhere


@anywhere(directory=True)
def shard_plan(
    plan: RequestPlan,
    directory: str | Path,
    shards: int = 1,
    *,
    choices: int | None = None,
    command: str = "",
) -> list[Path]:
    """Write what a plan asks as files of requests, for any engine to answer.

    Parameters
    ----------
    plan
        What to ask.
    directory
        A results directory, made if absent.
    shards
        How many files there are for each model, at most.
    choices
        Answers that a call about a cue asks for; 20 if None, where the provider gives several.
    command
        The command line, for the record.

    Returns
    -------
    list of Path
        The files.

    Raises
    ------
    InputError
        If `shards` or `choices` is below 1, requests have no place for a setting of the plan, or a
        file cannot be written.
    ModelError
        If a model names no provider, or its provider cannot do a mode.
    PlanError
        If the directory holds another plan, has shards already, or another process asks there.
    """
    out = Path(directory)
    for name, number in (("shards", shards), ("choices", choices or 1)):
        if number < 1:
            raise InputError(f"{name} {number}: at least 1")
    for model in plan.models:
        check_model_name(model)
    if isinstance(plan, Plan):
        refuse_unable(plan.models, plan.modes)
    _refuse_settings(plan)
    claim(out, plan, command)
    with only_process(out):
        if has_shards(out):
            raise PlanError(
                f"{out}: has shards already; clinometer collect {out} reads their answers and "
                "writes those that are left"
            )
        write_setting(out, {"shards": shards, "choices": choices})
        # Generators throughout: the requests of a large plan do not fit in memory.
        questions = (plan.questions(model, out, choices) for model in plan.models)
        requests = (question.unanswered(Answers()) for question in questions)
        return write_shards(out, chain.from_iterable(requests), shards)


def _refuse_settings(plan: RequestPlan) -> None:
    """Raise InputError if requests to a model have no place for a reasoning effort of the plan."""
    efforts = plan.efforts if isinstance(plan, Plan) else ()
    for model, effort in product(plan.models, efforts):
        # Any trial will do: seed and temperature have a place everywhere.
        trial = {"seed": 0, "reasoning_effort": effort, "temperature": None}
        settings_of(model, seeded(trial, find_provider(model)))


@anywhere(directory=True)
def shard_audit(
    models: str | Sequence[str],
    directory: str | Path,
    shards: int = 1,
    *,
    size: str = "quick",
    options: PlanOptions | None = None,
) -> list[Path]:
    """Write what `audit` would ask as files of requests, for any engine to answer.

    Parameters
    ----------
    models
        Inspect names.
    directory
        A results directory, made if absent.
    shards
        How many files there are for each model, at most.
    size, options
        As of `audit`.

    Returns
    -------
    list of Path
        The files: lines in the batch format of OpenAI's interface. `collect_answers` reads their
        answers.

    Raises
    ------
    InputError, ModelError, PlanError
        As of `shard_plan`.

    Examples
    --------
    >>> shard_audit("vllm/Qwen/Qwen3-8B", "results/qwen", 100, size="paper")  # doctest: +SKIP
    """
    plan = sized_plan(size, as_names("models", models), options or PlanOptions())
    return shard_plan(plan, directory, shards, command=f"cm.shard_audit({models!r}, size={size!r})")


@anywhere(directory=True)
def collect_answers(
    directory: str | Path, files: Sequence[str | Path] = ()
) -> tuple[list[Collected], Answers]:
    """Read the answers to shards, and write the tables, and the shards of what is left.

    Parameters
    ----------
    directory
        A results directory with shards. Answers stand beside them, as
        ``shards/ROUND/MODEL/00000.answers.jsonl``.
    files
        Further files of answers.

    Returns
    -------
    tuple of list of Collected, Answers
        How far each model is, with the files that are to be asked; and what of the answers could
        not be used.

    Raises
    ------
    InputError
        If there are no shards, or a file cannot be read or written.
    PlanError
        If the directory holds no plan, or another process asks there.
    """
    out = Path(directory)
    choices = read_setting(out)["choices"]
    plan = load_any_plan(out)
    with only_process(out):
        return collect_and_tabulate(plan, out, choices, [Path(file) for file in files])


def collect_and_tabulate(
    plan: RequestPlan, out: Path, choices: int | None, files: Sequence[Path] = ()
) -> tuple[list[Collected], Answers]:
    """Do what `collect_answers` does; the caller holds the directory."""
    questions = [plan.questions(model, out, choices) for model in plan.models]
    collected, answers = collect(out, questions, files)
    # Families make tables by commands of their own; without an answer there is none to make.
    if isinstance(plan, Plan) and any(row.answered for row in collected):
        tabulate(out)
    return collected, answers


def load_any_plan(out: Path) -> RequestPlan:
    """Read the plan of a directory, of trials or of a family; PlanError if there is none."""
    return find_plan(out) or load_plan(out)


def find_plan(out: Path) -> RequestPlan | None:
    """Read the plan of a directory, of trials or of a family; None if there is none."""
    if (out / "plan.json").is_file():
        return load_plan(out)
    for family in families().values():
        plan: RequestPlan | None = family.load_plan(out)
        if plan is not None:
            return plan
    return None
