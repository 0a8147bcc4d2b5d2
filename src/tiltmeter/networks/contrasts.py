"""Stereotypes and emotions: which of two categories of primes activates targets more.

Reference: Abramski, Rossetti & Stella 2025, arXiv:2510.24488, "Stereotypes approach" and "Emotions
approach".
Measures the difference in normalised activation of a target between the two primes of a pair.
*Stereotypes*: over all matched pairs (woman − man) and all targets tied to a category; activations
are divided by the L2 norm of their column over all nodes, then by that of their row over the
primes. *Emotions*: between two primes, over all words of the network that a lexicon of the user's
(NRC EmoLex) ties to one of the eight emotions of Plutchik 1980; divided by L1 norms, since by L2
all emotions may lean the same way (figure 13).
Range of the effect (z / √n, see `statistics.two_samples`): ±.87 for many pairs, up to ±1 for few;
neutral 0; positive: the first category activates these targets more. Targets of the first category
are stereotype-consistent above 0, those of the second below; emotions have no such direction.
Deviations: none in effect and p (of emotions two-sided; the paper does not say). Beside them
stand Holm's p, a test over swapped primes and an interval from drawing targets, because 125 pairs
that share 25 targets and 5 pairs of primes are not 125 observations.

Differences of two networks are over the targets that both have: candidate − baseline, −2 to 2,
neutral 0, stereotype-consistent on the side of the effect. Interval and p come from drawing
targets, the same for both networks, so that what moves both cancels.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import stats

from tiltmeter.networks.network import Network
from tiltmeter.networks.setting import Setting, spread_columns
from tiltmeter.networks.spreading import activate
from tiltmeter.statistics.clustered import holm
from tiltmeter.statistics.two_samples import (
    Alternative,
    bootstrap_effects,
    permute_columns,
    signed_rank,
    signed_rank_effect,
)
from tiltmeter.stimuli.network_study import Emotions, Stereotypes

__all__ = [
    "DIRECTIONS",
    "Contrast",
    "Paired",
    "activations",
    "adjust",
    "differences",
    "effects",
    "emotions",
    "ends",
    "stereotypes",
]

Array = NDArray[np.float64]
Row = dict[str, Any]

#: What a sign of `Paired.sign` is tested for, and on which side it is stereotype-consistent.
_ALTERNATIVES: Mapping[int, Alternative] = {1: "greater", -1: "less", 0: "two-sided"}
DIRECTIONS = {1: "above", -1: "below", 0: None}


@dataclass(frozen=True, eq=False)
class Paired:
    """The activation of one set of targets by pairs of primes.

    `raw` and `normalised` have the shape (targets, primes): primes of the first and the second
    category in turn. `sign` is 1 or −1 where a stereotype says which category activates these
    targets more.
    """

    targets: tuple[str, ...]
    raw: Array
    normalised: Array
    sign: int

    @property
    def differences(self) -> Array:
        """Shape (targets, pairs of primes): first − second category."""
        return self.normalised[:, 0::2] - self.normalised[:, 1::2]

    def rows(self, words: Sequence[str]) -> list[int]:
        """Give the rows of some targets."""
        places = {word: place for place, word in enumerate(self.targets)}
        return [places[word] for word in words]


@dataclass(frozen=True, eq=False)
class Contrast:
    """Two categories of primes in one network, and all sets of targets."""

    about: Row  # subject, study, identity, instrument, measure, first, second
    primes: tuple[str, ...]
    sets: Mapping[str, Paired]
    setting: Setting
    norm: str


def stereotypes(network: Network, identity: Stereotypes, about: Row, setting: Setting) -> Contrast:
    """Activate the primes of matched pairs; a set of targets per category.

    `about` has ``subject``, ``study``, ``identity`` and ``instrument``. Raises InputError if a
    prime or target is no node and the setting does not skip it.
    """
    first, second = identity.categories
    asked = [(pair[first], pair[second]) for pair in identity.pairs]
    known = set(setting.present(network, [word for pair in asked for word in pair], "prime"))
    primes = [word for pair in asked if known.issuperset(pair) for word in pair]
    sets = {
        category: setting.present(network, identity.targets[category], "target")
        for category in identity.categories
    }
    about = {**about, "measure": "activation_effect", "first": first, "second": second}
    return _contrast(network, primes, sets, {first: 1, second: -1}, (about, setting, "l2"))


def emotions(
    network: Network,
    identity: Emotions,
    lexicon: Mapping[str, Iterable[str]],
    about: Row,
    setting: Setting,
) -> Contrast:
    """Activate both primes; a set of targets per emotion of the lexicon (emotion → its words).

    As `stereotypes`; a norm of the setting goes before that of the identity.
    """
    first, second = identity.primes
    known = setting.present(network, identity.primes, "prime")
    sets = {
        emotion: sorted(word for word in words if word in network)
        for emotion, words in lexicon.items()
    }
    about = {**about, "measure": "emotion_effect", "first": first, "second": second}
    primes = known if len(known) == 2 else []
    return _contrast(network, primes, sets, {}, (about, setting, identity.norm))


def _contrast(
    network: Network,
    primes: Sequence[str],
    sets: Mapping[str, Sequence[str]],
    signs: Mapping[str, int],
    how: tuple[Row, Setting, str],
) -> Contrast:
    about, setting, default = how
    norm = setting.norm or default
    rows = list(dict.fromkeys(word for words in sets.values() for word in words))
    activation = activate(network, primes, setting.spreading, targets=rows)
    normalised = activation.normalised(norm)
    place = {word: at for at, word in enumerate(rows)}
    at = {name: [place[word] for word in words] for name, words in sets.items()}
    paired = {
        name: Paired(
            tuple(words), activation.values[at[name]], normalised[at[name]], signs.get(name, 0)
        )
        for name, words in sets.items()
    }
    return Contrast(about, tuple(primes), paired, setting, norm)


def activations(contrast: Contrast, categories: Mapping[str, str]) -> list[Row]:
    """List the activation of every target by every prime; `categories` are those of the primes."""
    return [
        {
            "group": categories[prime],
            "prime": prime,
            "targets": name,
            "target": word,
            "activation": float(paired.raw[row, column]),
            "normalised": float(paired.normalised[row, column]),
        }
        for name, paired in contrast.sets.items()
        for row, word in enumerate(paired.targets)
        for column, prime in enumerate(contrast.primes)
    ]


def effects(contrast: Contrast) -> list[Row]:
    """Test each set of targets; rows of `results.ESTIMATES`.

    Of each the published test, the test over swapped primes and, where the setting draws targets,
    the interval. Without targets or primes there is no estimate, and a note.
    """
    rows = [
        row for name, paired in contrast.sets.items() for row in _effect(contrast, name, paired)
    ]
    adjust([row for row in rows if row["method"] == "published"], "sets of a network and identity")
    return rows


def _effect(contrast: Contrast, name: str, paired: Paired) -> list[Row]:
    setting, d, side = contrast.setting, paired.differences, _ALTERNATIVES[paired.sign]
    test = signed_rank(d, side)
    known = test.effect is not None
    shared = {
        **contrast.about,
        "level": "targets",
        "targets": name,
        **spread_columns(setting.spreading, contrast.norm),
        "direction": DIRECTIONS[paired.sign],
        "estimate": test.effect,
        "n": test.n,
    }
    note = None if known else "no pair of primes and target in the network"
    rows = [{**shared, "method": "published", "alternative": side, "p": test.p, "note": note}]
    swapped = permute_columns(d, side, seed=setting.seed) if known else None
    few = "one pair of primes: nothing to swap" if known and d.shape[1] < 2 else None
    rows.append(
        {
            **shared,
            "method": "permutation",
            "alternative": side,
            "p": swapped.p if swapped else None,
            "n_resamples": swapped.n_permutations if swapped else None,
            "note": few,
        }
    )
    if setting.draws:
        rows.append({**shared, "method": "bootstrap", **_drawn_interval(d, setting, known)})
    return rows


def _drawn_interval(d: Array, setting: Setting, known: bool) -> Row:
    """Give the interval from drawing targets; none of a single one."""
    row = {"confidence": setting.confidence, "n_clusters": len(d), "clustered_by": "target"}
    if not known or len(d) < 2:
        return row
    draws = bootstrap_effects([d], draws=setting.draws, seed=setting.seed)[:, 0]
    return row | ends(draws, setting.confidence) | {"n_resamples": setting.draws}


def adjust(rows: Sequence[Row], over: str) -> None:
    """Add Holm's p, in place, to those rows of a family that have a p."""
    known = [row for row in rows if row["p"] is not None]
    for row, p in zip(known, holm(np.array([row["p"] for row in known])), strict=True):
        row |= {"p_holm": float(p), "adjusted_over": over}


def ends(draws: Array, confidence: float) -> Row:
    """Give the ends of a percentile interval."""
    low, high = np.quantile(draws, [(1 - confidence) / 2, (1 + confidence) / 2])
    return {"ci_low": float(low), "ci_high": float(high)}


def differences(contrasts: Iterable[Contrast]) -> list[Row]:
    """Compare the effects of every two networks; rows of `results.ESTIMATES`.

    The network given first is the candidate. Where both have the same primes, a row more correlates
    their activations over pairs of prime and target.
    """
    rows: list[Row] = []
    keyed: dict[tuple[str, str], list[Contrast]] = {}
    for one in contrasts:
        keyed.setdefault((one.about["identity"], one.about["measure"]), []).append(one)
    for group in keyed.values():
        for name in dict.fromkeys(name for one in group for name in one.sets):
            having = [one for one in group if name in one.sets]
            pairs = [_difference(a, b, name) for a, b in itertools.combinations(having, 2)]
            adjust([pair[0] for pair in pairs], "pairs of networks of a set of targets")
            rows += [row for pair in pairs for row in pair]
    return rows


def _difference(candidate: Contrast, baseline: Contrast, name: str) -> list[Row]:
    setting, (one, other) = candidate.setting, (candidate.sets[name], baseline.sets[name])
    shared = [word for word in one.targets if word in set(other.targets)]
    at = [paired.rows(shared) for paired in (one, other)]
    tables = [one.differences[at[0]], other.differences[at[1]]]
    row = {
        **candidate.about,
        "subject": None,
        "level": "targets",
        "factor": "subject",
        "baseline": baseline.about["subject"],
        "candidate": candidate.about["subject"],
        "targets": name,
        "n_clusters": len(shared),
        "clustered_by": "target",
    }
    change = {
        **row,
        "range_low": -2.0,
        "range_high": 2.0,
        "direction": DIRECTIONS[one.sign],
        "method": "bootstrap" if setting.draws else "descriptive",
        "p": None,
    }
    if len(shared) < 2 or not all(table.size for table in tables):
        return [{**change, "note": "fewer than two targets in both networks"}]
    both = [float(signed_rank_effect(table.ravel())) for table in tables]
    change |= {
        "estimate": both[0] - both[1],
        "candidate_estimate": both[0],
        "baseline_estimate": both[1],
        **_drawn_difference(tables, setting),
    }
    if candidate.primes != baseline.primes:
        return [{**change, "note": "the networks lack different primes"}]
    levels = one.normalised[at[0]].ravel(), other.normalised[at[1]].ravel()
    if np.ptp(levels[0]) == 0 or np.ptp(levels[1]) == 0:
        return [change]
    correlation = float(stats.spearmanr(levels[0], levels[1]).statistic)
    return [
        change,
        {**row, "measure": "rank_correlation", "method": "descriptive", "estimate": correlation},
    ]


def _drawn_difference(tables: list[Array], setting: Setting) -> Row:
    """Give interval and two-sided p of a difference, from drawing the same targets for both."""
    if not setting.draws:
        return {}
    draws = bootstrap_effects([*tables], draws=setting.draws, seed=setting.seed)
    change = draws[:, 0] - draws[:, 1]
    beyond = min(np.count_nonzero(change <= 0), np.count_nonzero(change >= 0))
    return {
        "alternative": "two-sided",
        "p": min(1.0, 2 * (beyond + 1) / (len(change) + 1)),
        "confidence": setting.confidence,
        **ends(change, setting.confidence),
        "n_resamples": setting.draws,
    }
