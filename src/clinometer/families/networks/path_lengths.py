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

from clinometer.families.networks.approaches import Array, Row, adjust, ends, matched_words, paired
from clinometer.families.networks.hops import SOURCES, UNREACHABLE, distances
from clinometer.families.networks.network import Network, check_networks
from clinometer.families.networks.placebos import (
    FEW_WORDS,
    NEAREST,
    Places,
    draw_words,
    nearest_words,
    place_row,
)
from clinometer.families.networks.setting import FAMILY, FEWEST, INSTRUMENT, MEASURES, Setting
from clinometer.families.networks.study import NetworkStudy, Stereotypes, load_network_study
from clinometer.families.networks.tables import PATH_LENGTHS
from clinometer.results import as_estimates
from clinometer.statistics.two_samples import swaps

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
    loaded, how = load_network_study(study), setting or Setting()
    rows, lengths = list[Row](), list[Row]()
    shared = {"subject": network.name, "study": loaded.name, "instrument": INSTRUMENT}
    for key, identity in loaded.identities.items():
        if isinstance(identity, Stereotypes):
            pairs = _Pairs.of(network, identity, {**shared, "identity": key}, how)
            rows += [*_tested(pairs, how), *_placebos(network, pairs, how)]
            lengths += _hops(pairs)
    return PathLengths(
        as_estimates(rows, MEASURES, FAMILY), pl.DataFrame(lengths, schema=PATH_LENGTHS)
    )


@dataclass(frozen=True, eq=False)
class _Pairs:
    """Hops from the primes of an identity to its targets.

    `primes`: first and second category in turn; `rows`: set → rows of its targets in `hops`, the
    set of the first category first; `hops`: shape (targets, primes), nan where there is no path.
    """

    about: Row
    primes: Sequence[str]
    targets: Sequence[str]
    rows: Mapping[str, NDArray[np.intp]]
    hops: Array

    @classmethod
    def of(cls, network: Network, identity: Stereotypes, about: Row, setting: Setting) -> _Pairs:
        primes, sets = matched_words(network, identity, setting)
        targets = [word for words in sets.values() for word in words]
        cuts = np.cumsum([len(words) for words in sets.values()])[:-1]
        rows = dict(zip(sets, np.split(np.arange(len(targets)), cuts), strict=True))
        hops = _between(network, network.places(primes), network.places(targets)).T
        first, second = identity.categories
        measured = {"measure": "path_difference", "first": first, "second": second}
        return cls({**about, **measured}, primes, targets, rows, hops)


def _between(network: Network, sources: Places, targets: Places) -> Array:
    """Count the hops from each source to each target, shape (sources, targets); nan: no path."""
    blocks = [sources[at : at + SOURCES] for at in range(0, len(sources), SOURCES)]
    hops = [distances(network, block)[:, targets].astype(np.float64) for block in blocks]
    between = np.concatenate([np.empty((0, len(targets))), *hops])
    between[between == UNREACHABLE] = np.nan
    return between


def _sides(hops: Array, rows: Mapping[str, NDArray[np.intp]]) -> dict[str, Array]:
    """Give inconsistent − consistent hops of each set, shape (…, targets of the set, pairs)."""
    return {
        name: sign * paired(hops[..., at, :])
        for sign, (name, at) in zip((-1.0, 1.0), rows.items(), strict=True)
    }


def _means(sides: Mapping[str, Array]) -> dict[_Targets, Array]:
    """Average the known differences of each set, and both sets; nan where a set has none."""
    means: dict[str, Array] = {}
    for name, d in sides.items():
        known = np.isfinite(d)
        with np.errstate(invalid="ignore"):  # 0 / 0 where no pair is known
            means[name] = np.where(known, d, 0.0).sum(axis=(-2, -1)) / known.sum(axis=(-2, -1))
    return _with_both(means)


def _with_both(of: Mapping[str, Array]) -> dict[_Targets, Array]:
    """Add the mean of both sets, in which each weighs the same."""
    both: Array = np.mean([*of.values()], axis=0)
    return {name: both if name is None else of[name] for name in (None, *of)}


def _tested(pairs: _Pairs, setting: Setting) -> Iterator[Row]:
    """Swap primes, and draw targets; rows of `results.ESTIMATES`."""
    sides = _sides(pairs.hops, pairs.rows)
    swapped, drawn = _swapped(sides, setting.seed), _drawn(sides, setting)
    for name, row in _described(pairs).items():
        permuted: Row = {**row, "method": "permutation", "alternative": "greater"}
        interval: Row = {**row, "method": "bootstrap", "confidence": setting.confidence}
        if row["estimate"] is not None:
            turned = swapped[name]
            if pairs.hops.shape[1] > 2:
                p = float(np.mean(turned >= turned[0] - 1e-12))
                permuted |= {"p": p, "n_resamples": len(turned)}
            else:
                permuted["note"] = "one pair of primes: nothing to swap"
            draws = drawn[name][np.isfinite(drawn[name])]
            if len(draws) and row["n_clusters"] > 1:
                interval |= {**ends(draws, setting.confidence), "n_resamples": len(draws)}
        yield permuted
        if setting.draws:
            yield {**interval, "clustered_by": "target"}


def _described(pairs: _Pairs) -> dict[_Targets, Row]:
    """Give the columns that all methods share, of both sets and of each."""
    sides = _sides(pairs.hops, pairs.rows)
    described = {}
    for name, mean in _means(sides).items():
        of = list(sides.values()) if name is None else [sides[name]]
        known = bool(np.isfinite(mean))
        described[name] = {
            **pairs.about,
            "level": "identity" if name is None else "targets",
            "targets": name,
            "estimate": float(mean) if known else None,
            "n": sum(int(np.isfinite(d).sum()) for d in of),
            "n_clusters": sum(len(d) for d in of),
            **({} if known else {"note": _NOTHING}),
        }
    return described


def _swapped(sides: Mapping[str, Array], seed: int) -> dict[_Targets, Array]:
    """Give the estimates with the primes of pairs swapped, the observed arrangement first."""
    swapped = {}
    for name, d in sides.items():
        known = max(1, np.isfinite(d).sum())
        swapped[name] = swaps(d.shape[1], seed) @ (np.nan_to_num(d).sum(axis=0) / known)
    return _with_both(swapped)


def _drawn(sides: Mapping[str, Array], setting: Setting) -> dict[_Targets, Array]:
    """Give the estimates with the targets of each set drawn with replacement."""
    rng, drawn = np.random.default_rng(setting.seed), {}
    for name, d in sides.items():
        sums, known = np.nan_to_num(d).sum(axis=1), np.isfinite(d).sum(axis=1)
        picks = rng.integers(0, max(1, len(d)), size=(setting.draws, len(d)))
        with np.errstate(invalid="ignore"):  # 0 / 0 where no drawn pair is known
            drawn[name] = sums[picks].sum(axis=1) / known[picks].sum(axis=1)
    return _with_both(drawn)


def _placebos(network: Network, pairs: _Pairs, setting: Setting) -> Iterator[Row]:
    """Compare differences with those of arbitrary primes, and of arbitrary targets."""
    if not setting.placebos:
        return
    words = [*pairs.primes, *pairs.targets]
    few = len(network) < len(words) + NEAREST
    drawn: dict[str, Mapping[_Targets, Array]] = {"placebo": {}, "placebo_targets": {}}
    if pairs.primes and pairs.targets and not few:
        pools = np.split(nearest_words(network, words), [len(pairs.primes)])
        rng = np.random.default_rng(setting.seed)
        drawn["placebo"] = _of_primes(network, pairs, pools[0], setting, rng)
        drawn["placebo_targets"] = _of_targets(network, pairs, pools[1], setting, rng)
    for method, means in drawn.items():
        own = []
        for name, row in _described(pairs).items():
            known = means[name][np.isfinite(means[name])] if name in means else np.empty(0)
            enough = row["estimate"] is not None and len(known) >= FEWEST
            placed = place_row(row, known if enough else None, setting, FEW_WORDS if few else _FEW)
            own.append({**placed, "method": method})
        adjust([row for row in own if row["targets"]], "sets of a network and identity")
        yield from own


_FEW = f"fewer than {FEWEST} placebos with a number"


def _of_primes(
    network: Network, pairs: _Pairs, pools: Places, setting: Setting, rng: np.random.Generator
) -> dict[_Targets, Array]:
    """Estimate the difference of arbitrary primes."""
    pool, where = np.unique(pools, return_inverse=True)
    hops = _between(network, pool, network.places(pairs.targets)).T
    picks = draw_words(where.reshape(pools.shape), setting.placebos, rng)
    return _stacked(_means(_sides(hops[:, drawn], pairs.rows)) for drawn in picks)


def _of_targets(
    network: Network, pairs: _Pairs, pools: Places, setting: Setting, rng: np.random.Generator
) -> dict[_Targets, Array]:
    """Estimate the difference on arbitrary targets."""
    pool, where = np.unique(pools, return_inverse=True)
    hops = _between(network, network.places(pairs.primes), pool).T
    picks = draw_words(where.reshape(pools.shape), setting.placebos, rng)
    return _stacked(_means(_sides(hops[drawn], pairs.rows)) for drawn in picks)


def _stacked(means: Iterator[dict[_Targets, Array]]) -> dict[_Targets, Array]:
    listed = list(means)
    return {name: np.array([one[name] for one in listed]) for name in listed[0]}


def _hops(pairs: _Pairs) -> Iterator[Row]:
    """List the hops of each pair; rows of PATH_LENGTHS."""
    about = {"network": pairs.about["subject"]}
    about |= {name: pairs.about[name] for name in ("study", "identity")}
    for name, at in pairs.rows.items():
        for row in at:
            for column, prime in enumerate(pairs.primes):
                hops = pairs.hops[row, column]
                yield {
                    **about,
                    "group": pairs.about["second" if column % 2 else "first"],
                    "prime": prime,
                    "targets": name,
                    "target": pairs.targets[row],
                    "hops": None if np.isnan(hops) else int(hops),
                }
