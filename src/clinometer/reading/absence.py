"""Cells of recorded tables that hold no answer: empty, a sign of nothing, or a provider's error.

A model's own empty answer has a stop reason; a cell of a table that knows none has no answer. What
a filter says is a refusal and no error: the model, or its provider, declined.
"""

from __future__ import annotations

import re

from clinometer.reading.refusals import is_refusal

#: What R, pandas, polars, databases and spreadsheets write where there is nothing, as they do.
_NOTHING = frozenset(
    "NA N/A n/a nan NaN NAN None NULL Null null nil NaT <NA> <null> (null) \\N - – — . #NAME? #N/A"
    " #VALUE! #REF! #DIV/0! #NUM! #NULL! #ERROR! #SPILL! #CALC! undefined".split()
)

_CODE = r"[:=(\[ ]{1,3}(?:http ?)?[45]\d\d\b"
_ERROR = re.compile(
    r"\W{0,3}(?:"
    rf"(?:(?:api|http|server|openai|anthropic|google|azure)[ _-]?)?error(?: code| status)? ?{_CODE}"
    rf"|(?:http|status|response)(?: status| error| code){{0,2}} ?{_CODE}|error: "
    r"|[45]\d\d [a-z ]{0,20}(?:error|unavailable|gateway|limit|requests)"
    r"|traceback \(most recent|[a-z_.]{0,80}(?:error|exception|timeout)\b ?[:(]"
    r"|\{ ?[\"']error[\"'] ?:|(?:rate limit|quota) (?:\w+ ){0,3}(?:reached|exceeded)"
    r"|(?:the )?(?:request|connection) (?:\w+ )?(?:timed out|error|reset|refused|aborted|failed)"
    r"|timed? ?out\W*\Z|too many requests|service unavailable|bad gateway|gateway time-?out"
    r"|internal server error|insufficient[_ ]quota|you exceeded your current quota"
    r"|max(?:imum)? retries|<!doctype html|<html)",
    re.IGNORECASE,
)


def is_absent(text: str) -> bool:
    """Whether a cell of a recorded table holds no answer.

    Examples
    --------
    >>> [is_absent(text) for text in ("NA", "", "Error code: 429 - rate limit", "None of them")]
    [True, True, True, False]
    """
    content = text.strip().strip("\"'")
    if not content or content in _NOTHING:
        return True
    return _ERROR.match(content[:400]) is not None and not is_refusal(content)
