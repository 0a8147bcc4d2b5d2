"""Checks whether synonyms keep the valence of their seeds.

The paper's authors judged this by eye. Here a valence lexicon, given by path, rates seeds and
synonyms from −1 (unpleasant) to 1 (pleasant). The licences of lexicons such as NRC VAD (Mohammad
2018) forbid redistribution, so none is shipped.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from statistics import fmean

from clinometer.numbers import number, signed
from clinometer.stimuli.words import word_key

NOT_CHECKED = "not checked (no lexicon given)"

#: A synonym drifts when it is this much more or less pleasant than its seed (range −1 to 1) …
WORD_DRIFT = 0.5
#: … or changes sides; within this distance of 0 a word is on neither side.
NEUTRAL = 0.1
#: The sets drift when the difference of their mean valences changes by more than this.
SET_DRIFT = 0.25


@dataclass(frozen=True)
class Lexicon:
    """Valence of words from −1 (unpleasant) to 1 (pleasant), by `word_key`."""

    source: str
    valence: Mapping[str, float]

    @classmethod
    def from_ratings(cls, source: str, ratings: Mapping[str, float]) -> Lexicon:
        """Make a lexicon of ratings from 0 to 1, by word."""
        # Onto the scale from −1 to 1, where 0 is neutral.
        return cls(source, {word_key(word): 2 * rating - 1 for word, rating in ratings.items()})

    def look_up(self, word: str) -> float | None:
        """Return a word's valence; None where the lexicon lacks it."""
        return self.valence.get(word_key(word))


def check_valence(
    tied: Mapping[str, str], counter: Mapping[str, str], lexicon: Lexicon | None
) -> tuple[str, list[str]]:
    """Compare the valence of synonyms (seed → synonym) with that of their seeds.

    Gives the mean valences of both sets before and after, as text, and what drifted. Only pairs of
    which the lexicon has both words count; empty synonyms are passed over.

    Examples
    --------
    >>> lexicon = Lexicon("v.csv", {"agony": -0.9, "event": 0.0, "joy": 0.9, "fun": 0.8})
    >>> summary, drifted = check_valence({"agony": "event"}, {"joy": "fun"}, lexicon)
    >>> summary
    'tied −0.90 → 0.00, counter +0.90 → +0.80, difference +1.80 → +0.80 (2 of 2 pairs in v.csv)'
    >>> drifted[0]
    "valence: 'event' (0.00) for 'agony' (−0.90): differs by 0.90, more than 0.5"
    """
    if lexicon is None:
        return NOT_CHECKED, []
    findings: list[str] = []
    synonyms = {"tied": tied, "counter": counter}
    # Of each set: (valence of the seed, of its synonym), where the lexicon has both.
    rated: dict[str, list[tuple[float, float]]] = {"tied": [], "counter": []}
    for role in rated:
        for seed, synonym in synonyms[role].items():
            before = lexicon.look_up(seed)
            after = lexicon.look_up(synonym)
            if synonym and before is not None and after is not None:
                rated[role].append((before, after))
                findings += _word_drift(seed, synonym, before, after)
    n_synonyms = sum(map(bool, [*tied.values(), *counter.values()]))
    n_rated = len(rated["tied"]) + len(rated["counter"])
    coverage = f"({n_rated} of {n_synonyms} pairs in {lexicon.source})"
    if not rated["tied"] or not rated["counter"]:
        return f"not checked for the sets: too few words {coverage}", findings
    t0, t1 = _mean_valences(rated["tied"])
    c0, c1 = _mean_valences(rated["counter"])
    summary = (
        f"tied {signed(t0)} → {signed(t1)}, counter {signed(c0)} → {signed(c1)}, "
        f"difference {signed(c0 - t0)} → {signed(c1 - t1)} {coverage}"
    )
    if abs((c1 - t1) - (c0 - t0)) > SET_DRIFT:
        findings.append(
            f"valence: the sets differ by {signed(c1 - t1)}, their seeds by {signed(c0 - t0)}; "
            f"that is a change of more than {SET_DRIFT}"
        )
    return summary, findings


def _mean_valences(pairs: list[tuple[float, float]]) -> tuple[float, float]:
    """Return the mean valence of seeds and of their synonyms."""
    return fmean(before for before, _ in pairs), fmean(after for _, after in pairs)


def _word_drift(seed: str, synonym: str, before: float, after: float) -> list[str]:
    pair = f"valence: {synonym!r} ({signed(after)}) for {seed!r} ({signed(before)})"
    if before * after < 0 and min(abs(before), abs(after)) > NEUTRAL:
        return [f"{pair}: the other side of neutral"]
    if abs(after - before) > WORD_DRIFT:
        return [f"{pair}: differs by {number(abs(after - before))}, more than {WORD_DRIFT}"]
    return []
