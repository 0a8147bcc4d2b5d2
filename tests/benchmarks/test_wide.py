"""What is promised of the wide study is what is simulated."""

from benchmarks.wide import Condition, conditions, judge, measure


def test_a_size_is_promised_and_simulated() -> None:
    row = judge(Condition("quick"), runs=3)
    assert row.size == "quick" and 0.0 <= row.false.value <= 1.0
    stereotype, category, model = (row.promised[level] for level in row.promised)
    assert model is not None and category is not None and model < category
    assert stereotype is None or category < stereotype
    assert row.told.keys() == {level for level, lean in row.promised.items() if lean is not None}


def test_conditions_are_those_of_audits() -> None:
    assert [condition.name for condition in conditions()] == ["quick", "standard"]
    assert measure([], 3).rows == []
