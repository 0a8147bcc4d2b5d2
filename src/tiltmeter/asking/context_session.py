"""One model writing sentences: calls over its connections, answers to its journal."""

from __future__ import annotations

import asyncio
import contextvars
import errno
import hashlib
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from tiltmeter.asking.association_session import CONNECTIONS, ERROR_CHARACTERS
from tiltmeter.asking.budget import Budget
from tiltmeter.asking.journal import Journal
from tiltmeter.asking.sessions import HOPELESS
from tiltmeter.errors import InputError, ModelError, TiltmeterError
from tiltmeter.reading.contexts import Checks, context_messages, read_contexts

if TYPE_CHECKING:
    from inspect_ai.model import Model, ModelOutput

__all__ = ["ContextSession", "OnProgress", "Sense"]

OnProgress = Callable[[str, dict[str, Any]], None]


@dataclass
class Sense:
    """A sense, the sentences it has, and the calls it has had."""

    key: str
    term: str
    definition: str | None
    wanted: int
    rounds: int
    """Calls it may take."""
    answers: int = 0
    sentences: list[str] = field(default_factory=list)
    rejected: Counter[str] = field(default_factory=Counter)

    @property
    def lacks(self) -> int:
        """How many sentences are missing."""
        return self.wanted - len(self.sentences)

    @property
    def open(self) -> bool:
        """Whether it is to be asked about again."""
        return self.lacks > 0 and self.answers < self.rounds

    def take(self, answer: str, checks: Checks) -> int:
        """Take the sentences of an answer that pass; return how many were missing and came."""
        self.answers += 1
        found = read_contexts(answer, self.term, checks, self.sentences)
        taken = found.sentences[: max(self.lacks, 0)]
        self.sentences += taken
        self.rejected += found.rejected
        return len(taken)


class ContextSession:
    """What a model may still be asked, and what it has written.

    Parameters
    ----------
    model
        Whom; it is closed in the end.
    senses
        What about; with what they have already.
    checks
        What sentences are held against.
    journal
        Where answers go.
    budget
        Limits in calls and tokens.
    on_progress
        See `contexts.make_contexts`.
    """

    def __init__(  # noqa: PLR0913 - the parts of one model's run
        self,
        model: Model,
        senses: Sequence[Sense],
        checks: Checks,
        journal: Journal,
        budget: Budget,
        on_progress: OnProgress,
    ) -> None:
        self.model, self.senses, self.checks = model, senses, checks
        self.journal, self.budget, self.on_progress = journal, budget, on_progress
        self.name = journal.model
        self.seed = 0
        self.answered = any(sense.answers for sense in senses)
        self.calls = self.errors = self.errors_in_a_row = 0
        self.spent: Counter[str] = Counter()
        self.last_error: str | None = None
        self.stopped_by: str | None = None
        self.fatal: TiltmeterError | None = None

    async def run(self) -> None:
        """Make one call, then as many at a time as may be; go round until nothing is missing."""
        if not any(sense.open for sense in self.senses):
            return
        connections = self.model.config.max_connections or max(
            CONNECTIONS, self.model.api.max_connections()
        )
        async with self.model:
            for _ in range(max(sense.rounds for sense in self.senses)):
                waiting = iter([sense for sense in self.senses if sense.open])
                await self._work(waiting, calls=1)  # a wrong key costs one call
                async with asyncio.TaskGroup() as group:
                    for _ in range(connections):
                        group.create_task(self._work(waiting))

    async def _work(self, waiting: Iterator[Sense], calls: int | None = None) -> None:
        while calls != 0 and self._may_call() and (sense := next(waiting, None)) is not None:
            self.budget.take(1)
            # In a context of its own: inspect keeps all events of a context in memory.
            await asyncio.create_task(self._ask(sense), context=contextvars.Context())
            calls = None if calls is None else calls - 1

    def _may_call(self) -> bool:
        if self.fatal is None and self.stopped_by is None:
            self.stopped_by = self.budget.exhausted()
        return self.fatal is None and self.stopped_by is None

    async def _ask(self, sense: Sense) -> None:
        self.calls += 1
        self.spent["calls"] += 1
        identity = {"trial_id": f"{sense.key}#{sense.answers}", "key": sense.key}
        try:
            output = await self._generate(sense)
        except Exception as raised:  # a provider's, after its retries
            self._record_error(identity, raised)
            return
        self._record_answer(sense, identity, output)

    async def _generate(self, sense: Sense) -> ModelOutput:
        from inspect_ai.model import GenerateConfig

        from tiltmeter.asking.trials import SEEDED

        messages = context_messages(sense.term, sense.definition, sense.lacks, sense.sentences)
        provider = self.name.partition("/")[0].removesuffix("-completions")
        drawn = hashlib.sha256(repr((self.seed, sense.key, sense.answers)).encode()).digest()
        seed = int.from_bytes(drawn[:4], "big") >> 1 if provider in SEEDED else None
        return await self.model.generate(messages, config=GenerateConfig(seed=seed), cache=False)

    def _record_answer(self, sense: Sense, identity: dict[str, Any], output: ModelOutput) -> None:
        from tiltmeter.asking.trials import encodable

        usage = output.usage
        answer = {
            **identity,
            "response": encodable(output.completion),
            "stop_reason": output.stop_reason if output.choices else None,
            "input_tokens": usage.input_tokens if usage else None,
            "output_tokens": usage.output_tokens if usage else None,
        }
        self._write(answer)
        self.budget.spend(answer, None)
        for name in ("input_tokens", "output_tokens"):
            self.spent[name] += answer[name] or 0
        self.answered, self.errors_in_a_row = True, 0
        taken = sense.take(answer["response"], self.checks)
        self.on_progress(self.name, {"trials": taken, "calls": 1})

    def _record_error(self, identity: dict[str, Any], error: BaseException) -> None:
        """Record that a call failed; the sense is asked about again in the next round."""
        from tiltmeter.asking.trials import describe_error, encodable

        said = encodable(describe_error(error))[:ERROR_CHARACTERS]
        self.last_error = said
        self.errors += 1
        self.errors_in_a_row += 1
        self._write({**identity, "error": said})
        self.on_progress(self.name, {"calls": 1, "error": said})
        if not self.answered:
            self.fatal = ModelError(f"{self.name}: the first call failed: {said}")
        elif self.errors_in_a_row >= HOPELESS:
            self.fatal = ModelError(
                f"{self.name}: {HOPELESS} calls in a row failed: {said}; repeat the command to "
                "continue, nothing is asked twice"
            )

    def _write(self, answer: dict[str, Any]) -> None:
        try:
            self.journal.append(answer)
        except OSError as error:
            full = error.errno in (errno.ENOSPC, errno.EDQUOT)
            what = "disk full" if full else error.strerror
            self.fatal = InputError(
                f"{self.journal.path}: {what}; make room and repeat the command to continue"
            )
