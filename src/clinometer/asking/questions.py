"""What trials, cues and contexts ask as requests, and what becomes of the answers."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator, Mapping
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Generic, TypeVar

from clinometer.asking.budget import Budget, Ledger
from clinometer.asking.generating import Strategy
from clinometer.asking.plan import Plan
from clinometer.asking.requests import Request, settings_of
from clinometer.asking.shards import Answers
from clinometer.errors import ModelError
from clinometer.models.opening import Generation, sampling_config
from clinometer.models.providers import find_provider
from clinometer.modes import MODES
from clinometer.modes.mode import encodable
from clinometer.modes.needs import check_need
from clinometer.results.records import Journal

__all__ = ["CallQuestions", "TrialQuestions"]

Trial = Mapping[str, Any]
C = TypeVar("C")


class TrialQuestions:
    """The trials of a plan, for one model; see `shards.Questions`."""

    def __init__(self, plan: Plan, model: str, directory: Path) -> None:
        self.plan, self.model = plan, model
        self.ledger = Ledger(Journal(directory, model), Budget())
        #: Of requests that failed: a model is not given up because a batch expired.
        self.lost = Ledger(self.ledger.journal, Budget(), patience=(sys.maxsize, sys.maxsize))
        self.done, self.failed = set[str](), set[tuple[str, str]]()
        self.proven = set[str]()
        for line in self.ledger.journal.lines():
            trial, error = line.get("trial_id"), line.get("error")
            if isinstance(trial, str):
                self.failed.add((trial, error)) if error else self.done.add(trial)
        self.provider = find_provider(model)
        self.wanted = self.answered = 0
        self._known: dict[tuple[Any, ...], Mapping[str, Any]] = {}

    def left(self, answers: Answers) -> Iterator[Request]:
        """Record the trials that the answers complete; yield the requests of the others."""
        self.wanted = self.answered = 0
        for piece in self.plan.pieces():
            self.wanted += piece.height
            for trial in piece.iter_rows(named=True):
                if trial["trial_id"] in self.done:
                    self.proven.add(trial["mode"])
                elif left := self._take(trial, answers):
                    yield from left
                    continue
                self.answered += 1
        self.ledger.journal.close()

    def _take(self, trial: Trial, answers: Answers) -> list[Request]:
        """Record the answer if all calls of a trial have one; else return those that lack it."""
        requests = self._requests(trial, None)
        found = [answers.find(one) for one in requests]
        if trial["followup"] and (described := found[0]) is not None:
            requests = self._requests(trial, encodable(described.completion))
            found += [answers.find(one) for one in requests[1:]]
        outputs = [output for output in found if output is not None]
        if len(outputs) == MODES[trial["mode"]].calls(trial, self.provider):
            try:
                answer = MODES[trial["mode"]].answer(trial, outputs, self.model)
                check_need(trial, answer, self.model, self.proven)
            except ModelError as error:
                answers.errors[requests[-1].custom_id] = str(error)
                self._record(trial, {"error": f"{type(error).__name__}: {error}"})
                return requests
            self._record(trial, answer)
            return []
        answers.keep(one for one, output in zip(requests, found, strict=True) if output)
        left = [one for one, output in zip(requests, found, strict=True) if output is None]
        errors = (answers.errors.get(one.custom_id) for one in left)
        if failed := next(filter(None, errors), None):
            self._record(trial, {"error": failed}, self.lost)
        return left

    def _requests(self, trial: Trial, profile: str | None) -> list[Request]:
        """Return the calls of a trial; without its profile, if it has one, that of the profile."""
        calls = MODES[trial["mode"]].sent(trial, profile, self.provider)
        first = bool(trial["followup"])
        settings = [self._settings(trial, described=described) for described in (False, True)]
        return [
            Request(self.model, trial["trial_id"], str(n), messages, settings[n >= first])
            for n, messages in enumerate(calls)
        ]

    def _settings(self, trial: Trial, *, described: bool) -> Mapping[str, Any]:
        """Return the settings of a call; those of trials that differ in nothing else are shared."""
        key = (described, *(trial[c] for c in _SETTING), *(trial["options"] or ()))
        if (found := self._known.get(key)) is None:
            unseeded, mode = {**trial, "seed": None}, MODES[trial["mode"]]
            own = mode.config(unseeded, self.provider, described=described)
            config = sampling_config(self.model, self.plan.generation).merge(own)
            found = self._known[key] = settings_of(self.model, config)
        return {**found, "seed": trial["seed"]} if self.provider.seeded else found

    def _record(self, trial: Trial, answer: dict[str, Any], ledger: Ledger | None = None) -> None:
        ledger = ledger or self.ledger
        if error := answer.get("error"):
            if (trial["trial_id"], error) in self.failed:
                return
            self.failed.add((trial["trial_id"], error))
        at = datetime.now(UTC).isoformat(timespec="seconds")
        calls = MODES[trial["mode"]].calls(trial, self.provider)
        ledger.record({"trial_id": trial["trial_id"], "calls": calls, "at": at, **answer})
        if ledger.fatal is not None:
            raise ledger.fatal


class CallQuestions(Generic[C]):
    """Calls of a `Strategy` (cues, contexts), for one model; see `shards.Questions`."""

    def __init__(
        self,
        strategy: Strategy[C],
        ledger: Ledger,
        generation: Generation,
        progress: Callable[[], tuple[int, int]],
    ) -> None:
        """Take what has been asked so far from the strategy; `progress`: answers wanted, there."""
        self.model, self.strategy, self.ledger = ledger.journal.model, strategy, ledger
        self.seeded = find_provider(self.model).seeded
        self.usual = settings_of(self.model, sampling_config(self.model, generation))
        self.progress = progress

    @property
    def wanted(self) -> int:
        """How many answers there are in the end."""
        return self.progress()[0]

    @property
    def answered(self) -> int:
        """How many answers are there."""
        return self.progress()[1]

    def left(self, answers: Answers) -> Iterator[Request]:
        """Record what is answered; yield the requests that are not."""
        asked = set[tuple[str, str]]()
        for following in self.strategy.passes():
            while (call := following()) is not None:
                if (name := self.strategy.name(call)) in asked:
                    continue
                if (request := self._take(call, name, answers)) is not None:
                    asked.add(name)
                    yield request
        self.ledger.journal.close()

    def _take(self, call: C, name: tuple[str, str], answers: Answers) -> Request | None:
        """Record the answer to a call, or return its request."""
        from inspect_ai.model import GenerateConfig

        prompt = messages, settings = next(iter(self.strategy.prompts(call)))
        kept = {k: v for k, v in settings.items() if v is not None and (k != "seed" or self.seeded)}
        own = settings_of(self.model, GenerateConfig(**kept))
        request = Request(self.model, *name, messages, {**self.usual, **own})
        output = answers.find(request)
        lines = self.strategy.answers(call, prompt, output) if output is not None else []
        if not lines:
            return request
        self.ledger.record(*({**line, "calls": int(not n)} for n, line in enumerate(lines)))
        if self.ledger.fatal is not None:
            raise self.ledger.fatal
        self.strategy.take(call, lines)
        return None


#: What the settings of a call follow from, besides its seed and its options.
_SETTING = ("mode", "reasoning_effort", "temperature", "schema", "instrument")
