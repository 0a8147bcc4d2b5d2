"""Tables about decisions: shares of yes, answers scored on both parts, regressions, contrasts.

Each is a function of the scores alone, and is made only where there are such scores.
"""

from __future__ import annotations

import polars as pl

from tiltmeter.instruments.absolute_decision import CONSISTENT
from tiltmeter.instruments.catalogue import MEASURES, with_table
from tiltmeter.results import ESTIMATES, VERSIONS, check
from tiltmeter.results.answers import FITS, MATCHES, YES_SHARES
from tiltmeter.statistics.contrasts import Contrasted, contrast
from tiltmeter.statistics.logistic import Regression, regress

__all__ = ["chained", "contrasts", "regressions", "yes_shares"]

#: What the released analysis adds to the counts of yes and of no.
EPSILON = 0.0001

#: What tells runs of an instrument apart.
RUN = ("model", "study", "mode", "intervention")
_CELL = (*RUN, "category", "stereotype")


def yes_shares(scores: pl.LazyFrame) -> pl.DataFrame:
    """Count yes and no in each version of the absolute decisions.

    Bai et al. (2025), SI section L and Supplementary Figure 4. In `forced` mode `n_yes` and `n_no`
    are expected numbers; `published_share` is smoothed as in the authors' notebook,
    (yes + ε) / (yes + no + 2ε).
    """
    consistent = pl.col("version").is_in(CONSISTENT)
    yes = pl.when(consistent).then("score").otherwise(1 - pl.col("score"))
    counted = (
        scores.filter(pl.col("instrument").is_in([one.name for one in with_table("yes_shares")]))
        .with_columns(yes=yes)
        .group_by(*_CELL, "instrument", "version")
        .agg(
            n=pl.len().cast(pl.Int64),
            n_yes=pl.col("yes").sum(),
            n_no=(1 - pl.col("yes")).sum(),
        )
        .with_columns(total=pl.col("n_yes") + pl.col("n_no"))
    )
    share = pl.when(pl.col("total") > 0).then(pl.col("n_yes") / pl.col("total"))
    smooth = (pl.col("n_yes") + EPSILON) / (pl.col("total") + 2 * EPSILON)
    shown = counted.with_columns(yes_share=share, published_share=smooth).collect()
    shown = check(shown, YES_SHARES, "yes_shares")
    return shown.sort(*_CELL, pl.col("version").cast(pl.Enum(list(VERSIONS)), strict=False))


def chained(scores: pl.LazyFrame) -> pl.DataFrame:
    """Set the two scores of each chained answer side by side."""
    named = [*_CELL, "variation", "trial_id"]
    keys = [*named, "again"]  # recorded answers may share a name: they stand in one order
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
    """Regress decisions on associations (`chained`), over all and in each category.

    Bai et al. (2025), SI section K, and figure 4.
    """
    estimates, fits = [pl.DataFrame(schema=ESTIMATES)], [pl.DataFrame(schema=FITS)]
    for run, part in answers.group_by(RUN, maintain_order=True):
        found = regress(part, "association", clusters="stereotype", by="category")
        of_run = [pl.lit(value, pl.String).alias(c) for c, value in zip(RUN, run, strict=True)]
        of_run_too = [*of_run, pl.lit(run[0], pl.String).alias("subject")]
        instrument = pl.lit("chained_decision").alias("instrument")
        estimates.append(found.estimates.with_columns(*of_run_too, instrument))
        fits.append(found.fits.with_columns(*of_run, instrument))
    return Regression(pl.concat(estimates), pl.concat(fits))


def contrasts(scores: pl.LazyFrame, confidence: float = 0.95) -> Contrasted:
    """Compare every intervention with none, in matched trials, one model in memory at a time."""
    estimates, matches = [pl.DataFrame(schema=ESTIMATES)], [pl.DataFrame(schema=MATCHES)]
    cells = scores.select("model", "instrument").unique().sort("model", "instrument").collect()
    for model, name in cells.iter_rows():
        part = scores.filter(model=model, instrument=name).collect()
        if part["intervention"].n_unique() > 1:
            found = contrast(part, MEASURES[name], confidence=confidence)
            estimates.append(found.estimates)
            matches.append(found.matches)
    return Contrasted(pl.concat(estimates), pl.concat(matches))
