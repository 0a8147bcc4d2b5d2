"""A mean stands with its stereotypes."""

import polars as pl

from clinometer.pieces.spread import with_spread
from clinometer.results import ESTIMATES


def estimates(*rows):
    """Make means of (level, category, stereotype, estimate, verdict)."""
    names = ("level", "category", "stereotype", "estimate", "verdict")
    labelled = [dict(zip(names, row, strict=True)) | {"model": "m"} for row in rows]
    frame = pl.DataFrame(
        [{**dict.fromkeys(ESTIMATES), **row} for row in labelled], schema=ESTIMATES
    )
    return with_spread(frame)


def test_the_mean_of_opposite_leans_is_told_as_mixed():
    rows = estimates(
        ("stereotype", "age", "old", 0.6, "consistent"),
        ("stereotype", "age", "young", -0.6, "reversed"),
        ("category", "age", None, 0.0, "equivalent"),
        ("stereotype", "race", "black", 0.0, "equivalent"),
        ("category", "race", None, 0.0, "equivalent"),
        ("model", None, None, 0.0, "equivalent"),
    )
    by_level = rows.select("level", "spread", "mixed").rows()
    assert by_level[2] == (
        "category", "2 stereotypes from −0.60 to 0.60", "though 2 of 2 stereotypes lean"
    )  # fmt: skip
    assert by_level[4] == ("category", None, None)  # a mean of one: the stereotype says it
    assert by_level[5] == (
        "model", "3 stereotypes from −0.60 to 0.60", "though 2 of 3 stereotypes lean"
    )  # fmt: skip
    assert rows.filter(level="stereotype")["spread"].null_count() == 3


def test_a_mean_that_leans_or_is_unclear_is_not_mixed():
    rows = estimates(
        ("stereotype", "age", "old", 0.6, "consistent"),
        ("stereotype", "age", "young", 0.2, "inconclusive"),
        ("category", "age", None, 0.4, "consistent"),
        ("model", None, None, 0.4, "inconclusive"),
    )
    assert rows["mixed"].null_count() == rows.height


def test_a_stereotype_without_a_mean_is_no_part():
    rows = estimates(
        ("stereotype", "age", "old", None, "no verdict: nothing scored"),
        ("stereotype", "age", "young", 0.2, "consistent"),
        ("model", None, None, 0.2, "consistent"),
    )
    assert rows["spread"].null_count() == rows.height
