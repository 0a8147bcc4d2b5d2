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
import math
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from clinometer.models.interfaces import as_chat_completion
from clinometer.models.outputs import as_count
from clinometer.texts import encodable, visible

__all__ = ["LARGEST", "NEVER", "BodyError", "TooLarge", "clean_text", "describe_failure",
           "parse_json", "read_answer", "read_status", "read_usage"]  # fmt: skip

#: The largest body of an answer that is read, in bytes.
LARGEST = 4 << 20

#: What servers list for a token that is never drawn; some say minus infinity, or null.
NEVER = -9999.0

#: Longest name of a model, error and token that is kept, in characters.
_LONGEST = 400

#: Digits of the longest integer that is read as one; longer ones are floats, if need be infinite.
_DIGITS = 18

#: A log-probability above 0 by more than this is none; servers round.
_ROUNDING = 1e-3

#: Thinking stands in parts, which hold parts: how deep.
_DEEPEST = 4

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
_FILTERS = (
    *("content_filter", "responsibleaipolicyviolation", "contentpolicyviolation"),
    "contentmanagementpolicy",
)

#: Fields of a body that say what went wrong, the most telling first.
_ERRORS = ("error", "errors", "message", "detail", "code", "type", "status")


class BodyError(ValueError):
    """A body that holds no answer; says which field is why, or what the server says."""

    def __init__(self, reason: str, status: int = 200) -> None:
        super().__init__(reason)
        self.status = status
        """That of the response; of an error with status 200, the one that its code names."""


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
        raise BodyError(f"not a chat completion: the body is {_kind(body)}")
    if _is_filtered(code, body):
        return _completion({}, [_filtered_choice(body)])
    if code != 200:
        raise BodyError(f"status {code}: {describe_failure(body)}", code)
    completion = as_chat_completion(body)
    choices = completion.get("choices")
    if not _is_list(choices) or not choices:
        _refuse_error(body)
        raise BodyError(f"not a chat completion: choices is {_kind(choices)}")
    return _completion(completion, [_choice(*numbered) for numbered in enumerate(choices)])


def read_status(status: Any) -> int:
    """Return the status of a response; 200 where what is given is none."""
    number = _number(status)
    if number is None and isinstance(status, str) and status.strip().isdecimal():
        number = float(status)
    return int(number) if number is not None and 100 <= number < 600 else 200


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
    if (of_prompt := _prompt_logprobs(body.get("prompt_logprobs"))) is not None:
        completion["prompt_logprobs"] = of_prompt
    return completion


def _choice(number: int, choice: Any) -> dict[str, Any]:
    """Put a choice, by its place in the list, into its usual form."""
    where = f"choices[{number}]"
    if not isinstance(choice, Mapping):
        raise BodyError(f"not a chat completion: {where} is {_kind(choice)}")
    message = choice.get("message", choice.get("delta"))
    if message is None and isinstance(choice.get("text"), str):
        message = {"content": choice["text"]}
    if not isinstance(message, Mapping):
        _refuse_error(choice)
        raise BodyError(f"not a chat completion: {where}.message is {_kind(message)}")
    text, thought = _content(message.get("content"), f"{where}.message.content")
    refusal = message.get("refusal")
    if not text and not refusal:
        _refuse_error(choice)  # of a provider that failed behind a gateway
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
        "logprobs": _logprobs(choice.get("logprobs")),
    }


def _reasoning(message: Mapping[str, Any]) -> str:
    """Return the reasoning beside a text, under the first of its names that has some."""
    for name in ("reasoning_content", "reasoning", "thinking"):
        text = message.get(name)
        if isinstance(text, str) and text:
            return text
    details = message.get("reasoning_details")
    parts = [part for part in details if isinstance(part, Mapping)] if _is_list(details) else []
    texts = [part.get("text") or part.get("summary") for part in parts]
    return "".join(text for text in texts if isinstance(text, str))


def _content(content: Any, where: str, depth: int = 0) -> tuple[str, str]:
    """Return the text of a message, and what it says of thinking."""
    if content is None or isinstance(content, str):
        return content or "", ""
    if isinstance(content, Mapping) and isinstance(content.get("text"), str):
        content = [content]
    if not _is_list(content):
        raise BodyError(f"not a chat completion: {where} is {_kind(content)}")
    if depth > _DEEPEST:
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


def _logprobs(logprobs: Any) -> dict[str, Any] | None:
    """Return the log-probabilities of a text; None where there are none, or one is no number."""
    content = logprobs.get("content") if isinstance(logprobs, Mapping) else None
    positions = [_position(position) for position in content] if _is_list(content) else []
    # One that is left out in silence would pass for a token that is not listed, or not there.
    return {"content": positions} if positions and all(positions) else None


def _position(position: Any) -> dict[str, Any] | None:
    """Put a token with its log-probability and alternatives into their usual form, if possible."""
    token = _token(position)
    alternatives = position.get("top_logprobs") if isinstance(position, Mapping) else None
    if token is None or not (alternatives is None or _is_list(alternatives)):
        return None
    listed = [_token(alternative) for alternative in alternatives or ()]
    return {**token, "top_logprobs": listed} if all(listed) else None


def _token(token: Any) -> dict[str, Any] | None:
    """Return a token, its bytes and its log-probability, if they can be read."""
    if not isinstance(token, Mapping) or not isinstance(token.get("token"), str):
        return None
    value = _logprob(token.get("logprob"))
    if value is None:
        return None
    # Not `visible`: a token is what the model said, and may be a line break.
    text = encodable(token["token"][:_LONGEST])
    return {"token": text, "bytes": _bytes(token.get("bytes")), "logprob": value}


def _logprob(value: Any) -> float | None:
    """Return a log-probability; `NEVER` for null or minus infinity, None for what is none."""
    if value is None or value == -math.inf:
        return NEVER
    number = _number(value)
    return None if number is None or number > _ROUNDING else min(number, 0.0)


def _bytes(numbers: Any) -> list[int] | None:
    if not _is_list(numbers) or len(numbers) > _LONGEST:
        return None
    return list(numbers) if all(type(n) is int and 0 <= n < 256 for n in numbers) else None


def _prompt_logprobs(positions: Any) -> list[Any] | None:
    """Return vLLM's log-probabilities of a prompt: token number → text and value, by position."""
    if not _is_list(positions):
        return None
    cleaned: list[dict[str, Any] | None] = []
    for position in positions:
        if position is None:  # before the first token stands nothing
            cleaned.append(None)
            continue
        if not isinstance(position, Mapping) or not position:
            return None
        tokens = {clean_text(number): _prompt_token(token) for number, token in position.items()}
        if not all(tokens.values()):
            return None
        cleaned.append(tokens)
    return cleaned


def _prompt_token(token: Any) -> dict[str, Any] | None:
    if not isinstance(token, Mapping):
        return None
    text = token.get("decoded_token")
    read = _token({"token": text, "logprob": token.get("logprob")})
    return read and {"decoded_token": read["token"], "logprob": read["logprob"]}


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


def _refuse_error(body: Mapping[str, Any]) -> None:
    """Raise BodyError, in the words of the server, if a body without an answer has an error."""
    error = body.get("error") or body.get("errors")
    if not error and (body.get("object") == "error" or body.get("success") is False):
        error = body
    if not error:
        return
    code = error.get("code") if isinstance(error, Mapping) else None
    status = read_status(code)
    text = f"status {status if status >= 400 else 200}: {describe_failure(body)}"
    raise BodyError(text, status if status >= 400 else 200)


def _is_filtered(status: int, body: Mapping[str, Any]) -> bool:
    """Whether a failure says that a filter stopped the prompt, or the answer."""
    error = body.get("error")
    if status not in (200, 400) or not isinstance(error, Mapping):
        return False
    texts = (text.lower().replace(" ", "") for text in _texts(error))
    return any(name in text for text in texts for name in _FILTERS)


def _filtered_choice(body: Mapping[str, Any]) -> dict[str, Any]:
    """Return the choice of an answer that a filter stopped."""
    message = body["error"].get("message")
    text = message if isinstance(message, str) else ""
    return _choice(0, {"message": {"content": text}, "finish_reason": "content_filter"})


def _texts(value: Any, depth: int = 0) -> Iterator[str]:
    """Yield the texts in an object and those of its fields, the names of fields among them."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, Mapping) and depth <= _DEEPEST:
        for name, field in value.items():
            yield str(name)
            yield from _texts(field, depth + 1)
    elif _is_list(value) and depth <= _DEEPEST:
        for part in value:
            yield from _texts(part, depth + 1)


def describe_failure(body: Any, depth: int = 0) -> str:
    """Return what a server says of a failure, in one line: of ``{"error": …}`` the message."""
    if _is_list(body) and body and depth <= _DEEPEST:
        return describe_failure(body[0], depth + 1)
    if isinstance(body, Mapping) and depth <= _DEEPEST:
        for name in _ERRORS:
            if body.get(name):
                return describe_failure(body[name], depth + 1)
        return f"no words (fields {clean_text(', '.join(map(str, body)))})" if body else "no words"
    if isinstance(body, Mapping | list):
        return f"no words ({_kind(body)})"
    return clean_text(body) or "no words"


def clean_text(value: Any) -> str:
    """Return a text in one line, without what a terminal acts on, and cut; else a number as one."""
    if isinstance(value, str):
        return visible(encodable(" ".join(value[: 4 * _LONGEST].split())))[:_LONGEST]
    return "" if (number := _number(value)) is None else f"{number:.15g}"


def _number(value: Any) -> float | None:
    """Return a finite number as one; None for anything else."""
    if not isinstance(value, int | float) or isinstance(value, bool):
        return None
    try:
        number = float(value)
    except OverflowError:  # an integer of more than 308 digits
        return None
    return number if math.isfinite(number) else None


def _is_list(value: Any) -> bool:
    return isinstance(value, Sequence) and not isinstance(value, str | bytes)


def _kind(value: Any) -> str:
    """Say what stands in a field, in a word or two."""
    if value is None:
        return "missing"
    if isinstance(value, Sequence | Mapping) and not value:
        return "empty"
    names = {str: "a text", bool: "true or false", int: "a number", float: "a number"}
    return names.get(type(value), "a list" if isinstance(value, Sequence) else "an object")
