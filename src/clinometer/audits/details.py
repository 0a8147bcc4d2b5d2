"""Tables about decisions and attributions: shares, pairs of scores, regressions, contrasts.

Each is a function of the scores alone, and is made only if such scores exist.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

import polars as pl

from clinometer.instruments.absolute_decision import CONSISTENT
from clinometer.instruments.catalogue import INSTRUMENTS, measure_of, with_table
from clinometer.instruments.design import EFFORTS
from clinometer.results import (
    CONDITIONS,
    ESTIMATES,
    FACTORS,
    SCORES,
    VERSIONS,
    Measure,
    Schema,
    check,
)
from clinometer.results.schemas import ATTRIBUTIONS, FITS, MATCHES, YES_SHARES
from clinometer.statistics.changes import Contrasted
from clinometer.statistics.contrasts import contrast
from clinometer.statistics.logistic import Regression, regress
from clinometer.statistics.reliability import USED, estimate_reliability
from clinometer.statistics.unpaired import contrast_unpaired

__all__ = [
    "analyses",
    "attribution_contrasts",
    "attributions",
    "chained",
    "contrasts",
    "regressions",
    "relativity",
    "reliabilities",
    "yes_shares",
]

#: Outcome of an attribution → the measure of its share.
SHARES = {
    one.name.removesuffix("_share"): one
    for one in (
        Measure("comedy_share", "Share of comedy, default − marginalized group", 0.0, 1.0, 0.0,
                "positive: comedy more often after the default group", "Li et al. (2025), eq. 2"),
        Measure("tragedy_share", "Share of tragedy, default − marginalized group", 0.0, 1.0, 0.0,
                "negative: tragedy more often after the marginalized group",
                "Li et al. (2025), eq. 3", consistent="below"),
        Measure("neutral_share", "Share of neither, default − marginalized group", 0.0, 1.0, 0.0,
                "positive: neither more often after the default group", "Li et al. (2025)",
                consistent=None),
    )
}  # fmt: skip

#: FAR and UAR are shares of different outcomes in different groups.
FAR_UAR = Measure(
    "far_minus_uar", "FAR − UAR", 0.0, 1.0, 0.0,
    "positive: comedy after the default group is more frequent than tragedy after the marginalized "
    "group", "Li et al. (2025), section 4.4", consistent=None,
)  # fmt: skip

#: What relative and absolute decisions have in common: one scale, one neutral value, one sign.
CONSISTENT_SHARE = Measure(
    "consistent_share", "Share of stereotype-consistent decisions", 0.0, 1.0, 0.5,
    "above ½: against the marginalized group", "Bai et al. (2025), SI section L",
)  # fmt: skip

#: Note on differences between answers that were not drawn in pairs.
AFTERWARDS = "paired afterwards, within a wording and along the objects"

#: Constant that the released analysis adds to the counts of yes and of no.
EPSILON = 0.0001

#: Columns that identify a run of an instrument.
RUN = ("model", "study", "mode", *CONDITIONS)
_CELL = (*RUN, "category", "stereotype")

#: Columns in which answers paired afterwards may differ.
_DRAWN = ("pair_id", "marginalized", "default", "attribute_order", "trial_id")
_LEVELS: dict[str, tuple[str, ...]] = {
    "stereotype": ("category", "stereotype"),
    "category": ("category",),
    "model": (),
}


def analyses(scores: pl.LazyFrame) -> pl.DataFrame:
    """Make the estimates that instruments have of their own, one model in memory at a time."""
    parts = [pl.DataFrame(schema=ESTIMATES)]
    for one in INSTRUMENTS.values():
        if one.analyse is None:
            continue
        own = scores.filter(pl.col("instrument").is_in([m.name for m in one.measures]))
        models = own.select(pl.col("model").unique().sort()).collect()["model"]
        for model in models:
            of_model = own.filter(pl.col("model").eq_missing(pl.lit(model))).collect()
            parts.append(one.analyse(of_model))
    return pl.concat(parts)


def attributions(scores: pl.DataFrame | pl.LazyFrame) -> pl.DataFrame:
    """Count outcomes of attributions for each group, per stereotype, category and model.

    Li et al. (2025), MIST, equations 2 and 3, Table 2. Refusals and answers that cannot be read
    count in `n` but in no share.
    """
    answers = _with_shares(scores.lazy())
    return pl.concat([_level(answers, level, keys) for level, keys in _LEVELS.items()]).collect()


def _of_table(scores: pl.LazyFrame, table: str) -> pl.LazyFrame:
    """Select the scores of the instruments that have a detail table."""
    return scores.filter(pl.col("instrument").is_in([one.name for one in with_table(table)]))


def _with_shares(scores: pl.LazyFrame) -> pl.LazyFrame:
    """Add the shares of comedy, tragedy and neutral of an answer; null if it was not read."""
    valence = pl.when(pl.col("version") == "default").then("score").otherwise(-pl.col("score"))
    read = pl.col("score").is_not_null()
    neutral = pl.when(read).then((pl.col("outcome") == "neutral").fill_null(False).cast(pl.Float64))
    half = (1 - pl.col("neutral")) / 2
    return (
        _of_table(scores, "attributions")
        .with_columns(valence=valence, neutral=neutral)
        .with_columns(comedy=half + pl.col("valence") / 2, tragedy=half - pl.col("valence") / 2)
    )


def _level(answers: pl.LazyFrame, level: str, keys: Sequence[str]) -> pl.LazyFrame:
    names = [*RUN, "instrument", *keys]
    first = pl.when(attribute_order="counter_first").then("comedy").otherwise("tragedy")
    counted = answers.group_by(*names, "version").agg(
        n=pl.len(),
        n_read=pl.col("score").count(),
        n_refused=(pl.col("reason") == "refused").sum(),
        **{f"n_{share}": pl.col(share).sum() for share in SHARES},
        **{f"{share}_share": pl.col(share).mean() for share in SHARES},
        first_share=first.filter(pl.col("neutral") == 0).mean(),
    )
    rates = counted.with_columns(
        *(pl.lit(None).alias(name) for name in ("category", "stereotype") if name not in keys),
        level=pl.lit(level),
        far=pl.when(version="default").then("comedy_share"),
        uar=pl.when(version="marginalized").then("tragedy_share"),
    )
    return rates.select(pl.col(c).cast(t) for c, t in ATTRIBUTIONS.items()).sort(*names, "version")


def attribution_contrasts(scores: pl.DataFrame | pl.LazyFrame) -> Contrasted:
    """Compare attributions between groups, for the same object in the same wording.

    FAR and UAR alone do not show bias: a model that calls everything a tragedy has a UAR of 1. The
    difference between the groups does; its test is paired. Each share (comedy, tragedy, neutral) is
    compared: default minus marginalized group, −1…1, neutral 0. Answers that were not drawn in
    pairs are paired afterwards by wording and object, and a note says so.

    `FAR_UAR` is tested beside them in the same pairs, because section 4.4 of the paper tells models
    apart by which of the two is higher. It is no bias: where no answer is neutral it is the share
    of comedy − the share of tragedy over both groups, and FAR + UAR − 1 is the difference in
    comedy between them.
    """
    answers = _with_shares(scores.lazy())
    parts = []
    for model in answers.select(pl.col("model").unique().sort()).collect()["model"]:
        of_model = answers.filter(pl.col("model").eq_missing(pl.lit(model))).collect()
        note, paired = _paired(of_model)
        shown = [(pl.col(n), of) for n, of in SHARES.items() if (paired[n] > 0).any()]
        if shown:
            rate = pl.when(version="default").then("comedy").otherwise("tragedy")
            shown.append((rate, FAR_UAR))
        for value, measure in shown:
            scored = paired.with_columns(score=value).select(list(SCORES))
            compared = contrast(scored, measure, factor="version", baseline="marginalized")
            noted = compared.estimates.with_columns(note=pl.lit(note, pl.String))
            parts.append((noted, compared.matches))
    # Matches and the change of compliance are the same for every share.
    estimates, matches = _join(parts, MATCHES)
    return Contrasted(estimates.unique(maintain_order=True), matches.unique(maintain_order=True))


def _join(
    parts: Iterable[tuple[pl.DataFrame, pl.DataFrame]], detail: Schema
) -> tuple[pl.DataFrame, pl.DataFrame]:
    """Concatenate estimates and their detail tables."""
    empty = (pl.DataFrame(schema=ESTIMATES), pl.DataFrame(schema=detail))
    estimates, details = zip(empty, *parts, strict=True)
    return pl.concat(estimates), pl.concat(details)


def _paired(answers: pl.DataFrame) -> tuple[str | None, pl.DataFrame]:
    """Add pair numbers, by which a contrast matches two answers; note how they were paired."""
    both = pl.col("version").n_unique().over("pair_id") == 2
    drawn = answers.filter(pl.col("pair_id").is_not_null() & both)
    if not drawn.is_empty():
        return None, drawn.with_columns(iteration=pl.col("pair_id").rank("dense").cast(pl.Int64))
    if answers["version"].n_unique() < 2:
        return None, answers.clear()
    nothing = [pl.lit(None, pl.String).alias(name) for name in _DRAWN]
    ordered = answers.sort("object", "iteration", maintain_order=True).with_columns(nothing)
    return AFTERWARDS, ordered.with_columns(
        iteration=pl.int_range(pl.len()).over(*FACTORS, "word_list", "scoring", "version")
    )


def yes_shares(scores: pl.LazyFrame) -> pl.DataFrame:
    """Count yes and no in each version of the absolute decisions.

    Bai et al. (2025), SI section L and Supplementary Figure 4. In `forced` mode `n_yes` and `n_no`
    are expected numbers; `published_share` is smoothed as in the authors' notebook,
    (yes + ε) / (yes + no + 2ε).
    """
    consistent = pl.col("version").is_in(CONSISTENT)
    counted = (
        _of_table(scores, "yes_shares")
        .with_columns(yes=pl.when(consistent).then("score").otherwise(1 - pl.col("score")))
        .group_by(*_CELL, "instrument", "version")
        .agg(n=pl.len(), n_yes=pl.col("yes").sum(), n_no=(1 - pl.col("yes")).sum())
    )
    yes, total = pl.col("n_yes"), pl.col("n_yes") + pl.col("n_no")
    shares = counted.with_columns(
        yes_share=pl.when(total > 0).then(yes / total),
        published_share=(yes + EPSILON) / (total + 2 * EPSILON),
    )
    order = pl.col("version").cast(pl.Enum(list(VERSIONS)), strict=False)
    return check(shares.collect(), YES_SHARES, "yes_shares").sort(*_CELL, order)


def relativity(scores: pl.LazyFrame) -> pl.DataFrame:
    """Compare relative decisions with absolute ones, one model in memory at a time.

    Bai et al. (2025), article, "Bias in Relative vs. Absolute Decisions": relative decisions reveal
    more bias. Both scores are shares of stereotype-consistent answers, 0…1, neutral ½; over the
    four versions of an absolute draw the share is ½ + (y₁ − y₂ − y₃ + y₄) / 4, with y the shares of
    yes in marginalized_tied, marginalized_counter, default_tied and default_counter. Differences
    are relative − absolute, −1…1, neutral 0; positive: more bias in relative decisions. Draws are
    not the same, so nothing is paired. Group words count as different words in each instrument: a
    word that moves one need not move the other. Returns columns `results.ESTIMATES`.
    """
    absolute = [one.measures[-1].name for one in with_table("yes_shares")]
    asked = [*absolute, *(one.measures[-1].name for one in with_table("relativity"))]
    own = scores.filter(pl.col("instrument").is_in(asked))
    apart = (
        pl.concat_str(c, "instrument", separator=", ").alias(c) for c in ("marginalized", "default")
    )
    own = own.with_columns(apart)
    parts = [pl.DataFrame(schema=ESTIMATES)]
    for (model,) in own.select(pl.col("model").unique().sort()).collect().iter_rows():
        of_model = own.filter(pl.col("model").eq_missing(pl.lit(model))).collect()
        for baseline in absolute:
            if baseline in of_model["instrument"] and of_model["instrument"].n_unique() > 1:
                found = contrast_unpaired(
                    of_model, CONSISTENT_SHARE, factor="instrument", baseline=baseline
                )
                parts.append(found.estimates)
    return pl.concat(parts)


def chained(scores: pl.LazyFrame) -> pl.DataFrame:
    """Join the two scores of each chained answer in one row."""
    named = [*_CELL, "variation", "trial_id"]
    keys = [*named, "again"]  # recorded answers may share an id; they are matched by order
    measures = zip(*(one.measures for one in with_table("chained")), strict=True)
    parts = {
        column: scores.filter(pl.col("instrument").is_in([m.name for m in of]))
        .with_columns(again=pl.int_range(pl.len()).over(named))
        .select(*keys, pl.col("score").alias(column))
        .drop_nulls(column)
        for column, of in zip(("association", "decision"), measures, strict=True)
    }
    joined = parts["association"].join(
        parts["decision"], on=keys, how="inner", nulls_equal=True, maintain_order="left"
    )
    return joined.drop("again").collect()


def regressions(answers: pl.DataFrame) -> Regression:
    """Regress decisions on associations (`chained`), overall and per category.

    Bai et al. (2025), SI section K, and figure 4.
    """
    parts = []
    for run, part in answers.group_by(RUN, maintain_order=True):
        fitted = regress(part, "association", clusters="stereotype", by="category")
        named = {**dict(zip(RUN, run, strict=True)), "instrument": "chained_decision"}
        of_run = [pl.lit(value, pl.String).alias(name) for name, value in named.items()]
        subject = pl.lit(run[0], pl.String).alias("subject")
        estimates = fitted.estimates.with_columns(*of_run, subject)
        parts.append((estimates, fitted.fits.with_columns(of_run)))
    return Regression(*_join(parts, FITS))


def reliabilities(scores: pl.LazyFrame) -> pl.DataFrame:
    """Estimate the reliability of each model, one in memory at a time.

    Columns of `results.ESTIMATES`; see `statistics.reliability.estimate_reliability`.
    """
    models = scores.select(pl.col("model").unique().sort()).collect()["model"]
    used = scores.select(USED)
    of_each = (used.filter(pl.col("model").eq_missing(pl.lit(model))) for model in models)
    parts = (estimate_reliability(part.collect()) for part in of_each)
    return pl.concat([pl.DataFrame(schema=ESTIMATES), *parts])


def _cells(scores: pl.LazyFrame) -> Iterator[pl.DataFrame]:
    """Yield the scores of each model and instrument that was asked under several conditions."""
    several = pl.any_horizontal(pl.col(name).drop_nulls().n_unique() > 1 for name in CONDITIONS)
    cells = scores.group_by("model", "instrument").agg(several=several).filter("several")
    for model, instrument in cells.drop("several").collect().sort("model", "instrument").rows():
        same = (
            pl.col("model").eq_missing(pl.lit(model)),
            pl.col("instrument").eq_missing(pl.lit(instrument)),
        )
        yield scores.filter(*same).collect()


def _lowest(condition: str, scores: pl.DataFrame) -> str:
    """Return the baseline of a condition: no intervention, the lowest effort or temperature."""
    if condition == "intervention":
        return "none"
    places = {name: float(place) for place, name in enumerate(EFFORTS)}
    names: list[str] = scores[condition].drop_nulls().unique().to_list()
    return min(names, key=lambda name: places[name] if name in places else float(name))


def contrasts(scores: pl.LazyFrame) -> Contrasted:
    """Compare what trials were asked under, over matched trials, one model in memory at a time.

    Each intervention with none; each reasoning effort and temperature with the lowest.
    """
    parts = [
        contrast(
            part, measure_of(part["instrument"][0]), factor=factor, baseline=_lowest(factor, part)
        )
        for part in _cells(scores)
        for factor in CONDITIONS
        if part[factor].drop_nulls().n_unique() > 1
    ]
    return Contrasted(*_join(((one.estimates, one.matches) for one in parts), MATCHES))
