"""Shards asked as batches of their provider: submit, wait, collect, and the next round."""

from __future__ import annotations

import json
from collections.abc import Callable, Container, Iterator, Sequence
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path

from clinometer.asking.batches import Batches
from clinometer.asking.budget import Cost
from clinometer.asking.shards import Answers, Collected, RequestPlan, read_setting
from clinometer.audits.sharding import collect_and_tabulate, load_any_plan
from clinometer.audits.spending import Spending
from clinometer.errors import InputError, ModelError
from clinometer.models.batch_files import BatchFiles
from clinometer.models.providers import PROVIDERS, find_provider
from clinometer.results.locks import only_process
from clinometer.results.places import anywhere
from clinometer.results.records import slug, text_hash
from clinometer.texts import read_text


@dataclass(frozen=True)
class Submission:
    """How shards are submitted."""

    wait: bool = True
    """Whether to wait until all is answered."""
    poll_s: float = 60.0
    """Seconds between two looks at the batches."""
    spending: Spending = field(default_factory=Spending)
    """What all batches of the directory may cost."""
    retry_failed: bool = False
    """Whether to submit also requests that failed twice with the same error."""
    base_url: str | None = None
    """Address of the provider, if not that of the environment."""

    def __post_init__(self) -> None:
        """Refuse values that mean nothing."""
        if not self.poll_s > 0:
            raise InputError(f"poll {self.poll_s}: more than 0 seconds")


@dataclass(frozen=True)
class Submitted:
    """How far the shards of a directory are."""

    collected: list[Collected]
    """A row for each model; see `shards.collect`."""
    answers: Answers
    running: list[str]
    """Shards whose batch runs at the provider."""
    failing: int
    """Requests that failed twice with the same error; they are not submitted again."""

    @property
    def complete(self) -> bool:
        """Whether every answer is there."""
        return all(row.complete for row in self.collected)


@anywhere(directory=True)
def submit_shards(
    directory: str | Path, submission: Submission, say: Callable[[str], None] = print
) -> Submitted:
    """Ask the shards of a directory as batches, and read the answers.

    Parameters
    ----------
    directory
        A results directory with shards.
    submission
        Whether to wait, and what may be spent.
    say
        Gets each line about what is going on.

    Returns
    -------
    Submitted
        How far it is.

    Raises
    ------
    InputError
        If there are no shards, a price is needed and not known, or a file cannot be written.
    ModelError
        If the provider has no such batches, or refuses.
    BudgetError
        If the batches would cost more than they may; nothing is submitted then.
    PlanError
        If the directory holds no plan, or another process asks there.
    """
    out = Path(directory)
    choices = read_setting(out)["choices"]
    plan = load_any_plan(out)
    _refuse_without_batches(plan.models, out)
    with only_process(out):
        submitter = _Submitter(plan, out, choices, submission, say)
        batches = submitter.batches
        # Batches of a process that was stopped or killed: created if they were not, and read.
        batches.resume()
        batches.poll()
        while True:
            collected, answers = collect_and_tabulate(plan, out, choices)
            failing = submitter.submit(collected, answers)
            running = batches.running
            if not (submission.wait and running):
                return Submitted(collected, answers, running, failing)
            answers_before = batches.gained
            batches.wait(submission.poll_s)
            submitter.ended = batches.cancelled or batches.gained == answers_before


def _refuse_without_batches(models: Sequence[str], out: Path) -> None:
    """Refuse models whose provider has no batches of files."""
    for model in models:
        if not find_provider(model).batch_files:
            having = [name for name, provider in PROVIDERS.items() if provider.batch_files]
            raise ModelError(
                f"{model}: submit needs a provider with OpenAI's interface of batches "
                f"({', '.join(having)}); answer the shards by other means, then: clinometer "
                f"collect {out}"
            )


class _Submitter:
    """Submits what a plan asks, and keeps what is submitted."""

    def __init__(
        self,
        plan: RequestPlan,
        out: Path,
        choices: int | None,
        submission: Submission,
        say: Callable[[str], None],
    ) -> None:
        self.plan, self.choices, self.submission = plan, choices, submission
        self.names = {slug(model): model for model in plan.models}
        self.ended = False
        """Whether the last round brought nothing new, or a batch was cancelled."""

        @cache  # one client for all looks at the batches of a model
        def open_provider(folder: str) -> BatchFiles:
            """Open the batches of the model that a folder is named after."""
            return BatchFiles(
                self.names[folder], base_url=submission.base_url, patient=submission.wait
            )

        # The hash enters the names of batches: none of another plan is taken for one of this.
        self.batches = Batches(out, text_hash(read_text(plan.file(out))), open_provider, say)
        self.out = out
        self.tokens = cache(lambda model: plan.tokens_of_answer(model, choices))

    def submit(self, collected: Sequence[Collected], answers: Answers) -> int:
        """Submit what may be submitted; return how many requests are not, as they fail."""
        failing = set[str]() if self.submission.retry_failed else answers.failing
        excluded_names = set(failing)
        for row in collected:
            excluded_names.update(name for name in row.names if name in answers)
        parts = [] if self.ended else list(self._select_requests(collected, excluded_names))
        costs = [self._cost(model, path, names) for model, path, names in parts]
        self._refuse_cost(costs)  # before the first is submitted
        for (_, path, names), cost in zip(parts, costs, strict=True):
            self.batches.submit(path, list(_read_requests(path, names).values()), cost.batch_usd)
        return sum(len(row.names & failing) for row in collected)

    def _select_requests(
        self, collected: Sequence[Collected], excluded_names: set[str]
    ) -> Iterator[tuple[str, Path, set[str]]]:
        """Yield model, shard and requests of each batch; no request is in two that run."""
        used_names = set[str]()
        for shard in self.batches.running:
            used_names |= _read_requests(self.out / shard).keys()
        for row in collected:
            for path in filter(self.batches.may_submit, row.files):
                names = _read_requests(path).keys() & row.names - used_names - excluded_names
                used_names |= names
                if names:
                    yield row.model, path, names

    def _cost(self, model: str, path: Path, names: set[str]) -> Cost:
        requests = _read_requests(path, names).values()
        return self.submission.spending.estimate(model, requests, self.tokens(model))

    def _refuse_cost(self, costs: Sequence[Cost]) -> None:
        """Raise BudgetError if what is to be submitted would cost more than it may."""
        spending = self.submission.spending
        if spending.max_cost is None or not costs:
            return
        submitted_usd = sum(
            self._price_again(self.out / shard) if usd is None else usd
            for shard, usd in self.batches.paid
        )
        total_usd = submitted_usd + sum(cost.limited(batch=True) for cost in costs)
        spending.refuse(
            total_usd,
            f"the batches would cost about ${total_usd:.2f}, of which ${submitted_usd:.2f} are "
            "submitted; nothing more was submitted",
        )

    def _price_again(self, path: Path) -> float:
        """Return what a batch cost at most that was submitted when no price was known."""
        cost = self._cost(self.names[path.parent.name], path, set(_read_requests(path)))
        return cost.limited(batch=True)


def _read_requests(path: Path, names: Container[str] | None = None) -> dict[str, bytes]:
    """Return the lines of a shard by the name of their request, or those of some names."""
    requests = {}
    with path.open("rb") as file:
        for line in file:
            name = json.loads(line)["custom_id"]
            if names is None or name in names:
                requests[name] = line
    return requests
