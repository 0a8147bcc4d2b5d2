"""What trials, cues and contexts ask as requests, and what becomes of the answers."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import closing
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any, Generic, TypeVar

from clinometer.asking.budget import Budget, Ledger
from clinometer.asking.generating import Strategy
from clinometer.asking.plan import Plan
from clinometer.asking.requests import Request, settings_of
from clinometer.asking.shards import Answers
from clinometer.contracts.catalogue import INSTRUMENTS
from clinometer.contracts.episodes import Game
from clinometer.errors import ModelError
from clinometer.models.opening import Generation, sampling_config
from clinometer.models.outputs import TokenCounts, count_reply, estimated_beyond
from clinometer.models.providers import find_provider
from clinometer.modes import MODES
from clinometer.modes.mode import Answer
from clinometer.modes.needs import check_need
from clinometer.results.records import Journal
from clinometer.texts import encodable

if TYPE_CHECKING:
    from inspect_ai.model import ModelOutput

Trial = Mapping[str, Any]
C = TypeVar("C")


class TrialQuestions:
    """The trials of a plan, for one model; see `shards.ModelQuestions`."""

    def __init__(self, plan: Plan, model: str, directory: Path) -> None:
        self.plan = plan
        self.model = model
        self.provider = find_provider(model)
        self.expected = self.answered = 0
        self.ledger = Ledger(Journal(directory, model), Budget())
        #: For requests that failed: a model is not given up because a batch expired.
        self.lost = Ledger(self.ledger.journal, Budget(), patience=(sys.maxsize, sys.maxsize))
        self.done = set[str]()
        self.failed = set[tuple[str, str]]()
        #: Modes that the model is known to be able to do.
        self.proven = set[str]()
        for line in self.ledger.journal.lines():
            trial, error = line.get("trial_id"), line.get("error")
            if not isinstance(trial, str):
                continue
            if error:
                self.failed.add((trial, error))
            else:
                self.done.add(trial)
        self._shared_settings: dict[tuple[Any, ...], Mapping[str, Any]] = {}

    def unanswered(self, answers: Answers) -> Iterator[Request]:
        """Record the trials that the answers complete; yield the requests of the others."""
        self.expected = self.answered = 0
        with closing(self.ledger.journal):
            for piece in self.plan.pieces():
                self.expected += piece.height
                for trial in piece.iter_rows(named=True):
                    if trial["trial_id"] in self.done:
                        self.proven.add(trial["mode"])
                    elif requests := self._unanswered_of(trial, answers):
                        yield from requests
                        continue
                    self.answered += 1

    def _unanswered_of(self, trial: Trial, answers: Answers) -> list[Request]:
        """Record the answer if all calls of a trial have one; else return those that lack it.

        Of an episode these are the calls of its next question.
        """
        if not trial["steps"]:
            answer, requests = self._take(trial, answers)
            if answer is not None:
                self._record(trial, answer)
            return requests
        game = Game(INSTRUMENTS[trial["instrument"]].episode, trial)
        calls: list[Request] = []
        while game.question is not None:
            question = {**game.question, "call": f"{game.step}."}
            answer, requests = self._take(question, answers)
            if answer is None:
                answers.keep(calls)
                return requests
            calls += self._requests(question, None)
            game.take(answer)
        self._record(trial, {**game.answer(), "calls": len(calls), **answers.origin(calls)})
        return []

    def _take(self, trial: Trial, answers: Answers) -> tuple[Answer | None, list[Request]]:
        """Return the answer if all calls have one; else None and the calls that lack it."""
        requests = self._requests(trial, None)
        outputs = [answers.find(request) for request in requests]
        # The second turn quotes the profile, which is the answer to the first.
        if trial["followup"] and (described := outputs[0]) is not None:
            requests = self._requests(trial, encodable(described.completion))
            outputs += [answers.find(request) for request in requests[1:]]
        complete = [output for output in outputs if output is not None]
        if len(complete) == MODES[trial["mode"]].calls(trial, self.provider):
            return self._take_complete(trial, requests, complete, answers)
        unanswered = []
        for request, output in zip(requests, outputs, strict=True):
            if output is None:
                unanswered.append(request)
            else:
                answers.keep([request])
        errors = (answers.errors.get(request.custom_id) for request in unanswered)
        if first_error := next(filter(None, errors), None):
            self._record(trial, {"error": first_error}, self.lost)
        return None, unanswered

    def _take_complete(
        self, trial: Trial, requests: list[Request], outputs: list[ModelOutput], answers: Answers
    ) -> tuple[Answer | None, list[Request]]:
        """Return the answer to a trial; None and all its requests if it cannot be read."""
        try:
            answer = MODES[trial["mode"]].answer(trial, outputs, self.model)
            answer |= _count_collected(requests, outputs, [answer])
            check_need(trial, answer, self.model, self.proven)
        except ModelError as error:
            answers.errors[requests[-1].custom_id] = str(error)
            self._record(trial, {"error": f"{type(error).__name__}: {error}"})
            return None, requests
        return {**answer, **answers.origin(requests)}, []

    def _requests(self, trial: Trial, profile: str | None) -> list[Request]:
        """Return the calls of a trial; without its profile, if it has one, that of the profile."""
        calls = MODES[trial["mode"]].sent(trial, profile, self.provider)
        # The first call with the settings of an answer: call 0 of two turns asks for the profile.
        first = int(bool(trial["followup"]))
        profile_settings = self._settings(trial, described=False)
        answer_settings = self._settings(trial, described=True)
        requests = []
        for number, messages in enumerate(calls):
            settings = answer_settings if number >= first else profile_settings
            name = (trial["trial_id"], f"{trial.get('call', '')}{number}")
            requests.append(Request(self.model, *name, messages, settings))
        return requests

    def _settings(self, trial: Trial, *, described: bool) -> Mapping[str, Any]:
        """Return the settings of a call; those of trials that differ in nothing else are shared."""
        key = (described, *(trial[c] for c in _SETTING), *(trial["options"] or ()))
        settings = self._shared_settings.get(key)
        if settings is None:
            unseeded = {**trial, "seed": None}
            mode_config = MODES[trial["mode"]].config(unseeded, self.provider, described=described)
            config = sampling_config(self.model, self.plan.generation).merge(mode_config)
            settings = self._shared_settings[key] = settings_of(self.model, config)
        return {**settings, "seed": trial["seed"]} if self.provider.seeded else settings

    def _record(self, trial: Trial, answer: dict[str, Any], ledger: Ledger | None = None) -> None:
        """Record an answer or an error; the same error of a trial once."""
        ledger = ledger or self.ledger
        if error := answer.get("error"):
            if (trial["trial_id"], error) in self.failed:
                return
            self.failed.add((trial["trial_id"], error))
        time = datetime.now(UTC).isoformat(timespec="seconds")
        calls = MODES[trial["mode"]].calls(trial, self.provider)
        ledger.record({"trial_id": trial["trial_id"], "calls": calls, "at": time, **answer})
        if ledger.fatal is not None:
            raise ledger.fatal


class CallQuestions(Generic[C]):
    """Calls of a `Strategy` (cues, contexts), for one model; see `shards.ModelQuestions`."""

    def __init__(
        self,
        strategy: Strategy[C],
        ledger: Ledger,
        generation: Generation,
        progress: Callable[[], tuple[int, int]],
    ) -> None:
        """Take what was asked so far from the strategy; `progress`: answers in the end, so far."""
        self.model = ledger.journal.model
        self.strategy = strategy
        self.ledger = ledger
        self.seeded = find_provider(self.model).seeded
        self.usual = settings_of(self.model, sampling_config(self.model, generation))
        self.progress = progress

    @property
    def expected(self) -> int:
        """How many answers there are in the end."""
        return self.progress()[0]

    @property
    def answered(self) -> int:
        """How many answers are there."""
        return self.progress()[1]

    def unanswered(self, answers: Answers) -> Iterator[Request]:
        """Record what is answered; yield the requests that are not."""
        names = set[tuple[str, str]]()
        with closing(self.ledger.journal):
            for next_call in self.strategy.passes():
                while (call := next_call()) is not None:
                    name = self.strategy.name(call)
                    if name in names:  # a later pass gives what an earlier one left unanswered
                        continue
                    if (request := self._take(call, name, answers)) is not None:
                        names.add(name)
                        yield request

    def _take(self, call: C, name: tuple[str, str], answers: Answers) -> Request | None:
        """Record the answer to a call, or return its request."""
        from inspect_ai.model import GenerateConfig

        prompt = next(iter(self.strategy.prompts(call)))  # the other forms need a refusal first
        messages, settings = prompt
        call_settings = {name: value for name, value in settings.items() if value is not None}
        if not self.seeded:
            call_settings.pop("seed", None)
        body = {**self.usual, **settings_of(self.model, GenerateConfig(**call_settings))}
        request = Request(self.model, *name, messages, body)
        output = answers.find(request)
        if output is None or not (lines := self.strategy.answers(call, prompt, output)):
            return request
        # All lines come from one call, which the first counts.
        calls = [1] + [0] * (len(lines) - 1)
        origin = answers.origin([request])
        counted = [{**line, "calls": n, **origin} for line, n in zip(lines, calls, strict=True)]
        counted[0] |= _count_collected([request], [output], lines)
        self.ledger.record(*counted)
        if self.ledger.fatal is not None:
            raise self.ledger.fatal
        self.strategy.take(call, lines)
        return None


def _count_collected(
    requests: Sequence[Request], outputs: Sequence[ModelOutput], lines: Sequence[Answer]
) -> Answer:
    """Return, for the record, the tokens that count beyond those that lines state."""
    counted = TokenCounts()
    for request, output in zip(requests, outputs, strict=True):
        prompt = "".join(message["content"] for message in request.messages)
        counted = counted.plus(count_reply(prompt, output))
    return estimated_beyond(counted, lines)


#: What the settings of a call follow from, besides its seed and its options.
_SETTING = ("mode", "reasoning_effort", "temperature", "schema", "instrument")
