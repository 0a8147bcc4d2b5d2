"""The plan of a run or an audit: defaults for options that the user does not set.

Without a named study, an audit asks the studies of the instruments, with their controls. `sizes` of
each instrument says whether a size includes it, with how many trials, and with which wordings and
controls.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from clinometer.asking.plan import Plan, Selection
from clinometer.asking.policy import read_policy_text
from clinometer.errors import InputError
from clinometer.instruments.catalogue import INSTRUMENTS, instrument, offers, select
from clinometer.instruments.instrument import Size
from clinometer.models.opening import Generation
from clinometer.models.providers import find_provider
from clinometer.modes import MODES
from clinometer.modes.needs import refuse_unable
from clinometer.stimuli import Study, find_intervention, load_study

__all__ = ["PlanOptions", "build_plan", "select_study", "sized_plan"]

#: Token limit for the embedded model in closed modes; it tends to write too much.
DESCRIPTION_TOKENS = 48

#: Number of trials if neither the user nor the size sets it, as in the papers.
PAPER_ITERATIONS = 50


@dataclass(frozen=True)
class PlanOptions:
    """Options of a plan; models and size set the rest."""

    studies: Sequence[str] = ()
    """Names or files."""
    instruments: Sequence[str] = ()
    stereotypes: str | None = None
    """Comma-separated; None for all."""
    variations: str | None = None
    iterations: int | None = None
    """Trials per stereotype, dimension and variation."""
    modes: Sequence[str] = ()
    interventions: Sequence[str] = ()
    """``NAME`` or ``NAME=TEXT``."""
    order: str = "mirrored"
    word_list: str = "plain"
    options: str = "words"
    seed: int = 0
    reasoning_efforts: Sequence[str] = ()
    """Levels of `instruments.design.EFFORTS`, or numbers of tokens; each is asked the same trials.
    Empty: the provider's default."""
    temperature: float | Sequence[float] | None = 1.0
    """The same trials are asked at each of several."""
    top_p: float | None = 1.0
    answer_tokens: int | None = None
    provider_defaults: bool = False
    """Leave temperature, top_p and answer length to the provider."""
    controls: bool | None = None
    """Whether an audit of a size also asks the controls of its instruments; None: where no study is
    named."""
    policy: str | Path | None = None
    """File of the policy that `clinometer.comparing.gate` will judge the run by."""


def build_plan(
    models: Sequence[str], options: PlanOptions, asked: Sequence[tuple[str, str]] | None = None
) -> Plan:
    """Make a plan from options.

    `asked` are pairs of instrument and study; None: those of the options, else word association
    with ``bai2025``.
    """
    if asked is None:
        first = next(iter(INSTRUMENTS.values()))
        studies = dict.fromkeys(options.studies or (first.study,))
        names = dict.fromkeys(options.instruments or (first.name,))
        asked = [(study, name) for study in studies for name in names]
    selections = [
        select_study(
            study,
            options.stereotypes,
            _variations(options.variations, study, [n for s, n in asked if s == study], name),
            instrument=name,
        )
        for study, name in asked
    ]
    modes = tuple(dict.fromkeys(options.modes)) or _for_all(_default_modes(models), selections)
    refuse_unable(models, modes, options.reasoning_efforts)
    tokens = options.answer_tokens
    if tokens is None:
        describes = _embedded(models) and all(MODES[mode].closed for mode in modes)
        tokens = DESCRIPTION_TOKENS if describes else 1024
    given = options.temperature
    several = tuple(given) if isinstance(given, Sequence) else ()
    temperature = given if not isinstance(given, Sequence) else several[0] if several else None
    return Plan(
        selections=[_asked_in(modes, part, options) for part in selections],
        temperatures=several,
        efforts=tuple(dict.fromkeys(options.reasoning_efforts)) or (None,),
        interventions=_interventions(selections, options.interventions),
        models=tuple(dict.fromkeys(models)),
        modes=modes,
        iterations=PAPER_ITERATIONS if options.iterations is None else options.iterations,
        order=options.order,
        word_list=options.word_list,
        options=options.options,
        seed=options.seed,
        policy=None if options.policy is None else read_policy_text(options.policy),
        generation=Generation(None, None, None)
        if options.provider_defaults
        else Generation(temperature, options.top_p, tokens),
    )


def _asked_in(modes: Iterable[str], part: Selection, options: PlanOptions) -> Selection:
    """Leave out the variations that none of the modes asks, unless the user named them."""
    if options.variations is not None:
        return part
    asks = instrument(part.instrument).asked_in
    asked = {name for mode in modes for name in asks(mode, part.study, part.variations)}
    fitting = [name for name in part.variations if name in asked]
    return replace(part, variations=fitting or part.variations)


def _embedded(models: Iterable[str]) -> bool:
    return all(find_provider(model).embedded for model in models)


def _default_modes(models: Sequence[str]) -> tuple[str, ...]:
    """Choose the papers' mode; for the embedded model, which follows no instructions, sentences.

    With other models in the plan, the first closed mode that no provider is known to lack.
    """
    if not any(_embedded([model]) for model in models):
        return tuple(MODES)[:1]
    if _embedded(models):
        return tuple(name for name, mode in MODES.items() if mode.sentences)
    closed = [
        name
        for name, mode in MODES.items()
        if mode.closed and all(mode.able(model) is not False for model in models)
    ]
    return tuple(closed[:1]) or tuple(MODES)[:1]


def _for_all(modes: Sequence[str], parts: Sequence[Selection]) -> tuple[str, ...]:
    """Add a mode, best a closed one, for each part of a plan that has none; drop those of none."""
    chosen = [*modes]
    for part in parts:
        able = sorted(part.asked_in(tuple(MODES)), key=lambda mode: not MODES[mode].closed)
        if able and not {*able} & {*chosen}:
            chosen.append(able[0])
    asked = [one for part in parts for one in part.asked_in(chosen)]
    return tuple(mode for mode in chosen if mode in asked)


def _split(named: str | None) -> list[str]:
    return [] if named is None else [name.strip() for name in named.split(",")]


def _variations(
    named: str | None, study: str, instruments: Iterable[str], asked: str
) -> list[str] | None:
    """Keep the named variations that an instrument has, if other instruments have the rest."""
    loaded = load_study(study)
    known = {name: {*instrument(name).variations(loaded)} for name in instruments}
    of_others = set[str]().union(*known.values()) - known[asked]
    return [name for name in _split(named) if name not in of_others] or None


def select_study(
    name: str,
    stereotypes: str | None = None,
    variations: Sequence[str] | None = None,
    iterations: int | None = None,
    instrument: str = next(iter(INSTRUMENTS)),
) -> Selection:
    """Load a study and select the part that is asked with an instrument."""
    study = load_study(name)
    chosen = select(study, instrument, stereotypes, variations)
    return Selection(study, *chosen, iterations, instrument)


def _interventions(selections: Sequence[Selection], named: Iterable[str]) -> dict[str, str | None]:
    """Find the system prompts by name; the run without one is always included as baseline."""
    prompts: dict[str, str | None] = {"none": None}
    for text in named:
        name, prompt = find_intervention([s.study for s in selections], text)
        if prompts.setdefault(name, prompt) != prompt:
            raise InputError(f"intervention {name!r}: two texts have this name; rename one")
    return prompts


def sized_plan(size: str, models: Sequence[str], options: PlanOptions | None = None) -> Plan:
    """Make the plan of an audit; the size fills in what the user left open.

    A study that the options name is asked without the controls, unless they ask for them.

    Examples
    --------
    >>> named = PlanOptions(studies=["mist2025"], instruments=["affective_attribution"])
    >>> plan = sized_plan("quick", ["openai/gpt-4o"], named)
    >>> [(part.instrument, part.iterations) for part in plan.selections]
    [('affective_attribution', 4)]
    """
    options = options or PlanOptions()
    embedded = _embedded(models)
    battery = _battery(size, embedded, options)
    plan = build_plan(models, options, _asked(battery, options))
    parts = [*plan.selections]
    if not options.studies if options.controls is None else options.controls:
        named = {(part.study.name, part.instrument) for part in parts}
        beside = _controls({part.instrument for part in parts}, battery)
        fitting = [
            _asked_in(plan.modes, part, PlanOptions())
            for part in beside
            if part.asked_in(plan.modes)
        ]
        parts += [part for part in fitting if (part.study.name, part.instrument) not in named]
    sized = [_sized(part, battery.get(part.instrument, Size(2)), options) for part in parts]
    return replace(plan, selections=sized, size=size)


def _battery(size: str, embedded: bool, options: PlanOptions) -> dict[str, Size]:
    """Return what a size asks with each instrument."""
    chosen = {}
    for name, one in INSTRUMENTS.items():
        usual = one.sizes.get(size)
        of_size = one.sizes.get(f"{size}, embedded", usual) if embedded else usual
        named = name in options.instruments or one.study in options.studies
        if of_size is not None and (named or not of_size.by_name):
            chosen[name] = of_size
    return chosen


def _asked(battery: Mapping[str, Size], options: PlanOptions) -> list[tuple[str, str]] | None:
    """Return pairs of instrument and study; None if the options name them."""
    if options.studies and options.instruments:
        return None
    named = bool(
        options.studies or options.instruments or options.stereotypes or options.variations
    )
    usual = (one.study for name, one in INSTRUMENTS.items() if name in battery)
    studies = dict.fromkeys(options.studies or usual)
    names = dict.fromkeys(options.instruments or battery)
    offered = [
        (study, name)
        for study in studies
        for name in names
        if name in offers(loaded := load_study(study))
        and (options.studies or _has(loaded, name, options))
        and (named or _tells(battery[name], study))
        and (name in options.instruments or _fits(loaded, name, options.modes))
    ]
    first = tuple(INSTRUMENTS)[:1]
    return offered or [(study, name) for study in studies for name in options.instruments or first]


def _has(study: Study, name: str, options: PlanOptions) -> bool:
    """Return whether a default study has the named stereotypes and variations."""
    stereotypes, variations = _split(options.stereotypes), _split(options.variations)
    wordings = instrument(name).variations(study)
    return {*stereotypes} <= {*study.stereotypes} and (
        not variations or any(one in wordings for one in variations)
    )


def _fits(study: Study, name: str, modes: Sequence[str]) -> bool:
    """Return whether an instrument asks a study in any of the modes that the user named."""
    one = instrument(name)
    return not modes or any(one.asked_in(mode, study, one.variations(study)) for mode in modes)


def _tells(of_size: Size, study: str) -> bool:
    """Return whether a size asks a study where the user names no part of a plan."""
    return of_size.studies is None or study in of_size.studies


def _controls(names: set[str], battery: Mapping[str, Size]) -> list[Selection]:
    """Return the control and the placebo of each instrument, if its size has them."""
    return [
        select_study(study, iterations=iterations, instrument=name)
        for name, of_size in battery.items()
        if name in names
        for study, iterations in (
            (INSTRUMENTS[name].control, of_size.control),
            (INSTRUMENTS[name].placebo, of_size.placebo),
        )
        if iterations is not None
    ]


def _sized(part: Selection, of_size: Size, options: PlanOptions) -> Selection:
    """Fill in number of trials and wordings from a size, unless the user set them."""
    iterations = (options.iterations, part.iterations, of_size.iterations)
    named = options.variations is not None or part.study.name not in of_size.wordings
    return replace(
        part,
        iterations=next(number for number in iterations if number is not None),
        variations=part.variations if named else of_size.wordings[part.study.name],
    )
