"""Ask models for associates, a million times if need be, so that a killed run continues.

Clients, retries, rate limits and provider errors are inspect's; its `Model.generate` is called
directly, as one sample of an evaluation per answer would take hours of its own (see
`benchmarks/association.py`). A call asks for several answers where the provider gives them. One
round asks every cue once more, so a run stopped early knows all cues about equally well.
"""

from __future__ import annotations

import asyncio
import dataclasses
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

from tiltmeter.asking.association_plan import CONTINUED, AssociationPlan, claim_associations
from tiltmeter.asking.association_session import Associated, OnProgress, Session
from tiltmeter.asking.budget import Budget
from tiltmeter.asking.sessions import only_process
from tiltmeter.asking.shards import Shards
from tiltmeter.errors import InputError
from tiltmeter.models.opening import Connection, open_model

if TYPE_CHECKING:
    from inspect_ai.model import Model

__all__ = [
    "CHOICES",
    "Associated",
    "associate",
    "collect_associations",
    "open_associating",
]

#: Answers asked of one call where nobody says otherwise.
CHOICES = 20

#: Arguments of providers. The embedded model works faster on more short answers at a time; a
#: local model without chat is given the text as it is.
EMBEDDED_ARGUMENTS = {"batch_size": 64}
RAW_TEXT = {"chat_template": "{% for m in messages %}{{ m['content'] }}{% endfor %}"}


def open_associating(plan: AssociationPlan, connection: Connection) -> dict[str, Model]:
    """Open the models of a plan.

    Parameters
    ----------
    plan
        Names the models and how answers are sampled.
    connection
        How to reach them.

    Returns
    -------
    dict
        Name → model.

    Raises
    ------
    ModelError
        As of `open_model`.
    """
    models = {}
    for name in plan.models:
        added: dict[str, Any] = {}
        if name.startswith(CONTINUED):
            added = EMBEDDED_ARGUMENTS
        elif plan.continuation and name.startswith("hf/"):
            added = RAW_TEXT
        arguments = {**added, **connection.model_args}
        reached = dataclasses.replace(connection, model_args=arguments)
        models[name] = open_model(name, plan.generation, reached)
    return models


def associate(
    plan: AssociationPlan,
    models: Mapping[str, Model],
    directory: Path,
    budget: Budget,
    *,
    choices: int | None = None,
    on_progress: OnProgress = lambda model, answer: None,
) -> list[Associated]:
    """Ask for every answer that is not there yet.

    Parameters
    ----------
    plan
        What to ask.
    models
        From `open_associating`; they are closed in the end.
    directory
        Where answers are kept, claimed by the plan.
    budget
        Limits in calls and tokens; what is recorded is added to it first. Calls that are under
        way when a limit is reached are finished.
    choices
        Answers to ask of a call; 20 if None. A provider that gives or takes fewer is asked for
        what it gave.
    on_progress
        Called per call with the model and a dictionary: `trials` (answers), `calls`, perhaps
        `error`. First with what was there before.

    Returns
    -------
    list of Associated
        One for each model.

    Raises
    ------
    ModelError
        If a model gives nothing but errors; answers are kept.
    InputError
        If `choices` is below 1, or an answer cannot be written.
    PlanError
        If another process is asking in this directory.
    """
    if choices is not None and choices < 1:
        raise InputError(f"choices {choices}: at least 1")
    with only_process(directory):
        sessions = []
        for name, model in models.items():
            shards = Shards(directory, name)
            tally = shards.tally(plan.cues, plan.repetitions)
            budget.calls += tally.calls
            budget.tokens += tally.tokens
            on_progress(name, {"trials": tally.answered, "calls": 0})
            session = Session(plan, model, shards, tally, budget, on_progress)
            session.most = CHOICES if choices is None else choices
            sessions.append(session)
        _ask(sessions)
    for session in sessions:
        if session.fatal is not None:
            raise session.fatal
    return [session.outcome() for session in sessions]


def collect_associations(
    plan: AssociationPlan, directory: str | Path, *, choices: int | None = None
) -> list[Associated]:
    """Open the models of a plan and ask for every answer that is not there yet.

    Parameters
    ----------
    plan
        What to ask; the same plan again continues.
    directory
        Where answers are kept; made if absent. `read_associations` reads it.
    choices
        As of `associate`.

    Returns
    -------
    list of Associated
        One for each model.

    Raises
    ------
    ModelError, InputError, PlanError
        As of `open_model` and `associate`; a directory that holds another plan is a PlanError.

    Examples
    --------
    >>> plan = AssociationPlan(("tiltmeter/smollm2",), ("sea", "bread"), repetitions=2)
    >>> collect_associations(plan, "answers")  # doctest: +SKIP
    """
    models = open_associating(plan, Connection())
    now = datetime.now(UTC).isoformat(timespec="seconds")
    claim_associations(Path(directory), plan, now)
    return associate(plan, models, Path(directory), Budget(), choices=choices)


def _ask(sessions: Sequence[Session]) -> None:
    """Run the sessions side by side; Ctrl-C stops them all."""

    async def all_at_once() -> None:
        await asyncio.gather(*(session.run() for session in sessions))

    try:
        asyncio.run(all_at_once())
    except KeyboardInterrupt:
        for session in sessions:
            session.stopped_by = "interrupted"
    finally:
        for session in sessions:
            session.shards.close()
