"""Which stereotypes and variations of a study are meant."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from tiltmeter.errors import StudyError, unknown
from tiltmeter.stimuli import Study

__all__ = ["select"]


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
    if instrument not in study.instruments:
        known = ", ".join(study.instruments)
        raise StudyError(f"study {study.name!r} has no instrument {instrument!r}; it has {known}")
    wordings = study.instruments[instrument]
    return (
        _known("stereotype", stereotypes, study.stereotypes, list(study.stereotypes)),
        _known("variation", variations, wordings.variations, wordings.default_variations),
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
