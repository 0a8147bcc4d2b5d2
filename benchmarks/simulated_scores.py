"""Scores of known truth on the trials of an audit, for benchmarks of inference.

Truth
    Target ``these``: the expected score over new wordings, group words, draws and noise, for these
    stereotypes and these lists of attribute words. Target ``like these``: also over attribute words
    and, above the level of the stereotype, over stereotypes. Of a stereotype with one group word on
    a side both are for this word.
How
    score = truth + d with d the sum of crossed effects, cut symmetrically about the truth where it
    leaves the scale. All effects are symmetric, so the expected score is the truth, exactly;
    where attribute words are held fixed and decisions are cut, to within .005.
    Decisions are drawn as 0 or 1, attributions as −1, 0 or 1, with the sum as their expectation.
    Bounded: score = f(x + d), f a logistic curve between the ends of the scale with slope 1 at
    neutral; its expectation over normal d by Gauss-Hermite quadrature.
    Whole words: associations have the values that answers about whole words can have, with the
    sum as their expectation.
    Answers: a stereotype has the mean of one of GPT-4o's; each of its wordings mixes the scores of
    that stereotype's two released wordings in a uniform random proportion, so that the truth is
    the mean of the two.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cache, cached_property
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray
from scipy.sparse import csr_array
from scipy.special import expit, ndtri

from benchmarks.crossed import CONTRAST, as_scores, attributes, codes, factors, lists, turn
from clinometer.instruments.catalogue import INSTRUMENTS
from clinometer.results import RESPONSES
from clinometer.stimuli import load_study

__all__ = ["ANSWERS", "CONDITIONS", "PAGES", "Condition", "Simulation", "simulate"]

SHARED = Path(__file__).resolve().parents[2] / "shared" / "data" / "bai"
ANSWERS = SHARED / "gpt4o_word_association_responses.csv"

SD = 0.1
MARGIN = 0.1

#: What the truths of a page are: drawn around .1 with sd .1, all neutral, or all at the margin.
PAGES = ("spread", "neutral", "margin")

Array = NDArray[np.float64]


@dataclass(frozen=True)
class Condition:
    """Standard deviations of the effects on a score, in its unit."""

    wording: float = SD  # shared by all stereotypes
    stereotype_wording: float = SD
    marginalized: float = SD
    default: float = SD
    draw: float = SD
    attribute: float = SD  # of a word; a score sees the mean over the words shown
    habit: float = SD  # of order or version; cancels within a mirrored pair
    noise: float = SD
    unequal: float = 0.0  # sd of the logarithm of a stereotype's factor of its effects
    odd: float = 1.0  # factor of the effects of one stereotype among the others
    tails: float | None = None  # degrees of freedom of t, scaled to the sd; None: normal
    skewed: bool = False  # effects are of a gamma distribution with skewness 2
    shared: bool = False  # all stereotypes have the same group words
    one_wording: bool = False  # the others are not asked
    order: float = 0.0  # of the order of the groups, in all stereotypes
    second: float = 1.0  # share of the answers in the second order that there are
    bounded: bool = False
    whole_words: bool = False  # scores a number of whole words can have
    answers: bool = False
    page: str = "spread"
    centre: float = MARGIN  # mean of the population of stereotypes, from neutral
    spread: float = SD  # of the population of stereotypes

    @property
    def variance(self) -> float:
        """Variance of all effects on a score, of attribute words apart."""
        names = ("wording", "stereotype_wording", "marginalized", "default", "draw", "habit")
        return float(sum(getattr(self, name) ** 2 for name in (*names, "noise")))


#: The first seven fields are the effects, the first five of them those of `Simulation.factors`.
_NO_EFFECTS = Condition(*(0.0,) * 7)

CONDITIONS = {
    "all effects": Condition(),
    "wordings": replace(_NO_EFFECTS, wording=SD, stereotype_wording=SD),
    "group words": replace(_NO_EFFECTS, marginalized=SD, default=SD),
    "draws": replace(_NO_EFFECTS, draw=SD),
    "unequal": Condition(unequal=0.5),
    "somewhat unequal": Condition(unequal=0.4),
    "very unequal": Condition(*(0.06,) * 5, habit=0.06, noise=0.06, unequal=1.0),
    "odd company": Condition(odd=5.0),
    "shared words": Condition(marginalized=0.15, default=0.15, shared=True),
    "one wording": Condition(wording=0.07, stereotype_wording=0.07, one_wording=True),
    "uneven orders": Condition(order=0.3, second=0.25),
    "skewed": Condition(skewed=True),
    "heavy tails": Condition(tails=4.0),
    "bounded": Condition(*(2 * SD,) * 5, attribute=0.0, bounded=True, centre=0.6, spread=0.45),
    "whole words": Condition(whole_words=True),
    "whole words near the ends": Condition(whole_words=True, noise=0.0, centre=0.7),
    "no effects": _NO_EFFECTS,
    "answers": Condition(answers=True),
}


def simulate(
    trials: pl.DataFrame, condition: str | Condition, rng: np.random.Generator
) -> tuple[pl.DataFrame, pl.DataFrame]:
    """Draw the scores of one run on `trials` of one study, instrument and mode.

    Returns columns of `results.SCORES`, and the truths: `level`, `category`, `stereotype`,
    `dimension`, `target`, `truth`. `Simulation` does the same for many runs.
    """
    of = CONDITIONS[condition] if isinstance(condition, str) else condition
    return Simulation(trials).draw(of, rng)


class Simulation:
    """Trials of one study, instrument and mode, with what they share."""

    def __init__(self, trials: pl.DataFrame) -> None:
        first = trials.row(0, named=True)
        self.trials = trials
        self.measure = INSTRUMENTS[first["instrument"]].measures[0]
        self.discrete = first["mode"] == "free" and first["instrument"] != "word_association"
        self.frame = as_scores(trials)
        self.contrasts = trials.select(*CONTRAST, "category").unique(maintain_order=True)
        self.of = codes(trials, *CONTRAST)
        self.counts = np.bincount(self.of)
        self.factors = factors(trials)
        self.turn = turn(trials)

    @cached_property
    def shared(self) -> dict[str, NDArray[np.int64]]:
        """The factors, where the group words of a side are the same in all stereotypes."""
        sides = ("marginalized", "default")
        named = self.trials.with_columns(_numbered(side) for side in sides)
        return {**self.factors, **{side: codes(named, side) for side in sides}}

    @cached_property
    def attributes(self) -> tuple[csr_array, csr_array]:
        """Weights of attribute words, shape (trials, words): of those shown, of the whole lists."""
        return attributes(self.trials)

    def draw(
        self, condition: Condition, rng: np.random.Generator
    ) -> tuple[pl.DataFrame, pl.DataFrame]:
        """Draw the scores of one run and their truths; see `simulate`."""
        if condition.answers:
            scores, these = self._answers(rng)
            nothing = np.zeros(len(these))
            truths = self._truths(these, nothing, these, float(_released()[1].mean()))
        else:
            start, effects, truths = self._effects(condition, rng)
            scores = self._scores(condition, start, effects, rng)
        frame = self.frame.with_columns(score=pl.Series(scores))
        if condition.shared:
            frame = frame.with_columns(_numbered(side) for side in ("marginalized", "default"))
        if condition.one_wording:
            first = pl.col("variation") == pl.col("variation").min()
            frame = frame.filter(first.over("stereotype"))
        if condition.second < 1.0:
            kept = pl.Series(rng.random(len(frame)) < condition.second)
            frame = frame.filter(kept | (pl.col("order") != "default_first"))
        return frame, truths

    def treated(self, condition: Condition, rng: np.random.Generator) -> pl.DataFrame:
        """Draw scores without and with a treatment that shifts each wording by 0 ± SD.

        The factor is `intervention`, ``none`` or ``treatment``; the true difference is 0.
        """
        start, effects, _ = self._effects(condition, rng)
        wordings = self.factors["stereotype_wording"]
        shift = rng.normal(0, SD, wordings.max() + 1)[wordings]
        both = []
        for name, added in (("none", 0.0), ("treatment", shift)):
            scores = pl.Series(self._scores(condition, start, effects + added, rng))
            ids = (pl.format("{}.{}", c, pl.lit(name)).alias(c) for c in ("trial_id", "pair_id"))
            both.append(
                self.frame.with_columns(*ids, score=scores, intervention=pl.lit(name)),
            )
        return pl.concat(both)

    def write(
        self, scores: pl.DataFrame, rng: np.random.Generator
    ) -> tuple[pl.DataFrame, pl.DataFrame]:
        """Write word associations in lines ``word - group`` whose expected scores are `scores`.

        Tied and counter words go in pairs, a word to each group, so that the score of an answer is
        2 × (share of pairs as the stereotype has them) − 1. Returns columns of
        `results.RESPONSES`, and `scores` with those of the answers.
        """
        texts, exact = [], []
        for trial, expected in zip(self.trials.iter_rows(named=True), scores["score"], strict=True):
            text, value = _written(trial, expected, rng)
            texts.append(text)
            exact.append(value)
        known = {"model": scores["model"], "response": pl.Series(texts, dtype=pl.String)}
        filled = self.trials.with_columns(**known, stop_reason=pl.lit("stop"))
        empty = [name for name in RESPONSES if name not in filled.columns]
        filled = filled.with_columns(pl.lit(None).alias(name) for name in empty)
        responses = filled.select(pl.col(c).cast(dtype) for c, dtype in RESPONSES.items())
        return responses, scores.with_columns(score=pl.Series(exact, dtype=pl.Float64))

    def _effects(
        self, condition: Condition, rng: np.random.Generator
    ) -> tuple[Array, Array, pl.DataFrame]:
        """Draw each trial's start and effects, without noise, and the truths."""
        n, tails = len(self.counts), "skewed" if condition.skewed else condition.tails
        scale, of_words = _scales(n, condition)[self.of], np.zeros(n)
        effects = scale * self.turn * _drawn(rng, condition.habit, n, tails)[self.of]
        effects += self.turn * condition.order / 2
        for name, of in (self.shared if condition.shared else self.factors).items():
            drawn = _drawn(rng, getattr(condition, name), of.max() + 1, tails)[of]
            drawn = drawn if name == "wording" else scale * drawn
            effects += drawn
            if name in ("marginalized", "default"):
                of_words += self._of_single(of, drawn)
        means, of_lists = self._means(condition, rng), np.zeros(n)
        if condition.attribute:
            shown, listed = self.attributes
            words = _drawn(rng, condition.attribute, shown.shape[1], tails)
            of_lists = np.bincount(self.of, listed @ words) / self.counts
            effects += shown @ words - of_lists[self.of]
        if condition.page != "spread":  # the lists on the page average to no effect
            of_lists = np.zeros(n)
        effects -= of_words[self.of]
        start = means + of_lists
        if not condition.bounded:
            room = np.minimum(start - self.measure.low, self.measure.high - start).clip(0)
            of_words = of_words.clip(-room, room)
        truths = self._truths(*self._expected(condition, means, of_lists, of_words))
        return (start + of_words)[self.of], effects, truths

    def _centre(self, condition: Condition) -> float:
        """Return the mean of the population of stereotypes, on the scale of the effects."""
        page = {"spread": condition.centre, "neutral": 0.0, "margin": MARGIN}[condition.page]
        if condition.bounded and condition.page == "margin":
            grid = self.measure.neutral + np.linspace(0, 1, 201)
            truths = self._curve(grid, condition.variance)
            return float(np.interp(self.measure.neutral + MARGIN, truths, grid))
        return self.measure.neutral + page

    def _means(self, condition: Condition, rng: np.random.Generator) -> Array:
        spread = condition.spread if condition.page == "spread" else 0.0
        return self._centre(condition) + spread * rng.normal(0, 1, len(self.counts)).clip(-3, 3)

    def _of_single(self, of: NDArray[np.int64], effects: Array) -> Array:
        """Return the effect of the only word that stereotypes have on a side, else 0."""
        first = np.zeros(len(self.counts), of.dtype)
        first[self.of] = of
        several = np.bincount(self.of, of != first[self.of]) > 0
        mean = np.bincount(self.of, effects) / self.counts
        return np.where(several, 0.0, mean)

    def _expected(
        self, condition: Condition, means: Array, of_lists: Array, of_words: Array
    ) -> tuple[Array, Array, Array, float]:
        """Return the truths of stereotypes in means, and for other lists; of all.

        The second is what the only word of a stereotype adds to both of its own.
        """
        centre = self._centre(condition)
        if not condition.bounded:
            return means + of_lists, of_words, means, centre
        these = self._curve(means, condition.variance)
        alone = self._curve(
            means + of_words, condition.variance - _held(condition) * (of_words != 0)
        )
        spread = condition.spread**2 if condition.page == "spread" else 0.0
        overall = self._curve(np.array([centre]), condition.variance + spread)
        return these, alone - these, these, float(overall[0])

    def _curve(self, x: Array, variance: float | Array = 0.0) -> Array:
        """Return the expected bounded score at `x` plus normal effects of a variance."""
        low, span = self.measure.low, self.measure.high - self.measure.low
        nodes, weights = np.polynomial.hermite_e.hermegauss(41)
        spread = np.broadcast_to(np.sqrt(variance), x.shape)[:, None]
        points = x[:, None] + spread * nodes - self.measure.neutral
        expected: Array = expit(4 / span * points) @ weights / weights.sum()
        return low + span * expected

    def _scores(
        self, condition: Condition, start: Array, effects: Array, rng: np.random.Generator
    ) -> Array:
        """Draw the score of each trial."""
        low, high = self.measure.low, self.measure.high
        scale = _scales(len(self.counts), condition)[self.of]
        tails = "skewed" if condition.skewed else condition.tails
        noise = scale * _drawn(rng, condition.noise, len(start), tails)
        if condition.bounded:
            expected = self._curve(start + effects + noise)
        else:
            room = np.minimum(start - low, high - start).clip(0)
            expected = (start + (effects + noise).clip(-room, room)).clip(low, high)
        if condition.whole_words:
            pairs = self.trials["attributes"].list.len().to_numpy() // 2
            return np.asarray(2 * rng.binomial(pairs, (1 + expected) / 2) / pairs - 1)
        return self._discrete(expected, rng) if self.discrete else expected

    def _discrete(self, expected: Array, rng: np.random.Generator) -> Array:
        """Draw 0 or 1; of attributions −1, 0 or 1, a tenth of them 0 if that leaves enough."""
        low, high = self.measure.low, self.measure.high
        upper = rng.random(len(expected)) < (expected - low) / (high - low)
        if low == 0:
            return upper.astype(float)
        lean = np.abs(expected).clip(0.9)
        zero = rng.random(len(expected)) > lean
        upper = rng.random(len(expected)) < (1 + expected / lean) / 2
        return np.where(zero, 0.0, np.where(upper, 1.0, -1.0))

    def _answers(self, rng: np.random.Generator) -> tuple[Array, Array]:
        """Draw scores of GPT-4o for stereotypes of GPT-4o, drawn with replacement."""
        cells, means = _released()
        drawn = rng.integers(0, len(cells), len(self.counts))
        wordings = self.factors["stereotype_wording"]
        share = rng.random(wordings.max() + 1)[wordings]
        second = rng.random(len(wordings)) < share
        scores = np.empty(len(wordings))
        for k, contrast in enumerate(drawn):
            for of_second in (False, True):
                rows = np.flatnonzero((self.of == k) & (second == of_second))
                scores[rows] = rng.choice(cells[contrast][int(of_second)], len(rows))
        return scores, means[drawn]

    def _truths(self, these: Array, of_words: Array, others: Array, overall: float) -> pl.DataFrame:
        """Set out the truths of stereotypes, categories and the model, by target."""
        columns = {"of words": of_words, "these": these, "like these": others, "n": self.counts}
        wide = self.contrasts.with_columns(pl.Series(k, v) for k, v in columns.items())
        rows = []
        for level, keys in _KEYS.items():
            weighted = (pl.col("these") * pl.col("n")).sum() / pl.col("n").sum()
            like = pl.col("like these").first() if level == "stereotype" else pl.lit(overall)
            added = pl.col("of words").first() if level == "stereotype" else pl.lit(0.0)
            means = wide.group_by(keys, maintain_order=True).agg(
                (weighted + added).alias("these"), (like + added).alias("like these")
            )
            rows.append(means.with_columns(level=pl.lit(level)))
        index = ("level", "category", "stereotype", "dimension")
        return pl.concat(rows, how="diagonal").unpivot(
            ["these", "like these"], index=index, variable_name="target", value_name="truth"
        )


_KEYS = {
    "stereotype": ["category", "stereotype", "dimension"],
    "category": ["category", "dimension"],
    "model": ["dimension"],
}


def _written(
    trial: Mapping[str, Any], expected: float, rng: np.random.Generator
) -> tuple[str, float]:
    """Write one answer; return it and its score."""
    tied, counter = ([w for w in one if w in trial["attributes"]] for one in lists(trial))
    consistent = rng.random(len(tied)) < (1 + expected) / 2
    group = {}
    for one, other, as_stereotyped in zip(
        tied, rng.permutation(counter).tolist(), consistent, strict=True
    ):
        turn = 1 if as_stereotyped else -1
        group[one], group[other] = (trial["marginalized"], trial["default"])[::turn]
    lines = [f"{word} - {group[word]}" for word in trial["attributes"] if word in group]
    return "\n".join(lines), float(2 * consistent.mean() - 1)


def _numbered(side: str) -> pl.Expr:
    """Name the group words of a side by their number within the stereotype."""
    place = pl.col(side).rank("dense").over("stereotype")
    return pl.format("{} {}", pl.lit(side), place).alias(side)


def _drawn(rng: np.random.Generator, sd: float, n: int, tails: float | str | None) -> Array:
    """Draw `n` effects with mean 0 and standard deviation `sd`; `tails` is "skewed" or the df."""
    if tails == "skewed":
        return np.asarray(sd * (rng.exponential(1.0, n) - 1.0))
    tails = None if tails is None else float(tails)
    if tails is None:
        return rng.normal(0, sd, n)
    return np.asarray(sd * np.sqrt((tails - 2) / tails) * rng.standard_t(tails, n))


def _held(condition: Condition) -> float:
    """Return the variance of the words of both groups, of which a stereotype has one."""
    return float(condition.marginalized**2 + condition.default**2)


def _scales(n: int, condition: Condition) -> Array:
    """Return a factor per stereotype: quantiles of a log-normal, the same in every run."""
    quantiles = np.random.default_rng(0).permutation((np.arange(n) + 0.5) / n)
    scales = np.asarray(np.exp(condition.unequal * ndtri(quantiles)))
    scales[0] *= condition.odd
    return scales


@cache
def _released() -> tuple[list[list[Array]], Array]:
    """Return the scores of GPT-4o by stereotype and wording, and the means of stereotypes."""
    from clinometer import score

    answers = pl.read_csv(ANSWERS).rename({"llm": "model"})
    scores = score(answers, load_study("bai2025")).scores.drop_nulls("score")
    cells = [
        [cell["score"].to_numpy() for _, cell in of_one.group_by("variation", maintain_order=True)]
        for _, of_one in scores.group_by("stereotype", maintain_order=True)
    ]
    return cells, np.array([np.mean([cell.mean() for cell in of_one]) for of_one in cells])
