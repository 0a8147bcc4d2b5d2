"""Option log-probabilities: how likely each of two words is to begin the answer.

A provider lists the most likely first tokens. A token counts for an option when the option
begins with it (or it with the option) and the other option does not, whatever its case, leading
space or quote; an option's probability is the sum over its tokens. Both options must be seen.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence

__all__ = ["option_logprobs"]


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
