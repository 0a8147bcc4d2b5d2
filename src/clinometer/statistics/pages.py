"""What is told on a page: a share of errors among all that a reader sees at once.

Reference
    Benjamini & Hochberg (1995), JRSS B 57(1), 289–300; with weights: Benjamini & Hochberg (1997),
    Scandinavian J. Statistics 24(3), 407–418. Intervals of what is told: Benjamini & Yekutieli
    (2005), JASA 100(469), 71–81 (false coverage rate).

Rule
    One family for each model and range: stereotypes, categories and means of all studies,
    instruments, modes and dimensions, without controls. Stereotypes have half of the weight,
    categories and means a quarter each, as far as they are there; the weights sum to the number of
    rows. With p_i the test of a row and w_i its weight, the rows are told whose p_i / w_i is at
    most α R / m, with R the largest number of rows for which that holds. The interval of each row
    is at the level that decides, α w_i R / m (R at least 1): it excludes neutral where the row is
    told, and nowhere else. A mean that repeats that of a lower level (a category of one stereotype)
    is decided with the lower one. Explicit measures, controls, cells and means of all models are
    families of their own.

    What is told for other prompts is told for these, which are some of them: towards neutral, no
    interval in these prompts ends beyond the one for other prompts. With few answers it would, as
    it takes nothing from what other stereotypes tell of answers.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray

from clinometer.results import CONDITIONS, Schema, columns
from clinometer.results.estimates import KEYS
from clinometer.statistics.clustered import Array, Row
from clinometer.statistics.intervals import critical_value
from clinometer.statistics.looks import Looks
from clinometer.statistics.rows import mean_of_row
from clinometer.statistics.summaries import LEVELS_OF_A_PAGE

#: The weights of the levels of a page.
LEVEL_WEIGHTS = {"stereotype": 0.5, "category": 0.25, "model": 0.25}

#: What tells families apart; explicit measures are a page of their own.
_FAMILY = ("subject", "range", "control", "explicit")

#: What tells the blocks of a page apart, within which levels can show the same.
_BLOCK = ("study", "instrument", "mode", *CONDITIONS, "dimension", "word_list", "scoring")

_SCHEMA: Schema = columns(
    *("p_bh", "n_tests", "ci_low", "ci_high", "bound_ci_low", "bound_ci_high", "adjusted_over")
)


def adjust_means(
    estimates: pl.DataFrame, confidence: float = 0.95, looks: Looks | None = None
) -> pl.DataFrame:
    """Give each mean of scores the test and the interval that it has among all that is seen.

    Parameters
    ----------
    estimates
        Columns of `results.ESTIMATES`; rows that are no mean of scores with a range stay.
    confidence
        One less the share of errors.
    looks
        When results are looked at, if asking may end at any of them.
    """
    numbered = estimates.with_row_index("row")
    is_mean = pl.col("factor").is_null() & pl.col("tost_margin").is_not_null()
    tested = numbered.filter(is_mean, pl.col("range").is_not_null(), pl.col("p").is_not_null())
    on_page = pl.col("level").is_in(LEVELS_OF_A_PAGE) & pl.col("control").is_null()
    tested = tested.with_columns(
        # Levels that are no part of a page, and controls, are families of their own.
        family_level=pl.when(on_page).then(pl.lit("page")).otherwise("level"),
        repeats=on_page & _repeats_a_level(),
    )
    rows: list[Row] = []
    for _, family in tested.group_by([*_FAMILY, "family_level"], maintain_order=True):
        rows += _decide_family(family, 1.0 - confidence, looks or Looks())
    decided = pl.DataFrame(rows, schema={"row": pl.UInt32(), **_SCHEMA})
    return _within_other_prompts(numbered.update(decided, on="row")).drop("row")


def _within_other_prompts(decided: pl.DataFrame) -> pl.DataFrame:
    """Let means in these prompts end, towards neutral, where those for other prompts do at most."""
    names = ("p_bh", "ci_low", "ci_high", "bound_ci_low", "bound_ci_high")
    keys = [name for name in KEYS if name in decided.columns]
    has_test = pl.col("p_bh").is_not_null()
    prompts = decided.filter(has_test, range="prompts").select(
        "row", *keys, "estimate", "neutral", *names
    )
    wide = decided.filter(has_test, range="other_prompts").select(*keys, *names)
    range_pairs = prompts.join(wide, on=keys, nulls_equal=True, suffix="_of_others")
    above = pl.col("estimate") > pl.col("neutral")
    below = pl.col("estimate") < pl.col("neutral")
    ends = [
        *((name, above, pl.max_horizontal) for name in ("ci_low", "bound_ci_low")),
        *((name, below, pl.min_horizontal) for name in ("ci_high", "bound_ci_high")),
    ]
    moved = range_pairs.select(
        "row",
        pl.min_horizontal("p_bh", "p_bh_of_others"),
        *(
            pl.when(towards).then(nearest(name, f"{name}_of_others")).otherwise(name).alias(name)
            for name, towards, nearest in ends
        ),
    )
    return decided.update(moved, on="row")


def _repeats_a_level() -> pl.Expr:
    """Whether a mean is that of a lower level: of one stereotype, or of the only category."""
    category_sizes = pl.col("n_stereotypes").filter(level="category")
    only_category = category_sizes.max().over([*_FAMILY, *_BLOCK]) == pl.col("n_stereotypes")
    several = pl.col("n_stereotypes") > 1
    return (
        pl.when(level="category")
        .then(~several)
        .when(level="model")
        .then(~several | only_category.fill_null(value=False))
        .otherwise(pl.lit(value=False))
    )


def _decide_family(family: pl.DataFrame, level: float, looks: Looks) -> list[Row]:
    """Return the adjusted test and the interval of each row of a family."""
    counted = ~family["repeats"].to_numpy()
    runs = list(family.select("study", "instrument", "mode").iter_rows())
    p = np.array([looks.p(p, run) for p, run in zip(family["p"], runs, strict=True)])
    weights = _weights(family["level"].to_list(), counted)
    scaled = np.minimum(p / weights, 1.0)
    number = int(counted.sum())
    rejected = _count_rejected(scaled[counted], level)
    adjusted = _adjusted(scaled, scaled[counted])
    rows: list[Row] = []
    for place, row in enumerate(family.iter_rows(named=True)):
        divisor = number / (max(rejected, 1) * weights[place])
        tail = level / looks.tests(max(divisor, 1.0), level, runs[place])
        text = f"{number} means of {row['subject']} in this range; stereotypes have half the weight"
        decided: Row = {"row": row["row"], "p_bh": float(adjusted[place])}
        decided["n_tests"] = level / tail
        rows.append({**decided, "adjusted_over": text, **_intervals(row, 1.0 - tail)})
    return rows


def _weights(levels: Sequence[str], counted: NDArray[np.bool_]) -> Array:
    """Return the weight of each row, of mean 1 over those that are counted; (rows,)."""
    number = Counter(name for name, counts in zip(levels, counted, strict=True) if counts)
    shares = {name: LEVEL_WEIGHTS.get(name, 1.0) for name in number}
    total = sum(shares.values())
    by_level = {name: counted.sum() * shares[name] / total / number[name] for name in number}
    # A row that repeats a lower level has the weight of that level, which is there.
    fallback = [by_level.get("category"), by_level.get("stereotype")]
    repeat_weight = next((weight for weight in fallback if weight is not None), 1.0)
    return np.array([by_level.get(name, repeat_weight) for name in levels])


def _count_rejected(scaled: Array, level: float) -> int:
    """Return how many of a family are told at a share of errors of `level`."""
    number = len(scaled)
    passed = np.sort(scaled) <= level * np.arange(1, number + 1) / number
    return int(np.flatnonzero(passed).max(initial=-1)) + 1


def _adjusted(scaled: Array, family: Array) -> Array:
    """Return weighed p adjusted over a family, that of the smallest step that tells them."""
    steps = np.sort(family)
    number = len(steps)
    # What passes at a step takes all smaller p with it.
    passing = np.minimum.accumulate((steps * number / np.arange(1, number + 1))[::-1])[::-1]
    place = np.searchsorted(steps, scaled).clip(0, number - 1)
    return np.asarray(np.minimum(np.maximum(passing[place], 0.0), 1.0))


def _intervals(row: Mapping[str, Any], confidence: float) -> Row:
    """Return the interval of a row, and that of what missing answers could make of it."""
    mean = mean_of_row(row)
    assert mean is not None  # it has a test
    low, high = mean.interval(confidence)
    bounds = worst_ends(row, low, high, confidence)
    return {"ci_low": low, "ci_high": high, "bound_ci_low": bounds[0], "bound_ci_high": bounds[1]}


def worst_ends(
    row: Mapping[str, Any], low: float | None, high: float | None, confidence: float
) -> tuple[float | None, float | None]:
    """Return the ends of the interval if missing scores are all lowest, or all highest.

    Of n answers with a share c of scores, the bound is c times the mean and 1 − c times the end;
    its error is c times that of the mean, and that of the share, c(1 − c)/n, times their distance.
    """
    mean, lowest, highest = row["estimate"], row["bound_low"], row["bound_high"]
    if low is None or high is None or lowest is None or highest is None:
        return low, high
    if not row["n"] or row["n_scored"] == row["n"]:
        return low, high
    share = row["n_scored"] / row["n"]
    errors = critical_value(confidence) * (share * (1.0 - share) / row["n"]) ** 0.5
    down = np.hypot(share * (mean - low), errors * (mean - row["range_low"]))
    up = np.hypot(share * (high - mean), errors * (row["range_high"] - mean))
    ends = max(lowest - down, row["range_low"]), min(highest + up, row["range_high"])
    return min(float(ends[0]), low), max(float(ends[1]), high)
