"""Pages of scores of known truth, made without anything of the estimator.

Model
    The latent score of an answer is the centre of its stereotype plus crossed effects: of a
    wording (of all stereotypes, and of each), of the word on either side, of the cell (a wording
    and two words) and of the mirrored pair. Effects are normal; those of wordings and words can be
    exponential, and the truths below are then right within .003. tanh takes the score to the scale
    from -1 to 1, so that effects shrink towards the ends; the answer varies about that expectation.
Truths
    Range ``prompts``: the expected answer to the wordings and words that were drawn, each pair of
    words as often as any other in every wording. Range ``other_prompts``: the expected answer over
    all wordings and words, which is the planted lean, as centres are chosen so. A word that is
    alone on its side has no effect, what it adds is part of the lean; or has one, as where the
    mean over stereotypes is about other words and a stereotype was asked with one of them. In means
    over stereotypes each counts once.
Oracle
    Knows the error of a mean, so that its 95% interval has the half width 1.96 × root mean square
    error of the mean with equal weights, over pages that are drawn and not estimated.
"""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from typing import NamedTuple

import numpy as np
import polars as pl
from numpy.typing import NDArray
from scipy.special import ndtri

from benchmarks.trials import codes
from benchmarks.worlds.planted import World
from benchmarks.worlds.prompts import draw_prompts

__all__ = ["RANGES", "Effects", "Simulation"]

Array = NDArray[np.float64]

_KEYS = ("category", "stereotype")
SIDES = ("marginalized", "default")
RANGES = ("prompts", "other_prompts")
#: The farthest planted lean, and the largest standard deviation of a stereotype's answers.
FARTHEST, LARGEST_SD = 0.97, 0.9
#: Centres among which the one of a lean is looked for; at the ends tanh is within .0001 of 1.
CENTRES = np.linspace(-5.0, 5.0, 501)
NODES, WEIGHTS = np.polynomial.hermite_e.hermegauss(11)
WEIGHTS = WEIGHTS / WEIGHTS.sum()


class Effects(NamedTuple):
    """Latent effects on the answers of a model, shape (stereotypes, wordings, words, words)."""

    main: Array  # of wordings and words
    cell: Array


class Simulation:
    """Pages of one world, of the same prompts.

    What is the same on all of them is made once.

    Parameters
    ----------
    world
        What is planted.
    prompts
        What is asked, of one study, with columns of `results.SCORES`; their stereotypes, wordings
        and words take the place of those of the world. None: prompts of the world.
    single_words_vary
        Whether a word that is alone on its side has an effect.
    """

    def __init__(
        self,
        world: World,
        prompts: pl.DataFrame | None = None,
        *,
        single_words_vary: bool = False,
    ) -> None:
        self.frame = draw_prompts(world) if prompts is None else prompts
        self.keys = self.frame.select(_KEYS).unique(maintain_order=True)
        self.categories = codes(self.keys, "category")
        stereotypes, wordings = (codes(self.frame, name) for name in ("stereotype", "variation"))
        words = [_number_words(self.frame, side, world.shared_words) for side in SIDES]
        self._places = (stereotypes, wordings, *words)
        identified = self.frame.with_columns(pl.coalesce("pair_id", "trial_id"))
        self._pairs = codes(identified, "pair_id")
        n, most_words = len(self.keys), int(np.max(words)) + 1
        self.world = replace(
            world, stereotypes=n, wordings=int(wordings.max()) + 1, words=most_words
        )
        # Whether a stereotype has a word, (sides, stereotypes, words).
        self._has_word = np.zeros((2, n, most_words), bool)
        for has_word, place in zip(self._has_word, words, strict=True):
            has_word[stereotypes, place] = True
        several = self._has_word.sum(axis=2) > 1
        self._words_vary = several | single_words_vary
        self._set_sizes()

    def _set_sizes(self) -> None:
        """Set the standard deviations of effects and answers, by stereotype."""
        world = self.world
        self.sd = world.answer * _factors(world.stereotypes, world.unequal)
        if world.unequal:
            self.sd = self.sd.clip(max=LARGEST_SD)
        words = world.word * self.sd * _factors(world.stereotypes, world.unequal_words, seed=1)
        self._word_sd = np.where(self._words_vary, words, 0.0)
        wordings = (world.shared_wording**2 + world.wording**2) * self.sd**2
        self._within = self.sd**2 * (world.cell**2 + world.pair**2)
        total = wordings + (self._word_sd**2).sum(axis=0) + self._within
        self._expected_leans = self._expect(CENTRES[None, :], total)

    def draw_leans(self, rng: np.random.Generator) -> Array:
        """Draw the leans of a page, shape (stereotypes,)."""
        world = self.world
        standard = draw_standard(rng, world.stereotypes, skewed=world.skewed)
        leans = (world.lean + world.lean_sd * standard).clip(-FARTHEST, FARTHEST)
        leans[: round(world.neutral * world.stereotypes)] = 0.0
        return leans

    def draw_effects(self, rng: np.random.Generator) -> Effects:
        """Draw what wordings, words and cells add to the answers of a model."""
        world = self.world
        n, wordings, words = world.stereotypes, world.wordings, world.words
        draw = partial(draw_standard, rng, skewed=world.skewed_effects)
        wording = world.shared_wording * draw(wordings)
        wording = wording + world.wording * draw((n, wordings))
        size = (2, 1, words) if world.shared_words else (2, n, words)
        marginalized, default = self._word_sd[:, :, None] * draw(size)
        sd = self.sd[:, None, None, None]
        main = sd * wording[:, :, None, None]
        main = main + marginalized[:, None, :, None] + default[:, None, None, :]
        return Effects(main, sd * world.cell * rng.normal(0, 1, main.shape))

    def draw_answers(
        self, leans: Array, effects: Effects, rng: np.random.Generator
    ) -> tuple[Array, Array]:
        """Draw the score of every prompt.

        Returns
        -------
        tuple
            Scores, shape (prompts,), and the truths of the stereotypes in these prompts.
        """
        sd = self.sd[self._places[0]]
        pair = self.world.pair * rng.normal(0, 1, self._pairs.max() + 1)
        main = effects.main + self._centres(leans)[:, None, None, None]
        latent = main[self._places] + effects.cell[self._places] + sd * pair[self._pairs]
        expected = self._expect(main.reshape(len(leans), -1), self._within).reshape(main.shape)
        weights = self._has_word / self._has_word.sum(axis=2, keepdims=True)
        truths = np.einsum("swij,si,sj->s", expected, *weights) / self.world.wordings
        return self._answer(latent, sd, rng), truths

    def draw(
        self, rng: np.random.Generator, leans: Array | None = None
    ) -> tuple[Array, dict[str, Array]]:
        """Draw a page: the score of every prompt, and the truths of stereotypes by range.

        `leans` take the place of those that the world draws.
        """
        leans = self.draw_leans(rng) if leans is None else leans
        scores, truths = self.draw_answers(leans, self.draw_effects(rng), rng)
        return scores, {"prompts": truths, "other_prompts": leans}

    def page(self, scores: Array, model: str) -> pl.DataFrame:
        """Return scores as a table, columns of `results.SCORES`; an answer without is refused."""
        score = pl.Series(scores).fill_nan(None)
        reason = pl.when(score.is_null()).then(pl.lit("refused"))
        return self.frame.with_columns(score=score, reason=reason, model=pl.lit(model))

    def means(self, scores: Array) -> Array:
        """Return the mean score of each stereotype."""
        stereotypes = self._places[0]
        return np.bincount(stereotypes, scores) / np.bincount(stereotypes)

    def level_means(self, values: Array) -> dict[str, Array]:
        """Return means of values of stereotypes by level, of categories in their order."""
        by_category = np.bincount(self.categories, values) / np.bincount(self.categories)
        return {"stereotype": values, "category": by_category, "model": values.mean(keepdims=True)}

    def keys_of_means(self, level: str) -> pl.DataFrame:
        """Return category and stereotype of the means of a level, in the order of `level_means`."""
        pooled = {"stereotype": (), "category": ("stereotype",)}.get(level, _KEYS)
        keys = self.keys.with_columns(pl.lit(None, pl.String).alias(name) for name in pooled)
        return keys.unique(maintain_order=True)

    def oracle(self, rng: np.random.Generator, runs: int = 2000) -> dict[tuple[str, str], Array]:
        """Return the root mean square errors of means by range and level, from drawn pages."""
        squares: dict[tuple[str, str], Array] = {}
        for _ in range(runs):
            scores, truths = self.draw(rng)
            for name, truth in truths.items():
                for level, error in self.level_means(self.means(scores) - truth).items():
                    squares[name, level] = squares.get((name, level), 0.0) + error**2
        return {key: np.sqrt(total / runs) for key, total in squares.items()}

    def _centres(self, leans: Array) -> Array:
        """Return the latent centres from which effects lead to the leans, on average."""
        curves = zip(leans, self._expected_leans, strict=True)
        return np.array([np.interp(lean, curve, CENTRES) for lean, curve in curves])

    def _expect(self, latent: Array, variance: Array) -> Array:
        """Return expected scores where normal effects are added, shape (stereotypes, …).

        `variance` is of each stereotype's effects, shape (stereotypes,).
        """
        if self.world.kind == "latent":
            variance = variance + self.sd**2
        if not variance.any():
            return np.tanh(np.broadcast_to(latent, (len(variance), latent.shape[1])))
        sd = np.sqrt(variance)[:, None]
        parts = (w * np.tanh(latent + sd * x) for x, w in zip(NODES, WEIGHTS, strict=True))
        return np.asarray(sum(parts))

    def _answer(self, latent: Array, sd: Array, rng: np.random.Generator) -> Array:
        """Draw answers with standard deviations sd √(1 − expectation²), or sd on the latent scale.

        Of the three-point answers those of an extreme expectation vary less, as they must.
        """
        if self.world.kind == "latent":
            return np.tanh(latent + sd * rng.normal(0, 1, len(latent)))
        expected = np.tanh(latent)
        if self.world.kind == "three":
            zero = (1.0 - sd**2) * (1.0 - np.abs(expected))
            uniform = rng.random(len(latent))
            above = (1.0 - zero + expected) / 2
            return np.where(uniform < above, 1.0, np.where(uniform < above + zero, 0.0, -1.0))
        size = 1.0 / sd**2 - 1.0  # a beta distribution has the variance p (1 − p) / (size + 1)
        share = ((1.0 + expected) / 2).clip(1e-6, 1.0 - 1e-6)
        return np.asarray(2.0 * rng.beta(size * share, size * (1.0 - share)) - 1.0)


def draw_standard(
    rng: np.random.Generator, size: int | tuple[int, ...], *, skewed: bool = False
) -> Array:
    """Draw numbers of mean 0 and variance 1: normal, or exponential around 0."""
    return rng.exponential(1.0, size) - 1.0 if skewed else rng.normal(0, 1, size)


def _number_words(frame: pl.DataFrame, side: str, shared: bool) -> NDArray[np.int64]:
    """Return numbers of the words of a side, within each stereotype or, if shared, over all."""
    rank = pl.col(side).rank("dense")
    rank = rank if shared else rank.over("stereotype")
    return frame.select(rank).to_series().to_numpy().astype(np.int64) - 1


def _factors(stereotypes: int, sd: float, seed: int = 0) -> Array:
    """Return a factor per stereotype: quantiles of a log-normal, the same on every page."""
    order = np.random.default_rng(seed).permutation(stereotypes)
    return np.asarray(np.exp(sd * ndtri((order + 0.5) / stereotypes)))
