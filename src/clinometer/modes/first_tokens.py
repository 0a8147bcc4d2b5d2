"""What the first tokens of an answer say: how likely its options are, and what else is likely.

Of a model that is asked to choose, the options have most of the probability. A reasoning model
begins with ``<think>``, another declines: then the options stand in the list with next to no
probability, and their ratio says how the model goes on where it never is. Such a question has no
answer. Small and base models spread their probability over many tokens, which is no such case: so
the floor `UNLIKELY` holds where another first token has more than half, and `LEAST` everywhere.

Measured on SmolLM2-135M in its chat format (464 questions, 11 instruments): the options have .09 in
the median (.01 to .41, by instrument), and another first token has more than half in 1%. A floor of
.25 alone would leave out 78% of these questions, .1 55%, .05 35%. The two leave out 16%, most
of which have no number in any case, as no option is among the 20 tokens that are listed.
"""

from __future__ import annotations

import json
import math
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from statistics import fmean
from typing import Any, NamedTuple

from clinometer.models.bodies import NEVER
from clinometer.modes.tokens import ListedToken, begun_options, printable
from clinometer.reading.cleaning import final_answer
from clinometer.reading.refusals import is_refusal

#: Probability of all options below which there is no score, if another first token is likelier than
#: not.
UNLIKELY = 0.25

#: The same whatever else is likely.
LEAST = 0.01

#: Why a question has no answer, by the first tokens: some of `results.REASONS`.
UNANSWERED = ("options_unlikely", "refused", "reasoning", "tokens_unreadable")

#: Other first tokens that are kept.
_MOST_ALTERNATIVES = 5

#: First words of answers that decline, which say too little to be read as a refusal.
_DECLINING = frozenset("i i'm i’m im as unfortunately apologies cannot can't".split())

#: First tokens that open a channel; its name is the next token.
_CHANNELS = ("<|channel|>", "<|channel>")


@dataclass(frozen=True)
class FirstTokens:
    """The probabilities of the first tokens of an answer."""

    options: float | None = None
    """Of all tokens that begin an option; None: not known."""
    alternatives: Sequence[tuple[str, float]] = ()
    """The likeliest of the other tokens."""
    unreadable: float = 0.0
    """Of tokens that cannot be read and may begin an option."""

    def why_unlikely(self, refusals: Sequence[str] = ()) -> str | None:
        """Return why there is no answer, one of `results.REASONS`; None: there is one.

        `refusals` are further phrases that decline, of the study.

        Examples
        --------
        >>> FirstTokens(2e-5, [("<think>", 0.9999)]).why_unlikely()
        'reasoning'
        >>> FirstTokens(0.1, [("The", 0.08), ("A", 0.04)]).why_unlikely()
        """
        if self.options is None or self.options >= UNLIKELY:
            return None
        kinds = defaultdict(float, tokens_unreadable=self.unreadable)
        for text, probability in self.alternatives:
            kinds[_kind(text, tuple(refusals))] += probability
        kind = max(kinds, key=lambda name: kinds[name])
        if kinds[kind] > 0.5:
            return kind if kind in UNANSWERED else "options_unlikely"
        return "options_unlikely" if self.options < LEAST else None

    def fields(self) -> dict[str, Any]:
        """Return what is known as JSON has it, probabilities to four digits."""
        fields: dict[str, Any] = {}
        if self.options is not None:
            fields["options"] = _short(self.options)
        if self.alternatives:
            fields["others"] = [
                [text, _short(probability)] for text, probability in self.alternatives
            ]
        if self.unreadable:
            fields["unreadable"] = _short(self.unreadable)
        return fields

    @classmethod
    def parse(cls, fields: object) -> FirstTokens:
        """Read what `fields` returns; what is malformed is left out."""
        content = fields if isinstance(fields, dict) else {}
        options = content.get("options")
        pairs = content.get("others")
        alternatives: list[tuple[str, float]] = []
        for pair in pairs if isinstance(pairs, list) else ():
            match pair:
                case [str(text), float() | int() as probability]:
                    alternatives.append((text, probability))
        return cls(
            options if _is_probability(options) else None,
            alternatives,
            content["unreadable"] if _is_probability(content.get("unreadable")) else 0.0,
        )


@lru_cache(maxsize=4096)
def _kind(text: str, refusals: tuple[str, ...]) -> str:
    """Return what an answer does that begins so, ``refused`` or ``reasoning``; else the text."""
    if final_answer(text).cut or text.strip() in _CHANNELS:
        return "reasoning"
    if text.strip().casefold() in _DECLINING or is_refusal(text, refusals):
        return "refused"
    return text


def _short(probability: float) -> float:
    return float(f"{probability:.4g}")


def _is_probability(value: object) -> bool:
    return isinstance(value, float | int) and 0 <= value <= 1


def read_options(
    tokens: Iterable[ListedToken], options: Sequence[str]
) -> tuple[list[float | None], FirstTokens]:
    """Return the log-probability of each option, None of all if no token of any is listed.

    And what else the first tokens say. `tokens` are the most likely tokens of the first generated
    position, with natural logarithms. An option that is not among them is less likely than each: it
    has the least that is listed, a bound that makes its disadvantage smaller than it is. Without
    alternatives it has None, and so has one that may begin with a token that cannot be read.

    Examples
    --------
    >>> tokens = [ListedToken(" old", -0.5), ListedToken("The", -3.0)]
    >>> read_options([*tokens, ListedToken("young", -1.0)], ["old", "young"])[0]
    [-0.5, -1.0]
    >>> read_options(tokens, ["old", "young"])[0]
    [-0.5, -3.0]
    """
    listed = [(token, max(token.logprob, NEVER)) for token in tokens]
    by_option: list[list[float]] = [[] for _ in options]
    hidden: set[int] = set()
    mass = unreadable = 0.0
    alternatives: list[tuple[str, float]] = []
    for token, logprob in listed:
        begun = begun_options(token, options)
        probability = math.exp(logprob)
        if not begun.numbers:
            alternatives.append((printable(token), probability))
        elif not begun.certain:
            hidden.update(begun.numbers)
            unreadable += probability
        else:
            mass += probability
            # A token that begins both options speaks for neither.
            if len(begun.numbers) == 1:
                by_option[begun.numbers[0]].append(logprob)
    likeliest = sorted(alternatives, key=lambda pair: -pair[1])[:_MOST_ALTERNATIVES]
    first_tokens = FirstTokens(min(1.0, mass), likeliest, min(1.0, unreadable))
    if not any(by_option):
        return [None] * len(options), first_tokens
    least = min(logprob for _, logprob in listed) if len(listed) > 1 else None
    unlisted = [None if number in hidden else least for number in range(len(options))]
    logprobs = [
        _add_probabilities(listed_logprobs) if listed_logprobs else bound
        for listed_logprobs, bound in zip(by_option, unlisted, strict=True)
    ]
    return logprobs, first_tokens


def _add_probabilities(logprobs: Sequence[float]) -> float:
    """Return the logarithm of the sum of probabilities, however small they are."""
    most = max(logprobs)
    return most + math.log(sum(math.exp(logprob - most) for logprob in logprobs))


def write_first_tokens(by_question: Mapping[str, FirstTokens]) -> str:
    """Write the first tokens of each question, as the column `first_tokens` has them."""
    fields = {question: tokens.fields() for question, tokens in by_question.items()}
    return json.dumps(fields, ensure_ascii=False)


def read_first_tokens(recorded: str | None) -> dict[str, FirstTokens]:
    """Read the column `first_tokens`: question → its first tokens. Never raises."""
    from clinometer.results.logprobs import parse_logprobs  # polars takes a while to load

    by_question = parse_logprobs(recorded or "")
    return {question: FirstTokens.parse(fields) for question, fields in by_question.items()}


class AnsweredOptions(NamedTuple):
    """Log-probabilities of the questions that have an answer."""

    response: str
    """As recorded, but null for all options of the other questions."""
    option_mass: float | None
    """Probability of all options, mean over questions; None: not known."""
    reason: str | None
    """Why most of the other questions have no answer; None: there are no others."""


def drop_unanswered(
    response: str, recorded: str | None, refusals: Sequence[str] = ()
) -> AnsweredOptions:
    """Leave out the questions of a response that have no answer. Never raises.

    `recorded` is the column `first_tokens`. A question that it lacks is kept: its options were read
    whole, and a whole option may be long and thereby unlikely.
    """
    from clinometer.results.logprobs import parse_logprobs  # polars takes a while to load

    logprobs = parse_logprobs(response)
    first_tokens = read_first_tokens(recorded)
    masses: list[float] = []
    reasons: Counter[str] = Counter()
    for question, values in logprobs.items():
        if not isinstance(values, list):
            continue
        tokens = first_tokens.get(question, FirstTokens())
        masses.append(_option_mass(values) if tokens.options is None else tokens.options)
        reason = tokens.why_unlikely(refusals)
        if reason is None and tokens.unreadable and None in values:
            reason = "tokens_unreadable"
        if reason is not None:
            reasons[reason] += 1
            logprobs[question] = [None] * len(values)
    mass = fmean(masses) if masses else None
    if not reasons:
        return AnsweredOptions(response, mass, None)
    return AnsweredOptions(json.dumps(logprobs), mass, reasons.most_common(1)[0][0])


def _option_mass(values: Sequence[object]) -> float:
    """Return the sum of the probabilities of whole options."""
    logprobs = [value for value in values if isinstance(value, float | int)]
    return min(1.0, math.fsum(math.exp(max(min(value, 0.0), NEVER)) for value in logprobs))
