import hashlib
import re
from importlib.resources import files

import polars as pl
import pytest

from tiltmeter.errors import InputError
from tiltmeter.reference import load_published


def test_every_printed_value_is_there():
    counts = load_published("bai2025")["table"].value_counts()
    assert dict(counts.iter_rows()) == {"S5": 126, "S6": 198, "S7": 198, "S8": 198, "S9": 198}


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


def test_what_is_not_printed_is_null_and_marked():
    frame = load_published("bai2025")
    assert frame.filter("missing")["mean"].null_count() == frame["missing"].sum() == 43


def test_the_file_is_the_one_in_the_index():
    folder = files("tiltmeter.reference")
    stated = re.search(r"`([0-9a-f]{64})`", (folder / "README.md").read_text(encoding="utf-8"))
    assert stated
    assert hashlib.sha256((folder / "published.csv").read_bytes()).hexdigest() == stated[1]


def test_an_unknown_study_is_named():
    with pytest.raises(InputError, match="bai2025"):
        load_published("bai2024")
