"""What an instrument is: one object that says how a bias is measured, from the draw to the tables.

Each file of this room that measures something ends in an `INSTRUMENT`. Whatever else needs to know
about instruments (inspect tasks, audits, costs, tables) asks these objects.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import polars as pl

from tiltmeter.errors import InputError, StudyError, as_names, unknown
from tiltmeter.instruments.design import Design
from tiltmeter.modes import MODES
from tiltmeter.results import TRIALS, Measure
from tiltmeter.stimuli import Study, Words

__all__ = ["Instrument", "Key", "Reader", "Recorded", "Scored", "Size", "Wording"]


@dataclass(frozen=True, slots=True)
class Scored:
    """One number for one response, or none and the reason."""

    score: float | None
    reason: str | None
    coverage: float
    one_sided: bool | None = None
    first_share: float | None = None
    logit: float | None = None
    shares: Mapping[str, float] = field(default_factory=dict)
    """Attribute → probability (or 0/1 choice) of the marginalized group."""
    span: str | None = None
    """The passage in which a decision was read."""
    margin: float | None = None
    conflict: bool | None = None
    read_by: str | None = None
    outcome: str | None = None
    """What an affective attribution says: comedy, tragedy or neutral."""
    words: Mapping[str, str] = field(default_factory=dict)
    """Group and attribute words by role, where the response tells which were asked."""


@dataclass(frozen=True)
class Key:
    """What answers to one cell of a study are scored with."""

    study: Study
    stereotype: str
    words: Words
    """Those the instrument draws from."""
    scoring: str = "exact"

    @cached_property
    def association(self) -> Words:
        """The words of the stereotype's word association."""
        return self.study.words(self.stereotype)

    @cached_property
    def sets(self) -> Mapping[str, str]:
        """Attribute → the set it belongs to: ``tied`` or ``counter``."""
        lists = (self.words, self.association)
        roles = ("counter", "tied")
        return {word: role for role in roles for one in lists for word in getattr(one, role)}


#: Response, trial, key → a score, or one for each measure. Never raises on what a model wrote.
Reader = Callable[[str, Mapping[str, Any], Key], Scored | Sequence[Scored]]


@dataclass(frozen=True)
class Wording:
    """A variation of a study."""

    by_default: bool
    text: str = ""
    """As asked; empty where each stereotype has a wording of its own."""


@dataclass(frozen=True)
class Size:
    """What an audit of one size asks: trials per stereotype, dimension and wording."""

    iterations: int
    control: int | None = None
    """Of the positive control, which is left out where this is None; as many as a small but real
    bias needs to show: docs/decisions.md has what was measured."""
    placebo: int | None = None
    wordings: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    """Study → the variations asked, where not its default ones."""
    embedded: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    """The same for the embedded model alone, which runs on this machine's processor."""


@dataclass(frozen=True)
class Recorded:
    """How answers recorded elsewhere are completed."""

    columns: Mapping[str, str] = field(default_factory=dict)
    """Further names of columns, and what they are here."""
    values: Mapping[str, Mapping[str, str]] = field(default_factory=dict)
    """Column → further names of its values, and what they are here."""
    allowed: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    """Column → the only values it may have."""
    needs: Callable[[Study, Collection[str]], tuple[str, ...]] = lambda *_: ()
    """Study, columns of the table → columns that must be there beside model, stereotype and
    response."""
    offered: tuple[str, ...] = ()
    """Columns without which a closed answer cannot be read."""
    decision: str = "never"
    """When a column `decision` is the response: ``never``, ``always``, or ``alone``, where there
    is no response."""
    complete: Callable[[Mapping[str, Any], Study, Words], dict[str, Any]] = lambda *_: {}
    """Trial, study, words → columns of the trial that follow from these."""
    dimensions: bool = False
    """Whether an answer is about one dimension, which its words tell."""
    keep: bool = True
    """Whether ``tiltmeter score`` passes other columns through."""


@dataclass(frozen=True, eq=False, repr=False)
class Instrument:
    """One way to measure."""

    name: str
    measures: tuple[Measure, ...]
    """One for each number it gives for a response."""
    parts: tuple[str, ...]
    """What of a study reaches its prompts, beside groups and attributes: wordings by the name of
    their instrument, `dimensions`, `objects`."""
    wordings: Callable[[Study], Mapping[str, Wording]]
    """The variations of a study; none where it lacks what is needed."""
    draw: Callable[[Study, Design, Sequence[str], Sequence[str]], Iterable[dict[str, Any]]]
    """Study, design, stereotypes, variations → rows of `results.TRIALS`, a function of these."""
    readers: Mapping[str, Reader]
    """Kind of answer (`modes.TEXT`, `CHOICES`, `LOGITS`) → its reader; the modes follow."""
    words: Callable[[Study, str, str, str | None], Words] = lambda study, key, *_: study.words(key)
    """Study, stereotype, variation, dimension → the words that are drawn from."""
    defect: Callable[[Study, str, str], str | None] = lambda *_: None
    """Study, stereotype, variation → the defect of the source that is kept, if any."""
    recorded: Recorded = field(default_factory=Recorded)
    scorings: tuple[str, ...] = ("exact",)
    judged: Mapping[str, Callable[[str], str]] = field(default_factory=dict)
    """Measure that a judge may read → what of a response it is shown."""
    paired: Measure | None = None
    """The measure that counts which words are paired with which group, if there is one."""
    tables: tuple[str, ...] = ()
    """Of results, beside those that every instrument has."""
    control: str = ""
    """A study whose bias is known."""
    placebo: str = ""
    """A study known to have none."""
    sizes: Mapping[str, Size] = field(default_factory=dict)
    """Size of an audit → what is asked; not asked in sizes that are not here."""
    prose: int = 0
    """Tokens written around the choices of a free answer, for the cost."""
    first_answer: int = 0
    """Tokens of the first answer where a trial has two prompts, unless these are `prose`."""
    study: str = "bai2025"
    """Of the inspect task, where none is named."""
    iterations: int = 8
    """Of the inspect task."""
    options: tuple[str, ...] = ("order",)
    """Of the inspect task: fields of `Design`, beside those that every task has."""
    place: int = 100
    """In lists and reports; the lowest comes first."""

    def __repr__(self) -> str:
        """Name it; its fields are functions."""
        return f"<Instrument {self.name!r}>"

    @property
    def modes(self) -> tuple[str, ...]:
        """The modes it can be asked in."""
        return tuple(mode.name for mode in MODES.values() if mode.kind in self.readers)

    def variations(self, study: Study) -> dict[str, bool]:
        """Return the variations of a study, and whether each is asked by default."""
        return {name: wording.by_default for name, wording in self.wordings(study).items()}

    def select(
        self,
        study: Study,
        stereotypes: str | Sequence[str] | None = None,
        variations: str | Sequence[str] | None = None,
    ) -> tuple[list[str], list[str]]:
        """Check names against a study and fill in its defaults.

        Names are a list or one text with commas. None means all stereotypes, and the variations
        asked by default. Raises StudyError if the study has not what is named.
        """
        known = self.variations(study)
        if not known:
            from tiltmeter.instruments.catalogue import offers  # which needs this class

            has = ", ".join(offers(study))
            raise StudyError(f"study {study.name!r} has no instrument {self.name!r}; it has {has}")
        by_default = [name for name, asked in known.items() if asked]
        if variations is None and not by_default:
            raise StudyError(
                f"study {study.name!r}: {self.name} has no variation that is asked by default; "
                f"name one of {', '.join(known)}"
            )
        return (
            _chosen("stereotype", stereotypes, study.stereotypes, list(study.stereotypes)),
            _chosen("variation", variations, known, by_default),
        )

    def trials(
        self,
        study: Study,
        design: Design,
        *,
        stereotypes: str | Sequence[str] | None = None,
        variations: str | Sequence[str] | None = None,
    ) -> pl.DataFrame:
        """Draw the trials of a study: columns of `results.TRIALS`.

        They are a function of the study's content, the names (see `select`) and the design alone,
        with `iterations` per stereotype, dimension and variation; a stereotype without words or a
        wording of a variation is left out there. Raising `iterations` appends rows and keeps the
        earlier ones. Where answers are not sampled, trials stop before a question would be asked
        again.

        Raises
        ------
        InputError
            If it cannot be asked in the mode.
        StudyError
            If the study has no such stereotype or variation, or none that can be asked.

        Examples
        --------
        >>> from tiltmeter.instruments.word_association import INSTRUMENT
        >>> from tiltmeter.stimuli import load_study
        >>> study, two = load_study("bai2025"), Design(iterations=2)
        >>> drawn = INSTRUMENT.trials(study, two, stereotypes=["age"], variations="replication")
        >>> drawn["order"].sort().to_list()
        ['default_first', 'marginalized_first']
        """
        if design.mode not in self.modes:
            raise InputError(
                f"{self.name}: mode {design.mode!r}; allowed are {', '.join(self.modes)}"
            )
        chosen = self.select(study, stereotypes, variations)
        return pl.DataFrame(list(self.draw(study, design, *chosen)), schema=TRIALS)

    def key(
        self,
        study: Study,
        stereotype: str,
        variation: str,
        dimension: str | None = None,
        scoring: str = "exact",
    ) -> Key:
        """Return what answers to one cell are scored with."""
        return Key(study, stereotype, self.words(study, stereotype, variation, dimension), scoring)

    def score(self, response: str, trial: Mapping[str, Any], key: Key) -> dict[str, Scored]:
        """Score one response: a `Scored` for each measure, by its name.

        The trial is what is known of a row of `results.TRIALS`, with its `mode` and the
        `stop_reason`. Never raises on what a model wrote.
        """
        read = self.readers[MODES[trial["mode"]].kind](response, trial, key)
        scores = (read,) if isinstance(read, Scored) else read
        return {m.name: one for m, one in zip(self.measures, scores, strict=True)}


def _chosen(
    kind: str, names: str | Sequence[str] | None, known: Iterable[str], default: list[str]
) -> list[str]:
    if names is None:
        return default
    listed = names.split(",") if isinstance(names, str) else as_names(kind, names)
    chosen = list(dict.fromkeys(name.strip() for name in listed))
    for name in chosen:
        if name not in known:
            raise StudyError(unknown(kind, name, known))
    return chosen
