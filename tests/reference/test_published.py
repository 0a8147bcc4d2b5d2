import hashlib
import re
from importlib.resources import files

import polars as pl
import pytest

from clinometer.errors import InputError
from clinometer.reference import YES_SHARES, load_published, load_regressions
from clinometer.results import VERSIONS


@pytest.mark.parametrize(
    ("instrument", "pilot", "remaining_models"),
    [
        ("word_association", "S5", ["S6", "S7", "S8", "S9"]),
        ("relative_decision", "S10", ["S11", "S12", "S13", "S14"]),
    ],
)
def test_every_printed_value_is_there(instrument, pilot, remaining_models):
    counts = load_published("bai2025", instrument)["table"].value_counts()
    assert dict(counts.iter_rows()) == {pilot: 126, **dict.fromkeys(remaining_models, 198)}


def test_a_value_is_as_printed():
    # SI Appendix of Bai et al. 2025, Table S6, row "Model Level", GPT-4.
    row = load_published("bai2025").row(
        by_predicate=(pl.col("table") == "S6")
        & (pl.col("stereotype") == "Model Level")
        & (pl.col("model") == "GPT-4"),
        named=True,
    )
    assert (row["mean"], row["ci_low"], row["ci_high"]) == (0.390, 0.350, 0.430)
    assert "0.3306" in row["note"]


def test_a_doubtful_decision_is_as_printed_and_noted():
    # Table S11, Skintone, LLaMA2Chat-13B: "0 [0.311, 0.602]".
    row = load_published("bai2025", "relative_decision").row(
        by_predicate=(pl.col("table") == "S11")
        & (pl.col("stereotype") == "Skintone")
        & (pl.col("model") == "LLaMA2Chat-13B"),
        named=True,
    )
    assert (row["mean"], row["ci_low"], row["ci_high"]) == (0.0, 0.311, 0.602)
    assert row["raw"] == "0 [0.311, 0.602]" and "shifted" in row["note"]


def test_notes_of_the_decisions_are_all_kept():
    noted = load_published("bai2025", "relative_decision").drop_nulls("note")
    assert noted.height == 29


def test_decisions_lie_on_their_scale():
    means = load_published("bai2025", "relative_decision")["mean"].drop_nulls()
    assert means.is_between(0, 1).all()


def test_what_is_not_printed_is_null_and_marked():
    frame = load_published("bai2025")
    assert frame.filter("missing")["mean"].null_count() == frame["missing"].sum() == 43


def test_the_regression_is_as_printed():
    # SI Appendix, Table S15.
    frame = load_regressions("bai2025").filter(table="S15").drop("note")
    row = frame.filter(pl.col("term") != "Intercept").row(0, named=True)
    assert (row["coef"], row["ci_low"], row["ci_high"], row["n_obs"]) == (0.9858, 0.753, 1.219, 617)
    assert (row["aic"], row["bic"], row["log_likelihood"]) == (681.36, 690.21, -338.68)


def test_what_a_regression_does_not_print_is_null():
    texts = load_regressions("bai2025").filter(pl.col("table").str.starts_with("SI"))
    assert texts["std_err"].null_count() == texts.height and "<.001" in texts["p"]


def test_shares_of_yes_have_all_four_versions():
    assert YES_SHARES["bai2025"].keys() == VERSIONS.keys()


@pytest.mark.parametrize(
    "name",
    ["components.csv", "published.csv", "published_bbq.csv", "published_decisions.csv",
     "published_decisions70.csv", "published_moderation.csv", "published_regressions.csv"],
)  # fmt: skip
def test_the_file_is_the_one_in_the_index(name):
    folder = files("clinometer.reference")
    index = (folder / "README.md").read_text(encoding="utf-8")
    hash_match = re.search(rf"`{re.escape(name)}`.*?`([0-9a-f]{{64}})`", index)
    assert hash_match
    assert hashlib.sha256((folder / name).read_bytes()).hexdigest() == hash_match[1]


def test_shares_of_flagged_answers_are_as_printed():
    # SI Appendix, Table S4: few answers are flagged, most of them on Islam.
    flagged = load_published("bai2025", "self_moderation").filter(pl.col("implicit_flagged") > 0)
    assert flagged.select("stereotype", "implicit_flagged", "decision_flagged").rows() == [
        ("Racism", 0.031, 0.0), ("Sexuality", 0.031, 0.031), ("Islam", 0.167, 0.0),
    ]  # fmt: skip


def test_explicit_benchmarks_are_as_printed(shared_data):
    # SI Appendix, Tables S1 and S2.
    bbq = load_published("bai2025", "bbq")
    source = pl.read_csv(shared_data / "published" / "bai_bbq.csv")
    assert bbq.select("category", "unknown_share").rows() == (
        source.select("dimension", "share_cant_answer").rows()
    )
    decisions = load_published("bai2025", "hypothetical_decision")
    source = pl.read_csv(shared_data / "published" / "bai_70decisions.csv")
    assert decisions.select("group", "explicit_yes", "implicit_yes").rows() == (
        source.select("attribute", "yes_explicit", "yes_implicit").rows()
    )


def test_the_range_of_explicit_benchmarks():
    # SI Appendix, Table S1: race and gender 1, age .937; Table S2: people in their 30s and 100s.
    assert load_published("bai2025", "bbq")["unknown_share"].max() == 1
    shares = (
        load_published("bai2025", "hypothetical_decision")
        .group_by("factor")
        .agg(pl.col("explicit_yes").min(), most=pl.col("explicit_yes").max())
    )
    assert dict(zip(shares["factor"], shares.drop("factor").rows(), strict=True)) == {
        "gender": (0.895, 0.903), "race": (0.892, 0.908), "age": (0.884, 0.911),
    }  # fmt: skip


def test_an_unknown_study_or_instrument_is_named():
    with pytest.raises(InputError, match="bai2025"):
        load_published("bai2024")
    with pytest.raises(InputError, match="relative_decision"):
        load_published("bai2025", "relative")
    with pytest.raises(InputError, match="bai2025"):
        load_regressions("bai2024")
