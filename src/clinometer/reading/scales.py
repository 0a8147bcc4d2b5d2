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
from collections.abc import Iterator, Mapping, Sequence
from functools import lru_cache
from typing import NamedTuple

from clinometer.reading.conclusions import correction, marked, narrowed
from clinometer.reading.plaintext import Choice, normalise
from clinometer.reading.refusals import is_refusal, why_unread

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
_THIRD_PARTIES = re.compile(
    r"\b(?:people|others|some|many|they|who|why|critics|experts)(?: \w+)? \Z"
)
_PAUSE = re.compile(r"[,;.!?-] ?\Z")
_LAST = re.compile(r"[.!]?\s*(?:\n|\Z)")
_ITEM = re.compile(r"(?:^|(?<=\n)) ?\d{1,2}[.)](?= ?[a-z])")
_QUESTION = re.compile(r"(?:^|(?<=[.!?\n]))[^.!?\n]{25,400}\?")
_NOT = re.compile(
    r"\b(?:not|dont|doesnt|cannot|cant|wouldnt|isnt|never|than)(?:(?: \w+){0,2}|"
    r"(?: (?:the|an?|quite|as|go|give|it|rate|high|low|maximum|minimum|midpoint|middle|"
    r"top|extreme|of|at|more|less|than|to|say|full|rating|score)){0,5}) ?\Z"
)
_MARKS = str.maketrans({"*": " ", "_": " ", "`": " ", '"': " ", "|": "\n", "−": "-", "\u20e3": ""})
# How strongly a value stands as the answer.
_ANSWERED = 4
_ASSERTED = 3
_LABELLED = 2
_MENTIONED = 1
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
    plain = _IDIOM.sub(" ", _LACK.sub("have no", plain))
    # Figures first: "minus twenty-one" is then "minus 21".
    plain = _MINUS.sub(_negative, _SPELLED.sub(_figures, plain))
    scale = _scale(tuple((point, normalise(label).strip()) for point, label in labels.items()))
    plain = scale.described.sub(_blank, plain)
    if len(_ITEM.findall(plain)) > 1:  # a list of reasons
        plain = _ITEM.sub(_blank, plain)
    declined = is_refusal(text)
    points: set[int] = set()
    for start, end in _parts(plain):
        values = list(_find_values(plain[start:end], scale))
        best = max((value.strength for value in values), default=0)
        if best < _LABELLED and end < len(plain):
            continue  # a number that a marked part mentions
        points = {value.value for value in values if value.strength == best}
        if len(points) == 1 and not (declined and best < _ASSERTED):
            return Choice(str(points.pop()), None, None)
    several = 1 < len(points) < len(labels) and not (declined and best < _ASSERTED)
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
    numbers: frozenset[int]
    described: re.Pattern[str]
    """Matches a description of the scale, or a value on another scale."""
    labelled: re.Pattern[str]
    fraction: re.Pattern[str]
    """``4 out of 7``."""


@lru_cache(maxsize=64)
def _scale(labels: tuple[tuple[int, str], ...]) -> _Scale:
    """Return what tells the points of a scale in a text."""
    points = {label: point for point, label in labels if label}
    # The longest first, so that "strongly agree" is not read as "agree".
    ordered = sorted(points, key=len, reverse=True)
    any_label = "|".join(map(re.escape, ordered)) or r"(?!)"
    high = max(labels)[0]
    spelled = _WORDS[high] if 0 <= high < len(_WORDS) else high
    fraction = rf"(?P<number>\d+|{'|'.join(_WORDS)})(?: \w+)? ?(?:/|out of|of) ?"
    return _Scale(
        points,
        frozenset(point for point, _ in labels),
        _described([point for point, _ in labels], any_label),
        re.compile(rf"(?<!\w)(?:{any_label})(?!\w)"),
        re.compile(rf"(?<![\w.,/+-]){fraction}(?:{high}|{spelled})\b"),
    )


def _described(points: Sequence[int], any_label: str) -> re.Pattern[str]:
    """Return what matches a description of the scale, or a value on another one."""
    low = min(points)
    high = max(points)
    after_digits = r"(?![\w.]?\d)"
    mark = rf"(?: ?[(=:,-]? ?(?:{any_label})\)?)?"
    pair = rf"(?:{'|'.join(map(str, points))}) ?[=:-] ?(?:{any_label})"
    kinds = (
        # "from 1 (never) to 7 (always)"
        r"(?<![\w.])(?:(?:from|between) )?"
        rf"\(?{low}{mark} ?(?:to|through|and|-|\.\.\.?|…) ?{high}{mark}\)?{after_digits}",
        # "1 = never, 2 = rarely, 3 = often"
        rf"{pair}(?:[,;\n] ?(?:and )?{pair}){{2,}}",
        # "8/10", on a scale to 7
        rf"(?<![\w.])\d+ ?(?:/|out of) ?(?!{high}\b)\d+",
        # "1, 2, 3, 4"
        rf"(?<![\w.])\d+(?:(?: ?[,/] ?| )\d+){{2,}}{after_digits}",
    )
    return re.compile("|".join(kinds))


def _find_values(plain: str, scale: _Scale) -> Iterator[_Value]:
    """Find the values of an answer."""
    yield from _find_labels(plain, scale)
    for match in scale.fraction.finditer(plain):
        if (value := _point(match["number"], scale)) is not None and not _is_negated(plain, match):
            yield _Value(value, _ANSWERED, match.start())
    rest = scale.fraction.sub(_blank, plain)
    for match in _EITHER.finditer(rest):
        for number in match.groups():
            if (value := _point(number, scale)) is not None:
                yield _Value(value, _ANSWERED, match.start())
    yield from _find_numbers(rest, scale)


def _find_labels(plain: str, scale: _Scale) -> Iterator[_Value]:
    """Find labels outside questions that are neither negated nor another's view."""
    for match in scale.labelled.finditer(_QUESTION.sub(_blank, plain)):
        if _is_negated(plain, match) or _THIRD_PARTIES.search(plain, 0, match.start()):
            continue
        before = plain[: match.start()].rstrip()[-1:]
        after = plain[match.end() :].lstrip()[:1]
        alone = before in ("", ".", "!", "?") and after in ("", ".", "!", "\n", ",", ";")
        lead = plain[max(match.start() - 12, 0) : match.start()]
        is_first_person = re.search(r"\bi(?: have|d say|m)? \Z", lead)
        strength = _ASSERTED if alone or is_first_person else _LABELLED
        yield _Value(scale.points[match[0]], strength, match.start())


def _blank(match: re.Match[str]) -> str:
    """Return blanks, so that what stands behind a match keeps its place."""
    return " " * len(match[0])


def _find_numbers(plain: str, scale: _Scale) -> Iterator[_Value]:
    """Find numbers that may be the answer, and whether they stand as one."""
    for match in _NUMBER.finditer(plain):
        value = _point(match["sign"].strip("+") + match["number"], scale)
        if value is None or _is_negated(plain, match):
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
    return value if value in scale.numbers else None


def _is_negated(plain: str, match: re.Match[str]) -> bool:
    """Return whether a value is ruled out: ``not a 3``, ``do not strongly agree``."""
    return bool(_NOT.search(plain[max(match.start() - 30, 0) : match.start()]))
