"""What a model can do, before it is audited: one call in each mode."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from clinometer.asking.budget import Cost, estimate_costs
from clinometer.audits.sizes import PlanOptions, sized_plan
from clinometer.contracts.catalogue import INSTRUMENTS
from clinometer.contracts.design import Design
from clinometer.errors import ClinometerError, NoAnswerError
from clinometer.models.hints import hint
from clinometer.models.opening import Connection, Generation, open_model
from clinometer.models.reaching import Unreachable
from clinometer.modes import LOGITS, MODES
from clinometer.modes.first_tokens import UNANSWERED, read_first_tokens
from clinometer.stimuli import Study, load_study

#: What is asked: one trial of the power stereotype; in a mode of single words, one of its words.
STUDY = "bai2025"
INSTRUMENT = "word_association"
STEREOTYPE = "power"
WORDING = "replication"


@dataclass(frozen=True)
class Check:
    """One call in one mode."""

    mode: str
    works: bool
    message: str
    """How the answer was read, or why there is none."""
    seconds: float = 0.0
    served: str | None = None
    """The name under which the answer came."""
    tokens: tuple[int, int] | None = None
    """Tokens in and out, if the server states them."""
    reason: str | None = None
    """Why nothing was read of log-probabilities that came, one of `results.REASONS`."""


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
        return next((check.mode for check in self.checks if check.works), None)


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
    NoAnswerError
        If nobody answers at its address.
    """
    connection = connection or Connection()
    generation = Generation()
    checks = tuple(asyncio.run(_check_modes(model, generation, connection)))
    mode = next((check.mode for check in checks if check.works), None)
    if mode is None:
        messages = " ".join(check.message for check in checks)
        return Checked(model, checks, None, "", hint(model, messages))
    plan = sized_plan("quick", [model], PlanOptions(modes=[mode]))
    (cost,) = estimate_costs(plan.pieces(), [model], prices)
    return Checked(model, checks, cost, f"clinometer audit {model} --mode {mode}{options}", "")


def check_mode(model: str, mode: str, connection: Connection) -> Check:
    """Make one call in a mode; raises ModelError if the model cannot be opened."""

    async def check() -> Check:
        """Open the model, ask, and close it."""
        opened = open_model(model, Generation(), connection)
        async with opened:
            return await _check(mode, opened)

    return asyncio.run(check())


async def _check_modes(model: str, generation: Generation, connection: Connection) -> list[Check]:
    opened = open_model(model, generation, connection)
    async with opened:
        # One after another, so that the seconds of each are its own.
        return [await _check(mode, opened) for mode in MODES]


async def _check(mode: str, opened: Any) -> Check:
    """Ask one trial in a mode."""
    from clinometer.asking.trials import ask_trial, describe_error

    study = load_study(STUDY)
    instrument = INSTRUMENTS[INSTRUMENT]
    trial, wording = _draw_trial(study, mode)
    start = time.monotonic()
    try:
        answer, outputs = await ask_trial(trial, opened)
    except Unreachable as error:  # of every mode
        raise NoAnswerError(f"{opened}: {error}") from None
    except Exception as error:  # a provider's
        message = str(error) if isinstance(error, ClinometerError) else describe_error(error)
        return Check(mode, False, message, time.monotonic() - start)
    seconds = time.monotonic() - start
    usage = outputs[-1].usage
    tokens = None if usage is None else (usage.input_tokens, usage.output_tokens)
    key = instrument.key(study, STEREOTYPE, wording)
    (score,) = instrument.score(answer["response"], {**trial, **answer}, key).values()
    message = f"{len(score.shares)} of {len(trial['attributes'])} words read"
    # Of a single word there is no score, which says nothing of the mode.
    if score.reason is not None and not MODES[mode].per_attribute:
        message += f" ({score.reason})"
    is_unread = MODES[mode].kind == LOGITS and score.reason in UNANSWERED
    if score.option_mass is not None:
        options = _say_options(score.option_mass, answer)
        message = options if is_unread else f"{message}; {options}"
    reason = score.reason if is_unread else None
    return Check(mode, not is_unread, message, seconds, outputs[-1].model, tokens, reason)


def _say_options(mass: float, answer: Mapping[str, Any]) -> str:
    """Say how likely the options are, and which other first token is likeliest."""
    text = f"the options have a probability of {mass:.2g}"
    for tokens in read_first_tokens(answer["first_tokens"]).values():  # of the one word
        for token, probability in tokens.alternatives[:1]:
            text += f", the first token {token!r} has {probability:.4g}"
    return text


def _draw_trial(study: Study, mode: str) -> tuple[dict[str, Any], str]:
    """Return a trial in a mode, and its wording."""
    instrument = INSTRUMENTS[INSTRUMENT]
    # Not every mode has the usual wording: the first that it has.
    wordings = [WORDING, *instrument.variations(study)]
    wording = instrument.variations_in(mode, study, wordings)[0]
    design = Design(iterations=2, mode=mode)
    trials = instrument.trials(study, design, stereotypes=[STEREOTYPE], variations=[wording])
    trial = trials.row(0, named=True)
    if MODES[mode].per_attribute:  # a call for each word: one is enough
        trial["attributes"] = trial["attributes"][:1]
    return trial, wording
