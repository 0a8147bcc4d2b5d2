"""What the command line prints while a run is carried out."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING

from clinometer.asking.budget import estimate_costs
from clinometer.audits.running import Run, Watcher
from clinometer.cli.output import (
    echo,
    progress_bar,
    remark,
    say_batches,
    say_cost,
    say_unfinished,
    say_unscored,
)
from clinometer.directory.results import read_detail
from clinometer.errors import ModelError
from clinometer.results.progress import ended_text
from clinometer.stimuli import remarks

if TYPE_CHECKING:
    from clinometer.asking.generating import OnProgress
    from clinometer.asking.plan import Plan
    from clinometer.asking.sessions import Outcome
    from clinometer.families import Family


class Console(Watcher):
    """Prints each step of a run: cost and power before it, progress, and what is missing after."""

    def __init__(self, run: Run, announce: Callable[[Plan], None]) -> None:
        self.run = run
        self.announce = announce
        self.full_plan = run.plan.without_looks()
        self.costs = estimate_costs(self.full_plan.pieces(), run.plan.models, run.asking.prices)

    def on_opened(self) -> None:
        """Print notes on the studies, what the design can tell, and the cost."""
        studies = {part.study.name: part.study for part in self.run.plan.selections}
        for study in studies.values():
            for note in remarks(study):
                remark(f"note: {study.name}: {note}")
        if not self.run.plan.looks:  # else what a design can tell depends on where it ends
            self.announce(self.run.plan)
        connection = self.run.asking.connection
        say_cost(self.costs, batches=connection.batch)
        if self.run.plan.looks:
            remark(f"at most; asked in up to {len(self.run.plan.looks)} parts, until it is decided")
        if connection.batch:
            # At a time no more wait of a model than its connection has places.
            say_batches(sum(min(cost.calls, connection.waiting) for cost in self.costs))

    @contextmanager
    def watch_asking(self, plan: Plan) -> Iterator[OnProgress]:
        """Show a bar."""
        n_trials = sum(cost.trials for cost in self.costs)
        if plan.looks:
            n_trials = len(plan.models) * sum(piece.height for piece in plan.pieces())
        with progress_bar(n_trials) as advance:
            yield advance

    def on_outcome(self, outcome: Outcome) -> None:
        """Print what has no answer."""
        for model, error in outcome.failed.items():
            remark(f"left out: {error}" if model in error else f"left out: {model}: {error}")
        if outcome.stopped_by == "interrupted" or not outcome.complete:
            failed = f", {outcome.errors} failed" if outcome.errors else ""
            answered = f"{outcome.answered:,} of {outcome.trials:,} trials answered{failed}"
            say_unfinished(outcome.stopped_by, outcome.last_error, answered)

    def on_judged(self, judge: str, outcome: Outcome) -> None:
        """Print how many decisions the judge read."""
        echo(f"judge {judge}: {outcome.answered:,} of {outcome.trials:,} open decisions")

    def on_tabulated(self) -> None:
        """Print which models have no scores, and why."""
        say_unscored(read_detail(self.run.directory, "compliance"))

    def on_looked(self, plan: Plan) -> None:
        """Print how many stereotypes ended, and why."""
        reasons = [end.why for end in plan.stage.ended]
        echo(ended_text(reasons, plan.n_parts - len(reasons)))

    def on_measuring(self, family: Family, models: Sequence[str]) -> None:
        """Print what is measured besides answers."""
        remark(f"measuring {family.title.lower()}: {', '.join(models)}")

    def on_left_out(self, family: Family, error: ModelError) -> None:
        """Print that a family is left out; the audit goes on."""
        remark(f"{family.title.lower()} left out: {error}")
