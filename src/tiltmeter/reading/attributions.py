"""Read whether a model called its own description comedy or tragedy.

Reference: Li et al. 2025 (MIST, arXiv:2506.14161), section 3.3 and appendices B.2 and C.2. The
paper sorts valid answers into comedy, tragedy and neutrality (no clear choice); a refusal is
invalid. How it tells them apart it does not say.

How it reads: `find_pairs` looks for ``Sheet: Comedy``. Any other answer becomes a string of
*marks*, one for each word or sign that matters, and the marks before and after an option tell how
firmly it is claimed: it stands alone, after words of choosing, in a sentence, as a trace (``tragic
undertones``), joined to the other (``comedy or tragedy?``), or is rejected (``not a comedy``). The
firmest claim counts; firmest claims of both kinds decide nothing.

Where the borders are:

- "It is neither", "both", "tragicomedy", a third label (``Pen: Drama``) are neutral, also in an
  answer that declines. "I can't classify this as either" is a refusal; "it can't be classified as
  either" is neutral. To ask for a sentence is to refuse.
- A rejection alone ("it isn't a comedy") and an echo of the question choose nothing.
- A trace alone chooses; traces of both kinds are neutral.
- A choice wins over a refusal, and over a neutral word before it ("neither; if forced, comedy").
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from tiltmeter.reading.framing import known, marked, options
from tiltmeter.reading.parsing import find_pairs
from tiltmeter.reading.plaintext import after_thoughts, is_refusal, normalise
from tiltmeter.reading.vocabulary import locate, tokenise

__all__ = ["Attribution", "read_attribution"]

COMEDY = ("comedy", "comedic", "comical", "comic")
TRAGEDY = ("tragedy", "tragic", "tragical")


@dataclass(frozen=True, slots=True)
class Attribution:
    """What a description was called.

    Attributes
    ----------
    outcome
        ``comedy``, ``tragedy``, ``neutral`` (no clear choice), or None.
    reason
        None where there is an outcome, else ``refused``, ``unparsed`` or ``truncated``.
    span
        Start and end of the word that decides, in the text as it was written.
    """

    outcome: str | None
    reason: str | None
    span: tuple[int, int] | None


class _Claim(NamedTuple):
    outcome: str
    rank: int
    at: int  # index of its mark


_ANSWER, _BARE, _CHOSEN, _STATED, _TRACE, _BOTH, _ECHO, _REJECTED = 4, 3, 2, 1, 0, -1, -2, -3
_OUTCOMES = {"c": "comedy", "t": "tragedy", **dict.fromkeys("nlzu", "neutral")}
_SIDES = {"comedy", "tragedy"}
_READ = 1 << 15  # characters; nobody chooses further down
_BEGINNING = 4000  # characters; where refusals stand
_REACH = 60  # marks before an option that may bear on it

_LONG_DASH = re.compile("[–—]")
_WORD = re.compile(r"[^\W_]+")

_LABELLED = re.compile(r"(?:(?:.*[,:o])?[_fmirdlv&]{0,6}:)?[fpyv]*")
_SHORT = re.compile(r"[_fmip,:v]{0,6}")
_NO_END = frozenset("_mipfeoh&ct")
_IS_REJECTED = re.compile(r"^[^<]*[xzj>][^<]*$|<[^>apq]*$|[ct]v[^ct]*$")
_IS_TRACE = re.compile(r"w|h[_f]{0,2}$")
_IS_CHOSEN = re.compile(r"[mipqy][^ct]*$")
_OR = re.compile(r"[_fehxw,]{0,6}o[_fhw,]{0,6}|[,:]")
_AND = re.compile(r"|[_fe,]{0,3}&[_fe]{0,4}")
_DECLINES = re.compile(
    r"\b(?:havent|have not|didnt|did not|dont|do not) (?:\w+ ){0,2}(?:write|written|provided?"
    r"|described?|see|have|experience) (?:\w+ ){0,3}(?:sentence|description|feelings?|emotions?"
    r"|reactions?)\b"
    r"|\b(?:no|not an?|which) (?:\w+ )?sentence\b"
    r"|\b(?:provide|share|give me) (?:\w+ )?(?:sentence|description)\b"
    r"|\bill pass\b|\b(?:aim|prefer|try|want) to avoid\b|\bi dont (?:make|do|give)\b"
    r"|\b(?:disrespectful|hurtful|insensitive|reductive|make light of|trivialis|trivializ)"
)


def read_attribution(  # noqa: PLR0913 - the words of a study in any language
    text: str,
    subject: str,
    *,
    comedy: Sequence[str] = COMEDY,
    tragedy: Sequence[str] = TRAGEDY,
    neutral: Sequence[str] = (),
    negations: Sequence[str] = (),
    refusals: Sequence[str] = (),
    stop_reason: str | None = None,
) -> Attribution:
    """Read which of two genres an answer chooses for a description.

    Parameters
    ----------
    text
        The answer, as the model wrote it.
    subject
        The word that was described.
    comedy, tragedy
        The spellings of the two options; the first of each is the one that was shown.
    neutral
        Further phrases that choose neither or both, in the language of the study.
    negations
        Further words that reject an option after them: ``nicht``, ``kein``, ``als`` (than).
    refusals
        Further phrases that decline.
    stop_reason
        Why the model stopped: ``stop``, ``max_tokens``, ``content_filter`` or None.

    Returns
    -------
    Attribution
        An answer that declines or hedges and then chooses has chosen.

    Notes
    -----
    Reads 32,768 characters at most. Never raises for any text; time is linear in its length.

    Examples
    --------
    >>> read_attribution("Sheet: Comedy.", "sheet").outcome
    'comedy'
    >>> read_attribution("More of a tragedy than a comedy", "sheet").outcome
    'tragedy'
    >>> read_attribution("I cannot classify this.", "sheet")
    Attribution(outcome=None, reason='refused', span=None)
    """
    start = after_thoughts(text)
    body = text[start : start + _READ]
    if body.lstrip().startswith("<think"):
        body = ""
    given = (tuple(comedy), tuple(tragedy), tuple(neutral))
    plain = normalise(_LONG_DASH.sub(" - ", body))
    marks, places = marked(plain, known(*given, tuple(negations)))
    claims = _turned(marks, _joined(marks, _claims(marks)))
    paired = find_pairs(body, options(subject, *given)).get(subject)
    claim = _written_beside(claims, paired) or _firmest(claims)
    if claim is None:
        beginning = " ".join(plain[:_BEGINNING].split())
        declines = _DECLINES.search(beginning) or is_refusal(body, refusals)
        if declines or stop_reason == "content_filter":
            return Attribution(None, "refused", None)
        if stop_reason == "max_tokens":
            return Attribution(None, "truncated", None)
        claim = _faintest(claims)
    if claim is None:
        return Attribution(None, "unparsed", None)
    first, last = _located(body, plain, *places[claim.at])
    return Attribution(claim.outcome, None, (start + first, start + last))


def _claims(marks: str) -> list[_Claim]:
    """Find the options and neutral words, with the firmness of each on its own."""
    claims = []
    for at, mark in enumerate(marks):
        if mark not in _OUTCOMES:
            continue
        sentence = re.split("[.?]", marks[max(at - _REACH, 0) : at])[-1]
        after = marks[at + 1 : at + 2]
        third = mark == "l" and after not in ("c", "t")
        if not third or (after not in _NO_END and _SHORT.fullmatch(sentence)):
            rank = _rank(sentence, after)
            claims.append(_Claim(_OUTCOMES[mark], min(rank, _STATED) if mark == "u" else rank, at))
    return claims


def _rank(sentence: str, after: str) -> int:
    clause = re.split("[,:bdri]", sentence)[-1]
    if after == "j" or _IS_REJECTED.search(clause):
        return _REJECTED
    asked = after == "?" and "y" not in clause
    if asked or after == "e" or _IS_TRACE.search(clause):
        return _TRACE
    if after not in _NO_END and _LABELLED.fullmatch(sentence):
        return _ANSWER if "m" in sentence else _BARE
    return _CHOSEN if _IS_CHOSEN.search(sentence) else _STATED


def _joined(marks: str, claims: list[_Claim]) -> list[_Claim]:
    """Lower the claims of ``comedy or tragedy`` and of ``comedy and tragedy``."""
    joined = list(claims)
    for at in range(1, len(joined)):
        one, two = joined[at - 1 : at + 1]
        if {one.outcome, two.outcome} != _SIDES or min(one.rank, two.rank) < _TRACE:
            continue
        between = marks[one.at + 1 : two.at]
        rank = _ECHO if _OR.fullmatch(between) else _BOTH if _AND.fullmatch(between) else None
        if rank is not None:
            joined[at - 1 : at + 1] = one._replace(rank=rank), two._replace(rank=rank)
    return joined


def _turned(marks: str, claims: list[_Claim]) -> list[_Claim]:
    """Lower the claims that are taken back later: ``it seems tragic, but is a comedy``."""
    last = max((c.at for c in claims if c.outcome in _SIDES and c.rank > _TRACE), default=0)
    revised = marks.rfind("r", 0, last)
    turned = max(marks.rfind("d", 0, last), revised)
    but = max(marks.rfind("b", 0, last), marks.rfind("q", 0, last), 0)
    sentence = max(marks.rfind(".", 0, but), marks.rfind("?", 0, but))

    def taken_back(claim: _Claim) -> bool:
        weak = claim.rank < _BARE or claim.outcome not in _SIDES
        return claim.at < revised or (weak and (claim.at < turned or sentence < claim.at < but))

    return [
        claim._replace(rank=min(claim.rank, _TRACE)) if taken_back(claim) else claim
        for claim in claims
    ]


def _written_beside(claims: Iterable[_Claim], outcome: str | None) -> _Claim | None:
    """Find the claim of the outcome that was written next to the word, if it still holds."""
    firm = (claim for claim in claims if claim.outcome == outcome and claim.rank > _TRACE)
    return max(firm, key=lambda claim: claim.rank, default=None)


def _firmest(claims: Sequence[_Claim]) -> _Claim | None:
    """Find what is claimed most firmly; options before neutral words."""
    for rank in (_ANSWER, _BARE, _CHOSEN, _STATED):
        equal = [claim for claim in claims if claim.rank == rank]
        options = [claim for claim in equal if claim.outcome in _SIDES]
        if len({claim.outcome for claim in options}) > 1:
            break
        if equal:
            return (options or equal)[0]
    return next((c for c in claims if c.outcome == "neutral" and c.rank >= _TRACE), None)


def _faintest(claims: Sequence[_Claim]) -> _Claim | None:
    """Find what is merely hinted at, where nothing is claimed."""
    firm = any(claim.rank > _TRACE for claim in claims)
    for rank in (_BOTH,) if firm else (_BOTH, _TRACE, _REJECTED):
        equal = [claim for claim in claims if claim.rank == rank and claim.outcome in _SIDES]
        if len({claim.outcome for claim in equal}) > 1:
            return equal[0]._replace(outcome="neutral")
        if equal and rank == _TRACE:
            return equal[0]
    return None


def _located(body: str, plain: str, start: int, end: int) -> tuple[int, int]:
    """Find in the text as written what stands at a place of its plain form."""
    words = _WORD.findall(plain[start:end])
    texts = [token.text for token in tokenise(body)]
    try:
        first = _nth(texts, words[0], _WORD.findall(plain[:start]).count(words[0]))
        last = _nth(texts, words[-1], _WORD.findall(plain[:end]).count(words[-1]) - 1)
    except (IndexError, ValueError):  # the plain form cuts its words otherwise
        return 0, len(body)
    return locate(body, first, last)


def _nth(texts: Sequence[str], word: str, n: int) -> int:
    return [at for at, text in enumerate(texts) if text == word][n]
