"""The type of response modes, and functions they share for sending a trial to a model.

`inspect_ai` is imported only when a model is asked, so that the command line can list modes fast.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

from clinometer.models.outputs import reasoning_text, tokens_in
from clinometer.models.providers import Provider, find_provider
from clinometer.modes.chats import read_chat
from clinometer.texts import encodable

if TYPE_CHECKING:
    from inspect_ai.model import ChatMessage, GenerateConfig, Model, ModelOutput

#: The kinds of answer: free text, an object of closed choices, log-probabilities of two options,
#: log-probabilities of given texts.
TEXT = "text"
CHOICES = "choices"
LOGITS = "logits"
LIKELIHOODS = "likelihoods"

#: A response with its stop reason and tokens: columns of the responses.
Answer = dict[str, Any]

#: A message of a conversation: its `role` and `content`.
Message = dict[str, str]


class Read(NamedTuple):
    """What a mode reads of the outputs of a trial."""

    response: str
    stop_reason: str
    first_tokens: str | None = None
    """What the tokens say besides (`first_tokens`); None: nothing was kept."""


def sent_texts(trial: Mapping[str, Any], profile: str | None, _: Provider) -> list[list[Message]]:
    """Return the messages of each call of a trial; `profile`: the answer to the first of two."""
    opening = _opening(trial)
    if not trial["followup"] or profile is None:
        return [opening]
    second = _second(trial, profile)
    if _alone(trial):
        return [opening, [*opening[:-1], second]]
    return [opening, [*opening, {"role": "assistant", "content": profile}, second]]


def _opening(trial: Mapping[str, Any]) -> list[Message]:
    """Return the messages a trial starts with."""
    system = trial.get("system")
    instructed = [{"role": "system", "content": system}] if system else []
    prompt = trial["prompt"]
    return [*instructed, *(read_chat(prompt) or [{"role": "user", "content": prompt}])]


def _second(trial: Mapping[str, Any], profile: str) -> Message:
    """Return the second of two prompts."""
    return {"role": "user", "content": trial["followup"].replace("{response1}", profile)}


def _alone(trial: Mapping[str, Any]) -> bool:
    """Whether the second prompt quotes the first answer, and is sent without the conversation."""
    return "{response1}" in trial["followup"]


def _count_calls(trial: Mapping[str, Any], _: Provider) -> int:
    """Count the calls of a trial: one, after that for a profile."""
    return 1 + bool(trial["followup"])


@dataclass(frozen=True, eq=False)
class Mode:
    """One way to put a trial to a model."""

    name: str
    title: str
    """Short description of the question."""
    kind: str
    """Kind of answer: `TEXT`, `CHOICES`, `LOGITS` or `LIKELIHOODS`; an instrument has a reader for
    each kind."""
    read_outputs: Callable[[Mapping[str, Any], Sequence[ModelOutput], str], Read]
    """Trial, outputs (without that of a profile), model → what was answered. Raises
    `ModelError` where an output lacks what the mode needs; the first is also read alone."""
    settings: Callable[[Mapping[str, Any], Provider], GenerateConfig]
    """Trial, provider → settings of each call besides those of `seeded`."""
    close: Callable[
        [Mapping[str, Sequence[str]], Sequence[str] | None, str | None], dict[str, Any]
    ] = lambda *_: {}
    """Choices by name, the two options, the opening → columns `schema`, `options`, `opening`."""
    needs: str | None = None
    """Column of the providers that must be true: ``logprobs``, ``schemas``, ``texts``."""
    shows_need: Callable[[Mapping[str, Any], Answer], bool | None] = lambda *_: True
    """Trial, answer → whether the answer shows that the model does what is needed; None: neither
    this nor the opposite."""
    per_attribute: bool = False
    """Whether each attribute is a separate call."""
    sampled: bool = True
    """Whether repeated questions may have different answers."""
    place: int = 100
    """Position in lists; the lowest comes first."""
    sent: Callable[[Mapping[str, Any], str | None, Provider], list[list[Message]]] = sent_texts
    """Trial, its profile, provider → messages by call; of a trial that still lacks its profile,
    those of the profile alone."""
    calls: Callable[[Mapping[str, Any], Provider], int] = _count_calls
    """Trial, provider → number of calls."""

    @property
    def closed(self) -> bool:
        """Whether the answer is one of a few offered choices."""
        return self.kind != TEXT

    @property
    def sentences(self) -> bool:
        """Whether it asks sentences, as they are, with one group each: no chat and no order."""
        return self.kind == LIKELIHOODS

    def able(self, model: str) -> bool | None:
        """Whether a model can be asked in this mode; None: not known."""
        return self.needs is None or getattr(find_provider(model), self.needs)

    async def ask(self, trial: Mapping[str, Any], model: Model) -> list[ModelOutput]:
        """Make the calls of a trial and return their outputs; a provider's errors are passed on."""
        from inspect_ai.util import collect

        provider = find_provider(str(model))
        outputs: list[ModelOutput] = []
        if trial["followup"]:
            (messages,) = self.sent(trial, None, provider)
            config = self.config(trial, provider, described=False)
            outputs.append(await model.generate(chat_messages(messages), config=config))
        profile = encodable(outputs[0].completion) if outputs else None
        calls = self.sent(trial, profile, provider)[len(outputs) :]
        config = self.config(trial, provider)
        conversations = [chat_messages(messages, outputs) for messages in calls]
        # The first is asked alone: a model that cannot do a mode then costs one call per trial. The
        # embedded model can do all; asked together, prompts share the computation of their prefix.
        alone = 0 if provider.exact else 1
        answers = []
        for conversation in conversations[:alone]:
            answers.append(await model.generate(conversation, config=config))
        if conversations[alone:] and answers:
            self.read_outputs(trial, answers, str(model))
        rest = [model.generate(messages, config=config) for messages in conversations[alone:]]
        return [*outputs, *answers, *await collect(*rest)]

    def config(
        self, trial: Mapping[str, Any], provider: Provider, *, described: bool = True
    ) -> GenerateConfig:
        """Return the settings of a call; not `described`: of the call for the profile."""
        usual = seeded(trial, provider)
        return usual.merge(self.settings(trial, provider)) if described else usual

    def answer(
        self, trial: Mapping[str, Any], outputs: Sequence[ModelOutput], model: str
    ) -> Answer:
        """Return the answer to a trial, and the tokens of all its calls if known."""
        profiles = int(bool(trial["followup"]))  # the first output is then a profile
        reading = self.read_outputs(trial, outputs[profiles:], model)
        usages = [output.usage for output in outputs if output.usage is not None]
        counts = [usage.reasoning_tokens for usage in usages]
        reasoning_tokens = [count for count in counts if count is not None]
        texts = [reasoning_text(output.message.content) for output in outputs if output.choices]
        all_reasoning = "\n\n".join(filter(None, texts))
        return {
            "response": reading.response,
            "first_tokens": reading.first_tokens,
            "profile": encodable(outputs[0].completion) if profiles else None,
            "stop_reason": reading.stop_reason,
            "served": outputs[-1].model,
            "input_tokens": sum(map(tokens_in, usages)) if usages else None,
            "output_tokens": sum(usage.output_tokens for usage in usages) if usages else None,
            "reasoning_tokens": sum(reasoning_tokens) if reasoning_tokens else None,
            "reasoning": encodable(all_reasoning) if all_reasoning else None,
        }


def opening_messages(trial: Mapping[str, Any]) -> list[ChatMessage]:
    """Return the messages a trial starts with."""
    return chat_messages(_opening(trial))


def chat_messages(
    messages: Sequence[Message], earlier: Sequence[ModelOutput] = ()
) -> list[ChatMessage]:
    """Return messages as inspect has them; an `earlier` output stands for the answer it gave."""
    from inspect_ai.model import ChatMessageAssistant, ChatMessageSystem, ChatMessageUser

    kinds = {
        "system": ChatMessageSystem,
        "user": ChatMessageUser,
        "assistant": ChatMessageAssistant,
    }
    # A model's own message has more than its text: its reasoning, which providers want back.
    by_text = {encodable(output.completion): output.message for output in earlier}
    chat: list[ChatMessage] = []
    for message in messages:
        role = message["role"]
        content = message["content"]
        if role == "assistant" and content in by_text:
            chat.append(by_text[content])
        else:
            chat.append(kinds[role](content=content))
    return chat


def read_text(trial: Mapping[str, Any], outputs: Sequence[ModelOutput], model: str) -> Read:
    """Read the text of the one output."""
    (output,) = outputs
    return Read(encodable(output.completion), output.stop_reason)


def text_settings(trial: Mapping[str, Any], provider: Provider) -> GenerateConfig:
    """Ask for a text; if the trial has a schema, for JSON that follows it."""
    from inspect_ai.model import GenerateConfig

    return GenerateConfig(response_schema=_schema(trial))


def seeded(trial: Mapping[str, Any], provider: Provider) -> GenerateConfig:
    """Ask with the trial's reasoning effort and temperature, and with its seed if that counts."""
    from inspect_ai.model import GenerateConfig

    effort = trial["reasoning_effort"]
    temperature = trial["temperature"]
    # An effort is a level, such as low, or a number of tokens.
    budget = effort is not None and effort.isdecimal()
    return GenerateConfig(
        seed=trial["seed"] if provider.seeded else None,
        temperature=None if temperature is None else float(temperature),
        reasoning_tokens=int(effort) if budget else None,
        reasoning_effort=None if budget else effort,
    )


def _schema(trial: Mapping[str, Any]) -> Any:
    """Return the schema of a structured answer."""
    if trial["schema"] is None:
        return None
    import json

    from inspect_ai.model import ResponseSchema
    from inspect_ai.util import JSONSchema

    schema = JSONSchema.model_validate(json.loads(trial["schema"]))
    return ResponseSchema(name=trial["instrument"], json_schema=schema, strict=True)
