"""Option log-probabilities: how likely each of two words is to begin the answer.

A provider lists the most likely first tokens. A token counts for an option when the option
begins with it (or it with the option) and the other option does not, whatever its case, leading
space or quote; an option's probability is the sum over its tokens. Both options must be seen.
"""

from __future__ import annotations

import json
import math
from collections.abc import Iterable, Sequence

__all__ = ["option_logprobs", "read_logits"]

#: Log-odds are held within this, so that their exponential stays a number.
BOUND = 50.0


def option_logprobs(
    tokens: Iterable[tuple[str, float]], options: Sequence[str]
) -> list[float | None]:
    """Log-probability of each option, or None where none of its tokens is listed.

    Parameters
    ----------
    tokens
        The most likely tokens of the first generated position and their log-probabilities.
    options
        The options as shown.

    Returns
    -------
    list of float or None
        Natural logarithms, one per option.

    Examples
    --------
    >>> option_logprobs([(" old", -0.5), ("young", -1.0), ("The", -3.0)], ["old", "young"])
    [-0.5, -1.0]
    """
    totals = [0.0] * len(options)
    for token, logprob in tokens:
        matches = [i for i, option in enumerate(options) if _begins(token, option)]
        if len(matches) == 1:
            totals[matches[0]] += math.exp(logprob)
    return [math.log(total) if total > 0 else None for total in totals]


def _begins(token: str, option: str) -> bool:
    text = token.strip(" \t\n\"'`*ĠĊ▁").casefold()
    word = option.casefold()
    if not text:
        return False
    return word.startswith(text) or (text.startswith(word) and not text[len(word)].isalpha())


def read_logits(recorded: str, attributes: Sequence[str]) -> dict[str, float]:
    """Read recorded log-probabilities, ``{attribute: [marginalized, default]}`` in JSON.

    Parameters
    ----------
    recorded
        The response of a `forced` trial; anything else gives nothing.
    attributes
        The words asked about.

    Returns
    -------
    dict
        Attribute → log-odds of the marginalized option, −50…50. Words with an option unseen
        are left out.
    """
    try:
        pairs = json.loads(recorded)
    except (ValueError, RecursionError):
        return {}
    logits: dict[str, float] = {}
    for word in attributes:
        pair = pairs.get(word) if isinstance(pairs, dict) else None
        if isinstance(pair, list) and len(pair) == 2 and all(map(_is_number, pair)):
            logits[word] = max(-BOUND, min(BOUND, pair[0] - pair[1]))
    return logits


def _is_number(value: object) -> bool:
    return isinstance(value, float | int) and math.isfinite(value)
