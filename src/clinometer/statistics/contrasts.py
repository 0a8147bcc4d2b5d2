"""What changed between two askings of the same trials: a candidate against a baseline.

Reference
    The paired t test and d_z of a matched pair (Lakens 2013, Frontiers in Psychology 4, 863);
    cluster-robust error of their mean difference as in `clustered` (Bell & McCaffrey 2002;
    Pustejovsky & Tipton 2018); worst-case bounds of missing outcomes after Manski (1990),
    American Economic Review 80(2), 319–323.

Measures
    Mean of score(candidate) − score(baseline) over *matched* trials: the same draw of words in
    the same wording and order, asked of the same model, scored under both. What the two have in
    common (wording, group words, order) cancels. Both orders count the same, also where missing
    scores leave more matched trials in one. Unit and direction are those of the score;
    neutral 0. Any factor can be contrasted: an intervention against none, one model against
    another, one mode against another.

Inference
    Differences that share wordings, group words and draws rise and fall together, so intervals and
    tests are those of `means`; the paired t test is a row of its own, method ``published``.
    Bonferroni and Benjamini–Hochberg adjust over the candidates and groups of a model, study,
    instrument, mode, word list, scoring and level, with all dimensions. A candidate can also change
    *which* trials can be scored: the change of compliance is a measure of its own, and the bounds
    hold whatever the missing scores were.

Matching
    Identifiers of trials and mirrored pairs differ between the values of a factor, so a trial is
    known by the number of its draw (`iteration`) and by the other factors. A draw fixes group
    words and attributes; trials of one number whose words differ are of different plans, and
    refused.

Deviations from the source
    A trial asked under one of the two only is counted, and enters nothing else, bounds included:
    a shorter run is a choice of design, not an answer withheld.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import polars as pl

from clinometer.errors import InputError
from clinometer.results import FACTORS, LEVELS, SCORES, Measure, check
from clinometer.statistics.changes import (
    Changes,
    Compared,
    Contrasted,
    RangesByKey,
    candidates,
    contrasted,
)
from clinometer.statistics.estimates import check_range
from clinometer.statistics.means import BALANCED, Ranges, means
from clinometer.statistics.summaries import (
    NEVER_POOLED,
    UNBALANCED,
    balance_turns,
    is_of_one_person,
    keys_of,
    scores_by_turn,
    turn_number,
    unbalanced,
)

#: What a trial is known by.
TRIAL = (*FACTORS, "control", "word_list", "scoring", "iteration", "order", "version")

#: What its draw fixes.
DRAW_COLUMNS = ("marginalized", "default", "tied", "counter", "attribute_order")

#: A spread below this share of the scores' size is due to rounding.
_ROUNDING = 1e-12


def contrast(
    scores: pl.DataFrame,
    measure: Measure,
    *,
    factor: str = "intervention",
    baseline: str = "none",
    confidence: float = 0.95,
    margin: float | None = None,
) -> Contrasted:
    """Estimate the mean difference from the baseline at every level.

    Parameters
    ----------
    scores
        Columns of `results.SCORES` with the factor; asked under the baseline and under one or
        more other values of the factor, the candidates.
    measure
        What a score means; its ends bound what missing scores could have been.
    factor
        Column that tells baseline and candidates apart: ``"intervention"``, ``"model"``, ….
    baseline
        Its value to compare with.
    confidence
        Of the intervals, 0…1.
    margin
        Largest difference that does not matter, in the unit of the score; also say how many
        trials would tell. None: no test of equivalence.

    Returns
    -------
    Contrasted
        `estimates`: columns of `results.ESTIMATES`, a row per level, candidate, group and method,
        and one for the change of compliance; level ``overall`` only where there are two models or
        more. `matches`: columns of `results.schemas.MATCHES`.

    Raises
    ------
    InputError
        If a column or the baseline is missing, nothing else was asked, a score lies outside the
        measure's range, a trial occurs twice, matched trials differ in their group words, or a
        parameter means nothing.

    Examples
    --------
    >>> import polars as pl
    >>> from clinometer.results import SCORES
    >>> rows = [
    ...     dict.fromkeys(SCORES) | {"model": "m", "stereotype": "age", "iteration": i,
    ...     "intervention": intervention, "score": score, "marginalized": f"old{i}"}
    ...     for i in range(4) for intervention, score in (("none", 0.4 + i / 10), ("fair", i / 20))
    ... ]
    >>> measure = Measure("word_association", "", -1, 1, 0, "", "")
    >>> estimates = contrast(pl.DataFrame(rows, schema=SCORES), measure).estimates
    >>> model = estimates.filter(level="model", method="clustered").row(0, named=True)
    >>> model["n_scored"], round(model["estimate"], 3), model["candidate"]
    (4, -0.475, 'fair')
    """
    settings = Compared(factor, baseline, "trial", confidence, margin)
    frame = check(scores, {**SCORES, factor: pl.String()}, "scores")
    check_range(frame, measure, "score")
    pairs = _match(frame, factor, baseline)
    ends = (measure.low, measure.high)
    has_candidate = pl.col("t").is_not_null().cast(pl.Float64)
    has_baseline = pl.col("b").is_not_null().cast(pl.Float64)
    changes = Changes(
        {level: _describe_groups(pairs, level) for level in LEVELS},
        _ranges_by_candidate(pairs, pl.col("b"), pl.col("t"), ends),
        _ranges_by_candidate(pairs, has_baseline, has_candidate, (0.0, 1.0), widest="prompts"),
        _worst_cases(pairs, measure),
    )
    return contrasted(changes, measure, settings)


def _match(scores: pl.DataFrame, factor: str, baseline: str) -> pl.DataFrame:
    """Match every trial with itself under the candidates, a row per trial and `candidate`.

    Scores are `b` under the baseline and `t` under the candidate, null where there is none;
    `asked_b`, `asked_t` and `both` say whether it was asked. The factor itself is null.
    """
    candidates(scores, factor, baseline)
    keys = [c for c in TRIAL if c != factor]
    _check_unique(scores, factor, keys)
    columns = [*keys, *DRAW_COLUMNS, "score", "pair_id"]
    baseline_rows = scores.filter(pl.col(factor) == baseline).select(*columns, asked_b=True)
    candidate_rows = scores.filter(pl.col(factor) != baseline)
    candidate_rows = candidate_rows.select(*columns, candidate=pl.col(factor), asked_t=True)
    # A row of the baseline for each candidate, so that one asked under it alone is counted too.
    baseline_rows = baseline_rows.join(candidate_rows.select("candidate").unique(), how="cross")
    pairs = baseline_rows.join(
        candidate_rows,
        on=[*keys, "candidate"],
        how="full",
        coalesce=True,
        nulls_equal=True,
        suffix="_t",
    )
    pairs = pairs.rename({"score": "b", "score_t": "t"}).with_columns(
        pl.col("asked_b", "asked_t").fill_null(False)
    )
    pairs = pairs.with_columns(both=pl.col("asked_b") & pl.col("asked_t"))
    _check_draws(pairs, factor, baseline)
    return pairs.with_columns(
        *(pl.coalesce(c, f"{c}_t").alias(c) for c in (*DRAW_COLUMNS, "pair_id")),
        **({factor: pl.lit(None, pl.String)} if factor in TRIAL else {}),
    )


def _check_unique(scores: pl.DataFrame, factor: str, keys: Sequence[str]) -> None:
    repeated = scores.filter(pl.struct(factor, *keys).is_duplicated())
    if not repeated.is_empty():
        raise InputError(
            f"scores: {len(repeated)} rows of {factor} {repeated[factor][0]!r} share their trial "
            f"(first: {repeated['stereotype'][0]}, {repeated['variation'][0]}, iteration "
            f"{repeated['iteration'][0]}); a draw is asked once under each {factor}"
        )


def _check_draws(pairs: pl.DataFrame, factor: str, baseline: str) -> None:
    """Refuse trials that carry the same number but are not the same draw."""
    differ = pl.any_horizontal(pl.col(c).ne_missing(pl.col(f"{c}_t")) for c in DRAW_COLUMNS)
    mismatched = pairs.filter(pl.col("both") & differ)
    if not mismatched.is_empty():
        row = mismatched.row(0, named=True)
        raise InputError(
            f"scores: iteration {row['iteration']} of {row['stereotype']} drew "
            f"{row['marginalized']}, {row['default']} under {factor} {baseline!r} and "
            f"{row['marginalized_t']}, {row['default_t']} under {row['candidate']!r}; "
            "only runs of one plan, with one seed, can be matched"
        )


def _ranges_by_candidate(
    pairs: pl.DataFrame,
    before: pl.Expr,
    after: pl.Expr,
    ends: tuple[float, float],
    *,
    widest: str = "stereotypes",
) -> RangesByKey:
    """Give the mean differences of two values of the trials asked under both, by mirrored pair."""
    units = _units(pairs, after - before, before)
    by_key: dict[tuple[Any, ...], Ranges] = {}
    for (candidate,), candidate_units in units.group_by("candidate", maintain_order=True):
        # Turns are balanced within the groups that a mean is over: cells, or whole stereotypes.
        for unit_level, levels in (("cell", LEVELS[:1]), ("stereotype", LEVELS[1:])):
            balanced = balance_turns(candidate_units, unit_level)
            # What balancing takes out of a difference comes from both runs alike.
            removed = (pl.col("mean") - pl.col("value")) / 2.0
            balanced = balanced.with_columns(pl.col("baseline") + removed)
            columns = {**BALANCED, "baseline": "baseline"}
            estimates = means(balanced, ends, columns, levels, widest=widest)
            for (level, *key), ranges in estimates.items():
                by_key[level, candidate, *key] = ranges
    return by_key


def _units(pairs: pl.DataFrame, value: pl.Expr, baseline: pl.Expr | None = None) -> pl.DataFrame:
    """Reduce a value of the trials asked under both to its sums, a row per mirrored pair.

    With the mean of the baseline over the trials that have the value, if one is given.
    """
    before = pl.lit(0.0) if baseline is None else baseline
    matched = pairs.filter("both").with_columns(score=value, before=before.cast(pl.Float64))
    scored = matched.drop_nulls("score").with_row_index("row")
    scored = scored.with_columns(turn_number(), one_person=is_of_one_person())
    keys = ["candidate", *FACTORS, "control", "word_list", "scoring", "one_person"]
    keys += ["marginalized", "default"]
    return scored.group_by(
        *keys, unit=pl.coalesce("pair_id", pl.format("row {}", "row")), maintain_order=True
    ).agg(
        pl.col("iteration").min().alias("draw"),
        pl.col("score").mean().alias("mean"),
        pl.col("before").mean().alias("baseline"),
        pl.len().alias("n_scored"),
        *scores_by_turn(),
    )


def _worst_cases(pairs: pl.DataFrame, measure: Measure) -> tuple[RangesByKey, RangesByKey]:
    """Give the means if each missing score is what makes the difference least, and greatest."""
    trials = pairs.filter("both")
    low, high = ends = (measure.low, measure.high)
    if not trials["b"].null_count() + trials["t"].null_count():
        return {}, {}
    before, after = pl.col("b"), pl.col("t")
    least, greatest = (
        _ranges_by_candidate(
            trials, before.fill_null(worst), after.fill_null(best), ends, widest="prompts"
        )
        for worst, best in ((high, low), (low, high))
    )
    return least, greatest


def _describe_groups(pairs: pl.DataFrame, level: str) -> pl.DataFrame:
    """Describe the groups of one level, a row each, by what needs no model.

    In means each stereotype counts once; in those ``_of_answers`` each answer does.
    """
    keys = ["candidate", *keys_of(level)]
    if level == "overall":
        pairs = pairs.filter(pl.col("model").n_unique().over("candidate", *NEVER_POOLED) > 1)
    b, t, is_paired = pl.col("b"), pl.col("t"), pl.col("both")
    has_b = is_paired & b.is_not_null()
    has_t = is_paired & t.is_not_null()
    matched = has_b & has_t
    sd = (t - b).filter(matched).std()
    # 1e-300 keeps the bound a number, above 0, where all scores are 0 or null.
    rounding = _ROUNDING * pl.max_horizontal(pl.col("b", "t").abs().max(), pl.lit(1e-300))
    n = is_paired.sum()
    values = {"baseline_estimate": b, "candidate_estimate": t, "estimate": t - b}
    counts = pairs.group_by(keys).agg(
        n=n,
        n_unasked_baseline=(pl.col("asked_t") & ~is_paired).sum(),
        n_unasked_candidate=(pl.col("asked_b") & ~is_paired).sum(),
        n_scored=matched.sum(),
        n_lost_baseline=(has_t & ~has_b).sum(),
        n_lost_candidate=(has_b & ~has_t).sum(),
        n_lost_both=(is_paired & ~has_b & ~has_t).sum(),
        sd=pl.when(sd > rounding).then(sd).otherwise(sd * 0.0),  # times 0: null stays null
        **{f"{name}_of_answers": value.filter(matched).mean() for name, value in values.items()},
    )
    compliance = _compliance_means(pairs, keys, has_b.sum() / n, has_t.sum() / n)
    baseline_where_matched = pl.when(t.is_not_null()).then(b)
    means = _baseline_means(_units(pairs, baseline_where_matched), keys, level)
    described = counts.join(compliance, on=keys, nulls_equal=True)
    described = described.join(means, on=keys, how="left", nulls_equal=True)
    # Null in groups without a matched score, which `means` lacks.
    return described.with_columns(
        pl.col(*UNBALANCED).fill_null(value=False), pl.col("n_stereotypes").fill_null(0)
    ).sort(keys)


def _compliance_means(
    pairs: pl.DataFrame, keys: list[str], baseline_share: pl.Expr, candidate_share: pl.Expr
) -> pl.DataFrame:
    """Return the shares of scored answers, each stereotype once."""
    n = pl.col("both").sum()
    stereotypes = [*dict.fromkeys((*keys, "category", "stereotype"))]
    by_stereotype = pairs.group_by(stereotypes, maintain_order=True).agg(
        compliance_baseline_estimate=pl.when(n > 0).then(baseline_share),
        compliance_candidate_estimate=pl.when(n > 0).then(candidate_share),
    )
    return by_stereotype.group_by(keys).agg(pl.selectors.starts_with("compliance").mean())


def _baseline_means(units: pl.DataFrame, keys: list[str], level: str) -> pl.DataFrame:
    """Return the mean of the baseline where the candidate has a score too, each stereotype once."""
    balanced = balance_turns(units, "cell" if level == "cell" else "stereotype")
    stereotypes = [*dict.fromkeys((*keys, "category", "stereotype"))]
    # In their order: sums of numbers that are not exact depend on it.
    by_stereotype = balanced.group_by(stereotypes, maintain_order=True).agg(
        *unbalanced(),
        baseline_estimate=(pl.col("weight") * pl.col("value")).sum() / pl.col("weight").sum(),
    )
    return by_stereotype.group_by(keys).agg(
        pl.col("baseline_estimate").mean(),
        pl.col(*UNBALANCED).any(),
        n_stereotypes=pl.len().cast(pl.Int64),
    )
