"""The inspect provider ``simulated``: ``simulated/neutral``, ``simulated/FILE.yaml``.

What it does with inspect's `GenerateConfig`:

- `seed`: the same seed and prompt give the same answer; repetitions of a prompt need a seed each.
- `num_choices`: as many answers, those of the seeds `seed`, `seed` + 1, …
- `response_schema`: the answer is a JSON object with one of the allowed strings per property.
- `logprobs`: log-probabilities of the options at the first position, and no text besides.
- `extra_body={"structured_outputs": {"choice": [...]}}`, as for vLLM: names the options.
- `extra_body={"chat_template": TEMPLATE, …}`: the message is a sentence left open, and the options
  are its ends, whose log-probabilities are listed at the first position.
- `max_tokens`: an answer that is longer, at four characters a token, is cut off.

All other settings, and system prompts, change nothing. Model arguments: `studies`, study files or
studies whose prompts it is to know besides those that come with Clinometer.
"""

from __future__ import annotations

from collections.abc import Sequence
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
from clinometer.simulated.answering import SimulatedCall, SimulatedReply, allowed_values, answer
from clinometer.simulated.recognising import Recognition, shipped_recognition
from clinometer.simulated.truth import load_truth
from clinometer.stimuli import Study, load_study

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
        studies = _studies(model_args.get("studies", ()))
        self._recognition = Recognition(studies) if studies else shipped_recognition()
        self._check_contrasts()

    def plant(self, plants: Sequence[str]) -> None:
        """Plant fields in place of those of the file, as `load_truth` does."""
        self.simulation = load_truth(self.model_name, plants)
        self._check_contrasts()

    def _check_contrasts(self) -> None:
        if self.simulation.truth.anything is not None:
            self._recognition.people.check(*self.simulation.truth.anything.contrasts)

    async def generate(
        self,
        input: list[ChatMessage],
        tools: list[ToolInfo],
        tool_choice: ToolChoice,
        config: GenerateConfig,
    ) -> ModelOutput:
        """Answer one conversation; see the module for what `config` does.

        Raises ModelError if the prompt is of no known study.
        """
        if tools:
            raise ModelError("simulated models call no tools")
        return self.output(input, config, must_know=True)

    def output(
        self, messages: Sequence[ChatMessage], config: GenerateConfig, *, must_know: bool = False
    ) -> ModelOutput:
        """Answer one conversation; a prompt of no known study by a sentence or an error."""
        replies = []
        calls = _calls(messages, config)
        for call in calls:
            reply = answer(self.simulation, self._recognition, call)
            replies.append(reply.up_to(config.max_tokens))
        if must_know and not replies[0].recognised:
            raise ModelError(
                f"simulated/{self.model_name} does not know this prompt: it is of no study that "
                "comes with Clinometer or was named to it (-M studies=FILE.yaml)"
            )
        input_tokens = calls[0].input_tokens
        output_tokens = sum(reply.output_tokens for reply in replies)
        reasoning_tokens = sum(reply.reasoning_tokens or 0 for reply in replies)
        return ModelOutput(
            model=self.simulation.served_as,
            choices=[self._choice(reply, config.top_logprobs) for reply in replies],
            usage=ModelUsage(
                input_tokens=input_tokens,
                output_tokens=output_tokens,
                total_tokens=input_tokens + output_tokens,
                reasoning_tokens=reasoning_tokens or None,
            ),
        )

    def max_connections(self) -> int:
        """Return how many calls are worked on at a time."""
        return CONNECTIONS

    def connection_key(self) -> str:
        """Name what limits connections: this process."""
        return self.model_name

    def _choice(self, reply: SimulatedReply, alternatives: int | None) -> ChatCompletionChoice:
        content: Any = reply.text
        if reply.reasoning_tokens:
            thoughts = ContentReasoning(reasoning="I sort the word as I was told.")
            content = [thoughts, ContentText(text=reply.text)]
        return ChatCompletionChoice(
            message=ChatMessageAssistant(
                content=content, model=self.simulation.served_as, source="generate"
            ),
            stop_reason="max_tokens" if reply.cut else "stop",
            logprobs=_logprobs(reply, alternatives) if reply.logprobs else None,
        )


def _calls(messages: Sequence[ChatMessage], config: GenerateConfig) -> list[SimulatedCall]:
    """Return a call for each choice that is asked for; they differ in their seed."""
    calls = []
    for number in range(config.num_choices or 1):
        call = SimulatedCall(
            messages=[(message.role, message.text) for message in messages],
            properties=_properties(config),
            options=_options(config),
            logprobs=bool(config.logprobs),
            seed=None if config.seed is None else config.seed + number,
            # As a completion is asked of vLLM: with a template that adds nothing.
            plain="chat_template" in (config.extra_body or {}),
        )
        calls.append(call)
    return calls


def _studies(studies: str | Study | Sequence[str | Study]) -> list[Study]:
    """Load studies: a study, a name or path, names or paths with commas between, or a list."""
    listed = studies.split(",") if isinstance(studies, str) else studies
    return [load_study(study) for study in ([listed] if isinstance(listed, Study) else listed)]


def _properties(config: GenerateConfig) -> dict[str, list[str]] | None:
    schema = config.response_schema
    return None if schema is None else allowed_values(schema.json_schema.model_dump())


def _options(config: GenerateConfig) -> list[str] | None:
    match config.extra_body:
        case {"structured_outputs": {"choice": [*texts]}}:
            return [str(text) for text in texts]
    return None


def _logprobs(reply: SimulatedReply, alternatives: int | None) -> Logprobs:
    """Return the one position that there is, with so many alternatives; None: with all."""
    top = []
    for text, logprob in reply.logprobs:
        top.append(TopLogprob(token=text, logprob=logprob, bytes=list(text.encode())))
    likeliest = top[0].model_dump()
    return Logprobs(content=[Logprob(**likeliest, top_logprobs=top[:alternatives])])
