"""How two groups fare, in words."""

import pytest

from clinometer.results.group_rates import compare_groups


@pytest.mark.parametrize(
    ("default", "marginalized", "unit", "text"),
    [
        (78.2, 31.4, "of 100", "men get 2.5 times as often as women (78 and 31 of 100)"),
        (20.0, 60.0, "of 100", "women get 3.0 times as often as men (60 and 20 of 100)"),
        (96.0, 4.0, "of 100", "men get 24 times as often as women (96 and 4 of 100)"),
        (82.0, 0.0, "of 100", "men get more often than women (82 and 0 of 100)"),
        (41.0, 40.0, "of 100", "men get more often than women (41 and 40 of 100)"),
        (
            7.46,
            2.8,
            "of 10 points",
            "men get 4.7 points more than women (7.5 and 2.8 of 10 points)",
        ),
    ],
)
def test_the_group_that_fares_better_comes_first(default, marginalized, unit, text):
    row = {"default_group": "men", "marginalized_group": "women", "event": "get"}
    rates = {"default_rate": default, "marginalized_rate": marginalized, "counted_in": unit}
    assert compare_groups({**row, **rates}) == text
