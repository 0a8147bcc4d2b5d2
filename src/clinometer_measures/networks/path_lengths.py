"""Whether paths between stereotype-consistent primes and targets are shorter than others.

Reference: Abramski, Rossetti & Stella 2025, arXiv:2510.24488, "Stereotypes related to gender" and
figures 8 and 9: "paths between stereotype-consistent pairs are typically shorter than those between
stereotype-inconsistent pairs". The paper shows four pairs of words in two networks and no test.

Measure (`path_difference`): a target tied to a category has a path from each prime of a matched
pair. The difference in hops is that from the prime of the other category minus that from the prime
of its own, and the estimate is the mean over all pairs of primes and all targets of a set. Weights
are ignored, as in mindset streams; edges of a directed network are followed from cue to answer.
Neutral 0, no bounds; positive: consistent paths are shorter. With `targets` null the estimate is
the mean of those of both sets. In it a category whose primes are nearer to all words cancels.
A pair of primes whose path to a target is missing on either side is left out of that target's mean.

Methods: ``permutation`` swaps the primes within pairs, one-sided; ``bootstrap`` draws the targets
of each set; ``placebo`` and ``placebo_targets`` replace primes and targets by arbitrary words of
like degree and strength (`placebos`). As of effects, a claim needs both placebos.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
import polars as pl
from numpy.typing import NDArray

from clinometer.results import as_estimates
from clinometer_measures.networks.approaches import (
    Array,
    Row,
    interval_ends,
    matched_words,
    pair_differences,
)
from clinometer_measures.networks.hops import SOURCES, UNREACHABLE, distances
from clinometer_measures.networks.matched_pairs import swaps
from clinometer_measures.networks.network import Network, check_networks
from clinometer_measures.networks.placebos import (
    FEW_PLACEBOS,
    FEW_WORDS,
    Places,
    draw_words,
    has_placebos,
    place_sets,
    pools_of_words,
)
from clinometer_measures.networks.setting import FAMILY, INSTRUMENT, MEASURES, Setting
from clinometer_measures.networks.study import NetworkStudy, Stereotypes, load_network_study
from clinometer_measures.networks.tables import PATH_LENGTHS

__all__ = ["PathLengths", "measure_paths"]

#: The set of targets of an estimate; None: both.
_Targets = str | None

_NOTHING = "no path between a pair of primes and a target of each set"


class PathLengths(NamedTuple):
    """Estimates, and the hops of each pair (columns PATH_LENGTHS) behind them."""

    estimates: pl.DataFrame
    lengths: pl.DataFrame


def measure_paths(
    network: Network,
    study: str | NetworkStudy = "abramski2025",
    *,
    setting: Setting | None = None,
) -> PathLengths:
    """Test whether stereotype-consistent paths are shorter than inconsistent ones.

    Parameters
    ----------
    network
        The network.
    study
        A shipped name, a file or a study; its identities of the approach stereotypes are measured.
    setting
        Absent words, placebos, draws, confidence and seed; spreading, norm and rewirings are not
        used.

    Returns
    -------
    PathLengths
        `estimates`: columns of `results.ESTIMATES`, a row per identity, set of targets (null: both)
        and method.

    Raises
    ------
    InputError
        If a prime or target is not a node and the setting does not skip it.

    Examples
    --------
    >>> edges = {"src": ["woman", "man", "woman"], "tgt": ["kind", "leader", "man"]}
    >>> network = Network.from_edges(pl.DataFrame(edges).with_columns(wt=2), name="three edges")
    >>> found = measure_paths(network, setting=Setting(missing="skip")).estimates
    >>> found.filter(method="permutation").select("targets", "estimate", "n").rows()
    [(None, 1.0, 2), ('female', 1.0, 1), ('male', 1.0, 1)]
    """
    check_networks(network)
    loaded_study = load_network_study(study)
    setting = setting or Setting()
    rows = list[Row]()
    lengths = list[Row]()
    shared = {"subject": network.name, "study": loaded_study.name, "instrument": INSTRUMENT}
    for key, identity in loaded_study.identities.items():
        if isinstance(identity, Stereotypes):
            pairs = _Pairs.measure(network, identity, {**shared, "identity": key}, setting)
            rows += _test_rows(pairs, setting)
            rows += _placebo_rows(network, pairs, setting)
            lengths += _length_rows(pairs)
    return PathLengths(
        as_estimates(rows, MEASURES, FAMILY), pl.DataFrame(lengths, schema=PATH_LENGTHS)
    )


@dataclass(frozen=True, eq=False)
class _Pairs:
    """Hops from the primes of an identity to its targets.

    `primes`: first and second category in turn; `rows`: set → rows of its targets in `hops`, the
    set of the first category first; `hops`: shape (targets, primes), nan where there is no path.
    """

    keys: Row
    primes: Sequence[str]
    targets: Sequence[str]
    rows: Mapping[str, NDArray[np.intp]]
    hops: Array

    @classmethod
    def measure(
        cls, network: Network, identity: Stereotypes, keys: Row, setting: Setting
    ) -> _Pairs:
        """Measure the hops between the primes of complete pairs and all targets."""
        primes, sets = matched_words(network, identity, setting)
        targets = [word for words in sets.values() for word in words]
        cuts = np.cumsum([len(words) for words in sets.values()])[:-1]
        rows = dict(zip(sets, np.split(np.arange(len(targets)), cuts), strict=True))
        hops = _count_hops(network, network.places(primes), network.places(targets)).T
        first, second = identity.categories
        measure = {"measure": "path_difference", "first": first, "second": second}
        return cls({**keys, **measure}, primes, targets, rows, hops)


def _count_hops(network: Network, sources: Places, targets: Places) -> Array:
    """Count the hops from each source to each target, shape (sources, targets); nan: no path."""
    blocks = [np.empty((0, len(targets)))]  # also without sources there is an array
    for start in range(0, len(sources), SOURCES):
        # By blocks, since `distances` returns those to all nodes.
        to_all = distances(network, sources[start : start + SOURCES])
        blocks.append(to_all[:, targets].astype(np.float64))
    hops = np.concatenate(blocks)
    hops[hops == UNREACHABLE] = np.nan
    return hops


def _sides(hops: Array, rows: Mapping[str, NDArray[np.intp]]) -> dict[str, Array]:
    """Give inconsistent − consistent hops of each set, shape (…, targets of the set, pairs)."""
    # The first category is nearer to its targets where first − second is negative.
    first, second = rows
    return {
        first: -1.0 * pair_differences(hops[..., rows[first], :]),
        second: 1.0 * pair_differences(hops[..., rows[second], :]),
    }


def _means(sides: Mapping[str, Array]) -> dict[_Targets, Array]:
    """Average the finite differences of each set, and both sets; nan where a set has none."""
    means: dict[str, Array] = {}
    for name, differences in sides.items():
        finite = np.isfinite(differences)
        sums = np.where(finite, differences, 0.0).sum(axis=(-2, -1))
        with np.errstate(invalid="ignore"):  # 0 / 0 where there is no path
            means[name] = sums / finite.sum(axis=(-2, -1))
    return _add_overall(means)


def _add_overall(means: Mapping[str, Array]) -> dict[_Targets, Array]:
    """Add, as first, the mean of both sets, in which each weighs the same."""
    overall: Array = np.mean([*means.values()], axis=0)
    with_overall: dict[_Targets, Array] = {None: overall}
    with_overall.update(means)
    return with_overall


def _test_rows(pairs: _Pairs, setting: Setting) -> Iterator[Row]:
    """Swap primes, and draw targets; rows of `results.ESTIMATES`."""
    sides = _sides(pairs.hops, pairs.rows)
    arrangements = _swap_primes(sides, setting.seed)
    bootstraps = _draw_targets(sides, setting)
    for name, row in _shared_columns(pairs).items():
        permutation: Row = {**row, "method": "permutation", "alternative": "greater"}
        bootstrap: Row = {**row, "method": "bootstrap", "confidence": setting.confidence}
        if row["estimate"] is not None:
            means = arrangements[name]
            if pairs.hops.shape[1] > 2:
                # The observed arrangement is the first; equal sums may differ in the last digit.
                p = float(np.mean(means >= means[0] - 1e-12))
                permutation |= {"p": p, "n_resamples": len(means)}
            else:
                permutation["note"] = "one pair of primes: nothing to swap"
            draws = bootstraps[name][np.isfinite(bootstraps[name])]
            if len(draws) and row["n_clusters"] > 1:
                bootstrap |= interval_ends(draws, setting.confidence)
                bootstrap["n_resamples"] = len(draws)
        yield permutation
        if setting.draws:
            yield {**bootstrap, "clustered_by": "target"}


def _shared_columns(pairs: _Pairs) -> dict[_Targets, Row]:
    """Give the columns that all methods share, of both sets and of each."""
    sides = _sides(pairs.hops, pairs.rows)
    rows = {}
    for name, mean in _means(sides).items():
        tables = list(sides.values()) if name is None else [sides[name]]
        finite = bool(np.isfinite(mean))
        rows[name] = {
            **pairs.keys,
            "level": "identity" if name is None else "targets",
            "targets": name,
            "estimate": float(mean) if finite else None,
            "n": sum(int(np.isfinite(table).sum()) for table in tables),
            "n_clusters": sum(len(table) for table in tables),
            **({} if finite else {"note": _NOTHING}),
        }
    return rows


def _swap_primes(sides: Mapping[str, Array], seed: int) -> dict[_Targets, Array]:
    """Give the estimates with the primes of pairs swapped, the observed arrangement first."""
    means: dict[str, Array] = {}
    for name, differences in sides.items():
        n_finite = max(1, np.isfinite(differences).sum())
        by_pair = np.nan_to_num(differences).sum(axis=0) / n_finite
        # A swap turns the sign of a pair: rows of ±1, the first all 1.
        means[name] = swaps(differences.shape[1], seed) @ by_pair
    return _add_overall(means)


def _draw_targets(sides: Mapping[str, Array], setting: Setting) -> dict[_Targets, Array]:
    """Give the estimates with the targets of each set drawn with replacement."""
    rng = np.random.default_rng(setting.seed)
    means = {}
    for name, differences in sides.items():
        sums = np.nan_to_num(differences).sum(axis=1)
        n_finite = np.isfinite(differences).sum(axis=1)
        picks = rng.integers(0, max(1, len(differences)), size=(setting.draws, len(differences)))
        with np.errstate(invalid="ignore"):  # 0 / 0 where no target of a draw has a path
            means[name] = sums[picks].sum(axis=1) / n_finite[picks].sum(axis=1)
    return _add_overall(means)


def _placebo_rows(network: Network, pairs: _Pairs, setting: Setting) -> list[Row]:
    """Compare differences with those of arbitrary primes, and of arbitrary targets."""
    if not setting.placebos:
        return []
    note = FEW_PLACEBOS
    placebos: dict[str, Mapping[_Targets, Array]] = {"placebo": {}, "placebo_targets": {}}
    if not has_placebos(network, [*pairs.primes, *pairs.targets]):
        note = FEW_WORDS
    elif pairs.primes and pairs.targets:
        prime_pools, target_pools = pools_of_words(network, pairs.primes, pairs.targets)
        rng = np.random.default_rng(setting.seed)
        placebos["placebo"] = _means_of_primes(network, pairs, prime_pools, setting, rng)
        placebos["placebo_targets"] = _means_of_targets(network, pairs, target_pools, setting, rng)
    return place_sets(_shared_columns(pairs), placebos, setting, note)


def _means_of_primes(
    network: Network, pairs: _Pairs, pools: Places, setting: Setting, rng: np.random.Generator
) -> dict[_Targets, Array]:
    """Estimate the difference of arbitrary primes."""
    pool, indices = np.unique(pools, return_inverse=True)
    hops = _count_hops(network, pool, network.places(pairs.targets)).T  # (targets, pool)
    picks = draw_words(indices.reshape(pools.shape), setting.placebos, rng)
    return _stack(_means(_sides(hops[:, primes], pairs.rows)) for primes in picks)


def _means_of_targets(
    network: Network, pairs: _Pairs, pools: Places, setting: Setting, rng: np.random.Generator
) -> dict[_Targets, Array]:
    """Estimate the difference on arbitrary targets."""
    pool, indices = np.unique(pools, return_inverse=True)
    hops = _count_hops(network, network.places(pairs.primes), pool).T  # (pool, primes)
    picks = draw_words(indices.reshape(pools.shape), setting.placebos, rng)
    return _stack(_means(_sides(hops[targets], pairs.rows)) for targets in picks)


def _stack(means_of_draws: Iterator[dict[_Targets, Array]]) -> dict[_Targets, Array]:
    """Return, by set, the means of all draws."""
    stacks: dict[_Targets, list[Array]] = {}
    for means in means_of_draws:
        for name, mean in means.items():
            stacks.setdefault(name, []).append(mean)
    return {name: np.array(stack) for name, stack in stacks.items()}


def _length_rows(pairs: _Pairs) -> Iterator[Row]:
    """List the hops of each pair; rows of PATH_LENGTHS."""
    shared = {"network": pairs.keys["subject"]}
    shared |= {name: pairs.keys[name] for name in ("study", "identity")}
    for name, rows in pairs.rows.items():
        for row in rows:
            for column, prime in enumerate(pairs.primes):
                hops = pairs.hops[row, column]
                yield {
                    **shared,
                    "group": pairs.keys["second" if column % 2 else "first"],
                    "prime": prime,
                    "targets": name,
                    "target": pairs.targets[row],
                    "hops": None if np.isnan(hops) else int(hops),
                }
