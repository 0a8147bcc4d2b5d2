"""Likelihood: how probable the words of a study are after sentences that name one group.

For base models, checkpoints and local models: asked as a language model is built, without a chat
format, options or instructions. A sentence of the study has the places {option} and {attribute}.
What stands before the later of the two, filled in, is a beginning; what may stand there are its
ends. Read is the log-probability of each end after each beginning: of all its tokens, but not of
what would follow it. Nothing is drawn, no order is shown, and a system prompt stands before the
sentence. A response is stored as in mode `forced`: ``{attribute: [first, second]}`` in JSON.

Providers that score many ends of a beginning together (`Provider.many_ends`) are asked once for
each beginning. Others are asked once for each whole text, of whose tokens they give the
log-probabilities: as vLLM and SGLang (``prompt_logprobs``), or OpenAI's first interface (``echo``).
"""

from __future__ import annotations

import json
import math
from collections.abc import Iterable, Mapping, Sequence
from itertools import chain
from typing import TYPE_CHECKING, Any, NamedTuple

from clinometer.models.bodies import NEVER
from clinometer.models.providers import PLAIN, Provider, find_provider
from clinometer.modes.first_tokens import FirstTokens, write_first_tokens
from clinometer.modes.mode import LIKELIHOODS, Message, Mode, Read
from clinometer.modes.tokens import SPELLINGS, ListedToken, is_readable

if TYPE_CHECKING:
    from inspect_ai.model import GenerateConfig, ModelOutput

OPTION = "{option}"
ATTRIBUTE = "{attribute}"


class Texts(NamedTuple):
    """What a trial asks about: every beginning with every end."""

    beginnings: list[str]
    ends: list[str]
    option_first: bool
    """Whether beginnings differ in the option, and ends in the attribute; or the other way."""

    @classmethod
    def from_trial(cls, trial: Mapping[str, Any]) -> Texts:
        """Fill in the sentence of a trial.

        Examples
        --------
        >>> trial = {"prompt": "Say {option}, hear {attribute}", "options": ["old", "young"]}
        >>> Texts.from_trial({**trial, "attributes": ["joy"]})[:2]
        (['Say old, hear', 'Say young, hear'], [' joy'])
        """
        sentence = trial["prompt"]
        system = trial.get("system")
        place = max(sentence.rfind(OPTION), sentence.rfind(ATTRIBUTE))
        option_first = sentence.startswith(ATTRIBUTE, place)
        beginning = sentence[:place].rstrip(" ")
        # The space belongs to the end: most vocabularies have it in the token of the word.
        space = sentence[len(beginning) : place]
        name = OPTION if option_first else ATTRIBUTE
        varied = trial["options" if option_first else "attributes"]
        ends = trial["attributes" if option_first else "options"]
        start = f"{system}\n\n{beginning}" if system else beginning
        return cls(
            [start.replace(name, word) for word in varied],
            [space + word for word in ends],
            option_first,
        )

    def response(self, trial: Mapping[str, Any], logprobs: Sequence[Sequence[float | None]]) -> str:
        """Write a response; `logprobs` have shape (beginnings, ends)."""
        if self.option_first:  # then attributes are ends: a row for each is a column of these
            rows = [list(pair) for pair in zip(*logprobs, strict=False)]
        else:
            rows = [list(pair) for pair in logprobs]
        return json.dumps(dict(zip(trial["attributes"], rows, strict=False)), ensure_ascii=False)

    def all_texts(self) -> list[str]:
        """Return every text: those of the first beginning first."""
        return [beginning + end for beginning in self.beginnings for end in self.ends]


def _calls(trial: Mapping[str, Any], provider: Provider) -> int:
    texts = Texts.from_trial(trial)
    return len(texts.beginnings) * (1 if provider.many_ends else len(texts.ends))


def _sent(trial: Mapping[str, Any], _: str | None, provider: Provider) -> list[list[Message]]:
    texts = Texts.from_trial(trial)
    sent = texts.beginnings if provider.many_ends else texts.all_texts()
    return [[{"role": "user", "content": text}] for text in sent]


def _settings(trial: Mapping[str, Any], provider: Provider) -> GenerateConfig:
    from inspect_ai.model import GenerateConfig

    if provider.many_ends:
        choice = {"choice": Texts.from_trial(trial).ends}
        body = {"chat_template": PLAIN, "structured_outputs": choice}
        return GenerateConfig(logprobs=True, extra_body=body)
    return GenerateConfig(
        prompt_logprobs=1, logprobs=True, top_logprobs=1, max_tokens=1, extra_body={"echo": True}
    )


def _read(trial: Mapping[str, Any], outputs: Sequence[ModelOutput], model: str) -> Read:
    texts = Texts.from_trial(trial)
    per_beginning = find_provider(model).many_ends
    if not any(_has_logprobs(output, per_beginning) for output in outputs):
        from clinometer.modes.needs import lack_error

        raise lack_error(model, MODE)
    if per_beginning:
        end_logprobs = [_logprobs_of_ends(output, texts.ends) for output in outputs]
        return Read(texts.response(trial, end_logprobs), "stop")
    count = len(texts.ends)
    # Outputs are in the order of `all_texts`: the ends run fastest.
    logprobs = [
        _logprob_of_end(output, texts.ends[number % count]) for number, output in enumerate(outputs)
    ]
    rows = [logprobs[start : start + count] for start in range(0, len(logprobs), count)]
    response = texts.response(trial, rows)
    return Read(response, "stop", _find_unreadable(response, outputs))


def _find_unreadable(response: str, outputs: Sequence[ModelOutput]) -> str | None:
    """Say of which attributes a text could not be read because of its tokens; None: of none."""
    listed = chain.from_iterable(map(_listed_tokens, outputs))
    if all(map(is_readable, listed)):
        return None
    from clinometer.results.logprobs import parse_logprobs  # polars takes a while to load

    pairs = parse_logprobs(response).items()
    unread = {word: FirstTokens(unreadable=1.0) for word, pair in pairs if None in pair}
    return write_first_tokens(unread) if unread else None


def _has_logprobs(output: ModelOutput, per_beginning: bool) -> bool:
    """Whether an output has log-probabilities of ends, or of a text beyond a generated token."""
    if not output.choices:
        return False
    echoed = output.choices[0].prompt_logprobs
    listed = output.choices[0].logprobs
    tokens = listed.content if listed is not None else []
    return bool(echoed and echoed.content) or len(tokens) > (0 if per_beginning else 1)


def _logprobs_of_ends(output: ModelOutput, ends: Iterable[str]) -> list[float | None]:
    """Return the log-probability of each end, which stand as alternatives of one position."""
    logprobs = output.choices[0].logprobs if output.choices else None
    first = logprobs.content[0] if logprobs is not None and logprobs.content else None
    alternatives = (first and first.top_logprobs) or ()
    listed = {token.token: token.logprob for token in alternatives}
    return [_rounded(listed.get(end)) for end in ends]


def _logprob_of_end(output: ModelOutput, end: str) -> float | None:
    """Return the log-probability of the last tokens of a text, which make up its end."""
    tokens = _listed_tokens(output)
    if not output.choices or output.choices[0].prompt_logprobs is not None:
        return _add_end(tokens, end)
    logprob = _add_end(tokens[:-1], end)  # after the text stands the one token that was generated
    return _add_end(tokens, end) if logprob is None else logprob


def _listed_tokens(output: ModelOutput) -> list[ListedToken]:
    """Return the tokens of a text, and the one that was generated after it if it is listed."""
    if not output.choices:
        return []
    choice = output.choices[0]
    listed = choice.logprobs if choice.prompt_logprobs is None else choice.prompt_logprobs
    tokens = [] if listed is None else listed.content
    return [ListedToken(token.token, token.logprob, token.bytes) for token in tokens]


def _add_end(tokens: Sequence[ListedToken], end: str) -> float | None:
    """Add up the last tokens that are an end; None where no tokens are just that."""
    for spell in SPELLINGS:  # a server has one spelling for all its tokens
        spelled = [(spell(token), token.logprob) for token in tokens]
        logprob = _add_spelled(spelled, end.encode())
        if logprob is not None:
            return logprob
    return None


def _add_spelled(tokens: Sequence[tuple[bytes | None, float]], end: bytes) -> float | None:
    """Add up the last tokens that are an end; None of bytes: the token cannot be read."""
    text = b""
    total = 0.0
    for spelled, logprob in reversed(tokens):
        # A space before a word is a token of its own in some vocabularies.
        is_space = spelled is not None and not spelled.strip()
        if text.strip() == end.strip() and not is_space:
            break
        if spelled is None:
            return None
        text = spelled + text
        total += logprob
        if len(text) > len(end):
            break
    return _rounded(total) if text.strip() == end.strip() else None


def _rounded(logprob: float | None) -> float | None:
    """Round to six places; None for what is not known, also where a server writes NaN."""
    return None if logprob is None or math.isnan(logprob) else round(max(logprob, NEVER), 6)


MODE = Mode(
    "likelihood",
    "sentences that name one group, read as the probabilities of words after them",
    LIKELIHOODS,
    _read,
    _settings,
    lambda _, options, __: {"options": options and list(options)},
    needs="texts",
    sampled=False,
    place=4,
    sent=_sent,
    calls=_calls,
)
