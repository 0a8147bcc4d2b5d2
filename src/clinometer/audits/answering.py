"""Shards answered by models that inspect opens, and the next round."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import groupby
from pathlib import Path

from clinometer.asking.answering import Shard, ShardAnswerer, answer_side_by_side
from clinometer.asking.shards import (
    ANSWERED,
    Answers,
    Collected,
    RequestPlan,
    names_in,
    read_setting,
    shard_files,
)
from clinometer.audits.sharding import collect_and_tabulate, load_any_plan
from clinometer.audits.spending import Spending
from clinometer.errors import InputError, ModelError
from clinometer.models.batched import refuse_unbatched
from clinometer.models.opening import Connection
from clinometer.results.locks import only_process
from clinometer.results.places import anywhere
from clinometer.results.records import slug


@dataclass(frozen=True)
class Answering:
    """How shards are answered."""

    connection: Connection = field(default_factory=Connection)
    """How models are reached."""
    spending: Spending = field(default_factory=Spending)
    """What all shards of the directory may cost."""


@dataclass(frozen=True)
class Answered:
    """How far the shards of a directory are."""

    collected: list[Collected]
    """A row for each model; see `shards.collect`."""
    answers: Answers
    elsewhere: int
    """Shards that another process is answering."""
    failed: tuple[str, ...] = ()
    """Why models were given up; never all of them."""


@anywhere(directory=True)
def answer_shards(
    directory: str | Path,
    answering: Answering,
    on_round: Callable[[int], Callable[[], object]] = lambda requests: lambda: None,
) -> Answered:
    """Ask what is left of a directory, round after round, and write the tables.

    A request that fails is asked again when this is called again.

    Parameters
    ----------
    directory
        A results directory with shards.
    answering
        How models are reached, and what may be spent.
    on_round
        Called with the number of requests of a round; what it returns is called after each
        answer.

    Returns
    -------
    Answered
        How far it is.

    Raises
    ------
    InputError
        If there are no shards, a price is needed and not known, or a file cannot be written.
    ModelError
        If no model can be opened, or all give nothing but errors.
    BudgetError
        If the shards would cost more than they may; nothing is asked then.
    PlanError
        If the directory holds no plan, or another process asks there.
    """
    out = Path(directory).resolve()
    choices = read_setting(out)["choices"]
    plan = load_any_plan(out)
    if answering.connection.batch:
        refuse_unbatched(plan.models)
    # Every request that a round of this call has asked: a failed one is not asked again.
    sent_names: set[str] = set()
    elsewhere = 0
    errors: list[ModelError] = []
    with only_process(out):
        while True:
            collected, answers = collect_and_tabulate(plan, out, choices)
            shards = list(_select_shards(collected, sent_names))
            if not shards:
                return Answered(collected, answers, elsewhere, _name_failed(errors, plan.models))
            _refuse_cost(plan, out, choices, answering)
            on_answer = on_round(sum(len(row.names - sent_names) for row in collected))
            for row in collected:
                sent_names |= row.names
            elsewhere, errors_of_round = _answer(plan, shards, answering, on_answer)
            errors += errors_of_round


def answer_numbered(
    directory: str | Path,
    numbers: Collection[int],
    answering: Answering,
    on_round: Callable[[int], Callable[[], object]] = lambda requests: lambda: None,
) -> tuple[int, tuple[str, ...]]:
    """Ask the shards of some numbers that have no answers, for tasks of an array.

    As `answer_shards`, but nothing is collected, and tasks with other numbers may run at the same
    time. Returns how many of the shards another process is answering, and why models were given up.
    """
    out = Path(directory).resolve()
    setting = read_setting(out)
    choices = setting["choices"]
    for number in numbers:
        if not 0 <= number < setting["shards"]:
            raise InputError(f"shard {number}: {out} has 0 to {setting['shards'] - 1}")
    plan = load_any_plan(out)
    if answering.connection.batch:
        refuse_unbatched(plan.models)
    shards = []
    for model in plan.models:
        for path in shard_files(out, slug(model)):
            # A shard is named by its number; one with a file of answers is answered in full.
            if int(path.stem) in numbers and not path.with_suffix(ANSWERED).exists():
                shards.append(Shard(model, path))
    _refuse_cost(plan, out, choices, answering)
    requests = sum(len(names_in(shard.path)) for shard in shards)
    elsewhere, errors = _answer(plan, shards, answering, on_round(requests))
    return elsewhere, _name_failed(errors, {shard.model for shard in shards})


def _name_failed(errors: Sequence[ModelError], models: Collection[str]) -> tuple[str, ...]:
    """Return why models were given up; raises the first error if that is all of them."""
    if errors and len(errors) >= len(models):
        raise errors[0]
    return tuple(map(str, errors))


def _select_shards(collected: Sequence[Collected], sent_names: set[str]) -> Iterator[Shard]:
    """Yield the shards that are to be asked; no request is in two."""
    used_names = set(sent_names)
    for row in collected:
        for path in row.files:
            shard_names = names_in(path)
            names = (shard_names & row.names) - used_names
            used_names |= names
            if names:
                # None stands for all of the shard: no names are sent to the engine.
                yield Shard(row.model, path, None if names == shard_names else names)


def _answer(
    plan: RequestPlan,
    shards: Sequence[Shard],
    answering: Answering,
    on_answer: Callable[[], object],
) -> tuple[int, list[ModelError]]:
    """Answer shards, those of several models at a time; see `answer_side_by_side`."""
    work = []
    # Shards of a model stand together, as they were collected: no sort is needed.
    for model, shards_of_model in groupby(shards, key=lambda shard: shard.model):
        connection = plan.connection_of(model, answering.connection)
        work.append((ShardAnswerer(model, connection, on_answer), list(shards_of_model)))
    return answer_side_by_side(work)


def _refuse_cost(plan: RequestPlan, out: Path, choices: int | None, answering: Answering) -> None:
    """Raise BudgetError if all shards would cost more than they may."""
    if answering.spending.max_cost is None:
        return
    usd = 0.0
    for model in plan.models:
        tokens = plan.tokens_of_answer(model, choices)
        for path in shard_files(out, slug(model)):
            with path.open("rb") as lines:
                cost = answering.spending.estimate(model, lines, tokens)
            usd += cost.limited(batch=answering.connection.batch)
    answering.spending.refuse(
        usd, f"the shards would cost about ${usd:.2f}; nothing more was asked"
    )
