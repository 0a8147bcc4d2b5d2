"""Solvers of inspect, asked as systems of users' own: their answer, and the tools they called."""

from __future__ import annotations

import inspect
import json
from collections.abc import Awaitable, Callable, Sequence
from typing import Any

from clinometer.errors import ModelError

__all__ = ["Message", "as_solver", "run_solver"]

#: A message of a conversation: its `role` and `content`.
Message = dict[str, str]

#: State, what generates → state.
Solver = Callable[..., Awaitable[Any]]


def as_solver(function: Callable[..., Any]) -> Solver | None:
    """Return the solver that a name stands for: itself, or what makes it; None of other functions.

    What inspect's decorator made says so; nothing is imported for it.
    """
    info = getattr(function, "__registry_info__", None)
    if getattr(info, "type", None) != "solver":
        return None
    is_made = [*inspect.signature(function).parameters] == ["state", "generate"]
    solver: Solver = function if is_made else function()
    return solver


def run_solver(
    name: str, solver: Solver, model_name: str | None
) -> Callable[[Sequence[Message]], Awaitable[str]]:
    """Return what runs a solver on a conversation, and gives JSON of its text and its tools.

    Raises ModelError without a model: the one that is asked is the solver itself.
    """
    from inspect_ai.model import ChatMessage, GenerateConfig, ModelName, get_model
    from inspect_ai.solver import TaskState
    from pydantic import TypeAdapter

    if model_name is None:
        raise ModelError(f"app/{name}: a solver needs a model: -M solver_model=PROVIDER/NAME")
    model = get_model(model_name)
    conversation: TypeAdapter[list[ChatMessage]] = TypeAdapter(list[ChatMessage])

    async def generate(state: TaskState, tool_calls: str = "loop", **config: Any) -> TaskState:
        """Let the model answer; with its tools until it calls none, unless `tool_calls` is none."""
        settings = GenerateConfig(**{key: value for key, value in config.items() if key != "cache"})
        if tool_calls == "none":
            state.output = await model.generate(state.messages, state.tools, config=settings)
            state.messages.append(state.output.message)
        else:
            added, state.output = await model.generate_loop(state.messages, state.tools, settings)
            state.messages.extend(added)
        return state

    async def answer(messages: Sequence[Message]) -> str:
        """Run the solver on a conversation of its own."""
        chat = conversation.validate_python([*messages])
        state = TaskState(ModelName(str(model)), 1, 1, messages[-1]["content"], chat)
        state = await solver(state, generate)
        calls = [call for message in state.messages for call in _calls(message)]
        return json.dumps({"text": state.output.completion, "tools": calls}, ensure_ascii=False)

    return answer


def _calls(message: Any) -> list[dict[str, Any]]:
    """Return the calls of tools that a message makes."""
    calls = getattr(message, "tool_calls", None) or ()
    return [{"name": call.function, "arguments": call.arguments} for call in calls]
