"""Prices, the cost of a plan before it is run, and the limits of a run.

Prices are US dollars per million tokens, from the providers' public lists, and go out of date:
``--prices FILE`` replaces them. Token counts before a run are estimates (four characters to a
token); a running budget counts what providers report.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import lru_cache
from importlib import resources
from pathlib import Path
from typing import Any

import polars as pl
import yaml

from tiltmeter.errors import InputError
from tiltmeter.instruments.catalogue import INSTRUMENTS
from tiltmeter.models.opening import find_provider
from tiltmeter.modes import MODES, TEXT

__all__ = ["Budget", "Cost", "estimate_cost", "price"]

CHARACTERS_PER_TOKEN = 4.0
#: Chat format and, in JSON or line format, what stands between two words.
TOKENS_PER_PROMPT = 10
TOKENS_PER_PAIR = 4


@dataclass(frozen=True)
class Cost:
    """What asking one model costs, estimated before the run."""

    model: str
    trials: int
    calls: int
    input_tokens: int
    output_tokens: int
    usd: float | None
    """None where the model's price is not known."""

    @classmethod
    def of(
        cls,
        model: str,
        asked: tuple[int, int],
        tokens: tuple[int, int],
        prices: Path | None = None,
    ) -> Cost:
        """Price an estimate: trials and calls, tokens in and out; see `price`."""
        rates = price(model, prices)
        usd = None if rates is None else (tokens[0] * rates[0] + tokens[1] * rates[1]) / 1e6
        return cls(model, *asked, *tokens, usd)


@dataclass
class Budget:
    """Run-wide limits and what has been used of them, over all sessions of a run."""

    max_calls: int | None = None
    max_tokens: int | None = None
    max_cost: float | None = None
    calls: int = 0
    tokens: int = 0
    usd: float = 0.0

    def __post_init__(self) -> None:
        """Refuse limits below zero."""
        for name in ("max_calls", "max_tokens", "max_cost"):
            value = getattr(self, name)
            if value is not None and value < 0:
                raise InputError(f"{name} {value}: at least 0")

    def take(self, calls: int) -> bool:
        """Reserve calls for a trial; False when a limit is, or would be, passed."""
        if self.exhausted(calls):
            return False
        self.calls += calls
        return True

    def exhausted(self, calls: int = 1) -> str | None:
        """Name the limit that `calls` more calls would pass."""
        if self.max_calls is not None and self.calls + calls > self.max_calls:
            return f"--max-calls {self.max_calls}"
        if self.max_tokens is not None and self.tokens >= self.max_tokens:
            return f"--max-tokens {self.max_tokens}"
        if self.max_cost is not None and self.usd >= self.max_cost:
            return f"--max-cost {self.max_cost}"
        return None

    def spend(self, answer: dict[str, Any], rates: tuple[float, float] | None) -> None:
        """Count an answer's tokens and what they cost."""
        spent = answer.get("input_tokens") or 0, answer.get("output_tokens") or 0
        self.tokens += sum(spent)
        if rates is not None:
            self.usd += sum(n * rate for n, rate in zip(spent, rates, strict=True)) / 1e6


def price(model: str, prices: Path | None = None) -> tuple[float, float] | None:
    """Input and output price of a model in US dollars per million tokens.

    Parameters
    ----------
    model
        As inspect names it.
    prices
        A YAML file of ``model: [input, output]``; None for the shipped list.

    Returns
    -------
    tuple of float, or None
        ``(0, 0)`` for models on one's own machine; None where the price is not known.
    """
    if find_provider(model).local:
        return 0.0, 0.0
    table = _prices(prices)
    matches = [name for name in table if model == name or model.startswith(f"{name}-20")]
    return table[max(matches, key=len)] if matches else None


@lru_cache(maxsize=8)
def _prices(path: Path | None) -> dict[str, tuple[float, float]]:
    source = path or resources.files("tiltmeter.asking") / "prices.yaml"
    try:
        content = yaml.safe_load(source.read_text(encoding="utf-8"))
        return {str(k): (float(v[0]), float(v[1])) for k, v in content.items()}
    except FileNotFoundError:
        raise InputError(f"{path}: no such file") from None
    except (yaml.YAMLError, TypeError, ValueError, AttributeError, IndexError):
        raise InputError(f"{path}: expected lines of 'model: [input, output]' in dollars") from None


def estimate_cost(trials: pl.DataFrame, model: str, prices: Path | None = None) -> Cost:
    """Estimate calls, tokens and dollars of asking `trials`.

    Parameters
    ----------
    trials
        Columns of `frames.TRIALS`.
    model
        As inspect names it.
    prices
        See `price`.

    Returns
    -------
    Cost
    """
    words = pl.col("attributes").list.len()
    apart = pl.col("mode").is_in([mode.name for mode in MODES.values() if mode.apart])
    questions = pl.when(apart).then(words).otherwise(1)
    pair = pl.col("marginalized").str.len_chars() / CHARACTERS_PER_TOKEN + TOKENS_PER_PAIR
    answer = pl.col("attributes").list.join(" ").str.len_chars() / CHARACTERS_PER_TOKEN
    prompt = pl.col("prompt").str.len_chars() / CHARACTERS_PER_TOKEN + TOKENS_PER_PROMPT
    twice = pl.col("followup").is_not_null().cast(pl.Int64)
    written = pl.col("mode").is_in([mode.name for mode in MODES.values() if mode.kind == TEXT])
    around = {one.name: one.prose for one in INSTRUMENTS.values()}
    first = {one.name: one.first_answer for one in INSTRUMENTS.values()}
    prose = _per_instrument(around) * written + _per_instrument(first) * twice
    followup = pl.col("followup").str.len_chars().fill_null(0) / CHARACTERS_PER_TOKEN
    second = twice * (prompt + prose + followup)
    sums = trials.select(
        calls=(questions + twice).sum(),
        input=(prompt * questions + second).sum(),
        output=(pl.when(apart).then(words).otherwise(answer + pair * words) + prose).sum(),
    ).row(0)
    calls, tokens_in, tokens_out = int(sums[0]), math.ceil(sums[1]), math.ceil(sums[2])
    rates = price(model, prices)
    usd = None if rates is None else (tokens_in * rates[0] + tokens_out * rates[1]) / 1e6
    return Cost(model, trials.height, calls, tokens_in, tokens_out, usd)


def _per_instrument(tokens: dict[str, int]) -> pl.Expr:
    return pl.col("instrument").replace_strict(tokens, default=0, return_dtype=pl.Int64)
