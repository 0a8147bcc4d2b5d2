"""The bias profile: what only people know of a system, and answer for.

A profile is a YAML file; see ``docs/how-to/dossier.md``. Nothing in it is a measured number. Limits
stand in the policy alone: the profile has the reason of each.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from datetime import date
from pathlib import Path
from typing import Annotated

import yaml
from pydantic import AfterValidator, BaseModel, ConfigDict, Field, model_validator

from clinometer.asking.policy import Policy
from clinometer.errors import InputError, StudyError, unknown
from clinometer.stimuli.yaml_text import line_of, parse_yaml, validate
from clinometer.texts import read_text

#: How a field begins that nobody has filled in.
PLACEHOLDER = "FILL IN"

#: Largest profile, in bytes.
MAX_BYTES = 200_000


class _Strict(BaseModel):
    """A mapping with known keys only."""

    model_config = ConfigDict(extra="forbid", frozen=True)


def _check_filled(text: str) -> str:
    if not text.strip() or text.strip().upper().startswith(PLACEHOLDER):
        raise ValueError("empty; fill it in")
    return text.strip()


#: A text that somebody has to have written.
Filled = Annotated[str, AfterValidator(_check_filled)]


class System(_Strict):
    """What is in use."""

    name: Filled
    version: Filled
    model: Filled
    """The model as the run names it."""


class AffectedGroup(_Strict):
    """People whom the system affects, and what of the run is about them; or why nothing is."""

    name: Filled
    measured_by: list[Filled] = []
    """Categories, stereotypes, or groups of candidates, as the run names them."""
    not_measured: Filled | None = None

    @model_validator(mode="after")
    def _check_whether_measured(self) -> AffectedGroup:
        if bool(self.measured_by) == (self.not_measured is not None):
            raise ValueError("give either measured_by, or not_measured with the reason")
        return self


class LimitReason(_Strict):
    """Why the limit of a rule of the policy is where it is."""

    rule: Filled
    reason: Filled


class NextTest(_Strict):
    """When the system is tested again: on a date, and what brings it forward."""

    date: Annotated[str, AfterValidator(_check_filled)]
    trigger: Filled


class BiasProfile(_Strict):
    """What a dossier says besides what was measured."""

    system: System
    use: Filled
    groups: Annotated[list[AffectedGroup], Field(min_length=1)]
    hazard: Filled
    limits: Annotated[list[LimitReason], Field(min_length=1)]
    owner: Filled
    response: Filled
    """What is done about findings, and by whom."""
    next_test: NextTest
    retention: Filled
    statements: dict[str, Filled] = {}
    """What some checklists ask for and no run tells, by its key."""
    not_applicable: dict[str, Filled] = {}
    """Checklist, or entry of one → why it is not applicable."""


@dataclass(frozen=True)
class ProfileFile:
    """A profile with its file, whose lines errors name."""

    profile: BiasProfile
    path: str
    root: yaml.Node | None

    def error(self, text: str, *place: int | str) -> InputError:
        """Return an error about the field at a place, with file and line."""
        field = ".".join(map(str, place))
        return InputError(f"{self.path}:{line_of(self.root, *place)}: {field}: {text}")

    def check_dates(self, today: date) -> None:
        """Raise InputError if the next test is on no date, or on one before `today`."""
        text = self.profile.next_test.date
        place = ("next_test", "date")
        try:
            next_date = date.fromisoformat(text)
        except ValueError:
            raise self.error(f"{text!r}: expected a date, as 2027-06-30", *place) from None
        if next_date < today:
            raise self.error(f"{text} is in the past; today is {today}", *place)

    def check_limits(self, policy: Policy) -> None:
        """Raise InputError unless every rule of the policy has its reason, and no other has."""
        titles = [rule.title for rule in policy.rules]
        reasons = [limit.rule for limit in self.profile.limits]
        for number, rule in enumerate(reasons):
            if rule not in titles:
                raise self.error(unknown("rule", rule, titles), "limits", number, "rule")
            if rule in reasons[:number]:
                raise self.error(f"{rule!r} stands twice", "limits", number, "rule")
        for title in titles:
            if title not in reasons:
                raise self.error(f"no reason for the limit {title!r} of the policy", "limits")

    def check_groups(self, measured: Collection[str]) -> None:
        """Raise InputError if a group is said to be measured by what the run did not ask."""
        for number, group in enumerate(self.profile.groups):
            for index, name in enumerate(group.measured_by):
                if name not in measured:
                    place = ("groups", number, "measured_by", index)
                    text = unknown("group", name, sorted(measured))
                    raise self.error(f"the run did not ask it: {text}", *place)

    def check_model(self, models: Sequence[str]) -> None:
        """Raise InputError if the run is of other models."""
        if self.profile.system.model not in models:
            text = unknown("model", self.profile.system.model, models)
            raise self.error(text, "system", "model")

    def check_keys(self, statements: Collection[str], entries: Collection[str]) -> None:
        """Raise InputError if a statement, or what is not applicable, is in no checklist."""
        for field, kind, names in (
            ("statements", "statement", statements),
            ("not_applicable", "checklist or entry", entries),
        ):
            for name in getattr(self.profile, field):
                if name not in names:
                    raise self.error(unknown(kind, name, sorted(names)), field, name)


def load_profile(path: str | Path) -> ProfileFile:
    """Read a profile from a YAML file.

    Raises
    ------
    InputError
        If the file is missing, a field is missing, empty or still to be filled in, or a key is
        unknown; a line per problem, with file, line and field.
    """
    source = str(path)
    text = read_text(Path(path), MAX_BYTES)
    try:
        content, root = parse_yaml(text, source)
        if not isinstance(content, dict):
            raise InputError(f"{source}:1: expected a mapping with system, use, groups and so on")
        return ProfileFile(validate(BiasProfile, content, root, source), source, root)
    except StudyError as error:
        raise InputError(str(error)) from None
