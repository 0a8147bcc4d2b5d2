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

__all__ = ["Submission", "Submitted", "submit_shards"]


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

    found: list[Collected]
    """A row for each model; see `shards.collect`."""
    answers: Answers
    running: list[str]
    """Shards whose batch runs at the provider."""
    failing: int
    """Requests that failed twice with the same error; they are not submitted again."""

    @property
    def complete(self) -> bool:
        """Whether every answer is there."""
        return all(row.complete for row in self.found)


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
    _refuse_others(plan.models, out)
    with only_process(out):
        asked = _Asked(plan, out, choices, submission, say)
        asked.batches.resume()
        asked.batches.poll()
        while True:
            found, answers = collect_and_tabulate(plan, out, choices)
            failing = asked.submit(found, answers)
            running = asked.batches.running
            if not (submission.wait and running):
                return Submitted(found, answers, running, failing)
            before = asked.batches.gained
            asked.batches.wait(submission.poll_s)
            asked.ended = asked.batches.cancelled or asked.batches.gained == before


def _refuse_others(models: Sequence[str], out: Path) -> None:
    """Refuse models whose provider has no batches of files."""
    for model in models:
        if not find_provider(model).batch_files:
            having = ", ".join(name for name, one in PROVIDERS.items() if one.batch_files)
            raise ModelError(
                f"{model}: submit needs a provider with OpenAI's interface of batches ({having}); "
                f"answer the shards by other means, then: clinometer collect {out}"
            )


class _Asked:
    """What is submitted of a plan."""

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

        @cache
        def provider(folder: str) -> BatchFiles:
            return BatchFiles(
                self.names[folder], base_url=submission.base_url, patient=submission.wait
            )

        self.batches = Batches(out, text_hash(read_text(plan.file(out))), provider, say)
        self.out = out
        self.tokens = cache(lambda model: plan.tokens_of_answer(model, choices))

    def submit(self, found: Sequence[Collected], answers: Answers) -> int:
        """Submit what may be submitted; return how many requests are not, as they fail."""
        failing = set[str]() if self.submission.retry_failed else answers.failing
        left_out = failing | {name for row in found for name in row.names if name in answers}
        chosen = [] if self.ended else list(self._choose(found, left_out))
        costs = [self._cost(*one) for one in chosen]
        self._refuse_cost(costs)
        for (_, path, names), cost in zip(chosen, costs, strict=True):
            self.batches.submit(path, list(_requests(path, names).values()), cost.batch_usd)
        return sum(len(row.names & failing) for row in found)

    def _choose(
        self, found: Sequence[Collected], left_out: set[str]
    ) -> Iterator[tuple[str, Path, set[str]]]:
        """Yield model, shard and requests of each batch; no request is in two that run."""
        taken = set[str]()
        for shard in self.batches.running:
            taken |= _requests(self.out / shard).keys()
        for row in found:
            for path in filter(self.batches.may_submit, row.files):
                names = _requests(path).keys() & row.names - taken - left_out
                taken |= names
                if names:
                    yield row.model, path, names

    def _cost(self, model: str, path: Path, names: set[str]) -> Cost:
        requests = _requests(path, names).values()
        return self.submission.spending.estimate(model, requests, self.tokens(model))

    def _refuse_cost(self, costs: Sequence[Cost]) -> None:
        """Raise BudgetError if what is to be submitted would cost more than it may."""
        spending = self.submission.spending
        if spending.max_cost is None or not costs:
            return
        submitted = sum(
            self._price_again(self.out / shard) if usd is None else usd
            for shard, usd in self.batches.paid
        )
        usd = submitted + sum(cost.limited(batch=True) for cost in costs)
        spending.refuse(
            usd,
            f"the batches would cost about ${usd:.2f}, of which ${submitted:.2f} are submitted; "
            "nothing more was submitted",
        )

    def _price_again(self, path: Path) -> float:
        """Return what a batch cost at most that was submitted when no price was known."""
        cost = self._cost(self.names[path.parent.name], path, set(_requests(path)))
        return cost.limited(batch=True)


def _requests(path: Path, names: Container[str] | None = None) -> dict[str, bytes]:
    """Return the lines of a shard by the name of their request, or those of some names."""
    found = {}
    with path.open("rb") as file:
        for line in file:
            name = json.loads(line)["custom_id"]
            if names is None or name in names:
                found[name] = line
    return found
