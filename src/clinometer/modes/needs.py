"""What modes need of a provider: refused before a run where it lacks, named where not known."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import product
from typing import Any

from clinometer.errors import ModelError
from clinometer.models.providers import COMPLETIONS, RAW, find_provider
from clinometer.modes.mode import Answer, Mode

#: Need, a column of the providers → what a model does that has it, and one that has not.
_DOES = {
    "logprobs": ("gives log-probabilities", "gives no log-probabilities"),
    "texts": (
        "gives log-probabilities of given texts",
        "gives no log-probabilities of given texts",
    ),
    "schemas": ("closes answers to a JSON schema", "does not close answers to a JSON schema"),
}


def refuse_unable(
    models: Sequence[str], modes: Iterable[str], efforts: Iterable[str | None] = ()
) -> None:
    """Raise ModelError, a line for each case, if the table of providers says no.

    A reasoning effort may be a number of tokens, of which inspect does not tell every provider.
    """
    errors = []
    for model, mode in _pairs(models, modes):
        if mode.able(model) is False:  # None: not known, so it may be tried
            errors.append(lack_error(model, mode))
    distinct = [effort for effort in dict.fromkeys(efforts) if effort is not None]
    for model in dict.fromkeys(models):
        errors += _effort_errors(model, distinct)
    if errors:
        raise ModelError("\n".join(map(str, errors)))


def _effort_errors(model: str, efforts: Sequence[str]) -> Iterator[ModelError]:
    """Yield an error if a model would not be told one of the efforts."""
    provider = find_provider(model)
    number = next((effort for effort in efforts if effort.isdecimal()), None)
    if efforts and not provider.reasons:
        yield ModelError(f"reasoning_effort {efforts[0]}: {model} does not reason")
    elif number is not None and not provider.reasoning_tokens:
        yield ModelError(
            f"reasoning_effort {number}: the reasoning of {model} cannot be limited to a number "
            "of tokens; name a level, such as low"
        )


def unknown_modes(models: Iterable[str], modes: Iterable[str]) -> list[str]:
    """Return a line for each model and mode of which the table of providers says nothing."""
    lines = []
    for model, mode in _pairs(models, modes):
        if mode.needs and mode.able(model) is None:
            lines.append(
                f"whether {model} {_DOES[mode.needs][0]}, as mode {mode.name} needs, is not known; "
                "the run stops if the first answers show that it does not"
            )
    return lines


def check_need(trial: Mapping[str, Any], answer: Answer, model: str, proven: set[str]) -> None:
    """Raise ModelError if an answer shows that the model lacks what its mode needs.

    `proven`: modes of which an answer has shown the opposite, to which this adds. After that, such
    an answer is one that cannot be read.
    """
    mode = _modes()[trial["mode"]]
    shows = mode.shows_need(trial, answer)
    if shows:
        proven.add(mode.name)
    elif shows is False and mode.name not in proven:
        raise lack_error(model, mode)


def lack_error(model: str, mode: Mode) -> ModelError:
    """Return the error of a model that lacks what a mode needs."""
    rest_of_modes = [candidate for candidate in _modes().values() if candidate is not mode]
    able = [candidate for candidate in rest_of_modes if candidate.able(model) is not False]
    instead = " or ".join(f"--mode {candidate.name}" for candidate in able)
    does = _DOES[mode.needs][1] if mode.needs else "cannot be asked"
    name, _, rest = model.partition("/")
    if mode.sentences and name in RAW:
        instead = f"the name {name}{COMPLETIONS}/{rest}, {instead}"
    return ModelError(f"{model} {does}, which mode {mode.name!r} needs; use {instead}")


def _pairs(models: Iterable[str], modes: Iterable[str]) -> Iterable[tuple[str, Mode]]:
    return product(dict.fromkeys(models), [_modes()[name] for name in dict.fromkeys(modes)])


def _modes() -> dict[str, Mode]:
    from clinometer.modes import MODES  # which collects every module of this folder

    return MODES
