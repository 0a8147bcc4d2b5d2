"""The benchmark of single words asks placebos as an audit does, in the study's own wordings."""

from benchmarks.single_words import Condition, _placebos, conditions, judge

from clinometer.audits.sizes import PlanOptions, sized_plan


def test_placebos_are_those_of_an_audit():
    quick = {condition.number: condition for condition in conditions() if condition.size == "quick"}
    for keys in ("age", "age,weight,guilt"):
        number = len(keys.split(","))
        options = PlanOptions(["bai2025"], ["word_association"], keys, controls=True)
        plan = sized_plan("quick", ["openai/x"], options)
        (part,) = (p for p in plan.selections if p.stereotypes[0].startswith("words_"))
        _, words = _placebos(quick[number])
        assert words.world.answers == part.iterations
        assert words.world.words == len(part.study.stereotypes[part.stereotypes[0]].default)
        assert {*words.frame["study"]} == {"worlds"}


def test_a_word_is_told_as_its_group_less_often_beside_arbitrary_words():
    row = judge(Condition(1, "quick", 0.25), runs=24)
    assert row.false.value < row.open.value
    assert row.found[0.8].value > row.found[0.3].value
