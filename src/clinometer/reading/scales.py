"""Read ratings in free text: which point of a labelled scale an answer gives.

Method: read first are the marked answers (``rating: 5``), see `conclusions`, then what follows a
correction or a conclusion (``so``, ``but I lean``), what precedes a reason (``because``) and the
whole answer. Numbers of the scale and its labels are looked for. Left out are descriptions of the
scale itself (``from 1 to 7``, ``1 = never, 2 = rarely``), numbers of something else (``3 reasons``,
``10/10`` on a scale to 7), labels in questions and of others (``some people agree``), and negated
values (``not a 3``). Numbers that stand as an answer (alone, after ``I would say``, ``4 out of 7``)
count before labels, and these before other numbers. The strongest values must agree.

A refusal followed by a value that stands as an answer counts as the value. Never raises; time is
linear in the text. English only.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from functools import lru_cache
from typing import NamedTuple

from clinometer.reading.conclusions import (
    correction,
    marked,
    narrowed,
)
from clinometer.reading.plaintext import Choice, normalise
from clinometer.reading.refusals import is_refusal, why_unread

__all__ = ["read_scale"]

_WORDS = "zero one two three four five six seven eight nine ten".split()
_TENS = dict(
    zip(
        "twenty thirty forty fifty sixty seventy eighty ninety".split(),
        range(20, 100, 10),
        strict=True,
    )
)
_SPELLED = re.compile(
    rf"\b(?P<hundred>(?:a|one) hundred)\b|\b({'|'.join(_TENS)})"
    rf"(?:[- ]({'|'.join(_WORDS[1:10])}))?\b"
)
_NUMBER = re.compile(
    rf"(?<![\w.,/+-])(?P<sign>[-+]?)(?P<number>\d{{1,4}}|{'|'.join(_WORDS)})"
    r"(?:\.0)?(?![\w/]|[.,:]\d| ?/ ?\d|-(?:point|item|star|step|level)\b|"
    r" point (?:likert )?scale\b)"
)
_LEAD = re.compile(
    r"(?:\b(?:answer|rating|rate|score|response|choose|chose|pick|select|say|give|giving|"
    r"go(?:ing)? (?:with|for)|opt for|change|option|choice|number|level|put|reading|place|value|"
    r"think|guess|gets?|be|land|settle|fall|falls|sit|sits|lean|leaning|call|mark|assign|estimate|"
    r"closer|more of|stands?|"
    r"comes? (?:in|out)|ends? up|lies?|hover|hovers|verdict|midpoint|neutral)\b"
    r"[^\n.!?]{0,40}?|\b(?:an?|about|around|roughly|approximately|maybe|perhaps|probably|so) |"
    r"[:=(\[→] ?|^\W*|\n\W*)\Z"
)
_ASIDE = re.compile(
    r"\b(?:first|initial|initially|previous|earlier|was|tempted|considered|thought|have been|"
    r"some|others)\b"
    r"(?!.*(?:[;\n]|\bbut\b))|\b(?:midpoint|middle|average|mean|maximum|minimum) of \Z"
)
_ENDS = re.compile(r"^ ?(?:$|[^\w\s/+%]|\n|out of|because|since|on\b|degrees?\b|%(?! of)|°)")
_MORE = re.compile(
    r"^ ?(?:rather|instead|points?|stars?|percent|for|as|if|but|and|or|to|with|in|by|"
    r"from|is|,|\)|here|overall)"
)
_EITHER = re.compile(
    rf"(?<![\w.,/+-])(\d{{1,4}}|{'|'.join(_WORDS)}) ?(?:or|and|to|-) ?(?:maybe |perhaps |even )?"
    rf"(?:an? )?(\d{{1,4}}|{'|'.join(_WORDS)})(?![\w/]|[.,:]\d)"
)
_MINUS = re.compile(rf"\b(?:minus|negative) (\d+|{'|'.join(_WORDS)})\b")
_LACK = re.compile(
    r"\b(?:do not|dont)(?: really| personally)? have (?:an?|any)"
    r"(?: (?:strong|particular|real|clear))?"
    r"(?= \w)"
)
_OTHERS = re.compile(r"\b(?:people|others|some|many|they|who|why|critics|experts)(?: \w+)? \Z")
_PAUSE, _LAST = re.compile(r"[,;.!?-] ?\Z"), re.compile(r"[.!]?\s*(?:\n|\Z)")
_ITEM = re.compile(r"(?:^|(?<=\n)) ?\d{1,2}[.)](?= ?[a-z])")
_QUESTION = re.compile(r"(?:^|(?<=[.!?\n]))[^.!?\n]{25,400}\?")
_NOT = re.compile(
    r"\b(?:not|dont|doesnt|cannot|cant|wouldnt|isnt|never|than)(?:(?: \w+){0,2}|"
    r"(?: (?:the|an?|quite|as|go|give|it|rate|high|low|maximum|minimum|midpoint|middle|"
    r"top|extreme|of|at|more|less|than|to|say|full|rating|score)){0,5}) ?\Z"
)
_MARKS = str.maketrans({"*": " ", "_": " ", "`": " ", '"': " ", "|": "\n", "−": "-", "\u20e3": ""})
_ANSWERED, _STATED, _LABELLED, _MENTIONED = 4, 3, 2, 1
# "one" as a pronoun, an idiom that names two labels, and words of the question
_IDIOM = re.compile(
    r"\b(?:that|this|the|any|no|each|every|which) one\b|\bagree to disagree\b|"
    r"\bhow (?:often|strongly|much)\b"
)


class _Value(NamedTuple):
    value: int
    strength: int
    start: int


def read_scale(text: str, labels: Mapping[int, str], *, stop_reason: str | None = None) -> Choice:
    """Read the point of a scale that an answer gives.

    Parameters
    ----------
    text
        The answer.
    labels
        Every point of the scale and its label; an empty text where a point has none.
    stop_reason
        Why the model stopped: ``stop``, ``max_tokens``, ``content_filter`` or None.

    Returns
    -------
    Choice
        `outcome` is the point as text (``"4"``, ``"-2"``). Otherwise the reason is ``refused``,
        ``both`` (several points), ``unparsed`` or ``truncated``. Never raises for any text.

    Examples
    --------
    >>> agree = {1: "strongly disagree", 2: "disagree", 3: "neutral", 4: "agree"}
    >>> read_scale("I'd say a 2 out of 4.", agree).outcome
    '2'
    >>> read_scale("I strongly disagree.", agree).outcome
    '1'
    >>> read_scale("Either 2 or 3.", agree).reason
    'both'
    """
    plain = re.sub(r"[^\S\n]+|(?<=\d)-?ish\b", " ", normalise(text).translate(_MARKS)).strip()
    plain = _MINUS.sub(
        _negative, _SPELLED.sub(_figures, _IDIOM.sub(" ", _LACK.sub("have no", plain)))
    )
    scale = _scale(tuple((point, normalise(label).strip()) for point, label in labels.items()))
    plain = scale.described.sub(lambda match: " " * len(match[0]), plain)
    if len(_ITEM.findall(plain)) > 1:  # a list of reasons
        plain = _ITEM.sub(lambda match: " " * len(match[0]), plain)
    declined = is_refusal(text)
    found: set[int] = set()
    for start, end in _parts(plain):
        values = list(_values(plain[start:end], scale))
        best = max((one.strength for one in values), default=0)
        if best < _LABELLED and end < len(plain):
            continue  # a number that a marked part mentions
        found = {one.value for one in values if one.strength == best}
        if len(found) == 1 and not (declined and best < _STATED):
            return Choice(str(found.pop()), None, None)
    several = 1 < len(found) < len(labels) and not (declined and best < _STATED)
    return Choice(None, "both" if several else why_unread(text, stop_reason), None)


def _parts(plain: str) -> Iterator[tuple[int, int]]:
    """Yield where to read, first to last: marked answers, what concludes, the whole."""
    corrected = correction(plain)
    yield from (place for place in marked(plain) if place[0] >= corrected)
    if corrected:
        yield corrected, len(plain)
    yield from narrowed(plain)


class _Scale(NamedTuple):
    points: Mapping[str, int]
    """Label → point."""
    known: frozenset[int]
    described: re.Pattern[str]
    """Matches a description of the scale, or a value on another scale."""
    labelled: re.Pattern[str]
    whole: re.Pattern[str]
    """``4 out of 7``."""


@lru_cache(maxsize=64)
def _scale(labels: tuple[tuple[int, str], ...]) -> _Scale:
    points = {label: point for point, label in labels if label}
    ordered = sorted(points, key=len, reverse=True)
    either = "|".join(map(re.escape, ordered)) or r"(?!)"
    low, high = min(labels)[0], max(labels)[0]
    mark = rf"(?: ?[(=:,-]? ?(?:{either})\)?)?"
    ends = rf"\(?{low}{mark} ?(?:to|through|and|-|\.\.\.?|…) ?{high}{mark}\)?(?![\w.]?\d)"
    pair = rf"(?:{'|'.join(str(point) for point, _ in labels)}) ?[=:-] ?(?:{either})"
    legend = rf"{pair}(?:[,;\n] ?(?:and )?{pair}){{2,}}"
    other = rf"(?<![\w.])\d+ ?(?:/|out of) ?(?!{high}\b)\d+"
    run = r"(?<![\w.])\d+(?:(?: ?[,/] ?| )\d+){2,}(?![\w.]?\d)"
    described = rf"(?<![\w.])(?:(?:from|between) )?{ends}|{legend}|{other}|{run}"
    whole = rf"(?P<number>\d+|{'|'.join(_WORDS)})(?: \w+)? ?(?:/|out of|of) ?(?:{high}|"
    whole += rf"{_WORDS[high] if 0 <= high < len(_WORDS) else high})\b"
    return _Scale(
        points,
        frozenset(point for point, _ in labels),
        re.compile(described),
        re.compile(rf"(?<!\w)(?:{either})(?!\w)"),
        re.compile(rf"(?<![\w.,/+-]){whole}"),
    )


def _values(plain: str, scale: _Scale) -> Iterator[_Value]:
    """Find the values of an answer."""
    for match in scale.labelled.finditer(_QUESTION.sub(lambda asked: " " * len(asked[0]), plain)):
        if not _negated(plain, match) and not _OTHERS.search(plain, 0, match.start()):
            before, after = plain[: match.start()].rstrip()[-1:], plain[match.end() :].lstrip()[:1]
            alone = before in ("", ".", "!", "?") and after in ("", ".", "!", "\n", ",", ";")
            own = re.search(
                r"\bi(?: have|d say|m)? \Z", plain[max(match.start() - 12, 0) : match.start()]
            )
            strength = _STATED if alone or own else _LABELLED
            yield _Value(scale.points[match[0]], strength, match.start())
    for match in scale.whole.finditer(plain):
        if (value := _point(match["number"], scale)) is not None and not _negated(plain, match):
            yield _Value(value, _ANSWERED, match.start())
    rest = scale.whole.sub(lambda match: " " * len(match[0]), plain)
    for match in _EITHER.finditer(rest):
        points = (_point(number, scale) for number in match.groups())
        yield from (_Value(p, _ANSWERED, match.start()) for p in points if p is not None)
    yield from _numbers(rest, scale)


def _numbers(plain: str, scale: _Scale) -> Iterator[_Value]:
    """Find numbers that may be the answer, and whether they stand as one."""
    for match in _NUMBER.finditer(plain):
        value = _point(match["sign"].strip("+") + match["number"], scale)
        if value is None or _negated(plain, match):
            continue
        before = plain[max(match.start() - 60, 0) : match.start()]
        after = plain[match.end() : match.end() + 20]
        if _ENDS.match(after) or _MORE.match(after):
            led = _LEAD.search(before) is not None and not _ASIDE.search(before)
            led |= bool(_PAUSE.search(before) and _LAST.match(after))
            yield _Value(value, _ANSWERED if led else _MENTIONED, match.start())


def _figures(match: re.Match[str]) -> str:
    """Return ``65`` for ``sixty-five``."""
    if match["hundred"]:
        return "100"
    return str(_TENS[match[2]] + (_WORDS.index(match[3]) if match[3] else 0))


def _negative(match: re.Match[str]) -> str:
    """Return ``-1`` for ``minus one``."""
    return f"-{_WORDS.index(match[1]) if match[1] in _WORDS else match[1]}"


def _point(number: str, scale: _Scale) -> int | None:
    value = _WORDS.index(number) if number in _WORDS else int(number)
    return value if value in scale.known else None


def _negated(plain: str, match: re.Match[str]) -> bool:
    """Return whether a value is ruled out: ``not a 3``, ``do not strongly agree``."""
    return bool(_NOT.search(plain[max(match.start() - 30, 0) : match.start()]))
