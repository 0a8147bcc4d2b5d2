"""The inspect provider ``app``: systems of users' own, as `apps` opens them."""

from __future__ import annotations

from typing import Any

from httpx import ConnectError, TransportError
from inspect_ai.model import ChatMessage, GenerateConfig, ModelAPI, ModelOutput
from inspect_ai.tool import ToolChoice, ToolInfo

from clinometer.errors import ModelError, unknown
from clinometer.models.apps import LATER, AppFailure, open_app
from clinometer.models.fields import clean_text


class AppModel(ModelAPI):
    """A function, a solver or an endpoint as a model; see `apps`.

    The argument `solver_model` names the model that a solver asks.

    Raises ModelError if there is no such function or file, or the file is malformed.
    """

    def __init__(
        self,
        model_name: str,
        base_url: str | None = None,
        api_key: str | None = None,
        config: GenerateConfig | None = None,
        **model_args: Any,
    ) -> None:
        super().__init__(model_name, base_url, api_key, [], config or GenerateConfig())
        solver_model = model_args.pop("solver_model", None)
        for name in model_args:
            raise ModelError(unknown("argument of an app", name, ["solver_model"]))
        self._answer, self._connections = open_app(model_name, solver_model)

    async def generate(
        self,
        input: list[ChatMessage],
        tools: list[ToolInfo],
        tool_choice: ToolChoice,
        config: GenerateConfig,
    ) -> ModelOutput:
        """Ask; raises ModelError if there are tools, which an app brings itself."""
        if tools:
            raise ModelError("an app takes no tools")
        messages = [{"role": message.role, "content": message.text} for message in input]
        text = await self._answer(messages)
        return ModelOutput.from_content(f"app/{self.model_name}", clean_text(text))

    def max_connections(self) -> int:
        """Return how many calls are made at a time."""
        return self._connections

    def should_retry(self, ex: BaseException) -> bool:
        """Whether the same call may succeed later."""
        if isinstance(ex, AppFailure):
            return ex.status in LATER or ex.status >= 500
        return isinstance(ex, TransportError) and not isinstance(ex, ConnectError)

    def connection_key(self) -> str:
        """Name what limits connections: this system."""
        return self.model_name
