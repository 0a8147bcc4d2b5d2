"""The words around a choice of comedy or tragedy, written as marks.

An answer becomes a string of marks, one for each phrase or sign, so that a rule about wording is a
pattern on that string: ``more of a comedy than a tragedy`` is ``p_fc>ft``.
"""

from __future__ import annotations

import re
from functools import lru_cache

from tiltmeter.reading.mentions import Lexicon, find_mentions, index

__all__ = ["Words", "known", "marked", "options"]

Words = tuple[str, ...]

#: Mark → the English phrases it stands for. Options are ``c`` and ``t``, other words ``_``.
_PHRASES = {
    # neutral: as such; as a third label; by "neither", which rejects too; for the undecided
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
    # rejection of what follows, by a verb also of what stands right before; comparison
    "x": "not|no|never|nor|non|dont|hardly|nothing|lacks|avoid|far from|anything but|rather than"
    "|instead of|as opposed to",
    "j": "isnt|wasnt|arent|doesnt|didnt|wouldnt|wont|cant|cannot|is not|was not|does not|did not"
    "|would not|will not",
    "v": "over",
    "<": "less|not so much",
    ">": "than",
    "a": "as",
    "p": "more|mostly|mainly|rather",
    "q": "lean|leans|leaning|closer|nearer|tends|tilts|tips",
    # choosing; by "maybe"; by "I choose", which begins anew
    "m": "choose|chose|choice|pick|go with|going with|opt|say|says|call|classify|classified"
    "|categorize|categorise|feel|feels|felt|think|answer|verdict|classification|decide|decision"
    "|label|first reaction|gut|instinct|consider|settle",
    "y": "maybe|perhaps|possibly",
    "i": "i choose|i pick|i say|id say|i would say|id go|i would go|ill go|id call|i would call"
    "|i think|id choose|id pick|id classify|i would classify|i go",
    # turns: within a sentence, of an argument, of mind
    "b": "but|yet",
    "d": "however|ultimately|overall|in the end|on balance|nevertheless|nonetheless|at its core",
    "r": "actually|wait|correction|on second thought|scratch that|just kidding|if i had to"
    "|if forced|if i must|if pressed|when pressed|forced to choose|have to choose|had to choose"
    "|final answer",
    ",": "because|since|due to|given that",
    "o": "or|vs|vs.|versus",
    "&": "and|as well as|plus",
    # traces: by concession (and keys whose values choose nothing), before and after the option
    "w": "although|though|even though|even if|while|whereas|despite|in spite of|at first|initially"
    "|without|some might|others might|some may|others may|could also|might also|may also"
    "|some would|others would|some people|some say|others say|you could say|one could say"
    "|reason|explanation|rationale|justification|note",
    "h": "hint of|touch of|tinge of|element of|elements of|dash of|note of|notes of|trace of"
    "|traces of|undertones of|undertone of|moments of|tinged with|a bit|a little|some|half",
    "e": "elements|element|undertones|undertone|overtones|notes|aspects|aspect|touches|touch"
    "|moments|moment|tinge|edge|side|qualities|quality|twist|relief|potential|possibilities",
    # what may stand around a bare choice; what only looks like one of the above
    "f": "a|an|the|its|it's|it is|definitely|clearly|probably|pure|purely|simply|certainly",
    "_": "no doubt|not only|remain neutral|stay neutral|neutral object|neutral word|be neutral"
    "|no second guessing|nothing extra",
}
_SIGN = re.compile(r"[^\W\d_]+|[.!?;:,=|>()\[\]{}/&+\n\t。、→⇒➜➔➡-]")
_SIGNS = {
    **dict.fromkeys(".!;\n。", "."),
    **dict.fromkeys(":=|\t→⇒➜➔➡-", ":"),
    **dict.fromkeys(",()[]{}、", ","),
    **{"?": "?", "/": "o", "&": "&", "+": "&", ">": "v"},
}


@lru_cache(maxsize=64)
def known(comedy: Words, tragedy: Words, neutral: Words, negations: Words) -> Lexicon:
    """Index every phrase with its mark."""
    given = (("c", comedy), ("t", tragedy), ("n", neutral), ("x", negations))
    built_in = ((mark, text.split("|")) for mark, text in _PHRASES.items())
    return index((mark, word) for mark, words in (*given, *built_in) for word in words)


@lru_cache(maxsize=512)
def options(subject: str, comedy: Words, tragedy: Words, neutral: Words) -> Lexicon:
    """Index the outcomes as groups and the subject as the word to be paired."""
    neutral += tuple(_PHRASES["n"].split("|"))
    groups = (("comedy", comedy), ("tragedy", tragedy), ("neutral", neutral), ("a", (subject,)))
    spelled = index((outcome, word) for outcome, words in groups for word in words)
    return {
        first: [(way, *((kind, term) if kind == "a" else ("g", kind))) for way, kind, term in ways]
        for first, ways in spelled.items()
    }


def marked(plain: str, phrases: Lexicon) -> tuple[str, list[tuple[int, int]]]:
    """Write a text as marks, with the place of each."""
    marks: list[str] = []
    places: list[tuple[int, int]] = []
    end = 0
    for kind, _, start, until in [*find_mentions(plain, phrases), ("", "", len(plain), 0)]:
        for sign in _SIGN.finditer(plain, end, start):
            mark = "" if _is_hyphen(plain, sign.start()) else _SIGNS.get(sign[0], "_")
            marks.append(mark)
            places += [sign.span()] if mark else []
        marks.append(kind)
        places.append((start, until))
        end = until
    return "".join(marks), places


def _is_hyphen(plain: str, at: int) -> bool:
    return plain[at] == "-" and plain[at - 1 : at].isalnum() and plain[at + 1 : at + 2].isalnum()
