"""Episodes: trials that ask several questions, of which each depends on the answers before it.

An instrument writes an episode as a generator, so that its state is that of ordinary variables::

    def play(trial):
        total = 0
        while total < 10:
            answer = yield {"prompt": f"We are at {total}. Add a number."}
            total += read_number(answer["response"])
        return total

It yields the columns in which the next question differs from its trial, is sent the answer, and
returns what came of it. All follows from the trial and the answers: played again with the answers
that were kept, it stands where it stood. So a run that was killed goes on in the middle, nothing is
asked twice, and what a model was asked can be told from its answers. The response of the trial is
the answers, as JSON; a reader plays them again to score them.
"""

from __future__ import annotations

import json
import random
from collections.abc import Callable, Generator, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from clinometer.errors import InputError
from clinometer.reading.cleaning import final_answer
from clinometer.results.logprobs import read_steps

#: A trial: columns of `results.TRIALS`.
Trial = Mapping[str, Any]

#: What was answered to a question: at least `response` and `stop_reason`.
Answer = Mapping[str, Any]

#: Yields columns of questions, is sent answers, returns what came of the episode.
Play = Generator[dict[str, Any], Answer, Any]


@dataclass(frozen=True)
class Episode:
    """How an instrument asks a trial in steps; the trial's column `steps` has the most of them."""

    play: Callable[[Trial], Play]
    """Trial → its questions, one after another; see the module. It never raises."""
    tokens: int
    """Tokens that a step adds to the prompts after it, for estimating cost."""


class Game:
    """An episode that is under way.

    Parameters
    ----------
    episode
        How it is asked.
    trial
        Columns of `results.TRIALS`.
    answers
        To its first questions, from an earlier session; they are not asked again.
    """

    def __init__(
        self, episode: Episode | None, trial: Trial, answers: Iterable[Answer] = ()
    ) -> None:
        self.trial = trial
        self.answers: list[Answer] = []
        """To the questions so far."""
        self.questions: list[dict[str, Any]] = []
        """Those that were answered."""
        self.outcome: Any = None
        """What came of it, when it is over."""
        self.question: dict[str, Any] | None = None
        """The trial that is to be asked next, with a seed of its own; None: it is over."""
        if episode is None:
            raise InputError(f"trial {trial['trial_id']}: its instrument asks no steps")
        self._play = episode.play(trial)
        self._advance(None)
        for answer in answers:
            if self.question is None:
                break
            self.take(answer)

    @property
    def step(self) -> int:
        """The number of the next question, from 0 on."""
        return len(self.answers)

    def take(self, answer: Answer) -> None:
        """Take the answer to the question, and move to the next."""
        if self.question is not None:
            self.questions.append(self.question)
        self.answers.append(answer)
        final = final_answer(answer["response"])
        stop_reason = "max_tokens" if final.cut else answer["stop_reason"]
        self._advance({**answer, "response": final.text, "stop_reason": stop_reason})

    def _advance(self, answer: Answer | None) -> None:
        try:
            columns = next(self._play) if answer is None else self._play.send(answer)
        except StopIteration as end:
            self.outcome = end.value
            self.question = None
            return
        # A seed for each step: the same question may come again, and be answered anew.
        seed = random.Random(f"{self.trial['seed']}/{self.step}").getrandbits(31)
        self.question = {**self.trial, "seed": seed, **columns, "steps": None}

    def response(self) -> str:
        """Return the response of the trial: its answers as JSON, which `replay` reads."""
        rows = []
        for answer in self.answers:
            row = [answer["response"], answer["stop_reason"]]
            # They tell whether a step has an answer, also where the episode is played again.
            first_tokens = answer.get("first_tokens")
            rows.append([*row, first_tokens] if first_tokens else row)
        return json.dumps(rows, ensure_ascii=False)

    def answer(self) -> dict[str, Any]:
        """Return the answer to the trial: its response, and the sums of its steps' tokens."""
        texts = [answer.get("reasoning") for answer in self.answers]
        reasoning = "\n\n".join(text for text in texts if text)
        last = self.answers[-1] if self.answers else {}
        return {
            "response": self.response(),
            "profile": None,
            "stop_reason": "stop",
            "served": last.get("served"),
            **{name: _total(self.answers, name) for name in _COUNTS},
            "reasoning": reasoning or None,
        }


#: Columns of an answer that are added up over steps.
_COUNTS = ("input_tokens", "output_tokens", "reasoning_tokens")


def _total(answers: Sequence[Answer], name: str) -> int | None:
    """Return the sum of a count; None where no answer has it."""
    counts = [answer[name] for answer in answers if answer.get(name) is not None]
    return sum(counts) if counts else None


def replay(episode: Episode | None, trial: Trial, response: str) -> Game:
    """Play the episode of an answered trial again; of a malformed response, from its beginning."""
    return Game(episode, trial, [step._asdict() for step in read_steps(response)])
