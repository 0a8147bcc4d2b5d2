"""Answers of other interfaces in the form of a chat completion; `bodies` cleans what they hold.

Sources
    Anthropic, Messages: `content` in parts, `stop_reason`, tokens of the cache counted apart.
    Google, Gemini: `candidates`, whose parts are thoughts where `thought` is true, and
    `promptFeedback` where a filter stopped the prompt.
    OpenAI, Responses: `output`, whose items are messages, reasoning and others.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from clinometer.models.fields import as_count, as_object

#: The form that all others are put into.
CHAT = "OpenAI's chat completions"
_ANTHROPIC = "Anthropic's messages"
_GEMINI = "Google's Gemini"
_RESPONSES = "OpenAI's responses"


def interface_of(body: Any) -> str:
    """Name the interface of a body, as a reader of `collect` knows it.

    Examples
    --------
    >>> interface_of({"type": "message", "content": [{"type": "text", "text": "yes"}]})
    "Anthropic's messages"
    """
    if not isinstance(body, Mapping) or "choices" in body:
        return CHAT
    if body.get("type") == "message" and "content" in body:
        return _ANTHROPIC
    if isinstance(body.get("candidates"), list) or isinstance(body.get("promptFeedback"), Mapping):
        return _GEMINI
    if isinstance(body.get("output"), list):
        return _RESPONSES
    return CHAT


def as_chat_completion(body: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return a body with its answer where chat completions have it; others stay as they are."""
    convert = _CONVERTERS.get(interface_of(body))
    return body if convert is None else convert(body)


def _from_anthropic(body: Mapping[str, Any]) -> dict[str, Any]:
    usage = as_object(body.get("usage"))
    names = ("input_tokens", "cache_creation_input_tokens", "cache_read_input_tokens")
    counts = {"prompt_tokens": _sum(usage, names), "completion_tokens": usage.get("output_tokens")}
    return _completion(body.get("model"), body["content"], body.get("stop_reason"), counts)


def _from_gemini(body: Mapping[str, Any]) -> dict[str, Any]:
    # Without a candidate a filter stopped the prompt, and says why in `promptFeedback`.
    candidates = body.get("candidates")
    candidate = as_object(candidates[0]) if isinstance(candidates, list) and candidates else {}
    blocked = as_object(body.get("promptFeedback")).get("blockReason")
    if not candidate and not blocked:
        return {}
    ended = candidate.get("finishReason") if candidate else "content_filter"
    parts = as_object(candidate.get("content")).get("parts")
    content = [_from_gemini_part(part) for part in parts] if isinstance(parts, list) else None
    usage = as_object(body.get("usageMetadata"))
    counts = {
        "prompt_tokens": usage.get("promptTokenCount"),
        "completion_tokens": _sum(usage, ("candidatesTokenCount", "thoughtsTokenCount")),
    }
    return _completion(body.get("modelVersion"), content, ended, counts)


def _from_gemini_part(part: Any) -> Any:
    """Return a part of a candidate; a thought as other interfaces have it."""
    is_thought = isinstance(part, Mapping) and part.get("thought") is True
    return {"type": "thinking", "thinking": part.get("text")} if is_thought else part


def _from_responses(body: Mapping[str, Any]) -> dict[str, Any]:
    content: list[Any] = []
    refusal = None
    for item in filter(as_object, body["output"]):
        parts = item.get("content" if item.get("type") == "message" else "summary")
        for part in map(as_object, parts if isinstance(parts, list) else ()):
            if item.get("type") == "reasoning":
                content.append({"type": "thinking", "thinking": part.get("text")})
            else:
                content.append(part)
            refusal = part.get("refusal") or refusal
    why = as_object(body.get("incomplete_details")).get("reason")
    usage = as_object(body.get("usage"))
    completion = _completion(body.get("model"), content, why or body.get("status"), usage)
    completion["choices"][0]["message"]["refusal"] = refusal
    return completion if body["output"] else {}  # what failed has no output


_CONVERTERS = {
    _ANTHROPIC: _from_anthropic,
    _GEMINI: _from_gemini,
    _RESPONSES: _from_responses,
}


def _completion(
    model: Any, content: Any, finish_reason: Any, usage: Mapping[str, Any]
) -> dict[str, Any]:
    choice = {"message": {"content": content}, "finish_reason": finish_reason}
    return {"model": model, "choices": [choice], "usage": usage}


def _sum(usage: Mapping[str, Any], names: tuple[str, ...]) -> int | None:
    """Add up counts of tokens; None if none of them is stated."""
    counts = [as_count(usage.get(name)) for name in names]
    reported_counts = [count for count in counts if count is not None]
    return sum(reported_counts) if reported_counts else None
