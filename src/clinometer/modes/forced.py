"""Forced choice: one attribute at a time, and the log-probabilities of two options.

For base and local models. There is no sampling noise, so each question is asked once. The provider
lists the most likely first tokens. A token counts for an option if one of the two begins with the
other and the same does not hold for the second option; case, leading spaces and quotes are ignored,
and tokens that are parts of characters are compared as bytes (`tokens`). The probability of an
option is the sum over its tokens. A question whose options have next to no probability has no
answer (`first_tokens`). A response is stored as ``{attribute: [first, second]}`` in JSON, natural
logarithms; the other first tokens are stored beside it.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from clinometer.models.providers import Provider, find_provider
from clinometer.modes.first_tokens import FirstTokens, read_options, write_first_tokens
from clinometer.modes.mode import LOGITS, Message, Mode, Read, sent_texts
from clinometer.modes.tokens import ListedToken

if TYPE_CHECKING:
    from inspect_ai.model import GenerateConfig, Logprob, ModelOutput, TopLogprob


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


def _read(trial: Mapping[str, Any], outputs: Sequence[ModelOutput], model: str) -> Read:
    """Read the log-probabilities of the two options for each attribute."""
    logprobs: dict[str, list[float | None]] = {}
    first_tokens: dict[str, FirstTokens] = {}
    # The first output is also read alone.
    for word, output in zip(trial["attributes"], outputs, strict=False):
        tokens = _first_tokens(output, model)
        if find_provider(model).exact:
            logprobs[word] = _exact_logprobs(tokens, trial["options"])
        else:
            logprobs[word], first_tokens[word] = read_options(tokens, trial["options"])
    response = json.dumps(logprobs, ensure_ascii=False)
    return Read(response, "stop", write_first_tokens(first_tokens) if first_tokens else None)


def _settings(trial: Mapping[str, Any], provider: Provider) -> GenerateConfig:
    from inspect_ai.model import GenerateConfig

    choice = {"structured_outputs": {"choice": [f" {option}" for option in trial["options"]]}}
    return GenerateConfig(
        logprobs=True,
        top_logprobs=provider.top_logprobs,
        max_tokens=None if provider.exact else 1,
        extra_body=choice if provider.exact else None,
    )


def _first_tokens(output: ModelOutput, model: str) -> list[ListedToken]:
    """Return the most likely tokens, or options, of the first generated position."""
    logprobs = output.choices[0].logprobs if output.choices else None
    if logprobs is None or not logprobs.content:
        from clinometer.modes.needs import lack_error

        raise lack_error(model, MODE)
    first = logprobs.content[0]
    listed: Sequence[Logprob | TopLogprob] = first.top_logprobs or [first]
    return [ListedToken(token.token, token.logprob, token.bytes) for token in listed]


def _exact_logprobs(listed: Iterable[ListedToken], options: Sequence[str]) -> list[float | None]:
    """Return log-probabilities of complete options; one may be a prefix of another: cat, cats."""
    logprobs = {token.text: token.logprob for token in listed}
    return [logprobs.get(f" {option}") for option in options]


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
