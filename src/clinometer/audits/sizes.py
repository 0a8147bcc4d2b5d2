"""The plan of a run or an audit: defaults for options that the user does not set.

Without a named study, an audit asks the studies of the instruments, with their controls. `sizes` of
each instrument says whether a size includes it, with how many trials, and with which wordings and
controls.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Literal, NamedTuple

from clinometer.asking.plan import Plan, Selection
from clinometer.asking.policy import read_policy_text
from clinometer.asking.stages import LOOKS
from clinometer.audits.single_words import (
    ask_single_words_again,
    control_variations,
    controls_needed,
)
from clinometer.contracts.catalogue import INSTRUMENTS, instrument, offers, select
from clinometer.contracts.instrument import Size, Turns
from clinometer.errors import InputError, as_names
from clinometer.models.opening import Generation
from clinometer.models.providers import find_provider
from clinometer.modes import MODES
from clinometer.modes.needs import refuse_unable
from clinometer.stimuli import Study, find_intervention, load_study

#: Token limit for the embedded model in closed modes; it tends to write too much.
DESCRIPTION_TOKENS = 48

#: Number of trials if neither the user nor the size sets it, as in the papers.
PAPER_ITERATIONS = 50

#: Windows of the wordings that take turns.
_WINDOWS = 4

#: Times the trials of a size that an audit asks at most which ends where it is decided.
TIMES_MORE = 4


@dataclass(frozen=True)
class PlanOptions:
    """Options of a plan; models and size set the rest."""

    studies: Sequence[str] = ()
    """Names or files."""
    instruments: Sequence[str] = ()
    stereotypes: str | Sequence[str] | None = None
    """A list, or comma-separated; None for all."""
    variations: str | Sequence[str] | None = None
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
    """Levels of `contracts.design.EFFORTS`, or numbers of tokens; each is asked the same trials.
    Empty: the provider's default."""
    temperature: float | Sequence[float] | None = 1.0
    """The same trials are asked at each of several."""
    top_p: float | None = 1.0
    answer_tokens: int | None = None
    provider_defaults: bool = False
    """Leave temperature, top_p and answer length to the provider."""
    controls: bool | None = None
    """Whether the controls of the instruments are asked, too; None: in an audit of a size where no
    study is named."""
    policy: str | Path | None = None
    """File of the policy that `clinometer.comparing.gate` will judge the run by."""
    until: Literal["decided"] | None = None
    """Whether an audit of a size ends where it is decided (`audits.deciding`), with up to
    `TIMES_MORE` times the trials of the size; None: it asks those of the size."""

    def __post_init__(self) -> None:
        """Refuse another end."""
        if self.until not in (None, "decided"):
            raise InputError(f"until {self.until!r}: allowed is 'decided'")


def build_plan(
    models: Sequence[str], options: PlanOptions, pairs: Sequence[tuple[str, str]] | None = None
) -> Plan:
    """Make a plan from options.

    `pairs` are of study and instrument; None: those of the options, where an instrument without a
    study has its own (`Instrument.study`), else ``bai2025`` with word association.
    """
    if pairs is None:
        pairs = _plan_pairs(options)
    selections = []
    for study, name in pairs:
        instruments = [pair[1] for pair in pairs if pair[0] == study]
        variations = _variations(options.variations, study, instruments, name)
        selections.append(select_study(study, options.stereotypes, variations, instrument=name))
    modes = tuple(dict.fromkeys(options.modes)) or _add_modes(_default_modes(models), selections)
    refuse_unable(models, modes, options.reasoning_efforts)
    parts = [_with_mode_variations(part, modes, options) for part in selections]
    iterations = PAPER_ITERATIONS if options.iterations is None else options.iterations
    if options.controls:
        parts = _add_controls(parts, modes, _controls_of([name for _, name in pairs]))
        parts = ask_single_words_again(parts, {name for _, name in pairs}, iterations)
    several = options.temperature if isinstance(options.temperature, Sequence) else ()
    return Plan(
        selections=parts,
        temperatures=tuple(several),
        efforts=tuple(dict.fromkeys(options.reasoning_efforts)) or (None,),
        interventions=_interventions(selections, options.interventions),
        models=tuple(dict.fromkeys(models)),
        modes=modes,
        iterations=iterations,
        order=options.order,
        word_list=options.word_list,
        options=options.options,
        seed=options.seed,
        policy=None if options.policy is None else read_policy_text(options.policy),
        generation=_generation(models, modes, options),
    )


def _plan_pairs(options: PlanOptions) -> list[tuple[str, str]]:
    """Return each named study with each named instrument; without studies, those of instruments.

    Of these the ones without a named stereotype are left out, unless all are.
    """
    names = dict.fromkeys(options.instruments or tuple(INSTRUMENTS)[:1])
    if options.studies:
        return [(study, name) for study in dict.fromkeys(options.studies) for name in names]
    stereotypes = _split("stereotype", options.stereotypes)
    pairs = [(instrument(name).study, name) for name in names]
    fitting = []
    for study, name in pairs:
        if load_study(study).stereotypes.keys() >= {*stereotypes}:
            fitting.append((study, name))
    return fitting or pairs


def _generation(models: Sequence[str], modes: Iterable[str], options: PlanOptions) -> Generation:
    """Return how answers are sampled; of several temperatures, which trials state, the first."""
    if options.provider_defaults:
        return Generation(None, None, None)
    temperature = options.temperature
    if isinstance(temperature, Sequence):
        temperature = next(iter(temperature), None)
    return Generation(temperature, options.top_p, _answer_tokens(models, modes, options))


def _answer_tokens(models: Sequence[str], modes: Iterable[str], options: PlanOptions) -> int:
    """Return the longest answer: as the user set it, else by models and modes."""
    if options.answer_tokens is not None:
        return options.answer_tokens
    describes = _all_embedded(models) and all(MODES[mode].closed for mode in modes)
    return DESCRIPTION_TOKENS if describes else 1024


def _with_mode_variations(part: Selection, modes: Iterable[str], options: PlanOptions) -> Selection:
    """Leave out the variations that none of the modes asks, unless the user named them."""
    if options.variations is not None:
        return part
    names: set[str] = set()
    for mode in modes:
        names.update(instrument(part.instrument).variations_in(mode, part.study, part.variations))
    fitting = [name for name in part.variations if name in names]
    # None fits: the plan keeps them all, and refuses the mode with its own message.
    return replace(part, variations=fitting or part.variations)


def _all_embedded(models: Iterable[str]) -> bool:
    return all(find_provider(model).embedded for model in models)


def _default_modes(models: Sequence[str]) -> tuple[str, ...]:
    """Choose the papers' mode; for the embedded model, which follows no instructions, sentences.

    With other models in the plan, the first closed mode that no provider is known to lack.
    """
    if not any(_all_embedded([model]) for model in models):
        return tuple(MODES)[:1]
    if _all_embedded(models):
        return tuple(name for name, mode in MODES.items() if mode.sentences)
    for name, mode in MODES.items():
        lacking = any(mode.able(model) is False for model in models)  # None: not known
        if mode.closed and not lacking:
            return (name,)
    return tuple(MODES)[:1]


def _add_modes(modes: Sequence[str], parts: Sequence[Selection]) -> tuple[str, ...]:
    """Add a mode, best a closed one, for each part of a plan that has none; drop those of none."""
    candidates = [*modes]
    for part in parts:
        # `sorted` is stable: closed modes first, each kind in the order of `MODES`.
        able = sorted(part.fitting_modes(tuple(MODES)), key=lambda mode: not MODES[mode].closed)
        if able and not {*able} & {*candidates}:
            candidates.append(able[0])
    used_modes: set[str] = set()
    for part in parts:
        used_modes.update(part.fitting_modes(candidates))
    return tuple(mode for mode in candidates if mode in used_modes)


def _split(kind: str, names: str | Sequence[str] | None) -> list[str]:
    """Return the names of a list or of comma-separated text; `kind` is what they are of."""
    if names is None:
        return []
    listed = names.split(",") if isinstance(names, str) else as_names(kind, names)
    return [name.strip() for name in listed]


def _variations(
    names: str | Sequence[str] | None, study: str, instruments: Iterable[str], instrument_name: str
) -> list[str] | None:
    """Keep the named variations that an instrument has, if other instruments have the rest.

    A name that no instrument has is kept, so that it is refused.
    """
    loaded = load_study(study)
    foreign: set[str] = set()
    for name in instruments:
        foreign.update(instrument(name).variations(loaded))
    foreign -= {*instrument(instrument_name).variations(loaded)}
    return [name for name in _split("variation", names) if name not in foreign] or None


def select_study(
    name: str,
    stereotypes: str | Sequence[str] | None = None,
    variations: Sequence[str] | None = None,
    iterations: int | None = None,
    instrument: str = next(iter(INSTRUMENTS)),
) -> Selection:
    """Load a study and select the part that is asked with an instrument."""
    study = load_study(name)
    keys, wordings = select(study, instrument, stereotypes, variations)
    return Selection(study, keys, wordings, iterations, instrument)


def _interventions(selections: Sequence[Selection], texts: Iterable[str]) -> dict[str, str | None]:
    """Find the system prompts by name; the run without one is always included as baseline."""
    prompts: dict[str, str | None] = {"none": None}
    for text in texts:
        name, prompt = find_intervention([part.study for part in selections], text)
        if prompts.setdefault(name, prompt) != prompt:
            raise InputError(f"intervention {name!r}: two texts have this name; rename one")
    return prompts


def sized_plan(size: str, models: Sequence[str], options: PlanOptions | None = None) -> Plan:
    """Make the plan of an audit; the size fills in what the user left open.

    A study that the options name is asked without the controls, unless they ask for them.

    Examples
    --------
    >>> options = PlanOptions(studies=["mist2025"], instruments=["affective_attribution"])
    >>> plan = sized_plan("quick", ["openai/gpt-4o"], options)
    >>> [(part.instrument, part.iterations) for part in plan.selections]
    [('affective_attribution', 4)]
    """
    options = options or PlanOptions()
    battery = _battery(size, _all_embedded(models), options)
    # Controls have a number of trials of their own, see below.
    plan = build_plan(models, replace(options, controls=False), _pairs(battery, models, options))
    parts = [
        split_part
        for part in plan.selections
        for split_part in _split_controls(part, battery.get(part.instrument, Size(2)))
    ]
    controls = not options.studies if options.controls is None else options.controls
    if controls:
        names = {part.instrument for part in parts}
        used_instruments = [name for name in battery if name in names]
        parts = _add_controls(parts, plan.modes, _controls_of(used_instruments, battery))
    sized = [
        sized_part
        for part in parts
        for sized_part in _fill_in_size(part, battery.get(part.instrument, Size(2)), options)
    ]
    if controls:
        has_placebo = {name for name, part_size in battery.items() if part_size.placebo is not None}
        sized = ask_single_words_again(sized, has_placebo, plan.iterations)
    looks = LOOKS if options.until else ()
    return replace(plan, selections=sized, size=size, looks=looks)


def _battery(size: str, embedded: bool, options: PlanOptions) -> dict[str, Size]:
    """Return what a size asks with each instrument."""
    battery = {}
    for name, candidate in INSTRUMENTS.items():
        instrument_size = candidate.sizes.get(size)
        if embedded:
            instrument_size = candidate.sizes.get(f"{size}, embedded", instrument_size)
        is_requested = name in options.instruments or candidate.study in options.studies
        if instrument_size is not None and (is_requested or not instrument_size.by_name):
            battery[name] = instrument_size
    return battery


def _pairs(
    battery: Mapping[str, Size], models: Sequence[str], options: PlanOptions
) -> list[tuple[str, str]] | None:
    """Return pairs of study and instrument; None if only what the options name is left."""
    if options.studies and options.instruments:
        return None
    able = options.modes or _modes_of_all(models)
    names = dict.fromkeys(options.instruments or battery)
    # An instrument may be named that is in no audit of the size.
    fallback_studies = dict.fromkeys(instrument(name).study for name in (*battery, *names))
    usual = dict.fromkeys(
        study
        for name, size in battery.items()
        for study in size.studies or [INSTRUMENTS[name].study]
    )
    # What the usual studies lack may be a part of those of the instruments.
    candidates = [dict.fromkeys(options.studies)] if options.studies else [usual, fallback_studies]
    for studies in candidates:
        candidate_pairs = [(study, name) for study in studies for name in names]
        if pairs := [pair for pair in candidate_pairs if _includes(battery, *pair, able, options)]:
            return pairs
    return None  # nothing fits: the plan of what the user named refuses it with a reason


def _modes_of_all(models: Sequence[str]) -> list[str]:
    """Return the modes that no model is known to lack."""
    return [
        name
        for name, mode in MODES.items()
        if all(mode.able(model) is not False for model in models)
    ]


def _includes(
    battery: Mapping[str, Size],
    study: str,
    name: str,
    modes: Sequence[str],
    options: PlanOptions,
) -> bool:
    """Return whether an audit asks a study with an instrument, neither or one of them named."""
    loaded = load_study(study)
    if name not in offers(loaded):
        return False
    if not options.studies and not _has_named_parts(loaded, name, options):
        return False
    names_a_part = bool(
        options.studies or options.instruments or options.stereotypes or options.variations
    )
    if not names_a_part and not _is_default(battery[name], study):
        return False
    return _fits(loaded, name, modes)


def _has_named_parts(study: Study, name: str, options: PlanOptions) -> bool:
    """Return whether a default study has the named stereotypes and variations."""
    stereotypes = _split("stereotype", options.stereotypes)
    variations = _split("variation", options.variations)
    wordings = instrument(name).variations(study)
    return {*stereotypes} <= {*study.stereotypes} and (
        not variations or any(variation in wordings for variation in variations)
    )


def _fits(study: Study, name: str, modes: Sequence[str]) -> bool:
    """Return whether an instrument asks a study in any of the modes."""
    candidate = instrument(name)
    wordings = candidate.variations(study)
    return any(candidate.variations_in(mode, study, wordings) for mode in modes)


def _is_default(instrument_size: Size, study: str) -> bool:
    """Return whether a size asks a study where the user names no part of a plan."""
    return instrument_size.studies is None or study in instrument_size.studies


class _Control(NamedTuple):
    """A control study and the instrument that it is a control of."""

    study: Study
    instrument: str
    iterations: int | None


def _controls_of(
    names: Iterable[str], battery: Mapping[str, Size] | None = None
) -> Iterator[_Control]:
    """Yield the control and the placebo of each instrument; of a battery, where its size has them.

    Without a battery they have no number of trials of their own.
    """
    for name in dict.fromkeys(names):
        asks = INSTRUMENTS[name]
        control_studies = asks.control, asks.constructs, asks.placebo
        size = None if battery is None else battery[name]
        numbers = (None,) * 3 if size is None else (size.control, size.control, size.placebo)
        for study, iterations in zip(control_studies, numbers, strict=True):
            if study and (size is None or iterations is not None):
                yield _Control(load_study(study), name, iterations)


def _add_controls(
    parts: Sequence[Selection], modes: Sequence[str], controls: Iterable[_Control]
) -> list[Selection]:
    """Add the controls that are no part of a plan yet, and that one of its modes asks.

    Where the wordings of a study fit them they are asked in these, else in wordings of their own.
    """
    added: list[Selection] = []
    studies = {part.study.name: part.study for part in parts}
    for control, name, iterations in controls:
        instrument_parts = [part for part in parts if part.instrument == name]
        if any(part.study.name == control.name for part in instrument_parts):
            continue
        unfit_parts = []
        for part in instrument_parts:
            variations = control_variations(part, control)
            if not variations or _has_control(part.study, control):
                unfit_parts.append(part)
            elif keys := controls_needed(control, [part]):
                lender = studies[part.study.name] = studies[part.study.name].with_control(control)
                lent = Selection(lender, keys, variations, iterations, name)
                added.append(_with_mode_variations(lent, modes, PlanOptions()))
        if unfit_parts and (keys := controls_needed(control, unfit_parts)):
            control_part = select_study(
                control.name, ",".join(keys), iterations=iterations, instrument=name
            )
            if control_part.fitting_modes(modes):
                # Named variations are of the studies; controls have their own.
                added.append(_with_mode_variations(control_part, modes, PlanOptions()))
    return [
        replace(part, study=studies.get(part.study.name, part.study)) for part in (*parts, *added)
    ]


def _has_control(study: Study, control: Study) -> bool:
    """Whether a study has a control of the kind, or a stereotype of the same name."""
    kinds = {study.control_of(key) for key in study.stereotypes}
    return control.control in kinds or not control.stereotypes.keys().isdisjoint(study.stereotypes)


def _split_controls(part: Selection, size: Size) -> Iterator[Selection]:
    """Yield a part, and apart from it the controls of its study that have trials of their own."""
    trials = {"positive": size.control, "negative": size.placebo}
    by_kind: dict[str, list[str]] = {"": []}
    for key in part.stereotypes:
        control = part.study.stereotypes[key].control
        by_kind.setdefault(control if trials.get(control) else "", []).append(key)
    for kind, keys in by_kind.items():
        if keys:
            yield replace(part, stereotypes=keys, iterations=part.iterations or trials.get(kind))


def _fill_in_size(
    part: Selection, instrument_size: Size, options: PlanOptions
) -> Iterator[Selection]:
    """Yield a part with number of trials and wordings of a size, unless the user set them.

    In several parts where its wordings take turns.
    """
    turns = _turns_of(part, instrument_size)
    turn_iterations = None if turns is None else _iterations_of_turns(part, turns)
    # The first that is set: by the user, by the turns, for a control, by the size.
    numbers = (options.iterations, turn_iterations, part.iterations, instrument_size.iterations)
    iterations = next(number for number in numbers if number is not None)
    if options.until and options.iterations is None:
        iterations *= TIMES_MORE
    sized = replace(part, iterations=iterations)
    if options.variations is not None:
        yield sized
    elif turns is None:
        study_wordings = instrument_size.wordings.get(part.study.name, part.variations)
        yield replace(sized, variations=study_wordings)
    else:
        yield from _take_turns(sized, turns.wordings)


def _iterations_of_turns(part: Selection, turns: Turns) -> int:
    """Return the trials per wording of a part, which is a control as a whole or not at all."""
    by_kind = {"positive": turns.control, "negative": turns.placebo}
    return by_kind.get(_control_of(part) or "", turns.iterations)


def _control_of(part: Selection) -> str | None:
    """Return what kind of control a part is."""
    return part.study.control_of(part.stereotypes[0])


def _turns_of(part: Selection, size: Size) -> Turns | None:
    """Return how the wordings of a part take turns: as sentences do, or as those of its study.

    Where other wordings are asked beside sentences, all have the trials of the size, but controls.
    """
    wordings = INSTRUMENTS[part.instrument].wordings(part.study)
    is_sentence = [wordings[name].sentence for name in part.variations]
    study_turns = size.turns.get(part.study.name)
    if size.sentences is None or not any(is_sentence):
        return study_turns
    if all(is_sentence) or _control_of(part):
        return size.sentences
    if study_turns is not None:
        return study_turns
    return size.sentences._replace(iterations=size.iterations)


def _take_turns(part: Selection, per_stereotype: int) -> Iterator[Selection]:
    """Yield a part whose stereotypes are asked so many wordings each, in windows that move on.

    All are asked of some. A kind of wordings, sentences or others, that has no more has no windows;
    controls are asked in all.
    """
    wordings = INSTRUMENTS[part.instrument].wordings(part.study)
    kinds = [
        [name for name in part.variations if wordings[name].sentence is sentence]
        for sentence in (False, True)
    ]
    if _control_of(part) or all(len(names) <= per_stereotype for names in kinds):
        yield part
        return
    # By its place in the study, so that a stereotype is asked the same whatever is asked beside it.
    places = {key: place for place, key in enumerate(part.study.own().stereotypes)}
    for number in range(_WINDOWS):
        names = [name for kind in kinds for name in _window(kind, number, per_stereotype)]
        keys = [key for key in part.stereotypes if places[key] % _WINDOWS == number]
        if keys:
            yield replace(part, stereotypes=keys, variations=names)


def _window(names: Sequence[str], number: int, width: int) -> list[str]:
    """Return one of the windows of some names, in their order; they begin evenly and go round."""
    start = number * len(names) // _WINDOWS
    places = {(start + k) % len(names) for k in range(min(width, len(names)))}
    return [names[place] for place in sorted(places)]
