"""The order of several runs, on runs that differ by a known shift."""

import polars as pl

from clinometer.comparing.comparison import compare
from clinometer.comparing.ranking import rank
from clinometer.report.order import ORDER

NEAR, FAR = 0.0, 0.4


def ranks(*runs):
    table = rank(compare(*runs, controls="ignored"))
    return {row["run"]: (row["rank_low"], row["rank_high"]) for row in table.iter_rows(named=True)}


def test_runs_that_differ_are_ordered_and_others_share_their_ranks(make_run):
    order = ranks(
        make_run("far", FAR), make_run("near", NEAR, seed=1), make_run("too", FAR, seed=2)
    )
    assert order == {"near": (1, 1), "far": (2, 3), "too": (2, 3)}


def test_the_baseline_is_a_run_like_others(make_run):
    runs = [make_run("a", NEAR), make_run("b", FAR, seed=1), make_run("c", 0.8, seed=2)]
    assert ranks(*runs) == ranks(*reversed(runs)) == {"a": (1, 1), "b": (2, 2), "c": (3, 3)}


def test_a_lean_to_the_other_side_is_as_far(make_run):
    # Runs have a mean of .1 in common.
    assert ranks(make_run("a", FAR), make_run("b", -FAR - 0.2, seed=1), make_run("c", seed=2)) == {
        "c": (1, 1),
        "a": (2, 3),
        "b": (2, 3),
    }


def test_what_cannot_be_ordered_is_said(make_run):
    table = rank(
        compare(*(make_run(name, seed=k) for k, name in enumerate("abc")), controls="ignored")
    )
    places = [row[-1].text for row in ORDER.render(table).rows]
    assert places == ["cannot be ordered"] * 3


def test_ranks_hold_with_the_confidence_that_is_asked_for(make_run):
    runs = [make_run("a"), make_run("b", 0.05, seed=1), make_run("c", 0.1, seed=2)]
    sure, unsure = (
        rank(compare(*runs, controls="ignored", confidence=confidence))
        for confidence in (0.9999, 0.5)
    )
    widths = [(table["rank_high"] - table["rank_low"]).sum() for table in (sure, unsure)]
    assert widths[0] > widths[1]


def test_a_run_on_which_a_control_failed_has_no_rank(make_run):
    compared = compare(
        make_run("a"), make_run("b", FAR, seed=1), make_run("c", seed=2), controls="ignored"
    )
    own = compared.own["b"]
    is_mean = (pl.col("level") == "model") & pl.col("factor").is_null()
    control = own.filter(is_mean).with_columns(
        control=pl.lit("negative"), verdict=pl.lit("failed"), level=pl.lit("stereotype")
    )
    compared.own["b"] = pl.concat([own, control])
    assert set(rank(compared)["run"]) == {"a", "c"}


def test_the_interval_is_that_of_the_run(make_run):
    compared = compare(*(make_run(str(k), seed=k) for k in range(3)), controls="ignored")
    for row in rank(compared).iter_rows(named=True):
        own = compared.own[row["run"]].filter(
            range="prompts", level="model", measure="word_association"
        )
        assert own.select("estimate", "ci_low", "ci_high").row(0) == (
            row["mean"],
            row["low"],
            row["high"],
        )
