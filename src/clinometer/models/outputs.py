"""What an output of inspect's holds beside its text: reasoning, and the tokens that count.

A provider states how many tokens a call took, and limits rest on it. A number that is stated
counts if it can be true: no common tokenizer puts more than `MOST` characters into a token, on
average over a text. One below that, or none, is replaced by an estimate from the sizes of prompt
and answer, so that nothing is gained by stating little.
"""

from __future__ import annotations

import logging
from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

from clinometer.models.fields import as_count

if TYPE_CHECKING:
    from inspect_ai.model import ModelOutput, ModelUsage

_log = logging.getLogger(__name__)

#: Characters of a token: in a script of one or two bytes a letter (Latin, Cyrillic, Arabic), and in
#: one of three or more (Chinese, Hindi, Thai). `MOST`: more than the tokenizers of Qwen, DeepSeek,
#: Mistral and SmolLM2 have in any of 15 languages and forms (5.1 and 3.0 at the most); `USUAL`:
#: about as many as they have.
MOST = (6.0, 3.5)
USUAL = (4.0, 2.0)

#: No letter up to this one has three bytes.
_TWO_BYTES = "\u07ff"

#: Tokens that a chat format may add to a call, unseen in its texts.
_UNSEEN = 100

#: How many times one number must be the other before a difference is said.
FACTOR = 3


class TokenCounts(NamedTuple):
    """Tokens of a call: those of the prompt, and those of the answer."""

    prompt: int = 0
    answer: int = 0

    def plus(self, extra: TokenCounts) -> TokenCounts:
        """Return the tokens of both."""
        return TokenCounts(self.prompt + extra.prompt, self.answer + extra.answer)


def count_tokens(reported: int | None, text: str) -> int:
    """Return the tokens of a text that count: those stated, if there can be so few.

    Examples
    --------
    >>> count_tokens(15, "Is it raining today in Paris, or is the sky blue?")
    15
    >>> count_tokens(0, "Is it raining today in Paris, or is the sky blue?")
    12
    """
    wide = sum(letter > _TWO_BYTES for letter in text)
    narrow = len(text) - wide
    # A short text may be a long word, which is one token: two tokens are left off.
    least = max(int(narrow / MOST[0] + wide / MOST[1]) - 2, min(len(text), 1))
    if reported is not None and reported >= least:
        return reported
    return max(least, int(narrow / USUAL[0] + wide / USUAL[1]))


def estimated_beyond(
    counted: TokenCounts, lines: Iterable[Mapping[str, Any]]
) -> dict[str, list[int]]:
    """Return, for the record, how many tokens count beyond those that the lines of a call state."""
    reported = TokenCounts()
    for line in lines:
        counts = (as_count(line.get("input_tokens")), as_count(line.get("output_tokens")))
        reported = reported.plus(TokenCounts(*(count or 0 for count in counts)))
    beyond = [max(most - least, 0) for most, least in zip(counted, reported, strict=True)]
    return {"estimated_tokens": beyond} if any(beyond) else {}


def count_reply(prompt: str, output: ModelOutput) -> TokenCounts:
    """Return the tokens of a reply that count, as `count_tokens` has it."""
    reported = _reported_counts(output.usage) if output.usage else TokenCounts()
    return TokenCounts(
        count_tokens(reported.prompt, prompt), count_tokens(reported.answer, _text(output))
    )


def _reported_counts(usage: ModelUsage) -> TokenCounts:
    """Return the tokens that a provider states."""
    return TokenCounts(as_count(tokens_in(usage)) or 0, as_count(usage.output_tokens) or 0)


def _text(output: ModelOutput) -> str:
    """Return all that a model wrote, its reasoning where that can be read."""
    messages = [choice.message for choice in output.choices]
    return "".join(reasoning_text(message.content) + message.text for message in messages)


class UsageCheck:
    """Compares what a model's server states with the sizes of its texts; says once what is off."""

    def __init__(self, model: str) -> None:
        self.model = model
        self.stated = self.estimated = self.replies = 0
        self.warned = False

    def add(self, prompt: str, output: ModelOutput) -> None:
        """Compare the tokens of all replies so far, with those of another."""
        usage = output.usage
        if usage is None or self.warned:
            return
        # Reasoning that is stated may be hidden; it has no text to compare with.
        has_reasoning = any(reasoning_text(choice.message.content) for choice in output.choices)
        hidden = 0 if has_reasoning else as_count(usage.reasoning_tokens) or 0
        self.stated += max(sum(_reported_counts(usage)) - hidden, 0)
        self.estimated += count_tokens(None, prompt) + count_tokens(None, _text(output))
        self.replies += 1
        too_few = FACTOR * self.stated < self.estimated
        too_many = self.stated > FACTOR * self.estimated + _UNSEEN * self.replies
        if too_few or too_many:
            self.warned = True
            _log.warning(
                f"{self.model}: its server states {self.stated:,} tokens where such texts have "
                f"about {self.estimated:,}; the larger number counts against limits"
            )


def tokens_in(usage: ModelUsage) -> int:
    """Return the tokens of a prompt, those in the provider's cache included."""
    cached = (usage.input_tokens_cache_read, usage.input_tokens_cache_write)
    return int(usage.input_tokens + sum(number or 0 for number in cached))


def reasoning_text(content: str | Sequence[Any]) -> str:
    """Return the reasoning in a message; of reasoning that is hidden, the provider's summary.

    `content`: a text, or inspect's parts of one, as objects or as its log has them.
    """
    texts = []
    parts: Sequence[Any] = () if isinstance(content, str) else content
    for part in parts:
        fields = part if isinstance(part, dict) else part.model_dump()
        if fields.get("type") == "reasoning":
            texts.append(
                fields.get("summary") if fields.get("redacted") else fields.get("reasoning")
            )
    return "\n\n".join(text for text in texts if text)
