"""Entry point of `inspect`: the tasks, and the providers of embedded and simulated models.

``inspect eval clinometer/relative_decision --model … -T …``. Options of every task: `study`, a name
or the path of a study file; `stereotypes` and `variations`, a list or names separated by commas;
`mode`, ``free``, ``structured`` or ``forced``; `iterations`, trials per stereotype, dimension and
variation; `intervention`, the name of a system prompt; `seed` of the draws. Instruments add
fields of `Design`, such as `order`, ``mirrored`` or ``random``.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import fields
from inspect import Parameter, Signature
from typing import Any

from inspect_ai import Task, task
from inspect_ai.model import GenerateConfig, modelapi
from inspect_ai.scorer import Score, Scorer, Target, mean, scorer, stderr
from inspect_ai.solver import TaskState

from clinometer.asking.trials import ask, trials_task
from clinometer.instruments.catalogue import INSTRUMENTS, select
from clinometer.instruments.design import Design
from clinometer.instruments.instrument import Instrument
from clinometer.models.embedded.provider import EmbeddedModel
from clinometer.simulated.provider import SimulatedModel
from clinometer.stimuli import find_intervention, load_study

__all__ = ["TASKS", "clinometer", "measured", "simulated", "task_of"]


def task_of(instrument: Instrument) -> Callable[..., Task]:
    """Make the inspect task of an instrument, named after it."""
    usual = {one.name: one.default for one in fields(Design)}
    defaults: dict[str, Any] = {
        "study": instrument.study,
        "stereotypes": None,
        "variations": None,
        "mode": usual["mode"],
        "iterations": instrument.iterations,
        **{name: usual[name] for name in instrument.options},
        "intervention": "none",
        "seed": 0,
    }

    def make(**options: Any) -> Task:
        given = {**defaults, **options}
        named = given.pop("study")
        study = load_study(named)
        stereotypes, variations = select(
            study, instrument.name, given.pop("stereotypes"), given.pop("variations")
        )
        intervention, system = find_intervention([study], given.pop("intervention"))
        design = Design(intervention=intervention, system=system, **given)
        return trials_task(
            instrument.trials(study, design, stereotypes=stereotypes, variations=variations),
            ask(),
            scorer=measured(named),
            config=GenerateConfig(temperature=1.0, max_tokens=1024),
            name=instrument.name,
        )

    options = [Parameter(n, Parameter.KEYWORD_ONLY, default=v) for n, v in defaults.items()]
    make.__name__ = make.__qualname__ = instrument.name
    make.__doc__ = f"{instrument.measures[-1].title} ({instrument.measures[-1].reference})."
    make.__signature__ = Signature(options, return_annotation=Task)  # type: ignore[attr-defined]
    return task(make)


@scorer(metrics={"*": [mean(), stderr(cluster="pair_id")]})
def measured(study: str) -> Scorer:
    """Score a sample by its instrument; parts without a number are left out."""
    loaded = load_study(study)

    async def score(state: TaskState, target: Target) -> Score:
        trial = {**state.metadata, "stop_reason": state.output.stop_reason}
        asked = INSTRUMENTS[trial["instrument"]]
        cell = (trial["stereotype"], trial["variation"], trial["dimension"])
        parts = asked.score(state.output.completion, trial, asked.key(loaded, *cell))
        values = {name: one.score for name, one in parts.items() if one.score is not None}
        reasons = {name: one.reason for name, one in parts.items() if one.score is None}
        if not values:
            return Score.unscored(reason=", ".join(map(str, reasons.values())))
        return Score(value=values, metadata={"reasons": reasons})

    return score


#: The inspect task of each instrument.
TASKS = {name: task_of(instrument) for name, instrument in INSTRUMENTS.items()}

clinometer = modelapi(name="clinometer")(EmbeddedModel)
simulated = modelapi(name="simulated")(SimulatedModel)
