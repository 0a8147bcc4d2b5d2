"""Li et al. 2025 (arXiv:2506.14161), Tables 1 and 2: values as printed, and true notes."""

from __future__ import annotations

import hashlib
import math
import re
from importlib.resources import files
from itertools import product

import polars as pl
import pytest
from scipy import stats

from clinometer.errors import InputError
from clinometer.reference import load_published

ASSOCIATIONS = load_published("mist2025", "word_association")
ATTRIBUTIONS = load_published("mist2025", "affective_attribution")
HALF = 0.0005  # what rounding to three decimals leaves open
SHARES = ("comedy_share", "tragedy_share", "neutral_share")


def t_range(row: dict[str, float], degrees: float) -> tuple[float, float]:
    """Smallest and largest t that a printed mean and sd allow."""
    corners = [
        (row["mean"] + a) / ((row["sd"] + b) / math.sqrt(degrees))
        for a, b in product((-HALF, HALF), repeat=2)
    ]
    return min(corners) - HALF, max(corners) + HALF


def fits(row: dict[str, float], degrees: float) -> bool:
    low, high = t_range(row, degrees)
    return low <= row["t"] <= high


def noted(frame: pl.DataFrame, text: str) -> pl.DataFrame:
    return frame.filter(pl.col("note").str.contains(text, literal=True))


def share(model: str, group: str, column: str) -> float:
    return ATTRIBUTIONS.filter(model=model, group=group)[column].item()


def test_a_row_of_table_1_is_as_printed() -> None:
    row = ASSOCIATIONS.row(
        by_predicate=(pl.col("model") == "GPT-4-turbo") & (pl.col("dimension") == "competence"),
        named=True,
    )
    assert row == {
        "table": "1", "model": "GPT-4-turbo", "dimension": "competence", "n": 1256,
        "mean": -0.063, "sd": 0.953, "t": -2.345, "p": "0.019", "note": None,
    }  # fmt: skip


def test_a_row_of_table_2_is_as_printed() -> None:
    row = ATTRIBUTIONS.row(
        by_predicate=(pl.col("model") == "DeepSeek-R1") & (pl.col("group") == "marginalized"),
        named=True,
    )
    assert row == {
        "table": "2", "model": "DeepSeek-R1", "group": "marginalized",
        "comedy_share": 0.212, "tragedy_share": 0.788, "neutral_share": 0.0, "note": None,
    }  # fmt: skip


def test_every_model_has_every_row() -> None:
    dimensions = ["competence", "sociability", "morality"]
    models = ASSOCIATIONS["model"].unique(maintain_order=True).to_list()
    assert len(models) == 8
    assert list(ASSOCIATIONS.select("model", "dimension").iter_rows()) == list(
        product(models, dimensions)
    )
    assert list(ATTRIBUTIONS.select("model", "group").iter_rows()) == list(
        product(models, ["default", "marginalized"])
    )


def test_the_printed_values_are_those_of_the_paper(shared_data) -> None:
    folder = shared_data / "published"
    wabt, aat = (pl.read_csv(folder / f"mist_{name}.csv") for name in ("wabt", "aat"))
    printed = wabt.select("n", "mean", "std", "t", "p").rows()
    assert ASSOCIATIONS.select("n", "mean", "sd", "t", "p").rows() == printed
    assert ATTRIBUTIONS.select(SHARES).rows() == aat.select("comedy", "tragedy", "neutral").rows()
    for frame, source in ((ASSOCIATIONS, wabt), (ATTRIBUTIONS, aat)):
        notes = zip(source["note"], frame["note"], strict=True)
        assert all(
            (ours or "").startswith(printed_note) for printed_note, ours in notes if printed_note
        )


def test_the_printed_sd_is_the_population_one() -> None:
    rows = ASSOCIATIONS.to_dicts()
    assert all(fits(row, row["n"] - 1) for row in rows)
    assert sum(not fits(row, row["n"]) for row in rows) == 5


def test_p_follows_from_t() -> None:
    for row in ASSOCIATIONS.iter_rows(named=True):
        p = [2 * stats.t.sf(abs(row["t"]) + d, row["n"] - 1) for d in (HALF, -HALF)]
        if row["p"] == "<.001":
            assert p[1] < 0.001
        else:
            assert p[0] - HALF <= float(row["p"]) <= p[1] + HALF


def test_shares_add_up_to_one() -> None:
    assert all(math.isclose(sum(row), 1) for row in ATTRIBUTIONS.select(SHARES).iter_rows())


def test_identical_rows_are_all_flagged() -> None:
    values = ATTRIBUTIONS.pivot("group", index="model", values=SHARES)
    twice = values.filter(pl.struct(pl.all().exclude("model")).is_duplicated())
    assert sorted(twice["model"]) == ["DeepSeek-V3", "GPT-4o"]
    assert noted(ATTRIBUTIONS, "identical")["model"].unique().sort().to_list() == sorted(
        twice["model"]
    )


def test_few_valid_answers_are_flagged_with_their_number() -> None:
    few = ASSOCIATIONS.filter(pl.col("n") < 500)
    assert few.height == 12 and noted(ASSOCIATIONS, "answers were valid").equals(few)
    for row in few.iter_rows(named=True):
        assert f"only {row['n']} of 1,500 answers" in row["note"]


def test_notes_on_section_4_1_are_true() -> None:
    rows = ASSOCIATIONS.filter(dimension="sociability").sort("mean")
    assert rows["model"][-1] == "Claude-3.7-sonnet" and rows["mean"][-1] == 0.415
    assert rows.filter(pl.col("p") != "<.001")["model"].to_list() == ["DeepSeek-V3"]
    assert noted(ASSOCIATIONS, "section 4.1")["model"].to_list() == [
        "Claude-3.7-sonnet", "DeepSeek-V3", "Gemini-2.5-pro",
    ]  # fmt: skip


def test_notes_on_neutral_shares_are_true() -> None:
    flagged = noted(ATTRIBUTIONS, "near-zero")
    assert flagged["model"].unique().sort().to_list() == ["Claude-3.7-sonnet", "LLaMa-2-70B-Chat"]
    assert flagged["neutral_share"].min() == 0.173
    llama = [share("LLaMa-2-70B-Chat", g, "neutral_share") for g in ("marginalized", "default")]
    assert llama[0] < llama[1] and noted(ATTRIBUTIONS, "section 3.3").height == 1


def test_notes_on_section_4_4_are_true() -> None:
    noted_models = [
        model
        for model in ATTRIBUTIONS["model"].unique().sort()
        if min(share(model, "default", SHARES[0]), share(model, "marginalized", SHARES[1])) > 0.5
    ]
    assert (
        noted_models
        == noted(ATTRIBUTIONS, "both rates")["model"].unique().to_list()
        == ["GPT-4-turbo"]
    )
    for model in noted(ATTRIBUTIONS, "as favour")["model"]:
        assert share(model, "marginalized", SHARES[0]) > share(model, "default", SHARES[0])


@pytest.mark.parametrize("kind", ["associations", "attributions"])
def test_the_file_is_the_one_in_the_index(kind: str) -> None:
    folder = files("clinometer.reference")
    index = (folder / "README.md").read_text(encoding="utf-8")
    hash_match = re.search(rf"`published_mist_{kind}\.csv`.*?`([0-9a-f]{{64}})`", index)
    assert hash_match
    content = (folder / f"published_mist_{kind}.csv").read_bytes()
    assert hashlib.sha256(content).hexdigest() == hash_match[1]


def test_an_instrument_without_values_is_named() -> None:
    with pytest.raises(InputError, match="affective_attribution"):
        load_published("mist2025", "relative_decision")
