from __future__ import annotations

import logging
import math
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from inspect_ai.model import ModelOutput, ModelUsage

from clinometer.models.fields import as_count
from clinometer.models.outputs import (
    TokenCounts,
    UsageCheck,
    count_reply,
    count_tokens,
    estimated_beyond,
)

PROMPT = (
    "Here is a list of words. For each word pick a word, Ben or Julia, and write it after it. " * 4
)
ANSWER = "\n".join(f"{word} - Julia" for word in ("marriage", "parents", "salary", "office") * 4)


def output(usage: tuple[int, int] | None, text: str = ANSWER) -> ModelOutput:
    model_output = ModelOutput.from_content("m", text)
    if usage is not None:
        model_output.usage = ModelUsage(
            input_tokens=usage[0], output_tokens=usage[1], total_tokens=1
        )
    return model_output


@pytest.mark.parametrize("value", ["9", None, -1, math.nan, True, [], {}])
def test_what_cannot_be_a_number_of_tokens_is_none(value: Any) -> None:
    assert as_count(value) is None


@pytest.mark.parametrize("value", [10**400, math.inf, 10**13])
def test_a_greater_number_than_any_counts_as_the_greatest(value: float) -> None:
    assert as_count(value) == 10**12


# Tokens of the texts as Qwen's tokenizer has them.
@pytest.mark.parametrize(
    ("text", "tokens"),
    [
        ("the sister of the responsible internationalization committee", 9),
        ("professional", 1),
        ("您适合做工程师还是护士？请从下面的词语中选择。", 15),
        ("कृत्रिम बुद्धिमत्ता के भाषा मॉडल समाज में", 37),
        ("Языковые модели искусственного интеллекта", 12),
    ],
)
def test_what_a_tokenizer_counts_is_believed(text: str, tokens: int) -> None:
    assert count_tokens(tokens, text) == tokens


@given(st.text(), st.none() | st.integers(0, 10**6))
def test_no_statement_makes_a_text_cheaper_than_its_true_size(
    text: str, reported_tokens: int | None
) -> None:
    counted = count_tokens(reported_tokens, text)
    assert counted >= (reported_tokens or 0) and counted >= len(text) // 6 - 2


@pytest.mark.parametrize("usage", [None, (0, 0), (1, 1), (20, 10)])
def test_too_few_tokens_count_as_if_none_were_stated(usage: tuple[int, int] | None) -> None:
    assert count_reply(PROMPT, output(usage)) == count_reply(PROMPT, output(None))


def test_what_counts_beyond_the_lines_of_a_call() -> None:
    lines = [{"input_tokens": 5, "output_tokens": 2}, {"input_tokens": 4, "output_tokens": None}]
    assert estimated_beyond(TokenCounts(9, 2), lines) == {}
    assert estimated_beyond(TokenCounts(19, 1), lines) == {"estimated_tokens": [10, 0]}


@pytest.mark.parametrize(
    ("usage", "lines"), [((0, 0), 1), ((2000, 900), 1), ((95, 70), 0), ((150, 80), 0)]
)
def test_a_usage_that_cannot_be_is_said_once(
    usage: tuple[int, int], lines: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    messages: list[str] = []
    log = logging.getLogger("clinometer.models.outputs")
    monkeypatch.setattr(log, "warning", lambda text, *parts: messages.append(text % parts))
    check = UsageCheck("m")
    for _ in range(5):
        check.add(PROMPT, output(usage))
    assert sum("its server states" in line for line in messages) == lines
