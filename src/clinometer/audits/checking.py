"""What a model can do, before it is audited: one call in each mode."""

from __future__ import annotations

import asyncio
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from clinometer.asking.budget import Cost, estimate_costs
from clinometer.audits.sizes import PlanOptions, sized_plan
from clinometer.errors import ClinometerError
from clinometer.instruments.catalogue import INSTRUMENTS
from clinometer.instruments.design import Design
from clinometer.models.hints import hint
from clinometer.models.opening import Connection, Generation, open_model
from clinometer.modes import MODES
from clinometer.stimuli import load_study

__all__ = ["Check", "Checked", "check_model"]

#: What is asked: one trial of the power stereotype; in a mode of single words, one of its words.
STUDY, INSTRUMENT, STEREOTYPE, WORDING = "bai2025", "word_association", "power", "replication"


@dataclass(frozen=True)
class Check:
    """One call in one mode."""

    mode: str
    works: bool
    said: str
    """How the answer was read, or why there is none."""
    seconds: float = 0.0
    served: str | None = None
    """The name under which the answer came."""
    tokens: tuple[int, int] | None = None
    """Tokens in and out, if the server states them."""


@dataclass(frozen=True)
class Checked:
    """What a model can do, and what asking it costs."""

    model: str
    checks: tuple[Check, ...]
    cost: Cost | None
    """Of a quick audit in the first mode that works; None if none does."""
    command: str
    """The command that makes it."""
    hint: str
    """What to change where nothing works."""

    @property
    def mode(self) -> str | None:
        """The first mode that works."""
        return next((one.mode for one in self.checks if one.works), None)


def check_model(
    model: str, connection: Connection | None = None, prices: Path | None = None, options: str = ""
) -> Checked:
    """Make one call in each mode, and say what works and what a quick audit would take.

    Parameters
    ----------
    model
        Inspect name.
    connection
        How it is reached; a call is not tried again.
    prices
        See `asking.budget.price`.
    options
        Options of the command line that reach the model, for the command that is proposed.

    Raises
    ------
    ModelError
        If the model cannot be opened.
    """
    connection = connection or Connection()
    generation = Generation()
    checks = tuple(asyncio.run(_every(model, generation, connection)))
    worked = next((one.mode for one in checks if one.works), None)
    if worked is None:
        said = " ".join(one.said for one in checks)
        return Checked(model, checks, None, "", hint(model, said))
    plan = sized_plan("quick", [model], PlanOptions(modes=[worked]))
    (cost,) = estimate_costs(plan.pieces(), [model], prices)
    return Checked(model, checks, cost, f"clinometer audit {model} --mode {worked}{options}", "")


async def _every(model: str, generation: Generation, connection: Connection) -> list[Check]:
    opened = open_model(model, generation, connection)
    async with opened:
        return [await _check(mode, opened, model) for mode in MODES]


async def _check(mode: str, opened: Any, model: str) -> Check:
    """Ask one trial in a mode."""
    from clinometer.asking.trials import ask_trial, describe_error

    study, asked, how = load_study(STUDY), INSTRUMENTS[INSTRUMENT], MODES[mode]
    design = Design(iterations=2, mode=mode)
    wordings = [WORDING, *asked.variations(study)]
    wording = asked.asked_in(mode, study, wordings)[0]
    trials = asked.trials(study, design, stereotypes=[STEREOTYPE], variations=[wording])
    trial = trials.row(0, named=True)
    if how.per_attribute:
        trial["attributes"] = trial["attributes"][:1]
    begun = time.monotonic()
    try:
        answer, outputs = await ask_trial(trial, opened)
    except Exception as error:  # a provider's
        said = str(error) if isinstance(error, ClinometerError) else describe_error(error)
        return Check(mode, False, said, time.monotonic() - begun)
    seconds, usage = time.monotonic() - begun, outputs[-1].usage
    tokens = None if usage is None else (usage.input_tokens, usage.output_tokens)
    key = asked.key(study, STEREOTYPE, wording)
    (scored,) = asked.score(answer["response"], {**trial, **answer}, key).values()
    said = f"{len(scored.shares)} of {len(trial['attributes'])} words read"
    if scored.reason is not None and not how.per_attribute:
        said += f" ({scored.reason})"
    return Check(mode, True, said, seconds, outputs[-1].model, tokens)
