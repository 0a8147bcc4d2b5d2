"""Effects of paired differences of activation: from one network, and between two.

The effect is Wilcoxon's z / √n, see `statistics.paired`. Beside the published p stand a test over
swapped primes and an interval from drawing targets, because 125 pairs that share 25 targets and 5
pairs of primes are not 125 observations.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray
from scipy import stats

from tiltmeter.networks.setting import Setting
from tiltmeter.results.networks import DIFFERENCES, EFFECTS
from tiltmeter.statistics.effects import holm
from tiltmeter.statistics.paired import (
    Alternative,
    bootstrap_effects,
    permute_columns,
    signed_rank,
    signed_rank_effect,
)

__all__ = ["Contrast", "Paired", "compare_contrasts", "effects"]

Array = NDArray[np.float64]

#: What a sign of `Paired.sign` is tested for.
_ALTERNATIVES: Mapping[int, Alternative] = {1: "greater", -1: "less", 0: "two-sided"}


@dataclass(frozen=True, eq=False)
class Paired:
    """Differences of normalised activation for one set of targets.

    Parameters
    ----------
    targets
        Words, the rows.
    differences
        Shape (targets, pairs of primes): first − second category.
    activation
        Shape (targets, primes), normalised.
    sign
        1 or −1 where a stereotype says which category activates these targets more; else 0.
    """

    targets: tuple[str, ...]
    differences: Array
    activation: Array
    sign: int


@dataclass(frozen=True, eq=False)
class Contrast:
    """Two categories of primes in one network, and all sets of targets."""

    about: Mapping[str, str]  # network, study, identity, approach
    first: str
    second: str
    primes: tuple[str, ...]
    sets: Mapping[str, Paired]
    missing: Mapping[str, Sequence[str]]  # set of targets → absent primes and targets
    setting: Setting
    norm: str


def effects(contrast: Contrast) -> pl.DataFrame:
    """Test each set of targets.

    Parameters
    ----------
    contrast
        From `stereotypes.contrast` or `emotions.contrast`.

    Returns
    -------
    polars.DataFrame
        Columns EFFECTS, a row per set of targets. Without targets or primes: no effect, and a note.
    """
    rows = [_effect(contrast, name, paired) for name, paired in contrast.sets.items()]
    known = [row for row in rows if row["p"] is not None]
    for row, p in zip(known, holm(np.array([row["p"] for row in known])), strict=True):
        row["p_holm"] = float(p)
    return pl.DataFrame(rows, schema=EFFECTS)


def _effect(contrast: Contrast, name: str, paired: Paired) -> dict[str, Any]:
    setting, d = contrast.setting, paired.differences
    found = signed_rank(d, _ALTERNATIVES[paired.sign])
    row = {
        **dict.fromkeys(EFFECTS),
        **contrast.about,
        "targets": name,
        "first": contrast.first,
        "second": contrast.second,
        "alternative": _ALTERNATIVES[paired.sign],
        "confidence": setting.confidence,
        "missing": list(contrast.missing.get(name, ())),
        "n": found.n,
        "n_targets": len(paired.targets),
        **setting.columns(contrast.norm),
    }
    if found.effect is None:
        return row | {"note": "no pair of primes and target in the network"}
    swapped = permute_columns(d, _ALTERNATIVES[paired.sign], seed=setting.seed)
    low, high = None, None
    if setting.draws and len(paired.targets) > 1:
        draws = bootstrap_effects([d], draws=setting.draws, seed=setting.seed)[:, 0]
        low, high = _interval(draws, setting.confidence)
    few = "one pair of primes: nothing to swap" if d.shape[1] < 2 else None
    return row | {
        "effect": found.effect,
        "stereotype": paired.sign * found.effect if paired.sign else None,
        "p": found.p,
        "ci_low": low,
        "ci_high": high,
        "p_permutation": swapped.p,
        "n_permutations": swapped.n_permutations,
        "note": few,
    }


def compare_contrasts(contrasts: Iterable[Contrast]) -> pl.DataFrame:
    """Compare the effects of every two networks, on the targets they share.

    Parameters
    ----------
    contrasts
        Of several networks and identities.

    Returns
    -------
    polars.DataFrame
        Columns DIFFERENCES. Both networks are drawn the same targets, so what moves both cancels.
        p_holm is over the pairs of networks of an identity and set of targets.
    """
    rows: list[dict[str, Any]] = []
    keyed: dict[tuple[str, str, str], list[Contrast]] = {}
    for one in contrasts:
        about = one.about
        keyed.setdefault((about["study"], about["identity"], about["approach"]), []).append(one)
    for group in keyed.values():
        names = list(dict.fromkeys(name for one in group for name in one.sets))
        for name in names:
            having = [one for one in group if name in one.sets]
            part = [_difference(a, b, name) for a, b in itertools.combinations(having, 2)]
            known = [row for row in part if row["p"] is not None]
            for row, p in zip(known, holm(np.array([r["p"] for r in known])), strict=True):
                row["p_holm"] = float(p)
            rows += part
    return pl.DataFrame(rows, schema=DIFFERENCES)


def _difference(a: Contrast, b: Contrast, name: str) -> dict[str, Any]:
    setting, (one, other) = a.setting, (a.sets[name], b.sets[name])
    shared = [word for word in one.targets if word in set(other.targets)]
    row = {
        **dict.fromkeys(DIFFERENCES),
        **{key: a.about[key] for key in ("study", "identity", "approach")},
        "targets": name,
        "network_a": a.about["network"],
        "network_b": b.about["network"],
        "confidence": setting.confidence,
        "n_targets": len(shared),
    }
    tables = [_rows(paired, shared) for paired in (one, other)]
    if len(shared) < 2 or not all(table.size for table in tables):
        return row | {"note": "fewer than two targets in both networks"}
    found = [float(signed_rank_effect(table.ravel())) for table in tables]
    row |= {
        "difference": found[0] - found[1],
        "correlation": _correlation(a, b, name, shared),
        "note": None if a.primes == b.primes else "the networks lack different primes",
    }
    if not setting.draws:
        return row
    draws = bootstrap_effects([*tables], draws=setting.draws, seed=setting.seed)
    change = draws[:, 0] - draws[:, 1]
    low, high = _interval(change, setting.confidence)
    beyond = min(np.count_nonzero(change <= 0), np.count_nonzero(change >= 0))
    p = min(1.0, 2 * (beyond + 1) / (len(change) + 1))
    return row | {"ci_low": low, "ci_high": high, "p": p}


def _correlation(a: Contrast, b: Contrast, name: str, shared: Sequence[str]) -> float | None:
    """Correlate activations over pairs of prime and target, where the primes are the same."""
    if a.primes != b.primes:
        return None
    one, other = (_rows(c.sets[name], shared, activation=True).ravel() for c in (a, b))
    if np.ptp(one) == 0 or np.ptp(other) == 0:
        return None
    return float(stats.spearmanr(one, other).statistic)


def _rows(paired: Paired, words: Sequence[str], *, activation: bool = False) -> Array:
    places = {word: place for place, word in enumerate(paired.targets)}
    table = paired.activation if activation else paired.differences
    return table[[places[word] for word in words]]


def _interval(draws: Array, confidence: float) -> tuple[float, float]:
    low, high = np.quantile(draws, [(1 - confidence) / 2, (1 + confidence) / 2])
    return float(low), float(high)
