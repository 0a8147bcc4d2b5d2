"""The law's tables, equal to those of aedt-audit on the same people.

``aedt_people.csv``: 400 people drawn at random (numpy, seed 7), some without a stated race.
``aedt_audit.csv``: what `aedt_audit.ll144_summary` of aedt-audit 0.3.0 (Apache-2.0) makes of them.
"""

from __future__ import annotations

import json
import math
from pathlib import Path

import numpy as np
import polars as pl
import pytest

from clinometer.errors import ClinometerWarning, InputError
from clinometer.sharing import scoring_rates, selection_rates, write_ll144
from clinometer.sharing.counts import Counts, read_counts
from clinometer.sharing.law_lines import describe
from clinometer.sharing.law_page import law_page
from clinometer.sharing.ll144 import law_rates, summary

FOLDER = Path(__file__).parent
NUMBERS = ("n", "n_positive", "rate", "share", "impact_ratio")
PERIOD = "2026-01-01/2026-06-30"


def people() -> pl.DataFrame:
    return pl.read_csv(FOLDER / "aedt_people.csv").rename({"selected": "n_selected"})


def rates(kind: str) -> pl.DataFrame:
    if kind == "scoring":
        return scoring_rates(people().drop("n_selected"))
    return selection_rates(people().with_columns(n=1))


@pytest.mark.parametrize("kind", ["selection", "scoring"])
def test_tables_are_those_of_aedt_audit(kind: str) -> None:
    expected = pl.read_csv(FOLDER / "aedt_audit.csv").filter(kind=kind)
    keys = ["grouping", "race", "gender"]
    joint = rates(kind).join(expected, on=keys, nulls_equal=True, suffix="_theirs")
    assert joint.height == expected.height == rates(kind).height == 20
    for name in NUMBERS:
        assert (joint[name] - joint[f"{name}_theirs"]).abs().max() < 1e-12, name
    # Theirs gives a ratio to people of an unknown category, too; the law leaves them out.
    assert (
        joint.filter(race="unknown")["impact_ratio"].null_count()
        == joint.filter(race="unknown").height
    )
    assert joint["excluded"].equals(joint["excluded_theirs"])
    assert joint["excluded"].any()


def test_tables_of_random_counts_are_those_of_the_package() -> None:
    package = pytest.importorskip("aedt_audit")
    import pandas as pd

    draw = np.random.default_rng(1)
    for _ in range(10):
        n = int(draw.integers(50, 2000))
        frame = pd.DataFrame(
            {
                "race_ethnicity": draw.choice(["A", "B", "C", None], n, p=[0.5, 0.3, 0.185, 0.015]),
                "sex": draw.choice(["f", "m"], n),
                "selected": draw.random(n) < draw.random(),
            }
        )
        theirs = package.ll144_summary(frame, outcome="selected").tables["intersectional"]
        ours = selection_rates(
            pl.DataFrame(
                {
                    "race": frame["race_ethnicity"].where(frame["race_ethnicity"].notna(), None),
                    "gender": frame["sex"],
                    "n_selected": frame["selected"].astype(int),
                },
                strict=False,
            ).with_columns(n=1)
        )
        ratios = {
            (row["race"], row["gender"]): row["impact_ratio"]
            for row in ours.filter(grouping="intersections").iter_rows(named=True)
        }
        assert len(ratios) == len(theirs)
        for row in theirs.to_dict("records"):
            ratio = ratios[row["race_ethnicity"], row["sex"]]
            assert math.isclose(ratio, row["impact_ratio"], rel_tol=1e-12)


def test_who_is_left_out_or_unknown_is_named_and_sets_no_benchmark(tmp_path: Path) -> None:
    counts = pl.DataFrame(
        {
            "race": ["A", "B", "C", None],
            "gender": ["f", "f", "f", "f"],
            "n": [100, 100, 3, 10],
            "n_selected": [50, 25, 3, 10],
        }
    )
    counts.write_csv(tmp_path / "counts.csv")
    _, path, _ = write_ll144(tmp_path / "counts.csv", tmp_path / "out", PERIOD, "one employer")
    content = json.loads(path.read_text("utf-8"))
    assert content["excluded"] == ["C", "C, f"]
    assert content["unknown"] == [
        {"category": "unknown", "n": 10},
        {"category": "unknown, f", "n": 10},
    ]
    assert (content["dates"], content["data_source"]) == (PERIOD, "one employer")
    races = {row["race"]: row for row in content["tables"] if row["grouping"] == "race/ethnicity"}
    assert [races[name]["impact_ratio"] for name in "AB"] == [1.0, 0.5]


def test_runs_have_tables_of_their_own_and_occupations_are_added_up() -> None:
    rows = [
        ("x", "cook", "A", "f", 10, 5),
        ("x", "nurse", "A", "f", 10, 1),
        ("x", "cook", "B", "m", 10, 6),
        ("y", "cook", "A", "f", 10, 0),
        ("y", "cook", "B", "m", 10, 0),
    ]
    names = ["model", "occupation", "race", "gender", "n", "n_selected"]
    table = selection_rates(pl.DataFrame(rows, names, orient="row")).filter(grouping="sex")
    assert table.rows_by_key("model", named=True)["x"][0]["rate"] == 0.3
    assert table.filter(model="x")["impact_ratio"].to_list() == [0.5, 1.0]
    # Nobody was selected: there is no highest rate to compare with.
    assert table.filter(model="y")["impact_ratio"].to_list() == [None, None]


def test_what_is_asked_otherwise_has_tables_of_its_own_and_unread_answers_are_left_out() -> None:
    counts = pl.DataFrame(
        {
            "mode": ["free", "free", "forced", "forced"],
            "dimension": [None, None, "rank", "rank"],
            "race": ["A", "B", "A", "B"],
            "gender": "f",
            "n": [20, 10, 10, 10],
            "n_selected": [5, 5, 10, 5],
            "n_abstained": [2, 0, 0, 0],
            "n_unread": [10, 0, 0, 0],
        }
    )
    table = selection_rates(counts).filter(grouping="race/ethnicity").sort("mode", "race")
    assert table["n"].to_list() == [10, 10, 10, 10]
    assert table["rate"].to_list() == [1.0, 0.5, 0.5, 0.5]
    assert table["impact_ratio"].to_list() == [1.0, 0.5, 1.0, 1.0]
    assert table["n_unread"].to_list() == [0, 0, 10, 0]
    with pytest.raises(InputError, match="expected 0 ≤ n_selected ≤ n"):
        selection_rates(counts.with_columns(n_unread=16))


def test_frames_of_pandas_are_read_and_other_types_refused() -> None:
    pandas = pytest.importorskip("pandas")
    rows = {"race": ["A", None], "gender": ["f", "m"], "n": [2, 2], "n_selected": [1, 2]}
    table = selection_rates(pandas.DataFrame(rows)).filter(grouping="race/ethnicity")
    assert table["race"].to_list() == ["A", "unknown"]
    assert table["impact_ratio"].to_list() == [1.0, None]
    with pytest.raises(InputError, match="counts: int; expected a polars or pandas frame"):
        selection_rates(3)
    with pytest.raises(InputError, match="without a score"):
        scoring_rates(pandas.DataFrame({**rows, "score": [1.0, math.nan]}))


@pytest.mark.parametrize(
    ("columns", "message"),
    [
        ("race,gender,n\nA,f,1", "missing column n_selected"),
        ("race,gender,n,n_selected\nA,f,1,2", "expected 0 ≤ n_selected ≤ n"),
        ("race,gender,n,n_selected\nA,f,1,", "expected 0 ≤ n_selected ≤ n"),
        ("race,gender,n,n_selected\nA,f,one,1", "counts.csv:2: n 'one': expected a number"),
        ("race,n,n_selected\nA,2,1", "missing column gender"),
        ("race,sex,gender,n,n_selected\nA,f,f,2,1", "columns sex and gender are for the same"),
        ("race,sex,n,n_selected\nA,f,2,1\nA,Total,2,1", "counts.csv:3: sex 'Total' is a sum"),
        ("race,gender,score\nA,f,", "without a score"),
    ],
)
def test_bad_counts_are_named(tmp_path: Path, columns: str, message: str) -> None:
    (tmp_path / "counts.csv").write_text(columns)
    with pytest.raises(InputError, match=message):
        write_ll144(tmp_path / "counts.csv", tmp_path / "out", PERIOD, "one employer")
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize(
    ("period", "source", "message"),
    [
        (None, "x", "give --period"),
        (PERIOD, " ", "and --source"),
        ("2026", "x", "expected two dates"),
        ("2026-02-30/2026-03-01", "x", "expected two dates"),
        ("2026-06-30/2026-01-01", "x", "ends before it begins"),
    ],
)
def test_a_table_comes_with_dates_and_source(
    tmp_path: Path, period: str | None, source: str, message: str
) -> None:
    (tmp_path / "counts.csv").write_text("race,gender,n,n_selected\nA,f,2,1")
    with pytest.raises(InputError, match=message):
        write_ll144(tmp_path / "counts.csv", tmp_path / "out", period, source)


def test_a_table_that_is_not_there_is_named_first(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="none.csv: no such file"):
        write_ll144(tmp_path / "none.csv", tmp_path / "out")


def test_a_run_that_selects_nobody_is_named(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="no instrument of this run selects"):
        write_ll144(tmp_path, tmp_path / "out")


def test_unknown_people_may_be_stated_by_their_number_alone(tmp_path: Path) -> None:
    (tmp_path / "counts.csv").write_text(
        "race,sex,n,n_selected\nA,f,20,10\nB,m,20,5\nN/A,f,4,4\nN/A,-,7,\n"
    )
    _, path, _ = write_ll144(tmp_path / "counts.csv", tmp_path / "out", PERIOD, "x", 100)
    content = json.loads(path.read_text("utf-8"))
    assert content["n_unknown"] == 4 + 7 + 100
    assert content["unknown"][-1] == {"category": "unknown", "n": 107}
    sexes = {row["gender"]: row for row in content["tables"] if row["grouping"] == "sex"}
    assert {name: row["n"] for name, row in sexes.items()} == {"f": 24, "m": 20}
    assert sexes["m"]["impact_ratio"] == round(0.25 / (14 / 24), 6)


def test_what_was_found_is_said(tmp_path: Path) -> None:
    (tmp_path / "counts.csv").write_text(
        "race,sex,persona,n,n_selected\nA,f,x,1000,500\nB,m,y,2000,700\nC,m,y,10,9\nNA,m,y,5,1\n"
    )
    counts = read_counts(tmp_path / "counts.csv", PERIOD, "one employer", 3)
    assert list(describe(law_rates(counts), counts)) == [
        "sex: ratios are to f, 50 of 100 (of 1,000)",
        "sex: m, 35 of 100 (of 2,015): impact ratio 0.70 [0.65 to 0.77], p < .001, "
        "four fifths: below",
        "race/ethnicity: ratios are to A, 50 of 100 (of 1,000)",
        "race/ethnicity: B, 35 of 100 (of 2,000): impact ratio 0.70 [0.64 to 0.76], p < .001, "
        "four fifths: below",
        "race/ethnicity: C, 90 of 100 (of 10): impact ratio 1.80 [1.19 to 2.02], p .021, "
        "four fifths: above",
        "race/ethnicity: below 2%, and no benchmark: C",
        "intersections: ratios are to A, f, 50 of 100 (of 1,000)",
        "intersections: below 2%, and no benchmark: C, m",
        "of an unknown category: 8 people, in no ratio",
        "columns not used: persona (2 values)",
    ]


def test_a_page_says_of_whom_by_whom_and_what_it_is_no_evidence_for(tmp_path: Path) -> None:
    rows = {"race": ["A", "B", "C", None], "sex": ["f", "m", "m", "m"]}
    counts = pl.DataFrame({**rows, "n": [400, 300, 3, 7], "n_selected": [180, 90, 1, 3]})
    counts.write_csv(tmp_path / "counts.csv")
    *_, path = write_ll144(
        tmp_path / "counts.csv", tmp_path, PERIOD, "one employer", 4, "Audits <Ltd>"
    )
    page = path.read_text("utf-8")
    for text in ("2026-01-01 to 2026-06-30", "one employer", "Audits &lt;Ltd&gt;", "11 of an unk",
                 "45.0", "40.2 to 49.9", "0.67", "0.54 to 0.81", "below 2%, few"):  # fmt: skip
        assert text in page, text
    assert page.count("independent auditor") == 1 and "imulated" not in page.split("<body>")[1]


def test_tests_are_against_the_benchmark_of_the_same_table() -> None:
    rows = {"race": ["A", "B", "C"], "gender": "f", "n": [80, 40, 20], "n_selected": [16, 4, 0]}
    table = selection_rates(pl.DataFrame(rows)).filter(grouping="race/ethnicity")
    a, b, c = table.rows(named=True)
    assert (a["p"], a["ratio_low"], a["four_fifths"]) == (None, None, None)
    # scipy.stats.fisher_exact([[4, 36], [16, 64]]) and ([[0, 20], [16, 64]]).
    assert (round(b["p"], 4), round(c["p"], 4)) == (0.2014, 0.0365)
    assert c["ratio_low"] == 0 and c["is_small"] and not a["is_small"]
    whole = selection_rates(pl.DataFrame({**rows, "n_selected": [16.5, 4, 0]}))
    assert whole["p"].null_count() == whole.height


def test_of_a_run_ratios_have_the_intervals_of_its_instrument(tmp_path: Path) -> None:
    counts = {"race": ["A", "B"], "gender": ["f", "f"], "n": [100, 100], "n_selected": [50, 30]}
    ratios = {"race": ["A", "B"], "gender": None, "impact_ratio": [1.0, 0.6]}
    ends = {"ratio_low": [None, 0.4], "ratio_high": [None, 0.85], "four_fifths": ["above", "open"]}
    run_ratios = pl.DataFrame({**ratios, **ends, "is_reference": [True, False]})
    run_ratios = run_ratios.cast({"gender": pl.String})
    run = Counts(pl.DataFrame(counts), PERIOD, "simulated candidates", run_ratios=run_ratios)
    table = law_rates(run).filter(grouping="race/ethnicity")
    assert table.select("ratio_low", "ratio_high", "p", "four_fifths").rows() == [
        (None, None, None, None),
        (0.4, 0.85, None, "open"),
    ]
    # Another ratio, as where some abstained, has none of its own.
    other = run._replace(run_ratios=run_ratios.with_columns(impact_ratio=pl.lit(0.7)))
    assert law_rates(other)["ratio_low"].null_count() == law_rates(other).height
    page = law_page(summary(law_rates(run), run))
    assert "Candidates are simulated" in page and "0.40 to 0.85" in page


def test_the_range_of_scores_is_said(tmp_path: Path) -> None:
    (tmp_path / "scores.csv").write_text("race,sex,score\nA,f,1\nB,m,6.5\nB,m,3\n")
    counts = read_counts(tmp_path / "scores.csv", PERIOD, "one employer")
    assert next(describe(law_rates(counts), counts)) == "score: 1 to 6.5, 3 people"


def test_rows_with_impossible_counts_are_set_aside(tmp_path: Path) -> None:
    (tmp_path / "counts.csv").write_text(
        "race,sex,n,n_selected\nA,f,20,10\nB,m,20,50\nB,m,40,5\nC,f,10,3\n"
    )
    with pytest.warns(ClinometerWarning, match="counts.csv:3: n_selected 50.0: expected 0 ≤"):
        table = read_counts(tmp_path / "counts.csv", PERIOD, "x").table
    assert table["n"].to_list() == [20, 40, 10]


def test_files_have_no_digits_of_floating_point(tmp_path: Path) -> None:
    rows = {"race": ["A", "B"], "gender": "f", "n": [3, 9], "n_selected": [1, 1]}
    pl.DataFrame(rows).write_csv(tmp_path / "counts.csv")
    path, *_ = write_ll144(tmp_path / "counts.csv", tmp_path / "out", PERIOD, "x")
    assert "intersections,B,f,9,1,0.111111,0.019891,0.435,0.75,false,true,0.333333," in (
        path.read_text()
    )
