"""Placebos of effects and slopes: the same for arbitrary primes, or for arbitrary targets.

Zero is not what an effect is where there is nothing to find: words of one category may have more
or stronger associations, and activate all targets more. Two placebos say what it is instead.

Method ``placebo``: arbitrary primes, targets as they are. Each prime is replaced by a word of like
degree and strength, drawn from the `NEAREST` by rank. Each set of primes is normalised as the
primes of the study are.
Method ``placebo_targets``: arbitrary targets, primes as they are. Each target is replaced in the
same way. One spreading activates all words that can be drawn.

Primes and targets of the study are never drawn. `estimate` is the effect itself; `placebo_mean`,
`placebo_low` and `placebo_high` describe the effects of the placebos; p is the rank of the effect
among them (`statistics.placebos`; two-sided, 1 / (placebos + 1) at the least). A claim is about the
distance of the effect from `placebo_mean`. It needs both placebos: targets that are related to each
other lean together after any primes, so that arbitrary targets alone would support a claim for over
half of all arbitrary primes (`benchmarks/placebos.py`); and primes that activate everything more
would pass beside arbitrary primes.

Slopes of valence, and their joint statistic, have the first kind: the targets are all rated words,
which leaves none to replace them by. Neighbours have like valences, so that arbitrary primes have
slopes too. Each placebo takes a regression per prime; `MOST_SLOPES` are drawn at most.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import TypeVar

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray
from scipy.stats import rankdata

from clinometer.statistics.placebos import place
from clinometer_measures.networks.approaches import (
    Array,
    Contrast,
    Row,
    adjust,
    describe_effect,
    pair_differences,
)
from clinometer_measures.networks.matched_pairs import effects_of_rows, signed_rank_effect
from clinometer_measures.networks.network import Network
from clinometer_measures.networks.setting import FEWEST, Setting
from clinometer_measures.networks.spreading import activate
from clinometer_measures.networks.valence import Rated, slopes

__all__ = [
    "FEW_PLACEBOS",
    "FEW_WORDS",
    "draw_words",
    "has_placebos",
    "nearest_words",
    "place_sets",
    "placebo_effects",
    "placebo_slopes",
    "pools_of_words",
]

Places = NDArray[np.intp]
Rows = Mapping[str, list[int]]
#: What tells sets of targets apart: their name; None: all of them.
K = TypeVar("K", bound=str | None)

#: Words that each prime or target can be replaced by.
NEAREST = 50
#: Placebos of slopes: with 199, p adjusted for ten primes can reach .05.
MOST_SLOPES = 199

FEW_WORDS = f"fewer than {NEAREST} other words to draw placebos from"
FEW_PLACEBOS = f"fewer than {FEWEST} placebos with a number"

_NOTHING = np.empty(0)


def placebo_effects(network: Network, contrast: Contrast) -> list[Row]:
    """Compare the effects of a contrast with those of placebos; rows of `results.ESTIMATES`.

    `contrast.setting.placebos` of each kind are drawn; with 0 there are no rows. An effect that is
    null, or a network with too few other words, has rows without p.
    """
    setting = contrast.setting
    if not setting.placebos:
        return []
    target_rows = {}
    for name, targets in contrast.sets.items():
        if targets and contrast.primes:
            target_rows[name] = contrast.rows(targets)
    note = "no pair of primes and target in the network"
    placebos: dict[str, Mapping[str, Array]] = {"placebo": {}, "placebo_targets": {}}
    if not has_placebos(network, [*contrast.primes, *contrast.targets]):
        note = FEW_WORDS
    elif target_rows:
        prime_pools, target_pools = pools_of_words(network, contrast.primes, contrast.targets)
        # Both kinds draw from one generator: their order is part of the result.
        rng = np.random.default_rng(setting.seed)
        placebos["placebo"] = _effects_of_primes(network, contrast, target_rows, prime_pools, rng)
        placebos["placebo_targets"] = _effects_of_targets(
            network, contrast, target_rows, target_pools, rng
        )
    described = {name: describe_effect(contrast, name) for name in contrast.sets}
    return place_sets(described, placebos, setting, note)


def has_placebos(network: Network, words: Sequence[str]) -> bool:
    """Whether a network has enough words besides these to draw placebos from."""
    return len(network) >= len(words) + NEAREST


def pools_of_words(
    network: Network, primes: Sequence[str], targets: Sequence[str]
) -> tuple[Places, Places]:
    """Give the words that each prime, and each target, can be replaced by; see `nearest_words`."""
    pools = nearest_words(network, [*primes, *targets])
    return pools[: len(primes)], pools[len(primes) :]


def place_sets(
    rows: Mapping[K, Row], placebos: Mapping[str, Mapping[K, Array]], setting: Setting, note: str
) -> list[Row]:
    """Rank the estimate of each set of targets among those of each kind of placebos.

    `rows` and the placebos of a kind have the same keys; a set without placebos has a `note`.
    """
    placed = []
    for method, effects in placebos.items():
        method_rows = []
        for name, row in rows.items():
            method_rows.append(place_row(row, effects.get(name, _NOTHING), setting, note))
        # The mean of all sets is no test of its own.
        adjust([row for row in method_rows if row["targets"]], "sets of a network and identity")
        placed += [{**row, "method": method} for row in method_rows]
    return placed


def placebo_slopes(network: Network, rated: Rated) -> list[Row]:
    """Compare slopes of valence, and their joint statistic, with those of arbitrary primes.

    Rows of `results.ESTIMATES`, as of `placebo_effects`; `n_resamples` counts the placebos that
    have a slope.
    """
    setting = rated.setting
    primes = list(rated.primes)
    if not setting.placebos:
        return []
    estimate_rows = slopes(rated)
    placebos = np.empty((0, len(_estimates(estimate_rows))))  # (draws, slopes and joint statistic)
    note = FEW_PLACEBOS
    if not has_placebos(network, primes):
        note = FEW_WORDS
    elif primes:
        rng = np.random.default_rng(setting.seed)
        draws = min(setting.placebos, MOST_SLOPES)
        pools = nearest_words(network, primes)
        estimates = []
        for normalised in _draw_primes(network, rated, pools, draws, rng):
            estimates.append(_estimates(slopes(replace(rated, normalised=normalised))))
        placebos = np.array(estimates)
    rows = []
    for row, effects in zip(_published_rows(estimate_rows), placebos.T, strict=True):
        columns = {name: value for name, value in row.items() if name not in _TEST_COLUMNS}
        rows.append(place_row(columns, effects, setting, note))
    adjust([row for row in rows if "prime" in row], "primes of a network and identity")
    return [{**row, "method": "placebo"} for row in rows]


#: Columns of the published test, which a placebo has not.
_TEST_COLUMNS = ("se", "p", "statistic", "df")


def _published_rows(rows: Sequence[Row]) -> list[Row]:
    return [row for row in rows if row["method"] == "published"]


def _estimates(rows: Sequence[Row]) -> list[float]:
    """Return the slopes and their joint statistic, nan where there is no number."""
    return [row.get("estimate", np.nan) for row in _published_rows(rows)]


def place_row(row: Row, effects: Array, setting: Setting, note: str) -> Row:
    """Rank an estimate among those of placebos that are numbers; with too few, `note` says why."""
    row = {**row, "alternative": "two-sided"}
    finite = effects[np.isfinite(effects)]
    if row.get("estimate") is None or len(finite) < FEWEST:
        return {**row, "note": row.get("note") or note}
    confidence = setting.confidence
    p, mean, low, high = map(float, place(row["estimate"], finite, confidence=confidence))
    summary = {"placebo_mean": mean, "placebo_low": low, "placebo_high": high}
    return {**row, "p": p, **summary, "confidence": confidence, "n_resamples": len(finite)}


def nearest_words(network: Network, words: Sequence[str]) -> Places:
    """Find for each word the `NEAREST` others by rank of degree and strength.

    The distance of two words is the larger of the two differences in rank. None of `words` is found
    for another. Of words that are as far, some are found at random, the same on every processor.
    Shape (words, NEAREST): indices of nodes.
    """
    ranks = np.stack([rankdata(values) for values in _connectivity(network)])  # (2, nodes)
    places = network.places(words)
    others = np.setdiff1d(np.arange(len(network)), places)
    free = np.random.default_rng(0).permutation(others)
    pools = []
    # One word at a time: a lexicon has thousands.
    for place_of_word in places:
        distances = np.abs(ranks[:, free] - ranks[:, [place_of_word]]).max(axis=0)
        farthest = np.partition(distances, NEAREST - 1)[NEAREST - 1]
        nearer, as_far = np.flatnonzero(distances < farthest), np.flatnonzero(distances == farthest)
        pools.append(free[np.r_[nearer, as_far[: NEAREST - len(nearer)]]])
    return np.stack(pools)


def _connectivity(network: Network) -> tuple[Array, Array]:
    """Return the degree and the strength of every node, over edges in both directions."""
    weights = network.weights
    undirected = sp.csr_array(weights + weights.T) if network.directed else weights
    degree = np.diff(undirected.indptr).astype(np.float64)
    return degree, np.asarray(undirected.sum(axis=1), dtype=np.float64)


def _effects_of_primes(
    network: Network, contrast: Contrast, rows: Rows, pools: Places, rng: np.random.Generator
) -> dict[str, Array]:
    """Measure the effects of arbitrary primes on each set of targets."""
    draws = contrast.setting.placebos
    activations = np.stack(list(_draw_primes(network, contrast, pools, draws, rng)))
    effects = {}
    for name, target_rows in rows.items():
        # (draws, targets × pairs of primes)
        differences = pair_differences(activations[:, target_rows]).reshape(draws, -1)
        effects[name] = signed_rank_effect(differences)
    return effects


def _draw_primes(
    network: Network,
    activated: Contrast | Rated,
    pools: Places,
    draws: int,
    rng: np.random.Generator,
) -> Iterator[Array]:
    """Yield the normalised activation of targets with each prime drawn from its pool."""
    # All words that can be drawn are activated once.
    primes, pools = _number_words(network, pools)
    activation = activate(network, primes, activated.setting.spreading, targets=activated.targets)
    for columns in draw_words(pools, draws, rng):
        yield activation.select_primes(columns).normalised(activated.setting.norm or "l2")


def _effects_of_targets(
    network: Network, contrast: Contrast, rows: Rows, pools: Places, rng: np.random.Generator
) -> dict[str, Array]:
    """Measure the effects of the primes on arbitrary targets in place of each set."""
    setting = contrast.setting
    words, pools = _number_words(network, pools)
    activation = activate(network, contrast.primes, setting.spreading, targets=words)
    differences = pair_differences(activation.normalised(setting.norm or "l2"))
    effects = {}
    for name, target_rows in rows.items():
        draws = draw_words(pools[target_rows], setting.placebos, rng)
        effects[name] = effects_of_rows(differences, draws)
    return effects


def _number_words(network: Network, pools: Places) -> tuple[list[str], Places]:
    """List the words of pools once, and number the words of each pool by this list."""
    nodes, numbers = np.unique(pools, return_inverse=True)
    return [network.words[node] for node in nodes], numbers.reshape(pools.shape)


def draw_words(pools: Places, draws: int, rng: np.random.Generator) -> Places:
    """Draw one of each pool (a row) independently, `draws` times, shape (draws, pools)."""
    count, size = pools.shape
    return pools[np.arange(count), rng.integers(0, size, size=(draws, count))]
