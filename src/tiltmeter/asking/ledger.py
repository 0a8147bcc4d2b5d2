"""What one model has answered and cost, and when it is asked no more.

Trials, cues and contexts share these rules. A run ends at a limit of its budget, when an answer
cannot be written, when the first answers of a model are nothing but errors, and when it has been
failing for long.
"""

from __future__ import annotations

import errno
from typing import Any

from tiltmeter.asking.budget import Budget
from tiltmeter.errors import InputError, ModelError, TiltmeterError
from tiltmeter.results.records import Journal

__all__ = ["HOPELESS", "OUTAGE", "Ledger"]

#: Errors with no answer before them, and errors in a row, after which a model is given up.
#: inspect has tried each of them several times by then.
HOPELESS, OUTAGE = 20, 200


class Ledger:
    """What one model may still be asked, and what it has answered.

    All models of a run share the `budget`; `rates` are dollars per million tokens in and out,
    `patience` the errors that are borne before the first answer, and in a row.
    """

    def __init__(
        self,
        journal: Journal,
        budget: Budget,
        rates: tuple[float, float] | None = None,
        patience: tuple[int, int] = (HOPELESS, OUTAGE),
    ) -> None:
        self.journal, self.budget, self.rates = journal, budget, rates
        self.hopeless, self.outage = patience
        self.calls = self.answers = self.errors = self.errors_in_a_row = 0
        self.last_error: str | None = None
        self.stopped_by: str | None = None
        """The limit that ended the run early, or ``"interrupted"``."""
        self.fatal: TiltmeterError | None = None

    @property
    def closed(self) -> bool:
        """Whether the model is asked no more."""
        return self.fatal is not None or self.stopped_by is not None

    def replay(self, answer: dict[str, Any]) -> None:
        """Count against the budget what was recorded earlier."""
        self.budget.calls += answer.get("calls", 1)
        self.budget.spend(answer, self.rates)

    def may_call(self, calls: int = 1) -> bool:
        """Reserve calls; False when the model is asked no more."""
        if not self.closed:
            self.stopped_by = self.budget.exhausted(calls)
        return not self.closed and self.budget.take(calls)

    def record(self, *answers: dict[str, Any]) -> bool:
        """Keep the answers or errors of a call; tell whether they were written."""
        try:
            self.journal.append(*answers)
        except OSError as error:
            full = error.errno in (errno.ENOSPC, errno.EDQUOT)
            what = "disk full" if full else error.strerror
            self.fatal = InputError(
                f"{self.journal.folder}: {what}; make room and repeat the command to continue"
            )
            return False
        for answer in answers:
            self.calls += answer.get("calls", 1)
            self.budget.spend(answer, self.rates)
        if (text := answers[0].get("error")) is not None:
            self._count_error(text)
        else:
            self.answers += len(answers)
            self.errors_in_a_row = 0
        return True

    def _count_error(self, error: str) -> None:
        self.last_error = error
        self.errors += 1
        self.errors_in_a_row += 1
        if self.fatal is not None:
            return
        if not self.answers and self.errors >= self.hopeless:
            first = f"{self.errors} calls all" if self.errors > 1 else "call"
            self.fatal = ModelError(f"{self.journal.model}: the first {first} failed: {error}")
        elif self.errors_in_a_row >= self.outage:
            self.fatal = ModelError(
                f"{self.journal.model}: {self.errors_in_a_row} calls in a row failed: {error}; "
                "repeat the command to continue, nothing is asked twice"
            )
