"""Option log-probabilities: how likely each of two words is to begin the answer.

A provider lists the most likely first tokens. A token counts for an option when the option
begins with it (or it with the option) and the other option does not, whatever its case, leading
space or quote; an option's probability is the sum over its tokens. Both options must be seen.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from typing import Protocol

__all__ = ["option_logprobs"]


class _Token(Protocol):
    token: str
    logprob: float


class _First(_Token, Protocol):
    top_logprobs: Sequence[_Token] | None


def option_logprobs(first: _First, options: Sequence[str]) -> list[float | None]:
    """Log-probability of each option, or None where none of its tokens is listed.

    Parameters
    ----------
    first
        The first generated position, with its most likely tokens.
    options
        The options as shown.

    Returns
    -------
    list of float or None
        Natural logarithms, one per option.
    """
    tokens: Iterable[_Token] = first.top_logprobs or [first]
    totals = [0.0] * len(options)
    for token in tokens:
        matches = [i for i, option in enumerate(options) if _begins(token.token, option)]
        if len(matches) == 1:
            totals[matches[0]] += math.exp(token.logprob)
    return [math.log(total) if total > 0 else None for total in totals]


def _begins(token: str, option: str) -> bool:
    text = token.strip(" \t\n\"'`*ĠĊ▁").casefold()
    word = option.casefold()
    if not text:
        return False
    return word.startswith(text) or (text.startswith(word) and not text[len(word)].isalpha())
