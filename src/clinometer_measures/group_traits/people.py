"""What a model says of groups beside what people say: tables and estimates.

The statistics, their reference and their errors are those of `agreement`. The model's lean toward a
trait is the mean of v about the group less that about people in general, of each wording; see the
instrument. In a pair of traits, the high one is that which the norms call so.
"""

from __future__ import annotations

import math
import warnings
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl
from numpy.typing import NDArray

from clinometer.authoring import (
    CONDITIONS,
    Meaning,
    Measure,
    Schema,
    Study,
    Table,
    Tables,
    as_estimates,
    columns,
    typed_columns,
)
from clinometer.statistics.intervals import mean_interval, percentile_interval
from clinometer_measures.group_traits.part import NAME, GroupTraitsPart, part_of

if TYPE_CHECKING:
    from clinometer_measures.group_traits.agreement import RatedLeans

__all__ = ["DETAILS", "MEASURES", "compare_with_people"]

Array = NDArray[np.float64]

_SOURCE = "Cao et al. (2022)"

#: Statistic → its measure.
MEASURES = {
    "correlation": Measure(
        "people_correlation", "Correlation with people's ratings", -1.0, 1.0, 0.0,
        "positive: the model tells groups apart as people do", _SOURCE, consistent=None,
    ),
    "ceiling": Measure(
        "people_ceiling", "Ceiling of the correlation with people", 0.0, 1.0, math.nan,
        "higher: the ratings are more reliable", "Shavelson & Webb (1991)", consistent=None,
    ),
    "corrected": Measure(
        "people_corrected", "Correlation with people, corrected for the error of their ratings",
        -math.inf, math.inf, 0.0, "positive: the model tells groups apart as people do",
        "Spearman (1904)", consistent=None,
    ),
    "slope": Measure(
        "people_slope", "Slope on people's choices", -math.inf, math.inf, math.nan,
        "above 1: the model exaggerates how groups differ; below 1: it understates it",
        "Fuller (1987)", consistent=None,
    ),
    "shift": Measure(
        "people_shift", "Shift from people's choices", -4.0, 4.0, 0.0,
        "positive: the model gives groups the high traits more often than people do", _SOURCE,
        consistent=None,
    ),
    "wordings": Measure(
        "people_wordings", "Correlation of two wordings over groups", -1.0, 1.0, 0.0,
        "positive: wordings tell groups apart alike", "", consistent=None,
    ),
}  # fmt: skip

_COLUMNS = {
    **typed_columns(
        pl.String(),
        trait_low="the low trait of a pair; null: the mean over the pairs of the dimension",
        trait_high="the high trait of a pair, toward which a lean is positive",
    ),
    **typed_columns(
        pl.Float64(),
        people_mean=Meaning(
            "mean rating of the group by people, 0 (the low trait) to 100 (the high one)",
            "People, 0 to 100",
            digits=0,
        ),
        people_lean="share of people on the side of the high trait − share on that of the low one, "
        "less the mean of this over the groups: −2 to 2",
        people_low="low end of the 95% interval of `people_lean`, over raters; null: all alike",
        people_high="high end of the 95% interval of `people_lean`, over raters",
        model_lean="the model's lean toward the high trait, less its mean over the groups: −4 to 4",
        model_low="low end of the 95% interval of `model_lean`, over wordings; null: fewer "
        "than 3, or all the same",
        model_high="high end of the 95% interval of `model_lean`, over wordings",
    ),
    **typed_columns(
        pl.Int64(),
        n_raters=Meaning("people who rated the group", "Raters"),
        n_wordings=Meaning("wordings in which the model was asked", "Wordings"),
    ),
}

_RUN = ("model", "study", "instrument", "mode", *CONDITIONS)
_KEYS = (*_RUN, "word_list", "scoring")

_LEANS: Schema = columns(
    *(*_RUN, "category", "stereotype", "dimension", "trait_low", "trait_high", "people_mean"),
    *("people_lean", "people_low", "people_high", "model_lean", "model_low", "model_high"),
    *("n_raters", "n_wordings"),
    own=_COLUMNS,
)

DETAILS = {
    "people_leans": Table(
        "answers",
        _LEANS,
        "a row per group and pair of traits, and per group and dimension: the model's lean beside "
        "people's",
        _COLUMNS,
    )
}

#: Shuffles of the placebo, and their seed.
SHUFFLES, SEED = 2000, 0

CONFIDENCE = 0.95

#: Middle of the scale of ratings.
MIDDLE = 50.0

#: Values that differ by less are the same, but for rounding.
_ALIKE = 1e-9


def compare_with_people(scores: pl.LazyFrame, study: Study) -> Tables:
    """Compare the scores of one model with the norms of their study; nothing without norms.

    `scores`: columns of `results.SCORES`. Table: `people_leans`.
    """
    part = part_of(study)
    empty = {"people_leans": pl.DataFrame(schema=_LEANS)}
    if part is None or not part.pairs:
        return Tables(as_estimates([], {}), empty)
    measured = scores.filter(pl.col("instrument") == NAME).collect()
    rows: list[dict[str, Any]] = []
    tables = [empty["people_leans"]]
    for keys, run in measured.group_by(_KEYS, maintain_order=True):
        run_keys = dict(zip(_KEYS, keys, strict=True))
        leans = _leans(run, part)
        if leans.is_empty():
            continue
        layout = _Layout(study, part, leans)
        rows += _estimates(layout, run_keys)
        tables.append(layout.table(run_keys))
    measures = {measure.name: measure for measure in MEASURES.values()}
    return Tables(as_estimates(rows, measures), {"people_leans": pl.concat(tables)})


def _leans(run: pl.DataFrame, part: GroupTraitsPart) -> pl.DataFrame:
    """Return the mean lean toward the high trait: a row per group, pair and wording."""
    rows = []
    for dimension, pairs in part.pairs.items():
        rows += [(dimension, low, high) for low, high in pairs]
    names = ["dimension", "trait_low", "trait_high"]
    traits = pl.DataFrame(rows, schema=dict.fromkeys(names, pl.String()), orient="row")
    tied_high = traits.with_columns(tied="trait_high", sign=pl.lit(1.0))
    tied_low = traits.with_columns(tied="trait_low", sign=pl.lit(-1.0))
    values = (
        run.drop_nulls("score")
        .select("stereotype", "variation", "tied", "version", "score")
        .join(pl.concat([tied_high, tied_low]), on="tied")
        .with_columns(value=pl.col("score") * pl.col("sign"))
    )
    question_columns = ["variation", "trait_low", "trait_high"]
    is_default = pl.col("version") == "default"
    # What is asked of people is the same question for all groups: their answers are put together.
    people = (
        values.filter(is_default).group_by(question_columns).agg(people=-pl.col("value").mean())
    )
    group_values = values.filter(~is_default.fill_null(False)).group_by(
        "stereotype", "dimension", *question_columns
    )
    return (
        group_values.agg(pl.col("value").mean())
        .join(people, on=question_columns, how="left")
        # In `likelihood` mode there is no version: the score is the difference already.
        .with_columns(
            lean=pl.when(values["version"].null_count() == values.height)
            .then("value")
            .otherwise(pl.col("value") - pl.col("people"))
        )
        .drop_nulls("lean")
    )


class _Layout:
    """Leans and ratings of the groups and pairs that a run asked about, as arrays."""

    def __init__(self, study: Study, part: GroupTraitsPart, leans: pl.DataFrame) -> None:
        self.study = study
        self.groups = [key for key in study.stereotypes if key in set(leans["stereotype"])]
        self.pairs = _measured_pairs(part.pairs, leans)
        self.wordings = leans["variation"].unique().sort().to_list()
        self.reference = part.reference
        self.leans = self._lean_array(leans)
        self.ratings = self._rated_groups()

    def _lean_array(self, leans: pl.DataFrame) -> Array:
        """Return the leans: (wordings, groups, pairs)."""
        places = (_places(self.wordings), _places(self.groups), _places(self._highs()))
        array = np.full(tuple(map(len, places)), np.nan)
        for row in leans.select("variation", "stereotype", "trait_high", "lean").iter_rows():
            array[tuple(place[name] for place, name in zip(places, row, strict=False))] = row[3]
        return array

    def _highs(self) -> list[str]:
        return [high for _, _, high in self.pairs]

    def _rated_groups(self) -> pl.DataFrame:
        """Return the ratings that count: with places of group, rater and pair, and as a choice."""
        group = pl.col("stereotype").replace_strict(
            _places(self.groups), default=None, return_dtype=pl.Int64
        )
        pair = pl.col("trait_high").replace_strict(
            _places(self._highs()), default=None, return_dtype=pl.Int64
        )
        # Of ratings by nobody that is known, each has a rater of its own.
        rater = pl.coalesce("annotator", pl.format("row {}", pl.int_range(pl.len())))
        ratings = self.study.ratings().with_columns(group=group, pair=pair, rater=rater)
        return ratings.drop_nulls(["group", "pair"]).with_columns(
            rater=pl.col("rater").rank("dense").cast(pl.Int64) - 1,
            choice=(pl.col("rating") - MIDDLE).sign(),
        )

    def rated(self) -> RatedLeans:
        """Return what `agreement` needs."""
        from clinometer_measures.group_traits.agreement import SUMS, RatedLeans

        cells = self.ratings.select("group", "rater").unique().sort("group", "rater")
        numbered = self.ratings.join(cells.with_row_index("cell"), on=["group", "rater"])
        sums = np.zeros((cells.height, SUMS, len(self.pairs)))
        place = (numbered["cell"].to_numpy(), numbered["pair"].to_numpy())
        rating, choice = numbered["rating"].to_numpy(), numbered["choice"].to_numpy()
        values = (np.ones(len(rating)), rating, rating**2, choice, choice**2)
        for number, value in enumerate(values):
            np.add.at(sums[:, number], place, value)
        dimensions = np.array([dimension for dimension, _, _ in self.pairs])
        parts = [np.arange(len(self.pairs))]
        parts += [np.flatnonzero(dimensions == name) for name in self.dimensions()[1:]]
        reference = self.groups.index(self.reference) if self.reference in self.groups else None
        return RatedLeans(
            self.leans, sums, cells["group"].to_numpy(), cells["rater"].to_numpy(), parts, reference
        )

    def dimensions(self) -> list[str | None]:
        """Return the name of each part: None of all pairs, then each dimension."""
        return [None, *dict.fromkeys(dimension for dimension, _, _ in self.pairs)]

    def table(self, run_keys: Mapping[str, Any]) -> pl.DataFrame:
        """Return the rows of `people_leans`."""
        parts: list[tuple[str, list[int], str | None, str | None]] = []
        for number, (dimension, low, high) in enumerate(self.pairs):
            parts.append((dimension, [number], low, high))
        for name in self.dimensions()[1:]:
            numbers = [n for n, pair in enumerate(self.pairs) if pair[0] == name]
            parts.append((str(name), numbers, None, None))
        rows: list[dict[str, Any]] = []
        for part_dimension, numbers, trait_low, trait_high in parts:
            model = self._model_columns(numbers)
            people = self._people_columns(numbers)
            traits = {"trait_low": trait_low, "trait_high": trait_high}
            for place, key in enumerate(self.groups):
                labels: dict[str, Any] = {"dimension": part_dimension, **traits}
                labels |= {"stereotype": key, "category": self.study.stereotypes[key].category}
                rows.append({**run_keys, **labels, **model[place], **people[place]})
        return pl.DataFrame(rows, schema=_LEANS)

    def _model_columns(self, numbers: Sequence[int]) -> list[dict[str, Any]]:
        """Return the lean of each group over some pairs, with its interval over wordings."""
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", RuntimeWarning)  # of means of nothing, which are nan
            leans = self.leans[:, :, numbers]
            by_wording = np.nanmean(leans - np.nanmean(leans, axis=1, keepdims=True), axis=2)
        columns = []
        for values in by_wording.T:
            mean, low, high = _interval(values, 3)
            count = int(np.isfinite(values).sum())
            columns.append(
                {"model_lean": mean, "model_low": low, "model_high": high, "n_wordings": count}
            )
        return columns

    def _people_columns(self, numbers: Sequence[int]) -> list[dict[str, Any]]:
        """Return what people say of each group over some pairs, with its interval over raters."""
        pair_ratings = self.ratings.filter(pl.col("pair").is_in(list(numbers)))
        means = pair_ratings.group_by("group", "pair", maintain_order=True).agg(
            pl.col("choice").mean()
        )
        level = means.group_by("pair").agg(level=pl.col("choice").mean())
        columns = []
        for place in range(len(self.groups)):
            group_ratings = pair_ratings.filter(group=place).join(level, on="pair")
            by_rater = group_ratings.group_by("rater", maintain_order=True).agg(
                choice=(pl.col("choice") - pl.col("level")).mean(), rating=pl.col("rating").mean()
            )
            mean, low, high = _interval(by_rater["choice"].to_numpy(), 2)
            people = {"people_lean": mean, "people_low": low, "people_high": high}
            rating = by_rater["rating"].mean()
            columns.append({**people, "people_mean": rating, "n_raters": by_rater.height})
        return columns


def _measured_pairs(
    pairs: Mapping[str, Sequence[tuple[str, str]]], leans: pl.DataFrame
) -> list[tuple[str, str, str]]:
    """Return dimension and traits of the pairs that were asked, in the order of the study."""
    highs = set(leans["trait_high"])
    measured_pairs: list[tuple[str, str, str]] = []
    for dimension, dimension_pairs in pairs.items():
        measured_pairs += [(dimension, low, high) for low, high in dimension_pairs if high in highs]
    return measured_pairs


def _places(names: Sequence[str]) -> dict[str, int]:
    return {name: place for place, name in enumerate(names)}


def _interval(values: Array, fewest: int) -> tuple[float | None, float | None, float | None]:
    """Return a mean with its t interval; without one of fewer than `fewest` values.

    Nor has one what all say alike: how far others would depart from it, nothing tells.
    """
    finite = values[np.isfinite(values)]
    n = len(finite)
    if n == 0:
        return None, None, None
    mean = float(finite.mean())
    if n < fewest or np.ptp(finite) < _ALIKE:
        return mean, None, None
    return mean, *mean_interval(finite, CONFIDENCE)


def _estimates(layout: _Layout, run_keys: Mapping[str, Any]) -> list[dict[str, Any]]:
    """Return the rows of estimates: every statistic of each dimension, and of all pairs."""
    from clinometer_measures.group_traits.agreement import agree, shuffle

    rated = layout.rated()
    placebos = shuffle(rated, SHUFFLES, SEED)
    conditions = "these traits, one wording" if len(layout.wordings) < 2 else "these traits"
    rows: list[dict[str, Any]] = []
    parts = zip(layout.dimensions(), rated.parts, agree(rated, CONFIDENCE), strict=True)
    for number, (dimension, pairs, statistics) in enumerate(parts):
        common = {
            **run_keys,
            "subject": run_keys["model"],
            "level": "model",
            "dimension": dimension,
            "method": "jackknife",
            "range": "stereotypes",
            "confidence": CONFIDENCE,
            "n": len(layout.groups) * len(pairs),
            "n_clusters": len(layout.groups),
            "clustered_by": "groups, raters, wordings",
            "conditional_on": conditions,
        }
        for name, value in statistics.items():
            if not math.isfinite(value.estimate):
                continue
            row = {**common, "measure": MEASURES[name].name, "estimate": value.estimate}
            row |= {"se": value.se, "df": value.df, "ci_low": value.low, "ci_high": value.high}
            if name == "correlation":
                row |= _placebo(value.estimate, placebos[:, number])
            rows.append(row)
    return rows


def _placebo(estimate: float, placebos: Array) -> dict[str, Any]:
    """Return what shuffled groups give, and how often they give as much: p is two-sided."""
    low, high = percentile_interval(placebos, CONFIDENCE)
    # The order that was found is one of the possible ones.
    as_far = int((np.abs(placebos) >= abs(estimate)).sum())
    return {
        "placebo_mean": float(placebos.mean()),
        "placebo_low": low,
        "placebo_high": high,
        "n_resamples": len(placebos),
        "p": (as_far + 1) / (len(placebos) + 1),
        "test": "permutation of groups",
    }
