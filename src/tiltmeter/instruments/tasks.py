"""The instruments as inspect tasks: ``inspect eval tiltmeter/word_association --model … -T …``."""

from __future__ import annotations

from inspect_ai import Task, task
from inspect_ai.model import GenerateConfig
from inspect_ai.scorer import Score, Scorer, Target, mean, scorer, stderr
from inspect_ai.solver import TaskState

from tiltmeter.elicitation.task import ask, trials_task
from tiltmeter.instruments import word_association as wat
from tiltmeter.instruments.design import Design
from tiltmeter.instruments.selection import select
from tiltmeter.stimuli import load_study

__all__ = ["equation1", "word_association"]


@task
def word_association(  # noqa: PLR0913 - each is a -T option
    study: str = "bai2025",
    stereotypes: str | list[str] | None = None,
    variations: str | list[str] | None = None,
    mode: str = "free",
    iterations: int = 10,
    order: str = "mirrored",
    word_list: str = "plain",
    options: str = "words",
    seed: int = 0,
) -> Task:
    """LLM Word Association Test (Bai et al. 2025).

    Parameters
    ----------
    study
        A shipped study's name or the path of a study file.
    stereotypes, variations
        Names, as a list or separated by commas; None for all, and for the study's defaults.
    mode
        ``free``, ``structured`` or ``forced``.
    iterations
        Trials per stereotype and variation.
    order
        ``mirrored`` or ``random``.
    word_list
        ``plain`` or ``as_released``.
    options
        ``words`` or ``labels``, in ``forced`` mode.
    seed
        Of the draws.

    Returns
    -------
    inspect_ai.Task
        One sample per trial.
    """
    loaded = load_study(study)
    chosen = select(loaded, wat.MEASURE.instrument, stereotypes, variations)
    design = Design(mode, iterations, order, word_list, options, seed)
    return trials_task(
        wat.trials(loaded, design, stereotypes=chosen[0], variations=chosen[1]),
        ask(),
        scorer=equation1(study),
        config=GenerateConfig(temperature=1.0, max_tokens=1024),
        name="word_association",
    )


@scorer(metrics=[mean(), stderr(cluster="pair_id")])
def equation1(study: str) -> Scorer:
    """Score a sample with equation 1; a response without a score is unscored, with its reason."""
    loaded = load_study(study)

    async def score(state: TaskState, target: Target) -> Score:
        trial = {**state.metadata, "stop_reason": state.output.stop_reason}
        words = loaded.stereotypes[trial["stereotype"]].words(trial["variation"])
        scored = wat.score(state.output.completion, trial, words)
        if scored.score is None:
            return Score.unscored(reason=scored.reason)
        return Score(value=scored.score, metadata={"coverage": scored.coverage})

    return score
