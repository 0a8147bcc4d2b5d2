"""What a response mode is, and what the modes share: how a trial's question reaches a model.

`inspect_ai` is imported when a model is asked: the command line lists the modes without it.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from tiltmeter.models.providers import find_provider

if TYPE_CHECKING:
    from inspect_ai.model import ChatMessage, GenerateConfig, Model, ModelOutput
    from inspect_ai.solver import TaskState

__all__ = [
    "CHOICES",
    "LOGITS",
    "TEXT",
    "Answer",
    "Mode",
    "ask_text",
    "begin",
    "encodable",
    "opening_messages",
    "recorded",
    "seeded",
]

#: The kinds of answer: free text, an object of closed choices, log-probabilities of two options.
TEXT, CHOICES, LOGITS = "text", "choices", "logits"

#: A response with its stop reason and tokens, as it enters the responses.
Answer = dict[str, Any]


@dataclass(frozen=True, eq=False)
class Mode:
    """One way to put a trial to a model."""

    name: str
    title: str
    """What the model is asked, in a few words."""
    kind: str
    """Of the answer: `TEXT`, `CHOICES` or `LOGITS`; an instrument has a reader for each kind."""
    ask: Callable[[TaskState, Mapping[str, Any]], Awaitable[Answer]]
    """Inspect's state, trial → answer. Raises what the provider raises."""
    close: Callable[
        [Mapping[str, Sequence[str]], Sequence[str] | None, str | None], dict[str, Any]
    ] = lambda *_: {}
    """Choices by name, the two options, the opening → columns `schema`, `options`, `opening`."""
    needs: tuple[str, ...] = ()
    """What the provider must be able to do: ``logprobs``."""
    apart: bool = False
    """Whether each attribute is a call of its own."""
    sampled: bool = True
    """Whether the same question asked again may have another answer."""
    place: int = 100
    """In lists; the lowest comes first."""

    @property
    def closed(self) -> bool:
        """Whether the answer is one of a few that are offered."""
        return self.kind != TEXT

    def calls(self, trial: Mapping[str, Any]) -> int:
        """Count the calls of a trial."""
        return (len(trial["attributes"]) if self.apart else 1) + bool(trial["followup"])


def opening_messages(trial: Mapping[str, Any]) -> list[ChatMessage]:
    """Return the messages a trial starts with."""
    from inspect_ai.model import ChatMessageSystem, ChatMessageUser

    system = trial.get("system")
    instructed: list[ChatMessage] = [ChatMessageSystem(content=system)] if system else []
    return [*instructed, ChatMessageUser(content=trial["prompt"])]


async def ask_text(state: TaskState, trial: Mapping[str, Any]) -> Answer:
    """Ask for a text; where the trial has a schema, for one that keeps it."""
    from inspect_ai.model import GenerateConfig, get_model

    model = get_model()
    outputs, messages = await begin(state, trial, model)
    config = seeded(trial, model).merge(GenerateConfig(response_schema=_schema(trial)))
    state.output = await model.generate(messages, config=config)
    response, stop_reason = encodable(state.output.completion), state.output.stop_reason
    return recorded(state, response, stop_reason, [*outputs, state.output])


async def begin(
    state: TaskState, trial: Mapping[str, Any], model: Model
) -> tuple[list[ModelOutput], list[ChatMessage]]:
    """Ask the first prompt of two, if there are two; return its output and what to ask then.

    A second prompt that quotes the first answer, at {response1}, stands alone; another goes on
    with the conversation.
    """
    from inspect_ai.model import ChatMessageSystem, ChatMessageUser

    if not trial["followup"]:
        return [], list(state.messages)
    first = await model.generate(list(state.messages), config=seeded(trial, model))
    profile = encodable(first.completion)
    state.metadata["profile"] = profile
    second = ChatMessageUser(content=trial["followup"].replace("{response1}", profile))
    state.messages += [first.message, second]
    if "{response1}" not in trial["followup"]:
        return [first], list(state.messages)
    return [first], [*(m for m in state.messages if isinstance(m, ChatMessageSystem)), second]


def seeded(trial: Mapping[str, Any], model: Model) -> GenerateConfig:
    """Ask with the trial's seed where the provider's answers follow from one."""
    from inspect_ai.model import GenerateConfig

    return GenerateConfig(seed=trial["seed"] if find_provider(str(model)).seeded else None)


def encodable(text: str) -> str:
    """Replace what UTF-8 has no bytes for: a model's JSON may hold half a character."""
    return text.encode("utf-8", "replace").decode("utf-8")


def _schema(trial: Mapping[str, Any]) -> Any:
    """Return the schema a structured answer is held to."""
    if trial["schema"] is None:
        return None
    import json

    from inspect_ai.model import ResponseSchema
    from inspect_ai.util import JSONSchema

    schema = JSONSchema.model_validate(json.loads(trial["schema"]))
    return ResponseSchema(name=trial["instrument"], json_schema=schema, strict=True)


def recorded(
    state: TaskState, response: str, stop_reason: str, outputs: Iterable[ModelOutput]
) -> Answer:
    """Record what a trial was answered, and the tokens of all its calls, where they are known."""
    state.messages.append(state.output.message)
    usages = [output.usage for output in outputs if output.usage is not None]
    return {
        "response": response,
        "profile": state.metadata.get("profile"),
        "stop_reason": stop_reason,
        "input_tokens": sum(usage.input_tokens for usage in usages) if usages else None,
        "output_tokens": sum(usage.output_tokens for usage in usages) if usages else None,
    }
