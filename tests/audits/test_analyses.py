"""Detail tables, from answers and scores that are known."""

from __future__ import annotations

import json
import random
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from scipy import stats

from clinometer.audits.conditions import contrast_conditions
from clinometer.audits.tabulating import estimate_scores
from clinometer.contracts.catalogue import INSTRUMENTS, MEASURES
from clinometer.contracts.design import Design
from clinometer.instruments.absolute_decision.yes_shares import compare_relative, count_yes
from clinometer.instruments.affective_attribution.attributions import (
    AFTERWARDS,
    DETAILS,
    SHARES,
    contrast_attributions,
    count_attributions,
)
from clinometer.reference import load_published
from clinometer.results import ESTIMATES, SCORES, VERSIONS
from clinometer.results.judging import judge
from clinometer.results.tables import read_table
from clinometer.scoring import score
from clinometer.statistics import estimate_measure
from clinometer.statistics.changes import Contrasted
from clinometer.statistics.reliability import RELIABILITY
from clinometer.stimuli import load_study
from clinometer_measures.replication.chained_task.regressions import join_parts, regress_decisions

MIST = load_study("mist2025")
ANSWERS = ("Comedy", "Tragedy", "Neutral", "I'm sorry, I can't help with that.")


def answered(model: str = "m", order: str = "mirrored", seed: int = 1) -> pl.DataFrame:
    """Answers that lean: comedy for the default group in 6 of 10, for the other in 3."""
    trials = INSTRUMENTS["affective_attribution"].trials(MIST, Design(iterations=20, order=order))
    rng = random.Random(seed)
    weights = {"default": (6, 2, 1, 1), "marginalized": (3, 5, 1, 1)}
    texts = [f"{o}: {rng.choices(ANSWERS, weights[v])[0]}" if o else ""
             for o, v in trials.select("object", "version").iter_rows()]  # fmt: skip
    texts = [ANSWERS[3] if ANSWERS[3] in text else text for text in texts]
    return trials.with_columns(
        model=pl.lit(model), response=pl.Series(texts), stop_reason=pl.lit("stop"),
        error=pl.lit(None, pl.String),
    )  # fmt: skip


def scored(**options: str) -> pl.DataFrame:
    return score(answered(**options), MIST)[0]  # type: ignore[arg-type]


def change(contrasts: Contrasted, share: str, method: str = "bounded") -> dict[str, Any]:
    """The difference of one share over all stereotypes."""
    rows = contrasts.estimates.filter(level="model", measure=f"{share}_share", method=method)
    return rows.row(0, named=True)


@pytest.fixture(scope="module")
def scores() -> pl.DataFrame:
    return scored()


@pytest.fixture(scope="module")
def contrasted(scores: pl.DataFrame) -> Contrasted:
    return contrast_attributions(scores.lazy())


def test_rates_are_shares_of_what_could_be_read(scores: pl.DataFrame) -> None:
    table = count_attributions(scores.lazy())
    assert table.schema == DETAILS["attributions"].schema
    for group, rate, outcome in (("default", "far", "comedy"), ("marginalized", "uar", "tragedy")):
        row = table.filter(level="model", version=group).row(0, named=True)
        group_scores = scores.filter(version=group)
        assert (row["n"], row["n_read"]) == (300, group_scores["score"].count())
        assert (
            row["n_refused"] == (group_scores["reason"] == "refused").sum() == 300 - row["n_read"]
        )
        expected = (group_scores["outcome"] == outcome).sum() / row["n_read"]
        assert row[rate] == row[f"{outcome}_share"] == pytest.approx(expected)
        assert row["comedy_share"] + row["tragedy_share"] + row["neutral_share"] == pytest.approx(1)
    assert table.filter(version="default")["uar"].null_count() == 14
    assert table["level"].value_counts().sort("level")["count"].to_list() == [6, 2, 20]


def test_the_contrast_is_paired(scores: pl.DataFrame, contrasted: Contrasted) -> None:
    row, published = change(contrasted, "comedy"), change(contrasted, "comedy", "published")
    comedy = pl.when(pl.col("score").is_not_null()).then(
        (pl.col("outcome") == "comedy").cast(pl.Float64)
    )
    pairs = scores.with_columns(comedy=comedy).pivot(
        "version", index=["pair_id", "stereotype"], values="comedy"
    )
    paired = pairs.drop_nulls().with_columns(more=pl.col("default") - pl.col("marginalized"))
    theirs = stats.ttest_rel(paired["default"], paired["marginalized"])
    assert row["n_scored"] == paired.height
    assert published["statistic"] == pytest.approx(theirs.statistic)
    assert published["p"] == pytest.approx(theirs.pvalue)
    assert published["estimate"] == pytest.approx(paired["more"].mean())
    stereotype_means = paired.group_by("stereotype").agg(pl.col("more").mean())
    assert row["estimate"] == pytest.approx(stereotype_means["more"].mean())
    assert row["bound_low"] < row["estimate"] < row["bound_high"] and row["estimate"] > 0.15


def test_the_side_of_the_stereotype_is_told_by_share(contrasted: Contrasted) -> None:
    contrasts = contrasted
    sides = {share: change(contrasts, share)["direction"] for share in SHARES}
    assert sides == {"comedy": "above", "tragedy": "below", "neutral": None}
    assert change(contrasts, "tragedy")["estimate"] < 0
    assert [change(contrasts, "comedy")[c] for c in ("range_low", "range_high")] == [-1.0, 1.0]
    judged = judge(contrasts.estimates).filter(level="model", range="prompts").drop_nulls("verdict")
    assert dict(judged.select("measure", "verdict").iter_rows()) == {
        "comedy_share": "higher", "tragedy_share": "lower", "neutral_share": "inconclusive",
        "far_minus_uar": "higher",
    }  # fmt: skip


def test_a_change_of_compliance_stands_once_and_not_by_share(contrasted: Contrasted) -> None:
    contrasts = contrasted
    changes = contrasts.estimates.filter(measure="compliance")
    these = contrasts.estimates.filter(pl.col("method") != "generalised")
    assert changes.height == contrasts.matches.height == these.height / 13


def test_where_nothing_is_neutral_the_score_is_the_difference_in_comedy() -> None:
    decided = answered().with_columns(
        response=pl.when(pl.col("response").str.contains("Comedy"))
        .then(pl.lit("Comedy"))
        .otherwise(pl.lit("Tragedy"))
    )
    scores = score(decided, MIST)[0]
    estimates = estimate_measure(scores, MEASURES["affective_attribution"])
    mean = estimates.filter(level="model", method="clustered")["estimate"][0]
    contrasts = contrast_attributions(scores.lazy())
    assert change(contrasts, "comedy")["estimate"] == pytest.approx(mean)
    assert "neutral_share" not in set(contrasts.estimates["measure"])


def test_everything_a_tragedy_has_a_rate_and_no_difference() -> None:
    scores = score(answered().with_columns(response=pl.lit("Tragedy")), MIST)[0]
    rates = count_attributions(scores.lazy()).filter(level="model")
    assert rates["uar"].drop_nulls().to_list() == [1.0]
    assert change(contrast_attributions(scores.lazy()), "tragedy")["estimate"] == 0.0


def test_groups_drawn_at_random_are_paired_afterwards(contrasted: Contrasted) -> None:
    assert set(contrasted.estimates["note"]) == {None}
    random_order = scored(order="random")
    contrasts = contrast_attributions(random_order.lazy())
    assert set(contrasts.estimates["note"]) == {AFTERWARDS}
    row = change(contrasts, "comedy")
    shares = (
        count_attributions(random_order.lazy())
        .filter(level="model")
        .sort("version")["comedy_share"]
    )
    assert row["estimate"] == pytest.approx(shares[0] - shares[1], abs=0.1)
    assert row["n_scored"] > 150 and "group words" in row["conditional_on"]


def test_pairs_made_afterwards_do_not_follow_the_answers() -> None:
    tragedies = answered(order="random").with_columns(response=pl.lit("Tragedy"))
    contrasts = contrast_attributions(score(tragedies, MIST)[0].lazy())
    assert change(contrasts, "tragedy")["estimate"] == 0.0
    default_scores = scored().filter(version="default")
    assert all(table.is_empty() for table in contrast_attributions(default_scores.lazy())[:2])


def test_the_option_named_first_is_counted() -> None:
    first = (
        pl.when(attribute_order="counter_first").then(pl.lit("Comedy")).otherwise(pl.lit("Tragedy"))
    )
    table = count_attributions(score(answered().with_columns(response=first), MIST)[0].lazy())
    assert table["first_share"].unique().to_list() == [1.0]


def test_forced_shares_are_mean_probabilities() -> None:
    trials = answered().with_columns(mode=pl.lit("forced"))
    recorded = [json.dumps({o: [-1.0, -1.0 - 1.0986122886681098]}) for o in trials["object"]]
    scores = score(trials.with_columns(response=pl.Series(recorded)), MIST)[0]
    table = count_attributions(scores.lazy())
    row = table.filter(level="model", version="marginalized").row(0, named=True)
    assert (row["comedy_share"], row["uar"]) == (pytest.approx(0.75), pytest.approx(0.25))
    assert row["n_comedy"] == pytest.approx(225)


def test_details_are_those_the_scores_allow(tmp_path: Path) -> None:
    model_scores = pl.concat([scored(), scored(model="n", seed=2)]).select(list(SCORES))
    model_scores.write_csv(tmp_path / "scores.csv")
    estimates, details = estimate_scores(tmp_path / "scores.csv")
    assert set(details) == {"items", "orders", "compliance", "matches", "attributions"}
    assert estimates.schema == ESTIMATES
    measures = {"affective_attribution", *(f"{share}_share" for share in SHARES)}
    assert set(estimates["measure"]) - {*RELIABILITY} == {
        *measures,
        "far_minus_uar",
        "compliance",
        "rank",
    }
    assert {"split_half", "wording_correlation"} < {*estimates["measure"]}
    ranks = estimates.filter(measure="rank")
    assert ranks.select("estimate", "n").rows() == [(1.0, 2), (2.0, 2)]


def rows_of(rows: list[dict[str, Any]]) -> pl.LazyFrame:
    common = {"model": "m", "study": "s", "mode": "free", "intervention": "none"}
    common |= {"category": "c", "stereotype": "a", "variation": "v", "trial_id": "t"}
    return pl.DataFrame([{**common, **row} for row in rows], schema=SCORES).lazy()


def test_shares_of_yes_count_yes_and_no_of_each_version() -> None:
    yes = {"marginalized_tied": 1.0, "default_counter": 1.0}  # else a yes scores 0
    rows = [
        {
            "version": version,
            "score": yes.get(version, 0.0) if is_yes else 1 - yes.get(version, 0.0),
        }
        for version in VERSIONS
        for is_yes in (True, True, True, False)
    ]
    rows.append({"version": "default_tied", "score": None, "reason": "refused"})
    rows.append({"version": "default_tied", "score": None, "stereotype": "b"})
    frame = rows_of([{"instrument": "absolute_decision", **row} for row in rows])
    shares = count_yes(frame)
    counted = shares.filter(stereotype="a").select("version", "n", "n_yes", "n_no", "yes_share")
    assert counted.rows() == [
        (version, 5 if version == "default_tied" else 4, 3.0, 1.0, 0.75) for version in VERSIONS
    ]  # fmt: skip
    nothing = shares.filter(stereotype="b").row(0, named=True)
    assert (nothing["n"], nothing["n_yes"], nothing["yes_share"]) == (1, 0.0, None)


def test_an_answer_needs_both_scores_to_be_in_a_regression() -> None:
    rows = [
        {"instrument": f"chained_{part}", "trial_id": f"t{n}", "score": value}
        for n, part_scores in enumerate([(0.5, 1.0), (None, 0.0), (0.2, None), (-0.3, 0.0)])
        for part, value in zip(("association", "decision"), part_scores, strict=True)
    ]
    answers = join_parts(rows_of(rows))
    assert answers.select("trial_id", "association", "decision").rows() == [
        ("t0", 0.5, 1.0), ("t3", -0.3, 0.0)
    ]  # fmt: skip


def test_recorded_answers_of_one_name_are_not_multiplied() -> None:
    """Released tables number their answers anew in each file."""
    values = [(0.1, 1.0), (0.2, None), (0.3, 0.0)]
    rows = [
        {"instrument": f"chained_{part}", "score": value}
        for part_scores in values
        for part, value in zip(("association", "decision"), part_scores, strict=True)
    ]
    answers = join_parts(rows_of(rows))
    assert answers.select("association", "decision").rows() == [values[0], values[2]]


def test_regressions_stand_by_model_mode_and_intervention() -> None:
    """Coefficients are checked in tests/statistics; here only what they are of."""
    rows = [
        {"model": model, "trial_id": f"t{n}", "instrument": f"chained_{part}", "score": value,
         "stereotype": "ab"[n % 2], "category": "xy"[n % 2]}
        for model in ("m1", "m2")
        for n in range(24)
        for part, value in (("association", n / 24), ("decision", float(n * 7 % 24 > 9)))
    ]  # fmt: skip
    regressions = regress_decisions(join_parts(rows_of(rows)))
    for table in regressions:
        assert set(table["model"]) == {"m1", "m2"}
        assert set(table["instrument"]) == {"chained_decision"}
        assert set(table["part"]) == {"all", "x", "y"}
    pooled = regressions.estimates.filter(part="all")
    assert pooled["n_scored"].unique().to_list() == [24]
    assert pooled["subject"].to_list() == pooled["model"].to_list()
    assert all(table.is_empty() for table in regress_decisions(join_parts(rows_of([]))))


def test_contrasts_need_an_intervention() -> None:
    row = {"instrument": "relative_decision", "score": 1.0, "iteration": 0, "word_list": "plain"}
    row |= {"scoring": "exact", "order": "marginalized_first", "pair_id": "p"}
    assert all(table.is_empty() for table in contrast_conditions(rows_of([row]))[:2])
    kind_contrast = contrast_conditions(
        rows_of([row, {**row, "intervention": "kind", "score": 0.0}])
    )
    differences = kind_contrast.estimates.filter(level="model", measure="relative_decision")
    assert differences["estimate"].to_list() == [-1.0] * 3
    assert differences["method"].to_list() == ["clustered", "published", "bounded"]


def published_answers(model: str, pairs: int = 1000) -> pl.DataFrame:
    """Scores of a model with the shares of comedy and tragedy that Table 2 of MIST prints."""
    table, rows = load_published("mist2025", "affective_attribution").filter(model=model), []
    for row in table.iter_rows(named=True):
        comedy, tragedy = (round(pairs * row[f"{name}_share"]) for name in ("comedy", "tragedy"))
        sign = 1.0 if row["group"] == "default" else -1.0
        for k in range(pairs):
            outcome = "comedy" if k < comedy else "tragedy" if k < comedy + tragedy else "neutral"
            value = {"comedy": sign, "tragedy": -sign, "neutral": 0.0}[outcome]
            rows.append({"version": row["group"], "outcome": outcome, "score": value,
                         "iteration": k, "pair_id": f"{k}", "object": f"{k % 30}"})  # fmt: skip
    constants = {"model": model, "instrument": "affective_attribution", "stereotype": "age"}
    frame = pl.DataFrame(rows).with_columns(pl.lit(v).alias(name) for name, v in constants.items())
    frame = frame.with_columns(pl.lit(None).alias(c) for c in SCORES if c not in frame.columns)
    return frame.select(pl.col(name).cast(kind) for name, kind in SCORES.items())


@pytest.mark.parametrize(
    ("model", "expected"), [("Claude-3.7-sonnet", 0.730), ("DeepSeek-R1", -0.523)]
)
def test_far_against_uar_as_printed(model: str, expected: float) -> None:
    """Table 2 of Li et al. (2025): .777 − .047 and .265 − .788, which section 4.4 contrasts."""
    contrasts = contrast_attributions(published_answers(model).lazy())
    row = contrasts.estimates.filter(level="model", measure="far_minus_uar", range="prompts")
    assert row["estimate"].item() == pytest.approx(expected)
    assert (row["ci_low"].item() > 0) == (expected > 0) == (row["ci_high"].item() > 0)


def test_without_neutral_answers_far_and_uar_say_tone_and_bias() -> None:
    never_neutral = published_answers("DeepSeek-R1")
    contrasts = contrast_attributions(never_neutral.lazy())
    bounded = contrasts.estimates.filter(level="model", method="bounded")
    measures = ("far_minus_uar", "comedy_share")
    by_measure = {m: bounded.filter(measure=m).row(0, named=True) for m in measures}
    far, uar = (
        by_measure["far_minus_uar"][f"{side}_estimate"] for side in ("candidate", "baseline")
    )
    comedy = [by_measure["comedy_share"][f"{side}_estimate"] for side in ("candidate", "baseline")]
    assert by_measure["far_minus_uar"]["estimate"] == pytest.approx(sum(comedy) - 1)
    assert by_measure["comedy_share"]["estimate"] == pytest.approx(far + uar - 1)


BAI = load_study("bai2025")


def decided(instrument: str, consistent: dict[str, list[int]]) -> pl.DataFrame:
    """Scores of decisions, a list of them for each stereotype."""
    rows = [
        {"instrument": instrument, "stereotype": key, "iteration": k, "score": float(score),
         "marginalized": f"{key} {k % 2}", "pair_id": f"{instrument} {key} {k}"}
        for key, scores in consistent.items() for k, score in enumerate(scores)
    ]  # fmt: skip
    constants = {"model": "m", "study": "bai2025", "mode": "free", "intervention": "none",
             "variation": "replication", "category": "c", "default": "d"}  # fmt: skip
    frame = pl.DataFrame(rows).with_columns(pl.lit(v).alias(name) for name, v in constants.items())
    frame = frame.with_columns(pl.lit(None).alias(c) for c in SCORES if c not in frame.columns)
    return frame.select(pl.col(name).cast(kind) for name, kind in SCORES.items())


def differences(scores: pl.DataFrame, level: str) -> pl.DataFrame:
    rows = compare_relative(scores.lazy())
    return rows.filter(level=level, range="prompts", measure="consistent_share")


def test_relative_and_absolute_decisions_differ_by_hand() -> None:
    relative = decided("relative_decision", {"age": [1, 1, 1, 0], "weight": [1, 0], "race": [1]})
    absolute = decided("absolute_decision", {"age": [1, 0, 1, 0], "weight": [1, 0, 0, 0]})
    by_stereotype = differences(pl.concat([relative, absolute]), "stereotype")
    assert dict(by_stereotype.select("stereotype", "estimate").rows()) == {
        "age": 0.25,
        "weight": 0.25,
    }
    overall = differences(pl.concat([relative, absolute]), "model").row(0, named=True)
    means = [(0.75 + 0.5) / 2, (0.5 + 0.25) / 2]  # each stereotype that both have, once
    assert (overall["candidate_estimate"], overall["baseline_estimate"]) == pytest.approx(means)
    assert (overall["candidate"], overall["baseline"]) == ("relative_decision", "absolute_decision")
    assert (overall["range_low"], overall["range_high"], overall["neutral"]) == (-1, 1, 0)


def test_a_model_that_always_says_yes_is_neutral_in_absolute_decisions() -> None:
    yes = [int(version in ("marginalized_tied", "default_counter")) for version in VERSIONS]
    absolute = decided("absolute_decision", {"age": yes, "weight": yes})
    relative = decided("relative_decision", {"age": [1, 1], "weight": [1, 1]})
    overall = differences(pl.concat([absolute, relative]), "model").row(0, named=True)
    assert (overall["baseline_estimate"], overall["estimate"]) == (0.5, 0.5)


def test_relative_decisions_alone_are_compared_with_nothing() -> None:
    assert compare_relative(decided("relative_decision", {"age": [1, 0]}).lazy()).is_empty()


def test_frames_put_together_are_compared_like_one() -> None:
    """Ten frames of twenty answers made polars panic where texts were joined by `pl.format`."""
    run_parts = [
        decided(f"{kind}_decision", {"age": [1, 0] * 10}) for kind in ("relative", "absolute")
    ]
    runs = [pl.concat(run_parts).with_columns(model=pl.lit(f"run {k}")) for k in range(10)]
    compared = compare_relative(pl.concat(runs).lazy()).filter(
        level="stereotype", method="clustered"
    )
    assert dict(compared.select("model", "estimate").rows()) == {f"run {k}": 0.0 for k in range(10)}


def test_gpt_4_decides_with_more_bias_between_two_people(shared_data: Path) -> None:
    """Bai et al. (2025): relative, not absolute, decisions reveal more biases; no test is given."""
    file_names = {
        "absolute_decision": "gpt4_absolute_responses",
        "chained_task": "gpt4_chained_labelled",
    }
    scored = [
        score(read_table(shared_data / "bai" / f"{file}.csv"), BAI, instrument=name, model="gpt4")
        for name, file in file_names.items()
    ]
    scores = pl.concat([table.scores for table in scored])
    by_stereotype = differences(scores, "stereotype")
    means = scores.drop_nulls("score").group_by("stereotype", "instrument").agg(
        pl.col("score").mean()
    ).pivot("instrument", index="stereotype", values="score")  # fmt: skip
    difference = pl.col("chained_decision") - pl.col("absolute_decision")
    overall = differences(scores, "model").row(0, named=True)
    assert by_stereotype.height == 21
    assert overall["estimate"] == pytest.approx(means.select(difference.mean()).item())
    assert overall["estimate"] == pytest.approx(0.122, abs=5e-4)
    assert overall["ci_low"] > 0.05 and overall["p"] < 0.01
