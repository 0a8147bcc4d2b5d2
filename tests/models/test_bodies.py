"""Bodies that servers and gateways send, as their documentation and public reports have them."""

from __future__ import annotations

import contextlib
import io
import json
import math
from typing import Any

import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from clinometer.asking.requests import read_output
from clinometer.models.bodies import BodyError, parse_json, read_answer

TEXT = "weak - karen\nstrong - eric"


def body(**more: Any) -> dict[str, Any]:
    """A chat completion as OpenAI documents it; `more` replaces fields of it."""
    message = {"role": "assistant", "content": TEXT}
    choice = {"index": 0, "message": message, "finish_reason": "stop", "logprobs": None}
    usage = {"prompt_tokens": 9, "completion_tokens": 7, "total_tokens": 16}
    completion = {
        "id": "x",
        "object": "chat.completion",
        "created": 1,
        "model": "m",
        "usage": usage,
    }
    changed = {k: more.pop(k) for k in ("message", "finish_reason", "logprobs") if k in more}
    return {**completion, "choices": [{**choice, **changed}], **more}


def assistant_message(text: Any = TEXT, **more: Any) -> dict[str, Any]:
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
        message=assistant_message(
            [
                {"type": "thinking", "thinking": [{"type": "text", "text": "hm"}]},
                {"type": "text", "text": TEXT},
            ]
        )
    ),
    "parts": body(message=assistant_message([{"type": "text", "text": TEXT}])),
    "DeepSeek": body(message=assistant_message(reasoning_content="hm")),
    "OpenRouter": body(message=assistant_message(reasoning="hm", refusal=None), provider="x"),
    "LiteLLM": body(
        created=1755146543.51, message=assistant_message(function_call=None, tool_calls=None)
    ),
    "Ollama": body(system_fingerprint="fp_ollama", finish_reason="stop"),
    "llama.cpp": body(timings={"predicted_ms": 1.5}, __verbose={"content": TEXT}),
    "vLLM": body(
        kv_transfer_params=None,
        prompt_logprobs=None,
        message=assistant_message(tool_calls=[], reasoning=None),
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


@pytest.mark.parametrize("server", SERVERS)
def test_the_text_of_every_server_is_read(server: str) -> None:
    output = read_output(read_answer(200, parse_json(json.dumps(SERVERS[server]))))
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
    assert read_output(read_answer(200, body(finish_reason=reason))).stop_reason == stop


def test_usage_in_part_is_completed_from_the_total() -> None:
    usage = read_answer(200, SERVERS["usage in part"])["usage"]
    assert usage == {"prompt_tokens": 9, "completion_tokens": 7, "total_tokens": 16}
    assert read_answer(200, SERVERS["usage below 0"])["usage"] is None


def test_tokens_of_the_total_alone_are_of_the_answer() -> None:
    usage = {"prompt_tokens": 9, "completion_tokens": 7, "total_tokens": 99}
    assert read_answer(200, body(usage=usage))["usage"]["completion_tokens"] == 90


FILTERED = {"message": "The response was filtered due to the prompt", "code": "content_filter"}
GATEWAY = {
    "message": "ContentPolicyViolationError: filtered", "code": "400",
    "provider_specific_fields": {"innererror": {"code": "ResponsibleAIPolicyViolation"}},
}  # fmt: skip


@pytest.mark.parametrize("error", [FILTERED, GATEWAY])
def test_a_filtered_prompt_is_an_answer_that_was_refused(error: dict[str, Any]) -> None:
    assert read_output(read_answer(400, {"error": error})).stop_reason == "content_filter"


#: Side fields that hold nothing of an answer, as no documented server sends them.
ODD: dict[str, Any] = {
    "half a surrogate in the name": {"model": "m\ud800"},
    "no text for a name": {"model": {"a": 1}, "id": 5},
    "infinite time": {"created": math.inf},
    "no time": {"created": math.nan},
    "an integer of 401 digits": {"usage": {"prompt_tokens": int("9" * 401), "total_tokens": "x"}},
    "infinite tokens": {"usage": {"prompt_tokens": math.inf, "completion_tokens": math.nan}},
    "tokens as texts": {"usage": {"prompt_tokens": "9", "completion_tokens": []}},
    "details": {"usage": {"prompt_tokens": 1, "total_tokens": 2, "prompt_tokens_details": 3}},
    "alternatives": {"logprobs": {"content": [{"token": "a", "top_logprobs": 7}]}},
    "no log-probability": {"logprobs": {"content": [{"token": "a", "logprob": math.nan}]}},
    "no tokens": {"logprobs": {"content": [[], 3, None]}},
    "bytes": {"logprobs": {"content": [{"token": "a", "logprob": -1.0, "bytes": ["x", 999]}]}},
    "log-probabilities of the prompt": {"prompt_logprobs": [None, {"5": 3}]},
    "a list for an end": {"finish_reason": ["stop"]},
    "no error": {"error": {}},
    "content as an object": {"message": assistant_message({"type": "text", "text": TEXT})},
    "tools": {
        "message": assistant_message(tool_calls=[{"function": 3}], audio=4, reasoning_details=[5])
    },
}


@pytest.mark.parametrize("name", ODD)
def test_odd_side_fields_cost_no_answer(name: str) -> None:
    answer = read_answer(200, body(**ODD[name]))
    json.dumps(answer, allow_nan=False).encode()
    assert read_output(answer).completion == TEXT


def test_an_integer_of_any_length_is_read() -> None:
    text = json.dumps(body())[:-1] + f', "nonce": {"9" * 5000}}}'
    assert read_output(read_answer(200, parse_json(text))).completion == TEXT


@pytest.mark.parametrize(
    ("status", "payload", "why"),
    [
        (200, {}, "choices is missing"),
        (200, {"choices": []}, "choices is empty"),
        (200, {"choices": {"0": body()["choices"][0]}}, "choices is an object"),
        (200, {"choices": [{}]}, r"choices\[0\]\.message is missing"),
        (200, {"choices": ["x"]}, r"choices\[0\] is a text"),
        (200, body(message=assistant_message(5)), r"choices\[0\]\.message\.content is a number"),
        (
            200,
            body(message=assistant_message({"a": 5})),
            r"choices\[0\]\.message\.content is an object",
        ),
        (200, "<html>", "the body is a text"),
        (200, {"error": {"message": "no credit left", "code": "x"}}, "status 200: no credit left"),
        (200, {"error": {"message": "slow down", "code": 429}}, "status 429: slow down"),
        (200, {"object": "error", "message": "no such model"}, "status 200: no such model"),
        (200, {"choices": [{"error": {"message": "lost", "code": 502}}]}, "status 502: lost"),
        (400, {"error": {"message": "no such model"}}, "status 400: no such model"),
        (400, [{"error": {"message": "no such model"}}], "status 400: no such model"),
        ("429", {"error": {"message": "slow\x1b[2J down"}}, "status 429: slow␛\\[2J down"),
        (500, None, "status 500: no words"),
    ],
)
def test_a_body_without_an_answer_names_what_is_wrong(status: Any, payload: Any, why: str) -> None:
    with pytest.raises(BodyError, match=why):
        read_answer(status, payload)


@pytest.mark.parametrize("status", [200, "200", " 200 ", 200.0, None, "ok", True, [], 10**400])
def test_a_status_that_is_none_leaves_the_body_to_say(status: Any) -> None:
    assert read_output(read_answer(status, body())).completion == TEXT


#: Names that stand in bodies, so that arbitrary objects come near to answers.
NAMES = st.sampled_from(
    "choices message content text type token logprob logprobs top_logprobs bytes usage model error "
    "prompt_tokens completion_tokens total_tokens thinking reasoning refusal output candidates "
    "parts prompt_logprobs decoded_token finish_reason code index".split()
)
NUMBERS = st.floats() | st.integers() | st.just(10**400) | st.just(-(10**400))
JSON = st.recursive(
    st.none() | st.booleans() | NUMBERS | st.text(st.characters(), max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(NAMES, inner, max_size=4),
    max_leaves=12,
)
CHANGED = st.dictionaries(
    st.sampled_from(["message", "finish_reason", "logprobs", *body()]), JSON, max_size=4
)


def write_anywhere(status: Any, payload: Any) -> None:
    """Read a body; an answer has to fit into an output, a line and a table."""
    try:
        answer = read_answer(status, payload)
    except BodyError as error:
        str(error).encode()
        assert len(str(error)) < 600 and "\n" not in str(error)
        return
    output = read_output(answer)
    text = json.dumps(answer, allow_nan=False)
    assert read_answer(200, json.loads(text)) == answer
    usage = output.usage
    tokens = None if usage is None else usage.input_tokens + usage.output_tokens
    pl.DataFrame({"served": [output.model], "response": [output.completion], "tokens": [tokens]},
                 schema_overrides={"tokens": pl.Int64}).write_parquet(io.BytesIO())  # fmt: skip


@given(CHANGED | JSON, JSON | st.sampled_from([200, 400, "500"]))
def test_any_body_is_an_answer_or_a_named_error(payload: Any, status: Any) -> None:
    write_anywhere(status, payload)
    if isinstance(payload, dict):
        write_anywhere(200, body(**payload))


@given(st.binary(max_size=40) | JSON.map(lambda payload: json.dumps(payload, default=str).encode()))
def test_any_bytes_are_json_or_a_named_error(data: bytes) -> None:
    with contextlib.suppress(BodyError):
        write_anywhere(200, parse_json(data))


@pytest.mark.parametrize("data", [b"[" * 100_000, b'{"a":' * 100_000, b"\xff\xfe{", b""])
def test_what_is_no_json_is_named(data: bytes) -> None:
    with pytest.raises(BodyError, match="not JSON"):
        parse_json(data)
