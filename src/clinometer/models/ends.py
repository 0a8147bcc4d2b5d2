"""How probable the ends of a text are, by a model of transformers in this process.

inspect's ``hf`` scores what it generates, but no text that it is given. `score_ends` adds that, in
the form of the embedded model: a call whose `extra_body` has a ``chat_template`` and a ``choice``
gets the log-probability of each text of the choice after the message. Other calls are passed on.

A beginning is run once and its keys and values kept, the latest `CACHED_BEGINNINGS` of them; its
ends are run together. Tokens are those of the whole text, so that where a beginning ends within a
token the ends are scored from the last token on that they share with it.
"""

from __future__ import annotations

import asyncio
import copy
import functools
import threading
from collections import OrderedDict
from collections.abc import Awaitable, Callable, Sequence
from itertools import takewhile
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from inspect_ai.model import ChatMessage, GenerateConfig, ModelOutput

#: Beginnings whose keys and values are kept.
CACHED_BEGINNINGS = 64


class Ends:
    """Scores the ends of texts.

    Parameters
    ----------
    model, tokenizer
        Of transformers: a causal language model, and what makes its tokens.
    """

    def __init__(self, model: Any, tokenizer: Any) -> None:
        self.model = model
        self.tokenizer = tokenizer
        self.computed = 0
        """Tokens that were run."""
        self._kept: OrderedDict[tuple[int, ...], tuple[Any, Any]] = OrderedDict()
        self._one_at_a_time = threading.Lock()

    def score(self, beginning: str, ends: Sequence[str]) -> list[float]:
        """Return the natural log-probability of each end, all its tokens together."""
        import torch

        begun = self.encode(beginning)
        texts = [self.encode(beginning + end) for end in ends]
        shared = min(_shared_length(tokens, begun) for tokens in texts)
        # At least one token of each text is scored.
        shared = min([shared, *(len(tokens) - 1 for tokens in texts)])
        if shared < 1:  # no token before the end, and no mark of a beginning
            raise ValueError(f"{beginning!r}: the text before the words is empty to this model")
        with self._one_at_a_time, torch.inference_mode():
            return self._score(tuple(begun[:shared]), [tokens[shared:] for tokens in texts])

    def encode(self, text: str) -> list[int]:
        """Return the tokens of a text, with the marks that the model begins a text with."""
        tokens: list[int] = self.tokenizer(text).input_ids
        # Some tokenizers also put the mark of the end, which would stand before what follows.
        marks = getattr(self.tokenizer, "eos_token_id", None)
        return tokens[:-1] if len(tokens) > 1 and tokens[-1] == marks else tokens

    def _score(self, begun: tuple[int, ...], ends: Sequence[Sequence[int]]) -> list[float]:
        import torch

        cache, first = self._begin(begun)
        scores = [float(first[tokens[0]]) for tokens in ends]
        longer = [number for number, tokens in enumerate(ends) if len(tokens) > 1]
        if not longer:
            return scores
        width = max(len(ends[number]) for number in longer) - 1
        rows = [[*ends[number][:-1], *[0] * (width + 1 - len(ends[number]))] for number in longer]
        self.computed += sum(len(ends[number]) - 1 for number in longer)
        # A forward pass adds to the cache that it is given, so it is given a copy.
        repeated = copy.deepcopy(cache)
        repeated.batch_repeat_interleave(len(rows))
        inputs = torch.tensor(rows, device=self.model.device)
        # What stands after the last token of a row is seen by no token before it.
        logits = self.model(input_ids=inputs, past_key_values=repeated, use_cache=True).logits
        logprobs = logits.float().log_softmax(dim=-1)  # (rows, width, vocabulary)
        for row, number in enumerate(longer):
            rest = torch.tensor(ends[number][1:], device=logprobs.device)
            scores[number] += float(logprobs[row, : len(rest)].gather(1, rest[:, None]).sum())
        return scores

    def _begin(self, begun: tuple[int, ...]) -> tuple[Any, Any]:
        """Return keys and values of a beginning, and the log-probabilities of what follows it."""
        import torch

        if begun not in self._kept:
            self.computed += len(begun)
            inputs = torch.tensor([begun], device=self.model.device)
            output = self.model(input_ids=inputs, use_cache=True)
            following = output.logits[0, -1].float().log_softmax(dim=-1)
            self._kept[begun] = output.past_key_values, following
            while len(self._kept) > CACHED_BEGINNINGS:
                self._kept.popitem(last=False)
        self._kept.move_to_end(begun)
        return self._kept[begun]


def _shared_length(tokens: Sequence[int], begun: Sequence[int]) -> int:
    """Return the length of the beginning that two lists share."""
    pairs = zip(tokens, begun, strict=False)
    return sum(1 for _ in takewhile(lambda pair: pair[0] == pair[1], pairs))


def score_ends(api: Any) -> None:
    """Have a model of inspect's ``hf`` score the ends of texts; see the module."""
    generate: Callable[..., Awaitable[ModelOutput]] = api.generate

    @functools.wraps(generate)
    async def scored(
        input: list[ChatMessage], tools: Any, tool_choice: Any, config: GenerateConfig
    ) -> ModelOutput:
        """Score the ends that a call names; pass other calls on."""
        match config.extra_body:
            case {"chat_template": str(), "structured_outputs": {"choice": [*ends]}}:
                pass
            case _:
                return await generate(input, tools, tool_choice, config)
        if api.ends is None:  # made by the first call that needs it
            api.ends = Ends(api.model, api.tokenizer)
        text = "".join(message.text for message in input)
        scores = await asyncio.to_thread(api.ends.score, text, ends)
        return _output(api, text, dict(zip(ends, scores, strict=True)))

    api.ends = None
    api.generate = scored


def _output(api: Any, text: str, scores: dict[str, float]) -> ModelOutput:
    """Return scores in inspect's form: the ends as alternatives of one position."""
    from inspect_ai.model import (
        ChatCompletionChoice,
        ChatMessageAssistant,
        Logprob,
        Logprobs,
        ModelOutput,
        ModelUsage,
        TopLogprob,
    )

    listed = sorted(scores.items(), key=lambda pair: -pair[1])
    first, logprob = listed[0]
    top = [TopLogprob(token=end, logprob=score) for end, score in listed]
    input_tokens = len(api.ends.encode(text))
    output_tokens = sum(len(api.ends.encode(text + end)) - input_tokens for end in scores)
    return ModelOutput(
        model=api.model_name,
        choices=[
            ChatCompletionChoice(
                message=ChatMessageAssistant(content=first, model=api.model_name),
                logprobs=Logprobs(
                    content=[Logprob(token=first, logprob=logprob, top_logprobs=top)]
                ),
            )
        ],
        usage=ModelUsage(
            input_tokens=input_tokens,
            output_tokens=output_tokens,
            total_tokens=input_tokens + output_tokens,
        ),
    )
