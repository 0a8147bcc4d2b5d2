"""One model being asked for associates: calls over its connections, answers to its shards."""

from __future__ import annotations

import asyncio
import contextvars
import errno
import hashlib
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from tiltmeter.asking.association_plan import AssociationPlan
from tiltmeter.asking.budget import Budget
from tiltmeter.asking.cue_wording import cue_messages, read_associates
from tiltmeter.asking.rounds import Call, Rounds
from tiltmeter.asking.shards import Shards, Tally
from tiltmeter.errors import InputError, ModelError, TiltmeterError

if TYPE_CHECKING:
    from inspect_ai.model import ChatCompletionChoice, GenerateConfig, Model, ModelOutput

__all__ = ["Associated", "OnProgress", "Session"]

OnProgress = Callable[[str, dict[str, Any]], None]

#: What is asked of a provider that refuses to give more answers a call.
FEWER = (8, 1)

#: Calls that fail from the first on, and calls that fail in a row, after which a model is
#: given up. inspect has tried each of them several times by then.
HOPELESS = 20
OUTAGE = 200

#: Calls at a time where inspect adapts the number itself: its greatest.
CONNECTIONS = 100

#: HTTP statuses that say nothing about the number of choices.
UNRELATED = (401, 403, 408, 429)

#: The longest text of an error that is kept with every answer it cost.
ERROR_CHARACTERS = 400


@dataclass(frozen=True)
class Associated:
    """How far asking one model came."""

    model: str
    wanted: int
    answered: int
    readable: int
    """Answers that hold at least one associate."""
    associates: int
    calls: int
    """Calls of this time, without those of earlier ones; so are the errors."""
    errors: int
    choices: int | None
    """Answers that a call gave at the most; None where nothing was answered this time."""
    last_error: str | None = None
    stopped_by: str | None = None
    """The limit that ended the run early, or ``"interrupted"``."""

    @property
    def complete(self) -> bool:
        """Whether every answer is there."""
        return self.answered == self.wanted


class Session:
    """What one model may still be asked, and what it has answered.

    Parameters
    ----------
    plan
        What to ask.
    model
        Whom; it is closed in the end.
    shards, tally
        Where its answers go, and what is there already.
    budget
        Shared by all sessions.
    on_progress
        See `associating.associate`.
    """

    def __init__(  # noqa: PLR0913 - the parts of one model's run
        self,
        plan: AssociationPlan,
        model: Model,
        shards: Shards,
        tally: Tally,
        budget: Budget,
        on_progress: OnProgress,
    ) -> None:
        self.plan, self.model, self.name = plan, model, shards.model
        self.shards, self.tally, self.budget = shards, tally, budget
        self.on_progress = on_progress
        self.rounds = Rounds(tally.done, plan.repetitions)
        self.most = 1
        """Answers to ask of a call; `proven` once a call has shown how many it gives."""
        self.proven = False
        self.calls = self.answers = self.choices = 0
        self.errors = self.errors_in_a_row = 0
        self.last_error: str | None = None
        self.stopped_by: str | None = None
        self.fatal: TiltmeterError | None = None

    async def run(self) -> None:
        """Make one call to see how many answers it gives, then as many at a time as may be."""
        if not self.tally.missing:
            return
        connections = self.model.config.max_connections or max(
            CONNECTIONS, self.model.api.max_connections()
        )
        async with self.model:
            await self._work(calls=1)
            async with asyncio.TaskGroup() as group:
                for _ in range(connections):
                    group.create_task(self._work())

    async def _work(self, calls: int | None = None) -> None:
        while calls != 0 and (call := self._next()) is not None:
            # In a context of its own: inspect keeps all events of a context in memory.
            await asyncio.create_task(self._ask(call), context=contextvars.Context())
            calls = None if calls is None else calls - 1

    def _next(self) -> Call | None:
        if self.fatal is not None or self.stopped_by is not None:
            return None
        call = self.rounds.take(self.most)
        return call if call is not None and self._may_call() else None

    def _may_call(self) -> bool:
        self.stopped_by = self.budget.exhausted()
        return self.budget.take(1)

    async def _ask(self, call: Call) -> None:
        """Ask for the answers of a call; for fewer at once where so many are refused."""
        calls = 0
        error: BaseException = ModelError("the provider gave no answer")
        fewer = () if self.proven else (count for count in FEWER if count < call.count)
        for count in (call.count, *fewer):
            if calls and not self._may_call():
                break
            calls += 1
            try:
                output = await self._generate(call, count)
            except Exception as raised:  # a provider's, after its retries
                error = _root(raised)
                if getattr(error, "status_code", None) in UNRELATED:
                    break
                continue
            if output.choices:
                self._learn(call, count, len(output.choices))
                self._record_answers(call, output, calls)
                return
        self._record_error(call, error, calls)

    def _learn(self, call: Call, asked: int, given: int) -> None:
        if not self.proven and self.most > 1:
            if given < asked or asked < call.count:
                self.most = min(asked, given)
            self.proven = asked > 1 or self.most == 1

    async def _generate(self, call: Call, count: int) -> ModelOutput:
        provider = self.name.partition("/")[0]
        messages = cue_messages(
            self.plan.cues[call.cue],
            continuation=self.plan.continues(self.name),
            provider=provider,
        )
        config = self._config(call, count, provider)
        return await self.model.generate(messages, config=config, cache=False)

    def _config(self, call: Call, count: int, provider: str) -> GenerateConfig:
        from inspect_ai.model import GenerateConfig

        from tiltmeter.asking.trials import SEEDED

        seeded = provider.removesuffix("-completions") in SEEDED
        return GenerateConfig(
            num_choices=count if count > 1 else None,
            # The embedded model draws the answers of a call with the seeds that follow this one:
            # a repetition's answer is the same however the repetitions are shared out.
            seed=_seed(self.plan.seed, self.plan.cues[call.cue]) + call.first if seeded else None,
            stop_seqs=["\n"] if self.plan.continues(self.name) else None,
        )

    def _record_answers(self, call: Call, output: ModelOutput, calls: int) -> None:
        given = output.choices[: call.count]
        self.rounds.give_back(call, range(len(given), call.count))
        self.answers += len(given)
        self.choices = max(self.choices, len(given))
        self.errors_in_a_row = 0
        usage = output.usage
        shares = zip(
            _shares(usage.input_tokens if usage else 0, len(given)),
            _shares(usage.output_tokens if usage else 0, len(given)),
            strict=True,
        )
        cue = self.plan.cues[call.cue]
        answers = [
            {**self._answer(choice, cue), "input_tokens": read, "output_tokens": written}
            for choice, (read, written) in zip(given, shares, strict=True)
        ]
        for answer in answers:
            self.budget.spend(answer, None)
        self._write(call, answers, calls)
        self.on_progress(self.name, {"trials": len(given), "calls": calls})

    def _answer(self, choice: ChatCompletionChoice, cue: str) -> dict[str, Any]:
        from tiltmeter.asking.trials import encodable

        raw = encodable(choice.message.text)
        # Not every provider stops at the end of a continued line.
        line = raw.lstrip().partition("\n")[0] if self.plan.continues(self.name) else raw
        responses = read_associates(line, cue=cue)
        return {"responses": responses, "raw": raw, "stop_reason": choice.stop_reason}

    def _record_error(self, call: Call, error: BaseException, calls: int) -> None:
        """Record that the answers of a call are missing; the next run asks for them."""
        from tiltmeter.asking.trials import describe_error, encodable

        said = encodable(describe_error(error))[:ERROR_CHARACTERS]
        self.last_error = said
        self.errors += 1
        self.errors_in_a_row += 1
        self._write(call, [{"responses": [], "error": said}] * call.count, calls)
        self.on_progress(self.name, {"calls": calls, "error": said})
        if not self.answers and self.errors >= HOPELESS:
            self.fatal = ModelError(
                f"{self.name}: the first {self.errors} calls all failed: {said}"
            )
        elif self.errors_in_a_row >= OUTAGE:
            self.fatal = ModelError(
                f"{self.name}: {OUTAGE} calls in a row failed: {said}; "
                "repeat the command to continue, nothing is asked twice"
            )

    def _write(self, call: Call, answers: list[dict[str, Any]], calls: int) -> None:
        """Record the first repetitions of a call; its calls are counted with the first."""
        self.calls += calls
        cue = self.plan.cues[call.cue]
        lines = [
            {
                "cue": cue,
                "repetition": call.first + number,
                **answer,
                "calls": 0 if number else calls,
            }
            for number, answer in enumerate(answers)
        ]
        try:
            self.shards.append(lines)
        except OSError as error:
            full = error.errno in (errno.ENOSPC, errno.EDQUOT)
            what = "disk full" if full else error.strerror
            self.fatal = InputError(
                f"{self.shards.folder}: {what}; make room and repeat the command to continue"
            )
            return
        for line in lines:
            self.tally.count(call.cue, line)

    def outcome(self) -> Associated:
        """Say how far asking came."""
        return Associated(
            model=self.name,
            wanted=self.tally.wanted,
            answered=self.tally.answered,
            readable=self.tally.readable,
            associates=self.tally.associates,
            calls=self.calls,
            errors=self.errors,
            choices=self.choices or None,
            last_error=self.last_error,
            stopped_by=self.stopped_by if self.tally.missing else None,
        )


def _shares(total: int, count: int) -> list[int]:
    """Share a call's tokens out among its answers, so that their sum is the call's."""
    each, more = divmod(total, count)
    return [each + (number < more) for number in range(count)]


def _seed(seed: int, cue: str) -> int:
    digest = hashlib.sha256(repr((seed, cue)).encode()).digest()
    return int.from_bytes(digest[:4], "big") >> 2  # room below 2³¹ for the repetitions


def _root(error: BaseException) -> BaseException:
    """Return what the provider raised, where a retry or inspect has wrapped it."""
    attempt = getattr(error, "last_attempt", None)
    inner = attempt.exception() if attempt is not None else None
    if inner is None and hasattr(error, "provider_message"):
        inner = error.__cause__
    return error if inner is None else _root(inner)
