"""WEAT effects of the words of single prompts, to be set beside what the prompts were answered.

Reference
    Bai, Wang, Sucholutsky & Griffiths (2025), PNAS 122(8), e2416228122, SI sections J and O: for
    each prompt the WEAT effect of the group words and attributes it names.

Measure
    Attributes are the targets, and the two group words what they are close to: the difference of
    the mean association of the tied and the counter attributes, in standard deviations over all
    (ddof 0). Range −2…2, neutral 0, positive stereotype-consistent. One prompt is no test, so
    there is no p.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray

from tiltmeter.models.readers.states import States
from tiltmeter.results.tables import need_columns

__all__ = ["TRIAL_WORDS", "trial_effects"]

#: What is to be known of each trial.
TRIAL_WORDS = {
    "stereotype": pl.String(),
    "trial": pl.String(),
    "marginalized": pl.String(),  # the group word asked about
    "default": pl.String(),
    "tied": pl.List(pl.String()),  # the attributes asked about
    "counter": pl.List(pl.String()),
}

#: A spread this small beside the largest association is rounding.
_FLAT = 1e-12


def trial_effects(states: States, trials: pl.DataFrame, removed: int = 0) -> pl.DataFrame:
    """Give the effect of each trial's words at every layer.

    Parameters
    ----------
    states
        Of every word of the trials.
    trials
        Columns TRIAL_WORDS.
    removed
        Components that were taken out of the states, for the record.

    Returns
    -------
    polars.DataFrame
        `stereotype`, `trial`, `layer`, `removed`, `estimate`; null where all attributes are equally
        close, or one side has none.

    Raises
    ------
    InputError
        If a column is missing, or a word has no state.
    """
    need_columns(trials, list(TRIAL_WORDS), "trials")
    rows = list(trials.select(list(TRIAL_WORDS)).iter_rows())
    words = list(dict.fromkeys(word for row in rows for word in _words(row)))
    place = {word: at for at, word in enumerate(words)}
    known = states.unit(words)
    effects = np.empty((len(states.layers), len(rows)))
    for layer in range(len(states.layers)):
        cosines = known[:, layer] @ known[:, layer].T
        effects[layer] = [_effect(cosines, place, row) for row in rows]
    return pl.DataFrame(
        {
            "stereotype": [row[0] for row in rows] * len(states.layers),
            "trial": [row[1] for row in rows] * len(states.layers),
            "layer": [layer for layer in states.layers for _ in rows],
            "removed": removed,
            "estimate": pl.Series(effects.ravel(), nan_to_null=True),
        },
        schema_overrides={"stereotype": pl.String, "trial": pl.String, "layer": pl.String},
    )


def _words(row: Sequence[Any]) -> list[str]:
    _, _, marginalized, default, tied, counter = row
    return [marginalized, default, *tied, *counter]


def _effect(cosines: NDArray[np.float64], place: dict[str, int], row: Sequence[Any]) -> float:
    first, second, *attributes = (place[word] for word in _words(row))
    associations = cosines[attributes, first] - cosines[attributes, second]
    tied = len(row[4])
    spread = associations.std() if associations.size else 0.0
    if not 0 < tied < associations.size or spread <= _FLAT * np.abs(associations).max():
        return float("nan")
    return float((associations[:tied].mean() - associations[tied:].mean()) / spread)
