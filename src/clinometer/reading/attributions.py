"""Read whether a model classified its own description as comedy or tragedy.

Reference: Li et al. 2025 (MIST, arXiv:2506.14161), section 3.3 and appendices B.2 and C.2. The
paper sorts valid answers into comedy, tragedy and neutrality (no clear choice); a refusal is
invalid. It does not describe its rules.

Method: `find_pairs` looks for ``Sheet: Comedy``. Any other answer becomes a string of *marks*, one
per relevant word or sign. The marks around an option give the strength of the claim: alone, after a
word of choosing, in a sentence, as a trace (``tragic undertones``), joined to the other option
(``comedy or tragedy?``), or rejected (``not a comedy``). The strongest claim counts; strongest
claims for both options are undecided.

Borderline cases:

- "It is neither", "both", "tragicomedy" and a third label (``Pen: Drama``) are neutral, even in an
  answer that declines. "I can't classify this as either" is a refusal; "it can't be classified as
  either" is neutral. Asking for a sentence is a refusal.
- A rejection alone ("it isn't a comedy") or an echo of the question is not a choice.
- A single trace is a choice; traces of both options are neutral.
- A choice overrides a refusal, and a neutral word before it ("neither; if forced, comedy").
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import lru_cache
from typing import NamedTuple

from clinometer.reading.mentions import Lexicon, find_mentions, index
from clinometer.reading.parsing import find_pairs
from clinometer.reading.plaintext import Choice, normalise
from clinometer.reading.refusals import why_unread
from clinometer.reading.vocabulary import locate, tokenise

COMEDY = ("comedy", "comedic", "comical", "comic")
TRAGEDY = ("tragedy", "tragic", "tragical")


#: Mark → its English phrases. Options are ``c`` and ``t``, other words ``_``: "more of a comedy
#: than a tragedy" is ``m__c>_t``.
_PHRASES = {
    # neutral: the word itself; a third label; "neither", which also rejects; undecided
    "n": "neutral|neutrality|tragi-comedy|tragi-comic|tragi-comical|comi-tragedy|dramedy"
    "|bittersweet|comedy drama|comedic drama|a bit of both|bit of both|little of both|both equally"
    "|equally both|elements of both|mix of|mixture of|blend of|combination of|could be both"
    "|can be both|its both|it's both|equally|equal parts|equal measure|as much|50/50|fifty fifty"
    "|in between|somewhere between|falls between|halfway between|balance between|balance of"
    "|none of the above",
    "l": "both|none|n/a|not applicable|mixed|mix|undetermined|drama|dramatic|melodrama|satire"
    "|romance|mystery|epic|documentary|descriptive|description|observation|observational"
    "|reflection|reflective|contemplative|introspective|philosophical|metaphor|metaphorical"
    "|symbolic|poetic|poetry|narrative|informative|informational|educational|factual|fact"
    "|objective|serious|realistic|mundane|nostalgia|nostalgic|inspirational|inspiring",
    "z": "neither",
    "u": "could be either|can be either|could go either way|depends|depending|ambiguous"
    "|ambivalent|unclear|hard to say|hard to tell|undecided|torn between|up to you|up to the reader"
    "|up to interpretation|open to interpretation",
    # rejection of the next words, by a verb also of the words before; comparison
    "x": "not|no|never|nor|non|dont|hardly|nothing|lacks|avoid|far from|anything but|rather than"
    "|instead of|as opposed to",
    "j": "isnt|wasnt|arent|doesnt|didnt|wouldnt|wont|cant|cannot|is not|was not|does not|did not"
    "|would not|will not",
    "<": "less|not so much",
    ">": "than|over",
    "a": "as",
    "q": "lean|leans|leaning|closer|nearer|tends|tilts|tips",
    # choosing, also by degree; "maybe"
    "m": "choose|chose|choice|pick|go with|going with|opt|say|says|call|classify|classified"
    "|categorize|categorise|feel|feels|felt|think|answer|verdict|classification|decide|decision"
    "|label|first reaction|gut|instinct|consider|settle|more|mostly|mainly|rather",
    "y": "maybe|perhaps|possibly",
    # turns: within a sentence, a change of mind
    "b": "but|yet",
    "r": "actually|wait|correction|on second thought|scratch that|just kidding|if i had to"
    "|if forced|if i must|if pressed|when pressed|forced to choose|have to choose|had to choose"
    "|final answer",
    ",": "because|since|due to|given that",
    "o": "or|vs|vs.|versus",
    "&": "and|as well as|plus",
    # traces: concessions (and keys whose values are not choices), before and after the option
    "w": "although|though|even though|even if|while|whereas|despite|in spite of|at first|initially"
    "|without|some might|others might|some may|others may|could also|might also|may also"
    "|some would|others would|some people|some say|others say|you could say|one could say"
    "|reason|explanation|rationale|justification|note",
    "h": "hint of|touch of|tinge of|element of|elements of|dash of|note of|notes of|trace of"
    "|traces of|undertones of|undertone of|moments of|tinged with|a bit|a little|some|half",
    "e": "elements|element|undertones|undertone|overtones|notes|aspects|aspect|touches|touch"
    "|moments|moment|tinge|edge|side|qualities|quality|twist|relief|potential|possibilities",
    # phrases that only look like one of the above
    "_": "no doubt|not only|remain neutral|stay neutral|be neutral",
}
_SIGN = re.compile(r"[^\W\d_]+|[.!?;:,=|>()\[\]{}/&+\n\t。、→⇒➜➔➡-]")
_SIGNS = {
    **dict.fromkeys(".!;\n。", "."),
    **dict.fromkeys(":=|\t→⇒➜➔➡-", ":"),
    **dict.fromkeys(",()[]{}、", ","),
    # No rule knows the mark of ">": in "comedy > tragedy" only the first word stands bare.
    **{"?": "?", "/": "o", "&": "&", "+": "&", ">": "v"},
}

Words = tuple[str, ...]


class _Claim(NamedTuple):
    outcome: str
    rank: int
    position: int  # index of its mark


# How firm a claim is.
_ANSWER = 4
_BARE = 3
_CHOICE = 2
_ASSERTED = 1
_TRACE = 0
_CONJOINED = -1
_ECHO = -2
_REJECTED = -3
_OUTCOMES = {"c": "comedy", "t": "tragedy", **dict.fromkeys("nlzu", "neutral")}
_SIDES = {"comedy", "tragedy"}
_SEARCHED = 1 << 15  # characters searched for a choice
_BEGINNING = 4000  # characters searched for a refusal
_REACH = 60  # marks before an option that may modify it

_LONG_DASH = re.compile("[–—]")
_WORD = re.compile(r"[^\W_]+")

_LABELLED = re.compile(r"(?:.*:)?")
_SHORT = re.compile(r"[_m,:]{0,6}")
_IS_REJECTED = re.compile(r"^[^<]*[xzj>][^<]*$|<[^>amq]*$")
_IS_TRACE = re.compile(r"w|h_{0,2}$")
_IS_CHOICE = re.compile(r"[mqy][^ct]*$")
_OR = re.compile(r"[_ehxw,]{0,6}o[_hw,]{0,6}|[,:]")
_AND = re.compile(r"|[_e,]{0,3}&[_e]{0,4}")
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
) -> Choice:
    """Read which of two genres an answer chooses for a description.

    Parameters
    ----------
    text
        The answer, as the model wrote it.
    subject
        The word that was described.
    comedy, tragedy
        The spellings of the two options; the first of each was shown.
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
    Choice
        ``comedy``, ``tragedy`` or ``neutral`` (no clear choice); else the reason: ``refused``,
        ``unparsed`` or ``truncated``. An answer that declines or hedges and then chooses counts as
        a choice.

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
    Choice(outcome=None, reason='refused', span=None)
    """
    body = text[:_SEARCHED]
    options = (tuple(comedy), tuple(tragedy), tuple(neutral))
    plain = normalise(_LONG_DASH.sub(" - ", body))
    marks, places = _convert_to_marks(plain, _mark_lexicon(*options, tuple(negations)))
    claims = _weaken_turned(marks, _weaken_combined(marks, _find_claims(marks)))
    paired = find_pairs(body, _outcome_lexicon(subject, *options)).get(subject)
    agreeing = [claim for claim in claims if claim.outcome == paired and claim.rank > _TRACE]
    # A pair says what is chosen; the claim that agrees with it says where.
    claim = max(agreeing, key=lambda claim: claim.rank) if agreeing else _firmest(claims)
    if claim is None:
        declines = _DECLINES.search(" ".join(plain[:_BEGINNING].split()))
        reason = "refused" if declines else why_unread(body, stop_reason, refusals)
        claim = _faintest(claims) if reason == "unparsed" else None
        if claim is None:
            return Choice(None, reason, None)
    start, end = places[claim.position]
    return Choice(claim.outcome, None, _original_span(body, plain, start, end))


@lru_cache(maxsize=64)
def _mark_lexicon(comedy: Words, tragedy: Words, neutral: Words, negations: Words) -> Lexicon:
    """Index every phrase with its mark."""
    phrases = {mark: tuple(text.split("|")) for mark, text in _PHRASES.items()}
    # The words of the study come first: of equal spellings the first counts.
    study = (("c", comedy), ("t", tragedy), ("n", neutral), ("x", negations))
    return index((word, mark, word) for mark, words in (*study, *phrases.items()) for word in words)


@lru_cache(maxsize=512)
def _outcome_lexicon(subject: str, comedy: Words, tragedy: Words, neutral: Words) -> Lexicon:
    """Index the outcomes as groups, and the subject as the word to be paired."""
    neutral += tuple(_PHRASES["n"].split("|"))
    groups = {"comedy": comedy, "tragedy": tragedy, "neutral": neutral}
    spelled = [(word, "g", outcome) for outcome, words in groups.items() for word in words]
    return index([*spelled, (subject, "a", subject)])


def _convert_to_marks(plain: str, phrases: Lexicon) -> tuple[str, list[tuple[int, int]]]:
    """Convert a text to marks, with the position of each."""
    marks: list[str] = []
    places: list[tuple[int, int]] = []
    end = 0
    # An empty mention at the end, so that the signs behind the last phrase are read too.
    for kind, _, start, until in [*find_mentions(plain, phrases), ("", "", len(plain), 0)]:
        for sign in _SIGN.finditer(plain, end, start):
            mark = "" if _is_hyphen(plain, sign.start()) else _SIGNS.get(sign[0], "_")
            marks.append(mark)
            places += [sign.span()] if mark else []
        marks.append(kind)
        places.append((start, until))
        end = until
    return "".join(marks), places


def _is_hyphen(plain: str, position: int) -> bool:
    return (
        plain[position] == "-"
        and plain[position - 1 : position].isalnum()
        and plain[position + 1 : position + 2].isalnum()
    )


def _find_claims(marks: str) -> list[_Claim]:
    """Find the options and neutral words, and the strength of each claim by itself."""
    claims = []
    for position, mark in enumerate(marks):
        if mark not in _OUTCOMES:
            continue
        sentence = re.split("[.?]", marks[max(position - _REACH, 0) : position])[-1]
        after = marks[position + 1 : position + 2]
        # A third label counts only where it stands as an answer, not as a word of prose.
        if mark == "l" and (after == "_" or not _SHORT.fullmatch(sentence)):
            continue
        rank = _rank(sentence, after)
        if mark == "u":
            rank = min(rank, _ASSERTED)
        claims.append(_Claim(_OUTCOMES[mark], rank, position))
    return claims


def _rank(sentence: str, after: str) -> int:
    clause = re.split("[,:br]", sentence)[-1]
    if after == "j" or _IS_REJECTED.search(clause):
        return _REJECTED
    is_question = after == "?" and "y" not in clause
    if is_question or after == "e" or _IS_TRACE.search(clause):
        return _TRACE
    # A word behind it makes it a sentence.
    if after != "_" and _LABELLED.fullmatch(sentence):
        return _ANSWER if "m" in sentence else _BARE
    return _CHOICE if _IS_CHOICE.search(sentence) else _ASSERTED


def _weaken_combined(marks: str, claims: list[_Claim]) -> list[_Claim]:
    """Weaken the claims in ``comedy or tragedy`` and ``comedy and tragedy``."""
    weakened = list(claims)
    for second in range(1, len(weakened)):
        # Read from the weakened ones: a claim may be joined on both sides.
        before = weakened[second - 1]
        after = weakened[second]
        if {before.outcome, after.outcome} != _SIDES or min(before.rank, after.rank) < _TRACE:
            continue
        between = marks[before.position + 1 : after.position]
        if _OR.fullmatch(between):
            rank = _ECHO
        elif _AND.fullmatch(between):
            rank = _CONJOINED
        else:
            continue
        weakened[second - 1] = before._replace(rank=rank)
        weakened[second] = after._replace(rank=rank)
    return weakened


def _weaken_turned(marks: str, claims: list[_Claim]) -> list[_Claim]:
    """Weaken claims that are taken back later: ``it seems tragic, but is a comedy``.

    A change of mind (``r``) before the last choice takes back all claims before it; a turn
    within a sentence (``b``, ``q``) only weak ones of that sentence.
    """
    choices = [claim for claim in claims if claim.outcome in _SIDES and claim.rank > _TRACE]
    last_choice = max((claim.position for claim in choices), default=0)
    revision = marks.rfind("r", 0, last_choice)
    turn = max(0, *(marks.rfind(mark, 0, last_choice) for mark in "bq"))
    sentence_start = max(marks.rfind(mark, 0, turn) for mark in ".?")

    def is_taken_back(claim: _Claim) -> bool:
        """Return whether a turn after a claim takes it back."""
        if claim.position < revision:
            return True
        is_weak = claim.rank < _BARE or claim.outcome not in _SIDES
        return is_weak and sentence_start < claim.position < turn

    weakened = []
    for claim in claims:
        rank = min(claim.rank, _TRACE) if is_taken_back(claim) else claim.rank
        weakened.append(claim._replace(rank=rank))
    return weakened


def _firmest(claims: Sequence[_Claim]) -> _Claim | None:
    """Find the strongest claim; options before neutral words."""
    for rank in (_ANSWER, _BARE, _CHOICE, _ASSERTED):
        equal = [claim for claim in claims if claim.rank == rank]
        options = [claim for claim in equal if claim.outcome in _SIDES]
        if len({claim.outcome for claim in options}) > 1:
            break
        if equal:
            return (options or equal)[0]
    for claim in claims:
        if claim.outcome == "neutral" and claim.rank >= _TRACE:
            return claim
    return None


def _faintest(claims: Sequence[_Claim]) -> _Claim | None:
    """Find the option that is only hinted at, if nothing is claimed."""
    firm = any(claim.rank > _TRACE for claim in claims)
    for rank in (_CONJOINED,) if firm else (_CONJOINED, _TRACE, _REJECTED):
        equal = [claim for claim in claims if claim.rank == rank and claim.outcome in _SIDES]
        if len({claim.outcome for claim in equal}) > 1:
            return equal[0]._replace(outcome="neutral")
        if equal and rank == _TRACE:
            return equal[0]
    return None


def _original_span(body: str, plain: str, start: int, end: int) -> tuple[int, int]:
    """Map a span of the plain form to the original text."""
    words = _WORD.findall(plain[start:end])
    places: dict[str, list[int]] = {}  # word → its tokens, in text order
    for position, token in enumerate(tokenise(body)):
        places.setdefault(token.text, []).append(position)
    try:
        # The n-th occurrence of a word in the plain form is its n-th in the text.
        first = places[words[0]][_WORD.findall(plain[:start]).count(words[0])]
        last = places[words[-1]][_WORD.findall(plain[:end]).count(words[-1]) - 1]
    except (IndexError, KeyError):  # the plain form splits words differently
        return 0, len(body)
    return locate(body, first, last)
