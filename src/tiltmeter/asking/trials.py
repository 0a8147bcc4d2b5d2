"""Trials as an inspect task: one sample per trial, one solver for the three response modes.

The model client, its retries, rate limits and logs are inspect's. The solver only decides what
a response mode asks for, and hands every answer to `on_answer` as soon as it is there.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

import polars as pl
from inspect_ai import Task
from inspect_ai.dataset import MemoryDataset, Sample
from inspect_ai.model import (
    ChatMessage,
    ChatMessageAssistant,
    ChatMessageSystem,
    ChatMessageUser,
    GenerateConfig,
    Model,
    ModelOutput,
    ResponseSchema,
    get_model,
)
from inspect_ai.solver import Generate, Solver, TaskState, solver
from inspect_ai.util import JSONSchema, collect

from tiltmeter.errors import ModelError
from tiltmeter.models.providers import find_provider
from tiltmeter.reading.options import option_logprobs

__all__ = ["Answer", "ask", "describe_error", "encodable", "samples", "trials_task"]

#: Trial and answer, as they enter the responses.
Answer = dict[str, Any]


def samples(trials: pl.DataFrame) -> list[Sample]:
    """Turn trials into inspect samples: the id is the trial's, the trial stands in the metadata."""
    return [
        Sample(id=row["trial_id"], input=_opening_messages(row), metadata=row)
        for row in trials.iter_rows(named=True)
    ]


def _opening_messages(trial: Mapping[str, Any]) -> list[ChatMessage]:
    system = trial.get("system")
    instructed: list[ChatMessage] = [ChatMessageSystem(content=system)] if system else []
    return [*instructed, ChatMessageUser(content=trial["prompt"])]


def trials_task(
    trials: pl.DataFrame, solver: Solver, *, model: Model | None = None, **task: Any
) -> Task:
    """Make the inspect task that asks `trials`.

    Parameters
    ----------
    trials
        Columns of `frames.TRIALS`.
    solver
        Usually `ask()`.
    model
        The model to ask; None for inspect's own choice.
    **task
        Further arguments of `inspect_ai.Task`.

    Returns
    -------
    inspect_ai.Task
    """
    return Task(dataset=MemoryDataset(samples(trials)), solver=solver, model=model, **task)


@solver
def ask(
    on_answer: Callable[[Answer], None] | None = None,
    may_call: Callable[[int], bool] | None = None,
) -> Solver:
    """Ask one trial in its response mode.

    Parameters
    ----------
    on_answer
        Called with the trial's id and calls, and the response, its stop reason and tokens, or
        the error that came instead.
    may_call
        Called with the number of calls a trial needs; where it says no the trial is left
        unasked, so that a budget ends a run without an error.

    Returns
    -------
    Solver
        It raises what the provider raises once its retries are used up, and `ModelError` where
        `forced` mode gets no log-probabilities.
    """

    async def solve(state: TaskState, generate: Generate) -> TaskState:
        trial = state.metadata
        forced = trial["mode"] == "forced"
        calls = (len(trial["attributes"]) if forced else 1) + bool(trial["followup"])
        if may_call is not None and not may_call(calls):
            state.metadata["unasked"] = True
            return state
        identity = {"trial_id": trial["trial_id"], "calls": calls}
        try:
            answer = await (_forced(state, trial) if forced else _text(state, trial))
        except Exception as error:  # a provider's, after its retries
            if on_answer is not None:
                on_answer({**identity, "error": describe_error(error)})
            raise
        if on_answer is not None:
            on_answer({**identity, **answer})
        return state

    return solve


def describe_error(error: BaseException) -> str:
    """Name an error in one line; of a retry that gave up, the last attempt's."""
    attempt = getattr(error, "last_attempt", None)
    if attempt is not None and (cause := attempt.exception()) is not None:
        return describe_error(cause)
    return f"{type(error).__name__}: {' '.join(str(error).split())}".removesuffix(": ")


async def _text(state: TaskState, trial: Mapping[str, Any]) -> Answer:
    model = get_model()
    seeded = GenerateConfig(seed=_seed(trial, model))
    outputs, messages = await _before(state, trial, model, seeded)
    config = seeded.merge(GenerateConfig(response_schema=_schema(trial)))
    output = await model.generate(messages, config=config)
    state.output = output
    state.messages.append(output.message)
    return {
        "response": encodable(output.completion),
        "profile": state.metadata.get("profile"),
        "stop_reason": output.stop_reason,
        **_usage([*outputs, output]),
    }


async def _before(
    state: TaskState, trial: Mapping[str, Any], model: Model, config: GenerateConfig
) -> tuple[list[ModelOutput], list[ChatMessage]]:
    """Ask the first prompt of two, if there are two; return its output and what to ask then.

    A second prompt that quotes the first answer, at {response1}, stands alone; another goes on
    with the conversation.
    """
    if not trial["followup"]:
        return [], list(state.messages)
    first = await model.generate(list(state.messages), config=config)
    profile = encodable(first.completion)
    state.metadata["profile"] = profile
    second = ChatMessageUser(content=trial["followup"].replace("{response1}", profile))
    state.messages += [first.message, second]
    if "{response1}" not in trial["followup"]:
        return [first], list(state.messages)
    return [first], [*(m for m in state.messages if isinstance(m, ChatMessageSystem)), second]


def _seed(trial: Mapping[str, Any], model: Model) -> int | None:
    return trial["seed"] if find_provider(str(model)).seeded else None


def encodable(text: str) -> str:
    """Replace what UTF-8 has no bytes for: a model's JSON may hold half a character."""
    return text.encode("utf-8", "replace").decode("utf-8")


def _schema(trial: Mapping[str, Any]) -> ResponseSchema | None:
    """Return the schema a structured answer is held to."""
    if trial["schema"] is None:
        return None
    schema = JSONSchema.model_validate(json.loads(trial["schema"]))
    return ResponseSchema(name=trial["instrument"], json_schema=schema, strict=True)


async def _forced(state: TaskState, trial: Mapping[str, Any]) -> Answer:
    """Ask attribute by attribute and record the log-probabilities of the two options."""
    model = get_model()
    options = trial["options"]
    provider = find_provider(str(model))
    exact = provider.exact
    seeded = GenerateConfig(seed=_seed(trial, model))
    choice = {"structured_outputs": {"choice": _after_space(options)}}
    config = seeded.merge(
        GenerateConfig(
            logprobs=True,
            top_logprobs=provider.top_logprobs or None,
            max_tokens=None if exact else 1,
            extra_body=choice if exact else None,
        )
    )
    described, conversation = await _before(state, trial, model, seeded)

    async def one(word: str) -> ModelOutput:
        asked = {**trial, "prompt": trial["prompt"].replace("{attribute}", word)}
        messages = list(conversation) if described else _opening_messages(asked)
        if provider.opened and trial["opening"]:
            opening = trial["opening"].replace("{attribute}", word)
            messages.append(ChatMessageAssistant(content=opening))
        return await model.generate(messages, config=config)

    # The first by itself: a model without log-probabilities costs one call a trial, not all. The
    # embedded model gives them, and computes what prompts asked together have in common once.
    words = trial["attributes"]
    outputs = [] if exact else [await one(words[0])]
    for output in outputs:
        _first_tokens(output)
    outputs += await collect(*(one(word) for word in words[len(outputs) :]))
    tokens = [_first_tokens(output) for output in outputs]
    read = _whole_options if exact else option_logprobs
    recorded = {word: read(listed, options) for word, listed in zip(words, tokens, strict=True)}
    response = json.dumps(recorded, ensure_ascii=False)
    state.output = ModelOutput.from_content(model=str(model), content=response)
    state.messages.append(state.output.message)
    answer = {"response": response, "profile": state.metadata.get("profile")}
    return {**answer, "stop_reason": "stop", **_usage([*described, *outputs])}


def _after_space(options: Sequence[str]) -> list[str]:
    return [f" {option}" for option in options]


def _whole_options(
    listed: Iterable[tuple[str, float]], options: Sequence[str]
) -> list[float | None]:
    """Log-probabilities of options listed whole, which may begin one another: cat and cats."""
    logprobs = dict(listed)
    return [logprobs.get(option) for option in _after_space(options)]


def _first_tokens(output: ModelOutput) -> list[tuple[str, float]]:
    """Most likely tokens, or options, of the first generated position."""
    logprobs = output.choices[0].logprobs if output.choices else None
    if logprobs is None or not logprobs.content:
        raise ModelError(
            f"{get_model()} gives no log-probabilities, which mode 'forced' needs; "
            "use --mode structured or --mode free"
        )
    first = logprobs.content[0]
    listed = [(token.token, token.logprob) for token in first.top_logprobs or []]
    return listed or [(first.token, first.logprob)]


def _usage(outputs: Iterable[ModelOutput]) -> Answer:
    usages = [output.usage for output in outputs if output.usage is not None]
    return {
        "input_tokens": sum(usage.input_tokens for usage in usages) if usages else None,
        "output_tokens": sum(usage.output_tokens for usage in usages) if usages else None,
    }
