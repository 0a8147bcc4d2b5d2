"""What is asked in a directory of associations, as ``associations.json`` keeps it."""

from __future__ import annotations

import hashlib
import json
import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from tiltmeter import __version__
from tiltmeter.asking.budget import CHARACTERS_PER_TOKEN, TOKENS_PER_PROMPT, Cost, price
from tiltmeter.asking.cue_wording import cue_messages, wording
from tiltmeter.asking.journal import slug
from tiltmeter.errors import InputError, PlanError
from tiltmeter.models.opening import Generation

__all__ = ["AssociationPlan", "claim_associations", "expected_cost"]

#: Of three words with commas.
TOKENS_PER_ANSWER = 9

FILE = "associations.json"
PART = f"{FILE}.part"

#: Always asked in lines to continue: it has no use for the instruction.
CONTINUED = "tiltmeter/"


@dataclass(frozen=True)
class AssociationPlan:
    """Which models are asked which cues, and how often."""

    models: Sequence[str]
    cues: Sequence[str]
    repetitions: int = 100
    continuation: bool = False
    generation: Generation = field(default_factory=lambda: Generation(max_tokens=32))
    seed: int = 0

    def __post_init__(self) -> None:
        """Refuse what cannot be asked."""
        if self.repetitions < 1:
            raise InputError(f"repetitions {self.repetitions}: at least 1")
        if not self.cues:
            raise InputError("cues: none; at least one is needed")
        folders: dict[str, str] = {}
        for model in self.models:
            other = folders.setdefault(slug(model), model)
            if other != model:
                raise InputError(
                    f"models {other!r} and {model!r}: their answers would share the folder "
                    f"{slug(model)}; ask them in directories of their own"
                )

    def continues(self, model: str) -> bool:
        """Whether a model is given lines to continue, not the instruction."""
        return self.continuation or model.startswith(CONTINUED)

    def identity(self) -> dict[str, Any]:
        """Return what must be equal for two runs to ask the same; repetitions may grow."""
        return {
            "models": list(self.models),
            "cues": len(self.cues),
            "cues_hash": _hash("\n".join(self.cues)),
            "continuation": self.continuation,
            "prompt_hash": _hash(wording()),
            "temperature": self.generation.temperature,
            "top_p": self.generation.top_p,
            "max_tokens": self.generation.max_tokens,
            "seed": self.seed,
        }


def _hash(text: str) -> str:
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()[:16]


def claim_associations(directory: Path, plan: AssociationPlan, created: str) -> None:
    """Make `directory` this plan's, or confirm that it already is.

    Parameters
    ----------
    directory
        Made if absent.
    plan
        What is to be asked; more repetitions than are held there extend the plan.
    created
        The time, for the record.

    Raises
    ------
    PlanError
        If the directory holds another plan, more repetitions, or other files.
    InputError
        If it cannot be written.
    """
    path = directory / FILE
    described = {
        **plan.identity(),
        "repetitions": plan.repetitions,
        "tiltmeter": __version__,
        "created": created,
    }
    if path.exists():
        held = _read(path)
        _compare(directory, held, plan)
        if held["repetitions"] == plan.repetitions:
            return
        described["created"] = held.get("created", created)
    elif directory.exists() and (not directory.is_dir() or _foreign(directory)):
        raise PlanError(
            f"{directory}: not empty and no directory of associations; name another with --out"
        )
    try:
        directory.mkdir(parents=True, exist_ok=True)
        text = json.dumps(described, indent=1, ensure_ascii=False)
        (directory / PART).write_text(text, encoding="utf-8")
        (directory / PART).replace(path)
    except OSError as error:
        raise InputError(f"{directory}: {error.strerror}") from None


def _compare(directory: Path, held: dict[str, Any], plan: AssociationPlan) -> None:
    differing = [
        f"{key} is {_short(held.get(key))} there, {_short(value)} here"
        for key, value in plan.identity().items()
        if held.get(key) != value
    ]
    if held["repetitions"] > plan.repetitions:
        differing.append(
            f"repetitions is {held['repetitions']} there, {plan.repetitions} here (more may be "
            "asked, not fewer)"
        )
    if differing:
        raise PlanError(
            f"{directory} holds other associations: {'; '.join(differing)}. "
            "Repeat its command to continue it, or name another directory with --out"
        )


def _read(path: Path) -> dict[str, Any]:
    try:
        held = json.loads(path.read_text(encoding="utf-8"))
    except (ValueError, OSError) as error:
        raise PlanError(f"{path}: not readable as a plan: {error}") from None
    if not isinstance(held, dict) or type(held.get("repetitions")) is not int:
        raise PlanError(f"{path}: not a plan of associations")
    return held


def _foreign(directory: Path) -> bool:
    """Whether there is more than a claim that was broken off leaves behind."""
    return any(path.name != PART for path in directory.iterdir())


def _short(value: Any) -> str:
    text = json.dumps(value, ensure_ascii=False)
    return text if len(text) <= 80 else f"{text[:77]}…"


def expected_cost(
    plan: AssociationPlan, model: str, choices: int, prices: Path | None = None
) -> Cost:
    """Estimate calls, tokens and dollars of all answers of one model.

    Parameters
    ----------
    plan
        What is asked.
    model
        One of the plan's.
    choices
        How many answers a call gives: the prompt is paid once a call.
    prices
        See `budget.price`.

    Returns
    -------
    Cost
    """
    answers = len(plan.cues) * plan.repetitions
    calls = len(plan.cues) * math.ceil(plan.repetitions / choices)
    said = cue_messages("a cue", continuation=plan.continues(model))
    prompt = sum(len(message.text) for message in said) / CHARACTERS_PER_TOKEN
    tokens_in = math.ceil(calls * (prompt + TOKENS_PER_PROMPT))
    tokens_out = answers * TOKENS_PER_ANSWER
    rates = price(model, prices)
    usd = None if rates is None else (tokens_in * rates[0] + tokens_out * rates[1]) / 1e6
    return Cost(model, answers, calls, tokens_in, tokens_out, usd)
