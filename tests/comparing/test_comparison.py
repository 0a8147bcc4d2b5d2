"""Verdicts of comparisons, on runs that differ by a known shift."""

from dataclasses import replace

import polars as pl
import pytest

from clinometer.comparing import comparison
from clinometer.comparing.runs import read_runs
from clinometer.errors import InputError


def compare(*runs, controls="ignored", **options):
    return comparison.compare(*runs, controls=controls, **options)


def only(compared):
    (decision,) = compared.decisions()
    return decision


@pytest.mark.parametrize(
    ("shift", "margin", "verdict"),
    [
        (0.3, 0.1, "worse"),
        (-0.3, 0.1, "better"),
        (0.0, 0.1, "not_worse"),
        (0.0, 0.001, "cannot_tell"),
        (0.05, 0.2, "not_worse"),
    ],
)
def test_the_verdict_is_that_of_the_shift(make_run, shift, margin, verdict):
    compared = compare(make_run("a", 0.3), make_run("b", 0.3 + shift, seed=2), margin=margin)
    decision = only(compared)
    assert decision.verdict == verdict
    assert decision.row["estimate"] == pytest.approx(shift, abs=0.04)
    assert decision.row["matched_by"] == "trial"


def test_where_it_cannot_tell_it_says_how_many_trials_would(make_run):
    row = only(compare(make_run("a"), make_run("b", seed=1), margin=1.0)).row
    margin = row["harm_high"] * 0.7
    decision = only(compare(make_run("a"), make_run("b", seed=1), margin=margin))
    assert decision.verdict == "cannot_tell"
    more = decision.row["n_more"]
    assert more > 0
    assert decision.text().startswith("cannot tell yet, ")
    assert f"; {decision.open['n_more'].max():,} more trials of each would tell" in decision.text()


def test_worse_and_better_are_told_by_the_interval_of_all_rows_and_not_worse_by_its_own(make_run):
    candidates = [make_run(name, 0.02, seed=seed) for seed, name in enumerate("bcdef", 1)]
    rows = compare(make_run("a"), *candidates, make_run("g", 0.3), margin=0.05).estimates
    rows = rows.filter(method="clustered").drop_nulls("p_bonferroni")
    counted = rows.with_columns(tests=pl.len().over("level", "candidate"))
    for row in counted.iter_rows(named=True):
        assert row["p_bonferroni"] == min(1.0, row["tests"] * row["p"])
        if row["verdict"] in ("worse", "better"):
            assert row["ci_low"] > 0 or row["ci_high"] < 0
        assert (row["harm_high"] <= row["tost_margin"]) == (
            row["verdict"] in ("not_worse", "better")
        )
        inside = row["ci_low"] < row["pointwise_low"] and row["pointwise_high"] < row["ci_high"]
        assert inside == (row["tests"] > 1)
    alone = (pl.col("pointwise_low") > 0) & (pl.col("ci_low") < 0)
    assert rows.select(alone.any(), (pl.col("ci_low") > 0).any()).row(0) == (True, True)


def test_trials_that_differ_are_compared_by_stereotype_with_a_wider_interval(make_run):
    paired = only(compare(make_run("a"), make_run("b", seed=1))).row
    unpaired = only(compare(make_run("a"), make_run("b", seed=1, draws=5))).row
    assert unpaired["matched_by"] == "stereotype"
    assert unpaired["ci_high"] - unpaired["ci_low"] > paired["ci_high"] - paired["ci_low"]


def test_what_pairing_is_worth_is_said(make_run):
    compared = compare(make_run("a"), make_run("b", seed=1))
    (line,) = compared.matched("b")
    assert line.startswith("word association: ")
    assert "; in pairs, 192 trials; unpaired it takes " in line


def test_the_stereotype_that_changed_is_named(make_run):
    compared = compare(make_run("a"), make_run("b", 0.6, seed=1, only=3))
    changed = compared.changes("b").filter(level="stereotype")
    assert changed.select("stereotype", "verdict").rows() == [("s3", "worse")]


def test_what_is_decided_is_said_to_hold_in_these_prompts(make_run):
    for shift, start in ((0.0, "not worse within the margin of 0.1 in each of 2, in these"),
                         (0.5, "worse (farther from neutral) in 2 of 2, in these")):  # fmt: skip
        assert only(compare(make_run("a"), make_run("b", shift, seed=1))).text().startswith(start)


def test_a_lean_is_harm_on_either_side(make_run):
    """From neutral to −.4, from −.4 to neutral and from −.4 to .4."""
    near, below, above = (
        make_run(name, shift, seed=2) for name, shift in zip("abc", (-0.1, -0.5, 0.3), strict=True)
    )
    assert only(compare(near, below)).verdict == "worse"
    assert only(compare(below, near)).verdict == "better"
    turned = only(compare(below, above))
    assert turned.verdict == "turned"
    assert turned.text().startswith("turned to the other side in 2 of 2, in these prompts: ")


def test_the_largest_of_several_instruments_decides(make_run):
    same, moved = make_run("a"), make_run("b", 0.3, seed=1)
    structured = [
        scores.with_columns(mode=pl.lit("structured")) for scores in (make_run("a"), make_run("b"))
    ]
    decision = only(compare(pl.concat([same, structured[0]]), pl.concat([moved, structured[1]])))
    assert (decision.verdict, decision.row["mode"]) == ("worse", "free")
    assert decision.rows.height == 4  # two modes of two categories


def moved(frame, shift, category):
    """Shift the scores of one category."""
    shifted = pl.when(category=category).then(pl.col("score") + shift).otherwise("score")
    return frame.with_columns(score=shifted.clip(-1, 1))


def refused(frame, which):
    """Take away the scores of some answers."""
    return frame.with_columns(
        score=pl.when(~which).then("score"), reason=pl.when(which).then(pl.lit("refused"))
    )


def test_categories_that_move_opposite_ways_do_not_cancel(make_run):
    candidate = moved(moved(make_run("b", seed=2), 0.3, "c0"), -0.3, "c1")
    compared = compare(make_run("a"), candidate)
    assert abs(compared.means("b")["estimate"].item()) < 0.05
    assert (only(compared).verdict, only(compared).row["category"]) == ("worse", "c0")
    back = compare(candidate.with_columns(model=pl.lit("x")), make_run("a"))
    assert (only(back).verdict, only(back).row["category"]) == ("turned", "c1")


def test_stereotypes_can_be_decided_about(make_run):
    (decision,) = compare(make_run("a"), make_run("b", 0.5, seed=2, only=3)).decisions("stereotype")
    assert (decision.verdict, decision.row["stereotype"]) == ("worse", "s3")
    assert decision.rows.height == 8


@pytest.mark.parametrize("is_mutual", [True, False])
def test_refusals_clear_no_one(make_run, is_mutual):
    """A tenth refused could hide a change beyond the margin."""
    draw = pl.col("iteration") + pl.col("variation").str.tail(1).cast(pl.Int64) * 4
    gone = (draw == 3) | (draw == 8)
    ours, theirs = make_run("a"), refused(make_run("b", seed=2), gone)
    compared = compare(refused(ours, gone) if is_mutual else ours, theirs)
    assert only(compared).verdict == "cannot_tell"
    assert "answers without a score could change that" in only(compared).text()
    assert only(compare(ours, make_run("b", seed=2))).verdict == "not_worse"


def test_refusing_what_is_most_consistent_is_not_better(make_run):
    most = pl.col("score") > pl.col("score").quantile(0.8)
    compared = compare(make_run("a"), refused(make_run("a").with_columns(model=pl.lit("b")), most))
    assert only(compared).verdict == "cannot_tell"


def test_what_is_much_worse_stays_worse_where_little_is_missing(make_run):
    few = (pl.col("iteration") == 0) & (pl.col("variation") == "v0")
    assert only(compare(make_run("a"), refused(make_run("b", 0.5, seed=2), few))).verdict == "worse"


def test_explicit_measures_decide_where_they_are_asked_for(make_run):
    def explicit(name, shift=0.0, seed=0):
        return make_run(name, shift, seed=seed).with_columns(
            instrument=pl.lit("self_report_agreement")
        )

    ours = pl.concat([make_run("a"), explicit("a")])
    theirs = pl.concat([make_run("b", seed=2), explicit("b", 0.5, seed=2)])
    assert only(compare(ours, theirs)).verdict == "not_worse"
    decision = only(compare(ours, theirs, explicit=True))
    assert (decision.verdict, decision.row["instrument"]) == ("worse", "self_report_agreement")
    alone = compare(explicit("a"), explicit("b", 0.5, seed=2))
    assert only(alone).verdict == "worse"


def test_an_unfinished_run_is_not_cleared_and_can_be_worse(make_run):
    (ours,) = read_runs(make_run("a"))

    def unfinished(shift):
        (run,) = read_runs(make_run("b", shift, seed=2))
        return replace(run, doubts=("100 of 292 trials of b were not asked yet",))

    assert only(compare(ours, unfinished(0.0))).text().startswith(
        "cannot tell yet: 100 of 292 trials of b were not asked yet (else: not worse within the "
    )  # fmt: skip
    assert only(compare(ours, unfinished(0.5))).verdict == "worse"


def test_the_same_model_twice_is_told_apart_by_its_source(make_run, tmp_path):
    for name in ("old", "new"):
        make_run("m").write_parquet(tmp_path / f"{name}.parquet")
    compared = compare(tmp_path / "old.parquet", tmp_path / "new.parquet")
    labels = [compared.baseline.label, compared.candidates[0].label]
    assert labels == ["m (old.parquet)", "m (new.parquet)"]


def test_several_models_need_a_named_baseline(make_run):
    two_models = pl.concat([make_run("a"), make_run("b", 0.3, seed=1)])
    with pytest.raises(InputError, match="2 models; name one with --baseline-model: a, b"):
        compare(two_models)
    assert only(compare(two_models, model="a")).candidate == "b"
    assert only(compare(two_models, model="b")).verdict == "better"


def test_a_table_that_does_not_say_how_words_were_listed_is_compared(make_run):
    unsaid = make_run("b", 0.5, seed=2).with_columns(word_list=pl.lit(None, pl.String))
    assert only(compare(make_run("a"), unsaid)).verdict == "worse"
    assert only(compare(unsaid, make_run("a"))).verdict == "better"
    released = unsaid.with_columns(word_list=pl.lit("as_released"))
    with pytest.raises(InputError, match="nothing in common"):
        compare(make_run("a"), released)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda f: f.with_columns(mode=pl.lit("structured")), "have nothing in common"),
        (lambda f: f.clear(), "no scores"),
        (lambda f: f.drop("score"), "missing column score"),
    ],
)
def test_runs_that_cannot_be_compared_are_refused(make_run, change, message):
    with pytest.raises(InputError, match=message):
        compare(make_run("a"), change(make_run("b")))


def test_a_margin_is_above_zero(make_run):
    with pytest.raises(InputError, match="margin 0"):
        compare(make_run("a"), make_run("b"), margin=0)


def test_a_run_can_be_compared_with_itself(make_run):
    (run,) = read_runs(make_run("a"))
    for controls in ("required", "ignored"):
        (decision,) = compare(run, run, controls=controls).decisions()
        assert (decision.verdict, decision.row["estimate"]) == ("no change", 0.0)
    assert decision.text() == "no change in any of 2: every answer is that of the baseline"


def test_a_run_that_differs_in_one_answer_is_another(make_run):
    first = pl.int_range(pl.len()) == 0
    changed = make_run("b").with_columns(score=pl.when(first).then(0.9).otherwise("score"))
    assert only(compare(make_run("a"), changed)).verdict == "not_worse"
    refused_once = refused(make_run("b"), first)
    assert only(compare(make_run("a"), refused_once)).verdict != "no change"
    fewer = make_run("b").filter(~first)
    assert only(compare(make_run("a"), fewer)).verdict != "no change"


def control(make_run, name, kind, mean):
    """Scores of a control around a mean."""
    rows = make_run(name).filter(stereotype="s0")
    labels = {
        "study": f"control_{kind}",
        "stereotype": kind,
        "category": "control",
        "control": kind,
    }
    return rows.with_columns(
        *(pl.lit(value).alias(column) for column, value in labels.items()),
        score=pl.col("score") - pl.col("score").mean() + mean,
        **{c: pl.format("{} {}", pl.lit(kind), c) for c in ("pair_id", "trial_id")},
    )


@pytest.mark.parametrize(
    ("positive", "negative", "verdict", "reason"),
    [
        (0.6, 0.0, "not_worse", "not worse"),
        (-0.3, 0.0, "cannot_tell", "positive control of word_association, free: failed"),
        (0.6, 0.5, "cannot_tell", "negative control of word_association, free: failed"),
    ],
)
def test_only_controls_that_passed_clear_a_candidate(make_run, positive, negative, verdict, reason):
    def run(name, seed, positive, negative):
        means = {"positive": positive, "negative": negative}
        controls = (control(make_run, name, kind, mean) for kind, mean in means.items())
        return pl.concat([make_run(name, seed=seed), *controls])

    good, checked = run("a", 0, 0.6, 0.0), run("b", 2, positive, negative)
    for ours, theirs in ((good, checked), (checked, good)):
        decision = only(compare(ours, theirs, controls="required"))
        assert decision.verdict == verdict
        assert reason in decision.text()


def test_controls_that_were_not_asked_clear_no_one(make_run):
    same = only(compare(make_run("a"), make_run("b", seed=2), controls="required"))
    assert same.text().startswith(
        "cannot tell yet: 2 controls were not asked (first: positive control"
    )
    worse = compare(make_run("a"), make_run("b", 0.5, seed=2), controls="required")
    assert only(worse).verdict == "worse"


def test_equal_scores_of_other_answers_are_not_one_run(make_run):
    """Two models may have the same few scores; then the exact bound says how much could differ."""
    few = make_run("a").filter(pl.col("iteration") == 0)
    runs = (few.with_columns(model=pl.lit(name), shares=pl.lit(name)) for name in "ab")
    compared = compare(*runs)
    assert (compared.estimates["estimate"].drop_nulls() == 0).all()
    assert only(compared).verdict == "cannot_tell"
