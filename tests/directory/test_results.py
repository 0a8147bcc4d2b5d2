"""The tables of a results directory: families side by side, each table once."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from polars.testing import assert_frame_equal

from clinometer.directory.results import (
    all_tables,
    read_detail,
    read_estimates,
    read_results,
    write_results,
)
from clinometer.errors import InputError, PlanError
from clinometer.results import ESTIMATES, Measure, as_estimates
from clinometer.results.records import write_plan
from clinometer.results.schemas import WORDS
from clinometer_measures.networks.tables import NETWORKS

MEASURE = Measure("effect", "", -1, 1, 0, "", "")
WORD = pl.DataFrame([{**dict.fromkeys(WORDS), "attribute": "joy", "share": 0.5}], schema=WORDS)
HAIKU = pl.DataFrame([{**dict.fromkeys(NETWORKS), "network": "Haiku"}], schema=NETWORKS)


def estimates(family: str, *subjects: str) -> pl.DataFrame:
    rows = [{"measure": "effect", "subject": name, "estimate": 0.1} for name in subjects]
    return as_estimates(rows, {"effect": MEASURE}, family)


def files(directory: Path) -> list[str]:
    return sorted(path.name for path in directory.iterdir())


def test_families_share_one_table_of_estimates(tmp_path: Path) -> None:
    write_results(tmp_path, "answers", estimates("answers", "m"), {"words": WORD})
    write_results(tmp_path, "networks", estimates("networks", "Haiku"), {"networks": HAIKU})
    assert files(tmp_path) == ["estimates.parquet", "networks.parquet", "words.parquet"]
    both = read_estimates(tmp_path)
    assert both.schema == ESTIMATES
    assert set(both.select("family", "subject").rows()) == {("answers", "m"), ("networks", "Haiku")}
    assert_frame_equal(read_detail(tmp_path, "words"), WORD)
    assert_frame_equal(read_detail(tmp_path, "networks"), HAIKU)


def test_a_family_written_again_leaves_the_others(tmp_path: Path) -> None:
    write_results(tmp_path, "networks", estimates("networks", "Haiku"), {"networks": HAIKU})
    for subjects in (("m", "n"), ("o",)):
        write_results(tmp_path, "answers", estimates("answers", *subjects), {"words": WORD})
    kept = read_estimates(tmp_path)
    assert sorted(kept["subject"]) == ["Haiku", "o"]
    assert_frame_equal(read_detail(tmp_path, "networks"), HAIKU)


@pytest.mark.parametrize("details", [{}, {"words": WORD.clear()}])
def test_a_detail_that_is_empty_or_absent_leaves_no_file(
    tmp_path: Path, details: dict[str, pl.DataFrame]
) -> None:
    write_results(tmp_path, "networks", estimates("networks", "Haiku"), {"networks": HAIKU})
    write_results(tmp_path, "answers", estimates("answers", "m"), {"words": WORD})
    write_results(tmp_path, "answers", estimates("answers", "m"), details)
    assert files(tmp_path) == ["estimates.parquet", "networks.parquet"]
    empty = read_detail(tmp_path, "words")
    assert (empty.height, empty.schema) == (0, WORDS)


def test_answers_and_scores_are_left_alone(tmp_path: Path) -> None:
    for name in ("responses", "scores"):
        pl.DataFrame(schema=all_tables()[name].schema).write_parquet(tmp_path / f"{name}.parquet")
    write_results(tmp_path, "answers", estimates("answers", "m"), {})
    assert files(tmp_path) == ["estimates.parquet", "responses.parquet", "scores.parquet"]


@pytest.mark.parametrize("name", ["wordz", "networks", "estimates", "scores"])
def test_a_detail_that_is_no_table_of_the_family_is_refused(tmp_path: Path, name: str) -> None:
    with pytest.raises(InputError, match=f"unknown table of answers '{name}'"):
        write_results(tmp_path, "answers", estimates("answers", "m"), {name: WORD})
    assert files(tmp_path) == []


@pytest.mark.parametrize(
    "old",
    [{"model": ["m"], "mean": [0.1], "naive_p": [0.2]}, {name: [] for name in [*ESTIMATES][1:]}],
)
def test_a_table_of_another_version_is_refused(tmp_path: Path, old: dict[str, Any]) -> None:
    pl.DataFrame(old).write_parquet(tmp_path / "estimates.parquet")
    before = (tmp_path / "estimates.parquet").read_bytes()
    for use in (
        lambda: read_estimates(tmp_path),
        lambda: write_results(tmp_path, "answers", estimates("answers", "m"), {}),
    ):
        with pytest.raises(InputError, match="estimates.parquet: no column family.*measure again"):
            use()
    assert (tmp_path / "estimates.parquet").read_bytes() == before


def test_an_old_detail_is_refused(tmp_path: Path) -> None:
    WORD.rename({"share": "p"}).write_parquet(tmp_path / "words.parquet")
    with pytest.raises(InputError, match="words.parquet: no column share; another version"):
        read_detail(tmp_path, "words")


def test_bad_directories_are_named(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="estimates.parquet: not found; give a directory"):
        read_results(tmp_path)
    (tmp_path / "estimates.parquet").write_bytes(b"not parquet")
    with pytest.raises(InputError, match="estimates.parquet: not a parquet table"):
        read_results(tmp_path)
    (tmp_path / "plan.json").write_text("{")
    with pytest.raises(PlanError, match="plan.json: not readable as a plan"):
        read_results(tmp_path)


def test_what_is_no_finite_number_is_null(tmp_path: Path) -> None:
    """Another program may write nan where there is no number."""
    table = estimates("answers", "a", "b", "c").with_columns(
        p=pl.Series([math.nan, math.inf, 0.5])
    )  # fmt: skip
    table.write_parquet(tmp_path / "estimates.parquet")
    assert read_estimates(tmp_path)["p"].to_list() == [None, None, 0.5]


def test_results_give_their_tables_by_name(tmp_path: Path) -> None:
    write_results(tmp_path, "answers", estimates("answers", *"abcd"), {"words": WORD})
    write_plan(tmp_path / "plan.json", {"models": ["a"]})
    results = read_results(str(tmp_path))
    assert results.plan["models"] == ["a"]
    assert results.table("estimates").equals(results.estimates)
    assert results.table("words").equals(WORD) and results.table("fits").is_empty()
    assert repr(results) == f"Results({str(tmp_path)!r}: 4 estimates of a, b, c, …)"
    assert "4 estimates of a, b, c" in results._repr_html_()
    with pytest.raises(InputError, match="unknown table 'word'; did you mean words"):
        results.table("word")
