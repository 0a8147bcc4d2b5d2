"""The instruments as inspect tasks: ``inspect eval tiltmeter/relative_decision --model … -T …``.

Every task takes the same options: `study`, a name or the path of a study file; `stereotypes`
and `variations`, names as a list or separated by commas; `mode`, ``free``, ``structured`` or
``forced``; `iterations`, trials per stereotype, dimension and variation; `order`, ``mirrored`` or
``random``; `intervention`, the name of a system prompt; `seed`, of the draws.
"""

from __future__ import annotations

from typing import Any

from inspect_ai import Task, task
from inspect_ai.model import GenerateConfig
from inspect_ai.scorer import Score, Scorer, Target, mean, scorer, stderr
from inspect_ai.solver import TaskState

from tiltmeter.asking.trials import ask, trials_task
from tiltmeter.instruments.catalogue import INSTRUMENTS
from tiltmeter.instruments.design import Design
from tiltmeter.instruments.selection import find_intervention, select
from tiltmeter.stimuli import load_study

__all__ = [
    "absolute_decision",
    "affective_attribution",
    "chained_task",
    "measured",
    "relative_decision",
    "word_association",
]

Names = str | list[str] | None


def _task(
    instrument: str,
    study: str,
    stereotypes: Names,
    variations: Names,
    intervention: str,
    **design: Any,
) -> Task:
    loaded = load_study(study)
    chosen = select(loaded, instrument, stereotypes, variations)
    name, system = find_intervention([loaded], intervention)
    return trials_task(
        INSTRUMENTS[instrument].trials(
            loaded,
            Design(intervention=name, system=system, **design),
            stereotypes=chosen[0],
            variations=chosen[1],
        ),
        ask(),
        scorer=measured(study),
        config=GenerateConfig(temperature=1.0, max_tokens=1024),
        name=instrument,
    )


@task
def word_association(  # noqa: PLR0913 - each is a -T option
    study: str = "bai2025",
    stereotypes: Names = None,
    variations: Names = None,
    mode: str = "free",
    iterations: int = 10,
    order: str = "mirrored",
    word_list: str = "plain",
    options: str = "words",
    intervention: str = "none",
    seed: int = 0,
) -> Task:
    """LLM Word Association Test (Bai et al. 2025)."""
    design = {
        "mode": mode,
        "iterations": iterations,
        "order": order,
        "word_list": word_list,
        "options": options,
        "seed": seed,
    }
    return _task("word_association", study, stereotypes, variations, intervention, **design)


@task
def affective_attribution(  # noqa: PLR0913 - each is a -T option
    study: str = "mist2025",
    stereotypes: Names = None,
    variations: Names = None,
    mode: str = "free",
    iterations: int = 10,
    order: str = "mirrored",
    intervention: str = "none",
    seed: int = 0,
) -> Task:
    """Affective Attribution Test (Li et al. 2025)."""
    design = {"mode": mode, "iterations": iterations, "order": order, "seed": seed}
    return _task("affective_attribution", study, stereotypes, variations, intervention, **design)


@task
def relative_decision(  # noqa: PLR0913 - each is a -T option
    study: str = "bai2025",
    stereotypes: Names = None,
    variations: Names = None,
    mode: str = "free",
    iterations: int = 8,
    order: str = "mirrored",
    intervention: str = "none",
    seed: int = 0,
) -> Task:
    """LLM Relative Decision Test (Bai et al. 2025)."""
    design = {"mode": mode, "iterations": iterations, "order": order, "seed": seed}
    return _task("relative_decision", study, stereotypes, variations, intervention, **design)


@task
def absolute_decision(  # noqa: PLR0913 - each is a -T option
    study: str = "bai2025",
    stereotypes: Names = None,
    variations: Names = None,
    mode: str = "free",
    iterations: int = 8,
    intervention: str = "none",
    seed: int = 0,
) -> Task:
    """Absolute decisions (Bai et al. 2025, SI section L)."""
    design = {"mode": mode, "iterations": iterations, "seed": seed}
    return _task("absolute_decision", study, stereotypes, variations, intervention, **design)


@task
def chained_task(  # noqa: PLR0913 - each is a -T option
    study: str = "bai2025",
    stereotypes: Names = None,
    variations: Names = None,
    mode: str = "free",
    iterations: int = 8,
    order: str = "mirrored",
    intervention: str = "none",
    seed: int = 0,
) -> Task:
    """Association, profiles and decision in one prompt (Bai et al. 2025, SI section K)."""
    design = {"mode": mode, "iterations": iterations, "order": order, "seed": seed}
    return _task("chained_task", study, stereotypes, variations, intervention, **design)


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
