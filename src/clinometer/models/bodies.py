"""Bodies of chat completions as servers send them, put into the form that OpenAI documents.

One path for answers of a live server and for answers that were collected: `usual`. Put right are

    ====================  ========================================================================
    finish reasons        names of other interfaces (``eos``, ``end_turn``, ``MAX_TOKENS``,
                          ``SAFETY``); one that is null, missing or unknown leaves the text as it is
    content as parts      texts are joined; parts of thinking become `reasoning_content`
    reasoning             under other names (``reasoning``, ``thinking``)
    refusals              a filtered prompt (status 400 of Azure and of gateways before it) is an
                          answer that ended with ``content_filter``: asking again gives the same
    usage                 in part: what is missing follows from the total; negative or not a
                          number: none
    the rest              fractional `created`, legacy `text`, log-probabilities that are null
    ====================  ========================================================================

A body that holds no answer raises `BodyError`, which names the field.

Sources
    The documented interfaces of OpenAI, Azure, Together, Groq, Mistral, DeepSeek, OpenRouter,
    LiteLLM, Ollama, llama.cpp, vLLM, SGLang, text-generation-inference, LMDeploy and Gemini's and
    Anthropic's compatible ones.
"""

from __future__ import annotations

import json
import math
from collections.abc import Mapping, Sequence
from typing import Any, TypeGuard

__all__ = ["LARGEST", "NEVER", "BodyError", "TooLarge", "usual"]

#: The largest body of an answer that is read, in bytes.
LARGEST = 4 << 20

#: What servers list for a token that is never drawn; some say minus infinity, or null.
NEVER = -9999.0

_FINISHED = {
    "stop": "stop eos eos_token stop_sequence end_turn complete completed done stop_token finished "
    "end_of_sequence eot end success finish_reason_stop",
    "length": "length max_tokens max_length model_length token_limit max_output_tokens incomplete "
    "context_length_exceeded limit",
    "content_filter": "content_filter safety blocklist prohibited_content recitation refusal spii "
    "sensitive image_safety guardrail_intervened content_filtered moderation",
    "tool_calls": "tool_calls tool_use function_call",
}
_REASONS = {alias: reason for reason, aliases in _FINISHED.items() for alias in aliases.split()}

#: What a filter is called in the bodies of errors.
_FILTERS = ("content_filter", "responsibleaipolicyviolation", "contentpolicyviolation")


class BodyError(ValueError):
    """A body that holds no answer; says which field is why."""


class TooLarge(Exception):
    """A body that is larger than `LARGEST`."""


def usual(status: int, body: Any) -> tuple[int, Any]:
    """Return the status and body as OpenAI's interface has them.

    Other failures stay as they are. Raises BodyError if a body of status 200 holds no answer.

    Examples
    --------
    >>> body = {"choices": [{"message": {"content": "yes"}, "finish_reason": "eos"}]}
    >>> usual(200, body)[1]["choices"][0]["finish_reason"]
    'stop'
    """
    if not isinstance(body, Mapping):
        if status == 200:
            raise BodyError(f"not a chat completion: the body is {_kind(body)}")
        return status, body
    if _is_filtered(status, body):
        return 200, _filtered(body)
    if status != 200 or body.get("error"):
        return status, body
    choices = body.get("choices")
    if not isinstance(choices, Sequence) or isinstance(choices, str) or not choices:
        raise BodyError(f"not a chat completion: choices is {_kind(choices)}")
    created = body.get("created")
    return status, {
        "id": "",
        "model": "",
        **body,
        "object": "chat.completion",
        "created": int(created) if _is_number(created) else 0,
        "choices": [_choice(number, choice) for number, choice in enumerate(choices)],
        "usage": _usage(body.get("usage")),
    }


def _choice(number: int, choice: Any) -> dict[str, Any]:
    """Put a choice, at a place in the list, into its usual form."""
    where = f"choices[{number}]"
    if not isinstance(choice, Mapping):
        raise BodyError(f"not a chat completion: {where} is {_kind(choice)}")
    message = choice.get("message", choice.get("delta"))
    if message is None and isinstance(choice.get("text"), str):
        message = {"content": choice["text"]}
    if not isinstance(message, Mapping):
        raise BodyError(f"not a chat completion: {where}.message is {_kind(message)}")
    content, thought = _content(message.get("content"), f"{where}.message.content")
    refusal = message.get("refusal")
    reason = _usual_reason(choice.get("finish_reason", choice.get("stop_reason")))
    reasoning = _reasoning(message) or thought
    index = choice.get("index")
    return {
        **choice,
        "index": int(index) if _is_number(index) else number,
        "message": {
            **message,
            "role": "assistant",
            "content": content,
            "refusal": refusal if isinstance(refusal, str) and refusal else None,
            **({"reasoning_content": reasoning} if reasoning else {}),
        },
        "finish_reason": reason,
        "logprobs": _logprobs(choice.get("logprobs")),
    }


def _reasoning(message: Mapping[str, Any]) -> str:
    """Return the reasoning beside a text, under the first of its names that has some."""
    for name in ("reasoning_content", "reasoning", "thinking"):
        text = message.get(name)
        if isinstance(text, str) and text:
            return text
    return ""


def _content(content: Any, where: str) -> tuple[str, str]:
    """Return the text of a message, and what it says of thinking."""
    if content is None or isinstance(content, str):
        return content or "", ""
    if not isinstance(content, Sequence):
        raise BodyError(f"not a chat completion: {where} is {_kind(content)}")
    texts: list[str] = []
    thoughts: list[str] = []
    for part in content:
        if isinstance(part, str):
            texts.append(part)
        elif isinstance(part, Mapping):
            thinking = part.get("thinking", part.get("reasoning"))
            if thinking is not None or part.get("type") in ("thinking", "reasoning"):
                thoughts.append(_content(thinking or part.get("text") or "", where)[0])
            elif isinstance(part.get("text"), str):
                texts.append(part["text"])
    return "".join(texts), "".join(thoughts)


def _usual_reason(reason: Any) -> str | None:
    """Return the reason under OpenAI's name; None if it is none that is known."""
    if not isinstance(reason, str):
        return None
    return _REASONS.get(reason.strip().lower().replace("-", "_").replace(" ", "_"))


def _logprobs(logprobs: Any) -> dict[str, Any] | None:
    if not isinstance(logprobs, Mapping) or not isinstance(logprobs.get("content"), Sequence):
        return None
    return {**logprobs, "content": [_position(position) for position in logprobs["content"]]}


def _position(position: Any) -> dict[str, Any]:
    """Put a token with its log-probability, and its alternatives, into their usual form."""
    if not isinstance(position, Mapping):
        raise BodyError(f"not a chat completion: logprobs.content holds {_kind(position)}")
    alternatives = position.get("top_logprobs") or ()
    listed = [_position({**alternative, "top_logprobs": None}) for alternative in alternatives]
    value = position.get("logprob")
    return {
        **position,
        "token": str(position.get("token", "")),
        "bytes": position.get("bytes"),
        "logprob": float(value) if _is_number(value) and math.isfinite(value) else NEVER,
        "top_logprobs": listed,
    }


def _usage(usage: Any) -> dict[str, Any] | None:
    """Return tokens in and out and their sum; None unless two of them are known."""
    if not isinstance(usage, Mapping):
        return None
    prompt = _tokens(usage, "prompt_tokens", "input_tokens")
    completion = _tokens(usage, "completion_tokens", "output_tokens")
    total = _tokens(usage, "total_tokens", "total_tokens")
    if prompt is None and completion is not None and total is not None:
        prompt = max(total - completion, 0)
    if completion is None and prompt is not None and total is not None:
        completion = max(total - prompt, 0)
    if prompt is None or completion is None:
        return None
    sums = {"prompt_tokens": prompt, "completion_tokens": completion}
    details = {
        name: value
        for name, value in usage.items()
        if name.endswith("_details") and isinstance(value, Mapping)
    }
    return {**details, **sums, "total_tokens": prompt + completion}


def _tokens(usage: Mapping[str, Any], name: str, other_name: str) -> int | None:
    """Return a count under either of its names; None if it is no number of tokens."""
    count = usage.get(name, usage.get(other_name))
    if not _is_number(count) or count < 0 or not math.isfinite(count):
        return None
    return int(count)


def _is_filtered(status: int, body: Mapping[str, Any]) -> bool:
    """Whether a failure says that a filter stopped the prompt, or the answer."""
    error = body.get("error")
    if status not in (200, 400) or not isinstance(error, Mapping):
        return False
    text = json.dumps(error, default=str).lower().replace(" ", "")
    return any(name in text for name in _FILTERS) or "contentmanagementpolicy" in text


def _filtered(body: Mapping[str, Any]) -> dict[str, Any]:
    message = body["error"].get("message")
    answer = {"role": "assistant", "content": message if isinstance(message, str) else ""}
    ended = {"index": 0, "message": answer, "finish_reason": "content_filter", "logprobs": None}
    head = {"id": "", "object": "chat.completion", "created": 0, "model": ""}
    return {**head, "choices": [ended], "usage": None}


def _is_number(value: Any) -> TypeGuard[float]:
    return isinstance(value, int | float) and not isinstance(value, bool)


def _kind(value: Any) -> str:
    """Say what stands in a field, in a word or two."""
    if value is None:
        return "missing"
    if isinstance(value, Sequence | Mapping) and not value:
        return "empty"
    names = {str: "a text", bool: "true or false", int: "a number", float: "a number"}
    return names.get(type(value), "a list" if isinstance(value, Sequence) else "an object")
