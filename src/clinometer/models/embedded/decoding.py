"""From log-probabilities to an answer: free text, one of some options, or a JSON object of such.

A decoder is a generator. It yields the segments it needs, finds their log-probabilities filled in
when it goes on, and returns an `Answer`. It knows nothing of other requests, and its random
numbers come from its own seed and prompt, so its answer does not depend on its neighbours.
`side_by_side` makes one generator of several decoders, for a request with several answers.

A token or an option is drawn by inversion: one uniform number each, in double precision. The
numbers come from Python's Mersenne Twister, seeded with the SHA-256 of the seed and the
prompt's tokens: they are the same on every machine and independent of other requests.
"""

from __future__ import annotations

import hashlib
import json
import math
import os
import random
from collections.abc import Callable, Generator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Literal

import torch

from clinometer.errors import ModelError
from clinometer.models.embedded.engine import Engine, Segment, prompt_chain

#: Digits of the log-probabilities that are handed out; below is rounding noise.
DIGITS = 4


@dataclass(frozen=True)
class Position:
    """What was taken at one position, and the likeliest alternatives."""

    text: str
    logprob: float
    top: list[tuple[str, float]]


@dataclass(frozen=True)
class Answer:
    """A finished answer with its tokens counted."""

    text: str
    stop_reason: Literal["stop", "max_tokens", "model_length"]
    input_tokens: int
    output_tokens: int
    positions: list[Position] = field(default_factory=list)


Decoder = Generator[list[Segment], None, Answer]

#: Several decoders that go on together.
Decoders = Generator[list[Segment], None, list[Answer]]


def side_by_side(decoders: Sequence[Decoder]) -> Decoders:
    """Let decoders go on together, so that what they have in common is computed once.

    The engine runs equal segments with equal ancestors once: decoders of one prompt share its keys
    and values, and those of every beginning that they draw alike. Answers stand in the order of the
    decoders, of which there is at least one.
    """
    answers: dict[int, Answer] = {}
    while len(answers) < len(decoders):
        segments: list[Segment] = []
        for number, decoder in enumerate(decoders):
            if number in answers:
                continue
            try:
                segments += next(decoder)
            except StopIteration as finished:
                answers[number] = finished.value
        if segments:
            yield segments
    return [answers[number] for number in range(len(decoders))]


def complete(engine: Engine, prompt: Sequence[int], sampling: Sampling) -> Decoder:
    """Continue a prompt (tokens of the whole chat) token by token.

    The token that ends the answer is counted and has its log-probabilities, but no text, so there
    is a first position even if the model has nothing to say.
    """
    room = _room(engine, prompt)
    uniform = uniform_source(sampling.seed, prompt)
    tokens: list[int] = []
    positions: list[Position] = []
    segments = prompt_chain(prompt, scored=1)
    while True:
        yield segments
        row = segments[-1].take_logprobs()[0]
        token = draw(row, sampling, uniform)
        tokens.append(token)
        if sampling.top_logprobs is not None:
            positions.append(_position(engine, row, token, sampling.top_logprobs))
        text, ended = _text_so_far(engine, tokens, sampling.stops)
        if ended:
            return Answer(text, "stop", len(prompt), len(tokens), positions)
        if len(tokens) >= sampling.max_tokens:
            return Answer(text, "max_tokens", len(prompt), len(tokens), positions)
        if len(tokens) >= room:
            return Answer(text, "model_length", len(prompt), len(tokens), positions)
        segments = [Segment((token,), segments[-1], range(1))]


def choose(
    engine: Engine, prompt: Sequence[int], options: Sequence[str], sampling: Sampling
) -> Decoder:
    """Answer with one of a few texts, each scored as a whole.

    Options are what may follow to the letter: with the space before it where one belongs. Of
    `sampling` only `temperature` and `seed` apply. The answer has one position, with the options as
    alternatives.
    """
    _room(engine, prompt)
    uniform = uniform_source(sampling.seed, prompt)
    chain = prompt_chain(prompt, scored=1)
    stem = chain[-1]
    tokens = [tuple(engine.encode(option)) for option in options]
    # What follows the last token of an option is not asked, and most options are one token.
    beginnings = [option_tokens[:-1] for option_tokens in tokens]
    branches = {beginning: _stretch(beginning, stem) for beginning in beginnings if beginning}
    yield [*chain, *branches.values()]
    first = stem.take_logprobs()
    scores = []
    for option_tokens, beginning in zip(tokens, beginnings, strict=True):
        following = branches[beginning].logprobs if beginning else None
        scores.append(_score(option_tokens, first, following))
    index, position = _draw_option(options, scores, sampling, uniform)
    return Answer(options[index], "stop", len(prompt), len(tokens[index]), [position])


def fill(
    engine: Engine,
    prompt: Sequence[int],
    properties: Mapping[str, Sequence[str]],
    sampling: Sampling,
) -> Decoder:
    """Fill a JSON object whose values are each one of a few strings.

    Names, quotes and braces, as ``json.dumps`` writes them, are put before the model. At each value
    the whole of every option, with the quote and comma after it, is scored after everything chosen
    so far; the value is drawn from these probabilities, renormalised and sharpened by the
    temperature. Name, option and closing are tokenised each by itself: for words of letters the
    tokens are those of the whole text.

    Of `sampling` only `temperature` and `seed` apply. The answer has one position per property,
    with the options as alternatives.
    """
    _room(engine, prompt)
    uniform = uniform_source(sampling.seed, prompt)
    values: dict[str, str] = {}
    positions: list[Position] = []
    output_tokens = 0
    new_segments = prompt_chain(prompt)
    last = new_segments[-1]
    for name, options in properties.items():
        opening = ("{" if not values else " ") + json.dumps(name, ensure_ascii=False) + ': "'
        closing = '"}' if len(values) == len(properties) - 1 else '",'
        tokens = tuple(engine.encode(opening))
        stem = Segment(tokens, last, range(len(tokens) - 1, len(tokens)))
        escaped = [json.dumps(option, ensure_ascii=False)[1:-1] for option in options]
        branches = [_branch(engine, option + closing, stem) for option in escaped]
        yield [*new_segments, stem, *branches]
        first = stem.take_logprobs()
        scores = [_score(branch.tokens, first, branch.take_logprobs()) for branch in branches]
        index, position = _draw_option(options, scores, sampling, uniform)
        values[name] = options[index]
        positions.append(position)
        new_segments = []  # the prompt has run
        last = branches[index]
        output_tokens += len(stem.tokens) + len(branches[index].tokens)
    text = json.dumps(values, ensure_ascii=False)
    return Answer(text, "stop", len(prompt), output_tokens, positions)


def _draw_option(
    options: Sequence[str],
    scores: Sequence[float],
    sampling: Sampling,
    uniform: Callable[[], float],
) -> tuple[int, Position]:
    """Draw an option by its score, the log-probability of all its tokens."""
    index = pick(scores, sampling.temperature, uniform())
    rounded = [round(score, DIGITS) for score in scores]
    top = sorted(zip(options, rounded, strict=True), key=lambda pair: -pair[1])
    return index, Position(options[index], rounded[index], top)


def _branch(engine: Engine, text: str, stem: Segment) -> Segment:
    tokens = tuple(engine.encode(text))
    return Segment(tokens, stem, range(len(tokens) - 1))


def _stretch(tokens: tuple[int, ...], stem: Segment) -> Segment:
    """Return tokens after each of which the log-probabilities are needed."""
    return Segment(tokens, stem, range(len(tokens)))


def _score(tokens: Sequence[int], first: torch.Tensor, following: torch.Tensor | None) -> float:
    """Return the log-probability of an option's tokens.

    Of `first` (1, vocabulary) the first is drawn, and from row n of `following`, which an option of
    one token has no need of, what comes after token n.
    """
    rest = tokens[1:]
    scores = [first.numpy()[0, tokens[0]]]
    if following is not None and rest:
        scores += following.numpy()[range(len(rest)), rest].tolist()
    return math.fsum(scores)


def _position(engine: Engine, row: torch.Tensor, token: int, count: int) -> Position:
    values, tokens = row.topk(min(count, len(row)))
    top = []
    for alternative, value in zip(tokens.tolist(), values.tolist(), strict=True):
        top.append((engine.decode([alternative], marks=True), round(value, DIGITS)))
    return Position(engine.decode([token], marks=True), round(float(row[token]), DIGITS), top)


def _text_so_far(engine: Engine, tokens: Sequence[int], stops: Sequence[str]) -> tuple[str, bool]:
    """Return the text so far, cut at a stop, and whether it ends here."""
    if tokens[-1] in engine.ends:
        return engine.decode(tokens[:-1]), True
    text = engine.decode(tokens)
    cuts = [text.index(stop) for stop in stops if stop in text]
    return (text[: min(cuts)], True) if cuts else (text, False)


def _room(engine: Engine, prompt: Sequence[int]) -> int:
    room = engine.context - len(prompt)
    if room <= 0:
        raise ModelError(
            f"the prompt has {len(prompt)} tokens; clinometer/smollm2 reads {engine.context}; "
            "ask about fewer words at a time"
        )
    return room


@dataclass(frozen=True)
class Sampling:
    """How tokens and options are drawn.

    A temperature of 0 takes the most probable, the first of equals. `top_p`, `top_k` (None: no
    limit), `max_tokens` and `stops`, which are not part of the text, are of free text. The same
    seed and prompt give the same answer; without a seed it differs every time. `top_logprobs`:
    alternatives to list per position; None lists no log-probabilities at all.
    """

    temperature: float = 1.0
    top_p: float | None = None
    top_k: int | None = None
    max_tokens: int = 256
    stops: tuple[str, ...] = ()
    seed: int | None = None
    top_logprobs: int | None = None


def draw(row: torch.Tensor, sampling: Sampling, uniform: Callable[[], float]) -> int:
    """Draw a token from a row of log-probabilities, by inversion and in double precision."""
    point = uniform()
    if sampling.temperature == 0:
        return int(row.argmax())
    weights = (row.double() / sampling.temperature).softmax(dim=0)
    order = None
    if (sampling.top_p is not None and sampling.top_p < 1) or sampling.top_k is not None:
        weights, order = weights.sort(descending=True, stable=True)
        weights = _nucleus(weights[: sampling.top_k], sampling.top_p)
    sums = weights.cumsum(0)
    index = int(torch.searchsorted(sums, point * sums[-1], right=True).clamp(max=len(sums) - 1))
    return index if order is None else int(order[index])


def _nucleus(weights: torch.Tensor, top_p: float | None) -> torch.Tensor:
    """Keep the first of the sorted weights until they hold the share `top_p`, at least one."""
    if top_p is None:
        return weights
    share = weights.cumsum(0) / weights.sum()
    return weights[: int((share < top_p).sum()) + 1]


def pick(scores: Sequence[float], temperature: float, uniform: float) -> int:
    """Draw an option, given the log-probability of each and a number in [0, 1)."""
    best = max(scores)
    if temperature == 0:
        return scores.index(best)
    weights = [math.exp((score - best) / temperature) for score in scores]
    remainder = uniform * math.fsum(weights)
    for index, weight in enumerate(weights):
        remainder -= weight
        if remainder < 0:
            return index
    return scores.index(best)  # rounding may leave a remainder


def uniform_source(seed: int | None, prompt: Sequence[int]) -> Callable[[], float]:
    """Return a source of numbers in [0, 1) that depends on seed and prompt alone."""
    if seed is None:
        return random.Random(os.urandom(16)).random
    digest = hashlib.sha256(repr((seed, tuple(prompt))).encode()).digest()
    return random.Random(digest).random
