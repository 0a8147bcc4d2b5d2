"""Recorded log-probabilities: ``{attribute: [first option, second, …]}`` in JSON, natural logs.

An option that the provider did not list is null.
"""

from __future__ import annotations

import json
import math
from collections.abc import Sequence
from typing import Any, NamedTuple

from clinometer.numbers import number

#: Log-odds are clipped to ± this value so that their exponential is finite.
BOUND = 50.0


def read_logits(recorded: str, attributes: Sequence[str]) -> dict[str, float]:
    """Read recorded log-probabilities: attribute → log-odds of the first option, −50…50.

    Words for which an option was not listed are left out. Malformed text gives an empty result.
    """
    pairs = parse_logprobs(recorded)
    logits: dict[str, float] = {}
    for word in attributes:
        pair = pairs.get(word)
        if isinstance(pair, list) and len(pair) == 2 and all(map(_is_number, pair)):
            logits[word] = max(-BOUND, min(BOUND, pair[0] - pair[1]))
    return logits


def read_probabilities(recorded: str, attribute: str) -> list[float]:
    """Read the probabilities of all options of one attribute, which sum to 1.

    An option that was not listed counts 0. Empty if none was listed, or the text is malformed.

    Examples
    --------
    >>> read_probabilities('{"q": [-1.0, -1.0, null]}', "q")
    [0.5, 0.5, 0.0]
    """
    logprobs = parse_logprobs(recorded).get(attribute)
    if not isinstance(logprobs, list) or not any(map(_is_number, logprobs)):
        return []
    best = max(filter(_is_number, logprobs))
    # Relative to the best: the exponentials of very small ones would all be 0.
    weights = [math.exp(logprob - best) if _is_number(logprob) else 0.0 for logprob in logprobs]
    return [weight / sum(weights) for weight in weights]


def readable_prompt(prompt: str, options: Sequence[str] | None) -> str:
    """Return a prompt for readers: of an open sentence, with its options and a gap at the end.

    Any other text is returned as it is.

    Examples
    --------
    >>> readable_prompt("When people hear {option}, they think of {attribute}", ["old", "young"])
    'When people hear old | young, they think of …'
    """
    if "{option}" not in prompt or not options:
        return prompt
    return prompt.replace("{option}", " | ".join(options)).replace("{attribute}", "…")


def in_words(response: str, options: Sequence[str] | None) -> str:
    """Return an answer for readers: of log-probabilities, the probabilities of the options.

    The answers of an episode follow each other, with their numbers. Any other text is returned as
    it is.

    Examples
    --------
    >>> in_words('{"joy": [-1.0, -1.0], "pain": [0.0, -4.0]}', ["fat", "thin"])
    'probability of “fat”: joy 0.50, pain 0.98'
    """
    if steps := read_steps(response):
        texts = [
            f"{number}: {in_words(step.response, options)}" for number, step in enumerate(steps, 1)
        ]
        return "; ".join(texts)
    if not options:
        return response
    probabilities = {word: read_probabilities(response, word) for word in parse_logprobs(response)}
    if not any(len(per_option) == len(options) for per_option in probabilities.values()):
        return response
    if len(options) == 2:
        texts = [
            f"{word} {number(pair[0])}" for word, pair in probabilities.items() if len(pair) == 2
        ]
        return f"probability of “{options[0]}”: {', '.join(texts)}"
    texts = []
    for word, per_option in probabilities.items():
        # A word without recorded options has none here.
        pairs = zip(options, per_option, strict=False)
        texts.append(f"{word}: {', '.join(f'{option} {number(p)}' for option, p in pairs)}")
    return f"probabilities: {'; '.join(texts)}"


class Step(NamedTuple):
    """The answer to a question of an episode: columns of `results.RESPONSES`."""

    response: str
    stop_reason: str | None
    first_tokens: str | None = None


def read_steps(response: str) -> list[Step]:
    """Read the answers of an episode; none of any other text.

    Examples
    --------
    >>> [step.response for step in read_steps('[["weaving", "stop"], ["baking", null]]')]
    ['weaving', 'baking']
    """
    if not response.startswith("[["):
        return []
    try:
        rows = json.loads(response)
    except (ValueError, RecursionError):
        return []
    steps: list[Step] = []
    for row in rows:
        match row:
            case [str(text), str() | None as stop_reason]:
                steps.append(Step(text, stop_reason))
            case [str(text), str() | None as stop_reason, str(first_tokens)]:
                steps.append(Step(text, stop_reason, first_tokens))
            case _:
                return []
    return steps


def parse_logprobs(recorded: str) -> dict[str, Any]:
    """Parse an object of recorded values by question; empty if malformed."""
    try:
        content = json.loads(recorded)
    except (ValueError, RecursionError):
        return {}
    return content if isinstance(content, dict) else {}


def _is_number(value: object) -> bool:
    return isinstance(value, float | int) and math.isfinite(value)
