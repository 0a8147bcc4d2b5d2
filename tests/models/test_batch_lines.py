"""Lines of batch results as the documentation of each provider has them."""

from __future__ import annotations

import contextlib
import json
from typing import Any

import pytest
from hypothesis import given
from tests.models.test_bodies import JSON, TEXT, body

from clinometer.asking.requests import read_output
from clinometer.models.batch_lines import BatchLine, read_line
from clinometer.models.bodies import BodyError

MESSAGE = {
    "type": "message", "role": "assistant", "model": "claude-haiku-4-5",
    "content": [{"type": "thinking", "thinking": "hm"}, {"type": "text", "text": TEXT}],
    "stop_reason": "max_tokens",
    "usage": {"input_tokens": 4, "cache_read_input_tokens": 5, "output_tokens": 7},
}  # fmt: skip
CANDIDATE = {
    "content": {"parts": [{"text": "hm", "thought": True}, {"text": TEXT}], "role": "model"},
    "finishReason": "MAX_TOKENS",
}
GEMINI = {
    "candidates": [CANDIDATE], "modelVersion": "gemini",
    "usageMetadata": {"promptTokenCount": 9, "candidatesTokenCount": 5, "thoughtsTokenCount": 2},
}  # fmt: skip
RESPONSE = {
    "object": "response", "status": "incomplete", "error": None,
    "incomplete_details": {"reason": "max_output_tokens"},
    "output": [{"type": "reasoning", "summary": [{"type": "summary_text", "text": "hm"}]},
               {"type": "message", "content": [{"type": "output_text", "text": TEXT}]}],
    "usage": {"input_tokens": 9, "output_tokens": 7, "total_tokens": 16},
}  # fmt: skip


def read(**fields: Any) -> BatchLine:
    return read_line(json.dumps({"custom_id": "c", **fields}))


@pytest.mark.parametrize(
    ("fields", "interface"),
    [
        ({"result": {"type": "succeeded", "message": MESSAGE}}, "Anthropic's messages"),
        ({"response": GEMINI}, "Google's Gemini"),
        ({"response": {"status_code": 200, "body": RESPONSE}}, "OpenAI's responses"),
    ],
)
def test_answers_of_other_interfaces_are_read(fields: dict[str, Any], interface: str) -> None:
    line = read(**fields)
    assert line.body is not None and line.interface == interface
    output = read_output(line.body)
    assert (output.completion, output.stop_reason) == (TEXT, "max_tokens")
    assert line.body["choices"][0]["message"]["reasoning_content"] == "hm"
    assert output.usage is not None
    assert (output.usage.input_tokens, output.usage.output_tokens) == (9, 7)


@pytest.mark.parametrize(
    "fields",
    [
        {"response": {"status_code": "200", "body": body()}, "error": None},
        {"response": body()},
        body(),
        {"response": {"status_code": 200, "body": body()}, "error": {}},
    ],
)
def test_a_chat_completion_is_read_wherever_it_stands(fields: dict[str, Any]) -> None:
    line = read(**fields)
    assert line.body is not None and read_output(line.body).completion == TEXT


@pytest.mark.parametrize(
    ("fields", "failure", "unsent"),
    [
        ({"result": {"type": "expired"}}, "failed: expired", True),
        ({"result": {"type": "errored", "error": {"type": "error", "error": {
            "type": "overloaded_error", "message": "Overloaded"}}}}, "failed: Overloaded", False),
        ({"response": None, "error": {"code": "batch_expired", "message": "late"}},
         "failed: late", True),
        ({"response": {"status_code": 429, "body": {"error": {"message": "slow"}}}},
         "status 429: slow", False),
        ({"response": {"promptFeedback": {}}}, "not a chat completion: choices is missing", False),
        ({}, "not a chat completion: choices is missing", False),
    ],
)  # fmt: skip
def test_a_failure_has_its_own_words(fields: dict[str, Any], failure: str, unsent: bool) -> None:
    line = read(**fields)
    assert (line.body, line.failure, line.unsent) == (None, failure, unsent)


def test_a_prompt_that_gemini_blocked_is_refused() -> None:
    line = read(response={"promptFeedback": {"blockReason": "SAFETY"}})
    assert line.body is not None
    assert read_output(line.body).stop_reason == "content_filter"


@pytest.mark.parametrize(
    ("line", "why"),
    [("{", "not JSON"), ("[1]", "not an object"), ("[" * 99_999, "nested too deeply"),
     ('{"recordId": "a", "modelOutput": {}}', "no custom_id; the fields are recordId, modelO")],
)  # fmt: skip
def test_a_line_of_no_request_says_why(line: str, why: str) -> None:
    with pytest.raises(BodyError, match=why):
        read_line(line)


@given(JSON, JSON)
def test_any_line_is_an_answer_a_failure_or_a_named_error(reply: Any, more: Any) -> None:
    for fields in (
        {"response": reply, "error": more},
        {"result": reply},
        {"response": {"body": reply}},
    ):
        with contextlib.suppress(BodyError):
            line = read_line(json.dumps({"custom_id": "c", **fields}, default=str))
            assert (line.body is None) != (line.failure is None)
