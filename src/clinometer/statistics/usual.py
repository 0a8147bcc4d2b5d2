"""Variances of means of few stereotypes: their own, moderated by what is usual.

Reference
    Satterthwaite (1946), Biometrics Bulletin 2(6), 110–114: degrees of freedom.

Measures
    Fewer stereotypes than `FEWEST` tell too little about each other (`crossed`). The variance of a
    mean is then estimated from the stereotype alone, and moderated by usual components (`USUAL`),
    which count for less the more levels a factor has: three quarters with two, a fortieth with six.
    Answers add to the sums of squares of all factors: what they add to all together is taken off,
    as far as it is known, and what is left is not below 0 (`crossed.excess`). A factor with one
    level is held fixed.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from clinometer.statistics.clustered import Array
from clinometer.statistics.crossed import CROSSED, NOTHING, Moderated, Strata
from clinometer.statistics.settings import (
    EXACT,
    OWN_KNOWN,
    USUAL,
    USUAL_DF,
    USUAL_DRAWN,
    USUAL_EXACT,
    USUAL_KNOWN,
)
from clinometer.statistics.shared import SHARED, Used
from clinometer.statistics.squares import Codes, StratumSquares

__all__ = ["moderate_by_usual", "usual_components"]


def usual_components(factors: Sequence[str], mode: str | None) -> Array:
    """Return the usual components of some of `CROSSED` and of the response in a mode."""
    by_factor = dict(zip(CROSSED, USUAL, strict=True))
    response = USUAL_EXACT if mode in EXACT else USUAL_DRAWN
    return np.array([*(by_factor[f] for f in factors), response])


def moderate_by_usual(
    strata: Sequence[StratumSquares], scales: Array, usual: Array, values: Sequence[Array]
) -> Moderated | None:
    """Moderate the variances of the means of `strata`, each by itself and by `usual` components.

    `scales`, shape (stereotypes,), are what variances are proportional to, `usual`, shape (k,), of
    `usual_components`, `values` the scores of each. None if no stratum has two units.
    """
    page = Strata(strata, scales)
    if page.sizes.max() < 2:
        return None
    own_df = np.array([stratum.levels for stratum in strata], float) - 1.0
    prior = np.full_like(own_df, USUAL_DF)
    prior[:, :-1] /= np.maximum(own_df[:, :-1], 1.0) ** 2
    own_share = own_df / (own_df + prior)
    by_usual = usual * page.shares
    by_usual[:, :-1] *= page.several[:, :-1]
    told = _told_apart(page)
    diagonal = np.einsum("sff->sf", page.expected)
    per_square = np.divide(1.0, diagonal, out=np.zeros_like(diagonal), where=told)
    floors = ((1.0 - own_share) * by_usual).sum(axis=1)
    weights = own_share * page.shares * per_square
    noise = _noise(page, values)
    # By usual components: nothing in the df depends on the scores.
    by_noise = page.shares * page.expected[:, :, -1] * usual[-1] * per_square
    by_noise[:, -1] = 0.0
    known_df = np.maximum(OWN_KNOWN * own_df + USUAL_KNOWN * prior, 1.0)
    known_df[:, -1] = np.maximum(own_df[:, -1], 1.0)
    uncertain = (by_usual * (by_usual + by_noise) / known_df).sum(axis=1)
    own = per_square * np.maximum(page.observed - noise, 0.0)
    components = (own_share * own + (1.0 - own_share) * usual).mean(axis=0)
    added = (weights * noise).sum(axis=1)
    variances = page.variances(floors, weights, added)
    df = np.maximum(by_usual.sum(axis=1) ** 2 / uncertain, 1.0)
    return Moderated(
        variances=variances,
        scales=page.scales,
        floors=floors,
        weights=weights,
        noise=added,
        df=df,
        own=variances,
        own_df=df,
        joint_df=np.full(len(strata), np.inf),
        components=components,
        unbiased=components,
        uncertain=np.zeros_like(components),
        usual=True,
        lends=False,
    )


def _told_apart(page: Strata) -> Used:
    """Return which factors have levels of their own in each stratum, (stereotypes, k).

    Cells of one pair of words are the wordings, and draws of one answer the answers.
    """
    told = page.several.copy()
    for place, f in enumerate(page.strata[0].totals):
        if f not in SHARED:
            same = np.isclose(page.expected, page.expected[:, place : place + 1]).all(axis=2) & told
            same[:, place] = False
            told[:, place] &= ~same.any(axis=1)
    return told


def _noise(page: Strata, values: Sequence[Array]) -> Array:
    """Return what draws and answers add to the sum of squares of each factor, (stereotypes, k).

    It is estimated from what wordings and group words leave of the scores as fixed effects: raising
    all scores of one of them changes nothing.
    """
    noise = np.zeros_like(page.shares)
    factors = list(page.strata[0].totals)
    for place, (stratum, scores) in enumerate(zip(page.strata, values, strict=True)):
        if stratum.observed[-1] <= NOTHING:  # no score varies
            continue
        left, rank = _without_words(stratum, scores)
        relative = np.full(len(factors), _between(left, rank, np.arange(stratum.size)))
        if "draw" in factors:
            draw = factors.index("draw")
            if stratum.levels[draw] > 1:
                relative[:draw] = _between(left, rank, stratum.members[draw])
        noise[place, :-1] = stratum.expected[:-1, -1] * relative
    return noise / page.scales[:, None]


def _without_words(stratum: StratumSquares, values: Array) -> tuple[Array, int]:
    """Return what wordings and group words leave of scores times their weights, and their rank."""
    factors = zip(stratum.totals, stratum.members, stratum.levels[:-1], strict=True)
    # A level of all scores, so that there is one where wordings and words do not vary.
    codes, n = [np.zeros(stratum.size, np.intp)], 1
    for factor, levels, n_levels in factors:
        if factor in SHARED:
            codes.append(np.where(levels < 0, n_levels, levels) + n)  # without one: another level
            n += n_levels + 1
    places = np.array(codes)  # (factors, units)
    products = np.zeros((n, n))
    np.add.at(products, (places[:, None], places[None]), stratum.weights)
    deviations = stratum.weights * (values - stratum.mean)
    totals = np.bincount(places.ravel(), np.tile(deviations, len(places)), n)
    effects = np.linalg.pinv(products, 1e-9, hermitian=True) @ totals
    rank = int(np.linalg.matrix_rank(products, 1e-9 * n, hermitian=True))
    return deviations - stratum.weights * effects[places].sum(axis=0), rank


def _between(left: Array, rank: int, units: Codes) -> float:
    """Return the variance of what is left of scores, as it acts between units such as draws.

    As far as it is known: with few degrees of freedom hardly any of it.
    """
    totals = np.bincount(units, left)
    # The variance is (squares / n) (units / df), and df / (df + `USUAL_DF`) of it count.
    df = len(totals) - rank
    return float(totals @ totals) / len(left) * len(totals) / (df + USUAL_DF) if df > 0 else 0.0
