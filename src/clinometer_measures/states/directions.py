"""Direction prediction: whether further words are on the side where a dictionary has them.

Reference: Schuster et al. 2024, sections 3.3 and 4.1, after Fraser et al. 2021: words of the
extended dictionary of Nicolas, Bai & Fiske 2021 that made no pole are projected on their own
dimension; the sign of the coordinate predicts high or low. `direction_accuracy`, 0…1, is neutral at
the accuracy of always naming the more frequent direction, row by row.

Beyond the source: `direction_balanced_accuracy` (neutral ½), the cut at the mean of the terms'
coordinates for every model (the paper quotes it for a few), Wilson's interval, every layer. The
fine dimensions are predicted in the fine space and the broad ones in the broad space, from the
words of their parts; "all" takes every word on its own fine dimension.

Deviations: the released code keeps only the last dimension of a word that stands in two; here it
has a row for each. A coordinate of exactly the cut predicts low.
Table 2 of the paper rests on contexts that were not released.
"""

from __future__ import annotations

import warnings
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import NamedTuple

import numpy as np
import polars as pl
from numpy.typing import NDArray

from clinometer.errors import ClinometerWarning, InputError
from clinometer.results import as_estimates, check
from clinometer.results.tables import need_columns, read_table
from clinometer.statistics.clustered import check_confidence
from clinometer.statistics.intervals import wilson
from clinometer_measures.states.axes import build_axes
from clinometer_measures.states.contexts import average_contexts, term_of
from clinometer_measures.states.dictionary import BROAD, Dictionary, read_pole
from clinometer_measures.states.measures import MEASURES
from clinometer_measures.states.readers.states import HiddenStates
from clinometer_measures.states.tables import DIRECTION_TERMS

__all__ = ["SUBSETS", "Predicted", "predict_directions", "read_extended"]

SUBSETS = ("paper", "all")

#: The subset of the paper: no seed word, in the one dimension that the released code keeps of it
#: (`primary`), not added by hand, with examples in WordNet.
_PAPER = {
    "in_seed": pl.col("in_seed").is_in(["false", "0"]),
    "primary": pl.col("primary").is_in(["true", "1"]),
    "manual_add": pl.col("manual_add").is_in(["false", "0"]),
    "n_wordnet_examples": pl.col("n_wordnet_examples").cast(pl.Int64, strict=False) > 0,
}

_COLUMNS = ["term", "dimension", "direction"]


class Predicted(NamedTuple):
    """Columns of `results.ESTIMATES`, and of DIRECTION_TERMS, the terms behind them."""

    estimates: pl.DataFrame
    terms: pl.DataFrame


def read_extended(path: str | Path, *, subset: str | None = None) -> pl.DataFrame:
    """Read words whose directions are to be predicted.

    Parameters
    ----------
    path
        A .csv or .parquet table with `term`, `dimension` and `direction` (high or low).
    subset
        "paper" for the words the paper used, which needs the columns `in_seed`, `primary`,
        `manual_add` and `n_wordnet_examples`; "all"; by default "paper" where the table has these.

    Returns
    -------
    polars.DataFrame
        `term`, `dimension` and `direction`; a term in two dimensions has two rows.

    Raises
    ------
    InputError
        If a column is missing, a direction is neither high nor low, a term is both, or no row is
        left.
    """
    path = Path(path)
    if subset not in (None, *SUBSETS):
        raise InputError(f"subset {subset!r}: allowed are {', '.join(SUBSETS)}")
    frame = read_table(path)
    need_columns(frame, _COLUMNS, str(path))
    is_paper_set = subset == "paper" or (subset is None and set(_PAPER) <= set(frame.columns))
    if is_paper_set:
        need_columns(frame, tuple(_PAPER), f"{path}: subset paper")
    # As lower-case text: a flag may be written as True, "TRUE" or 1.
    text = check(frame, dict.fromkeys(frame.columns, pl.String()), str(path))
    text = text.with_columns(pl.all().str.strip_chars().str.to_lowercase())
    # Numbers of rows in the file, which errors name.
    numbers = text.with_row_index("row").filter(*(_PAPER.values() if is_paper_set else ()))["row"]
    if numbers.is_empty():
        raise InputError(f"{path}: no row is left of {frame.height}; give subset='all'")
    rows = zip(numbers, frame[numbers].iter_rows(named=True), strict=True)
    poles = [read_pole(row, path, number) for number, row in rows]
    words = pl.DataFrame(poles, schema=_COLUMNS, orient="row").unique(maintain_order=True)
    twice = words.filter(pl.struct("term", "dimension").is_duplicated())
    if twice.height:
        term, dimension, _ = twice.row(0)
        raise InputError(f"{path}: {term!r} is both high and low in {dimension!r}; keep one")
    return words


def predict_directions(
    poles: HiddenStates,
    dictionary: Dictionary,
    states: HiddenStates,
    extended: pl.DataFrame,
    *,
    of: Mapping[str, object],
    confidence: float = 0.95,
) -> Predicted:
    """Predict on which side of their dimension words stand, and count how often that is right.

    Parameters
    ----------
    poles
        States of the dictionary's senses.
    dictionary
        The poles of the dimensions.
    states
        States of the words, keyed by term; those of a term apart by context are averaged.
    extended
        From `read_extended`. Words of other dimensions than the dictionary's, and words without a
        state, are left out with a warning that counts them.
    of
        `model`, `contexts` and `removed`, which stand in every row.
    confidence
        Of the intervals of accuracy, 0…1.

    Returns
    -------
    Predicted

    Raises
    ------
    InputError
        If no word is left, a pole has no state, or the two kinds of states do not fit.
    """
    check_confidence(confidence)
    axes = build_axes(poles, dictionary)
    states = average_contexts(states, dict.fromkeys(map(term_of, states.keys)))
    row_by_term = {term: row for row, term in enumerate(states.keys)}
    coordinates = axes.coordinates(states)
    words = _predictable_words(extended, dictionary, row_by_term)
    word_rows = np.array([row_by_term[term] for term in words["term"]])
    high = (words["direction"] == "high").to_numpy()
    dimensions = words["dimension"].to_numpy()
    layers = [*axes.layers, "mean"]
    shared = {**of, "subject": of["model"], "instrument": "direction", "level": "dimension"}
    rows: list[dict[str, object]] = []
    counts: list[dict[str, object]] = []
    for space, dimension, axis_by_dimension in _predictions(axes.labels, dictionary):
        members = np.flatnonzero(np.isin(dimensions, [*axis_by_dimension]))
        if not members.size:
            continue
        word_axes = np.array([axis_by_dimension[name] for name in dimensions[members]])
        # Shape (layers + 1, words): each word on the axis it is predicted by.
        values = coordinates[:, word_axes, word_rows[members]]
        key = {"space": space, "dimension": dimension, "n": members.size}
        counts.append({**of, **key, "n_high": int(high[members].sum())})
        centres = _axis_means(values, word_axes)
        for cut, above in (("zero", values > 0), ("centred", values > centres)):
            for row in _accuracy_rows(above, high[members], layers, confidence):
                rows.append({**shared, **key, "cut": cut, **row})
    terms = check(pl.DataFrame(counts), DIRECTION_TERMS, "directions")
    return Predicted(as_estimates(rows, MEASURES, "states"), terms)


def _axis_means(values: NDArray[np.float64], word_axes: NDArray[np.intp]) -> NDArray[np.float64]:
    """Give for each word the mean of all words on its axis, shape (layers + 1, words)."""
    means = np.zeros_like(values)
    for axis in np.unique(word_axes):
        on_axis = word_axes == axis
        means[:, on_axis] = values[:, on_axis].mean(axis=1, keepdims=True)
    return means


def _predictable_words(
    extended: pl.DataFrame, dictionary: Dictionary, terms: Iterable[str]
) -> pl.DataFrame:
    """Leave out words that no axis is for or that are not in `terms`, and say how many."""
    need_columns(extended, _COLUMNS, "extended")
    dimensions = [*dictionary.dimensions]
    for broad in dictionary.broad:
        dimensions += _parts(dictionary, broad)
    with_axis = extended.filter(pl.col("dimension").is_in(dimensions))
    words = with_axis.filter(pl.col("term").is_in([*terms]))
    if words.is_empty():
        raise InputError(
            f"extended: none of {extended.height} words has a state and a dimension of "
            f"{', '.join(dictionary.dimensions)}"
        )
    if words.height < extended.height:
        warnings.warn(
            f"{extended.height - words.height} of {extended.height} words left out of direction "
            f"prediction: {extended.height - with_axis.height} of dimensions that "
            f"{dictionary.name} does not have, {with_axis.height - words.height} without a state",
            ClinometerWarning,
            stacklevel=3,
        )
    return words


def _parts(dictionary: Dictionary, broad: str) -> set[str]:
    """Return the dimensions whose words a broad dimension is tried on."""
    return {*dictionary.broad[broad], *BROAD.get(broad, ())}


def _predictions(
    labels: tuple[tuple[str, str], ...], dictionary: Dictionary
) -> Iterator[tuple[str, str, dict[str, int]]]:
    """Yield space, dimension, and dimension of words → number of the coordinate they are tried on.

    Last "all": the words of every fine dimension, each on its own coordinate.
    """
    fine = {}
    for axis, (space, dimension) in enumerate(labels):
        if space == "fine":
            fine[dimension] = axis
        parts = _parts(dictionary, dimension) if space == "broad" else {dimension}
        yield space, dimension, dict.fromkeys(parts, axis)
    yield "fine", "all", fine


def _accuracy_rows(
    above: NDArray[np.bool_], high: NDArray[np.bool_], layers: list[str], confidence: float
) -> Iterator[dict[str, object]]:
    """Count the words that are on their side of the cut: rows of both measures per layer.

    `above` has shape (layers, words), `high` (words,).
    """
    n, n_high = high.size, int(high.sum())
    n_right = (above == high).sum(axis=1)
    accuracy = {"measure": "direction_accuracy", "method": "wilson", "confidence": confidence}
    accuracy |= {"neutral": max(n_high, n - n_high) / n}
    balanced = {"measure": "direction_balanced_accuracy", "method": "descriptive"}
    by_side = np.full(len(layers), np.nan)
    if 0 < n_high < n:
        by_side = (above[:, high].mean(axis=1) + (~above[:, ~high]).mean(axis=1)) / 2
    else:
        balanced["note"] = "all terms have one direction"
    shares = n_right / n
    lows, highs = wilson(shares, n, confidence)
    for index, layer in enumerate(layers):
        interval = {"estimate": shares[index], "ci_low": lows[index], "ci_high": highs[index]}
        yield {"layer": layer, **accuracy, **interval}
        yield {"layer": layer, **balanced, "estimate": by_side[index]}
