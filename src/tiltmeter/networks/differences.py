"""How the effects of two networks differ, on the targets that both have.

The effects are those of `contrasts`. Range of a difference: −2 to 2, neutral 0; it is candidate −
baseline, and stereotype-consistent on the side of the effect. Interval and p come from drawing
targets, the same for both networks, so that what moves both cancels.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterable

import numpy as np
from numpy.typing import NDArray
from scipy import stats

from tiltmeter.networks.contrasts import DIRECTIONS, Contrast, Row, adjust, ends
from tiltmeter.networks.setting import Setting
from tiltmeter.statistics.paired import bootstrap_effects, signed_rank_effect

__all__ = ["differences"]

Array = NDArray[np.float64]


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
    found = [float(signed_rank_effect(table.ravel())) for table in tables]
    change |= {
        "estimate": found[0] - found[1],
        "candidate_estimate": found[0],
        "baseline_estimate": found[1],
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
