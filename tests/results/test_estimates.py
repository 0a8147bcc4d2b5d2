"""Rows of the one result: what they are made of, and methods set side by side."""

from __future__ import annotations

import math
from typing import Any

import polars as pl
import pytest
from polars.testing import assert_frame_equal

from clinometer.errors import InputError
from clinometer.results import ESTIMATES, Measure, as_estimates, join_methods
from clinometer.results.estimates import COMMON_MEASURES

EFFECT = Measure("effect", "", -1, 1, 0, "", "")
MEASURES = {"effect": EFFECT, **COMMON_MEASURES}


def make_rows(*rows: dict[str, Any]) -> pl.DataFrame:
    return as_estimates([{"measure": "effect", **row} for row in rows], MEASURES)


@pytest.mark.parametrize("as_frame", [False, True])
def test_rows_become_whole_rows(as_frame: bool) -> None:
    rows = [{"measure": "effect", "subject": "m", "n": 3}, {"measure": "log_odds", "n": 4}]
    frame = as_estimates(pl.DataFrame(rows) if as_frame else rows, MEASURES, family="networks")
    assert frame.schema == ESTIMATES
    assert frame["family"].to_list() == ["networks"] * 2
    assert frame.select("measure", "subject", "n").rows() == [("effect", "m", 3),
                                                              ("log_odds", None, 4)]  # fmt: skip
    assert frame["estimate"].null_count() == 2


@pytest.mark.parametrize("rows", [[], pl.DataFrame(), pl.DataFrame(schema=ESTIMATES)])
def test_nothing_is_an_empty_table(rows: Any) -> None:
    table = as_estimates(rows, MEASURES)
    assert (table.height, table.schema) == (0, ESTIMATES)


def test_the_scale_is_that_of_the_measure() -> None:
    scale = ("range_low", "range_high", "neutral", "direction")
    assert make_rows({}).select(scale).rows() == [(-1.0, 1.0, 0.0, "above")]
    without_ends = make_rows({"measure": "log_odds"}).select(scale)
    assert without_ends.rows() == [(None, None, 0.0, None)]
    assert make_rows({"measure": "rank"}).select(scale).rows() == [(1.0, None, None, None)]


def test_what_a_row_says_of_its_scale_comes_first() -> None:
    rows = make_rows({"direction": "below", "neutral": 0.5, "range_low": 0.0}, {})
    assert rows["direction"].to_list() == ["below", "above"]
    scales = [(0.5, 0.0, 1.0), (0.0, -1.0, 1.0)]
    assert rows.select("neutral", "range_low", "range_high").rows() == scales


def test_nan_is_null() -> None:
    rows = [{"measure": "effect", "estimate": math.nan, "p": 0.5}]
    for source in (rows, pl.DataFrame(rows)):
        assert as_estimates(source, MEASURES).select("estimate", "p").rows() == [(None, 0.5)]


@pytest.mark.parametrize("as_frame", [False, True])
def test_an_unknown_column_is_refused(as_frame: bool) -> None:
    rows = [{"measure": "effect", "mean": 0.1, "naive_p": 0.2}]
    with pytest.raises(InputError, match="no column mean, naive_p; see docs/reference/columns.md"):
        as_estimates(pl.DataFrame(rows) if as_frame else rows, MEASURES)


@pytest.mark.parametrize("measure", ["efect", None])
def test_an_unknown_measure_is_refused(measure: str | None) -> None:
    with pytest.raises(InputError, match=f"measure '?{measure}'?; known: effect, logit"):
        make_rows({"measure": measure})


# Methods side by side

KEYS = {"subject": "m", "level": "model", "estimate": 0.3}
JUDGED: list[dict[str, Any]] = [
    {**KEYS, "method": "clustered", "p": 0.04, "ci_low": 0.1},
    {**KEYS, "method": "published", "p": 0.01},
    {**KEYS, "level": "cell", "method": "clustered", "p": 0.5},
    {**KEYS, "level": "cell", "method": "bootstrap", "ci_low": 0.2},
    {**KEYS, "subject": "n", "method": "published", "p": 0.9},
]


def test_other_methods_stand_beside_the_rows_of_one() -> None:
    columns = {"published": ["p"], "bootstrap": ["ci_low", "ci_high"], "permutation": ["p"]}
    rows = join_methods(make_rows(*JUDGED), "clustered", columns)
    assert rows.columns == [*ESTIMATES, "p_published", "ci_low_bootstrap", "ci_high_bootstrap",
                            "p_permutation"]  # fmt: skip
    selected = rows.select("level", "p", "ci_low", "p_published", "ci_low_bootstrap")
    assert selected.rows() == [
        ("model", 0.04, 0.1, 0.01, None),
        ("cell", 0.5, None, None, 0.2),
    ]
    assert rows["p_permutation"].to_list() == [None, None]
    assert_frame_equal(rows.select(list(ESTIMATES)), make_rows(*JUDGED).filter(method="clustered"))


def test_another_value_of_any_key_is_another_estimate() -> None:
    keyed = ({"retention": 0.5}, {"removed": 1}, {"weighted": True}, {"layer": "3"}, {})
    rows = make_rows(
        *(
            {**KEYS, **key, "method": method, "p": n / 10 + (method == "published") / 100}
            for n, key in enumerate(keyed)
            for method in ("published", "clustered")
        )
    )
    side_by_side = join_methods(rows, "clustered", {"published": ["p"]})
    assert side_by_side["p_published"].to_list() == pytest.approx(
        [p + 0.01 for p in side_by_side["p"]]
    )


def test_an_estimate_keeps_one_row() -> None:
    """A one-sided and a two-sided test of one estimate cannot stand in one row."""
    twice = make_rows(*JUDGED, {**JUDGED[1], "alternative": "greater"})
    with pytest.raises(InputError, match="2 rows of method 'published' agree.*effect of m"):
        join_methods(twice, "clustered", {"published": ["p"]})
    assert join_methods(twice, "clustered", {"bootstrap": ["ci_low"]}).height == 2
