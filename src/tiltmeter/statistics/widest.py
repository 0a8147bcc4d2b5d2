"""The error of a mean where too few stereotypes are known to moderate it.

Measures
    Scores are clustered by wording, word, cell, draw or response, whichever gives the widest
    interval. The variance is CR2's (`clustered`) plus what one more response would add that is in
    the middle of the scale. Without it, responses that are nearly alike would have next to no
    error. Where all are in the middle, the bound for unanimous responses takes its place.
"""

from __future__ import annotations

import numpy as np
from scipy.special import stdtrit

from tiltmeter.statistics.clustered import ClusteredMean, mean_of_clusters
from tiltmeter.statistics.squares import Codes
from tiltmeter.statistics.strata import Stratum

__all__ = ["widest"]


def widest(one: Stratum, bounds: tuple[float, float]) -> ClusteredMean:
    """Return the mean of a stereotype, with the error by its widest clusters.

    `bounds` are the ends of the scale. A single response has no error.
    """
    if one.part.size < 2:
        return ClusteredMean(int(one.part.answers), 1, one.part.mean, None, None)
    several = [of for of, n in zip(one.part.members, one.varies.values(), strict=True) if n > 1]
    found = [_clustered(one, of, bounds) for of in (np.arange(one.part.size), *several)]
    return max(found, key=_width)


def _clustered(one: Stratum, clusters: Codes, bounds: tuple[float, float]) -> ClusteredMean:
    part, middle = one.part, sum(bounds) / 2.0
    added = ((part.mean - middle) / (part.size + 1)) ** 2 if np.isfinite(middle) else 0.0
    sizes, totals = (np.bincount(clusters, part.weights * x) for x in (1.0, one.values))
    plain = mean_of_clusters(sizes, totals, bounds=bounds)
    return plain.plus(added, part.size - 1) if added > 0 else plain


def _width(one: ClusteredMean) -> float:
    return -1.0 if one.se is None or one.df is None else float(stdtrit(one.df, 0.975)) * one.se
