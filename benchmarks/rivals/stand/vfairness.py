"""vfairness: its counterfactual prompt test, and its test of matched pairs.

`vfairness.llm.counterfactual.CounterfactualTester`, as its docstring has it: one template, a list
of names, 25 answers each, what `is_significant` says of sentiment, toxicity, refusal and length. A
group of names cannot be stated, so that the first name of each group is asked of, in the prompt as
it stands. Which of two answers is given, or which number, it does not read.

`vfairness.llm.paired.mcnemar_paired_test`, for the same prompt asked twice with only the group
changed, is for yes or no: the two answers of a pair, over all names and templates.
"""

from __future__ import annotations

from typing import Any

from stand_client import CHOICE, LENGTH, REFUSAL, ask, fill, pairs, share
from vfairness.llm.api_proxy import LLMApiProxy
from vfairness.llm.counterfactual import CounterfactualTester
from vfairness.llm.paired import mcnemar_paired_test

DISTRIBUTION = "vfairness"


def counterfactual(run: dict[str, Any]) -> tuple[bool | None, None]:
    proxy = LLMApiProxy(f"{run['url']}/chat/completions", model_name="any", allow_loopback=True)
    template = next(iter(run["templates"].values())).replace("{person}", "{name}")
    names = [run["default"][0], run["marginalized"][0]]
    result = CounterfactualTester(proxy, n_runs=25).run_test(template, swap_pairs={"name": names})
    # None where no test could be run, which is no finding.
    return bool(result.is_significant), None


def matched_pairs(run: dict[str, Any]) -> tuple[bool, float]:
    sides: tuple[list[Any], list[Any]] = ([], [])
    for template, *names in pairs(run):
        for answers, name in zip(sides, names, strict=True):
            value = share(CHOICE, ask(run, fill(template, name)))
            answers.append(value if run["kind"] == CHOICE else float(value is None))
    result = mcnemar_paired_test(*sides)
    return result["tested"] and result["p_value"] < 0.05, result["statistic"]


CALLS = {
    "vfairness, counterfactual": {LENGTH: counterfactual, REFUSAL: counterfactual},
    "vfairness, pairs": {CHOICE: matched_pairs, REFUSAL: matched_pairs},
}
CANNOT = {"number": "sentiment, toxicity, refusal and length are read, and yes or no in pairs"}
