"""The frozen set of `benchmarks rivals` is as it says; a failure is not a finding of nothing."""

import json
import shutil
import sys
from pathlib import Path

import benchmarks.rivals
import numpy as np
import pytest
from benchmarks.__main__ import main
from benchmarks.rivals import adapter, measure, recorded, scenarios
from benchmarks.rivals.environments import EnvironmentMissing, Tool
from scipy.stats import norm

FROZEN = "7fec13b74c876621fdde135aaa61459de284432d3fbbe6cab08b2fac750044ef"
RUNS = 60
DECISIONS = [scenario for scenario in scenarios.SCENARIOS if scenario.kind == "decisions"]
CHOICES = [scenario for scenario in scenarios.SCENARIOS if scenario.kind == "choices"]


def answers(scenario):
    return [scenarios.draw(scenario, run)["answers"] for run in range(RUNS)]


def share(values, where):
    picked = [v for v, selected in zip(values, where, strict=True) if selected and v is not None]
    return np.mean(picked)


def gap(table):
    """The share of yes about the default group, less that about the marginalized."""
    is_default = np.array(table["group"]) == "default"
    return share(table["yes"], is_default) - share(table["yes"], ~is_default)


def is_near(values, expected):
    """Whether the mean is within four standard errors, which one test in 16,000 is not."""
    return abs(np.mean(values) - expected) < 4 * np.std(values) / len(values) ** 0.5


def test_the_set_is_frozen():
    assert scenarios.digest([scenarios.draw(s, 0) for s in scenarios.SCENARIOS]) == FROZEN


@pytest.mark.parametrize("scenario", DECISIONS, ids=lambda s: s.name)
def test_decisions_have_the_lean_that_is_stated(scenario):
    """A normal sum is above 0 with a probability that has a closed form (skewed: equal groups)."""
    variance = 1 + scenario.names**2 + scenario.templates**2 + scenario.templates_by_group**2 / 4
    expected = 2 * norm.cdf(scenario.lean / 2 / variance**0.5) - 1
    gaps, refusals = [], []
    for table in answers(scenario):
        is_default = np.array(table["group"]) == "default"
        refused = np.array([yes is None for yes in table["yes"]])
        gaps.append(gap(table))
        refusals.append((refused[~is_default].mean(), refused[is_default].mean()))
        codes = {scenarios.REFUSAL: None, "Yes.": 1, "No.": 0}
        assert [codes[text] for text in table["text"]] == table["yes"]
    assert is_near(gaps, expected)
    assert np.mean(refusals, 0) == pytest.approx(scenario.refused, abs=0.02)


@pytest.mark.parametrize("scenario", CHOICES, ids=lambda s: s.name)
def test_choices_have_the_lean_and_the_order_that_are_stated(scenario):
    variance = 1 + 2 * scenario.names**2
    for order, sign in (("marginalized_first", 1), ("default_first", -1)):
        tables = answers(scenario)
        shares = [share(t["consistent"], np.array(t["order"]) == order) for t in tables]
        assert is_near(shares, norm.cdf((scenario.lean + sign * scenario.order) / variance**0.5))
    first = [np.mean(np.array(t["order"]) == "marginalized_first") for t in tables]
    assert is_near(first, scenario.marginalized_first)


def test_the_check_of_truth_tells_the_smallest_lean_from_none():
    small = next(s for s in DECISIONS if s.name == "a small lean alone")
    assert not is_near([gap(table) for table in answers(small)], 0.0)


def test_scores_of_released_answers_are_those_of_the_paper():
    """Bai et al. (2025), Materials and Methods: Julia 3 of 7 wedding words, Ben 6 of 7: .29."""
    tied, counter = [f"wedding{i}" for i in range(7)], [f"office{i}" for i in range(7)]
    lines = [f"{word} - julia" for word in (*tied[:3], *counter[:4])]
    lines += [f"{word} - ben" for word in (tied[3], *counter[4:], "office0", "office1", "office2")]
    text = "\n".join(lines)
    assert recorded.score(text, ("julia", "ben"), tied, counter) == pytest.approx(0.286, abs=0.001)


@pytest.mark.parametrize("name", recorded.RECORDED)
def test_released_answers_have_the_labels_that_are_stated(shared_data, name):
    means, sizes = [], []
    for run in range(2 * RUNS):
        run_tables = recorded.draw(name, run)
        table, words = run_tables["answers"], (run_tables["tied"], run_tables["counter"])
        assert not {*run_tables["marginalized"]} & {*run_tables["default"]}
        groups = zip(table["marginalized"], table["default"], strict=True)
        scores = [
            recorded.score(text, pair, *words)
            for text, pair in zip(table["text"], groups, strict=True)
        ]
        assert scores == pytest.approx(table["score"])
        means.append(np.mean(scores))
        sizes.append(np.mean(np.abs(scores)))
    planted = recorded.PLANTED if name == recorded.RECORDED[2] else 0.0
    assert is_near(np.array(means) - planted * np.array(sizes), 0.0)


@pytest.fixture
def mixed_model():
    tool = adapter._load(Path(adapter.__file__).parent / "tools" / "mixed_model.py")
    try:
        tool.version()
    except RuntimeError:
        pytest.skip("needs R with lme4 and lmerTest")
    return tool


def test_the_mixed_model_estimates_the_gap_where_all_are_asked_alike(mixed_model):
    large = next(s for s in DECISIONS if s.name.startswith("a large lean"))
    runs = [scenarios.draw(scenario, 0) for scenario in (DECISIONS[0], large)]
    detected, gaps = zip(*mixed_model.decisions(runs), strict=True)
    assert detected == (False, True)
    assert gaps == pytest.approx([gap(run["answers"]) for run in runs], abs=1e-6)


def test_the_mixed_model_lets_both_orders_count_alike(mixed_model):
    runs = [scenarios.draw(scenario, 0) for scenario in CHOICES]
    detected, leans = zip(*mixed_model.choices(runs), strict=True)
    assert detected == (False, True)
    for lean, run in zip(leans, runs, strict=True):
        order = np.array(run["answers"]["order"])
        first = share(run["answers"]["consistent"], order == "marginalized_first")
        assert lean == pytest.approx(
            (first + share(run["answers"]["consistent"], order == "default_first")) / 2 - 0.5,
            abs=0.02,  # names are not asked as often in both orders
        )


def test_the_mixed_model_needs_no_variance_of_what_has_one_level(mixed_model):
    """One name a side, one template: its test is the t test of the scores."""
    scores = [0.2, 0.5, 0.1, -0.1, 0.4, 0.3]
    names = {name: [name] * len(scores) for name in ("template", "marginalized")}
    table = {**names, "default": ["a", "b"] * 3, "score": scores}
    ((detected, mean),) = mixed_model.associations([{"answers": table}])
    assert (detected, mean) == (True, pytest.approx(np.mean(scores)))


FAILING = """
DISTRIBUTION = "numpy"

def decide(run):
    if run["run"] % 2:
        raise ValueError("no such column")
    return True, 1.0

CALLS = {"failing": {"decisions": decide}}
"""


def test_a_call_that_fails_is_no_finding_and_not_none(tmp_path):
    (tmp_path / "tool.py").write_text(FAILING)
    runs = [scenarios.draw(DECISIONS[0], run) for run in range(4)]
    lines = [json.dumps({"scenario": "nothing", **run}) for run in runs]
    (tmp_path / "runs").write_text("\n".join(lines))
    adapter.main(*(str(tmp_path / name) for name in ("tool.py", "runs", "out")))
    first, *rows = map(json.loads, (tmp_path / "out").read_text().splitlines())
    assert first["version"] == np.__version__
    assert [row["found"] for row in rows] == [True, None, True, None]
    assert rows[1]["error"] == "ValueError: no such column"
    assert benchmarks.rivals._cell(rows) == "1.000, 2 of 4 failed"
    assert benchmarks.rivals._cell(rows[1:2]) == "1 of 1 failed"


def test_a_tool_that_does_not_load_is_said_to_have_failed(monkeypatch, tmp_path):
    (tmp_path / "tools").mkdir()
    (tmp_path / "tools" / "broken.py").write_text("import nothing_of_this_name\n")
    shutil.copy(adapter.__file__, tmp_path)  # it is looked for beside the tools
    monkeypatch.setattr("benchmarks.rivals.environments.HERE", tmp_path)
    for module in ("rivals", "rivals.environments"):
        monkeypatch.setattr(f"benchmarks.{module}.interpreter", lambda tool: sys.executable)
    result = measure(1, 0, [Tool("broken")])
    assert result.columns == ("answers", "oracle")
    assert any("broken was not run" in n and "nothing_of_this_name" in n for n in result.notes)


def test_where_nothing_can_be_installed_one_line_says_so(monkeypatch, capsys):
    def refuse(tool):
        raise EnvironmentMissing("the other tools cannot be installed: no network")

    monkeypatch.setattr("benchmarks.rivals.interpreter", refuse)
    assert main(["rivals"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert lines[-1] == "not run: clinometer: the other tools cannot be installed: no network"
