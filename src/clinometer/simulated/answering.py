"""Answers one call as a simulated model: messages and settings in, texts or log-probabilities out.

The same call has the same answer, whatever else is asked at the time: all random numbers follow
from the seed of the truth, the messages, the settings and the call's own seed.
"""

from __future__ import annotations

import hashlib
import json
import math
import random
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

from clinometer.contracts.catalogue import INSTRUMENTS
from clinometer.contracts.simulation import PlantedLean, RecognisedPrompt, SimulatedAnswer
from clinometer.modes import CHOICES, LIKELIHOODS, LOGITS, TEXT
from clinometer.simulated.anything import Anything, answer_anything
from clinometer.simulated.prompts import CHOICE, read_prompt, sort_options
from clinometer.simulated.recognising import Recognition
from clinometer.simulated.truth import Simulation
from clinometer.simulated.writing import REFUSALS, fill_schema, write_text

#: Characters of a token.
CHARACTERS = 4

#: What a simulated model says to all that is no prompt of a known study.
UNKNOWN = "This is a simulated model. It knows the questions of Clinometer's studies alone."

#: Probability of all options together; the rest goes to tokens that are no option.
OFFERED = 0.98

#: Log-probability of each end of a sentence that is not known, and of one that is never chosen.
UNLIKELY = -20.0

#: Tokens at the beginning of a refusal.
DECLINING = ("I", "Sorry", "As")


@dataclass(frozen=True)
class SimulatedCall:
    """What is sent to a model."""

    messages: Sequence[tuple[str, str]]
    """Role and text of each message."""
    properties: Mapping[str, Sequence[str]] | None = None
    """Of a JSON schema: name → allowed values."""
    options: Sequence[str] | None = None
    """The texts of which one is the answer."""
    logprobs: bool = False
    seed: int | None = None
    plain: bool = False
    """Whether the message is a sentence left open, and the options are its ends."""

    @property
    def input_tokens(self) -> int:
        """The length of the messages."""
        return sum(_tokens(text) for _, text in self.messages)

    @property
    def kind(self) -> str:
        """The kind of answer that is asked for."""
        if self.properties is not None:
            return CHOICES
        if self.plain:
            return LIKELIHOODS
        return LOGITS if self.options is not None or self.logprobs else TEXT

    def random(self, seed: int) -> random.Random:
        """Return random numbers that follow from all that is sent.

        Log-probabilities do not depend on the seed of a call.
        """
        call_seed = None if self.kind in (LOGITS, LIKELIHOODS) else self.seed
        sent = [seed, call_seed, [*self.messages], self.properties, self.options]
        text = json.dumps(sent, default=list)
        return random.Random(hashlib.sha256(text.encode("utf-8", "replace")).digest())


@dataclass(frozen=True)
class SimulatedReply:
    """What a model sends back."""

    text: str
    logprobs: Sequence[tuple[str, float]] = ()
    """The first position: tokens, or whole options, and their log-probabilities."""
    reasoning_tokens: int | None = None
    recognised: bool = True
    """Whether the prompt is one of a known study."""
    cut: bool = False
    """Whether the text ends at the longest that was asked for."""

    @property
    def output_tokens(self) -> int:
        """The length of the text and of the reasoning before it."""
        return _tokens(self.text) + (self.reasoning_tokens or 0)

    def up_to(self, longest: int | None) -> SimulatedReply:
        """Return the reply with a text of at most so many tokens."""
        if longest is None or _tokens(self.text) <= longest:
            return self
        return replace(self, text=self.text[: longest * CHARACTERS], cut=True)


def answer(simulation: Simulation, recognition: Recognition, call: SimulatedCall) -> SimulatedReply:
    """Answer a call."""
    if simulation.truth.anything is not None:
        return _answer_anything(simulation, simulation.truth.anything, recognition, call)
    question = find_question(recognition, call)
    if question is None and call.kind == LIKELIHOODS:
        ends = [(end, UNLIKELY) for end in call.options or ()]
        return SimulatedReply("", ends, recognised=False)
    if question is None:
        reply = _list_options(call, {}, 0.0) if call.kind == LOGITS else SimulatedReply(UNKNOWN)
        return replace(reply, recognised=False)
    intention, rng = intend(simulation, question, call)
    return _write(simulation, call, intention, rng)


def _write(
    simulation: Simulation,
    call: SimulatedCall,
    intention: SimulatedAnswer | None,
    rng: random.Random,
) -> SimulatedReply:
    """Write what is to be answered as the call asks for it; None is a refusal."""
    if intention is None:
        return _refusal(simulation, call, rng)
    if call.kind == LIKELIHOODS:
        return SimulatedReply("", [*_listed_ends(call, intention.shares)])
    if call.kind == LOGITS:
        return _list_options(call, intention.shares, OFFERED)
    if call.properties is not None:
        content = fill_schema(intention, call.properties)
        return SimulatedReply(content, (), intention.reasoning_tokens)
    form = rng.choice(simulation.truth.format)
    return SimulatedReply(write_text(intention, form), (), intention.reasoning_tokens)


def _answer_anything(
    simulation: Simulation, planted: Anything, recognition: Recognition, call: SimulatedCall
) -> SimulatedReply:
    """Answer a call whatever its prompt is; two options that it names are the answers."""
    prompt = read_prompt("\n\n".join(text for _, text in call.messages), recognition.people)
    allowed = [option.strip() for option in call.options or ()]
    if call.properties:
        allowed = [*next(iter(call.properties.values()))]
    if len(allowed) == 2:
        options, good_first = sort_options(*allowed)
        prompt = replace(prompt, kind=CHOICE, options=options, good_first=good_first)
    rng = call.random(simulation.truth.seed)
    return _write(
        simulation, call, answer_anything(planted, prompt, simulation.truth.seed, rng), rng
    )


def _listed_ends(call: SimulatedCall, shares: Mapping[str, float]) -> Iterator[tuple[str, float]]:
    """Yield each end of a sentence with its log-probability, which is never infinite."""
    for end in call.options or ():
        yield end, _logarithm(shares[end.strip()])


def _logarithm(share: float) -> float:
    """Return a log-probability; a lean at the end of the scale leaves nothing to one of two."""
    return math.log(share) if share > 0 else UNLIKELY


def find_question(recognition: Recognition, call: SimulatedCall) -> RecognisedPrompt | None:
    """Return the question that a call puts; None if it is not known."""
    texts = [text for role, text in call.messages if role == "user"]
    if not texts:
        return None
    if call.kind == LIKELIHOODS:  # before the sentence may stand a system prompt
        sentence = texts[-1].rpartition("\n\n")[2]
        return recognition.find([sentence], [end.strip() for end in call.options or ()])
    return recognition.find(texts)


def intend(
    simulation: Simulation, question: RecognisedPrompt, call: SimulatedCall
) -> tuple[SimulatedAnswer | None, random.Random]:
    """Return what is to be answered, None for a refusal, and the random numbers of the call."""
    rng = call.random(simulation.truth.seed)
    question = replace(question, kind=call.kind)
    # The answer is drawn before the refusal, which may depend on it.
    intention = _say(simulation, question, rng)
    return (None if _refuses(simulation, question, intention, rng) else intention), rng


def allowed_values(schema: Mapping[str, Any]) -> dict[str, list[str]]:
    """Return the allowed texts of each property of a JSON schema; one empty text if it has none."""
    values = {}
    for name, rules in (schema.get("properties") or {}).items():
        values[name] = list(map(str, rules.get("enum") or [""]))
    return values


def _tokens(text: str) -> int:
    """Return how many tokens a text is counted as."""
    return -(-len(text) // CHARACTERS)


def _say(simulation: Simulation, question: RecognisedPrompt, rng: random.Random) -> SimulatedAnswer:
    simulate = INSTRUMENTS[question.instrument].simulate
    lean = PlantedLean(
        simulation.lean_of(question),
        simulation.truth.order,
        rng,
        f"{simulation.truth.seed}",
        partial(simulation.lean_in_wording, question),
    )
    return simulate(question, lean) if simulate is not None else SimulatedAnswer(0.0)


def _refuses(
    simulation: Simulation,
    question: RecognisedPrompt,
    intention: SimulatedAnswer,
    rng: random.Random,
) -> bool:
    refusals = simulation.truth.refusals
    if question.kind == LIKELIHOODS:  # nothing is said
        return False
    first = question.groups[0][1] if question.groups else ""
    applies = {
        "anywhere": True,
        "consistent": intention.lean > 0,
        "inconsistent": intention.lean < 0,
        "marginalized": first == "marginalized",
        "default": first == "default",
    }
    # No number is drawn where no refusal applies: other answers stay as they are.
    return applies[refusals.where] and rng.random() < refusals.rate


def _refusal(simulation: Simulation, call: SimulatedCall, rng: random.Random) -> SimulatedReply:
    if call.kind == LOGITS:
        return _list_options(call, {}, 0.0)
    return SimulatedReply(rng.choice(simulation.truth.refusals.texts or REFUSALS))


def _list_options(
    call: SimulatedCall, shares: Mapping[str, float], offered: float
) -> SimulatedReply:
    """List the options that were asked for, or all, and the beginnings of a refusal.

    Options of vLLM's form begin with a space. One without a probability is not listed.
    """
    texts = {option.strip(): option for option in call.options or shares}
    listed = []
    for option, text in texts.items():
        if option in shares:
            listed.append((text, _logarithm(offered * shares[option])))
    rest = (1 - offered) / len(DECLINING)
    listed += [(token, math.log(rest)) for token in DECLINING]
    listed.sort(key=lambda alternative: -alternative[1])
    return SimulatedReply(listed[0][0], listed)
