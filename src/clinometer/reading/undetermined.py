"""Words that say that a text does not tell: ``unclear``, ``the passage does not say``.

A pattern for plain form, see `plaintext.normalise`. English only.
"""

from __future__ import annotations

_TELL = (
    "say|specify|tell|state|mention|indicate|give|provide|reveal|clarify|identify|offer|contain|"
    "include|support"
)
_KNOW = (
    "known?|tell|told|say|determined?|be sure|infer|identify|conclude|"
    "be (?:answered|inferred|ascertained|established|decided)"
)
#: Matches what says that something cannot be known from the text.
UNDETERMINED = "|".join(
    (
        r"\b(?:unknown|unknowable|unclear|undetermined|indetermina\w+|ambiguous|unsure|unspecified|"
        r"unstated|unanswerable|inconclusive|undecidable)\b",
        r"\bnot (?:\w+ )?(?:known|stated|specified|answerable|clear|mentioned|given|sure|"
        r"provided|determined|determinable|certain|said|told|possible to)\b",
        r"\b(?:isnt|arent|wasnt|werent) (?:known|stated|specified|clear|mentioned|given|"
        r"provided|told|available|answerable|any (?:information|details?|evidence))\b",
        r"\b(?:not|isnt|without|lacks?|lacking|lack of) (?:\w+ )?(?:enough|sufficient)\b",
        r"nt (?:have|contain|give|provide|offer|include) enough\b",
        r"\binsufficient\b|\bleaves? (?:\w+ ){0,2}open\b|"
        r"\b(?:stays?|remains?|is|an) open\b",
        r"\b(?:no ?one|nobody) (?:can|could) (?:know|say|tell)\b|"
        r"\b(?:says?|states?|mentions?) nothing\b",
        rf"\b(?:does ?nt|do ?nt|did ?nt|does not|do not|did not|never) (?:\w+ )?(?:{_TELL})\b",
        r"\bno (?:\w+ ){0,2}(?:information|indication|evidence|details?|idea|clue|hint|mention|"
        r"basis|grounds|context)\b|\bwithout (?:\w+ ){1,2}(?:context|information|details?)\b",
        r"\bno (?:way|means) (?:to|of) (?:tell|know|determin|say)",
        r"\bimpossible to (?:know|tell|say|determine)",
        r"\b(?:cant|cannot|can not|could not|couldnt|dont|do not|unable to|not able to) "
        rf"(?:\w+ )?(?:be )?(?:{_KNOW})\b",
        r"\bneither can be determined\b|\bnothing in the (?:context|passage|story|text)\b",
        r"\bno answer (?:can|is|was)\b",
    )
)
