"""Options of several commands, and the objects built from them."""

from __future__ import annotations

import os
from collections.abc import Callable, Collection, Sequence
from dataclasses import fields
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from clinometer.audits import SIZES
from clinometer.cli.output import remark
from clinometer.errors import InputError
from clinometer.models.providers import check_model_name, check_provider
from clinometer.modes import MODES

if TYPE_CHECKING:
    from clinometer.asking.budget import Budget
    from clinometer.asking.plan import Plan
    from clinometer.audits.recording import Recording
    from clinometer.models.opening import Connection


#: An option, or several, as a decorator of a command.
Option = Callable[[Callable[..., Any]], Callable[..., Any]]


class _Path(click.Path):
    """A path, or an address, of which a copy on this machine is used until the command ends."""

    def convert(self, value: Any, param: Any, ctx: Any) -> Any:
        """Return the path; raise InputError where an address cannot be read."""
        from clinometer.results.places import is_elsewhere, open_place

        if is_elsewhere(value):
            # A resource of the command: what was written to a copy is brought back at its end.
            value = ctx.with_resource(open_place(value, folder=not self.file_okay))
        return super().convert(value, param, ctx)


class _Out(_Path):
    """A file to write."""


class _Table(_Out):
    """A table to write; an unknown ending is refused before anything is computed."""

    def convert(self, value: Any, param: Any, ctx: Any) -> Any:
        """Return the path; raise InputError for an unknown ending."""
        from clinometer.results.tables import check_ending

        path = Path(str(super().convert(value, param, ctx)))  # of an address: the copy
        check_ending(path)
        return path


class _Command(click.Command):
    """A command that refuses an option given twice, and to write over what it reads."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Parse the arguments; a UsageError says what is wrong with them."""
        # Parsed twice: click keeps only the last of an option, its parser lists them all.
        _, _, order = self.make_parser(ctx).parse_args(args=list(args))
        for param in order:
            once = isinstance(param, click.Option) and not param.multiple and not param.count
            if once and order.count(param) > 1:
                raise click.UsageError(f"{param.opts[-1]}: given {order.count(param)} times")
        remaining = super().parse_args(ctx, args)
        self._check_paths(ctx.params)
        return remaining

    def _check_paths(self, values: dict[str, Any]) -> None:
        """Refuse a file to write that is also read, or written twice."""
        names: dict[str, str] = {}  # path → the option or argument that gives it
        # Files to write last, so that all that are read are known.
        for param in sorted(self.params, key=lambda param: isinstance(param.type, _Out)):
            value = values.get(param.name or "")
            name = param.opts[-1] if isinstance(param, click.Option) else str(param.name).upper()
            for path in value if isinstance(value, tuple) else (value,):
                if isinstance(path, Path) or (isinstance(path, str) and os.path.isfile(path)):
                    real_path = os.path.realpath(path)
                    if isinstance(param.type, _Out) and real_path in names:
                        raise InputError(f"{name} {path}: this is {names[real_path]}, too")
                    names[real_path] = name


command = partial(click.command, cls=_Command)

#: A model that is asked; refused before the commands import what asks it.
MODEL = click.types.FuncParamType(check_provider)

#: A model that others ask.
MODEL_NAME = click.types.FuncParamType(check_model_name)

# What is read, and what is written: a file that is made anew, a directory, a table.
FILE = _Path(path_type=Path)
OUT = _Out(path_type=Path)
NEW = _Out(path_type=Path, dir_okay=False)
FOLDER = _Path(path_type=Path, file_okay=False)
TABLE = _Table(path_type=Path)


def choice(name: str, values: Sequence[str], help: str) -> Option:
    """Make an option with a few allowed values; the first is the default."""
    return click.option(name, type=click.Choice(values), default=values[0], help=help)


def all_options(options: Sequence[Option]) -> Option:
    """Make one decorator of several options, shown in their order."""

    def decorate(command: Callable[..., Any]) -> Callable[..., Any]:
        """Add the options to a command."""
        # Decorators are applied from the last to the first.
        for option in reversed(options):
            command = option(command)
        return command

    return decorate


CONFIDENCE = click.option("--confidence", default=0.95, help="Confidence level of intervals.")
MODEL_SIZES = click.option(
    "--sizes",
    type=FILE,
    help="YAML file of 'model: billions of parameters'; the report then shows bias by model size.",
)
PRICES = click.option(
    "--prices",
    type=FILE,
    help="YAML file of 'model: [input, output]', in dollars per million tokens.",
)
BASE_URL = click.option("--model-base-url", "base_url", help="Base URL of the provider's API.")
SCORING = choice(
    "--scoring",
    ["exact", "published", "emotions"],
    help="published: the rules of the released code, for replication only. emotions: exact, and "
    "the emotions of continuations (bold) are classified.",
)
TEMPERATURE = click.option("--temperature", default=1.0, help="Sampling temperature.")
TOP_P = click.option(
    "--top-p", default=1.0, help="Nucleus sampling: probability mass to sample from."
)


def _split_names(_: click.Context, __: click.Parameter, text: str | None) -> tuple[str, ...]:
    """Split names at commas."""
    return () if text is None else tuple(name.strip() for name in text.split(","))


def _temperatures(
    context: click.Context, option: click.Parameter, text: str
) -> float | tuple[float, ...]:
    """Read a temperature, or several."""
    numbers = _split_names(context, option, text)
    try:
        temperatures = tuple(dict.fromkeys(map(float, numbers)))
    except ValueError:
        raise InputError(f"temperature {text!r}: expected a number, or several as 0,1") from None
    # By what was typed: `0,0` is still a list of conditions.
    return temperatures if len(numbers) > 1 else temperatures[0]


#: What is asked, of which no option has a say in how a model is reached.
_PLAN: list[Option] = [
    click.option("--study", "studies", multiple=True, metavar="NAME|FILE",
                 help="Study; may be repeated.  [default: that of the instrument; audit: set by "
                      "--size]"),
    click.option("--instrument", "instruments", multiple=True, metavar="NAME",
                 help="Instrument; may be repeated; clinometer list names them.  "
                      "[default: word_association; audit: set by --size]"),
    click.option("--stereotypes", metavar="A,B", help="Only these stereotypes.  [default: all]"),
    click.option("--variations", metavar="A,B",
                 help="Only these wordings.  [default: set by the study]"),
    click.option("--iterations", type=int,
                 help="Trials per stereotype and wording.  [default: 50; audit: set by --size]"),
    click.option("--mode", "modes", multiple=True, type=click.Choice([*MODES]),
                 help="Response mode; may be repeated.  [default: free; embedded model: "
                      "structured and forced, in a quick audit only forced]"),
    click.option("--intervention", "interventions", multiple=True, metavar="NAME|NAME=TEXT",
                 help="System prompt to compare with no system prompt; may be repeated. "
                      "'egalitarian' is the prompt of Bai et al. (2025)."),
    choice("--order", ["mirrored", "random"],
           help="Order of the groups. mirrored: each draw in both orders; random: as in the "
                "paper."),
    choice("--word-list", ["plain", "as_released"],
           help="Format of the attributes in the prompt. plain: separated by commas; as_released: "
                "the Python list of the released code."),
    choice("--options", ["words", "labels"],
           help="Forced mode: offer the group words, or the labels A and B."),
    click.option("--seed", default=0,
                 help="Seed of the draws; also of the sampling of local models."),
    click.option("--reasoning-effort", "reasoning_efforts", callback=_split_names, metavar="A,B",
                 help="Reasoning efforts to compare, such as low,high, or numbers of tokens, such "
                      "as 1024,8192; each is asked the same trials.  [default: the provider's]"),
    click.option("--temperature", callback=_temperatures, default="1.0", metavar="T|T,T",
                 help="Sampling temperature; the same trials are asked at each of several."),
    TOP_P,
    click.option("--answer-tokens", type=int,
                 help="Longest answer, in tokens (max_tokens of the provider).  [default: 1024; "
                      "embedded model in closed modes: 48]"),
    click.option("--provider-defaults", is_flag=True,
                 help="Leave temperature, top_p and answer length to the provider."),
    click.option("--controls/--no-controls", default=None,
                 help="Whether the controls of the instruments are asked, too; without them no "
                      "model has no lean found or is not worse.  [default: in an audit where no "
                      "--study is named]"),
    PRICES,
]  # fmt: skip

SIZE = click.option(
    "--size",
    type=click.Choice([*SIZES, "run"]),
    default=SIZES[0],
    help="Of an audit of this size; run: of clinometer run.",
)

POLICY = click.option(
    "--policy",
    type=FILE,
    help="Policy that clinometer gate will judge the run by; stored with the plan before anything "
    "is asked.",
)


COLUMN = click.option(
    "--column",
    "columns",
    multiple=True,
    metavar="NAME=COLUMN",
    help="What a column of recorded answers is called here, such as response=output; may be "
    "repeated.",
)

CONDITION = click.option(
    "--condition",
    "conditions",
    multiple=True,
    metavar="COLUMN",
    help="Column of what recorded answers were asked under, such as a persona: means are taken of "
    "each value; may be repeated. none: no column is one.  [default: a column of at most 10 texts "
    "with 5 answers each]",
)

#: Limits that end a run early.
_LIMITS: list[Option] = [
    click.option("--max-calls", type=int, help="Largest number of model calls."),
    click.option("--max-tokens", type=int,
                 help="Stop when prompts and answers add up to this many tokens."),
]  # fmt: skip

#: How a model is reached, whatever it is asked.
_REACHING: list[Option] = [
    click.option("--max-connections", type=int, help="Largest number of concurrent requests."),
    click.option("--max-retries", default=5, help="Retries after an error of the provider."),
    click.option("--timeout", "timeout_s", default=600,
                 help="Time limit for one answer, in seconds."),
    BASE_URL,
    click.option("-M", "model_args", multiple=True, metavar="NAME=VALUE",
                 help="Argument for the model's provider, as in inspect; may be repeated."),
]  # fmt: skip

_CONNECTION = _LIMITS + _REACHING

BATCH = click.option(
    "--batch",
    is_flag=True,
    help="Ask in batches of the provider, within 24 hours, at half the price of most: anthropic, "
    "google, grok, openai, together.",
)

FROM_ELSEWHERE = click.option(
    "--continue-from-elsewhere",
    "from_elsewhere",
    is_flag=True,
    help="Continue a run whose plan or answers were not all made here, with your key; the results "
    "say so.",
)

#: Of commands that ask models and keep their answers, besides `_CONNECTION`.
_ASKING: list[Option] = [
    click.option("--out", type=FOLDER,
                 help="Results directory; an unfinished run is continued.  "
                      "[default: results/MODEL-SIZE, or results/MODEL-run]"),
    click.option("--grader", type=MODEL, metavar="MODEL",
                 help="Model that reads decisions which the rules cannot read or find "
                      "conflicting."),
    MODEL_SIZES,
    click.option("--max-cost", type=float, help="Stop when this many dollars are spent."),
    BATCH,
    FROM_ELSEWHERE,
]  # fmt: skip


def sampling_options(tokens: int | None, longest: str, seed: str) -> Option:
    """Return the options of sampling answers to prompts that are not trials.

    `tokens` is the default length of an answer; `longest` and `seed` are lines of help.
    """
    length = click.option("--answer-tokens", type=int, default=tokens, help=longest)
    seeding = click.option("--seed", default=0, help=seed)
    return all_options([TEMPERATURE, TOP_P, length, seeding, PRICES, *_CONNECTION])


plan_options = all_options(_PLAN)
asking_options = all_options(_ASKING + _CONNECTION)
connection_options = all_options(_CONNECTION)
reaching_options = all_options(_REACHING)
recording_options = all_options(
    [
        click.option("--study", metavar="NAME|FILE",
                     help="Study of recorded answers (that of the instrument)."),
        click.option("--instrument", metavar="NAME",
                     help="Instrument of recorded answers without such a column "
                     "(word_association)."),
        click.option("--model", metavar="NAME",
                     help="Model of recorded answers without such a column."),
        COLUMN,
        CONDITION,
    ]
)  # fmt: skip


def refuse_unused(used: Collection[str], reason: str) -> None:
    """Refuse the first option on the command line that is none of those used, by their names here.

    Raises click.UsageError, which names the option and says why it has no say.
    """
    context = click.get_current_context()
    for option in context.command.params:
        name = option.name or ""
        typed = context.get_parameter_source(name) is click.core.ParameterSource.COMMANDLINE
        if typed and isinstance(option, click.Option) and name not in used:
            raise click.UsageError(f"{option.opts[0]}: {reason}")


def build_plan(models: tuple[str, ...], options: dict[str, Any], size: str | None = None) -> Plan:
    """Build the plan from the values of `plan_options`; for an audit, with its `size`.

    Says of which models it is not known whether they can be asked in a mode.
    """
    from clinometer.audits import sizes
    from clinometer.modes.needs import unknown_modes

    names = [field.name for field in fields(sizes.PlanOptions)]
    settings = sizes.PlanOptions(**{name: options[name] for name in names if name in options})
    plan = sizes.sized_plan(size, models, settings) if size else sizes.build_plan(models, settings)
    for note in unknown_modes(plan.models, plan.modes):
        remark(note)
    return plan


def build_recording(
    study: str | None,
    instrument: str | None,
    model: str | None,
    columns: Sequence[str],
    conditions: Sequence[str] = (),
) -> Recording:
    """Build what recorded answers leave open from the values of `recording_options`."""
    from clinometer.audits.recording import Recording

    names = {}
    for pair in columns:
        ours, _, theirs = pair.partition("=")
        if not (ours and theirs):
            raise InputError(f"--column {pair!r}: expected NAME=COLUMN")
        names[ours] = theirs
    options = {"study": study, "instrument": instrument, "model": model}
    # Without an option, the default of `Recording`.
    settings = {name: text for name, text in options.items() if text is not None}
    return Recording(columns=names, conditions=conditions, **settings)


def build_budget(options: dict[str, Any], models: Sequence[str] = ()) -> Budget:
    """Build the budget; a limit in dollars needs the price of every model, or one in tokens."""
    from clinometer.asking.budget import Budget, price

    max_cost, max_tokens = options.get("max_cost"), options["max_tokens"]
    for model in () if max_cost is None else models:
        if price(model, options["prices"]) is not None:
            continue
        unpriced = f"max_cost: the price of {model!r} is not known"
        if max_tokens is None:
            raise InputError(f"{unpriced}; give it with --prices, or use --max-tokens")
        remark(f"{unpriced}; --max-tokens {max_tokens} alone limits what it is asked")
    return Budget(options["max_calls"], max_tokens, max_cost)


def build_connection(options: dict[str, Any]) -> Connection:
    """Build the connection from the values of `connection_options`."""
    from clinometer.models.opening import Connection
    from clinometer.secrets import is_secret

    arguments = {}
    for pair in options["model_args"]:
        name, equals, value = pair.partition("=")
        if not equals or not name:
            raise InputError(f"-M {pair!r}: expected NAME=VALUE")
        if is_secret(name):  # the message shows no value
            raise InputError(f"-M {name}=…: give keys in the environment, arguments are logged")
        arguments[name] = value
    names = ("max_connections", "max_retries", "timeout_s", "base_url")
    settings = {name: options[name] for name in names}
    return Connection(**settings, model_args=arguments, batch=options.get("batch", False))
