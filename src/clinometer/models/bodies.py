"""Bodies of chat completions as servers send them, put into the form that OpenAI documents.

One function for answers of a live server and for answers that were collected: `read_answer`. It is
total: what comes out is an answer that can be written anywhere, or a `BodyError` that says why
there is none. Fields that nobody needs are dropped, so that nothing odd in them costs an answer.
Put right are

    ====================  ========================================================================
    finish reasons        names of other interfaces (``eos``, ``end_turn``, ``MAX_TOKENS``,
                          ``SAFETY``); one that is null, missing or unknown leaves the text as it is
    content as parts      texts are joined; parts of thinking become `reasoning_content`
    reasoning             under other names (``reasoning``, ``thinking``, ``reasoning_details``)
    refusals              a filtered prompt (status 400 of Azure and of gateways before it) is an
                          answer that ended with ``content_filter``: asking again gives the same
    errors                an object of an error with status 200 is an error, in its own words
    usage                 in part: what is missing follows from the total; what is no number of
                          tokens is none
    log-probabilities     null or minus infinity: a token that is never drawn; with anything that
                          is no log-probability among them there are none
    other interfaces      Anthropic's messages, Gemini's candidates, OpenAI's responses
                          (`interfaces`), legacy `text`
    ====================  ========================================================================

Sources
    The documented interfaces of OpenAI, Azure, Together, Groq, Mistral, DeepSeek, OpenRouter,
    LiteLLM, Ollama, llama.cpp, vLLM, SGLang, text-generation-inference, LMDeploy and Gemini's and
    Anthropic's compatible ones.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from clinometer.models.failures import (
    BodyError,
    describe_failure,
    is_filtered,
    read_status,
    refuse_error,
)
from clinometer.models.fields import DEEPEST, as_count, clean_text, describe_kind, is_list
from clinometer.models.interfaces import as_chat_completion
from clinometer.models.logprobs import NEVER, read_logprobs, read_prompt_logprobs
from clinometer.texts import encodable

__all__ = ["LARGEST", "NEVER", "BodyError", "TooLarge", "parse_json", "read_answer", "read_usage"]

#: The largest body of an answer that is read, in bytes.
LARGEST = 4 << 20

#: Digits of the longest integer that is read as one; longer ones are floats, if need be infinite.
_DIGITS = 18

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


class TooLarge(Exception):
    """A body that is larger than `LARGEST`."""


def parse_json(data: bytes | str) -> Any:
    """Return what stands in a body or a line; raises BodyError if it is no JSON.

    Examples
    --------
    >>> parse_json(b'{"created": 1' + b"0" * 5000 + b"}")
    {'created': inf}
    """
    try:
        return json.loads(data, parse_int=_parse_int)
    except RecursionError:
        raise BodyError("not JSON that can be read: it is nested too deeply") from None
    except ValueError:
        raise BodyError("not JSON") from None


def _parse_int(digits: str) -> int | float:
    """Read an integer; Python refuses one of more than 4,300 digits."""
    return int(digits) if len(digits) <= _DIGITS else float(digits)


def read_answer(status: Any, body: Any) -> dict[str, Any]:
    """Return the chat completion in the body of a response, in its usual form.

    Parameters
    ----------
    status
        That of the response, as a number or a text; one that is neither says nothing.
    body
        What `parse_json` returned.

    Returns
    -------
    dict
        A body with the fields of OpenAI's interface that are needed. All its texts can be encoded,
        and all its numbers are finite.

    Raises
    ------
    BodyError
        If it holds no answer.

    Examples
    --------
    >>> body = {"choices": [{"message": {"content": "yes"}, "finish_reason": "eos"}]}
    >>> read_answer("200", body)["choices"][0]["finish_reason"]
    'stop'
    """
    code = read_status(status)
    if not isinstance(body, Mapping):
        if code != 200:
            raise BodyError(f"status {code}: {describe_failure(body)}", code)
        raise BodyError(f"not a chat completion: the body is {describe_kind(body)}")
    if is_filtered(code, body):
        return _completion({}, [_filtered_choice(body)])
    if code != 200:
        raise BodyError(f"status {code}: {describe_failure(body)}", code)
    completion = as_chat_completion(body)
    choices = completion.get("choices")
    if not is_list(choices) or not choices:
        refuse_error(body)
        raise BodyError(f"not a chat completion: choices is {describe_kind(choices)}")
    return _completion(completion, [_choice(*numbered) for numbered in enumerate(choices)])


def _completion(body: Mapping[str, Any], choices: list[dict[str, Any]]) -> dict[str, Any]:
    """Return a chat completion with the fields that are needed."""
    completion = {
        "id": "",
        "object": "chat.completion",
        "created": 0,
        "model": clean_text(body.get("model")),
        "choices": choices,
        "usage": read_usage(body),
    }
    if (prompt_logprobs := read_prompt_logprobs(body.get("prompt_logprobs"))) is not None:
        completion["prompt_logprobs"] = prompt_logprobs
    return completion


def _choice(number: int, choice: Any) -> dict[str, Any]:
    """Put a choice, by its place in the list, into its usual form."""
    where = f"choices[{number}]"
    if not isinstance(choice, Mapping):
        raise BodyError(f"not a chat completion: {where} is {describe_kind(choice)}")
    message = choice.get("message", choice.get("delta"))
    if message is None and isinstance(choice.get("text"), str):
        message = {"content": choice["text"]}
    if not isinstance(message, Mapping):
        refuse_error(choice)
        raise BodyError(f"not a chat completion: {where}.message is {describe_kind(message)}")
    text, thought = _content(message.get("content"), f"{where}.message.content")
    refusal = message.get("refusal")
    if not text and not refusal:
        refuse_error(choice)  # of a provider that failed behind a gateway
    answer = {
        "role": "assistant",
        "content": encodable(text),
        "refusal": encodable(refusal) if isinstance(refusal, str) and refusal else None,
    }
    if reasoning := _reasoning(message) or thought:
        answer["reasoning_content"] = encodable(reasoning)
    return {
        "index": number,
        "message": answer,
        "finish_reason": _usual_reason(choice.get("finish_reason", choice.get("stop_reason"))),
        "logprobs": read_logprobs(choice.get("logprobs")),
    }


def _reasoning(message: Mapping[str, Any]) -> str:
    """Return the reasoning beside a text, under the first of its names that has some."""
    for name in ("reasoning_content", "reasoning", "thinking"):
        text = message.get(name)
        if isinstance(text, str) and text:
            return text
    details = message.get("reasoning_details")
    parts = [part for part in details if isinstance(part, Mapping)] if is_list(details) else []
    texts = [part.get("text") or part.get("summary") for part in parts]
    return "".join(text for text in texts if isinstance(text, str))


def _content(content: Any, where: str, depth: int = 0) -> tuple[str, str]:
    """Return the text of a message, and what it says of thinking."""
    if content is None or isinstance(content, str):
        return content or "", ""
    if isinstance(content, Mapping) and isinstance(content.get("text"), str):
        content = [content]
    if not is_list(content):
        raise BodyError(f"not a chat completion: {where} is {describe_kind(content)}")
    if depth > DEEPEST:
        raise BodyError(f"not a chat completion: {where} is nested too deeply")
    texts: list[str] = []
    thoughts: list[str] = []
    for part in content:
        if isinstance(part, str):
            texts.append(part)
        elif isinstance(part, Mapping):
            thinking = part.get("thinking", part.get("reasoning"))
            if thinking is not None or part.get("type") in ("thinking", "reasoning"):
                thoughts.append(_content(thinking or part.get("text") or "", where, depth + 1)[0])
            elif isinstance(part.get("text"), str):
                texts.append(part["text"])
    return "".join(texts), "".join(thoughts)


def _usual_reason(reason: Any) -> str | None:
    """Return the reason under OpenAI's name; None if it is none that is known."""
    if not isinstance(reason, str):
        return None
    return _REASONS.get(reason.strip().lower().replace("-", "_").replace(" ", "_"))


def read_usage(body: Any) -> dict[str, Any] | None:
    """Return the tokens that a body states; None unless two of in, out and their sum are stated."""
    usage = body.get("usage") if isinstance(body, Mapping) else None
    if not isinstance(usage, Mapping):
        return None
    prompt = as_count(usage.get("prompt_tokens", usage.get("input_tokens")))
    completion = as_count(usage.get("completion_tokens", usage.get("output_tokens")))
    total = as_count(usage.get("total_tokens"))
    if prompt is None and completion is not None and total is not None:
        prompt = max(total - completion, 0)
    if prompt is None or (completion is None and total is None):
        return None
    # Some count what was thought in the total alone.
    completion = max(completion or 0, (total or 0) - prompt)
    counts: dict[str, Any] = {
        "prompt_tokens": prompt,
        "completion_tokens": completion,
        "total_tokens": prompt + completion,
    }
    if (cached := _detail(usage, "prompt_tokens_details", "cached_tokens")) is not None:
        # inspect takes them off the prompt.
        counts["prompt_tokens_details"] = {"cached_tokens": min(cached, prompt)}
    if (thought := _detail(usage, "completion_tokens_details", "reasoning_tokens")) is not None:
        counts["completion_tokens_details"] = {"reasoning_tokens": thought}
    return counts


def _detail(usage: Mapping[str, Any], details: str, name: str) -> int | None:
    values = usage.get(details)
    return as_count(values.get(name)) if isinstance(values, Mapping) else None


def _filtered_choice(body: Mapping[str, Any]) -> dict[str, Any]:
    """Return the choice of an answer that a filter stopped."""
    message = body["error"].get("message")
    text = message if isinstance(message, str) else ""
    return _choice(0, {"message": {"content": text}, "finish_reason": "content_filter"})
