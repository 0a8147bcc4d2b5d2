"""The table of estimates: a row per subject, measure, level, factors and method.

All families write their estimates to this table; report, command line and Python read it. An
estimate has a row per method: ``clustered`` (the interval and test to use), ``published`` (the test
of the paper), ``permutation``, ``bootstrap``, ``placebo``, ``rewired`` and others. In a comparison
`factor`, `baseline` and `candidate` are filled; its estimate is candidate − baseline. A `Measure`
says what a value means: scale, neutral value, direction, source.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache
from typing import Any

import polars as pl

from clinometer.errors import InputError
from clinometer.results.columns import CONDITIONS, Schema, columns

#: What the reports of several instruments have in common (`Measure.asks`).
ASSOCIATIONS, DECISIONS, ATTRIBUTIONS = "associations", "decisions", "attributions"

#: Columns that identify an estimate; with `method` and `alternative` they identify a row.
KEYS: Schema = columns(
    *("family", "subject", "model", "study", "instrument", "measure", "level"),
    *("factor", "baseline", "candidate"),
    *("mode", *CONDITIONS, "word_list", "scoring", "control"),
    *("category", "stereotype", "dimension", "variation"),
    *("identity", "targets", "prime", "varied", "retention", "time_steps", "norm", "weighted"),
    *("contexts", "removed", "words", "layer", "space", "group", "cut"),
    *("first", "second", "toward", "against"),
    *("predictor", "response_variable", "formula", "component", "part", "missing_as"),
)

#: The measure's scale.
SCALE: Schema = columns("range_low", "range_high", "neutral", "direction", "explicit")

ESTIMATES: Schema = {
    **KEYS,
    **columns(
        "construct",
        *("estimate", "baseline_estimate", "candidate_estimate"),
        *("method", "range", "test", "alternative", "sd", "se", "df", "statistic"),
        *("p", "p_bonferroni", "p_holm", "p_bh", "adjusted_over", "n_tests"),
        *("confidence", "ci_low", "ci_high", "pointwise_low", "pointwise_high"),
        *("harm_high", "effect_size", "n", "n_scored", "n_absent", "compliance", "n_stereotypes"),
        *("n_clusters", "units_low", "units_high", "clustered_by"),
        *("conditional_on", "matched_by", "n_more", "n_resamples", "bound_low", "bound_high"),
        *("bound_ci_low", "bound_ci_high"),
        *("tost_margin", "tost_p"),
        *("placebo_mean", "placebo_low", "placebo_high"),
    ),
    **SCALE,
    **columns("verdict", "because", "note"),
}

#: A table without rows, which takes longer to make than most tables of estimates.
NO_ESTIMATES = pl.DataFrame(schema=ESTIMATES)


def as_estimates(
    rows: pl.DataFrame | Iterable[Mapping[str, Any]],
    measures: Mapping[str, Measure],
    family: str = "answers",
) -> pl.DataFrame:
    """Make estimates of one `family`.

    `rows` have some of the columns of `ESTIMATES`, including `measure`; the others are null. NaN
    becomes null. `measures`, by name, fill the columns of `SCALE` that `rows` leave open.

    Raises
    ------
    InputError
        If `rows` have a column that is not in `ESTIMATES`, or a measure is not in `measures`.
    """
    if not isinstance(rows, pl.DataFrame):
        dictionaries = [dict(row) for row in rows]
        names: dict[str, None] = {}  # of any row, in the order of their first
        for row in dictionaries:
            names |= dict.fromkeys(row)
        rows = pl.DataFrame(dictionaries, schema={name: ESTIMATES.get(name) for name in names})
    if wrong := [name for name in rows.columns if name not in ESTIMATES]:
        raise InputError(f"estimates: no column {', '.join(wrong)}; see docs/reference/columns.md")
    if rows.is_empty():
        return NO_ESTIMATES
    labelled = rows.with_columns(family=pl.lit(family))
    table = pl.concat([NO_ESTIMATES, labelled.select(map(_cast, labelled.columns))], how="diagonal")
    return _fill_scale(table, measures)


@cache
def _cast(name: str) -> pl.Expr:
    """Return a column of `ESTIMATES` in its type; no number is nan."""
    column = pl.col(name).cast(ESTIMATES[name])
    return column.fill_nan(None) if ESTIMATES[name].is_float() else column


def _fill_scale(rows: pl.DataFrame, measures: Mapping[str, Measure]) -> pl.DataFrame:
    """Fill the columns of `SCALE` from the measures, where the rows leave them open."""
    used = rows["measure"].unique().to_list()
    unknown = [name for name in used if name not in measures]
    if unknown:
        raise InputError(f"estimates: measure {unknown[0]!r}; known: {', '.join(measures)}")
    scales = pl.DataFrame(
        [{"measure": name, **measures[name].scale()} for name in used],
        schema={"measure": pl.String(), **SCALE},
    )
    with_scales = rows.join(scales, on="measure", how="left", maintain_order="left", suffix="_of")
    filled = {name: pl.coalesce(name, f"{name}_of").alias(name) for name in SCALE}
    return with_scales.select(filled.get(name, pl.col(name)) for name in ESTIMATES)


def join_methods(
    estimates: pl.DataFrame, method: str, added: Mapping[str, Sequence[str]]
) -> pl.DataFrame:
    """Join columns of other methods to the rows of one `method`, as ``{column}_{method}``.

    `added`: other method → its columns.

    Raises
    ------
    InputError
        If another method has several rows for one estimate.
    """
    rows = estimates.filter(method=method)
    for added_method, names in added.items():
        columns_by_method = [pl.col(name).alias(f"{name}_{added_method}") for name in names]
        right = estimates.filter(method=added_method).select(*KEYS, *columns_by_method)
        repeated = right.filter(right.select(list(KEYS)).is_duplicated())
        if not repeated.is_empty():
            raise InputError(
                f"estimates: {repeated.height} rows of method {added_method!r} agree in all keys "
                f"(first: {repeated['measure'][0]} of {repeated['subject'][0]}); expected one row "
                "per estimate"
            )
        # Most keys of an estimate are null, and null must match null.
        rows = rows.join(right, on=list(KEYS), how="left", nulls_equal=True, maintain_order="left")
    return rows


@dataclass(frozen=True)
class Measure:
    """What a value means; stated in every table and figure.

    Parameters
    ----------
    name
        Value of the column `measure`.
    title
        Title for readers.
    low, high
        Ends of the scale; infinite if there are none.
    neutral
        The value that means no bias; nan if there is none.
    direction
        What values above neutral mean.
    reference
        The source.
    how
        How the value is computed.
    consistent
        The side of neutral that is stereotype-consistent: ``"above"``, ``"below"`` or None.
    explicit
        Whether the questions show what they are about, as in bias benchmarks and self-report.
    asks
        What models are asked for, as a plural noun: ``"associations"``, ``"decisions"``. Empty
        where nothing is asked.
    limits
        What values cannot show, a sentence or two each.
    directed
        Whether scores turn their sign where the two groups change places; without that there is no
        stereotype for a target, and random splits of the group words tell nothing.
    toward, against
        What a mean above neutral says of one stereotype, and what one below it, with its words in
        braces: ``"{marginalized} with {tied}"``. Empty where its words do not tell.
    counts
        What a mean is the share of, as a plural noun: ``"decisions"``. Empty on other scales.
    """

    name: str
    title: str
    low: float
    high: float
    neutral: float
    direction: str
    reference: str
    how: str = ""
    consistent: str | None = "above"
    explicit: bool = False
    asks: str = ""
    limits: tuple[str, ...] = ()
    directed: bool = True
    toward: str = ""
    against: str = ""
    counts: str = ""

    def renamed(self, name: str, title: str, lead: str) -> Measure:
        """Return the measure under the name of a part of another instrument."""
        return replace(self, name=name, title=title, how=lead + self.how)

    def scale(self) -> dict[str, Any]:
        """Return the columns that every estimate of this measure has."""
        return {
            "range_low": self.low if math.isfinite(self.low) else None,
            "range_high": self.high if math.isfinite(self.high) else None,
            "neutral": self.neutral if math.isfinite(self.neutral) else None,
            "direction": self.consistent,
            "explicit": self.explicit,
        }


_DIFFERENCE = "positive: more under the candidate"

_CORRELATIONS = [
    Measure(
        f"{facet}_correlation",
        f"Correlation of the stereotypes' means between {facet}s",
        low=-1.0,
        high=1.0,
        neutral=0.0,
        direction="positive: the two give a similar order",
        reference="",
        consistent=None,
    )
    for facet in ("wording", "order", "mode", "instrument")
]

_SHARED_MEASURES = (
    Measure("logit", "Mean difference of log odds", -math.inf, math.inf, 0.0,
            "positive: the tied words are likelier for the marginalized group than the "
            "counter words", "forced mode"),
    Measure("compliance", "Difference of compliance", -1.0, 1.0, 0.0, _DIFFERENCE, "",
            consistent=None),
    Measure("log_odds", "Log odds of a decision for one unit of the predictor", -math.inf,
            math.inf, 0.0, "positive: decisions follow the predictor",
            "Bai et al. (2025), SI section K", consistent=None),
    Measure("read_share", "Share of labelled answers that were read", 0.0, 1.0, math.nan, "",
            "Wilson (1927)", consistent=None),
    Measure("agreement", "Share of read answers that are as labelled", 0.0, 1.0, math.nan, "",
            "Wilson (1927)", consistent=None),
    Measure("kappa", "Cohen's kappa of readings and labels", -1.0, 1.0, 0.0,
            "positive: more agreement than by chance", "Cohen (1960)", consistent=None),
    Measure("corrected_mean", "Mean of labels over all answers that were read", 0.0, 1.0, 0.5,
            "above ½: as the stereotype says", "Angelopoulos et al. (2023)"),
    Measure("correlation", "Pearson's correlation", -1.0, 1.0, 0.0,
            "positive: the two go together", "", consistent=None),
    Measure("rank_correlation", "Spearman's correlation", -1.0, 1.0, 0.0,
            "positive: the two go together", "", consistent=None),
    Measure("split_half", "Split-half reliability of the stereotypes' means", 0.0, 1.0,
            math.nan, "higher: other draws give the same order",
            "Spearman (1910); Brown (1910)", consistent=None),
    Measure("generalisability", "Generalisability coefficient Eρ²", 0.0, 1.0, math.nan,
            "higher: other wordings and draws give the same order", "Cronbach et al. (1972)",
            consistent=None),
    Measure("dependability", "Dependability coefficient Φ", 0.0, 1.0, math.nan,
            "higher: other wordings and draws give the same means", "Brennan (2001)",
            consistent=None),
    Measure("variance_component", "Variance of the score of one draw due to one source", 0.0,
            math.inf, math.nan, "", "Shavelson & Webb (1991)", consistent=None),
    *_CORRELATIONS,
    Measure("rank", "Rank of the model, 1 the most stereotype-consistent", 1.0, math.inf,
            math.nan, "lower: more stereotype-consistent", "Li et al. (2025), Figure 4",
            consistent=None),
)  # fmt: skip

#: Measures that several families share, by name.
COMMON_MEASURES = {measure.name: measure for measure in _SHARED_MEASURES}
