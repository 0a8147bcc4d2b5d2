"""Verdicts of comparisons, on runs that differ by a known shift."""

import polars as pl
import pytest

from clinometer.comparing.comparison import compare
from clinometer.comparing.runs import read_runs
from clinometer.errors import InputError


def only(comparison):
    (headline,) = comparison.headlines()
    return headline


@pytest.mark.parametrize(
    ("shift", "margin", "verdict"),
    [
        (0.3, 0.1, "worse"),
        (-0.3, 0.1, "better"),
        (0.0, 0.1, "not worse, within margin"),
        (0.0, 0.001, "cannot tell"),
        (0.05, 0.2, "not worse, within margin"),
    ],
)
def test_the_verdict_is_that_of_the_shift(run_of, shift, margin, verdict):
    compared = compare(run_of("a"), run_of("b", shift, seed=1), margin=margin)
    headline = only(compared)
    assert headline.verdict == verdict
    assert headline.row["estimate"] == pytest.approx(shift, abs=0.04)
    assert headline.row["matched_by"] == "trial"


def test_where_it_cannot_tell_it_says_how_many_trials_would(run_of):
    """With one wording the variance falls as trials grow; the interval has to end at the margin."""
    ours, theirs = (
        run_of(name, seed=seed).filter(variation="v0") for name, seed in (("a", 0), ("b", 1))
    )
    row = only(compare(ours, theirs, margin=1.0)).row
    half, mean = row["ci_high"] - row["estimate"], row["estimate"]
    margin = abs(mean) + half / 2
    headline = only(compare(ours, theirs, margin=margin))
    assert headline.verdict == "cannot tell"
    times = (half / max(margin - mean, abs(mean))) ** 2
    assert headline.row["n_more"] == pytest.approx(row["n"] * (times - 1), abs=1)
    more = headline.row["n_more"]
    assert headline.text().startswith(f"cannot tell, {more} more trials of each would: ")


def test_trials_that_differ_are_compared_by_stereotype_with_a_wider_interval(run_of):
    paired = only(compare(run_of("a"), run_of("b", seed=1))).row
    apart = only(compare(run_of("a"), run_of("b", seed=1, draws=5))).row
    assert apart["matched_by"] == "stereotype"
    assert apart["ci_high"] - apart["ci_low"] > paired["ci_high"] - paired["ci_low"]


def test_what_pairing_is_worth_is_said(run_of):
    compared = compare(run_of("a"), run_of("b", seed=1))
    (line,) = compared.matched("b")
    assert line.startswith("word_association, x, free: ")
    assert "; in pairs, 192 trials; unpaired it takes " in line


def test_the_stereotype_that_changed_is_named(run_of):
    compared = compare(run_of("a"), run_of("b", 0.6, seed=1, only=3))
    changed = compared.changes("b").filter(level="stereotype")
    assert changed.select("stereotype", "verdict").rows() == [("s3", "worse")]


def test_the_largest_of_several_instruments_decides(run_of):
    same, moved = run_of("a"), run_of("b", 0.3, seed=1)
    other = [one.with_columns(mode=pl.lit("structured")) for one in (run_of("a"), run_of("b"))]
    headline = only(compare(pl.concat([same, other[0]]), pl.concat([moved, other[1]])))
    assert (headline.verdict, headline.row["mode"], headline.means) == ("worse", "free", 2)


def test_the_same_model_twice_is_told_apart_by_its_source(run_of, tmp_path):
    for name in ("old", "new"):
        run_of("m").write_parquet(tmp_path / f"{name}.parquet")
    compared = compare(tmp_path / "old.parquet", tmp_path / "new.parquet")
    labels = [compared.baseline.label, compared.candidates[0].label]
    assert labels == ["m (old.parquet)", "m (new.parquet)"]


def test_several_models_need_a_named_baseline(run_of):
    both = pl.concat([run_of("a"), run_of("b", 0.3, seed=1)])
    with pytest.raises(InputError, match="2 models; name one with --baseline-model: a, b"):
        compare(both)
    assert only(compare(both, model="a")).candidate == "b"
    assert only(compare(both, model="b")).verdict == "better"


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda f: f.with_columns(mode=pl.lit("structured")), "have nothing in common"),
        (lambda f: f.clear(), "no scores"),
        (lambda f: f.drop("score"), "missing column score"),
    ],
)
def test_runs_that_cannot_be_compared_are_refused(run_of, change, message):
    with pytest.raises(InputError, match=message):
        compare(run_of("a"), change(run_of("b")))


def test_a_margin_is_above_zero(run_of):
    with pytest.raises(InputError, match="margin 0"):
        compare(run_of("a"), run_of("b"), margin=0)


def test_a_run_can_be_compared_with_itself(run_of):
    (one,) = read_runs(run_of("a"))
    (headline,) = compare(one, one).headlines()
    assert headline.row["estimate"] == 0.0
