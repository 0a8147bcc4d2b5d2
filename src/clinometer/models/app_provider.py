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
    """A function or an endpoint as a model; see `apps`.

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
        for name in model_args:
            raise ModelError(unknown("argument of an app", name, []))
        self._answer, self._connections = open_app(model_name)

    async def generate(
        self,
        input: list[ChatMessage],
        tools: list[ToolInfo],
        tool_choice: ToolChoice,
        config: GenerateConfig,
    ) -> ModelOutput:
        """Ask one message; raises ModelError if there are several, or tools."""
        if tools or len(input) != 1 or input[0].role != "user":
            raise ModelError("an app takes one message, and no system prompt, tool or follow-up")
        text = await self._answer(input[0].text)
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
