"""Two approaches to the bias of one network: stereotypes and emotions.

Reference: Abramski, Rossetti & Stella 2025, arXiv:2510.24488, "Stereotypes approach", "Emotions
approach". The third, valence, is `valence`.

*Stereotypes* and *emotions* measure the difference in normalised activation of a target between the
two primes of a pair. Stereotypes: over all matched pairs (woman − man) and all targets tied to a
category; activations are divided by the L2 norm of their column over all nodes, then by that of
their row over the primes. Emotions: between two primes, over all words of the network that the
user's lexicon (NRC EmoLex) assigns to one of Plutchik's (1980) eight emotions; divided by L1 norms,
because under L2 all emotions may lean the same way (figure 13).
Range of the effect (z / √n, see `matched_pairs`): ±.87 for many pairs, up to ±1 for few;
neutral 0; positive: the first category activates these targets more. For targets of the first
category, values above 0 are stereotype-consistent; for those of the second, values below 0.
Emotions have no such direction.
Deviations: none in effect and p (two-sided for emotions; the paper does not say). Added: Holm's p,
a test that swaps primes and a bootstrap interval over targets, because the 125 pairs share 25
targets and 5 pairs of primes and are not 125 independent observations.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from clinometer.statistics.clustered import holm
from clinometer.statistics.intervals import percentile_interval
from clinometer_measures.networks.matched_pairs import (
    Alternative,
    bootstrap_effects,
    permute_columns,
    signed_rank,
    signed_rank_effect,
)
from clinometer_measures.networks.network import Network
from clinometer_measures.networks.setting import Setting
from clinometer_measures.networks.spreading import activate
from clinometer_measures.networks.study import Emotions, Stereotypes

__all__ = [
    "DIRECTIONS",
    "Array",
    "Contrast",
    "Row",
    "activate_sides",
    "activations",
    "adjust",
    "describe_effect",
    "effects",
    "interval_ends",
    "matched_words",
    "pair_differences",
]

Array = NDArray[np.float64]
Row = dict[str, Any]

#: Sign in `Contrast.signs` → alternative of the test, and the stereotype-consistent side of 0.
_ALTERNATIVES: Mapping[int, Alternative] = {1: "greater", -1: "less", 0: "two-sided"}
DIRECTIONS = {1: "above", -1: "below", 0: None}


@dataclass(frozen=True, eq=False)
class Contrast:
    """The activation of targets by two categories of primes in one network.

    `raw` and `normalised` have the shape (targets, primes); columns alternate between primes of the
    first and the second category. `signs`: 1 or −1 where the stereotype says that the first or the
    second category activates the set of targets more. `setting` names the norm.
    """

    keys: Row  # subject, study, identity, instrument, measure, first, second
    primes: Sequence[str]
    sets: Mapping[str, Sequence[str]]  # their name → targets
    signs: Mapping[str, int]
    places: Mapping[str, int]  # target → its row
    raw: Array
    normalised: Array
    setting: Setting

    @property
    def targets(self) -> Sequence[str]:
        """The targets of all sets, as the rows of activations."""
        return list(self.places)

    def rows(self, targets: Sequence[str]) -> list[int]:
        """Give the rows of some targets."""
        return [self.places[word] for word in targets]

    def normalised_of(self, targets: Sequence[str]) -> Array:
        """Give the normalised activation of some targets, shape (targets, primes)."""
        return self.normalised[self.rows(targets)]

    def differences(self, targets: Sequence[str]) -> Array:
        """Give first − second category of some targets, shape (targets, pairs of primes)."""
        return pair_differences(self.normalised_of(targets))


def pair_differences(activations: Array) -> Array:
    """Give first − second category of activations, shape (…, primes) → (…, pairs of primes)."""
    return activations[..., 0::2] - activations[..., 1::2]


def activate_sides(
    network: Network,
    identity: Stereotypes | Emotions,
    lexicon: Mapping[str, Iterable[str]],
    keys: Row,
    setting: Setting,
) -> Contrast:
    """Activate the primes of complete pairs; group the targets by category or emotion.

    `lexicon` has the words of each emotion; `keys` has ``subject``, ``study``, ``identity`` and
    ``instrument``. Raises InputError if a prime or target is not a node and the setting does not
    skip it.
    """
    if isinstance(identity, Stereotypes):
        first, second = identity.categories
        primes, sets = matched_words(network, identity, setting)
        signs = {first: 1, second: -1}
        measure = "activation_effect"
    else:
        first, second = identity.primes
        nodes = setting.present(network, [first, second], "prime")
        primes = nodes if len(nodes) == 2 else []
        sets = {}
        for emotion, words in lexicon.items():
            sets[emotion] = sorted(word for word in words if word in network)
        signs = {}
        measure = "emotion_effect"
        setting = replace(setting, norm=setting.norm or identity.norm)
    targets = list(dict.fromkeys(word for words in sets.values() for word in words))
    places = {word: place for place, word in enumerate(targets)}
    activation = activate(network, primes, setting.spreading, targets=targets)
    normalised = activation.normalised(setting.norm or "l2")
    keys = {**keys, "measure": measure, "first": first, "second": second}
    return Contrast(keys, primes, sets, signs, places, activation.values, normalised, setting)


def matched_words(
    network: Network, identity: Stereotypes, setting: Setting
) -> tuple[list[str], dict[str, list[str]]]:
    """Give the primes of complete pairs, first and second category in turn, and sets of targets.

    Raises InputError if a prime or target is not a node and the setting does not skip it.
    """
    first, second = identity.categories
    nodes = set(setting.present(network, list(identity.primes), "prime"))
    primes: list[str] = []
    for pair in identity.pairs:
        words = pair[first], pair[second]
        if nodes.issuperset(words):
            primes += words
    sets = {}
    for category in identity.categories:
        sets[category] = setting.present(network, identity.targets[category], "target")
    return primes, sets


def activations(contrast: Contrast) -> list[Row]:
    """List the activation of targets by primes of stereotypes; rows of `tables.ACTIVATIONS`."""
    keys = contrast.keys
    shared = {"network": keys["subject"], "study": keys["study"], "identity": keys["identity"]}
    rows = []
    for name in contrast.signs:
        for word in contrast.sets[name]:
            place = contrast.places[word]
            for column, prime in enumerate(contrast.primes):
                row = {
                    **shared,
                    "group": keys["second" if column % 2 else "first"],
                    "prime": prime,
                    "targets": name,
                    "target": word,
                    "activation": float(contrast.raw[place, column]),
                    "normalised": float(contrast.normalised[place, column]),
                }
                rows.append(row)
    return rows


def effects(contrast: Contrast) -> list[Row]:
    """Test each set of targets; rows of `results.ESTIMATES`.

    Each set has the published test, the test that swaps primes and, if the setting draws targets,
    the interval. Without targets or primes the estimate is null and a note says why.
    """
    rows = [row for name in contrast.sets for row in _effect(contrast, name)]
    adjust([row for row in rows if row["method"] == "published"], "sets of a network and identity")
    return rows


def _effect(contrast: Contrast, name: str) -> list[Row]:
    setting = contrast.setting
    alternative = _ALTERNATIVES[contrast.signs.get(name, 0)]
    differences = contrast.differences(contrast.sets[name])
    test = signed_rank(differences, alternative)
    published: Row = {"method": "published", "alternative": alternative, "p": test.p}
    permutation: Row = {"method": "permutation", "alternative": alternative}
    bootstrap: Row = {"method": "bootstrap", "confidence": setting.confidence}
    bootstrap |= {"n_clusters": len(differences), "clustered_by": "target"}
    if test.effect is None:
        published["note"] = "no pair of primes and target in the network"
    else:
        permuted = permute_columns(differences, alternative, seed=setting.seed)
        permutation |= {"p": permuted.p, "n_resamples": permuted.n_permutations}
        if differences.shape[1] < 2:
            permutation["note"] = "one pair of primes: nothing to swap"
        if setting.draws and len(differences) > 1:
            draws = bootstrap_effects([differences], draws=setting.draws, seed=setting.seed)[:, 0]
            bootstrap |= {**interval_ends(draws, setting.confidence), "n_resamples": setting.draws}
    shared = describe_effect(contrast, name)
    rows = [published, permutation]
    if setting.draws:
        rows.append(bootstrap)
    return [shared | row for row in rows]


def describe_effect(contrast: Contrast, name: str) -> Row:
    """Give the columns that all methods share of the effect on a set of targets."""
    differences = contrast.differences(contrast.sets[name])
    return {
        **contrast.keys,
        **contrast.setting.columns(),
        "level": "targets",
        "targets": name,
        "direction": DIRECTIONS[contrast.signs.get(name, 0)],
        "estimate": float(signed_rank_effect(differences.ravel())) if differences.size else None,
        "n": differences.size,
    }


def adjust(rows: Sequence[Row], family: str) -> None:
    """Add Holm-adjusted p values, in place, to the rows of a family that have a p."""
    tested = [row for row in rows if row.get("p") is not None]
    adjusted = holm(np.array([row["p"] for row in tested]))
    for row, p in zip(tested, adjusted, strict=True):
        row |= {"p_holm": float(p), "adjusted_over": family}


def interval_ends(draws: Array, confidence: float) -> Row:
    """Return the ends of a percentile interval."""
    low, high = percentile_interval(draws, confidence)
    return {"ci_low": low, "ci_high": high}
