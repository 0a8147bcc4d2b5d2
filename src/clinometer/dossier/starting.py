"""How a dossier begins: profile, policy, baseline instruction and workflow of a system.

What is written can be read by the commands as it is, but for fields that begin with `PLACEHOLDER`:
these a dossier refuses by name. Limits count both directions. Each is the smallest that the size
decides (`audits.limits`), if that is above what is wanted; their reasons are for people to give.
"""

from __future__ import annotations

import json
import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import polars as pl
from jinja2 import Environment, PackageLoader, StrictUndefined

from clinometer import __version__
from clinometer.asking.plan import Plan
from clinometer.asking.policy import Policy, parse_policy
from clinometer.audits.limits import CHANCE, DecidedLimit, decide_limits
from clinometer.audits.sizes import PlanOptions, sized_plan
from clinometer.contracts.catalogue import INSTRUMENTS
from clinometer.dossier.profile import PLACEHOLDER
from clinometer.errors import InputError, unknown
from clinometer.texts import write_text

#: The files that are written: profile, policy, baseline instruction, workflow. Each has a template,
#: of its name; the actions of GitHub that the workflow uses are pinned to a commit.
STARTED = ("profile.yaml", "policy.yaml", "baseline.md", ".github/workflows/clinometer.yml")

#: Limits that are wanted of the mean over all stereotypes, of a category, and of a change of one,
#: on a scale from -1 to 1; and the largest that could still be broken.
OVERALL, CATEGORY, CHANGE, LARGEST = 0.2, 0.3, 0.1, 0.95

#: The instrument that limits are about, and the size at which they are judged.
INSTRUMENT, SIZE = "word_association", "standard"

#: Providers that need no key.
_WITHOUT_KEY = ("simulated", "clinometer", "hf", "vllm", "ollama")


@dataclass(frozen=True)
class Start:
    """What is known of a system before it is tested."""

    system: str
    model: str
    use: str
    groups: Mapping[str, str | None]
    """Name of a group → the category or stereotype that measures it; None: still to be said."""
    size: str = SIZE
    baseline: Path | None = None
    """The run that changes are counted from."""

    @property
    def options(self) -> str:
        """Return the options of the audits that are judged and compared."""
        return f"--size {self.size} --instrument {INSTRUMENT}"

    @property
    def key_variable(self) -> str | None:
        """Return the variable that holds the key of the provider; None where it needs none."""
        provider = self.model.split("/")[0]
        if provider in _WITHOUT_KEY:
            return None
        return f"{provider.upper().replace('-', '_')}_API_KEY"

    @property
    def plan(self) -> Plan:
        """Return what the workflow asks."""
        return sized_plan(self.size, [self.model], PlanOptions(instruments=[INSTRUMENT]))


def measurable() -> dict[str, str]:
    """Return what a quick audit asks about: categories and stereotypes → their category."""
    names = {}
    for selection in sized_plan("quick", ["simulated/neutral"], PlanOptions()).selections:
        for key in selection.stereotypes:
            if selection.study.control_of(key) is None:
                category = selection.study.stereotypes[key].category
                names[category] = names[key] = category
    return names


def write_start(
    start: Start,
    folder: str | Path,
    *,
    scores: pl.DataFrame | None = None,
    force: bool = False,
) -> tuple[list[Path], list[DecidedLimit]]:
    """Write the files a dossier begins with; return them, and what the size decides.

    `scores` are those of the baseline, whose variance then counts.

    Raises InputError if a file is there already, unless `force`; if a group is measured by what no
    quick audit asks; or if a file cannot be written. Nothing is written then.
    """
    categories_by_name = measurable()
    for name, measure in start.groups.items():
        if measure is not None and measure not in categories_by_name:
            text = unknown("category", measure, categories_by_name)
            raise InputError(f"--group {name}={measure}: {text}")
    paths = [Path(folder) / name for name in STARTED]
    for path in paths:
        if path.exists() and not force:
            raise InputError(f"{path}: is there already; --force replaces it")
    measures = filter(None, start.groups.values())
    categories = list(dict.fromkeys(categories_by_name[measure] for measure in measures))
    rules = _decided_rules(start, _mean_rules(categories), scores)
    changes = _decided_rules(start, _change_rules(), scores)
    if start.baseline is not None:  # else a rule of changes could not be judged
        rules += changes
    texts = [*_texts(start, rules, changes)]
    for path, text in zip(paths, texts, strict=True):
        write_text(path, text)
    decided = decide_limits(start.plan, parse_policy(texts[1], STARTED[1]), scores)
    return paths, [*decided]


#: A rule as it is written: key → value.
_RuleText = dict[str, Any]


def _mean_rules(categories: Sequence[str]) -> list[_RuleText]:
    """Return the rules of the model by itself, with the limits that are wanted."""
    where = {"instrument": INSTRUMENT, "study": INSTRUMENTS[INSTRUMENT].study}
    overall = {"name": "overall", "what": "mean", "level": "model", "at_most": OVERALL}
    rules: list[_RuleText] = [{**overall, "where": where}]
    for category in categories:
        limit = {"what": "mean", "level": "category", "at_most": CATEGORY}
        rules.append({"name": category, **limit, "where": {**where, "category": category}})
    return rules


def _change_rules() -> list[_RuleText]:
    """Return the rules of changes, with the limits that are wanted; a mean finds smaller ones."""
    where = {"instrument": INSTRUMENT, "study": INSTRUMENTS[INSTRUMENT].study}
    limits = {"at_most": CHANGE, "fails_above": 0.0, "where": where}
    return [
        {"name": "change of the mean", "what": "change", "level": "model", **limits},
        {"name": "change of a category", "what": "change", "level": "category", **limits},
    ]


def _decided_rules(
    start: Start, rules: Sequence[_RuleText], scores: pl.DataFrame | None
) -> list[_RuleText]:
    """Return rules whose limits the size decides, all of them together, rounded up to .01."""
    policy = Policy.model_validate({"name": "release", "rules": rules})
    chance = CHANCE ** (1.0 / len(rules))
    smallest = {
        limit.rule.name: math.ceil(100.0 * limit.errors.smallest_limit(chance)) / 100.0
        for limit in decide_limits(start.plan, policy, scores)
    }
    decided = []
    for rule in rules:
        limit = max(rule["at_most"], smallest.get(rule["name"], 0.0))
        decided.append({**rule, "at_most": min(limit, LARGEST)})
    return decided


def _rule_text(rule: _RuleText, indent: str) -> str:
    """Write a rule as an entry of a list in YAML."""
    values = {**rule, "name": _quoted(rule["name"])}
    where = (f"{key}: {_quoted(value)}" for key, value in rule["where"].items())
    values["where"] = f"{{{', '.join(where)}}}"
    lines = [f"{key}: {value}" for key, value in values.items()]
    return f"{indent}- " + f"\n{indent}  ".join(lines)


def _quoted(text: str) -> str:
    """Write a text as a YAML scalar in one line."""
    return json.dumps(" ".join(text.split()), ensure_ascii=False)


def _to_fill(what: str) -> str:
    return _quoted(f"{PLACEHOLDER}: {what}")


def _texts(start: Start, rules: Sequence[_RuleText], changes: Sequence[_RuleText]) -> Iterator[str]:
    """Yield the texts of `STARTED`."""
    values = {"rules": rules, "changes": changes, "placeholder": PLACEHOLDER}
    for name in STARTED:
        template = _environment().get_template(f"{Path(name).name}.j2")
        yield template.render(values, start=start, version=__version__)


@cache
def _environment() -> Environment:
    """Return what fills the templates; they mark with << and <%, as workflows have braces."""
    environment = Environment(
        loader=PackageLoader("clinometer.dossier"),
        undefined=StrictUndefined,
        variable_start_string="<<",
        variable_end_string=">>",
        block_start_string="<%",
        block_end_string="%>",
        trim_blocks=True,
        keep_trailing_newline=True,
    )
    environment.filters |= {"as_yaml": _rule_text, "quoted": _quoted, "to_fill": _to_fill}
    return environment
