"""Bodies that servers and gateways send, as their documentation and public reports have them."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from clinometer.asking.requests import find_failure, read_output
from clinometer.models.bodies import BodyError, usual

TEXT = "weak - karen\nstrong - eric"


def body(**more: Any) -> dict[str, Any]:
    """A chat completion as OpenAI documents it; `more` replaces fields of it."""
    message = {"role": "assistant", "content": TEXT}
    choice = {"index": 0, "message": message, "finish_reason": "stop", "logprobs": None}
    usage = {"prompt_tokens": 9, "completion_tokens": 7, "total_tokens": 16}
    told = {"id": "x", "object": "chat.completion", "created": 1, "model": "m", "usage": usage}
    changed = {k: more.pop(k) for k in ("message", "finish_reason", "logprobs") if k in more}
    return {**told, "choices": [{**choice, **changed}], **more}


def said(text: Any = TEXT, **more: Any) -> dict[str, Any]:
    return {"role": "assistant", "content": text, **more}


#: What servers and gateways send for a whole answer.
SERVERS = {
    "OpenAI": body(service_tier="default", system_fingerprint="fp_1"),
    "Azure": body(prompt_filter_results=[{"prompt_index": 0, "content_filter_results": {}}]),
    "Together": body(finish_reason="eos", prompt=[]),
    "text-generation-inference": body(finish_reason="eos_token"),
    "Groq": body(
        service_tier="on_demand",
        x_groq={"id": "req_1"},
        usage={"queue_time": 0.09, "prompt_tokens": 9, "completion_tokens": 7, "total_tokens": 16},
    ),
    "Mistral, reasoning": body(
        message=said(
            [
                {"type": "thinking", "thinking": [{"type": "text", "text": "hm"}]},
                {"type": "text", "text": TEXT},
            ]
        )
    ),
    "parts": body(message=said([{"type": "text", "text": TEXT}])),
    "DeepSeek": body(message=said(reasoning_content="hm")),
    "OpenRouter": body(message=said(reasoning="hm", refusal=None), provider="x"),
    "LiteLLM": body(created=1755146543.51, message=said(function_call=None, tool_calls=None)),
    "Ollama": body(system_fingerprint="fp_ollama", finish_reason="stop"),
    "llama.cpp": body(timings={"predicted_ms": 1.5}, __verbose={"content": TEXT}),
    "vLLM": body(
        kv_transfer_params=None,
        prompt_logprobs=None,
        message=said(tool_calls=[], reasoning=None),
    ),
    "SGLang": body(metadata={"weight_version": "default"}, matched_stop=151645),
    "LMDeploy": body(finish_reason="stop", logprobs={"content": None}),
    "Gemini": body(finish_reason="STOP", created=0, object="chat.completion"),
    "Anthropic": body(finish_reason="end_turn", usage={"input_tokens": 9, "output_tokens": 7}),
    "legacy": {**body(), "choices": [{"index": 0, "text": TEXT, "finish_reason": "stop"}]},
    "unnamed": {"choices": [{"message": {"content": TEXT}}]},
    "no usage": body(usage=None, finish_reason=None),
    "usage in part": body(usage={"prompt_tokens": 9, "total_tokens": 16}, finish_reason=""),
    "usage below 0": body(usage={"prompt_tokens": -1, "completion_tokens": -1}),
    "an unknown end": body(finish_reason="weird"),
    "an error at the end": body(finish_reason="error"),
}


def line(told: Any, status: int = 200) -> dict[str, Any]:
    response = {"status_code": status, "request_id": "q", "body": told}
    return {"id": "b", "custom_id": "c", "response": response, "error": None}


@pytest.mark.parametrize("server", SERVERS)
def test_the_text_of_every_server_is_read(server: str) -> None:
    answer = json.loads(json.dumps(line(SERVERS[server])))
    assert find_failure(answer) is None
    output = read_output(answer)
    assert output.completion == TEXT
    assert output.stop_reason in ("stop", "unknown")
    if output.usage is not None:
        assert output.usage.input_tokens >= 0 and output.usage.output_tokens >= 0


@pytest.mark.parametrize(
    ("reason", "stop"),
    [("length", "max_tokens"), ("MAX_TOKENS", "max_tokens"), ("max_length", "max_tokens"),
     ("content_filter", "content_filter"), ("SAFETY", "content_filter"), ("eos", "stop"),
     ("recitation", "content_filter"), ("end_turn", "stop"), (None, "unknown"), ("x", "unknown")],
)  # fmt: skip
def test_an_end_has_one_name(reason: str | None, stop: str) -> None:
    assert read_output(line(body(finish_reason=reason))).stop_reason == stop


def test_usage_in_part_is_completed_from_the_total() -> None:
    usage = usual(200, SERVERS["usage in part"])[1]["usage"]
    assert usage == {"prompt_tokens": 9, "completion_tokens": 7, "total_tokens": 16}
    assert usual(200, SERVERS["usage below 0"])[1]["usage"] is None


FILTERED = {"message": "The response was filtered due to the prompt", "code": "content_filter"}
GATEWAY = {
    "message": "ContentPolicyViolationError: filtered", "code": "400",
    "provider_specific_fields": {"innererror": {"code": "ResponsibleAIPolicyViolation"}},
}  # fmt: skip


@pytest.mark.parametrize("error", [FILTERED, GATEWAY])
def test_a_filtered_prompt_is_an_answer_that_was_refused(error: dict[str, Any]) -> None:
    answer = line({"error": error}, 400)
    assert find_failure(answer) is None
    assert read_output(answer).stop_reason == "content_filter"


@pytest.mark.parametrize(
    ("status", "told", "why"),
    [
        (200, {}, "choices is missing"),
        (200, {"choices": []}, "choices is empty"),
        (200, {"choices": [{}]}, r"choices\[0\]\.message is missing"),
        (200, {"choices": ["x"]}, r"choices\[0\] is a text"),
        (200, body(message=said(5)), r"choices\[0\]\.message\.content is a number"),
        (200, "<html>", "the body is a text"),
        (400, {"error": {"message": "no such model"}}, "status 400: no such model"),
        (429, {"error": {"message": "slow down"}}, "status 429: slow down"),
        (500, None, "status 500: null"),
    ],
)
def test_a_body_without_an_answer_names_what_is_wrong(status: int, told: Any, why: str) -> None:
    import re

    failure = find_failure(line(told, status))
    assert failure is not None and re.search(why, failure)


JSON = st.recursive(
    st.none() | st.booleans() | st.floats() | st.text(max_size=5),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(st.sampled_from(["content", "text", "type", "logprob", "token"]), inner)
    ),
    max_leaves=6,
)


@given(JSON, JSON, JSON, JSON)
def test_any_body_is_read_or_names_a_field(content: Any, ended: Any, usage: Any, lp: Any) -> None:
    told = body(message=said(content), finish_reason=ended, usage=usage, logprobs={"content": lp})
    try:
        _, found = usual(200, told)
    except BodyError as error:
        assert str(error).startswith("not a chat completion: ")
    else:
        assert repr(usual(200, found)[1]) == repr(found)
