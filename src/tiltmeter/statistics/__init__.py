"""Estimates from scores: clustered means, tests, multiplicity, compliance."""

from tiltmeter.statistics.clustered import ClusteredMean, clustered_mean
from tiltmeter.statistics.effects import cohen_d, tost
from tiltmeter.statistics.estimates import Inference, estimate, estimate_summaries
from tiltmeter.statistics.summaries import compliance, pool_pairs, summarise
from tiltmeter.statistics.verdicts import VERDICTS

__all__ = [
    "VERDICTS",
    "ClusteredMean",
    "Inference",
    "clustered_mean",
    "cohen_d",
    "compliance",
    "estimate",
    "estimate_summaries",
    "pool_pairs",
    "summarise",
    "tost",
]
