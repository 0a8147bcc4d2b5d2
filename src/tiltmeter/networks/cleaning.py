"""Free associations made alike: case, spelling, inflection; each step can be left out.

After the preparation of LWOW (Abramski et al. 2024, arXiv:2412.01330; code as in `rewriting`),
which Abramski, Rossetti & Stella (2025) use for humans and models alike. Deviations:

- LWOW has no steps ``punctuation``, ``two_words`` and ``countries``; `LWOW_STEPS` are its own.
- Its lemmatiser replaces "men" by "man" and "hands" by "hand" in the middle of words
  ("government" → "governmant", which WordNet does not know and the network loses), and takes
  nltk's shortest noun always ("boss" → "bos", "us" → "u"). Here whole words are replaced, words
  in -ss stay (as WordNet's own morphy has it), and a noun in -s that WordNet knows as it stands
  does not become one of two letters ("pus" → "pu"). Phrases are looked up with WordNet's
  underscore ("ice creams" → "ice cream"), which nltk is not told.
- Its spaces and hyphens are put back into numbers and inflected words too ("911" → "9-11").
- Articles are dropped until none is left, not each once in a fixed order; the cues an answer may
  equal are compared as they are then, not corrected and lemmatised.
- It drops doubles among the three responses of a row after cleaning; see `loading`.
- It fills up or draws to 100 rows a cue; here counts stay what they are.
- Of 17 phrases that WordNet writes in two ways ("shetland sheepdog", "shetland sheep dog") it may
  choose the other, for it takes the last in the order of WordNet's synsets.

``lwow_compatible=True`` does as LWOW in all but the last three.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
import polars as pl
from numpy.typing import NDArray

from tiltmeter.errors import InputError, unknown
from tiltmeter.networks.rewriting import lemma, read_spelling, rewriter, without_articles
from tiltmeter.results.tables import need_columns

__all__ = ["DEFAULT_STEPS", "LWOW_STEPS", "clean"]

#: All steps, in their order.
DEFAULT_STEPS = (
    "lower_case",  # Dog → dog
    "underscores",  # ice_cream → ice cream
    "punctuation",  # what is no letter, digit, hyphen or apostrophe inside a word
    "articles",  # the dog → dog, unless "the dog" is a cue
    "spaces",  # blackbird stays, teddybear → teddy bear
    "spelling",  # by the table given
    "countries",  # united states of america → usa
    "two_words",  # answers of more than two words are dropped
    "lemmas",  # dogs → dog
    "no_echo",  # answers equal to their cue are dropped
)
#: The steps of LWOW.
LWOW_STEPS = tuple(
    step for step in DEFAULT_STEPS if step not in ("punctuation", "two_words", "countries")
)


@dataclass(frozen=True)
class _Pairs:
    """Texts once each, and pairs of them by their places."""

    cues: Sequence[str]
    responses: Sequence[str]
    cue: NDArray[np.intp]
    response: NDArray[np.intp]
    count: pl.Series

    def keep(self, kept: NDArray[np.bool_]) -> _Pairs:
        return replace(
            self,
            cue=self.cue[kept],
            response=self.response[kept],
            count=self.count.filter(pl.Series(kept)),
        )


def clean(
    associations: pl.DataFrame,
    steps: Sequence[str] | None = None,
    *,
    spelling: str | Path | Mapping[str, str] | None = None,
    lwow_compatible: bool = False,
) -> tuple[pl.DataFrame, pl.DataFrame]:
    """Clean free associations.

    Parameters
    ----------
    associations
        Columns ``cue``, ``response`` and ``count``.
    steps
        Some of `DEFAULT_STEPS`; they are taken in the order of that list, whatever the order
        here. None: all of them, or `LWOW_STEPS` where `lwow_compatible`.
    spelling
        Wrong → right, or a table of these; nothing is corrected by default.
    lwow_compatible
        Do what the code of LWOW does, mistakes included.

    Returns
    -------
    tuple of polars.DataFrame
        The associations, each pair once, in order of first appearance; and a row per step:
        ``step``, ``rows`` (pairs after it), ``answers`` (sum of their counts), ``changed`` and
        ``dropped`` (pairs). The first row is what was given; the last two are the pairs with an
        empty word, dropped always, and equal pairs added up.

    Raises
    ------
    InputError
        If a step is not known, a column is missing, or a step leaves nothing.

    Examples
    --------
    >>> given = {"cue": ["Cat", "cat"], "response": ["dogs", "the dog"], "count": [2, 1]}
    >>> associations, _ = clean(pl.DataFrame(given))
    >>> associations.rows()
    [('cat', 'dog', 3)]
    """
    chosen = _choose(steps, lwow_compatible)
    corrections = read_spelling(spelling)
    pairs = _pairs(associations)
    log = [_logged("associations", pairs)]
    for step in chosen:
        if step in _DROPPED:
            after, changed = pairs.keep(~_DROPPED[step](pairs)), 0
        else:
            after, changed = _rewrite(pairs, step, corrections, lwow_compatible)
        log.append(_logged(step, after, changed, len(pairs.cue)))
        pairs = after
    full = pairs.keep(~_empty(pairs))
    log.append(_logged("empty", full, 0, len(pairs.cue)))
    summed = _add_up(full)
    log.append({**log[-1], "step": "summed", "rows": summed.height,
                "dropped": len(full.cue) - summed.height})  # fmt: skip
    return summed, pl.DataFrame(log)


def _choose(steps: Sequence[str] | None, lwow_compatible: bool) -> list[str]:
    if steps is None:
        steps = LWOW_STEPS if lwow_compatible else DEFAULT_STEPS
    for step in steps:
        if step not in DEFAULT_STEPS:
            listed = ", ".join(DEFAULT_STEPS)
            raise InputError(f"steps: {unknown('step', step, DEFAULT_STEPS)}; all: {listed}")
    return [step for step in DEFAULT_STEPS if step in steps]


def _pairs(associations: pl.DataFrame) -> _Pairs:
    need_columns(associations, ("cue", "response", "count"), "associations")
    cues, cue = _coded(associations["cue"])
    responses, response = _coded(associations["response"])
    return _Pairs(cues, responses, cue, response, associations["count"])


def _coded(texts: pl.Series) -> tuple[list[str], NDArray[np.intp]]:
    words = texts.cast(pl.String).fill_null("").alias("word").to_frame()
    once = words.unique(maintain_order=True).with_row_index("place")
    places = words.join(once, on="word", how="left", maintain_order="left")["place"]
    return once["word"].to_list(), places.to_numpy().astype(np.intp)


def _rewrite(
    pairs: _Pairs, step: str, spelling: Mapping[str, str], lwow_compatible: bool
) -> tuple[_Pairs, int]:
    """Apply a step to every text once, and count the pairs it changed."""
    if step == "articles":
        known = _cues(pairs.cues, spelling) if lwow_compatible else frozenset(pairs.cues)
        cues = pairs.cues
        responses = [
            without_articles(text, known, lwow_compatible=lwow_compatible)
            for text in pairs.responses
        ]
    else:
        change = rewriter(step, spelling, lwow_compatible)
        cues, responses = list(map(change, pairs.cues)), list(map(change, pairs.responses))
    changed = _differs(pairs.cues, cues)[pairs.cue]
    changed = changed | _differs(pairs.responses, responses)[pairs.response]
    return replace(pairs, cues=cues, responses=responses), int(changed.sum())


def _cues(cues: Iterable[str], spelling: Mapping[str, str]) -> frozenset[str]:
    """Give the cues as LWOW compares answers with them: corrected and lemmatised already."""
    corrected = (spelling.get(cue, cue) for cue in cues)
    return frozenset("man" if cue == "men" else lemma(cue) for cue in corrected)


def _differs(before: Sequence[str], after: Sequence[str]) -> NDArray[np.bool_]:
    return np.array([old != new for old, new in zip(before, after, strict=True)], dtype=bool)


def _long(pairs: _Pairs) -> NDArray[np.bool_]:
    return np.array([len(text.split()) > 2 for text in pairs.responses], bool)[pairs.response]


def _echo(pairs: _Pairs) -> NDArray[np.bool_]:
    places = {text: place for place, text in enumerate(dict.fromkeys(pairs.cues))}
    cues = np.array([places[text] for text in pairs.cues], dtype=np.intp)
    responses = np.array([places.get(text, -1) for text in pairs.responses], dtype=np.intp)
    return np.asarray(cues[pairs.cue] == responses[pairs.response])


def _empty(pairs: _Pairs) -> NDArray[np.bool_]:
    cues, responses = (
        np.array([not text.strip() for text in texts], dtype=bool)
        for texts in (pairs.cues, pairs.responses)
    )
    return np.asarray(cues[pairs.cue] | responses[pairs.response])


#: The steps that drop pairs.
_DROPPED = {"two_words": _long, "no_echo": _echo}


def _logged(
    step: str, pairs: _Pairs, changed: int = 0, before: int | None = None
) -> dict[str, object]:
    rows = len(pairs.cue)
    if not rows:
        last = "there were none" if before is None else f"step {step!r} left none"
        raise InputError(f"associations: {last}; expected at least one pair of cue and response")
    dropped = 0 if before is None else before - rows
    return {"step": step, "rows": rows, "answers": pairs.count.sum(),
            "changed": changed, "dropped": dropped}  # fmt: skip


def _add_up(pairs: _Pairs) -> pl.DataFrame:
    cues, responses = (
        pl.Series(texts, dtype=pl.String).gather(places)
        for texts, places in ((pairs.cues, pairs.cue), (pairs.responses, pairs.response))
    )
    return (
        pl.DataFrame({"cue": cues, "response": responses, "count": pairs.count})
        .group_by("cue", "response", maintain_order=True)
        .agg(pl.col("count").sum())
    )
