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
from clinometer.contracts.catalogue import INSTRUMENTS, select
from clinometer.contracts.design import Design
from clinometer.contracts.instrument import Instrument
from clinometer.models.embedded.provider import EmbeddedModel
from clinometer.simulated.provider import SimulatedModel
from clinometer.stimuli import find_intervention, load_study

__all__ = ["TASKS", "clinometer", "measured", "simulated", "task_of"]


def task_of(instrument: Instrument) -> Callable[..., Task]:
    """Make the inspect task of an instrument, named after it."""
    usual = {field.name: field.default for field in fields(Design)}
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

    def make(**arguments: Any) -> Task:
        """Make the task; the docstring that inspect shows is set below."""
        settings = {**defaults, **arguments}
        study_name = settings.pop("study")
        study = load_study(study_name)
        stereotypes, variations = select(
            study, instrument.name, settings.pop("stereotypes"), settings.pop("variations")
        )
        intervention, system = find_intervention([study], settings.pop("intervention"))
        design = Design(intervention=intervention, system=system, **settings)
        return trials_task(
            instrument.trials(study, design, stereotypes=stereotypes, variations=variations),
            ask(),
            scorer=measured(study_name),
            config=GenerateConfig(temperature=1.0, max_tokens=1024),
            name=instrument.name,
        )

    # inspect reads name, docstring and options of a task off its function.
    options = [
        Parameter(name, Parameter.KEYWORD_ONLY, default=default)
        for name, default in defaults.items()
    ]
    make.__name__ = make.__qualname__ = instrument.name
    make.__doc__ = f"{instrument.measures[-1].title} ({instrument.measures[-1].reference})."
    make.__signature__ = Signature(options, return_annotation=Task)  # type: ignore[attr-defined]
    return task(make)


@scorer(metrics={"*": [mean(), stderr(cluster="pair_id")]})
def measured(study: str) -> Scorer:
    """Score a sample by its instrument; parts without a number are left out."""
    loaded = load_study(study)

    async def score(state: TaskState, target: Target) -> Score:
        """Score the answer to a trial."""
        trial = {**state.metadata, "stop_reason": state.output.stop_reason}
        instrument = INSTRUMENTS[trial["instrument"]]
        key = instrument.key(loaded, trial["stereotype"], trial["variation"], trial["dimension"])
        parts = instrument.score(state.output.completion, trial, key)
        values = {name: part.score for name, part in parts.items() if part.score is not None}
        reasons = {name: part.reason for name, part in parts.items() if part.score is None}
        if not values:
            return Score.unscored(reason=", ".join(map(str, reasons.values())))
        return Score(value=values, metadata={"reasons": reasons})

    return score


#: The inspect task of each instrument.
TASKS = {name: task_of(instrument) for name, instrument in INSTRUMENTS.items()}

clinometer = modelapi(name="clinometer")(EmbeddedModel)
simulated = modelapi(name="simulated")(SimulatedModel)
