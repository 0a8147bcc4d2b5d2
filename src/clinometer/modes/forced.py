"""Forced choice: one attribute at a time, and the log-probabilities of two options.

For base and local models. There is no sampling noise, so each question is asked once. The provider
lists the most likely first tokens. A token counts for an option if one of the two begins with the
other and the same does not hold for the second option; case, leading spaces and quotes are ignored.
The probability of an option is the sum over its tokens. Both options must be among the listed
tokens. A response is stored as ``{attribute: [first, second]}`` in JSON, natural logarithms.
"""

from __future__ import annotations

import json
import math
from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from clinometer.models.bodies import NEVER
from clinometer.models.providers import Provider, find_provider
from clinometer.modes.mode import LOGITS, Message, Mode, sent_texts

if TYPE_CHECKING:
    from inspect_ai.model import GenerateConfig, ModelOutput

__all__ = ["MODE", "option_logprobs"]


def _close(_: Any, options: Sequence[str] | None, opening: str | None) -> dict[str, Any]:
    return {"options": options and list(options), "opening": opening}


def _sent(trial: Mapping[str, Any], profile: str | None, to: Provider) -> list[list[Message]]:
    """Return the messages of each call: of the profile, if any, then one for each attribute."""
    *described, conversation = sent_texts(trial, profile, to)
    if trial["followup"] and not described:
        return [conversation]
    calls = [*described]
    last = conversation[-1]
    for word in trial["attributes"] or ():
        # A second prompt quotes the model's own words, in which nothing is filled in.
        content = last["content"] if described else last["content"].replace("{attribute}", word)
        calls.append([*conversation[:-1], {**last, "content": content}])
        if to.opened and trial["opening"]:
            text = trial["opening"].replace("{attribute}", word)
            calls[-1].append({"role": "assistant", "content": text})
    return calls


def _read(trial: Mapping[str, Any], outputs: Sequence[ModelOutput], model: str) -> tuple[str, str]:
    """Read the log-probabilities of the two options for each attribute."""
    logprobs_of = _exact_logprobs if find_provider(model).exact else option_logprobs
    logprobs = [logprobs_of(_first_tokens(output, model), trial["options"]) for output in outputs]
    words = trial["attributes"][: len(outputs)]
    return json.dumps(dict(zip(words, logprobs, strict=True)), ensure_ascii=False), "stop"


def _settings(trial: Mapping[str, Any], provider: Provider) -> GenerateConfig:
    from inspect_ai.model import GenerateConfig

    choice = {"structured_outputs": {"choice": [f" {option}" for option in trial["options"]]}}
    return GenerateConfig(
        logprobs=True,
        top_logprobs=provider.top_logprobs,
        max_tokens=None if provider.exact else 1,
        extra_body=choice if provider.exact else None,
    )


def _first_tokens(output: ModelOutput, model: str) -> list[tuple[str, float]]:
    """Return the most likely tokens, or options, of the first generated position."""
    logprobs = output.choices[0].logprobs if output.choices else None
    if logprobs is None or not logprobs.content:
        from clinometer.modes.needs import lack_error

        raise lack_error(model, MODE)
    first = logprobs.content[0]
    listed = [(token.token, token.logprob) for token in first.top_logprobs or []]
    return listed or [(first.token, first.logprob)]


def option_logprobs(
    tokens: Iterable[tuple[str, float]], options: Sequence[str]
) -> list[float | None]:
    """Return the log-probability of each option; None of all if no token of any is listed.

    `tokens` are the most likely tokens of the first generated position, with natural logarithms.
    An option that is not among them is less likely than each: it has the least that is listed, a
    bound that makes its disadvantage smaller than it is. Without alternatives it has None.

    Examples
    --------
    >>> option_logprobs([(" old", -0.5), ("young", -1.0), ("The", -3.0)], ["old", "young"])
    [-0.5, -1.0]
    >>> option_logprobs([(" old", -0.5), ("The", -3.0)], ["old", "young"])
    [-0.5, -3.0]
    """
    listed = [(token, max(logprob, NEVER)) for token, logprob in tokens]
    of_option: list[list[float]] = [[] for _ in options]
    for token, logprob in listed:
        matches = [number for number, option in enumerate(options) if _matches(token, option)]
        # A token that begins both options speaks for neither.
        if len(matches) == 1:
            of_option[matches[0]].append(logprob)
    if not any(of_option):
        return [None] * len(options)
    least = min(logprob for _, logprob in listed) if len(listed) > 1 else None
    return [_add_probabilities(logprobs) if logprobs else least for logprobs in of_option]


def _add_probabilities(logprobs: Sequence[float]) -> float:
    """Return the logarithm of the sum of probabilities, however small they are."""
    most = max(logprobs)
    return most + math.log(sum(math.exp(logprob - most) for logprob in logprobs))


def _exact_logprobs(
    listed: Iterable[tuple[str, float]], options: Sequence[str]
) -> list[float | None]:
    """Return log-probabilities of complete options; one may be a prefix of another: cat, cats."""
    logprobs = dict(listed)
    return [logprobs.get(f" {option}") for option in options]


def _matches(token: str, option: str) -> bool:
    text = token.strip(" \t\n\"'`*ĠĊ▁").casefold()
    word = option.casefold()
    if not text:
        return False
    return word.startswith(text) or (text.startswith(word) and not text[len(word)].isalpha())


MODE = Mode(
    "forced",
    "one attribute at a time, read as the log-probabilities of two options",
    LOGITS,
    _read,
    _settings,
    _close,
    needs="logprobs",
    per_attribute=True,
    sampled=False,
    place=3,
    sent=_sent,
    calls=lambda trial, _: len(trial["attributes"]) + bool(trial["followup"]),
)
