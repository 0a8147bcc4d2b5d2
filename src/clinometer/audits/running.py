"""A run of a plan: open the models, ask, judge, write the tables, measure with other families.

The command line and `audit` both go this way. What is said on the way is said by a `Watcher`.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from clinometer.asking.budget import Budget
from clinometer.asking.claim import claim
from clinometer.asking.plan import Plan, load_plan, read_sizes, record_sizes, record_stage
from clinometer.asking.sessions import JUDGE, Outcome, ask_judge, ask_models
from clinometer.audits.deciding import next_stage
from clinometer.audits.tabulating import collect_responses, tabulate
from clinometer.directory.results import read_estimates
from clinometer.errors import InputError, ModelError, NoAnswerError
from clinometer.families import Family, families
from clinometer.models.opening import Connection, Generation, open_model
from clinometer.models.reaching import find_unreachable
from clinometer.modes import structured
from clinometer.results.tables import pieces

if TYPE_CHECKING:
    from clinometer.asking.generating import OnProgress


@dataclass(frozen=True)
class Asking:
    """Connection and limits of asking models; they do not change the prompts.

    Parameters
    ----------
    connection
        Requests at a time, retries, time-out, address.
    budget
        Limits in calls, tokens and dollars.
    prices
        A YAML file of ``model: [input, output]``; None for the shipped list.
    on_progress
        Called with the model and each answer or error.
    judge
        A model that is asked about decisions that the rules cannot read, once every trial has an
        answer; None asks none.
    from_elsewhere
        Whether a run is continued whose answers were not all asked with the user's key; results
        say so.
    """

    connection: Connection = field(default_factory=Connection)
    budget: Budget = field(default_factory=Budget)
    prices: Path | None = None
    on_progress: OnProgress = lambda model, answer: None
    judge: str | None = None
    from_elsewhere: bool = False


class Watcher:
    """Hears of each step of a run. Subclasses print it; this one keeps quiet."""

    def on_opened(self) -> None:
        """Hear that every model can be asked and the directory is bound to the plan."""

    @contextmanager
    def watch_asking(self, plan: Plan) -> Iterator[OnProgress]:
        """Yield what is called with the model and each answer or error, while models are asked."""
        yield lambda model, answer: None

    def on_outcome(self, outcome: Outcome) -> None:
        """Hear how far the models were asked, and what stopped them."""

    def on_judged(self, judge: str, outcome: Outcome) -> None:
        """Hear what the judge was asked about open decisions."""

    def on_tabulated(self) -> None:
        """Hear that the tables of the answers are written."""

    def on_looked(self, plan: Plan) -> None:
        """Hear what ended at a look, in the stage of the plan."""

    def on_measuring(self, family: Family, models: Sequence[str]) -> None:
        """Hear that a family begins to measure models."""

    def on_left_out(self, family: Family, error: ModelError) -> None:
        """Hear that a family could not measure a model; what this raises ends the run."""
        raise error


@dataclass(frozen=True)
class Run:
    """A plan and everything it takes to carry it out.

    Parameters
    ----------
    plan
        What is asked of which models.
    directory
        Where answers and tables are kept; completing the same run again asks nothing twice.
    asking
        Connection, limits, prices and judge.
    sizes
        A YAML file of ``model: billions of parameters``, for the figure of sizes.
    with_families
        Whether other families measure what they can of these models, such as hidden states.
    command
        The command line, for the record.
    """

    plan: Plan
    directory: Path
    asking: Asking = field(default_factory=Asking)
    sizes: Path | None = None
    with_families: bool = False
    command: str = ""

    def complete(self, watcher: Watcher | None = None) -> Outcome:
        """Ask what has no answer yet, and write the tables of all answers.

        A plan with looks is asked in stages; after each, what is decided ends (`audits.deciding`).
        Tables are written also where some trials have no answer; not where the user stopped the
        run or nothing was answered. A model that was given up costs only itself: the outcome names
        it, and the others are asked on. Other families measure only what is settled.

        Raises
        ------
        ModelError
            If a model or the judge cannot be opened, if all models, or the judge, give nothing
            but errors (NoAnswerError) or do not support a response mode.
        PlanError
            If the directory holds another plan, or another process asks there.
        InputError
            If a file is malformed, or cannot be written.
        """
        watcher = watcher or Watcher()
        judge = self._open_judge()
        if self.sizes is not None:
            read_sizes(self.sizes)  # a malformed file is refused before anything is paid for
        models = self._open_models()
        watcher.on_opened()
        run: Run | None = self._resumed()
        while run is not None:
            outcome = run._ask(models, watcher)
            watcher.on_outcome(outcome)
            if not outcome.has_tables:
                return outcome
            if judge is not None and outcome.settled:
                watcher.on_judged(judge[0], run._judge(judge))
            if self.sizes is not None:
                record_sizes(self.directory, self.sizes)
            tabulate(self.directory)
            watcher.on_tabulated()
            run = run._after_look(watcher) if outcome.settled else None
        if self.with_families and outcome.settled:
            self._measure(watcher)
        return outcome

    def _resumed(self) -> Run:
        """Return the run at the stage that an earlier session came to."""
        if not self.plan.looks:
            return self
        stage = load_plan(self.directory).stage
        return replace(self, plan=replace(self.plan, stage=stage))

    def _after_look(self, watcher: Watcher) -> Run | None:
        """Record the next stage and return the run at it; None where nothing is left to ask."""
        if not self.plan.looks:
            return None
        asking = self.asking
        estimates = read_estimates(self.directory)
        stage = next_stage(self.plan, estimates, self.directory, asking.budget, asking.prices)
        record_stage(self.directory, stage)
        plan = replace(self.plan, stage=stage)
        watcher.on_looked(plan)
        if plan.ended:
            return None
        # What was used is counted anew from the answers, those of this stage among them.
        budget = asking.budget
        limits = Budget(budget.max_calls, budget.max_tokens, budget.max_cost)
        return replace(self, plan=plan, asking=replace(asking, budget=limits))

    def _open_judge(self) -> tuple[str, Any] | None:
        if self.asking.judge is None:
            return None
        return open_judge(self.asking.judge, self.asking.connection)

    def _open_models(self) -> dict[str, Any]:
        """Open the models and bind the directory to the plan; see `open_model` and `claim`.

        Raises NoAnswerError if nobody answers where they are.
        """
        plan = self.plan
        models = {}
        for name in plan.models:
            connection = plan.connection_of(name, self.asking.connection)
            models[name] = open_model(name, plan.generation, connection)
        problems = find_unreachable(models)
        if len(problems) == len(models):  # of several, the others are asked
            raise NoAnswerError("\n".join(problems))
        # Last: nothing is written for a wrong name.
        from_elsewhere = self.asking.from_elsewhere
        claim(self.directory, plan, self.command, from_elsewhere=from_elsewhere)
        return models

    def _ask(self, models: dict[str, Any], watcher: Watcher) -> Outcome:
        with watcher.watch_asking(self.plan) as show_progress:

            def on_progress(model: str, answer: dict[str, Any]) -> None:
                """Tell the caller of an answer, then the watcher."""
                self.asking.on_progress(model, answer)
                show_progress(model, answer)

            return ask_models(
                self.plan.pieces,
                models,
                self.directory,
                self.asking.budget,
                on_progress=on_progress,
                prices=self.asking.prices,
            )

    def _judge(self, judge: tuple[str, Any]) -> Outcome:
        """Ask the judge about decisions that the rules cannot read."""
        collect_responses(self.plan, self.directory)
        studies = {selection.study.name: selection.study for selection in self.plan.selections}
        responses = pieces(self.directory / "responses.parquet")
        folder = self.directory / JUDGE
        asking = self.asking
        return ask_judge(responses, studies, judge, folder, asking.budget, prices=asking.prices)

    def _measure(self, watcher: Watcher) -> None:
        """Add what other families measure of the models."""
        for family in families().values():
            models = family.measurable(self.plan.models)
            if not models:
                continue
            watcher.on_measuring(family, models)
            try:
                family.measure(self.directory, self.asking.connection)
            except ModelError as error:
                watcher.on_left_out(family, error)


def open_judge(name: str, connection: Connection) -> tuple[str, Any]:
    """Open a judge at temperature 0, without the arguments of the models it judges.

    Returns its name and model. Raises InputError if it does not close answers to a JSON schema.
    """
    if structured.MODE.able(name) is False:  # None: not known, which is tried
        raise InputError(
            f"judge {name}: does not close answers to a JSON schema, which a judge needs"
        )
    connection = replace(connection, base_url=None, model_args={}, batch=False)
    return name, open_model(name, Generation(temperature=0.0, max_tokens=256), connection)
