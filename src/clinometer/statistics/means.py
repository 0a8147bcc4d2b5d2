"""Means of scores with their ranges: these prompts, other prompts, other stereotypes.

Reference
    Brennan (2001), Generalizability Theory: a facet is fixed or random. Clark (1973), J. Verbal
    Learning & Verbal Behavior 12(4), 335–359, and Judd, Westfall & Kenny (2012), J. Personality &
    Social Psychology 103(1), 54–69: stimuli as a random factor.

Ranges
    =============  ================================================================================
    prompts        these prompts: wordings and words are fixed; answers, draws and orders vary
                   (`prompts`)
    other_prompts  other wordings and group words of the kind, the same stereotypes and attribute
                   words (`variances`). A facet with one level is open: it is held fixed
    stereotypes    means over several: other stereotypes, too, of which these are taken as a sample
                   (`shared`)
    =============  ================================================================================

Measures
    In a mean over stereotypes each counts once, however many of its answers have a score: else what
    a model declines decides what is measured. All stereotypes that were asked alike are inferred
    together, also those of other studies, dimensions and controls.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from types import MappingProxyType
from typing import Any, NamedTuple

import numpy as np
import polars as pl
from numpy.typing import NDArray

from clinometer.results import CONDITIONS, LEVELS
from clinometer.results.controls import ARBITRARY
from clinometer.results.ranges import AS_ARBITRARY
from clinometer.statistics.arbitrary_words import variance_of_words
from clinometer.statistics.clustered import Array, ClusteredMean
from clinometer.statistics.designs import CROSSED, WORDS, CrossedDesign
from clinometer.statistics.prompts import (
    BoundedMean,
    bounded_mean,
    paired_difference,
    unpaired_difference,
)
from clinometer.statistics.rows import Mean, position_product
from clinometer.statistics.shared import (
    Group,
    GroupErrors,
    group_errors,
    shared_factors,
    shared_variances,
    tempering_of,
)
from clinometer.statistics.strata import STRATA_KEYS, Stratum, in_both_runs, strata_of
from clinometer.statistics.summaries import NEVER_POOLED, keys_of
from clinometer.statistics.variances import (
    Prior,
    Squares,
    Variances,
    counted_near_ends,
    prior_of,
    variances,
)

#: The ranges of a mean, the narrowest first, with the method of each.
METHODS = {"prompts": "bounded", "other_prompts": "clustered", "stereotypes": "generalised"}
RANGES = tuple(METHODS)

#: Columns of `summarise`: the mean of each unit, and the number of answers behind it.
VALUES = MappingProxyType({"value": "mean", "weight": "n_scored"})

#: The same, such that all turns count the same (`balance_turns`).
BALANCED = MappingProxyType({"value": "value", "weight": "weight"})

#: What is inferred together: what was asked alike, over studies, dimensions, controls.
_INFERRED_WITHIN = (
    *("model", "instrument", "mode", *CONDITIONS),
    *("word_list", "scoring", "one_person"),
)

#: The facets of other prompts by factor, and what is said where a factor has one level.
_FACETS = {
    "variation": ("wordings", "one wording"),
    "marginalized": ("group words", "one marginalized word"),
    "default": ("group words", "one default word"),
}

#: Fewer scores that are all alike may be so by chance, and others tell how they vary.
FEWEST_ALIKE = 10

_ByKey = dict[tuple[Any, ...], "Ranges"]


@dataclass(frozen=True)
class Ranges:
    """The mean of a group for each range; None where it has none."""

    n: int  # answers
    prompts: BoundedMean | None
    other_prompts: ClusteredMean
    stereotypes: ClusteredMean | None
    single: tuple[str, ...]  # of `_FACETS`, the factors with one level, which are open
    unrecorded: bool = False  # whether words were not recorded
    charged: tuple[str, ...] = ()  # factors with one level that vary as arbitrary words do

    def mean(self, name: str) -> Mean | None:
        """Return the mean for one of `RANGES`."""
        by_range: dict[str, Mean | None] = {
            "prompts": self.prompts,
            "other_prompts": self.other_prompts,
            "stereotypes": self.stereotypes,
        }
        return by_range[name]

    def varies(self, name: str) -> str:
        """Say what varies in one of `RANGES`."""
        names = {f: _FACETS[f][0] for f in _FACETS if f not in self.single}
        facets = list(
            dict.fromkeys((names | dict.fromkeys(self.charged, "arbitrary words")).values())
        )
        beyond = {"prompts": [], "other_prompts": facets, "stereotypes": ["stereotypes", *facets]}
        return ", ".join([*beyond[name], "draws", "answers"])

    def fixed(self, name: str) -> str:
        """Say what one of `RANGES` holds fixed."""
        if name == "prompts":
            return "stereotypes, attribute words, wordings, group words"
        fixed = ["attribute words", *(_FACETS[factor][1] for factor in self.single)]
        fixed += [AS_ARBITRARY] if self.charged else []
        fixed += ["unrecorded group words"] if self.unrecorded else []
        return ", ".join(fixed if name == "stereotypes" else ["stereotypes", *fixed])


def means(
    units: pl.DataFrame,
    bounds: tuple[float, float],
    columns: Mapping[str, str] = VALUES,
    levels: Sequence[str] = LEVELS,
    *,
    widest: str = "stereotypes",
) -> _ByKey:
    """Return the means of all groups of some levels, by level and keys.

    Parameters
    ----------
    units
        Rows of `summarise`.
    bounds
        The ends of the scale of the scores.
    columns
        Columns of `units` by what they are: ``value``; ``weight``, the number of answers behind it;
        ``baseline``, from which the values are differences, if they are any.
    levels
        Of `LEVEL_KEYS`; ``overall`` has only what was asked of two models or more.
    widest
        Of `RANGES`; wider ones are left out.

    Returns
    -------
    dict
        By level and keys, those of `keys_of`.
    """
    ends = _Ends(bounds, are_differences="baseline" in columns)
    model_levels = [level for level in levels if level != "overall"]
    by_key = _means_within(_INFERRED_WITHIN, units, columns, ends, model_levels, widest)
    if "overall" in levels:
        several = units.filter(pl.col("model").n_unique().over(NEVER_POOLED) > 1)
        family = _INFERRED_WITHIN[1:]
        by_key |= _means_within(family, several, columns, ends, ["overall"], widest)
    return by_key


def _means_within(
    family: Sequence[str],
    units: pl.DataFrame,
    columns: Mapping[str, str],
    ends: _Ends,
    levels: Sequence[str],
    widest: str,
) -> _ByKey:
    """Return the means of units, inferred together where they agree in the keys of a family."""
    by_key: _ByKey = {}
    for fixed, strata in strata_of(units, columns, family, STRATA_KEYS):
        prior = None if widest == "prompts" else _prior(fixed)
        run = InferredRun(strata, ends, prior, others=widest == "stereotypes")
        for level, key, ranges in run.means(levels):
            by_name = {**fixed, **key}
            by_key[level, *(by_name[name] for name in keys_of(level))] = ranges
    return by_key


def _prior(fixed: Mapping[str, Any]) -> Prior:
    """Return the prior of the variances of what was asked alike."""
    return prior_of(fixed["mode"], one_person=fixed["one_person"])


def drawn_means(
    units: pl.DataFrame,
    draws: Sequence[Array],
    bounds: tuple[float, float],
    levels: Sequence[str],
    n_prompts: int,
) -> dict[tuple[Any, ...], list[Ranges]]:
    """Return the means of draws of the scores of units, by level and keys, one for each draw.

    As `means` of each draw for these and other prompts, but the designs are set out once, and all
    answers count as scored. After `n_prompts` draws means in these prompts are left out where
    something is told of others.

    `draws`: (units,) each. Other parameters are those of `means`.
    """
    by_key: dict[tuple[Any, ...], list[Ranges]] = {}
    # In the place of a value the row, by which the values of each draw are found.
    numbered = units.with_row_index("row")
    columns = {"value": "row", "weight": "n"}
    for fixed, strata in strata_of(numbered, columns, _INFERRED_WITHIN, STRATA_KEYS):
        rows = [stratum.values.astype(np.intp) for stratum in strata]
        for number, draw in enumerate(draws):
            drawn = [replace(s, values=draw[place]) for s, place in zip(strata, rows, strict=True)]
            prior = _prior(fixed)
            prompts = number < n_prompts
            run = InferredRun(drawn, _Ends(bounds), prior, others=False, prompts=prompts)
            for level, key, ranges in run.means(levels):
                by_name = {**fixed, **key}
                names = (by_name[name] for name in keys_of(level))
                by_key.setdefault((level, *names), []).append(ranges)
    return by_key


def inferred_run(
    strata: Sequence[Stratum], bounds: tuple[float, float], fixed: Mapping[str, Any]
) -> InferredRun | None:
    """Return the stereotypes of a run with their variances; None where no score varies.

    `fixed`: its ``mode``, and whether its trials are of ``one_person``.
    """
    run = InferredRun(strata, _Ends(bounds), _prior(fixed))
    varies = any(np.ptp(stratum.values) > 0 for stratum in strata)
    return run if varies and run.variances is not None else None


def differences(
    baseline: pl.DataFrame,
    candidate: pl.DataFrame,
    bounds: tuple[float, float],
    columns: Mapping[str, str] = VALUES,
    levels: Sequence[str] = LEVELS,
) -> _ByKey:
    """Return the differences of two runs whose trials are not the same, candidate − baseline.

    Parameters are those of `means`; both runs have the same value of `model`. Stereotypes that one
    of them lacks are left out; each other counts once. What the runs share (wordings, group words)
    lowers the error for other prompts.
    """
    runs = [units.with_columns(run=pl.lit(k)) for k, units in enumerate((baseline, candidate))]
    units = pl.concat(runs, how="diagonal_relaxed")
    columns = {**columns, "run": "run"}
    by_key: _ByKey = {}
    for fixed, strata in strata_of(units, columns, _INFERRED_WITHIN, ("run", *STRATA_KEYS)):
        prior = _prior(fixed)
        run = InferredRun(in_both_runs(strata), _Ends(bounds), prior, others=False)
        for level, key, ranges in run.differences(levels):
            by_name = {**fixed, **key}
            by_key[level, *(by_name[name] for name in keys_of(level))] = ranges
    return by_key


class _Ends(NamedTuple):
    """The ends of the scale of scores, and whether values are differences of them."""

    scores: tuple[float, float]
    are_differences: bool = False

    @property
    def values(self) -> tuple[float, float]:
        """The ends of the scale of the values."""
        return self.differences if self.are_differences else self.scores

    @property
    def differences(self) -> tuple[float, float]:
        """The ends of the scale of differences of scores."""
        low, high = self.scores
        return low - high, high - low


_Key = tuple[tuple[str, Any], ...]


class InferredRun:
    """The stereotypes that were asked alike, with what their variances may be."""

    def __init__(
        self,
        strata: Sequence[Stratum],
        ends: _Ends,
        prior: Prior | None,
        *,
        others: bool = True,
        prompts: bool = True,
    ) -> None:
        """Infer the variances; without a prior there are only these prompts.

        `others`: whether means for other stereotypes are wanted, too; `prompts`: whether those in
        these prompts are where others are told of.
        """
        self.strata, self.ends, self.others, self.prompts = strata, ends, others, prompts
        self.sampled = prior is not None and prior.sampled and not ends.are_differences
        self.designs = [stratum.design for stratum in strata]
        self.variances: Variances | None = None
        if prior is None or all(design.size < 2 for design in self.designs):
            return
        products = [
            position_product(stratum.mean, stratum.design.size, ends.values) for stratum in strata
        ]
        self.scales = np.array(products) * (ends.values[1] - ends.values[0]) ** 2
        values = [stratum.values for stratum in strata]
        counted = counted_near_ends(np.array(products))
        self.squares = Squares.from_scores(self.designs, values, self.scales, counted)
        self.factors = shared_factors(self.designs, values, self.scales)
        self.variances = variances(self.squares, prior, tempering_of(self.factors))
        self.shared = shared_variances(self.factors, self.variances, prior.shared)

    def correlation_of_wordings(self) -> float:
        """Return the correlation of wordings over stereotypes, as it is seen; 0 to 1."""
        place = CROSSED.index("variation")
        return next((f.correlation() for f in self.factors if f.place == place), 0.0)

    def means(self, levels: Sequence[str]) -> Iterator[tuple[str, dict[str, Any], Ranges]]:
        """Yield level, keys and mean of each group of stereotypes, or of each of their wordings."""
        grouped = {level: self._group(level) for level in levels if level != "cell"}
        # A mean over a single stereotype is that of the stereotype, at each level.
        single = {m[0] for groups in grouped.values() for m in groups.values() if len(m) == 1}
        stereotypes = self._stereotypes(sorted(single))
        for level in levels:
            if level == "cell":
                yield from self._cells()
                continue
            several: dict[_Key, list[int]] = {}
            for key, members in grouped[level].items():
                if len(members) > 1:
                    several[key] = members
                else:
                    yield level, dict(key), stereotypes[members[0]]
            for key, ranges in self._groups(several):
                yield level, dict(key), ranges

    def differences(self, levels: Sequence[str]) -> Iterator[tuple[str, dict[str, Any], Ranges]]:
        """Yield level, keys and difference of each group of pairs of strata."""
        signs = np.array([1.0 if stratum.key["run"] else -1.0 for stratum in self.strata])
        for level in levels:
            if level == "cell":
                yield from self._cell_differences(signs)
                continue
            grouped = self._group(level)
            # Each of the pairs of strata counts once.
            shares = [2.0 * signs * self._equal_shares(members) for members in grouped.values()]
            errors = self._group_errors(list(map(Group, shares)))
            for place, (key, members) in enumerate(grouped.items()):
                ends = self.ends.differences
                change = self._group_mean(members, shares[place], errors, place, ends)
                runs = [[m for m in members if signs[m] == sign] for sign in (-1.0, 1.0)]
                prompts = unpaired_difference(*(self._prompts(run) for run in runs))
                yield level, dict(key), replace(change, prompts=prompts)

    def _cell_differences(self, signs: Array) -> Iterator[tuple[str, dict[str, Any], Ranges]]:
        """Yield the difference of each wording of a stereotype, in these prompts alone."""
        for members in self._group("stereotype").values():
            before, after = sorted(members, key=lambda place: signs[place])
            names = [dict.fromkeys(self.strata[place].variations) for place in (before, after)]
            for variation in (name for name in names[0] if name in names[1]):
                masks = [self.strata[m].variations == variation for m in (before, after)]
                cells = [
                    self._prompts([m], [mask])
                    for m, mask in zip((before, after), masks, strict=True)
                ]
                change = unpaired_difference(*cells)
                n = int(sum(cell.n_clusters for cell in cells))
                empty = self._without_error(change.mean, n, n, self.ends.differences)
                key = {**self.strata[before].key, "variation": variation}
                yield "cell", key, Ranges(n, change, empty, None, ("variation",))

    def _group(self, level: str) -> dict[_Key, list[int]]:
        """Group the places of strata by the keys of a level."""
        names = {*keys_of(level)}
        grouped: dict[_Key, list[int]] = {}
        for place, stratum in enumerate(self.strata):
            key = tuple(item for item in stratum.key.items() if item[0] in names)
            grouped.setdefault(key, []).append(place)
        return grouped

    def _equal_shares(self, members: Sequence[int]) -> Array:
        """Return the shares of a mean in which each member counts once, (strata,)."""
        shares = np.zeros(len(self.strata))
        shares[list(members)] = 1.0 / len(members)
        return shares

    def _stereotypes(self, places: Sequence[int]) -> dict[int, Ranges]:
        """Return the means of single stereotypes, by place."""
        shares_and_charges = [self._shares_and_charge(place) for place in places]
        shares, charges = zip(*shares_and_charges, strict=True) if shares_and_charges else ((), ())
        errors = self._single_errors(places, np.array(shares), charges)
        by_place = {}
        for place, error in zip(places, errors, strict=True):
            everything = np.ones(len(self.strata[place].values), bool)
            by_place[place] = self._single_mean(place, everything, error)
        return by_place

    def _shares_and_charge(self, place: int) -> tuple[Array, Array]:
        """Return the shares of the variances in a mean, and what arbitrary words add, (2,).

        The words of a placebo vary as arbitrary ones, and not as the names of a group.
        """
        shares, study = self.designs[place].shares, self.strata[place].key["study"]
        if study not in self._arbitrary_words or place not in self._placebos[study]:
            return shares, self._word_charge([place])
        word_share = float(shares[WORDS].sum())
        shares_without_words = shares.copy()
        shares_without_words[WORDS] = 0.0
        return shares_without_words, self._arbitrary_words[study] * (word_share, word_share**2)

    def _groups(self, grouped: Mapping[_Key, Sequence[int]]) -> Iterator[tuple[_Key, Ranges]]:
        """Yield the means over several stereotypes, each of which counts once."""
        shares = [self._equal_shares(members) for members in grouped.values()]
        charges = [self._word_charge(members) for members in grouped.values()]
        errors = self._group_errors([*map(Group, shares, charges)])
        for place, (key, members) in enumerate(grouped.items()):
            charged = self._charged_factors(members)
            group = self._group_mean(
                members, shares[place], errors, place, self.ends.values, charged
            )
            if self.prompts or group.other_prompts.se is None:
                group = replace(group, prompts=self._prompts(members))
            yield key, group

    def _cells(self) -> Iterator[tuple[str, dict[str, Any], Ranges]]:
        """Yield the mean of each wording of a stereotype, which other wordings say nothing of."""
        keys, places, masks = [], [], []
        for place, stratum in enumerate(self.strata):
            for variation in dict.fromkeys(stratum.variations):
                keys.append({**stratum.key, "variation": variation})
                places.append(place)
                masks.append(stratum.variations == variation)
        designs = (self.designs[place] for place in places)
        shares = np.array([d.shares_of(mask) for d, mask in zip(designs, masks, strict=True)])
        shares[:, CROSSED.index("variation")] = 0.0
        errors = self._single_errors(places, shares)
        for row, (key, place, mask) in enumerate(zip(keys, places, masks, strict=True)):
            yield "cell", key, self._single_mean(place, mask, errors[row], is_cell=True)

    def _charged_factors(self, members: Sequence[int]) -> tuple[str, ...]:
        """Return the factors whose words are single, and that arbitrary words stand for."""
        designs = [self.designs[member] for member in members]
        studies = {self.strata[member].key["study"] for member in members}
        if _lack_words(designs) or not studies <= self._arbitrary_words.keys():
            return ()
        return tuple(factor for factor in _single_factors(designs) if factor != "variation")

    def _word_charge(self, members: Sequence[int]) -> Array:
        """Return mean and variance of what a member varies by if its words are arbitrary, (2,).

        As parts of the scale; 0 where it is not charged.
        """
        number = len(self._charged_factors(members))
        if not number:
            return np.zeros(2)
        study_charges = [self._arbitrary_words[self.strata[m].key["study"]] for m in members]
        return np.asarray(np.mean(study_charges, axis=0) * (number, number**2))

    @cached_property
    def _placebos(self) -> dict[str, list[int]]:
        """The placebos of each study that have several words on both sides."""
        by_study: dict[str, list[int]] = {}
        for place, (stratum, crossed) in enumerate(zip(self.strata, self.designs, strict=True)):
            is_placebo = stratum.key["control"] in ARBITRARY and crossed.varies[WORDS].all()
            if is_placebo and not _lack_words([crossed]):
                by_study.setdefault(stratum.key["study"], []).append(place)
        return by_study

    @cached_property
    def _arbitrary_words(self) -> dict[str, Array]:
        """Mean and variance of the variance of an arbitrary word, (2,), by study.

        Of its placebos; as parts of the scale.
        """
        if self.variances is None:
            return {}
        return {
            study: variance_of_words(self.squares, placebos)
            for study, placebos in self._placebos.items()
        }

    def _single_errors(
        self,
        places: Sequence[int],
        shares: Array,
        charges: Sequence[Array] = (),
    ) -> list[tuple[float, float]]:
        """Return se and df of means of single strata, as parts of the roots of their scales.

        `charges`: of each, that of `_word_charge`; by default none.
        """
        if self.variances is None or not places:
            return [(np.nan, np.nan)] * len(places)
        added = np.array(charges).T if np.any(charges) else None
        se, df = self.variances.means(places, shares, added)
        return list(zip(se.tolist(), df.tolist(), strict=True))

    def _single_mean(
        self,
        place: int,
        units: NDArray[np.bool_],
        error: tuple[float, float],
        *,
        is_cell: bool = False,
    ) -> Ranges:
        """Return the mean of some units of a stratum."""
        stratum = self.strata[place]
        weights = stratum.weights * units
        mean = float(weights @ stratum.values / weights.sum())
        charged = () if is_cell else self._charged_factors([place])
        single = tuple(f for f in _single_factors([stratum.design]) if f not in charged)
        if is_cell:  # a wording by its name, of which other wordings say nothing
            single = ("variation", *(factor for factor in single if factor != "variation"))
        empty = self._without_error(mean, int(weights.sum()), int(units.sum()), self.ends.values)
        other_prompts = empty
        if np.isfinite(error[0]) and len(single) < len(_FACETS):
            assert empty.scale is not None
            other_prompts = self._with_error(
                empty, [stratum.values[units]], error[0] * empty.scale**0.5, error[1]
            )
        is_wanted = self.prompts or other_prompts.se is None
        prompts = self._prompts([place], [units]) if is_wanted else None
        unrecorded = _lack_words([stratum.design])
        return Ranges(empty.n, prompts, other_prompts, None, single, unrecorded, charged)

    def _group_errors(self, groups: Sequence[Group]) -> GroupErrors | None:
        if self.variances is None:
            return None
        stratum_means = None
        if self.others:
            stratum_means = np.array([stratum.mean for stratum in self.strata])
        return group_errors(
            self.designs, self.variances, self.shared, self.scales, groups, stratum_means
        )

    def _group_mean(
        self,
        members: Sequence[int],
        shares: Array,
        errors: GroupErrors | None,
        place: int,
        ends: tuple[float, float],
        charged: tuple[str, ...] = (),
    ) -> Ranges:
        """Return the mean of a group, the one at a place of `errors`; `ends` are of its scale.

        `charged`: of `_charged_factors`, in the errors.
        """
        strata = [self.strata[member] for member in members]
        mean = float(sum(shares[m] * s.mean for m, s in zip(members, strata, strict=True)))
        n = int(sum(stratum.weights.sum() for stratum in strata))
        size = sum(stratum.design.size for stratum in strata)
        designs = [stratum.design for stratum in strata]
        single = tuple(f for f in _single_factors(designs) if f not in charged)
        empty = self._without_error(mean, n, size, ends)
        other_prompts, stereotypes = empty, None
        if errors is not None and len(single) < len(_FACETS):
            se, df = float(errors.se[place]), float(errors.df[place])
            values = [stratum.values for stratum in strata]
            other_prompts = self._with_error(empty, values, se, df)
            if self.others and len(members) > 1:
                se, df = float(errors.wider_se[place]), float(errors.wider_df[place])
                stereotypes = self._with_error(empty, values, se, df)
        unrecorded = _lack_words(designs)
        return Ranges(n, None, other_prompts, stereotypes, single, unrecorded, charged)

    def _with_error(
        self, empty: ClusteredMean, values: Sequence[Array], se: float, df: float
    ) -> ClusteredMean:
        """Return a mean with its error; where answers are drawn and all alike, with a bound.

        Scores that are all alike between the ends, as by a habit of order, tell of no variance.
        """
        lowest, highest = (end(map(end, values)) for end in (min, max))
        low, high = self.ends.values
        are_alike = lowest == highest and low < lowest < high
        if self.sampled and are_alike and empty.n_clusters >= FEWEST_ALIKE:
            return replace(empty, se=0.0, df=empty.n_clusters - 1.0, unanimous=True, scale=None)
        return replace(empty, se=se, df=df)

    def _without_error(
        self, mean: float, n: int, size: int, ends: tuple[float, float]
    ) -> ClusteredMean:
        scale = position_product(mean, size, ends) * (ends[1] - ends[0]) ** 2
        return ClusteredMean(n, size, mean, None, None, bounds=ends, scale=scale)

    def _prompts(
        self, members: Sequence[int], masks: Sequence[NDArray[np.bool_]] | None = None
    ) -> BoundedMean:
        """Return the mean of some strata, or of some of their units, for these prompts."""
        strata = [self.strata[member] for member in members]
        if masks is None:
            masks = [np.ones(len(stratum.values), bool) for stratum in strata]
        parts = list(zip(strata, masks, strict=True))
        values = np.concatenate([stratum.values[mask] for stratum, mask in parts])
        weights = np.concatenate([stratum.weights[mask] for stratum, mask in parts])
        wordings = np.concatenate([stratum.wordings[mask] for stratum, mask in parts])
        stereotypes = np.repeat(np.arange(len(parts)), [int(mask.sum()) for mask in masks])
        labels = stereotypes, wordings
        if not self.ends.are_differences:
            return bounded_mean(values, weights, *labels, self.ends.scores)
        before = np.concatenate([stratum.baseline[mask] for stratum, mask in parts])
        return paired_difference(before, before + values, weights, *labels, self.ends.scores)


def _lack_words(designs: Sequence[CrossedDesign]) -> bool:
    """Whether no design has a group word that was recorded; code 0 is none."""
    words = [codes for design in designs for codes in design.levels[1:3]]
    return not any((codes > 0).any() for codes in words)


def _single_factors(designs: Sequence[CrossedDesign]) -> tuple[str, ...]:
    """Return the factors of `_FACETS` that no design has several levels of."""
    varying = {
        factor
        for design in designs
        for factor, varies in zip(CROSSED, design.varies, strict=True)
        if varies
    }
    return tuple(factor for factor in _FACETS if factor not in varying)
