"""Bias that chance would give: the same measures in the same network, rewired at random.

Reference: Maslov & Sneppen 2002, Science 296, 910–913 (random networks of the same degrees).
Two edges a–b and c–d become a–d and c–b, over and over. Every word keeps its number of edges, and
the weights stay; who is associated with whom is left to chance. An effect that such networks show
as well needs no meaning: numbers of edges, and chance, bring it about.
The published p takes pairs of a prime and a target for independent; in how many rewired networks
it is at most .05 says what it is worth (.05, were it right).
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Sequence
from dataclasses import replace

import numpy as np
import polars as pl
import scipy.sparse as sp
from numpy.typing import NDArray

from tiltmeter.errors import InputError, TiltmeterWarning
from tiltmeter.networks.bias import Lexicons, every_effect, measure_bias
from tiltmeter.networks.network import Network
from tiltmeter.networks.setting import Setting
from tiltmeter.results.networks import CHANCE
from tiltmeter.stimuli.network_study import NetworkStudy

__all__ = ["LEVEL", "hold_against_chance", "rewire"]

#: What the published p is held against in rewired networks.
LEVEL = 0.05

_KEYS = ("study", "identity", "approach", "targets")

Ends = NDArray[np.int64]


def hold_against_chance(
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
        Columns CHANCE; the effect of a valence is the slope of its prime, and that of the joint
        test, whose ``targets`` is null, Cohen's w.

    Raises
    ------
    InputError
        As for `measure_bias`, and where the setting has no rewirings.

    Examples
    --------
    >>> edges = {"src": ["woman", "man", "woman", "kind"], "tgt": ["kind", "leader", "man", "art"]}
    >>> network = Network.from_edges(pl.DataFrame(edges).with_columns(wt=2), name="four edges")
    >>> found = hold_against_chance(network, setting=Setting(missing="skip", rewirings=19))
    >>> found.select("targets", "effect", "n_rewired").rows()
    [('female', 1.0, 19), ('male', -1.0, 19)]
    """
    how = replace((setting or Setting()).within(network), draws=0)
    if not how.rewirings:
        raise InputError("rewirings 0: without rewired networks there is no chance to hold against")

    def measure(one: Network) -> pl.DataFrame:
        found = measure_bias([one], study, approaches=approaches, lexicons=lexicons, setting=how)
        return every_effect(found)

    own, rng, frames = measure(network), np.random.default_rng(how.seed), []
    with warnings.catch_warnings():  # what there is to say was said of the network itself
        warnings.simplefilter("ignore", TiltmeterWarning)
        for _ in range(how.rewirings):
            frames.append(measure(rewire(network, rng)))
            on_progress()
    return _beside(own, pl.concat(frames), how.confidence)


def _beside(own: pl.DataFrame, rewired: pl.DataFrame, confidence: float) -> pl.DataFrame:
    """Set each effect beside those of the rewired networks; columns CHANCE."""
    effect, tail = pl.col("effect"), (1 - confidence) / 2
    given = (
        rewired.join(own.select(*_KEYS, own="effect"), on=_KEYS, nulls_equal=True)
        .drop_nulls("effect")
        .group_by(_KEYS)
        .agg(
            chance=effect.mean(),
            chance_low=effect.quantile(tail, "linear"),
            chance_high=effect.quantile(1 - tail, "linear"),
            n_rewired=pl.len(),
            above=(1 + (effect >= pl.col("own")).sum()) / (1 + pl.len()),
            below=(1 + (effect <= pl.col("own")).sum()) / (1 + pl.len()),
            false_alarms=(pl.col("p") <= LEVEL).mean(),
        )
    )
    p = (
        pl.when(effect.is_null()).then(None)
        .when(alternative="greater").then("above")
        .when(alternative="less").then("below")
        .otherwise((2 * pl.min_horizontal("above", "below")).clip(upper_bound=1.0))
    )  # fmt: skip
    held = own.join(given, on=_KEYS, how="left", nulls_equal=True, maintain_order="left")
    made = held.with_columns(p_chance=p, confidence=pl.lit(confidence))
    return made.select(pl.col(name).cast(kind) for name, kind in CHANCE.items())


def rewire(network: Network, rng: np.random.Generator, *, swaps: int = 10) -> Network:
    """Swap the ends of edges at random, so that every node keeps its number of edges.

    Parameters
    ----------
    network
        Self-loops stay as they are; directed edges swap where they lead to.
    rng
        Draws the swaps.
    swaps
        How often each edge is paired with another to swap. A swap that would make a loop, or an
        edge that is there already, is not made.

    Returns
    -------
    Network
        With the same words, name, degrees and weights. A node's weights may be others: a weight
        stays with one end of its edge. It may have several components.
    """
    half = network.weights if network.directed else sp.triu(network.weights, k=1)
    edges = half.tocoo()
    apart = edges.row != edges.col
    source, target = (ends[apart].astype(np.int64) for ends in (edges.row, edges.col))
    for _ in range(swaps):
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
