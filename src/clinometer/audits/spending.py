"""What the requests of a directory may cost, whoever answers them."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from clinometer.asking.budget import Cost, estimate_requests
from clinometer.errors import BudgetError, InputError


@dataclass(frozen=True)
class Spending:
    """A limit in dollars and the prices it is counted by."""

    max_cost: float | None = None
    """Dollars that all requests of the directory may cost, estimated; None: no limit."""
    prices: Path | None = None
    """See `budget.price`."""

    def __post_init__(self) -> None:
        """Refuse a limit that means nothing."""
        if self.max_cost is not None and not self.max_cost >= 0:
            raise InputError(f"max_cost {self.max_cost}: at least 0")

    def estimate(self, model: str, requests: Iterable[bytes], tokens: float) -> Cost:
        """Estimate what requests cost whose answers have some `tokens` each."""
        return estimate_requests(model, requests, tokens, self.prices)

    def refuse(self, usd: float, situation: str) -> None:
        """Raise BudgetError, which states the `situation`, if this is more than may be spent."""
        if self.max_cost is not None and usd > self.max_cost:
            raise BudgetError(f"max_cost {self.max_cost}: {situation}")
