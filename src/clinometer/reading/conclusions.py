r"""Where an answer concludes: marked answers, corrections, conclusions and what precedes a reason.

A marked answer stands behind its name (``Answer: B``, ``my rating is 5``) or below
it, as below a heading. Of several, the last that can be read counts. What follows a correction
(``wait``, ``on reflection``) counts before what precedes it; then what follows a
conclusion (``so``), then what precedes a reason (``because``). Time is linear in the text.

The functions read plain form, see `plaintext.normalise`.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

_NAME = (
    "(?:answer|ans|verdict|decision|recommendation|conclusion|choice|selection|pick|rating|"
    "score|response|judge?ment|ruling|determination|vote)"
)
_LINK = r"(?: (?:here|in this case|to (?:this|the|your) question|would|should|must|has to|to))*"
_BRACKET = r"(?: ?\([^)\n]{1,30}\))?"
_MARKER = re.compile(
    rf"(?<![\w-]){_NAME}\b[\"'* ]{{0,6}}{_BRACKET}"
    rf"(?:[\"'* ]{{0,6}}[:=](?!\w)|[\"'* ]{{0,6}}[:=](?=\w)|{_LINK} (?:is|be)\b(?: ?[:=])?)|"
    rf"(?:^|\n)[^\w\n]{{0,12}}(?:[a-z]+ ){{0,2}}{_NAME}[^\w\n]{{0,12}}(?=\n)"
)
_VALUE = re.compile(
    r"\W*?(?P<quote>\")?(?:(?:(?:most )?likely|probably|rather|actually|definitely|clearly|"
    r"therefore|(?:the )?letter|option|choice)[ :,]+){0,3}(?P<value>\(?[-+]?\w[^\n}]*)"
)
_NEXT_KEY = re.compile(r"[,;] ?\"? ?\w+ ?\"? ?:")
_CORRECTION = re.compile(
    r"(?:^|[.!?…\n,;:(-] ?)(?:(?:but|no|oh|hmm|sorry|and|well),? ?|[.…] ?){0,4}(?:wait|actually|"
    r"correction|scratch that|strike that|or rather|looking again|(?:on|after) (?:further |closer |"
    r"more )?(?:reflection|second thoughts?|thought|(?:re-?)?reading|inspection|consideration|look|"
    r"thinking)|"
    r"(?:let me |i(?:ll| will| should| must| need to| have to) )(?:re-?(?:consider|read|check|"
    r"think|evaluate|examine|vise|phrase)|correct|look again)|(?:i )?(?:misread|misspoke|mistook|"
    r"meant|made (?:a mistake|an error)|stand corrected)|my (?:mistake|bad|error))\b|"
    r"(?:[?] |[.…-] ?(?:hmm?|uh|er|oh) ?,? )(?=no\b)"
)
_CONCLUSION = re.compile(
    r"(?:^|[.!?;\n] ?)(?:so|therefore|thus|hence|consequently|accordingly|ultimately|overall|"
    r"in (?:conclusion|the end|summary))\b|"
    r"\b(?:so|therefore|thus|hence)(?:,|:)? (?=[-\d(]|[b-e]\b|a[.)]|(?:i|it|my|that|this|"
    r"(?:the )?(?:\w+ ){1,4}(?:is|was|must be))\b)|\b(?:that|which) leaves\b|"
    r"\b(?:but|so|and|though|yet)(?: \w+){0,2}? (?:lean|leaning|settle|settling|"
    r"closer|say|choose|pick)\b|"
    r"\bmore of\b",
    re.IGNORECASE,
)
_REASON = re.compile(
    r"\b(?:because|since|although|though)\b|, (?:as|for|given that|while|whereas)\b|"
    r"\n[^\w\n]{0,12}(?:reason(?:ing)?|explanation|justification|rationale)[^\w\n]{0,12}[:\n]",
    re.IGNORECASE,
)
_MOST = 20  # marked answers that are looked at


def marked(plain: str) -> Iterator[tuple[int, int]]:
    """Find the marked answers, the last first, each to the end of its line, quote or brace."""
    markers = list(_MARKER.finditer(plain))
    limits = [marker.start() for marker in markers[1:]] + [len(plain)]
    for marker, limit in list(zip(markers, limits, strict=False))[: -_MOST - 1 : -1]:
        if value := _VALUE.match(plain, marker.end(), limit):
            start, end = value.span("value")
            if value["quote"]:
                # Without a closing quote `find` gives -1, and -1 % (end + 1) is `end`.
                end = plain.find('"', start, end) % (end + 1)
            following = _NEXT_KEY.search(plain, start, end)
            yield start, following.start() if following else end


def correction(plain: str) -> int:
    """Return where what follows the last correction begins; 0 if nothing is corrected."""
    return max((match.end() for match in _CORRECTION.finditer(plain)), default=0)


def narrowed(text: str) -> Iterator[tuple[int, int]]:
    """Yield where a text concludes, then what precedes its first reason, then the whole."""
    if concluded := max((match.end() for match in _CONCLUSION.finditer(text)), default=0):
        yield concluded, len(text)
    if reason := _REASON.search(text):
        yield 0, reason.start()
    yield 0, len(text)
