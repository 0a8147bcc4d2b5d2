from collections.abc import Callable
from functools import cache

import numpy as np
import polars as pl
import pytest

from clinometer.results import SCORES

#: Standard deviations of effects that all runs of a model have in common, and of an answer.
COMMON, ANSWER = 0.1, 0.1


@pytest.fixture(scope="session")
def make_run() -> Callable[..., pl.DataFrame]:
    """Return a maker of the scores of a run: 8 stereotypes × 3 wordings × 4 words × 2 orders.

    `draws` tells which words are drawn, `seed` the answers; stereotypes and words differ by what
    all runs have in common.
    """

    @cache
    def make(
        model: str, shift: float = 0.0, *, seed: int = 0, draws: int = 0, only: int | None = None
    ) -> pl.DataFrame:
        common = np.random.default_rng(99)
        stereotype_effect = common.normal(0.1, COMMON, 8)
        wording_effect, word_effect = (
            common.normal(0, COMMON, (8, 3)),
            common.normal(0, COMMON, (8, 6)),
        )
        words, answers = np.random.default_rng(draws), np.random.default_rng(1000 + seed)
        rows = []
        for s, w, k in np.ndindex(8, 3, 4):
            word = int(words.integers(6))
            mean = stereotype_effect[s] + wording_effect[s, w] + word_effect[s, word]
            for order in ("marginalized_first", "default_first"):
                moved = shift if only is None or s == only else 0.0
                score = float(np.clip(mean + moved + answers.normal(0, ANSWER), -1, 1))
                key = f"s{s}.v{w}.{draws}.{k}"
                rows.append(
                    {"stereotype": f"s{s}", "category": f"c{s % 2}", "variation": f"v{w}",
                     "iteration": k, "pair_id": key, "trial_id": f"{key}.{order}", "order": order,
                     "marginalized": f"m{word}", "default": "d", "score": score}
                )  # fmt: skip
        constants = {"model": model, "study": "x", "instrument": "word_association", "mode": "free"}
        constants |= {"intervention": "none", "word_list": "plain", "scoring": "exact"}
        frame = pl.DataFrame(rows).with_columns(
            pl.lit(v).alias(name) for name, v in constants.items()
        )
        absent = [name for name in SCORES if name not in frame.columns]
        frame = frame.with_columns(pl.lit(None).alias(name) for name in absent)
        return frame.select(pl.col(name).cast(kind) for name, kind in SCORES.items())

    return make
