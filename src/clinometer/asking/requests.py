"""Requests as lines of JSON, in the batch format of OpenAI's interface, and answers to them.

Reference
    OpenAI, Batch API: a line has `custom_id`, `method`, `url` and `body`, the body of a chat
    completion. vLLM (``vllm run-batch``), Together, xAI and others read the same lines; answers are
    read by `models.batch_lines`.

A `custom_id` is a hash of the model, of what is asked (a trial and the number of its call) and of
the body. It is the same whenever and wherever it is made, and an answer to another prompt has
another.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

from clinometer.errors import InputError, ModelError
from clinometer.models.fields import clean_text
from clinometer.models.outputs import reasoning_text, tokens_in
from clinometer.models.providers import find_provider
from clinometer.modes.mode import Message
from clinometer.texts import encodable

if TYPE_CHECKING:
    from inspect_ai.model import GenerateConfig, ModelOutput

#: The address of a chat completion, which every line names.
URL = "/v1/chat/completions"


@dataclass(frozen=True)
class Request:
    """One call, as an engine gets it."""

    model: str
    question: str
    """What is asked about, such as a trial's id."""
    call: str
    """Which of its calls this is."""
    messages: Sequence[Message]
    settings: Mapping[str, Any]
    """The body besides model and messages; of `settings_of`."""

    @cached_property
    def body(self) -> str:
        """The body of the request as JSON."""
        served = find_provider(self.model).served(self.model)
        body = {"model": served, "messages": self.messages, **self.settings}
        return json.dumps(body, ensure_ascii=False)

    @cached_property
    def custom_id(self) -> str:
        """The name of the request, 32 hexadecimal digits."""
        text = f"{self.model}\0{self.question}\0{self.call}\0{self.body}"
        # A text may have half of a surrogate pair, which UTF-8 has no bytes for.
        return hashlib.blake2b(text.encode("utf-8", "replace"), digest_size=16).hexdigest()

    def line(self) -> str:
        """Return the line of a batch."""
        head = f'"custom_id": "{self.custom_id}", "method": "POST", "url": "{URL}"'
        return f'{{{head}, "body": {encodable(self.body)}}}'


def settings_of(model: str, config: GenerateConfig) -> dict[str, Any]:
    """Return settings of inspect as the body of a chat completion has them.

    Raises InputError for a setting that a body has no place for; none is left out in silence.
    """
    options = {name: value for name, value in config if value is not None}
    provider = find_provider(model)
    # Inspect's name of a setting → its name in a body.
    names = {**_NAMES, **{name: name for name in _SAME}, "max_tokens": provider.longest}
    settings = {names[name]: value for name, value in options.items() if name in names}
    if (tokens := options.get("reasoning_tokens")) is not None and provider.reasoning_budget:
        settings |= _fill_number(provider.reasoning_budget, tokens)
    elif tokens is not None:
        raise InputError(
            f"reasoning_effort {tokens}: requests to {model} have no place for a number of tokens; "
            "name a level, such as low"
        )
    if (schema := config.response_schema) is not None:
        described = {
            "name": schema.name,
            "schema": schema.json_schema.model_dump(exclude_none=True),
            "description": schema.description,
            "strict": schema.strict,
        }
        settings["response_format"] = {"type": "json_schema", "json_schema": described}
    if unplaced := sorted(options.keys() - names - _PLACED):
        raise InputError(f"{', '.join(unplaced)}: requests to {model} have no place for it")
    return {**settings, **(config.extra_body or {})}


def inspect_settings(model: str, body: Mapping[str, Any]) -> dict[str, Any]:
    """Return the settings in a body by inspect's names, whose `settings_of` they are."""
    provider = find_provider(model)
    # The name of a setting in a body → inspect's.
    names = {in_body: name for name, in_body in _NAMES.items()}
    names |= {name: name for name in _SAME}
    names[provider.longest] = "max_tokens"
    settings = {names[name]: value for name, value in body.items() if name in names}
    rest = {k: v for k, v in body.items() if k not in (*names, "model", "messages")}
    if provider.reasoning_budget.keys() & rest:
        settings["reasoning_tokens"] = _find_number(provider.reasoning_budget, rest)
        rest = {k: v for k, v in rest.items() if k not in provider.reasoning_budget}
    if (closed := rest.pop("response_format", None)) is not None:
        schema = dict(closed["json_schema"])
        settings["response_schema"] = {"json_schema": schema.pop("schema"), **schema}
    return {"seed": None, **settings, **({"extra_body": rest} if rest else {})}


def _fill_number(template: Mapping[str, Any], number: int) -> dict[str, Any]:
    """Return a part of a body with a number in the place of None."""
    filled: dict[str, Any] = {}
    for name, value in template.items():
        if value is None:
            filled[name] = number
        elif isinstance(value, Mapping):
            filled[name] = _fill_number(value, number)
        else:
            filled[name] = value
    return filled


def _find_number(template: Mapping[str, Any], body: Mapping[str, Any]) -> int | None:
    """Return the number that stands in a body where None stands in a template."""
    for name, value in template.items():
        if value is None:
            return int(body[name])
        if isinstance(value, Mapping):
            return _find_number(value, body[name])
    return None


#: Settings that have the same name in inspect and in a body, and those that have another there.
_SAME = frozenset(("temperature", "top_p", "seed", "logprobs", "top_logprobs", "reasoning_effort"))
_NAMES = {"num_choices": "n", "stop_seqs": "stop"}

#: Settings with a place of their own in a body.
_PLACED = frozenset(("reasoning_tokens", "response_schema", "extra_body"))


def read_output(body: Mapping[str, Any]) -> ModelOutput:
    """Read a chat completion, from `read_answer`, as inspect's client does.

    Raises ModelError if inspect cannot.
    """
    # Its public `model_output_from_openai` looks up the client's version each time, for 1 ms.
    from inspect_ai.model._openai import chat_choices_from_openai, model_output_from_openai
    from openai.types.chat import ChatCompletion

    try:
        # Not validated: an end that is not known is no reason to lose an answer.
        completion = ChatCompletion.construct(**body)
        choices = chat_choices_from_openai(completion, tools=[])
        return model_output_from_openai(completion, choices)
    except (ValueError, TypeError, LookupError, AttributeError) as error:
        raise ModelError(f"not a chat completion: {clean_text(str(error))}") from None


def write_output(output: ModelOutput) -> dict[str, Any]:
    """Return the body of a chat completion, of which `read_output` reads the same output.

    inspect's own `openai_chat_choices` leaves out reasoning tokens and puts a line break before a
    text that has reasoning beside it. A stop reason that the format lacks becomes ``stop``.
    """
    choices = []
    for number, choice in enumerate(output.choices):
        message = {"role": "assistant", "content": encodable(choice.message.text)}
        if reasoning := reasoning_text(choice.message.content):
            message["reasoning_content"] = encodable(reasoning)
        tokens = choice.logprobs.model_dump()["content"] if choice.logprobs else None
        for token in tokens or ():
            token["top_logprobs"] = token["top_logprobs"] or []  # the format has no null here
        choices.append(
            {
                "index": number,
                "message": message,
                "finish_reason": _ENDS.get(choice.stop_reason, "stop"),
                "logprobs": None if tokens is None else {"content": tokens},
            }
        )
    body = {**_EMPTY_COMPLETION, "model": output.model, "choices": choices}
    if (usage := output.usage) is not None:
        body["usage"] = {
            "prompt_tokens": tokens_in(usage),
            "completion_tokens": usage.output_tokens,
            "total_tokens": usage.total_tokens,
            "completion_tokens_details": {"reasoning_tokens": usage.reasoning_tokens},
        }
    return body


#: How an answer ended, by inspect's names, where that is not ``stop``.
_ENDS = {
    "max_tokens": "length",
    "model_length": "length",
    "content_filter": "content_filter",
    "tool_calls": "tool_calls",
}

#: The fields of a chat completion that an output says nothing of.
_EMPTY_COMPLETION = {"id": "", "object": "chat.completion", "created": 0, "model": ""}
