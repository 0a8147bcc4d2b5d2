"""Two controls: rewired networks (negative control) and human reaction times (validity).

*Rewired networks*: Maslov & Sneppen 2002, Science 296, 910–913 (random networks of the same
degrees). Two edges a–b and c–d become a–d and c–b, many times. Every word keeps its number of
edges, and the set of weights stays; which words are associated is random. An effect that rewired
networks also show needs no explanation beyond degrees and chance.
Method ``rewired`` gives the p of an effect relative to those of rewired networks.
`false_alarm_rate` is the share of rewired networks in which the published p is at most .05; the
published test treats pairs of prime and target as independent. Range 0 to 1; a correct p gives .05.

*Priming*: Abramski et al. 2025, "The LLM World of Words", Sci. Data 12:803, after the Semantic
Priming Project (Hutchison et al. 2013). People recognise a target as a word faster after a related
word. In a network that models their memory, the related prime activates the target more than the
unrelated one, and higher activation goes with shorter reaction times.
Measures, over 50 triplets of target, related and unrelated prime, Spearman's correlation of
normalised activation and reaction time (`priming_correlation`; 100 pairs; expected: negative) and
Wilcoxon's effect of related − unrelated (`priming_effect`; 50 pairs; expected: positive). Both
range from −1 to 1, neutral 0. Activations are normalised over all primes of the triplets.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import lru_cache
from importlib import resources
from typing import Any

import numpy as np
import polars as pl
import scipy.sparse as sp
from numpy.typing import NDArray
from scipy import stats

from clinometer.errors import ClinometerWarning, InputError
from clinometer.results import as_estimates, columns
from clinometer.results.estimates import KEYS
from clinometer.statistics.intervals import percentile_columns
from clinometer_measures.networks.bias import published_rows
from clinometer_measures.networks.lexicons import Lexicons
from clinometer_measures.networks.matched_pairs import signed_rank
from clinometer_measures.networks.network import Network
from clinometer_measures.networks.setting import FAMILY, INSTRUMENT, MEASURES, Setting
from clinometer_measures.networks.spreading import Spreading, activate
from clinometer_measures.networks.study import NetworkStudy

__all__ = ["absent_words", "check_priming", "compare_with_rewired", "rewire", "triplets"]

#: A published p of at most this value in a rewired network counts as a false alarm.
LEVEL = 0.05

#: Times that each edge is paired with another.
SWAPS = 10

#: Key columns of the estimates of one network.
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
    """Measure the bias of a network and of rewired copies of it.

    Parameters
    ----------
    network, study, approaches, lexicons, setting
        As for `measure_bias`; steps and start are those of the original network.
        `setting.rewirings` is the number of rewired networks; the smallest p is 1 / (rewirings +
        1), two-sided twice that.
    on_progress
        Called after each rewired network.

    Returns
    -------
    polars.DataFrame
        Columns of `results.ESTIMATES`: each estimate with method ``rewired``, and its
        `false_alarm_rate`.

    Raises
    ------
    InputError
        As for `measure_bias`, and if `setting.rewirings` is 0.

    Examples
    --------
    >>> edges = {"src": ["woman", "man", "woman", "kind"], "tgt": ["kind", "leader", "man", "art"]}
    >>> network = Network.from_edges(pl.DataFrame(edges).with_columns(wt=2), name="four edges")
    >>> found = compare_with_rewired(network, setting=Setting(missing="skip", rewirings=19))
    >>> found.filter(measure="activation_effect").select("targets", "estimate", "p").rows()
    [('female', 1.0, 0.4), ('male', -1.0, 0.45)]
    """
    full_setting = (setting or Setting()).within(network)
    if not full_setting.rewirings:
        raise InputError("rewirings 0: at least 19 rewired networks are needed to compare with")

    def measure_published(measured: Network) -> list[dict[str, Any]]:
        """Measure the network or a rewired one; the same steps and start for all."""
        return published_rows(measured, study, approaches, lexicons, full_setting)

    estimates = measure_published(network)
    rng = np.random.default_rng(full_setting.seed)
    rewired_rows = []
    with warnings.catch_warnings():  # absent words are known from the original network
        warnings.simplefilter("ignore", ClinometerWarning)
        for _ in range(full_setting.rewirings):
            rewired_rows += measure_published(rewire(network, rng))
            on_progress()
    rewired = pl.DataFrame(rewired_rows, schema=columns(*_KEYS, "estimate", "p"))
    return _rank_estimates(
        as_estimates(estimates, MEASURES, FAMILY), rewired, full_setting.confidence
    )


def _rank_estimates(
    estimates: pl.DataFrame, rewired: pl.DataFrame, confidence: float
) -> pl.DataFrame:
    """Compute the rewired p of each estimate and the false alarm rates."""
    estimate = pl.col("estimate")
    low, high = percentile_columns(estimate, confidence)
    observed = estimates.select(*_KEYS, observed="estimate")
    comparisons = (
        rewired.join(observed, on=_KEYS, nulls_equal=True)
        .drop_nulls("estimate")
        .group_by(_KEYS)
        .agg(
            placebo_mean=estimate.mean(),
            placebo_low=low,
            placebo_high=high,
            n_resamples=pl.len(),
            # The observed estimate counts as one of them, so that no p is 0.
            above=(1 + (estimate >= pl.col("observed")).sum()) / (1 + pl.len()),
            below=(1 + (estimate <= pl.col("observed")).sum()) / (1 + pl.len()),
            false_alarms=(pl.col("p") <= LEVEL).mean(),
        )
    )
    p = (
        pl.when(estimate.is_null()).then(None)
        .when(alternative="greater").then("above")
        .when(alternative="less").then("below")
        .otherwise((2 * pl.min_horizontal("above", "below")).clip(upper_bound=1.0))
    )  # fmt: skip
    ranked = (
        estimates.select(*KEYS, "estimate", "alternative", "direction", "n")
        .with_columns(method=pl.lit("rewired"))
        .join(comparisons, on=_KEYS, how="left", nulls_equal=True, maintain_order="left")
        .with_columns(p=p, confidence=pl.lit(confidence))
    )
    alarms = ranked.drop_nulls("false_alarms").select(
        pl.col([name for name in KEYS if name != "measure"]),
        *("method", "n_resamples"),
        measure=pl.lit("false_alarm_rate"),
        estimate="false_alarms",
    )
    effects = ranked.drop("above", "below", "false_alarms")
    return as_estimates(pl.concat([effects, alarms], how="diagonal"), MEASURES, FAMILY)


def rewire(network: Network, rng: np.random.Generator) -> Network:
    """Swap the ends of edges at random; every node keeps its number of edges.

    Each edge is paired SWAPS times with another to swap targets. A swap that would make a loop or
    an existing edge is skipped. Words, degrees, the set of weights and self-loops stay. The weights
    of a single node may change, because a weight stays with one end of its edge. The network may
    split into several components.
    """
    # Each undirected edge once.
    weights = network.weights if network.directed else sp.triu(network.weights, k=1)
    edges = weights.tocoo()
    no_loop = edges.row != edges.col
    source, target = (ends[no_loop].astype(np.int64) for ends in (edges.row, edges.col))
    for _ in range(SWAPS):
        if not network.directed:
            # Which end is the target of an undirected edge is chance, anew each time.
            turned = rng.random(len(source)) < 0.5  # noqa: PLR2004 - either end alike
            source, target = np.where(turned, target, source), np.where(turned, source, target)
        _swap(source, target, rng, network)
    swapped = sp.coo_array((edges.data[no_loop], (source, target)), shape=weights.shape).tocsr()
    if not network.directed:
        swapped = swapped + swapped.T
    loops = sp.diags_array(network.weights.diagonal())
    return replace(network, weights=sp.csr_array(swapped + loops))


def _swap(source: Ends, target: Ends, rng: np.random.Generator, network: Network) -> None:
    """Pair all edges at random; each pair swaps targets, in place, if allowed."""
    order = rng.permutation(len(source))
    pairs = len(source) // 2
    first, second = order[:pairs], order[pairs : 2 * pairs]
    # Edges as they are, and the two new edges of each pair.
    present = _number_edges(source, target, network)
    new_first = _number_edges(source[first], target[second], network)
    new_second = _number_edges(source[second], target[first], network)
    numbers = pl.Series(np.concatenate([present, new_first, new_second]))
    duplicated = numbers.is_duplicated().to_numpy()
    clashes = duplicated[len(source) :].reshape(2, pairs).any(axis=0)
    loops = (source[first] == target[second]) | (source[second] == target[first])
    allowed = ~(clashes | loops)
    first, second = first[allowed], second[allowed]
    target[first], target[second] = target[second], target[first]


def _number_edges(source: Ends, target: Ends, network: Network) -> Ends:
    """Assign numbers to edges; both directions of an undirected edge share a number."""
    if network.directed:
        return source * len(network) + target
    return np.minimum(source, target) * len(network) + np.maximum(source, target)


@lru_cache(maxsize=1)
def triplets() -> pl.DataFrame:
    """Read the 50 published triplets.

    Columns ``target``, ``related`` and ``unrelated`` (the primes), ``related_rt`` and
    ``unrelated_rt`` (z-scored reaction times after each prime).
    """
    data = (resources.files("clinometer_measures.networks") / "priming.csv").read_bytes()
    text = pl.read_csv(data, infer_schema=False)
    return text.with_columns(pl.col("related_rt", "unrelated_rt").cast(pl.Float64))


_WORDS = ("target", "related", "unrelated")


def absent_words(network: Network) -> list[str]:
    """List the words of the triplets that are not nodes."""
    words: set[str] = set()
    for name in _WORDS:
        words.update(triplets()[name])
    return network.absent(sorted(words))


def check_priming(network: Network, spreading: Spreading | None = None) -> pl.DataFrame:
    """Compare a network with human reaction times.

    Parameters
    ----------
    network
        A network of English words; triplets with an absent word are left out.
    spreading
        How activation spreads.

    Returns
    -------
    polars.DataFrame
        Columns of `results.ESTIMATES`, a row per measure; `n` counts triplets. With fewer than 3
        the estimate is null.
    """
    full_spreading = (spreading or Spreading()).within(network)
    absent = absent_words(network)
    triplet_rows = triplets().filter(~pl.any_horizontal(pl.col(_WORDS).is_in(absent)))
    shared = {
        "subject": network.name,
        "instrument": INSTRUMENT,
        "level": "subject",
        "method": "published",
        "n": triplet_rows.height,
        **Setting(full_spreading).columns(),
    }
    correlation = {**shared, "measure": "priming_correlation", "alternative": "two-sided"}
    effect = {**shared, "measure": "priming_effect", "alternative": "greater"}
    if triplet_rows.height < 3:
        note = {"note": "fewer than three triplets in the network"}
        return as_estimates([correlation | note, effect | note], MEASURES, FAMILY)
    related, unrelated = _levels(network, triplet_rows, full_spreading)
    times = pl.concat([triplet_rows["related_rt"], triplet_rows["unrelated_rt"]])
    correlation_test = stats.spearmanr(np.concatenate([related, unrelated]), times)
    effect_test = signed_rank(related - unrelated, "greater")
    correlation |= {
        "estimate": float(correlation_test.statistic),
        "p": float(correlation_test.pvalue),
    }
    effect |= {"estimate": effect_test.effect, "p": effect_test.p}
    return as_estimates([correlation, effect], MEASURES, FAMILY)


def _levels(
    network: Network, triplet_rows: pl.DataFrame, spreading: Spreading
) -> list[NDArray[np.float64]]:
    """Return the activation of each target by its related and its unrelated prime."""
    targets = triplet_rows["target"].to_list()
    pairs = triplet_rows.select("related", "unrelated")
    primes = list(dict.fromkeys(word for pair in pairs.iter_rows() for word in pair))
    activations = activate(network, primes, spreading, targets=targets).normalised()
    rows = np.arange(len(targets))
    levels = []
    for words in pairs:  # the column of related primes, then that of unrelated ones
        columns = [primes.index(word) for word in words]
        levels.append(activations[rows, columns])
    return levels
