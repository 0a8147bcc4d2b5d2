import numpy as np
import polars as pl
import pytest
import statsmodels.api as sm
from hypothesis import given, settings
from hypothesis import strategies as st
from statsmodels.stats.inter_rater import cohens_kappa

from clinometer.errors import InputError
from clinometer.papers.kappa import CONFUSION, agreement
from clinometer.results import ESTIMATES


def answers(n_11=0, n_10=0, n_01=0, n_00=0, missing=(0, 0)) -> pl.DataFrame:
    """Return answers with these counts; the first digit is the reader's."""
    pairs = [(1, 1)] * n_11 + [(1, 0)] * n_10 + [(0, 1)] * n_01 + [(0, 0)] * n_00
    pairs += [(None, 1)] * missing[0] + [(None, 0)] * missing[1]
    schema = {"score": pl.Float64, "label": pl.Int64}
    return pl.DataFrame(pairs, schema=schema, orient="row", strict=False)


def only(frame: pl.DataFrame, **options) -> dict:
    """Return the counts, and each measure with its ends, by name."""
    estimates, confusion = agreement(frame, **options)
    row = confusion.row(0, named=True)
    for estimate in estimates.filter(part="all").iter_rows(named=True):
        name = estimate["measure"]
        row |= {
            name: estimate["estimate"],
            f"{name}_low": estimate["ci_low"],
            f"{name}_high": estimate["ci_high"],
        }
        row |= {
            f"{name}_se": estimate["se"],
            "confidence": estimate["confidence"],
            f"{name}_of": estimate["n_scored"],
        }
    return row


def test_by_hand():
    """20 + 15 of 50 agree; chance (25·30 + 25·20)/50² = ½, so kappa is (0.7 − 0.5)/0.5 = 0.4."""
    row = only(answers(20, 5, 10, 15))
    assert (row["agreement"], row["kappa"]) == (pytest.approx(0.7), pytest.approx(0.4))
    assert [row[f"n_{cell}"] for cell in ("11", "10", "01", "00")] == [20, 5, 10, 15]


@pytest.mark.parametrize("cells", [(20, 5, 10, 15), (80, 3, 7, 2), (1, 9, 8, 2), (0, 4, 3, 9)])
def test_kappa_is_that_of_statsmodels(cells):
    row = only(answers(*cells))
    expected = cohens_kappa(np.array(cells).reshape(2, 2))
    assert row["kappa"] == pytest.approx(expected.kappa, rel=1e-12)
    assert row["kappa_se"] == pytest.approx(expected.std_kappa, rel=1e-10)
    assert row["kappa_low"] == pytest.approx(max(expected.kappa_low, -1), rel=1e-10)
    assert row["kappa_high"] == pytest.approx(min(expected.kappa_upp, 1), rel=1e-10)


@pytest.mark.parametrize("cells", [(20, 5, 10, 15), (5, 0, 0, 6), (0, 3, 4, 0)])
@pytest.mark.parametrize("confidence", [0.95, 0.8])
def test_interval_is_wilsons(cells, confidence):
    row = only(answers(*cells), confidence=confidence)
    agreed = cells[0] + cells[3]
    expected = sm.stats.proportion_confint(agreed, sum(cells), 1 - confidence, method="wilson")
    assert (row["agreement_low"], row["agreement_high"]) == pytest.approx(expected)
    assert row["confidence"] == confidence


def test_what_was_not_read_lowers_coverage_alone():
    complete, unread = only(answers(20, 5, 10, 15)), only(answers(20, 5, 10, 15, missing=(30, 20)))
    assert (unread["n"], unread["n_read"], unread["read_share"]) == (100, 50, 0.5)
    assert (unread["n_missing_1"], unread["n_missing_0"]) == (30, 20)
    assert (unread["read_share_of"], unread["agreement_of"], unread["kappa_of"]) == (100, 50, 50)
    for column in ("agreement", "kappa", "kappa_se", "agreement_low"):
        assert unread[column] == complete[column]


def test_without_a_label_nothing_is_compared():
    frame = pl.DataFrame({"score": [1, 0, None, 1], "label": [None, None, None, 1]})
    row = only(frame)
    assert (row["n"], row["n_unlabelled"], row["n_unlabelled_read"]) == (1, 3, 2)


def test_kappa_of_one_value_is_null():
    row = only(answers(n_11=9))
    assert (row["agreement"], row["kappa"], row["kappa_se"]) == (1.0, None, None)


def test_perfect_agreement_has_a_kappa_but_no_error():
    row = only(answers(n_11=4, n_00=5))
    assert (row["kappa"], row["kappa_se"], row["kappa_low"]) == (1.0, None, None)
    assert row["agreement_low"] < 1


def test_a_reader_who_never_varies_is_at_chance_without_error():
    row = only(answers(n_11=4, n_10=5))
    assert (row["kappa"], row["kappa_se"]) == (pytest.approx(0), None)


def test_nothing_read_is_no_number():
    row = only(answers(missing=(2, 1)))
    assert (row["n"], row["read_share"]) == (3, 0.0)
    assert (row["agreement"], row["agreement_low"], row["kappa"]) == (None, None, None)
    assert only(answers())["read_share"] is None


def test_groups_stand_beside_all():
    frame = pl.concat([answers(5, 1, 2, 3), answers(2, 2, 2, 2)])
    frame = frame.with_columns(reader=pl.Series(["b"] * 11 + ["a"] * 8))
    estimates, confusion = agreement(frame, by="reader")
    assert confusion.select("part", "n").rows() == [("all", 19), ("a", 8), ("b", 11)]
    assert estimates["part"].to_list() == [part for part in ("all", "a", "b") for _ in range(3)]
    alone = agreement(answers(5, 1, 2, 3))
    assert estimates[6:].drop("part").equals(alone.estimates.drop("part"))
    assert confusion.row(2)[1:] == alone.confusion.row(0)[1:]


counts = st.tuples(*[st.integers(0, 12)] * 4)


@settings(max_examples=60)
@given(counts, st.integers(0, 3), st.integers(0, 3))
def test_numbers_are_in_their_range_and_never_nan(cells, missing_1, missing_0):
    frame = answers(*cells, missing=(missing_1, missing_0))
    result = agreement(frame)
    assert (result.estimates.schema, result.confusion.schema) == (ESTIMATES, CONFUSION)
    row = only(frame)
    assert row["n"] == sum(cells) + missing_1 + missing_0
    for name in ("read_share", "agreement", "kappa"):
        low, value, high = (row[f"{name}{end}"] for end in ("_low", "", "_high"))
        if low is not None:
            assert -1 <= low < high <= 1
            assert low - 1e-12 <= value <= high + 1e-12


@settings(max_examples=40)
@given(counts)
def test_kappa_does_not_ask_which_is_the_reader_or_which_is_1(cells):
    n_11, n_10, n_01, n_00 = cells
    kappa = only(answers(*cells))["kappa"]
    for swapped in ((n_11, n_01, n_10, n_00), (n_00, n_01, n_10, n_11)):
        assert only(answers(*swapped))["kappa"] == pytest.approx(kappa, abs=1e-12)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"read": "other"}, "missing column other"),
        ({"read": "share"}, "share: 0.5 is not allowed"),
        ({"label": "word"}, "word: needs numbers"),
        ({"by": "holed"}, "holed: null in 6 rows; needs a label"),
        ({"confidence": 1.0}, "confidence 1.0"),
    ],
)
def test_bad_input_is_one_line(change, message):
    frame = answers(2, 1, 1, 2).with_columns(
        share=pl.lit(0.5), word=pl.lit("yes"), holed=pl.lit(None, pl.String)
    )
    with pytest.raises(InputError, match=message):
        agreement(frame, **change)
