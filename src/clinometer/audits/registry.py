"""Entry point of `inspect`: the tasks, and the providers of embedded and simulated models.

``inspect eval clinometer/relative_decision --model … -T …``. Options of every task: `study`, a name
or the path of a study file; `stereotypes` and `variations`, a list or names separated by commas;
`mode`, ``free``, ``structured`` or ``forced``; `iterations`, trials per stereotype, dimension and
variation; `intervention`, the name of a system prompt; `seed` of the draws. Instruments add
fields of `Design`, such as `order`, ``mirrored`` or ``random``.

Stereotypes take turns, so that the first samples (``--limit``) are of all. What inspect shows of a
measure is the mean that `estimate` gives, where each stereotype counts once, with its intervals.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import fields
from inspect import Parameter, Signature
from typing import Any

import polars as pl
from inspect_ai import Task, task
from inspect_ai.model import GenerateConfig, modelapi
from inspect_ai.scorer import Metric, SampleScore, Score, Scorer, Target, Value, metric, scorer
from inspect_ai.solver import TaskState

from clinometer.asking.trials import ask, trials_task
from clinometer.audits.means import mean_of_rows, take_turns
from clinometer.contracts.catalogue import INSTRUMENTS, MEASURES, select
from clinometer.contracts.design import Design
from clinometer.contracts.instrument import Instrument
from clinometer.models.app_provider import AppModel
from clinometer.models.embedded.provider import EmbeddedModel
from clinometer.results import RESPONSES
from clinometer.scoring import score as score_responses
from clinometer.simulated.provider import SimulatedModel
from clinometer.stimuli import find_intervention, load_study


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
        trials = instrument.trials(study, design, stereotypes=stereotypes, variations=variations)
        return trials_task(
            take_turns(trials),
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


@metric(scores="unreduced")
def estimated(measure: str) -> Metric:
    """Estimate the mean of a measure, as `clinometer estimate` does.

    `mean` is that over all stereotypes, `neutral` its neutral value. `stderr` and the interval from
    `ci_low` to `ci_high` (95%) are for other prompts; for these prompts it is from
    `prompts_ci_low` to `prompts_ci_high`. They are NaN where too little was scored.
    """

    def estimate(scores: list[SampleScore]) -> Value:
        """Estimate from the rows that stand in the metadata of scores."""
        rows = [
            sample.score.metadata["rows"][measure] for sample in scores if sample.score.metadata
        ]
        return mean_of_rows(rows)

    return estimate


@scorer(metrics={name: [estimated(name)] for name in MEASURES})
def measured(study: str) -> Scorer:
    """Score a sample as `clinometer score` does; a measure without a number is not scored."""
    loaded = load_study(study)

    async def score(state: TaskState, target: Target) -> Score:
        """Score the answer to a trial."""
        trial = {name: state.metadata.get(name) for name in RESPONSES}
        answer = {
            "model": str(state.model),
            "response": state.output.completion,
            "stop_reason": state.output.stop_reason,
            "reasoning_tokens": state.output.usage and state.output.usage.reasoning_tokens,
        }
        response = pl.DataFrame([trial | answer], schema=RESPONSES)
        scores, _ = score_responses(response, loaded)
        rows = {row["instrument"]: row for row in scores.iter_rows(named=True)}
        values = {name: _number(row["score"]) for name, row in rows.items()}
        reasons = [row["reason"] for row in rows.values() if row["reason"]]
        known = {
            name: {column: value for column, value in row.items() if value is not None}
            for name, row in rows.items()
        }
        return Score(value=values, reason=", ".join(reasons) or None, metadata={"rows": known})

    return score


def _number(value: float | None) -> float:
    """Return a value, or what inspect takes for none."""
    return math.nan if value is None else value


#: The inspect task of each instrument.
TASKS = {name: task_of(instrument) for name, instrument in INSTRUMENTS.items()}

clinometer = modelapi(name="clinometer")(EmbeddedModel)
simulated = modelapi(name="simulated")(SimulatedModel)
app = modelapi(name="app")(AppModel)
