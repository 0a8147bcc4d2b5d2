from collections.abc import Callable
from typing import Any

import polars as pl
import pytest

from clinometer.results import SCORES, Measure

ROW: dict[str, Any] = {
    "model": "m",
    "study": "s",
    "instrument": "word_association",
    "mode": "free",
    "category": "health",
    "stereotype": "age",
    "variation": "replication",
    "word_list": "plain",
    "order": "marginalized_first",
    "marginalized": "old",
    "default": "young",
    "coverage": 1.0,
    "one_sided": False,
    "first_share": 0.5,
    "scoring": "exact",
}


@pytest.fixture(scope="session")
def measure() -> Measure:
    return Measure("word_association", "", -1.0, 1.0, 0.0, "positive: consistent", "")


@pytest.fixture(scope="session")
def make_scores() -> Callable[..., pl.DataFrame]:
    """Return a maker of scores: one row per dict, over the values of `ROW`."""

    def make(*rows: dict[str, Any]) -> pl.DataFrame:
        filled = []
        for row in rows:
            full = {**dict.fromkeys(SCORES), **ROW, **row}
            if full["score"] is None:
                full |= {"reason": row.get("reason", "refused"), "one_sided": None}
            filled.append(full)
        return pl.DataFrame(filled, schema=SCORES)

    return make


@pytest.fixture(scope="session")
def make_pair() -> Callable[..., list[dict[str, Any]]]:
    """Return a maker of mirrored pairs: the two rows of one draw."""

    def make(pair_id: str, first: float | None, second: float | None, **row: Any):
        orders = {"marginalized_first": first, "default_first": second}
        return [{"pair_id": pair_id, "order": o, "score": s, **row} for o, s in orders.items()]

    return make
