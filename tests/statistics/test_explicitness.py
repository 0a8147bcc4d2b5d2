"""Explicit beside implicit: gaps of means on a common scale, against scipy's Welch test."""

from __future__ import annotations

from typing import Any

import numpy as np
import polars as pl
import pytest
from scipy import stats

from clinometer.results import Measure, as_estimates
from clinometer.statistics.explicitness import explicit_gaps

MEASURES = {
    "pairs": Measure("pairs", "", -1.0, 1.0, 0.0, "", ""),
    "chooses": Measure("chooses", "", 0.0, 1.0, 0.5, "", ""),
    "says": Measure("says", "", -1.0, 1.0, 0.0, "", "", explicit=True),
    "agrees": Measure("agrees", "", 0.0, 1.0, 0.5, "", "", consistent="below", explicit=True),
    "counts": Measure("counts", "", 0.0, 9.0, 0.0, "", "", explicit=True),
}


def mean(measure: str, estimate: float | None, **more: Any) -> dict[str, Any]:
    row = {"model": "m", "subject": "m", "study": f"s_{measure}", "instrument": measure}
    row |= {"measure": measure, "level": "category", "category": "age", "mode": "free"}
    row |= {"method": "clustered", "intervention": "none", "tost_margin": 0.1, "confidence": 0.95}
    return {**row, "estimate": estimate, "se": 0.1, "df": 5.0, "n": 9, "n_scored": 8, **more}


def gaps(*rows: dict[str, Any]) -> pl.DataFrame:
    return explicit_gaps(as_estimates(rows, MEASURES))


def test_the_gap_of_two_samples_is_that_of_welch() -> None:
    rng = np.random.default_rng(3)
    ours, theirs = rng.normal(0.4, 0.2, 12), rng.normal(0.1, 0.4, 7)
    means = [
        mean(name, x.mean(), se=x.std(ddof=1) / len(x) ** 0.5, df=len(x) - 1.0)
        for name, x in (("pairs", ours), ("says", theirs))
    ]
    row = gaps(*means).row(0, named=True)
    welch = stats.ttest_ind(ours, theirs, equal_var=False)
    interval = welch.confidence_interval()
    assert (row["baseline"], row["candidate"], row["factor"]) == ("says", "pairs", "instrument")
    assert row["statistic"] == pytest.approx(welch.statistic)
    assert (row["p"], row["df"]) == (pytest.approx(welch.pvalue), pytest.approx(welch.df))
    assert (row["ci_low"], row["ci_high"]) == pytest.approx(interval)


def test_means_are_shares_of_the_way_to_the_stereotypical_end() -> None:
    row = gaps(mean("chooses", 0.75), mean("agrees", 0.4)).row(0, named=True)
    assert (row["candidate_estimate"], row["baseline_estimate"]) == pytest.approx((0.5, 0.2))
    assert row["estimate"] == pytest.approx(0.3)
    assert row["se"] == pytest.approx(0.2 * 2**0.5)


def test_each_implicit_measure_meets_each_explicit_one_of_its_category_and_mode() -> None:
    gap_rows = gaps(
        *(mean(name, 0.6) for name in ("pairs", "chooses", "says")),
        mean("agrees", 0.6, category="race"),
        mean("says", 0.6, mode="forced"),
        mean("says", 0.1, control="positive"),
        mean("says", 0.1, factor="intervention"),
        mean("counts", 4.0),
    )
    assert gap_rows.select("baseline", "candidate").rows() == [
        ("says", "pairs"),
        ("says", "chooses"),
    ]


def test_dimensions_of_the_explicit_measure_stay_apart() -> None:
    explicit = [mean("says", 0.1, dimension=name) for name in ("ambiguous", "disambiguated")]
    assert gaps(mean("pairs", 0.2), *explicit)["dimension"].to_list() == [
        "ambiguous",
        "disambiguated",
    ]
    assert gaps(mean("pairs", 0.2, dimension="warmth"), explicit[0]).is_empty()


def test_an_explicit_measure_of_the_same_study_meets_its_own_dimension() -> None:
    means = [
        mean(name, 0.2, study="mist", dimension=dimension)
        for name in ("pairs", "says")
        for dimension in ("warmth", "competence")
    ]
    gap_rows = gaps(*means, mean("pairs", 0.2, study="bai"), mean("says", 0.1, study="bai"))
    assert sorted(gap_rows.select("study", "dimension").rows(), key=str) == [
        ("bai", None), ("mist", "competence"), ("mist", "warmth"),
    ]  # fmt: skip


def test_stereotypes_are_compared_where_both_were_asked_them() -> None:
    means = [
        mean(n, 0.2, level="stereotype", study="s", stereotype="power") for n in ("pairs", "says")
    ]
    unmatched = mean("says", 0.2, level="stereotype", study="t", stereotype="power")
    assert gaps(*means, unmatched).select("study", "stereotype").rows() == [("s", "power")]


def test_without_an_error_there_is_a_gap_and_no_test() -> None:
    row = gaps(mean("pairs", 0.2), mean("says", 0.1, se=None, df=None)).row(0, named=True)
    assert row["estimate"] == pytest.approx(0.1)
    assert row["p"] is None and row["ci_low"] is None and row["test"] is None


def test_no_explicit_measure_no_gap() -> None:
    assert gaps(mean("pairs", 0.2)).is_empty()
