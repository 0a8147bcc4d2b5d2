"""The inspect provider ``clinometer`` with its one model, ``clinometer/smollm2``.

What it does with inspect's `GenerateConfig`:

- `temperature` (1 if not given), `top_p`, `top_k`, `max_tokens` (256), `stop_seqs`: as usual.
- `seed`: the same seed and prompt give the same answer, whatever else is asked at the time.
  Repetitions of a prompt need a seed each. Without a seed every answer is drawn anew.
- `num_choices`: so many answers, which share the reading of the prompt. They are those that
  as many requests with the seeds `seed`, `seed` + 1, … would get. Input tokens count once.
- `logprobs`, `top_logprobs`: of every generated position, that of the end mark included, over
  the whole vocabulary and at temperature 1, rounded to 4 decimals. Any number of alternatives.
- `response_schema`: the answer is a JSON object with the schema's properties in its order, each
  one of its strings. With `logprobs` there is one position per property; its alternatives are the
  options, with the log-probability of the whole of each, not renormalised.
- `extra_body={"structured_outputs": {"choice": [...]}}`, as for vLLM: the answer is one of these
  texts. With `logprobs` there is one position, as above.
- `extra_body={"chat_template": TEMPLATE}`, as for vLLM, instead of the model's own.
- `max_connections`: 128 unless the model argument `batch_size` says otherwise. An answer of
  several counts as one; a request is begun while fewer than so many are worked on.

A conversation that ends with an assistant message is continued from there. Model arguments
(``-M`` on the command line): `weights`, `dtype`, `device`, `batch_size`.
"""

from __future__ import annotations

import asyncio
import functools
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from inspect_ai.model import (
    ChatCompletionChoice,
    ChatMessage,
    ChatMessageAssistant,
    GenerateConfig,
    Logprob,
    Logprobs,
    ModelAPI,
    ModelOutput,
    ModelUsage,
    ResponseSchema,
    TopLogprob,
)
from inspect_ai.tool import ToolChoice, ToolInfo

from clinometer.errors import ModelError, unknown
from clinometer.models.embedded.weights import EMBEDDED_LIBRARIES, find_weights, load_engine
from clinometer.models.embedded.worker import Worker
from clinometer.models.libraries import require_libraries

if TYPE_CHECKING:
    from clinometer.models.embedded.decoding import Answer, Decoders, Position, Sampling
    from clinometer.models.embedded.engine import Engine

#: The names after ``clinometer/``.
MODELS = ("smollm2",)

#: Model arguments and their defaults.
SETTINGS = {"weights": None, "dtype": "auto", "device": "auto", "batch_size": 128}

#: The longest free answer if the configuration names none.
MAX_TOKENS = 256


@functools.cache
def _worker(weights: str, dtype: str, device: str, batch_size: int) -> Worker:
    """One worker per loaded model, shared by all providers in the process."""
    return Worker(lambda: load_engine(weights, dtype, device), batch_size)


class EmbeddedModel(ModelAPI):
    """SmolLM2-135M-Instruct in this process.

    `base_url` and `api_key` are not used. Model arguments: `weights`, `dtype` and `device` as for
    `load_engine`; `batch_size`, 128: no request is begun while so many answers are being worked on.
    Raises ModelError if the name or an argument is not known, or libraries or weights are missing.
    """

    def __init__(
        self,
        model_name: str,
        base_url: str | None = None,
        api_key: str | None = None,
        config: GenerateConfig | None = None,
        **model_args: Any,
    ) -> None:
        super().__init__(model_name, base_url, api_key, [], config or GenerateConfig())
        if model_name not in MODELS:
            raise ModelError(unknown("embedded model", model_name, MODELS))
        for name in model_args:
            if name not in SETTINGS:
                raise ModelError(unknown("argument of clinometer/smollm2", name, SETTINGS))
        weights, dtype, device, batch_size = (SETTINGS | model_args).values()
        require_libraries("clinometer/smollm2", *EMBEDDED_LIBRARIES)
        self._batch_size = _positive_count("batch_size", batch_size)
        source = find_weights(weights)
        self._worker = _worker(source, str(dtype), str(device), self._batch_size)

    async def generate(
        self,
        input: list[ChatMessage],
        tools: list[ToolInfo],
        tool_choice: ToolChoice,
        config: GenerateConfig,
    ) -> ModelOutput:
        """Answer one conversation; see the module for what `config` does."""
        if tools:
            raise ModelError("clinometer/smollm2 calls no tools; use a model that does")
        choices = _positive_count("num_choices", config.num_choices or 1)
        messages = [_message(message) for message in input]
        properties = _properties(config.response_schema)
        options, template = _body(config.extra_body)

        def start(engine: Engine) -> Decoders:
            """Make the decoders of all choices, in the thread of the model."""
            from clinometer.models.embedded.decoding import choose, complete, fill, side_by_side

            prompt = _prompt(engine, messages, template)
            decoders = []
            for sampling in _samplings(config, choices):
                if properties is not None:
                    decoders.append(fill(engine, prompt, properties, sampling))
                elif options is not None:
                    decoders.append(choose(engine, prompt, options, sampling))
                else:
                    decoders.append(complete(engine, prompt, sampling))
            return side_by_side(decoders)

        answers = await asyncio.wrap_future(self._worker.submit(start, choices))
        return self._output(answers, bool(config.logprobs))

    @property
    def tokenizer(self) -> Any:
        """The tokenizer of the model; None until it has answered."""
        return self._worker.engine.tokenizer if self._worker.engine else None

    @property
    def identity(self) -> dict[str, str]:
        """What was loaded: weights and number format; empty until it has answered."""
        engine = self._worker.engine
        return {"weights": engine.source, "dtype": engine.dtype} if engine else {}

    def max_connections(self) -> int:
        """Return how many requests are worked on at a time."""
        return self._batch_size

    def max_tokens(self) -> int:
        """Return the longest answer if the configuration names none."""
        return MAX_TOKENS

    def connection_key(self) -> str:
        """Name what limits connections: this process."""
        return self.model_name

    def _output(self, answers: list[Answer], with_logprobs: bool) -> ModelOutput:
        # The prompt is read once for all answers.
        input_tokens = answers[0].input_tokens
        output_tokens = sum(answer.output_tokens for answer in answers)
        return ModelOutput(
            model=self.model_name,
            choices=[self._choice(answer, with_logprobs) for answer in answers],
            usage=ModelUsage(
                input_tokens=input_tokens,
                output_tokens=output_tokens,
                total_tokens=input_tokens + output_tokens,
            ),
            metadata=self.identity or None,
        )

    def _choice(self, answer: Answer, with_logprobs: bool) -> ChatCompletionChoice:
        logprobs = Logprobs(content=[_logprob(position) for position in answer.positions])
        return ChatCompletionChoice(
            message=ChatMessageAssistant(
                content=answer.text, model=self.model_name, source="generate"
            ),
            stop_reason=answer.stop_reason,
            logprobs=logprobs if with_logprobs else None,
        )


def _positive_count(name: str, value: Any) -> int:
    number = int(value) if str(value).isdecimal() else 0
    if number < 1:
        raise ModelError(f"{name}={value!r} is not allowed; use a whole number from 1 on")
    return number


def _message(message: ChatMessage) -> dict[str, str]:
    if message.role == "tool":
        raise ModelError("clinometer/smollm2 reads no tool messages; use a model that does")
    parts = [] if isinstance(message.content, str) else message.content
    if any(part.type not in ("text", "reasoning") for part in parts):
        raise ModelError("clinometer/smollm2 reads text only; leave out images, audio and files")
    return {"role": message.role, "content": message.text}


def _prompt(engine: Engine, messages: list[dict[str, str]], template: str | None) -> list[int]:
    """Return the tokens of the conversation, up to where the answer begins."""
    continues = messages[-1]["role"] == "assistant"
    text = engine.tokenizer.apply_chat_template(
        messages,
        chat_template=template,
        tokenize=False,
        add_generation_prompt=not continues,
        continue_final_message=continues,
    )
    return engine.encode(text)


def _samplings(config: GenerateConfig, choices: int) -> list[Sampling]:
    """Give each of several answers a seed of its own, if any."""
    from clinometer.models.embedded.decoding import Sampling

    if config.temperature is not None and config.temperature < 0:
        raise ModelError(f"temperature={config.temperature} is not allowed; use 0 or more")
    samplings = []
    for number in range(choices):
        sampling = Sampling(
            temperature=1.0 if config.temperature is None else config.temperature,
            top_p=config.top_p,
            top_k=config.top_k,
            max_tokens=config.max_tokens or MAX_TOKENS,
            stops=tuple(config.stop_seqs or ()),
            seed=None if config.seed is None else config.seed + number,
            top_logprobs=(config.top_logprobs or 0) if config.logprobs else None,
        )
        samplings.append(sampling)
    return samplings


def _properties(response: ResponseSchema | None) -> Mapping[str, list[str]] | None:
    """Return the options per property, None without a schema."""
    if response is None:
        return None
    schema = response.json_schema
    if schema.type != "object" or not schema.properties:
        raise ModelError(_UNSUPPORTED.format(what=f"schema {response.name!r}"))
    properties: dict[str, list[str]] = {}
    for name, value in schema.properties.items():
        if not _are_texts(value.enum):
            raise ModelError(_UNSUPPORTED.format(what=f"property {name!r}"))
        properties[name] = list(dict.fromkeys(value.enum or []))
    return properties


def _body(extra_body: Mapping[str, Any] | None) -> tuple[list[str] | None, str | None]:
    """Return the texts of which one is the answer, None if it is free, and the chat template."""
    fields = dict(extra_body or {})
    choice = fields.pop("structured_outputs", None)
    template = fields.pop("chat_template", None)
    # What is still in `fields` is not known, and refused.
    match choice:
        case None if not fields and isinstance(template, str | None):
            return None, template
        case {"choice": [*texts], **rest} if not rest and not fields and _are_texts(texts):
            return list(dict.fromkeys(texts)), template
    raise ModelError(
        f"extra_body={extra_body!r}: clinometer/smollm2 takes nothing but "
        '{"structured_outputs": {"choice": [...]}} with at least one text, and a chat_template'
    )


def _are_texts(options: Any) -> bool:
    return bool(options) and all(isinstance(option, str) and option for option in options)


_UNSUPPORTED = (
    "response_schema, {what}: clinometer/smollm2 can be held to an object with at least one "
    "property, each an enum of strings; change the schema or use another model"
)


def _logprob(position: Position) -> Logprob:
    top = []
    for text, logprob in position.top:
        top.append(TopLogprob(token=text, logprob=logprob, bytes=_bytes(text)))
    return Logprob(
        token=position.text,
        logprob=position.logprob,
        bytes=_bytes(position.text),
        top_logprobs=top,
    )


def _bytes(text: str) -> list[int] | None:
    """Return the bytes of a token; None for one that holds part of a character."""
    return None if "\ufffd" in text else list(text.encode())
