"""Asks models with inspect's `Model.generate`: cues and contexts, call by call.

Clients, retries, rate limits and provider errors are inspect's. An evaluation with a sample per
answer would add hours for a million answers (see `benchmarks/association.py`). A `Strategy`
decides what is asked next and what is kept of an answer.
"""

from __future__ import annotations

import asyncio
import contextvars
import hashlib
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any, Generic, Protocol, TypeVar

from clinometer.asking.budget import Ledger
from clinometer.errors import ModelError
from clinometer.models.batched import WAITING
from clinometer.models.providers import find_provider
from clinometer.models.retries import Requests, count_requests, spent_beyond
from clinometer.modes.mode import Message, chat_messages

if TYPE_CHECKING:
    from inspect_ai.model import Model, ModelOutput

Line = dict[str, Any]
OnProgress = Callable[[str, dict[str, Any]], None]

#: Messages, and settings of inspect's `GenerateConfig`; a `seed` goes to providers that take one.
Prompt = tuple[list[Message], dict[str, Any]]

C = TypeVar("C")

#: Calls at a time where inspect adapts the number itself: its greatest.
CONNECTIONS = 100

#: HTTP statuses that say nothing about the prompt: another form of it is not tried.
UNRELATED = (401, 403, 408, 429)


class Strategy(Protocol[C]):
    """Decides what is asked next and what is kept of an answer; `C` describes a call."""

    def passes(self) -> Iterator[Callable[[], C | None]]:
        """Yield a function per pass that returns the next call; a first call runs alone."""
        ...

    def name(self, call: C) -> tuple[str, str]:
        """Return what a call asks about, and which of the calls about it this is."""
        ...

    def prompts(self, call: C) -> Iterable[Prompt]:
        """Yield the forms of a prompt, the next where one is refused."""
        ...

    def answers(self, call: C, prompt: Prompt, output: ModelOutput) -> list[Line]:
        """Return what to record of an output; nothing where it holds no answer."""
        ...

    def failures(self, call: C, error: str) -> list[Line]:
        """Return what to record where a call failed."""
        ...

    def take(self, call: C, lines: Sequence[Line]) -> int:
        """Take note of what was recorded; return how many answers it counts for."""
        ...


class Session(Generic[C]):
    """Asks one model over its connections.

    `on_progress` is called per call with the model and a dictionary: `trials` (answers),
    `calls`, perhaps `error`.
    """

    def __init__(
        self, model: Model, strategy: Strategy[C], ledger: Ledger, on_progress: OnProgress
    ) -> None:
        self.model = model
        self.strategy = strategy
        self.ledger = ledger
        self.on_progress = on_progress
        self._seeded = find_provider(ledger.journal.model).seeded

    async def run(self) -> None:
        """Ask until nothing is left, and close the model."""
        async with self.model:
            await self.ask()

    async def ask(self, *, alone: int = 1) -> None:
        """Make `alone` calls, then as many in parallel as allowed, until nothing is left."""
        config = self.model.config
        usual = WAITING if config.batch else max(CONNECTIONS, self.model.api.max_connections())
        connections = config.max_connections or usual
        for next_call in self.strategy.passes():
            await self._make_calls(next_call, most=alone)
            async with asyncio.TaskGroup() as group:
                for _ in range(connections):
                    # An empty context: what inspect keeps of calls stands in the context.
                    group.create_task(self._make_calls(next_call), context=contextvars.Context())

    async def _make_calls(self, next_call: Callable[[], C | None], most: int | None = None) -> None:
        """Make one call after another, `most` at most, until the pass has no more."""
        while most != 0 and not self.ledger.closed and (call := next_call()) is not None:
            # The call itself stays alive until `record`: no other has its `id` meanwhile.
            if not await self.ledger.may_call(key=id(call)):
                return
            forget_events()
            await self._ask(call)
            most = None if most is None else most - 1

    async def _ask(self, call: C) -> None:
        """Ask in one form of the prompt after another, until one is answered."""
        bear = partial(self.ledger.bear, key=id(call))
        with count_requests(1, self.ledger.may_retry, bear) as requests:
            await self._ask_counted(call, requests)

    async def _ask_counted(self, call: C, requests: Requests) -> None:
        from clinometer.asking.trials import describe_error  # here, as it imports inspect

        calls = 0
        error: BaseException = ModelError("the provider gave no answer")
        for prompt in self.strategy.prompts(call):
            # The first form was reserved by `_make_calls`.
            if calls and not await self.ledger.may_call(key=id(call)):
                break
            calls += 1
            requests.reserved = max(requests.reserved, calls)
            try:
                output = await self._generate(prompt)
            except Exception as raised:  # a provider's, after its retries
                error = _root_error(raised)
                if getattr(error, "status_code", None) in UNRELATED:
                    break
                continue
            if lines := self.strategy.answers(call, prompt, output):
                self._record(call, lines, calls, requests)
                return
        text = describe_error(error)
        self._record(call, self.strategy.failures(call, text), calls, requests, error=text)

    async def _generate(self, prompt: Prompt) -> ModelOutput:
        from inspect_ai.model import GenerateConfig

        messages, settings = prompt
        seed = settings["seed"] if self._seeded else None
        config = GenerateConfig(**{**settings, "seed": seed})
        return await self.model.generate(chat_messages(messages), config=config, cache=False)

    def _record(
        self, call: C, lines: Sequence[Line], calls: int, requests: Requests, **more: str
    ) -> None:
        """Keep lines; the calls they took are counted with the first."""
        lines = [{**line, "calls": 0 if number else calls} for number, line in enumerate(lines)]
        lines[0] |= spent_beyond(requests, calls, lines)
        if self.ledger.record(*lines, key=id(call)):
            trials = self.strategy.take(call, lines)
            self.on_progress(self.ledger.journal.model, {"trials": trials, "calls": calls, **more})


def ask_all(sessions: Sequence[Session[Any]]) -> None:
    """Run sessions side by side; Ctrl-C stops them all, and their journals are closed."""
    try:
        asyncio.run(_run_sessions(sessions))
    except KeyboardInterrupt:
        for session in sessions:
            session.ledger.stopped_by = "interrupted"
    finally:
        for session in sessions:
            session.ledger.journal.close()


async def _run_sessions(sessions: Sequence[Session[Any]]) -> None:
    await asyncio.gather(*(session.run() for session in sessions))


def draw_seed(*parts: object) -> int:
    """Draw a seed below 2³¹ that follows from `parts` alone."""
    digest = hashlib.sha256(repr(parts).encode()).digest()
    return int.from_bytes(digest[:4], "big") >> 1


def forget_events() -> None:
    """Drop what inspect keeps in memory of all earlier calls in this context.

    Not a context for each call: what a new one costs, and the copy that inspect makes of the first
    requests in each, came to a tenth of a call.
    """
    from inspect_ai.log._transcript import Transcript, init_transcript

    init_transcript(Transcript(log_model_api=False))


def _root_error(error: BaseException) -> BaseException:
    """Return the provider's exception, unwrapped from a retry's or inspect's."""
    attempt = getattr(error, "last_attempt", None)
    inner = attempt.exception() if attempt is not None else None
    if inner is None and hasattr(error, "provider_message"):
        inner = error.__cause__
    return error if inner is None else _root_error(inner)
