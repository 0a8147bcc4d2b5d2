"""Every instrument by name.

Collects the `INSTRUMENT` of each module and folder of the room `instruments`, then those that
installed packages name in the group of entry points ``clinometer.instruments``; `register` adds
others.
"""

from __future__ import annotations

from collections.abc import Sequence
from importlib import import_module
from importlib.metadata import EntryPoint
from pkgutil import iter_modules

from clinometer.contracts.instrument import Instrument
from clinometer.errors import InputError, StudyError, unknown
from clinometer.families import load_plug_ins
from clinometer.results import COLUMNS, Measure
from clinometer.stimuli import Study

INSTRUMENTS: dict[str, Instrument] = {}

#: Measure of each `instrument` in a table of scores.
MEASURES: dict[str, Measure] = {}


def register(instrument: Instrument) -> None:
    """Add an instrument to those that are listed, asked, scored and reported.

    Raises
    ------
    InputError
        If an instrument or a measure of that name exists, size quick has it without a control, or
        a column of its tables has no meaning.
    """
    if not instrument.is_controlled:
        raise InputError(
            f"instrument {instrument.name!r}: size quick asks it without a positive control, so "
            "that no result would show that it works; name a `control` and its trials in the size"
        )
    for table_name, table in instrument.details.items():
        if unknown_columns := sorted(table.schema.keys() - COLUMNS.keys() - table.own.keys()):
            raise InputError(
                f"instrument {instrument.name!r}: table {table_name!r} says no meaning of column "
                f"{unknown_columns[0]!r}"
            )
    name = instrument.name
    measures = {measure.name: measure for measure in instrument.measures}
    # The instrument's own name first, as the one that its author would change first.
    clashes = {name} & INSTRUMENTS.keys() or measures.keys() & MEASURES.keys()
    if clashes:
        raise InputError(f"instrument {name!r}: {min(clashes)!r} already exists; rename it")
    # In the order of lists and reports, whatever package they come from.
    ordered = sorted([*INSTRUMENTS.values(), instrument], key=lambda listed: listed.place)
    INSTRUMENTS.clear()
    INSTRUMENTS.update({listed.name: listed for listed in ordered})
    MEASURES.clear()
    MEASURES.update({measure.name: measure for listed in ordered for measure in listed.measures})


def instrument(name: str) -> Instrument:
    """Return an instrument by name; raises InputError with similar names if there is none."""
    if name not in INSTRUMENTS:
        raise InputError(unknown("instrument", name, INSTRUMENTS))
    return INSTRUMENTS[name]


def measure_of(name: object) -> Measure:
    """Return the measure of an `instrument` in a table of scores.

    Raises InputError with similar names if there is none.
    """
    if name not in MEASURES:
        raise InputError(f"scores: {unknown('instrument', str(name), MEASURES)}")
    return MEASURES[str(name)]


def instrument_of(measure: str) -> Instrument | None:
    """Return the instrument of a measure; None if it is not registered."""
    for instrument in INSTRUMENTS.values():
        if any(candidate.name == measure for candidate in instrument.measures):
            return instrument
    return None


def offers(study: Study) -> list[str]:
    """Return the instruments for which a study has default variations."""
    names: list[str] = []
    for name, instrument in INSTRUMENTS.items():
        if any(instrument.variations(study).values()):
            names.append(name)
    return names


def select(
    study: Study,
    name: str,
    stereotypes: str | Sequence[str] | None = None,
    variations: str | Sequence[str] | None = None,
) -> tuple[list[str], list[str]]:
    """Check the name of an instrument, and names against a study; see `Instrument.select`.

    Raises InputError if there is no such instrument; StudyError also as `check_parts`.
    """
    check_parts(study)
    return instrument(name).select(study, stereotypes, variations)


def check_parts(study: Study) -> None:
    """Check the parts of a study that belong to registered instruments.

    Raises StudyError if there is no such instrument, or it cannot use the part.
    """
    for part, raw in study.instruments.raw().items():
        if part not in INSTRUMENTS:
            source = getattr(raw, "source", f"study {study.name}")
            message = unknown("instrument", part, INSTRUMENTS)
            raise StudyError(f"{source}: instruments.{part}: {message}")
        # Reading the wordings is what checks them; a part is read when it is first needed.
        INSTRUMENTS[part].wordings(study)


_room = import_module("clinometer.instruments")
_names = [module.name for module in iter_modules(_room.__path__)]
_modules = [import_module(f"{_room.__name__}.{name}") for name in _names]
for _module in _modules:
    if hasattr(_module, "INSTRUMENT"):
        register(_module.INSTRUMENT)


def add_plug_ins() -> None:
    """Register the instruments of installed packages (entry points ``clinometer.instruments``).

    One that cannot be imported or registered is left out, with a warning that names the entry point
    and its package.
    """
    load_plug_ins("clinometer.instruments", "instrument", _add)


def _add(point: EntryPoint) -> None:
    """Register an instrument that is not yet; raises InputError if it is none."""
    loaded = point.load()
    if not isinstance(loaded, Instrument):
        raise InputError(f"{point.value} is no Instrument")
    if INSTRUMENTS.get(loaded.name) is not loaded:  # of an earlier call
        register(loaded)


add_plug_ins()
