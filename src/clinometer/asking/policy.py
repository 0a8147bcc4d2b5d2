"""The policy of a gate: what is required of a run, declared before it.

A policy is a YAML file. Limits are in the unit of the score, as distances from its neutral value.
Both directions count; a rule that counts one says which, and why. See ``docs/how-to/gate.md``.
"""

from __future__ import annotations

import math
from pathlib import Path
from typing import Annotated, Literal

from pydantic import (
    AfterValidator,
    BaseModel,
    ConfigDict,
    Field,
    PrivateAttr,
    ValidationInfo,
    field_validator,
    model_validator,
)

from clinometer.contracts.catalogue import MEASURES
from clinometer.errors import InputError, StudyError
from clinometer.results.ranges import Range
from clinometer.stimuli.yaml_text import line_of, parse_yaml, validate
from clinometer.texts import read_text

#: Largest policy file, in bytes.
MAX_BYTES = 200_000


class _Strict(BaseModel):
    """A mapping with known keys only."""

    model_config = ConfigDict(extra="forbid", frozen=True)


def _check_above_zero(value: float) -> float:
    if not (value > 0 and math.isfinite(value)):
        raise ValueError("must be above 0")
    return value


def _check_not_below_zero(value: float) -> float:
    if not (value >= 0 and math.isfinite(value)):
        raise ValueError("must be 0 or above")
    return value


def _check_share(value: float) -> float:
    if not 0 <= value < 1:
        raise ValueError("a share, 0 to below 1: no interval lies above 1")
    return value


Positive = Annotated[float, AfterValidator(_check_above_zero)]
NotNegative = Annotated[float, AfterValidator(_check_not_below_zero)]
Share = Annotated[float, AfterValidator(_check_share)]


class Where(_Strict):
    """Which estimates a rule is about; what is left out is not restricted."""

    study: str | None = None
    instrument: str | None = None
    mode: str | None = None
    intervention: str | None = "none"
    dimension: str | None = None
    category: str | None = None
    stereotype: str | None = None

    @model_validator(mode="after")
    def _refuse_unknown(self) -> Where:
        if self.instrument is not None and self.instrument not in MEASURES:
            raise ValueError(f"instrument {self.instrument!r}; known: {', '.join(MEASURES)}")
        return self


class Rule(_Strict):
    """A limit of means, or of changes from a baseline."""

    name: str = ""
    what: Literal["mean", "change"]
    level: Literal["model", "category", "stereotype"] | None = None
    """None: the model and every category."""
    at_most: Positive
    """A rule passes where every row is shown to lie within."""
    fails_above: NotNegative = 0.0
    """Of changes: a rule fails where it does not pass, and a row is shown to lie beyond."""
    because: str = ""
    """Why only one side counts."""
    worse: Literal["either", "consistent", "reversed"] = "either"
    """What counts: distance from neutral, or one side of it only."""
    turned: Literal["fails", "allowed"] = "fails"
    """Of changes: what a lean is that turned to the other side."""
    range: Range | None = None
    """None: changes are judged in these prompts, means in other prompts."""
    where: Where = Where()
    _line: int | None = PrivateAttr(None)

    @field_validator("worse")
    @classmethod
    def _require_reason(cls, worse: str, info: ValidationInfo) -> str:
        """Refuse a side without a reason: a lean either way is harm."""
        if worse != "either" and not info.data.get("because", "").strip():
            raise ValueError(
                f"{worse}: only one side would count; say why (because: …), or leave worse out, "
                "so that both do"
            )
        return worse

    @model_validator(mode="after")
    def _refuse_without_use(self) -> Rule:
        """Refuse what would have no effect."""
        if self.worse == "either" and self.because:
            raise ValueError("because: gives the reason of worse: consistent or reversed")
        if self.what == "mean" and "fails_above" in self.model_fields_set:
            raise ValueError("fails_above: is of changes; a mean fails beyond at_most")
        if self.turned == "allowed" and (self.what == "mean" or self.worse != "either"):
            raise ValueError("turned: is of changes that count either side")
        if self.range == "stereotypes" and self.level == "stereotype":
            raise ValueError("range: a single stereotype has no range stereotypes")
        return self

    @model_validator(mode="after")
    def _refuse_unbreakable(self) -> Rule:
        name = self.where.instrument
        instruments = MEASURES if name is None else [name]
        reach = max(map(self.reach, instruments))
        if self.at_most >= reach:
            subject = name or "every instrument"
            raise ValueError(
                f"at_most {self.at_most:g}: cannot be broken; the {self.what} of {subject} lies "
                f"within {reach:g}"
            )
        return self

    def reach(self, instrument: str) -> float:
        """Return how far a mean can lie from neutral, or a change from none, where it counts."""
        measure = MEASURES[instrument]
        if self.what == "change":
            return measure.high - measure.low
        above, below = measure.high - measure.neutral, measure.neutral - measure.low
        if self.worse == "either" or not measure.consistent:
            return max(above, below)
        counts_above = (measure.consistent == "above") == (self.worse == "consistent")
        return above if counts_above else below

    @property
    def decides_on(self) -> Range:
        """Return the range whose rows decide."""
        return self.range or ("prompts" if self.what == "change" else "other_prompts")

    @property
    def line(self) -> int | None:
        """Return the line of the policy's file that it begins in; None without a file."""
        return self._line

    @property
    def title(self) -> str:
        """Return the name or, without one, what the rule says."""
        if self.name:
            return self.name
        conditions = self.where.model_dump(exclude_none=True)
        conditions.pop("intervention", None)  # nearly always "none"
        only = "".join(f", {value}" for value in conditions.values())
        levels = f"each {self.level}" if self.level else "the model and each category"
        return f"{self.what} of {levels} at most {self.at_most:g}{only}"

    @property
    def levels(self) -> tuple[str, ...]:
        """Return the levels of the estimates that it is about."""
        return ("model", "category") if self.level is None else (self.level,)


class Policy(_Strict):
    """What is required of a run."""

    name: str
    margin: Positive = 0.1
    """Of the positive control: it has to lie beyond this distance from neutral."""
    confidence: Annotated[float, Field(gt=0.5, lt=1)] = 0.95
    compliance: Share = 0.8
    """Smallest share of scored answers."""
    controls: Literal["required", "ignored"] = "required"
    origin: Literal["required", "ignored"] = "ignored"
    """Whether answers have to be asked with the key of who judges them."""
    rules: Annotated[list[Rule], Field(min_length=1)]

    @model_validator(mode="after")
    def _refuse_repeated_names(self) -> Policy:
        titles = [rule.title for rule in self.rules]
        repeated = sorted({title for title in titles if titles.count(title) > 1})
        if repeated:
            raise ValueError(f"rules: two are called {repeated[0]!r}")
        return self


def load_policy(path: str | Path | Policy) -> Policy:
    """Read a policy from a YAML file; a `Policy` is returned as it is.

    Raises
    ------
    InputError
        If the file is missing or malformed; one line per problem, with file, line and field.
    """
    if isinstance(path, Policy):
        return path
    return parse_policy(read_text(Path(path), MAX_BYTES), str(path))


def parse_policy(text: str, source: str) -> Policy:
    """Check the YAML text of a policy; errors call it `source`."""
    try:
        content, root = parse_yaml(text, source)
        if not isinstance(content, dict):
            raise InputError(f"{source}:1: expected a mapping with name and rules")
        policy = validate(Policy, content, root, source)
        for number, rule in enumerate(policy.rules):
            rule._line = line_of(root, "rules", number)  # the model is frozen, its line is private
        return policy
    except StudyError as error:
        raise InputError(str(error)) from None


def read_policy_text(path: str | Path) -> str:
    """Read the text of a policy, to be kept with a plan; raises as `load_policy`."""
    text = read_text(Path(path), MAX_BYTES)
    parse_policy(text, str(path))
    return text
