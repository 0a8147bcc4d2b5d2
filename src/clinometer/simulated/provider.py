"""The inspect provider ``simulated``: ``simulated/neutral``, ``simulated/FILE.yaml``.

What it does with inspect's `GenerateConfig`:

- `seed`: the same seed and prompt give the same answer; repetitions of a prompt need a seed each.
- `num_choices`: as many answers, those of the seeds `seed`, `seed` + 1, …
- `response_schema`: the answer is a JSON object with one of the allowed strings per property.
- `logprobs`: log-probabilities of the options at the first position, and no text besides.
- `extra_body={"structured_outputs": {"choice": [...]}}`, as for vLLM: names the options.
- `max_tokens`: an answer that is longer, at four characters a token, is cut off.

All other settings, and system prompts, change nothing. Model arguments: `studies`, study files or
studies whose prompts it is to know besides those that come with Clinometer.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from inspect_ai.model import (
    ChatCompletionChoice,
    ChatMessage,
    ChatMessageAssistant,
    ContentReasoning,
    ContentText,
    GenerateConfig,
    Logprob,
    Logprobs,
    ModelAPI,
    ModelOutput,
    ModelUsage,
    TopLogprob,
)
from inspect_ai.tool import ToolChoice, ToolInfo

from clinometer.errors import ModelError, unknown
from clinometer.simulated.answering import CHARACTERS, Call, Reply, answer, tokens
from clinometer.simulated.recognising import Recognition
from clinometer.simulated.truth import load_truth
from clinometer.stimuli import Study, load_study

__all__ = ["SimulatedModel"]

#: Calls at a time; none of them waits for anything.
CONNECTIONS = 64


class SimulatedModel(ModelAPI):
    """A model with planted leans; see the module.

    Raises ModelError if there is no such model, or its file is malformed.
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
        for name in model_args:
            if name != "studies":
                raise ModelError(unknown("argument of a simulated model", name, ["studies"]))
        self.simulation = load_truth(model_name)
        self._recognition = Recognition(_studies(model_args.get("studies", ())))

    async def generate(
        self,
        input: list[ChatMessage],
        tools: list[ToolInfo],
        tool_choice: ToolChoice,
        config: GenerateConfig,
    ) -> ModelOutput:
        """Answer one conversation; see the module for what `config` does."""
        if tools:
            raise ModelError("simulated models call no tools")
        messages = [(message.role, message.text) for message in input]
        seeds = [
            None if config.seed is None else config.seed + number
            for number in range(config.num_choices or 1)
        ]
        replies = [
            answer(
                self.simulation,
                self._recognition,
                Call(messages, _properties(config), _options(config), bool(config.logprobs), seed),
            )
            for seed in seeds
        ]
        if not all(reply.known for reply in replies):
            raise ModelError(
                f"simulated/{self.model_name} does not know this prompt: it is of no study that "
                "comes with Clinometer or was named to it (-M studies=FILE.yaml)"
            )
        read = sum(tokens(text) for _, text in messages)
        thought = sum(reply.reasoning_tokens or 0 for reply in replies)
        written = sum(tokens(reply.text) for reply in replies) + thought
        return ModelOutput(
            model=self.simulation.served_as,
            choices=[self._choice(reply, config.max_tokens) for reply in replies],
            usage=ModelUsage(
                input_tokens=read,
                output_tokens=written,
                total_tokens=read + written,
                reasoning_tokens=thought or None,
            ),
        )

    @property
    def identity(self) -> dict[str, str]:
        """What is planted: the hash of its file."""
        return {"simulated": self.simulation.name, "sha256": self.simulation.sha256}

    def max_connections(self) -> int:
        """Return how many calls are worked on at a time."""
        return CONNECTIONS

    def connection_key(self) -> str:
        """Name what limits connections: this process."""
        return self.model_name

    def _choice(self, reply: Reply, longest: int | None) -> ChatCompletionChoice:
        cut = longest is not None and tokens(reply.text) > longest
        text = reply.text[: longest * CHARACTERS] if cut and longest is not None else reply.text
        content: Any = text
        if reply.reasoning_tokens:
            thoughts = ContentReasoning(reasoning="I sort the word as I was told.")
            content = [thoughts, ContentText(text=text)]
        return ChatCompletionChoice(
            message=ChatMessageAssistant(
                content=content, model=self.simulation.served_as, source="generate"
            ),
            stop_reason="max_tokens" if cut else "stop",
            logprobs=_logprobs(reply) if reply.logprobs else None,
        )


def _studies(named: Any) -> Iterable[Study]:
    """Load studies: a study, a name or path, names or paths with commas between, or a list."""
    listed = named.split(",") if isinstance(named, str) else named
    return [load_study(one) for one in ([listed] if isinstance(listed, Study) else listed)]


def _properties(config: GenerateConfig) -> Mapping[str, list[str]] | None:
    schema = config.response_schema
    if schema is None:
        return None
    properties = schema.json_schema.properties or {}
    return {name: [str(one) for one in value.enum or [""]] for name, value in properties.items()}


def _options(config: GenerateConfig) -> list[str] | None:
    match config.extra_body:
        case {"structured_outputs": {"choice": [*texts]}}:
            return [str(text) for text in texts]
    return None


def _logprobs(reply: Reply) -> Logprobs:
    top = [
        TopLogprob(token=text, logprob=logprob, bytes=list(text.encode()))
        for text, logprob in reply.logprobs
    ]
    first = top[0]
    return Logprobs(
        content=[
            Logprob(token=first.token, logprob=first.logprob, bytes=first.bytes, top_logprobs=top)
        ]
    )
