"""Associations of words in context, combined over draws of contexts.

Reference
    Guo & Caliskan (2021), AIES, 122–133: CEAT. A word has a state in each of its contexts. A draw
    takes one context of every word and gives one WEAT effect; the effects are combined by a
    random-effects model (DerSimonian & Laird 1986, Controlled Clinical Trials 7, 177–188).

Measures
    The combined effect in the unit of WEAT, −2…2, neutral 0, positive where the first targets are
    closer to `toward`; τ², how much the effect varies with the contexts beyond what so few words
    vary anyway; a normal interval and p.

Deviations from the source
    The released code takes the variance of the associations, in squared cosines, for the variance
    of a draw's effect. Here it is the sampling variance of the effect: that of Cohen's d,
    (n₁ + n₂) / n₁n₂ + d² / 2(n₁ + n₂), carried over by the delta method, for WEAT divides by the
    spread of all targets, ddof 0: effect = d / √(1 + pq d²), with p and q the shares of the sets.

    Draws share their words: they are no independent studies, and the error falls with their
    number however few words there are. The published method has this weakness, and it is kept: p
    and interval are about other contexts of *these* words; for other words see the partitions and
    the bootstrap of ``weat``, and the placebos, which shuffle the attributes (`place_test`).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import ndtr

from clinometer.errors import InputError
from clinometer.statistics.intervals import interval_around
from clinometer_measures.states.contexts import rows_of
from clinometer_measures.states.differential import Differential
from clinometer_measures.states.placebos import place_test
from clinometer_measures.states.readers.states import HiddenStates
from clinometer_measures.states.word_tests import FEWEST, TestSetting, WordTest

__all__ = ["combine", "combine_samples"]

Array = NDArray[np.float64]

#: Cosines held at a time while drawing.
_MOST_COSINES = 4_000_000


def combine(effects: Array, variances: Array) -> tuple[float, float, float]:
    """Combine effects by a random-effects model (DerSimonian & Laird 1986).

    `variances` are above 0. Gives the combined effect, its standard error, and the variance between
    the effects (τ²).

    Examples
    --------
    >>> combine(np.array([0.0, 2.0]), np.array([1.0, 1.0]))
    (1.0, 1.0, 1.0)
    """
    weight = 1 / variances
    total = weight.sum()
    q = (weight * effects**2).sum() - (weight * effects).sum() ** 2 / total
    scale = total - (weight**2).sum() / total
    between = max(0.0, float((q - (len(effects) - 1)) / scale))
    weight = 1 / (variances + between)
    effect = (weight * effects).sum() / weight.sum()
    return float(effect), float(weight.sum() ** -0.5), between


def combine_samples(
    states: HiddenStates, test: WordTest, setting: TestSetting
) -> list[tuple[str, dict[str, Any]]]:
    """Draw contexts of words (keys ``word|number``) and combine the effects.

    Gives each layer, and the columns of `results.ESTIMATES` that hold its numbers, and τ². Raises
    InputError if a word has no state, or no word has two contexts, so that all draws would be the
    same.
    """
    sizes = [len(word_set.words) for word_set in test.sets]
    if min(sizes[:2]) < FEWEST:
        return [(layer, {"note": "too few words for the test"}) for layer in states.layers]
    word_rows = _word_rows(states, [word for word_set in test.sets for word in word_set.words])
    if max(map(len, word_rows)) < 2:
        raise InputError(
            f"{test.stereotype}: every word has one context; ceat needs several of each"
        )
    n_targets = sizes[0] + sizes[1]
    target_rows, attribute_rows = word_rows[:n_targets], word_rows[n_targets:]
    # One draw of contexts serves all layers, so that layers differ by their states alone.
    rng = np.random.default_rng(setting.seed)
    # Shape (draws, words): which of its contexts each word has in a draw, counted from 0 …
    picks = np.stack([rng.integers(0, len(rows), setting.samples) for rows in word_rows], axis=1)
    # … and from here on among the contexts of all targets, or of all attributes.
    picks += np.concatenate([_first_rows(target_rows), _first_rows(attribute_rows)])
    targets, attributes = np.concatenate(target_rows), np.concatenate(attribute_rows)
    combined = []
    for index, layer in enumerate(states.layers):
        cosines = _cosines(states, index, targets, attributes)
        effects, by_attribute = _draw_effects(cosines, picks, sizes)
        combined.append((layer, _combined_row(effects, by_attribute, sizes, setting)))
    return combined


def _word_rows(states: HiddenStates, words: Sequence[str]) -> list[NDArray[np.intp]]:
    """Find the rows of each word's contexts; a word may be in two sets."""
    distinct = list(dict.fromkeys(words))
    rows, positions = rows_of(states, distinct)
    by_word = {word: rows[positions == index] for index, word in enumerate(distinct)}
    return [by_word[word] for word in words]


def _first_rows(word_rows: Sequence[NDArray[np.intp]]) -> NDArray[np.intp]:
    """Say where the contexts of each word begin when those of all words are laid end to end."""
    return np.cumsum([0, *map(len, word_rows[:-1])])


def _cosines(
    states: HiddenStates, layer: int, targets: NDArray[np.intp], attributes: NDArray[np.intp]
) -> Array:
    """Give the cosines of targets' contexts with attributes', shape (targets, attributes)."""
    sides = []
    for rows in (targets, attributes):
        vectors = states.values[rows, layer].astype(np.float64)
        length = np.linalg.norm(vectors, axis=1, keepdims=True)
        if not length.all():
            raise InputError(f"a state at layer {states.layers[layer]} is all zero")
        sides.append(vectors / length)
    return np.asarray(sides[0] @ sides[1].T)


def _draw_effects(
    cosines: Array, picks: NDArray[np.intp], sizes: Sequence[int]
) -> tuple[Array, Array]:
    """Give the WEAT effect of each draw, nan where no target differs, and that of each attribute.

    Shapes (draws,) and (attributes,); the effect of an attribute alone is in mean standard
    deviations of the draws.
    """
    n_targets = sizes[0] + sizes[1]
    size = max(1, _MOST_COSINES // (n_targets * (sizes[2] + sizes[3])))
    effects: list[Array] = []
    by_attribute: list[Array] = []
    spreads: list[Array] = []
    for begin in range(0, len(picks), size):
        part = picks[begin : begin + size]
        # Draws take the place of layers: shape (draws, targets, attributes).
        products = cosines[part[:, :n_targets, None], part[:, None, n_targets:]]
        differential = Differential(products, sizes[0], sizes[2])
        effects.append(differential.effect())
        by_attribute.append(replace(differential, standardised=False).by_reference)
        spreads.append(differential.associations.std(axis=1))
    # One unit for all draws, see `placebos`; nan, not 0, where no word is closer than another.
    unit = np.concatenate(spreads).mean() or np.nan
    return np.concatenate(effects), np.concatenate(by_attribute).mean(axis=0) / unit


def _combined_row(
    effects: Array, by_attribute: Array, sizes: Sequence[int], setting: TestSetting
) -> dict[str, Any]:
    """Give the columns of the combined effect of one layer."""
    if not np.isfinite(effects).all():
        return {"n_resamples": setting.samples, "note": "no word is closer than another"}
    effect, se, between = combine(effects, _variances(effects, sizes[0], sizes[1]))
    z = effect / se
    low, high = interval_around(effect, se, setting.confidence)
    placebos = place_test(by_attribute, sizes[2], setting)
    row: dict[str, Any] = {name: float(value) for name, value in placebos.items()}
    row |= {"estimate": effect, "se": se, "ci_low": low, "ci_high": high}
    row |= {"test": "z", "statistic": z, "n_resamples": setting.samples}
    row |= {"between_variance": between}
    row |= {"p": float(ndtr(-z)), "p_two_sided": float(2 * ndtr(-abs(z)))}
    return row


def _variances(effects: Array, first: int, second: int) -> Array:
    """Give the sampling variance of WEAT effects; see the module's docstring."""
    total = first + second
    pq = first * second / total**2
    # The largest effect is 1 / √pq, where d is without bound and its variance carries over as 0.
    rest = np.maximum(1 - pq * effects**2, 1e-6)
    d_squared = effects**2 / rest
    # WEAT's spread has ddof 0, that of Cohen's d n − 2.
    d_variance = total / (total - 2) * total / (first * second) + d_squared / (2 * total)
    # The derivative of effect = d / √(1 + pq d²) is rest^(3/2), squared here.
    return np.asarray(d_variance * rest**3)
