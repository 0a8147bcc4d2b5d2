"""Costs: prices, estimates before a run, limits during it, and when a model is given up.

Prices are US dollars per million tokens, from the providers' public lists, and go out of date:
``--prices FILE`` replaces them. Token counts before a run are estimates (four characters to a
token); a running budget counts what providers state, or an estimate where that cannot be true
(`models.outputs`), and reserves what is under way; a retry is a call, and a useless reply costs.
Trials, cues and contexts share the `Ledger`. It ends a run at a limit, when an answer cannot be
written, when all of a model's first calls fail, and after many errors in a row.
"""

from __future__ import annotations

import errno
import json
import logging
import math
import operator
from collections import Counter
from collections.abc import Callable, Hashable, Iterable, Mapping
from dataclasses import dataclass, field
from functools import lru_cache
from importlib import resources
from pathlib import Path
from typing import Any, NamedTuple

import anyio
import polars as pl
import yaml

from clinometer.contracts.catalogue import INSTRUMENTS
from clinometer.errors import ClinometerError, InputError, ModelError, NoAnswerError
from clinometer.models.embedded.pace import expected_seconds
from clinometer.models.fields import as_count
from clinometer.models.hints import hint, is_lasting, is_refused
from clinometer.models.outputs import TokenCounts
from clinometer.models.providers import find_provider
from clinometer.modes import MODES, TEXT
from clinometer.modes.likelihood import ATTRIBUTE
from clinometer.modes.mode import Mode
from clinometer.results.records import Journal

_log = logging.getLogger(__name__)

CHARACTERS_PER_TOKEN = 4.0
#: Chat format and, in JSON or line format, what stands between two words.
TOKENS_PER_PROMPT = 10
TOKENS_PER_PAIR = 4


@dataclass(frozen=True)
class Cost:
    """Estimated cost of asking one model."""

    model: str
    trials: int
    calls: int
    input_tokens: int
    output_tokens: int
    usd: float | None
    """None where the model's price is not known."""
    seconds: float | None = None
    """Time to ask on this machine; known for the embedded model."""

    @property
    def batch_usd(self) -> float | None:
        """Cost in batches; as that of single calls where no discount is stated."""
        share = 1 - find_provider(self.model).batch_discount  # of the price, that is paid
        return None if self.usd is None else self.usd * share

    def limited(self, *, batch: bool) -> float:
        """Return the dollars that count towards a limit; raises InputError if no price is known."""
        usd = self.batch_usd if batch else self.usd
        if usd is None:
            raise InputError(
                f"max_cost: the price of {self.model!r} is not known; give it with --prices"
            )
        return usd

    @classmethod
    def from_tokens(
        cls,
        model: str,
        counts: tuple[int, int],
        tokens: tuple[int, int],
        prices: Path | None = None,
    ) -> Cost:
        """Price an estimate: trials and calls, tokens in and out; see `price`."""
        trials, calls = counts
        input_tokens, output_tokens = tokens
        rates = price(model, prices)
        usd = None if rates is None else dollars(tokens, rates)
        embedded = find_provider(model).embedded
        seconds = expected_seconds(input_tokens, output_tokens) if embedded else None
        return cls(model, trials, calls, input_tokens, output_tokens, usd, seconds)


@dataclass
class Budget:
    """Limits of a run, what all its sessions have used of them, and what is under way."""

    max_calls: int | None = None
    max_tokens: int | None = None
    max_cost: float | None = None
    calls: int = 0
    tokens: int = 0
    usd: float = 0.0
    reserved: Counter[str] = field(default_factory=Counter)
    """What is reserved for calls under way: their number, tokens and dollars."""

    def __post_init__(self) -> None:
        """Refuse limits that are no numbers from 0 on."""
        for name in ("max_calls", "max_tokens", "max_cost"):
            value = getattr(self, name)
            if value is not None and not (math.isfinite(value) and value >= 0):
                raise InputError(f"{name} {value}: at least 0")

    @property
    def counts_usage(self) -> bool:
        """Whether tokens or dollars are limited."""
        return self.max_tokens is not None or self.max_cost is not None

    def exhausted(self, calls: int = 1, usage: Usage = (0.0, 0.0)) -> str | None:
        """Name the limit that `calls` more calls would pass, with what is under way."""
        if self.max_calls is not None and self.calls + calls > self.max_calls:
            return f"--max-calls {self.max_calls}"
        tokens, usd = usage
        limits = (
            ("--max-tokens", self.max_tokens, self.tokens, self.reserved["tokens"], tokens),
            ("--max-cost", self.max_cost, self.usd, self.reserved["usd"], usd),
        )
        for option, most, used, reserved, more in limits:
            sum_of_all = used + reserved + (more if math.isfinite(more) else 0.0)
            # Of the first call nothing is known: it is made if nothing else is under way.
            waits = not math.isfinite(more) and self.reserved["calls"] > 0
            if most is not None and (used >= most or sum_of_all > most or waits):
                return f"{option} {most}"
        return None

    def reserve(self, calls: int, usage: Usage, sign: int = 1) -> None:
        """Reserve what calls may use, or free it with sign −1."""
        self.reserved["calls"] += sign * calls
        for name, more in zip(("tokens", "usd"), usage, strict=True):
            self.reserved[name] += sign * more  # type: ignore[assignment]

    def spend(self, used: tuple[int, int], rates: tuple[float, float] | None) -> None:
        """Count tokens in and out and what they cost."""
        self.tokens += sum(used)
        self.usd += dollars(used, rates)


#: Tokens and dollars of a call.
Usage = tuple[float, float]


def dollars(tokens: tuple[float, float], rates: tuple[float, float] | None) -> float:
    """Return what tokens in and out cost; 0 where the price is not known."""
    return 0.0 if rates is None else sum(map(operator.mul, tokens, rates)) / 1e6


def price(model: str, prices: Path | None = None) -> tuple[float, float] | None:
    """Input and output price of a model in US dollars per million tokens.

    `prices` is a YAML file of ``model: [input, output]``; None for the shipped list. ``(0, 0)`` for
    models on one's own machine; None where the price is not known.
    """
    if find_provider(model).local:
        return 0.0, 0.0
    table = _prices(prices)
    # A dated version has the price of its model: "gpt-4o-2024-08-06" that of "gpt-4o".
    matches = [name for name in table if model == name or model.startswith(f"{name}-20")]
    return table[max(matches, key=len)] if matches else None


@lru_cache(maxsize=8)
def _prices(path: Path | None) -> dict[str, tuple[float, float]]:
    source = path or resources.files("clinometer.asking") / "prices.yaml"
    try:
        content = yaml.safe_load(source.read_text(encoding="utf-8"))
        table = {str(model): (float(pair[0]), float(pair[1])) for model, pair in content.items()}
    except FileNotFoundError:
        raise InputError(f"{path}: no such file") from None
    except (yaml.YAMLError, TypeError, ValueError, AttributeError, LookupError, RecursionError):
        raise InputError(f"{path}: expected lines of 'model: [input, output]' in dollars") from None
    for model, rates in table.items():
        if not all(math.isfinite(rate) and rate >= 0 for rate in rates):
            raise InputError(f"{path}: {model}: {list(rates)}; a price is a number from 0 on")
    return table


def estimate_costs(
    trials: Iterable[pl.DataFrame], models: Iterable[str], prices: Path | None = None
) -> list[Cost]:
    """Estimate calls, tokens and dollars of asking each model some trials; see `price`.

    `trials` are pieces of a table with columns of `results.TRIALS`.
    """
    many_ends = {model: find_provider(model).many_ends for model in models}
    count = 0
    # Calls, tokens in and tokens out; the same for all models that score sentences alike.
    sums = dict.fromkeys(many_ends.values(), (0.0, 0.0, 0.0))
    for piece in trials:
        count += piece.height
        for scored_at_once, (calls, input_tokens, output_tokens) in sums.items():
            more_calls, more_input, more_output = _tokens(piece, scored_at_once)
            sums[scored_at_once] = (
                calls + more_calls,
                input_tokens + more_input,
                output_tokens + more_output,
            )
    costs = []
    for model, scored_at_once in many_ends.items():
        calls, input_tokens, output_tokens = sums[scored_at_once]
        tokens = math.ceil(input_tokens), math.ceil(output_tokens)
        costs.append(Cost.from_tokens(model, (count, math.ceil(calls)), tokens, prices))
    return costs


def _tokens(trials: pl.DataFrame, scored_at_once: bool) -> tuple[float, float, float]:
    """Estimate the calls of some trials, and tokens in and out.

    `scored_at_once`: the ends of a sentence take one call, and its beginning is read once.
    """
    words = pl.col("attributes").list.len()
    per_attribute = _in_modes(lambda mode: mode.per_attribute)
    sentences = _in_modes(lambda mode: mode.sentences)
    has_blank = pl.col("prompt").str.contains(ATTRIBUTE, literal=True)  # else of one beginning
    ends = pl.col("options").list.len().fill_null(2) * words
    texts = pl.when(has_blank).then(2).otherwise(1) if scored_at_once else ends
    questions = pl.when(sentences).then(texts).when(per_attribute).then(words).otherwise(1)
    # The steps of an episode, whose prompts grow: on average by half of what they are at the end.
    steps = pl.col("steps").fill_null(1)
    step_tokens = {name: asks.episode.tokens for name, asks in INSTRUMENTS.items() if asks.episode}
    grown = _per_instrument(step_tokens) * (steps - 1) / 2
    pair = pl.col("marginalized").str.len_chars() / CHARACTERS_PER_TOKEN + TOKENS_PER_PAIR
    answer = pl.col("attributes").list.join(" ").str.len_chars() / CHARACTERS_PER_TOKEN
    prompt = pl.col("prompt").str.len_chars() / CHARACTERS_PER_TOKEN + TOKENS_PER_PROMPT
    second_turns = pl.col("followup").is_not_null().cast(pl.Int64)
    prose_of_answer = {asks.name: asks.prose for asks in INSTRUMENTS.values()}
    prose_of_profile = {asks.name: asks.first_answer for asks in INSTRUMENTS.values()}
    prose = (
        _per_instrument(prose_of_answer) * _in_modes(lambda mode: mode.kind == TEXT)
        + _per_instrument(prose_of_profile) * second_turns
    )
    followup = pl.col("followup").str.len_chars().fill_null(0) / CHARACTERS_PER_TOKEN
    # A second turn sends the first one again, with what was answered.
    second = second_turns * (prompt + prose + followup)
    listed = pl.when(sentences).then(ends).when(per_attribute).then(words)
    calls, input_tokens, output_tokens = trials.select(
        calls=(questions * steps + second_turns).sum(),
        input=((prompt + grown) * questions * steps + second).sum(),
        output=((listed.otherwise(answer + pair * words) + prose) * steps).sum(),
    ).row(0)
    return calls, input_tokens, output_tokens


def _in_modes(has: Callable[[Mode], bool]) -> pl.Expr:
    """Return whether a trial is asked in a mode that has a property."""
    return pl.col("mode").is_in([mode.name for mode in MODES.values() if has(mode)])


def estimate_requests(
    model: str, lines: Iterable[bytes], output: float, prices: Path | None = None
) -> Cost:
    """Estimate the cost of requests in lines of a batch; `output`: tokens of a call's answer."""
    calls = characters = 0
    for line in lines:
        body = json.loads(line)["body"]
        calls += 1
        characters += sum(len(message["content"]) for message in body["messages"])
        characters += len(json.dumps(body.get("response_format") or ""))
    input_tokens = characters / CHARACTERS_PER_TOKEN + calls * TOKENS_PER_PROMPT
    tokens = math.ceil(input_tokens), math.ceil(calls * output)
    return Cost.from_tokens(model, (calls, calls), tokens, prices)


def _per_instrument(tokens: dict[str, int]) -> pl.Expr:
    return pl.col("instrument").replace_strict(tokens, default=0, return_dtype=pl.Int64)


class _Reservation(NamedTuple):
    """What is reserved for a call under way."""

    calls: int = 0
    usage: Usage = (0.0, 0.0)

    def extended(self, calls: int, usage: Usage) -> _Reservation:
        """Return it with further calls, or with more tokens and dollars."""
        sums = self.usage[0] + usage[0], self.usage[1] + usage[1]
        return _Reservation(self.calls + calls, sums)


def usage_of(answer: Mapping[str, Any]) -> TokenCounts:
    """Return the tokens of an answer that count: those stated, and those estimated beyond them."""
    prompt = as_count(answer.get("input_tokens")) or 0
    completion = as_count(answer.get("output_tokens")) or 0
    beyond_prompt, beyond_completion = answer.get("estimated_tokens") or (0, 0)
    return TokenCounts(prompt + beyond_prompt, completion + beyond_completion)


#: Errors with no answer before them, and errors in a row, after which a model is given up.
#: inspect has tried each of them several times by then.
HOPELESS, OUTAGE = 20, 200

#: Seconds between two looks at what is under way, where a limit is near.
WAIT_S = 0.02


class Ledger:
    """Counts one model's calls, answers and errors, and decides whether it may be asked again.

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
        self.journal = journal
        self.budget = budget
        self.rates = rates
        self.hopeless, self.outage = patience
        self.calls = self.answers = self.errors = self.errors_in_a_row = 0
        self.last_error: str | None = None
        self.stopped_by: str | None = None
        """The limit that ended the run early, or ``"interrupted"``."""
        self.fatal: ClinometerError | None = None
        self._most_of_call: Usage = (math.inf, math.inf)  # so far; infinite before the first answer
        self._requests_of_call = 1  # that of the last line, and what all its lines used so far
        self._usage_of_call: Usage = (0.0, 0.0)
        self._reservations: dict[Hashable, _Reservation] = {}
        self._served: str | None = None  # the name under which the last answer came

    @property
    def closed(self) -> bool:
        """Whether the model is asked no more."""
        return self.fatal is not None or self.stopped_by is not None

    def replay(self, answer: dict[str, Any]) -> None:
        """Count an answer of an earlier session against the budget."""
        self.budget.calls += answer.get("calls", 1) + answer.get("retries", 0)
        self._spend(answer)
        self._served = answer.get("served") or self._served

    def _spend(self, answer: dict[str, Any]) -> None:
        """Count what an answer used; an error has what the replies took that it cost."""
        if answer.get("summed"):  # of its steps, which were counted
            return
        used = usage_of(answer)
        rates = self._rates_of(answer)
        self.budget.spend(used, rates)
        requests = answer.get("calls", 1) + answer.get("retries", 0)
        if requests:  # else it is a further line of the same call
            self._requests_of_call = requests
            self._usage_of_call = (0.0, 0.0)
        tokens = self._usage_of_call[0] + sum(used)
        usd = self._usage_of_call[1] + dollars(used, rates)
        self._usage_of_call = tokens, usd
        if tokens:
            before = self._most_of_call if math.isfinite(self._most_of_call[0]) else (0.0, 0.0)
            self._most_of_call = (
                max(before[0], tokens / self._requests_of_call),
                max(before[1], usd / self._requests_of_call),
            )

    def _rates_of(self, answer: dict[str, Any]) -> tuple[float, float] | None:
        """Return the rates of an answer, which are lower in a batch."""
        if self.rates is None or not answer.get("batch"):
            return self.rates
        share = 1 - find_provider(self.journal.model).batch_discount
        return share * self.rates[0], share * self.rates[1]

    async def may_call(self, calls: int = 1, key: Hashable = None) -> bool:
        """Reserve calls; False when the model is asked no more.

        With a limit of tokens or dollars, each call is taken to use as much as the largest so far.
        Where what is under way may reach the limit it is waited for; so the first call is made
        alone. `key` names what is asked about, for `record`.
        """
        usage = (0.0, 0.0)
        while not self.closed:
            if self.budget.counts_usage:
                tokens, usd = self._most_of_call
                usage = tokens * calls, usd * calls
            limit = self.budget.exhausted(calls, usage)
            if limit is None:
                self.budget.calls += calls
                # Of the first call nothing is known, so that nothing can be reserved for it.
                self._extend(key, calls, usage if math.isfinite(sum(usage)) else (0.0, 0.0))
                return True
            # With nothing under way the limit stays reached; a limit of calls always does.
            if limit.startswith("--max-calls") or not self.budget.reserved["calls"]:
                self.stopped_by = limit
                return False
            await anyio.sleep(WAIT_S)
        return False

    def may_retry(self) -> bool:
        """Count another request for a call; False where the limit of calls is reached."""
        if (limit := self.budget.exhausted()) is not None and limit.startswith("--max-calls"):
            self.stopped_by = self.stopped_by or limit
            return False
        self.budget.calls += 1
        return True

    def bear(self, tokens: TokenCounts, key: Hashable = None) -> bool:
        """Reserve what a useless reply took; False where the limits leave no more for its call.

        It is spent with the answer, or the error, that ends the call: see `record`.
        """
        self._extend(key, 0, (float(sum(tokens)), dollars(tokens, self.rates)))
        limit = self.budget.exhausted(0)
        self.stopped_by = self.stopped_by or limit
        return limit is None

    def _extend(self, key: Hashable, calls: int, usage: Usage) -> None:
        """Reserve more for what is asked about."""
        self.budget.reserve(calls, usage)
        reservation = self._reservations.get(key, _Reservation())
        self._reservations[key] = reservation.extended(calls, usage)

    def record(self, *answers: dict[str, Any], key: Hashable = None) -> bool:
        """Keep the answers or errors of a call; tell whether they were written."""
        reservation = self._reservations.pop(key, _Reservation())
        self.budget.reserve(reservation.calls, reservation.usage, -1)
        try:
            self.journal.append(*answers)
        except OSError as error:
            full = error.errno in (errno.ENOSPC, errno.EDQUOT)
            reason = "disk full" if full else error.strerror
            self.fatal = InputError(
                f"{self.journal.folder}: {reason}; make room and repeat the command to continue"
            )
            return False
        for answer in answers:
            self.calls += answer.get("calls", 1)
            self._spend(answer)
            self._warn_of_other_model(answer)
        if (text := answers[0].get("error")) is not None:
            self._count_error(text)
        else:
            self.answers += len(answers)
            self.errors_in_a_row = 0
        return True

    def _warn_of_other_model(self, answer: Mapping[str, Any]) -> None:
        """Say that another model answers than before, in this session or an earlier one."""
        now = answer.get("served") or self._served
        if self._served not in (None, now):
            _log.warning(
                f"{self.journal.model}: answers come from {now} now, and came from {self._served}: "
                "nothing is cleared by answers of two models; ask one of them in another directory"
            )
        self._served = now

    def _count_error(self, error: str) -> None:
        """Count an error; give the model up if nothing was answered before, or for long."""
        self.last_error = error
        self.errors += 1
        self.errors_in_a_row += 1
        if self.fatal is not None:
            return
        # Where a limit was reached, what fails after it says nothing about the model.
        hopeless = self.errors >= self.hopeless and self.stopped_by is None
        if not self.answers and (hopeless or is_lasting(error)):
            calls = f"{self.errors} calls all" if self.errors > 1 else "call"
            advice = hint(self.journal.model, error)
            more = f"\n{advice}" if advice else ""
            # A refused key or a wrong name is an error in the input, a server that is away is none.
            kind = ModelError if is_refused(error) else NoAnswerError
            self.fatal = kind(f"{self.journal.model}: the first {calls} failed: {error}{more}")
        elif self.errors_in_a_row >= self.outage:
            self.fatal = NoAnswerError(
                f"{self.journal.model}: {self.errors_in_a_row} calls in a row failed: {error}; "
                "repeat the command to continue, nothing is asked twice"
            )


def raise_fatal(ledgers: Iterable[Ledger]) -> None:
    """Raise why models were given up, if that is all of them, or concerns all of them.

    A ModelError concerns its own model alone; an answer that cannot be written, every one.
    """
    errors = [ledger.fatal for ledger in ledgers]
    for error in errors:
        if error is not None and (all(errors) or not isinstance(error, ModelError)):
            raise error
