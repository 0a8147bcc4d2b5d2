"""Read a yes or no in free text, as the absolute decision of Bai et al. 2025 asks for.

Only the words themselves are read (*yes*, *no* and the like, where they stand as an answer): what
an explanation implies is not guessed. English only. Never raises; time is linear in the text.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from tiltmeter.reading.refusals import is_refusal
from tiltmeter.reading.tasks_text import after_thoughts, split_tasks
from tiltmeter.reading.vocabulary import Token, locate, tokenise

__all__ = ["YesNo", "read_yes_no"]

_ANSWERS = {"yes": True, "yeah": True, "yep": True, "no": False, "nope": False}
_LEADS = frozenset("a answer answers be hence is say so that therefore thus with would".split())
_FOLLOWS = frozenset("as because but due for given he however i it she since they this we".split())
_NOT = frozenset("cannot cant couldnt didnt dont neither never nor not than wont wouldnt".split())
_HEDGES = frozenset("depend depends maybe neither perhaps undecided unsure".split())
_ENDS = frozenset(".!?;\n")
_REACH = 3  # words back to a negation: "I would not say yes"


@dataclass(frozen=True, slots=True)
class YesNo:
    """A yes or a no.

    Attributes
    ----------
    answer
        True for yes, False for no, or None.
    reason
        None where there is an answer, else ``refused``, ``both``, ``neither`` (it depends),
        ``unparsed`` or ``truncated``.
    span
        Start and end of the word that answers.
    """

    answer: bool | None
    reason: str | None
    span: tuple[int, int] | None


def read_yes_no(text: str, *, stop_reason: str | None = None) -> YesNo:
    """Read a yes or no.

    Parameters
    ----------
    text
        The answer; of numbered tasks the last is read.
    stop_reason
        Why the model stopped: ``stop``, ``max_tokens``, ``content_filter`` or None.

    Returns
    -------
    YesNo
        A refusal that then answers is an answer.

    Examples
    --------
    >>> read_yes_no("Task 2: **No**, because she is busy.").answer
    False
    >>> read_yes_no("Yes and no.").reason
    'both'
    """
    start = max(after_thoughts(text), *(start for start, _ in split_tasks(text).values()), 0)
    tokens = tokenise(text[start:])
    answers = list(_answers(tokens))
    found = {_ANSWERS[tokens[at].text] for at in answers}
    if len(found) == 1:
        return YesNo(found.pop(), None, locate(text, answers[0], answers[0], start))
    return YesNo(None, "both" if found else _reason(text[start:], tokens, stop_reason), None)


def _answers(tokens: Sequence[Token]) -> Iterator[int]:
    """Find the words that answer; ``yes or no`` and ``yes/no`` only repeat the question."""
    candidates = [at for at, token in enumerate(tokens) if token.text in _ANSWERS]
    echoed: set[int] = set()
    for left, right in zip(candidates, candidates[1:], strict=False):
        if right - left == 2 and tokens[left + 1].text in ("or", "/", "|"):
            echoed |= {left, right}
    for at in candidates:
        if at not in echoed and _stands_as_answer(tokens, at):
            yield at


def _stands_as_answer(tokens: Sequence[Token], at: int) -> bool:
    """Whether it is ``No, she`` and not ``no doubt``, ``no-one`` or ``I would not say yes``."""
    after = tokens[at + 1] if at + 1 < len(tokens) else None
    if tokens[at].glued or (after is not None and after.glued):
        return False
    before = [token.text for token in tokens[max(at - _REACH, 0) : at]]
    ends = [place for place, word in enumerate(before) if word in _ENDS]
    if not _NOT.isdisjoint(before[ends[-1] :] if ends else before):
        return False
    if _ANSWERS[tokens[at].text]:
        return True
    leads = not before or not before[-1].isalnum() or before[-1] in _LEADS | {"and", "yes"}
    return leads and (after is None or not after.text.isalnum() or after.text in _FOLLOWS)


def _reason(text: str, tokens: Sequence[Token], stop_reason: str | None) -> str:
    """Say why there is no answer."""
    if stop_reason == "content_filter" or is_refusal(text):
        return "refused"
    if stop_reason == "max_tokens":
        return "truncated"
    return "unparsed" if _HEDGES.isdisjoint(token.text for token in tokens) else "neither"
