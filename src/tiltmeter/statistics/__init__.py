"""Estimates from scores: means, tests, contrasts, regressions, agreement, compliance."""

from tiltmeter.statistics.agreement import agreement
from tiltmeter.statistics.clustered import ClusteredMean, clustered_mean
from tiltmeter.statistics.contrasts import contrast
from tiltmeter.statistics.dimensions import correlate_dimensions, rank_models
from tiltmeter.statistics.effects import cohen_d, tost
from tiltmeter.statistics.estimates import Inference, estimate, estimate_summaries
from tiltmeter.statistics.logistic import regress
from tiltmeter.statistics.predictors import compare_predictors
from tiltmeter.statistics.summaries import compliance, pool_pairs, summarise

__all__ = [
    "ClusteredMean",
    "Inference",
    "agreement",
    "clustered_mean",
    "cohen_d",
    "compare_predictors",
    "compliance",
    "contrast",
    "correlate_dimensions",
    "estimate",
    "estimate_summaries",
    "pool_pairs",
    "rank_models",
    "regress",
    "summarise",
    "tost",
]
