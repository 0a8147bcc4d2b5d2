"""Bias in rewired networks: the same measures where nothing is left to find.

Reference: Maslov & Sneppen 2002, Science 296, 910–913 (random networks of the same degrees).
Two edges a–b and c–d become a–d and c–b, over and over. Every word keeps its number of edges, and
the weights stay; who is associated with whom is random. An effect that such networks show as well
follows from the numbers of edges and chance alone.
Measures, as method ``rewired``, where an effect lies among those of rewired networks; and as
`false_alarm_rate` in what share of them the published p, which takes pairs of a prime and a target
for independent, is at most .05. Range 0 to 1; a correct p gives .05.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import polars as pl
import scipy.sparse as sp
from numpy.typing import NDArray

from tiltmeter.errors import InputError, TiltmeterWarning
from tiltmeter.networks.bias import Lexicons, published_rows
from tiltmeter.networks.network import Network
from tiltmeter.networks.setting import FAMILY, MEASURES, Setting
from tiltmeter.results import as_estimates, columns
from tiltmeter.results.estimates import KEYS
from tiltmeter.stimuli.network_study import NetworkStudy

__all__ = ["LEVEL", "compare_with_rewired", "rewire"]

#: A published p of at most this is a false alarm in a rewired network.
LEVEL = 0.05

#: How often each edge is paired with another.
SWAPS = 10

#: What tells the estimates of one network apart.
_KEYS = ("measure", "identity", "targets", "prime")

Ends = NDArray[np.int64]


def compare_with_rewired(
    network: Network,
    study: str | NetworkStudy = "abramski2025",
    *,
    approaches: Sequence[str] | None = None,
    lexicons: Lexicons | None = None,
    setting: Setting | None = None,
    on_progress: Callable[[], None] = lambda: None,
) -> pl.DataFrame:
    """Measure the bias of a network and of many rewired ones.

    Parameters
    ----------
    network, study, approaches, lexicons, setting
        As for `measure_bias`; steps and start are those of the network itself. The setting says
        how many rewired networks; the least p is 1 / (rewirings + 1), two-sided twice that.
    on_progress
        Called after each.

    Returns
    -------
    polars.DataFrame
        Columns of `results.ESTIMATES`: each estimate with method ``rewired``, and its
        `false_alarm_rate`.

    Raises
    ------
    InputError
        As for `measure_bias`, and where the setting has no rewirings.

    Examples
    --------
    >>> edges = {"src": ["woman", "man", "woman", "kind"], "tgt": ["kind", "leader", "man", "art"]}
    >>> network = Network.from_edges(pl.DataFrame(edges).with_columns(wt=2), name="four edges")
    >>> found = compare_with_rewired(network, setting=Setting(missing="skip", rewirings=19))
    >>> found.filter(measure="activation_effect").select("targets", "estimate", "p").rows()
    [('female', 1.0, 0.4), ('male', -1.0, 0.45)]
    """
    how = (setting or Setting()).within(network)
    if not how.rewirings:
        raise InputError("rewirings 0: at least 19 rewired networks are needed to compare with")

    def measure(one: Network) -> list[dict[str, Any]]:
        return published_rows(one, study, approaches, lexicons, how)

    own, rng, rows = measure(network), np.random.default_rng(how.seed), []
    with warnings.catch_warnings():  # they were given for the network itself
        warnings.simplefilter("ignore", TiltmeterWarning)
        for _ in range(how.rewirings):
            rows += measure(rewire(network, rng))
            on_progress()
    rewired = pl.DataFrame(
        [{name: row.get(name) for name in _REWIRED} for row in rows], schema=_REWIRED
    )
    return _beside(as_estimates(own, MEASURES, FAMILY), rewired, how.confidence)


_REWIRED = columns(*_KEYS, "estimate", "p")


def _beside(own: pl.DataFrame, rewired: pl.DataFrame, confidence: float) -> pl.DataFrame:
    """Compare each estimate with those of the rewired networks."""
    estimate, tail = pl.col("estimate"), (1 - confidence) / 2
    given = (
        rewired.join(own.select(*_KEYS, own="estimate"), on=_KEYS, nulls_equal=True)
        .drop_nulls("estimate")
        .group_by(_KEYS)
        .agg(
            placebo_mean=estimate.mean(),
            placebo_low=estimate.quantile(tail, "linear"),
            placebo_high=estimate.quantile(1 - tail, "linear"),
            n_resamples=pl.len(),
            above=(1 + (estimate >= pl.col("own")).sum()) / (1 + pl.len()),
            below=(1 + (estimate <= pl.col("own")).sum()) / (1 + pl.len()),
            false_alarms=(pl.col("p") <= LEVEL).mean(),
        )
    )
    p = (
        pl.when(estimate.is_null()).then(None)
        .when(alternative="greater").then("above")
        .when(alternative="less").then("below")
        .otherwise((2 * pl.min_horizontal("above", "below")).clip(upper_bound=1.0))
    )  # fmt: skip
    unsaid = [name for name in given.columns if name in own.columns and name not in KEYS]
    joined = (
        own.drop(unsaid)
        .join(given, on=_KEYS, how="left", nulls_equal=True, maintain_order="left")
        .with_columns(method=pl.lit("rewired"))
    )
    placed = joined.select(
        *KEYS, *("estimate", "method", "alternative", "direction", "n", "n_resamples"),
        *("placebo_mean", "placebo_low", "placebo_high"), p=p, confidence=pl.lit(confidence),
    )  # fmt: skip
    alarms = joined.drop_nulls("false_alarms").select(
        pl.col([name for name in KEYS if name != "measure"]),
        *("method", "n_resamples"),
        measure=pl.lit("false_alarm_rate"),
        estimate="false_alarms",
    )
    return as_estimates(pl.concat([placed, alarms], how="diagonal"), MEASURES, FAMILY)


def rewire(network: Network, rng: np.random.Generator) -> Network:
    """Swap the ends of edges at random, so that every node keeps its number of edges.

    Each edge is paired SWAPS times with another to swap targets; a swap that would make a loop,
    or an edge that is there already, is not made. Words, degrees, weights and self-loops stay. A
    node's weights may be others, for a weight stays with one end of its edge, and the network may
    fall into several components.
    """
    half = network.weights if network.directed else sp.triu(network.weights, k=1)
    edges = half.tocoo()
    apart = edges.row != edges.col
    source, target = (ends[apart].astype(np.int64) for ends in (edges.row, edges.col))
    for _ in range(SWAPS):
        if not network.directed:
            turned = rng.random(len(source)) < 0.5  # noqa: PLR2004 - either end alike
            source, target = np.where(turned, target, source), np.where(turned, source, target)
        _swap(source, target, rng, network)
    made = sp.coo_array((edges.data[apart], (source, target)), shape=half.shape).tocsr()
    if not network.directed:
        made = made + made.T
    loops = sp.diags_array(network.weights.diagonal())
    return replace(network, weights=sp.csr_array(made + loops))


def _swap(source: Ends, target: Ends, rng: np.random.Generator, network: Network) -> None:
    """Pair all edges at random and let each pair swap targets, in place, where it may."""
    order, pairs = rng.permutation(len(source)), len(source) // 2
    one, other = order[:pairs], order[pairs : 2 * pairs]
    new = (
        _numbered(source[one], target[other], network),
        _numbered(source[other], target[one], network),
    )
    every = np.concatenate([_numbered(source, target, network), *new])
    ranked = np.argsort(every)
    same = np.diff(every[ranked]) == 0
    clash = np.zeros(len(every), dtype=bool)
    clash[ranked[1:]] |= same
    clash[ranked[:-1]] |= same
    loops = (source[one] == target[other]) | (source[other] == target[one])
    may = ~(clash[len(source) :].reshape(2, pairs).any(axis=0) | loops)
    one, other = one[may], other[may]
    target[one], target[other] = target[other], target[one]


def _numbered(source: Ends, target: Ends, network: Network) -> Ends:
    """Give each edge a number; both directions of an undirected one alike."""
    if network.directed:
        return source * len(network) + target
    return np.minimum(source, target) * len(network) + np.maximum(source, target)
