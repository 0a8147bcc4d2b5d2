"""What is made of the scores: framing by framing, by source, in how many framings, what next.

Everything generalises over framings like those of the fraction, for the stereotypes and words that
were asked. Methods: `components`. Tokens are reckoned: four characters each, and of an answer
`ANSWER` or, where the model thinks aloud, `THOUGHT`.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np
import polars as pl

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
from clinometer.statistics.intervals import interval_around
from clinometer_measures.framings.components import (
    CONFIDENCE,
    FramedScores,
    VarianceComponent,
    components,
    contrasts,
    holding,
    level_weights,
)
from clinometer_measures.framings.next_questions import Precision, next_questions
from clinometer_measures.framings.part import NAME, FramingsPart, factors_of, framings_of, part_of

__all__ = ["ALL_MARKS", "DETAILS", "EFFECT", "analyse_framings"]

EFFECT = Measure(
    name="framing_effect",
    title="Effect of a framing",
    low=-2.0,
    high=2.0,
    neutral=0.0,
    direction="positive: the lean is larger under the candidate",
    reference="Wu & Hamada (2009)",
    consistent=None,
)

#: The contrast of all marks of a test at once, as a factor, with what it compares.
ALL_MARKS = ("all_marks", "none", "all")

#: Tokens of an answer, and of one that begins with thoughts.
ANSWER, THOUGHT, CHARACTERS = 10, 120, 4

_COLUMNS = {
    **typed_columns(
        pl.String(),
        framing="the levels of a framing, as factor: level, with commas between",
        variance_source="what scores depend on: stereotype, a factor, framing (combinations of "
        "levels, beyond the factors), stereotype × each of these, words, or noise (of one draw)",
        next_target="what an interval is of: the mean of a stereotype, of all, or an effect",
        next_ask="what narrows its interval by a fifth for the fewest tokens",
    ),
    **typed_columns(
        pl.Float64(),
        framing_mean="mean score in a framing, or over framings; neutral 0. What the words shown "
        "do is taken out, so that it may lie beyond −1 to 1",
        framing_low="low end of its 95% interval: of one framing, over answers; of their mean, "
        "over framings",
        framing_high="high end of this interval",
        source_variance="variance of scores that a source makes, the noise taken off",
        source_low="low end of the 95% interval of `source_variance`",
        source_high="high end of this interval",
        source_share="source_variance / that of all sources but the noise; null: of the noise",
        source_share_low="low end of the 95% interval of `source_share`",
        source_share_high="high end of this interval",
        framing_sd=Meaning(
            "standard deviation of the means of framings, the noise taken off", "Spread"
        ),
        side_share="share of framings of this kind whose mean is on the side of the mean over all, "
        "if they are normally distributed",
        side_share_low="low end of the 95% interval of `side_share`",
        side_share_high="high end of this interval",
        new_low="low end of the 95% prediction interval of the mean in one more framing",
        new_high="high end of this interval",
        half_width_now="half the width of the interval",
        tokens="tokens of a question with its answer, reckoned from the length of its text",
        tokens_more="tokens that narrow the interval by a fifth, asked as `next_ask` says",
        tokens_to_decide="tokens until the interval excludes 0, if the estimate stays; null: it "
        "does, or it takes more than a hundred times what was asked",
    ),
    **typed_columns(
        pl.Int64(),
        n_framings="framings with scores",
        n_positive="framings that are clearly above 0, with at most 5% false among the clear ones",
        n_negative="framings that are clearly below 0",
        n_next="how many of what `next_ask` says",
    ),
}  # fmt: skip

_RUN = ("model", "study", "instrument", "mode", *CONDITIONS, "word_list", "scoring", "control")

_SCORES: Schema = columns(
    *(*_RUN, "category", "stereotype", "variation", "framing", "framing_mean", "framing_low"),
    *("framing_high", "tokens", "n_scored"),
    own=_COLUMNS,
)

_VARIANCE: Schema = columns(
    *(*_RUN, "variance_source", "source_variance", "source_low", "source_high", "source_share"),
    *("source_share_low", "source_share_high"),
    own=_COLUMNS,
)

_HOLDING: Schema = columns(
    *(*_RUN, "category", "stereotype", "framing_mean", "framing_low", "framing_high", "framing_sd"),
    *("n_framings", "n_positive", "n_negative", "side_share", "side_share_low", "side_share_high"),
    *("new_low", "new_high"),
    own=_COLUMNS,
)

_NEXT: Schema = columns(
    *(*_RUN, "next_target", "estimate", "half_width_now", "next_ask", "n_next", "tokens_more"),
    "tokens_to_decide",
    own=_COLUMNS,
)

DETAILS = {
    "framing_scores": Table(
        "answers", _SCORES, "a row per stereotype and framing: its levels and its mean", _COLUMNS
    ),
    "framing_variance": Table(
        "answers", _VARIANCE, "a row per source of variance of framed questions", _COLUMNS
    ),
    "framing_holding": Table(
        "answers",
        _HOLDING,
        "a row per stereotype, and one of their mean (null): in how many framings a lean holds",
        _COLUMNS,
    ),
    "framing_next": Table(
        "answers", _NEXT, "a row per interval: what narrows it for the fewest tokens", _COLUMNS
    ),
}


def analyse_framings(scores: pl.LazyFrame, study: Study) -> Tables:
    """Analyse the scores of one model and study; `scores`: columns of `results.SCORES`.

    Tables: those of `DETAILS`; estimates: `framing_effect` of every level and of all marks.
    """
    rows: dict[str, list[dict[str, Any]]] = {name: [] for name in ("estimates", *DETAILS)}
    if (part := part_of(study)) is not None:
        labels = {key: stereotype.label or key for key, stereotype in study.stereotypes.items()}
        answers = scores.filter(pl.col("instrument") == NAME).collect()
        for keys, run in answers.group_by(_RUN, maintain_order=True):
            run_keys = dict(zip(_RUN, keys, strict=True))
            for name, row in _Run(part, run, run_keys, labels).rows():
                rows[name].append({**run_keys, **row})
    details = {
        name: pl.DataFrame(rows[name], schema=table.schema) for name, table in DETAILS.items()
    }
    return Tables(as_estimates(rows["estimates"], {EFFECT.name: EFFECT}), details)


Row = tuple[str, dict[str, Any]]

#: What is the same in every framing: a draw.
_DRAW = ("marginalized", "default", "tied", "counter")


class _Run:
    """The scores of one run, as an array, and the rows that are made of them."""

    def __init__(
        self,
        part: FramingsPart,
        answers: pl.DataFrame,
        run: Mapping[str, Any],
        labels: Mapping[str, str],
    ) -> None:
        self.part, self.answers, self.run, self.labels = part, answers, run, labels
        self.factors = factors_of(part, run["mode"])
        self.stereotypes = answers["stereotype"].unique(maintain_order=True).to_list()
        draws = _draw_means(answers)
        has_scores = set(draws["variation"])
        all_framings = framings_of(part, run["mode"])
        self.framings = [all_framings[name] for name in all_framings if name in has_scores]
        self.scores = FramedScores(self._cube(draws), self._levels(), self._n_levels())

    def _levels(self) -> Any:
        """Return the number of each level: (framings, factors)."""
        rows = [
            [levels.index(framing.levels[name]) for name, levels in self.factors.items()]
            for framing in self.framings
        ]
        return np.array(rows, dtype=np.int64).reshape(len(rows), len(self.factors))

    def _n_levels(self) -> tuple[int, ...]:
        return tuple(map(len, self.factors.values()))

    def _cube(self, draws: pl.DataFrame) -> Any:
        """Return the means of draws: (framings, stereotypes, draws)."""
        framing_places = {framing.name: k for k, framing in enumerate(self.framings)}
        draw_places: dict[str, dict[tuple[str, ...], int]] = {key: {} for key in self.stereotypes}
        for key, *words in draws.select("stereotype", *_DRAW).iter_rows():
            draw_places[key].setdefault(tuple(words), len(draw_places[key]))
        longest = max((len(places) for places in draw_places.values()), default=0)
        values = np.full((len(self.framings), len(self.stereotypes), longest), np.nan)
        rows = draws.select("stereotype", "variation", "score", *_DRAW).iter_rows()
        for key, variation, score, *words in rows:
            place = (framing_places[variation], self.stereotypes.index(key))
            values[(*place, draw_places[key][tuple(words)])] = score
        return values

    def rows(self) -> Iterator[Row]:
        """Yield the rows of all tables, each with the name of its table."""
        is_sufficient = bool(self.framings) and self.scores.is_sufficient
        yield from self._framing_rows(is_sufficient=is_sufficient)
        if not is_sufficient:
            return
        yield from self._holding_rows()
        # A control has one stereotype, in which nothing else is asked.
        if self.run["control"] is None:
            for source, component in components(self.scores, [*self.factors]).items():
                yield "framing_variance", _variance_row(source, component)
            effects = [*self._effect_rows()]
            yield from effects
            for row in next_questions(self._precisions([row for _, row in effects])):
                yield "framing_next", row

    def tokens(self, name: str) -> float:
        """Return the tokens of a question and its answer in a framing, reckoned."""
        framing = framings_of(self.part, self.run["mode"])[name]
        text = f"{framing.system or ''}{framing.template}"
        thinks = any(
            self.part.factors[factor].place == "thinking"
            and framing.levels[factor] != self.factors[factor][0]
            for factor in self.factors
            if factor in self.part.factors
        )
        return len(text) / CHARACTERS + (THOUGHT if thinks else ANSWER)

    def _framing_rows(self, *, is_sufficient: bool) -> Iterator[Row]:
        """Yield the mean of every stereotype in every framing."""
        scored = self.answers.drop_nulls("score").group_by("stereotype", "variation").len()
        counts = {(key, variation): n for key, variation, n in scored.iter_rows()}
        variance, df = self.scores.noise if is_sufficient else (math.nan, None)
        cells = self.scores.cells if self.framings else np.empty((0, 0))
        n_draws = np.isfinite(self.scores.values).sum(axis=2)
        for (f, s), mean in np.ndenumerate(cells):
            framing, key = self.framings[f], self.stereotypes[s]
            se = math.sqrt(variance / n_draws[f, s]) if n_draws[f, s] else math.nan
            low, high = interval_around(mean, se, CONFIDENCE, df)
            yield (
                "framing_scores",
                {
                    **self._stereotype_columns(key),
                    "variation": framing.name,
                    "framing": ", ".join(
                        f"{name}: {level}" for name, level in framing.levels.items()
                    ),
                    **_numbers(framing_mean=mean, framing_low=low, framing_high=high),
                    "tokens": self.tokens(framing.name),
                    "n_scored": counts.get((key, framing.name), 0),
                },
            )

    def _stereotype_columns(self, key: str | None) -> dict[str, Any]:
        """Return a stereotype with its category; null for all."""
        if key is None:
            return {"category": None, "stereotype": None}
        category = self.answers.filter(stereotype=key)["category"][0]
        return {"category": category, "stereotype": key}

    def _means(self) -> Iterator[tuple[str | None, Any, float]]:
        """Yield each stereotype with its cells and their noise; and None with the mean of all."""
        table, _ = self.scores.complete
        for s, key in enumerate(self.stereotypes):
            yield key, table[:, s], self.scores.noise_of_cell
        if len(self.stereotypes) > 1:
            yield None, table.mean(axis=1), self.scores.noise_of_cell / len(self.stereotypes)

    def _holding_rows(self) -> Iterator[Row]:
        for key, cells, noise in self._means():
            summary = holding(cells, noise, self.scores.noise[1])
            yield (
                "framing_holding",
                {
                    **self._stereotype_columns(key),
                    **_numbers(
                        framing_mean=summary.mean,
                        framing_low=summary.low,
                        framing_high=summary.high,
                        framing_sd=summary.spread,
                        side_share=summary.share,
                        side_share_low=summary.share_low,
                        side_share_high=summary.share_high,
                        new_low=summary.new_low,
                        new_high=summary.new_high,
                    ),
                    "n_framings": summary.n_framings,
                    "n_positive": summary.n_positive,
                    "n_negative": summary.n_negative,
                },
            )

    def _effect_rows(self) -> Iterator[Row]:
        """Yield the effect of every level but the first, and of all marks of a test at once."""
        n_levels = self._n_levels()
        weights: dict[tuple[str, str, str], Any] = {}
        marks = []
        for k, (name, levels) in enumerate(self.factors.items()):
            for level in range(1, len(levels)):
                weights[name, levels[0], levels[level]] = level_weights(n_levels, k, level)
            if name in self.part.factors and self.part.factors[name].mark:
                marks.append(level_weights(n_levels, k, len(levels) - 1))
        if len(marks) > 1:
            weights[ALL_MARKS] = np.sum(marks, axis=0)
        effects = contrasts(self.scores, weights)
        for (factor, baseline, candidate), effect in effects.items():
            yield (
                "estimates",
                {
                    "measure": EFFECT.name,
                    "level": "model",
                    "subject": self.run["model"],
                    "factor": factor,
                    "baseline": baseline,
                    "candidate": candidate,
                    "method": "factorial",
                    "range": "other_prompts",
                    "estimate": effect.estimate,
                    "se": effect.se,
                    "df": float(self.scores.df_framings),
                    "p": effect.p,
                    "p_bonferroni": effect.p_adjusted,
                    "adjusted_over": "effects of framings",
                    "confidence": CONFIDENCE,
                    "ci_low": effect.low,
                    "ci_high": effect.high,
                    "pointwise_low": effect.pointwise_low,
                    "pointwise_high": effect.pointwise_high,
                    "n": self.answers.height,
                    "n_scored": self.answers["score"].count(),
                    "n_stereotypes": len(self.stereotypes),
                },
            )

    def _precisions(self, effects: Sequence[Mapping[str, Any]]) -> Iterator[Precision]:
        """Yield each interval with what makes it wide, and what its questions cost."""
        per_draw = self._answers_per_draw()
        tokens = np.array([self.tokens(framing.name) for framing in self.framings]) * per_draw
        n_stereotypes = len(self.stereotypes)
        n_draws = float(np.isfinite(self.scores.values).sum(axis=2).mean())
        for key, cells, noise in self._means():
            summary = holding(cells, noise, self.scores.noise[1])
            n_averaged = n_stereotypes if key is None else 1
            target = f"mean of {self.labels[key] if key else 'all'}"
            yield Precision(
                target, summary.mean, (summary.high - summary.low) / 2,
                float(cells.var(ddof=1)), noise, n_draws, len(cells), "framings",
                n_averaged * float(tokens.mean()),
            )  # fmt: skip
        residual_variance = self.scores.framing_regression[2]
        for effect in effects:
            factor, levels = effect["factor"], (effect["baseline"], effect["candidate"])
            has_levels = [f.levels.get(factor, levels[0]) in levels for f in self.framings]
            is_all = all(has_levels)
            what = "framings" if is_all else f"framings with {factor} {' or '.join(levels)}"
            half = (effect["ci_high"] - effect["ci_low"]) / 2
            effect_name = "all marks" if factor == ALL_MARKS[0] else f"{factor}, {levels[1]}"
            yield Precision(
                f"effect of {effect_name}", effect["estimate"], half, residual_variance,
                self.scores.noise_of_cell / n_stereotypes, n_draws, sum(has_levels), what,
                n_stereotypes * float(tokens[has_levels].mean()),
                n_stereotypes * float(tokens.mean()),
                len(self.framings),
            )  # fmt: skip

    def _answers_per_draw(self) -> float:
        """Return how many answers a draw has in a framing."""
        n_draws = self.answers.select("stereotype", "variation", *_DRAW).n_unique()
        return self.answers.height / n_draws


def _draw_means(answers: pl.DataFrame) -> pl.DataFrame:
    """Return the mean of every draw in every framing; none where only one side has scores.

    A habit of choosing one group, or one word, cancels over both.
    """
    keys = ["stereotype", "variation", *_DRAW]
    by_version = answers.drop_nulls("score").group_by(*keys, "version", maintain_order=True)
    means = by_version.agg(pl.col("score").mean())
    draws = means.group_by(keys, maintain_order=True).agg(
        pl.col("score").mean(), n=pl.len(), has_versions=pl.col("version").is_not_null().any()
    )
    return draws.filter(~pl.col("has_versions") | (pl.col("n") == 2))


def _variance_row(source: str, component: VarianceComponent) -> dict[str, Any]:
    columns = {f"source_{name}": value for name, value in component._asdict().items()}
    return {"variance_source": source, **_numbers(**columns)}


def _numbers(**values: float) -> dict[str, float | None]:
    """Return numbers, with None for nan."""
    return {name: float(value) if math.isfinite(value) else None for name, value in values.items()}
