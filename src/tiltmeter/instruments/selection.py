"""Which stereotypes and variations of a study are meant."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

from tiltmeter.errors import InputError, StudyError, unknown
from tiltmeter.stimuli import Study, load_study

__all__ = ["find_intervention", "select"]


def select(
    study: Study,
    instrument: str,
    stereotypes: str | Sequence[str] | None = None,
    variations: str | Sequence[str] | None = None,
) -> tuple[list[str], list[str]]:
    """Check names against a study and fill in its defaults.

    Parameters
    ----------
    study
        The stimuli.
    instrument
        Whose variations are meant.
    stereotypes, variations
        Names, as a list or one text with commas. None means all stereotypes, and the
        instrument's default variations.

    Returns
    -------
    tuple of two lists of str

    Raises
    ------
    StudyError
        If the study has no such instrument, stereotype or variation; near names are given.
    """
    known = study.variations(instrument)
    if not known:
        offered = ", ".join(study.offers())
        raise StudyError(f"study {study.name!r} has no instrument {instrument!r}; it has {offered}")
    by_default = [name for name, asked in known.items() if asked]
    if variations is None and not by_default:
        raise StudyError(
            f"study {study.name!r}: {instrument} has no variation that is asked by default; "
            f"name one of {', '.join(known)}"
        )
    return (
        _known("stereotype", stereotypes, study.stereotypes, list(study.stereotypes)),
        _known("variation", variations, known, by_default),
    )


def _known(
    kind: str, names: str | Sequence[str] | None, known: Iterable[str], default: list[str]
) -> list[str]:
    if names is None:
        return default
    listed = names.split(",") if isinstance(names, str) else list(names)
    chosen = list(dict.fromkeys(name.strip() for name in listed))
    for name in chosen:
        if name not in known:
            raise StudyError(unknown(kind, name, known))
    return chosen


def find_intervention(studies: Iterable[Study], named: str) -> tuple[str, str | None]:
    """Return the name and the system prompt of an intervention.

    Parameters
    ----------
    studies
        May bring interventions of their own, the first one's going before; ``bai2025`` has the
        paper's, ``egalitarian``, which every study may use.
    named
        ``"none"``, a name, or ``NAME=TEXT`` for a prompt of one's own.

    Returns
    -------
    name : str
    system : str or None
        None for ``"none"``.

    Raises
    ------
    InputError
        If the name is not known, or the text is empty.
    """
    name, own, text = named.partition("=")
    if own:
        if not re.fullmatch(r"[a-z0-9][a-z0-9_]{0,63}", name) or name == "none" or not text.strip():
            raise InputError(
                f"intervention {named[:80]!r}: expected NAME=TEXT, the name in lower-case letters, "
                "digits and '_', and not 'none'"
            )
        return name, text.strip()
    if name == "none":
        return name, None
    held = [load_study("bai2025"), *reversed([*studies])]
    known = {key: prompt for study in held for key, prompt in study.interventions.items()}
    if name not in known:
        raise InputError(f"{unknown('intervention', name, known)}; or give NAME=TEXT")
    return name, known[name]
