"""The tables of stereotype content, from answers whose shares are known."""

from __future__ import annotations

import json
import random
from pathlib import Path

import polars as pl
import pytest
from scipy import stats

from tiltmeter.audits.content import attribution_contrasts, attributions
from tiltmeter.audits.tabulating import estimate_scores, write_further_tables
from tiltmeter.instruments.catalogue import INSTRUMENTS, MEASURES
from tiltmeter.instruments.design import Design
from tiltmeter.instruments.scoring import score
from tiltmeter.results import SCORES
from tiltmeter.statistics import estimate
from tiltmeter.stimuli import load_study

MIST = load_study("mist2025")
SAID = ("Comedy", "Tragedy", "Neutral", "I'm sorry, I can't help with that.")


def answered(model: str = "m", order: str = "mirrored", seed: int = 1) -> pl.DataFrame:
    """Answers that lean: comedy for the default group in 6 of 10, for the other in 3."""
    drawn = INSTRUMENTS["affective_attribution"].trials(MIST, Design(iterations=20, order=order))
    rng = random.Random(seed)
    weights = {"default": (6, 2, 1, 1), "marginalized": (3, 5, 1, 1)}
    texts = [f"{o}: {rng.choices(SAID, weights[v])[0]}" if o else ""
             for o, v in drawn.select("object", "version").iter_rows()]  # fmt: skip
    texts = [SAID[3] if SAID[3] in text else text for text in texts]
    return drawn.with_columns(
        model=pl.lit(model), response=pl.Series(texts), stop_reason=pl.lit("stop"),
        error=pl.lit(None, pl.String),
    )  # fmt: skip


def scored(**how: str) -> pl.DataFrame:
    return score(answered(**how), MIST)[0]  # type: ignore[arg-type]


@pytest.fixture(scope="module")
def scores() -> pl.DataFrame:
    return scored()


def test_rates_are_shares_of_what_could_be_read(scores: pl.DataFrame) -> None:
    table = attributions(scores.lazy())
    for group, rate, outcome in (("default", "far", "comedy"), ("marginalized", "uar", "tragedy")):
        row = table.filter(level="model", group=group).row(0, named=True)
        of = scores.filter(version=group)
        assert (row["n"], row["n_read"]) == (300, of["score"].count())
        assert row["n_refused"] == (of["reason"] == "refused").sum() == 300 - row["n_read"]
        expected = (of["outcome"] == outcome).sum() / row["n_read"]
        assert row[rate] == row[f"{outcome}_share"] == pytest.approx(expected)
        assert row["comedy_share"] + row["tragedy_share"] + row["neutral_share"] == pytest.approx(1)
    assert table.filter(group="default")["uar"].null_count() == 14
    assert table["level"].value_counts().sort("level")["count"].to_list() == [6, 2, 20]


def test_the_contrast_is_paired(scores: pl.DataFrame) -> None:
    row = attribution_contrasts(scores.lazy()).filter(level="model", share="comedy").row(
        0, named=True
    )  # fmt: skip
    comedy = pl.when(pl.col("score").is_not_null()).then(
        (pl.col("outcome") == "comedy").cast(pl.Float64)
    )
    pairs = scores.with_columns(comedy=comedy).pivot("version", index="pair_id", values="comedy")
    both = pairs.drop_nulls()
    theirs = stats.ttest_rel(both["default"], both["marginalized"])
    assert row["n_matched"] == both.height
    assert row["naive_t"] == pytest.approx(theirs.statistic)
    assert row["naive_p"] == pytest.approx(theirs.pvalue)
    assert row["difference"] == pytest.approx((both["default"] - both["marginalized"]).mean())
    assert row["bound_low"] < row["ci_low"] and row["difference"] > 0.15


def test_where_nothing_is_neutral_the_score_is_the_difference_in_comedy() -> None:
    decided = answered().with_columns(
        response=pl.when(pl.col("response").str.contains("Comedy"))
        .then(pl.lit("Comedy"))
        .otherwise(pl.lit("Tragedy"))
    )
    scores = score(decided, MIST)[0]
    mean = estimate(scores, MEASURES["affective_attribution"]).filter(level="model")["mean"][0]
    change = attribution_contrasts(scores.lazy()).filter(level="model", share="comedy")
    assert change["difference"][0] == pytest.approx(mean)
    assert "neutral" not in set(attribution_contrasts(scores.lazy())["share"])


def test_everything_a_tragedy_has_a_rate_and_no_difference() -> None:
    scores = score(answered().with_columns(response=pl.lit("Tragedy")), MIST)[0]
    rates = attributions(scores.lazy()).filter(level="model")
    assert rates["uar"].drop_nulls().to_list() == [1.0]
    change = attribution_contrasts(scores.lazy()).filter(level="model", share="tragedy")
    assert change["difference"].to_list() == [0.0]


def test_groups_drawn_at_random_are_paired_afterwards(scores: pl.DataFrame) -> None:
    drawn = attribution_contrasts(scores)
    assert set(drawn["pairing"]) == {"drawn"}
    random_order = scored(order="random")
    table = attribution_contrasts(random_order)
    assert set(table["pairing"]) == {"afterwards"}
    row = table.filter(level="model", share="comedy").row(0, named=True)
    shares = attributions(random_order).filter(level="model").sort("group")["comedy_share"]
    assert row["difference"] == pytest.approx(shares[0] - shares[1], abs=0.1)
    assert row["n_matched"] > 150 and "unrecorded group words" in row["conditional_on"]


def test_pairs_made_afterwards_do_not_follow_the_answers() -> None:
    table = attribution_contrasts(score(
        answered(order="random").with_columns(response=pl.lit("Tragedy")), MIST)[0])  # fmt: skip
    assert table.filter(level="model", share="tragedy")["difference"].to_list() == [0.0]
    one = scored().filter(version="default")
    assert attribution_contrasts(one).is_empty()


def test_the_option_named_first_is_counted() -> None:
    first = (
        pl.when(attribute_order="counter_first").then(pl.lit("Comedy")).otherwise(pl.lit("Tragedy"))
    )
    table = attributions(score(answered().with_columns(response=first), MIST)[0].lazy())
    assert table["first_share"].unique().to_list() == [1.0]


def test_forced_shares_are_mean_probabilities() -> None:
    drawn = answered().with_columns(mode=pl.lit("forced"))
    recorded = [json.dumps({o: [-1.0, -1.0 - 1.0986122886681098]}) for o in drawn["object"]]
    table = attributions(score(drawn.with_columns(response=pl.Series(recorded)), MIST)[0].lazy())
    row = table.filter(level="model", group="marginalized").row(0, named=True)
    assert (row["comedy_share"], row["uar"]) == (pytest.approx(0.75), pytest.approx(0.25))
    assert row["n_comedy"] == pytest.approx(225)


def test_further_tables_are_those_the_scores_allow(tmp_path: Path) -> None:
    both = pl.concat([scored(), scored(model="n", seed=2)]).select(list(SCORES))
    both.write_csv(tmp_path / "scores.csv")
    estimates, _ = estimate_scores(tmp_path / "scores.csv")
    (tmp_path / "yes_shares.parquet").write_bytes(b"stale")
    names = write_further_tables(tmp_path / "scores.csv", estimates, tmp_path)
    assert names == ["attributions", "attribution_contrasts", "ranks"]
    assert not (tmp_path / "yes_shares.parquet").exists()
    assert pl.read_parquet(tmp_path / "ranks.parquet")["rank"].to_list() == [1, 2]
