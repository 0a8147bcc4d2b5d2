"""Likelihood: how probable the words of a study are after sentences that name one group.

For base models, checkpoints and local models: asked as a language model is built, without a chat
format, options or instructions. A sentence of the study has the places {option} and {attribute}.
What stands before the later of the two, filled in, is a beginning; what may stand there are its
ends. Read is the log-probability of each end after each beginning: of all its tokens, but not of
what would follow it. Nothing is drawn, no order is shown, and a system prompt stands before the
sentence. A response is stored as in mode `forced`: ``{attribute: [first, second]}`` in JSON.

Providers that score many ends of a beginning together (`Provider.together`) are asked once for each
beginning. Others are asked once for each whole text, of whose tokens they give the
log-probabilities: as vLLM and SGLang (``prompt_logprobs``), or OpenAI's first interface (``echo``).
"""

from __future__ import annotations

import json
import math
from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

from clinometer.models.bodies import NEVER
from clinometer.models.providers import PLAIN, Provider, find_provider
from clinometer.modes.mode import LIKELIHOODS, Message, Mode

if TYPE_CHECKING:
    from inspect_ai.model import GenerateConfig, Logprob, ModelOutput

__all__ = ["ATTRIBUTE", "MODE", "OPTION", "Texts"]

OPTION, ATTRIBUTE = "{option}", "{attribute}"

#: Marks of spaces in tokens that a server leaves as its vocabulary has them.
_SPACES = str.maketrans("ĠĊ▁", " \n ")


class Texts(NamedTuple):
    """What a trial asks about: every beginning with every end."""

    beginnings: list[str]
    ends: list[str]
    of_options: bool
    """Whether beginnings differ in the option, and ends in the attribute; or the other way."""

    @classmethod
    def of(cls, trial: Mapping[str, Any]) -> Texts:
        """Fill in the sentence of a trial.

        Examples
        --------
        >>> said = {"prompt": "Say {option}, hear {attribute}", "options": ["old", "young"]}
        >>> Texts.of({**said, "attributes": ["joy"]})[:2]
        (['Say old, hear', 'Say young, hear'], [' joy'])
        """
        sentence, system = trial["prompt"], trial.get("system")
        place = max(sentence.rfind(OPTION), sentence.rfind(ATTRIBUTE))
        of_options = sentence.startswith(ATTRIBUTE, place)
        names, words = (OPTION, ATTRIBUTE), (trial["options"], trial["attributes"])
        beginning = sentence[:place].rstrip(" ")
        space = sentence[len(beginning) : place]
        begun = f"{system}\n\n{beginning}" if system else beginning
        varied, ended = words if of_options else words[::-1]
        return cls(
            [begun.replace(names[not of_options], word) for word in varied],
            [space + word for word in ended],
            of_options,
        )

    def response(self, trial: Mapping[str, Any], found: Sequence[Sequence[float | None]]) -> str:
        """Write a response; `found` are log-probabilities, a row for each beginning."""
        rows = [list(pair) for pair in zip(*found, strict=False)] if self.of_options else found
        return json.dumps(dict(zip(trial["attributes"], rows, strict=False)), ensure_ascii=False)

    def whole(self) -> list[str]:
        """Return every text: those of the first beginning first."""
        return [beginning + end for beginning in self.beginnings for end in self.ends]


def _calls(trial: Mapping[str, Any], provider: Provider) -> int:
    asked = Texts.of(trial)
    return len(asked.beginnings) * (1 if provider.together else len(asked.ends))


def _sent(trial: Mapping[str, Any], _: str | None, provider: Provider) -> list[list[Message]]:
    asked = Texts.of(trial)
    sent = asked.beginnings if provider.together else asked.whole()
    return [[{"role": "user", "content": text}] for text in sent]


def _settings(trial: Mapping[str, Any], provider: Provider) -> GenerateConfig:
    from inspect_ai.model import GenerateConfig

    if provider.together:
        choice = {"choice": Texts.of(trial).ends}
        body = {"chat_template": PLAIN, "structured_outputs": choice}
        return GenerateConfig(logprobs=True, extra_body=body)
    return GenerateConfig(
        prompt_logprobs=1, logprobs=True, top_logprobs=1, max_tokens=1, extra_body={"echo": True}
    )


def _read(trial: Mapping[str, Any], outputs: Sequence[ModelOutput], model: str) -> tuple[str, str]:
    asked, together = Texts.of(trial), find_provider(model).together
    if not any(_tells(output, together) for output in outputs):
        from clinometer.modes.needs import lacking

        raise lacking(model, MODE)
    if together:
        found = [_of_ends(output, asked.ends) for output in outputs]
    else:
        n = len(asked.ends)
        each = [_of_end(output, asked.ends[at % n]) for at, output in enumerate(outputs)]
        found = [each[at : at + n] for at in range(0, len(each), n)]
    return asked.response(trial, found), "stop"


def _tells(output: ModelOutput, together: bool) -> bool:
    """Whether an output has log-probabilities of ends, or of a text beyond a generated token."""
    if not output.choices:
        return False
    read, listed = output.choices[0].prompt_logprobs, output.choices[0].logprobs
    tokens = listed.content if listed is not None else []
    return bool(read and read.content) or len(tokens) > (0 if together else 1)


def _of_ends(output: ModelOutput, ends: Iterable[str]) -> list[float | None]:
    """Return the log-probability of each end, which stand as alternatives of one position."""
    logprobs = output.choices[0].logprobs if output.choices else None
    first = logprobs.content[0] if logprobs is not None and logprobs.content else None
    listed = {one.token: one.logprob for one in (first and first.top_logprobs) or ()}
    return [_known(listed.get(end)) for end in ends]


def _of_end(output: ModelOutput, end: str) -> float | None:
    """Return the log-probability of the last tokens of a text, which make up its end."""
    if not output.choices:
        return None
    read, echoed = output.choices[0].prompt_logprobs, output.choices[0].logprobs
    if read is not None:
        return _sum(read.content, end)
    tokens = [] if echoed is None else echoed.content
    found = _sum(tokens[:-1], end)  # after the text stands the one token that was generated
    return _sum(tokens, end) if found is None else found


def _sum(tokens: Sequence[Logprob], end: str) -> float | None:
    """Add up the last tokens that are an end; None where no tokens are just that."""
    text, total = "", 0.0
    for token in reversed(tokens):
        if text.strip() == end.strip() and not _is_space(token):
            break
        text = token.token.translate(_SPACES) + text
        total += token.logprob
        if len(text) > len(end):
            break
    return _known(total) if text.strip() == end.strip() else None


def _is_space(token: Logprob) -> bool:
    """Whether a token is the space before a word, which some vocabularies have apart."""
    return not token.token.translate(_SPACES).strip()


def _known(logprob: float | None) -> float | None:
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
